"""Who may import what, and that no module runs what it reads; `make lint` checks the contracts."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import grimp
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
CODE = ("benchmarks", "dashboard", "data", "uncletc")


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = grimp.build_graph("uncletc", "dashboard", cache_dir=None)
    modules = sorted(graph.modules)
    number = {module: i for i, module in enumerate(modules)}
    arrows = np.array(
        [
            (number[module], number[other])
            for module in modules
            for other in graph.find_modules_directly_imported_by(module)
        ]
    )
    matrix = coo_array((np.ones(len(arrows)), arrows.T), shape=(len(modules), len(modules)))
    _, circle = connected_components(matrix.tocsr(), connection="strong")
    size = np.bincount(circle)
    assert [module for module, own in zip(modules, circle, strict=True) if size[own] > 1] == []


def modules_of(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert len(found) > 100
    return found


PLANTED = {  # what breaks a contract, by its module and words of the contract
    ("dashboard/covid/view.py", "no page on another"): "import dashboard.ppi.view",
    ("dashboard/work/orders.py", "know no Streamlit"): "import streamlit",
    ("dashboard/check/charts.py", "are pure"): "import streamlit",
    ("uncletc/compare/metrics.py", "knows nothing of pages"): "import plotly",
}


def test_planted_imports_break_their_contracts(tmp_path: Path) -> None:
    for path in modules_of("dashboard", "uncletc"):
        target = tmp_path / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for (module, _), line in PLANTED.items():
        with (tmp_path / module).open("a", encoding="utf-8") as file:
            file.write(f"\n{line}\n")
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode != 0
    for _, contract in PLANTED:
        assert re.search(rf"{contract}.* BROKEN", answer.stdout), answer.stdout


def private_imports(path: Path) -> Iterator[str]:
    """Private names that a module takes from a package other than its own."""
    package = list(path.relative_to(ROOT).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module != "__future__":
            for name in (alias.name for alias in node.names):
                parts = [*node.module.split("."), name]
                for depth, part in enumerate(parts):
                    inside = package in (parts[:depth], parts[: depth - 1])
                    if part.startswith("_") and not inside:
                        yield f"{path.relative_to(ROOT)}: {'.'.join(parts)}"


def test_private_names_stay_in_their_package() -> None:
    assert [line for path in modules_of(*CODE) for line in private_imports(path)] == []


RUNS_WHAT_IT_READS = {
    "import": {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "code"},
    "name": {"eval", "exec", "compile", "__import__"},
    "attribute": {
        "torch.load",
        "joblib.load",
        "pd.read_pickle",
        "pandas.read_pickle",
        "yaml.load",
        "os.system",
        "os.popen",
    },
}


def runs_what_it_reads(path: Path) -> Iterator[str]:
    """Where a module would run what stands in a file, a table or an address."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        found = ""
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                errors = all(name.endswith("Error") for name in names)  # an error reads nothing
                names = [] if errors else [node.module or ""]
            found = ", ".join({name.split(".")[0] for name in names} & RUNS_WHAT_IT_READS["import"])
        elif isinstance(node, ast.Call):
            called, named = ast.unparse(node.func), {each.arg: each.value for each in node.keywords}
            pickles = named.get("allow_pickle")
            allowed = isinstance(pickles, ast.Constant) and pickles.value is False
            shell = named.get("shell")
            if (
                called in RUNS_WHAT_IT_READS["name"] | RUNS_WHAT_IT_READS["attribute"]
                or (called in {"np.load", "numpy.load"} and not allowed)
                or (shell is not None and not (isinstance(shell, ast.Constant) and not shell.value))
            ):
                found = called
        if found:
            yield f"{path.name}:{node.lineno} {found}"


def test_nothing_runs_what_users_bring() -> None:
    modules = modules_of("dashboard", "uncletc")
    assert [line for path in modules for line in runs_what_it_reads(path)] == []


def test_what_runs_is_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    lines = (
        "from pickle import loads",
        "np.load(path)",
        "np.load(path, allow_pickle=True)",
        "eval(text)",
        "subprocess.run(text, shell=wanted)",
        "pd.read_pickle(path)",
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    assert len(list(runs_what_it_reads(path))) == len(lines)


def test_constraints_name_one_version_of_each_package_and_no_place() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert len({line.split("==")[0].lower() for line in lines}) == len(lines)
    versions = dict(line.lower().replace("_", "-").split("==") for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for need in [*project["dependencies"], *(each for extra in extras for each in extra)]:
        (name,) = re.findall(r"^[\w-]+", need)
        assert name == "uncletc" or name.replace("_", "-") in versions, name

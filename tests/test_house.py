"""Who may import what, by the contracts that `make lint` checks, and what is installed."""

import ast
import re
import tomllib
from pathlib import Path

import grimp
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
CODE = ("benchmarks", "dashboard", "data", "uncletc")


def test_no_modules_import_each_other_in_a_circle():
    graph = grimp.build_graph("uncletc", "dashboard", cache_dir=None)
    modules = sorted(graph.modules)
    number = {module: i for i, module in enumerate(modules)}
    arrows = [
        (number[module], number[other])
        for module in modules
        for other in graph.find_modules_directly_imported_by(module)
    ]
    shape = len(modules), len(modules)
    matrix = coo_array((np.ones(len(arrows)), np.transpose(arrows)), shape=shape)
    _, circle = connected_components(matrix.tocsr(), connection="strong")
    size = np.bincount(circle)
    assert [module for module, own in zip(modules, circle, strict=True) if size[own] > 1] == []


def modules_of(*folders):
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert len(found) > 100
    return found


def private_imports(path):
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


def test_private_names_stay_in_their_package():
    assert [line for path in modules_of(*CODE) for line in private_imports(path)] == []


def test_no_file_of_arrays_may_bring_pickles():
    """`make lint` looks for all else that runs what it reads."""
    modules = modules_of("dashboard", "uncletc")
    assert [path for path in modules if "allow_pickle=True" in path.read_text("utf-8")] == []


def test_constraints_name_one_version_of_each_package_and_no_place():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in lines)
    assert len({line.split("==")[0].lower() for line in lines}) == len(lines)
    versions = dict(line.lower().replace("_", "-").split("==") for line in lines)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    for need in [*project["dependencies"], *(each for extra in extras for each in extra)]:
        (name,) = re.findall(r"^[\w-]+", need)
        assert name == "uncletc" or name.replace("_", "-") in versions, name

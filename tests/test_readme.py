"""What the texts for people promise: examples that run, commands, files and links that exist."""

import ast
import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from dashboard.lab.steps import LESSONS
from dashboard.operator_settings import OperatorSettings, read
from dashboard.work.limits import Limits, variable
from uncletc import cli, datasets
from uncletc.datasets.covid_outside import ESTIMATES

ROOT = Path(__file__).resolve().parents[1]
TEXTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
}
README = TEXTS["README.md"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EACH = pytest.mark.parametrize("name", TEXTS)


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_example_runs(capsys):
    (example,) = blocks(README, "python")
    assert len([line for line in example.splitlines() if line and "import" not in line]) <= 5
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})  # warnings are errors
    assert capsys.readouterr().out.startswith("counts          CountTensor(12 × 12 × 12, ")


@EACH
def test_examples_import_what_exists(name):
    for example in blocks(TEXTS[name], "python"):
        body = ast.parse(example).body
        imports = [line for line in body if isinstance(line, ast.Import | ast.ImportFrom)]
        exec(compile(ast.Module(imports, []), name, "exec"), {})


@pytest.mark.parametrize("name", ["README.md", "docs/lab.md"])
def test_lessons_are_those_of_the_lab(name):
    address = "http://127.0.0.1:8501/lab"  # where make run serves
    links = "\n".join(f"- [{each.title}]({address}?{each.query}): {each.aim}" for each in LESSONS)
    assert links in TEXTS[name]


@EACH
def test_make_targets_exist(name):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", TEXTS[name], re.MULTILINE)) <= targets


def test_commands_exist(monkeypatch):
    served = []
    monkeypatch.setattr(cli, "run_pages", lambda _, options: served.append(read(options)))
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (command,) = re.findall(r"^CMD (.*)$", dockerfile, re.MULTILINE)
    named = [shlex.join(json.loads(command))]
    for text in TEXTS.values():
        shell = "\n".join(blocks(text, "sh"))
        named += re.findall(r"^(?:\.venv/bin/)?(uncletc .*)$", shell, re.MULTILINE)
        named += re.findall(
            r"`(?:\.venv/bin/)?(uncletc (?:dashboard|data|fit|report)[^`…]*)`", text
        )
    commands = [
        cli.read(shlex.split(line)[1:])
        for line in named
        if line not in {"uncletc fit", "uncletc report"}  # need more
        and "--help" not in line  # ends
    ]
    pages = [each for each in commands if each.command == "dashboard"]
    for page in pages:
        page.run(page)
    assert len(served) == len(pages) >= 3
    assert {each.command for each in commands} == {"dashboard", "data", "fit", "report"}


@EACH
def test_links_paths_and_scripts_exist(name):
    text, folder = TEXTS[name], (ROOT / name).parent
    links = re.findall(r"\[[^\]]*\]\(([^)#\s]+)[^)]*\)", text)
    places = r"\.github|benchmarks|dashboard|data|docs|tests|uncletc"
    paths = re.findall(rf"`((?:{places})/[\w./-]*)`", text)
    paths += re.findall(r"python ([\w/]+\.py)", text)
    made = {"uncletc/_data/"}  # in the wheel
    for link in links:
        assert "://" in link or (folder / link).exists(), link
    for path in set(paths) - made:
        assert (ROOT / path).exists(), path


def test_names_of_data_sets_and_variables_are_right():
    named = re.findall(r"^\| `([\w-]+)` \|", TEXTS["docs/data.md"], re.MULTILINE)
    assert set(named) == {*datasets.NAMES, *(each.name for each in ESTIMATES)}
    code = [*ROOT.glob("uncletc/**/*.py"), *ROOT.glob("tests/**/*.py"), ROOT / "compose.yaml"]
    read_there = "".join(path.read_text(encoding="utf-8") for path in code)
    settings = {variable(name) for kind in (OperatorSettings, Limits) for name in kind.model_fields}
    for named in set(re.findall(r"UNCLETC_\w+", "".join(TEXTS.values()))) - settings:
        assert named in read_there


def test_every_setting_of_the_operator_is_documented():
    for kind in (OperatorSettings, Limits):
        for name in kind.model_fields:
            assert f"`{variable(name)}`" in TEXTS["docs/operating.md"]


def test_extras_are_those_of_pyproject():
    named = re.findall(r"^\| `(\w+)` \|", TEXTS["docs/install.md"], re.MULTILINE)
    assert sorted(named) == sorted(PROJECT["project"]["optional-dependencies"])


def test_versions_are_the_same_everywhere():
    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    (torch,) = re.findall(r"torch==[\d.]+\d", TEXTS["docs/install.md"])
    assert torch in constraints
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert "ruff==" + hooks["repos"][0]["rev"].lstrip("v") in constraints
    python = [each for each in PROJECT["project"]["classifiers"] if ":: Python" in each]
    stated = [each.rsplit(" ", 1)[1] for each in python]
    for text in (README, TEXTS["docs/install.md"]):
        assert re.findall(r"Python (3\.\d+) or later", text) == stated[:1]
    assert PROJECT["project"]["requires-python"] == f">={stated[0]}"
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["check"]["strategy"]["matrix"]["python-version"] == stated
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["project"]["version"]


def test_the_source_archive_has_every_file_at_the_top():
    kept = set(PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    here = {
        path.name
        for path in ROOT.iterdir()
        if path.name not in {".git", "pyproject.toml", ".gitignore"}  # always taken
        and not any(path.match(pattern.strip("/")) for pattern in ignored)
    }
    assert here == kept

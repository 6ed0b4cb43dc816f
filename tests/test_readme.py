"""What the README and CONTRIBUTING promise: examples that run, commands and files that exist."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from dashboard.lab.lessons import lesson_links
from uncletc import datasets
from uncletc.cli import command as cli

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BOTH = pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks(README, "python")
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})  # warnings are errors
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("Fit(12 × 12 × 12, rank 2, ")
    for line, largest in zip(lines[1:3], (0.3, 0.2), strict=True):
        assert 0 < float(line.split()[-1]) < largest
    assert "25%" in lines[3]


def test_opens_with_one_sentence_and_two_commands() -> None:
    title, sentence, commands = README.split("\n\n")[:3]
    assert title == "# uncletc"
    assert len(re.findall(r"[.!?](\s|$)", sentence)) == 1
    assert re.findall(r"^make (\w+)", commands, re.MULTILINE) == ["run", "test"]


def test_lessons_are_those_of_the_lab() -> None:
    links = lesson_links().replace("](/lab", "](http://127.0.0.1:8501/lab")  # where make run serves
    assert links in README


@BOTH
def test_make_targets_exist(text: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)
    assert {"run", "test"} <= set(named) <= targets


def test_commands_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[tuple[int, str]] = []
    monkeypatch.setattr(cli, "serve_dashboard", lambda *place: served.append(place))
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (command,) = re.findall(r"^CMD (.*)$", dockerfile, re.MULTILINE)
    named = [
        *re.findall(r"^(?:\.venv/bin/)?(uncletc .*)$", "\n".join(blocks(README, "sh")), re.M),
        *re.findall(r"`(uncletc [^`]*)`", README),
        shlex.join(json.loads(command)),
    ]
    commands = [cli.read(shlex.split(line)[1:]) for line in named]
    pages = [each for each in commands if each.command == "dashboard"]
    for page in pages:
        page.run(page)
    assert len(served) == len(pages) >= 3


@BOTH
def test_scripts_and_modules_exist(text: str) -> None:
    for path in re.findall(r"python ([\w/]+\.py)", text):
        assert (ROOT / path).is_file(), path


@BOTH
def test_links_and_paths_exist(text: str) -> None:
    links = re.findall(r"(?<!!)\[[^\]]*\]\(([^)#]+)\)", text)
    paths = re.findall(r"`((?:uncletc|dashboard|data|benchmarks|tests|docs)/[\w./]*)`", text)
    for path in [link for link in links if "://" not in link] + paths:
        if path != "uncletc/_data/":  # exists in the wheel
            assert (ROOT / path).exists(), path


def test_pictures_are_those_that_the_script_takes() -> None:
    script = (ROOT / "docs" / "screenshots.py").read_text(encoding="utf-8")
    taken = {f"docs/{name}.png" for name in re.findall(r'name="(\w+)",', script)}
    assert len(taken) == 8
    assert all((ROOT / name).is_file() for name in taken)
    named = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert {name for name in named if name.endswith(".png")} <= taken
    assert len(set(named) & taken) >= 4


def test_names_of_data_sets_and_variables_are_right() -> None:
    assert set(re.findall(r"^\| `([\w-]+)` \|", README, re.MULTILINE)) == set(datasets.NAMES)
    fetch = (ROOT / "uncletc" / "datasets" / "fetch.py").read_text(encoding="utf-8")
    for variable in set(re.findall(r"UNCLETC_\w+", README + CONTRIBUTING)):
        assert variable in fetch


def test_versions_are_those_of_pyproject() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (torch,) = re.findall(r"torch==[\d.]+\d", README)
    assert torch in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    named = re.findall(r"Python (3\.\d+), (3\.\d+) or (3\.\d+)", README)
    stated = [line.rsplit(" ", 1)[1] for line in project["classifiers"] if ":: Python" in line]
    assert [*named[0]] == stated

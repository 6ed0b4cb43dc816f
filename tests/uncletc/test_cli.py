"""The command line, without starting a server."""

from __future__ import annotations

import runpy
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from uncletc.cli import command as cli


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """The port and host of each dashboard asked for."""
    asked: list[tuple[int, str]] = []
    monkeypatch.setattr(cli, "serve_dashboard", lambda *place: asked.append(place))
    return asked


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"uncletc {version('uncletc')}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["dashboard", "--help"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 0
    assert "dashboard" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "port", "host"),
    [
        (["dashboard"], 8501, "127.0.0.1"),
        (["dashboard", "--port", "1"], 1, "127.0.0.1"),
        (["dashboard", "--port=65535"], 65535, "127.0.0.1"),
        (["dashboard", "--host", "0.0.0.0"], 8501, "0.0.0.0"),
        (["dashboard", "--host=localhost", "--port=80"], 80, "localhost"),
    ],
)
def test_port_and_host(
    arguments: list[str], port: int, host: str, served: list[tuple[int, str]]
) -> None:
    cli.main(arguments)
    assert served == [(port, host)]


def test_arguments_default_to_the_command_line(
    served: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["uncletc", "dashboard", "--port", "9000"])
    cli.main()
    assert served == [(9000, "127.0.0.1")]


@pytest.mark.parametrize("port", ["0", "65536", "-1", "eighty", "80.5", ""])
def test_bad_ports_are_named(
    port: str, served: list[tuple[int, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["dashboard", f"--port={port}"])
    assert end.value.code == 2
    assert f"port must be a number from 1 to 65535, got {port!r}" in capsys.readouterr().err
    assert served == []


@pytest.mark.parametrize("arguments", [[], ["dashbord"], ["dashboard", "--prot", "1"]])
def test_other_words_are_errors(
    arguments: list[str], served: list[tuple[int, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2
    assert "usage: uncletc" in capsys.readouterr().err
    assert served == []


@pytest.mark.parametrize(
    ("place", "host", "shown"),
    [
        ((8765,), "127.0.0.1", "127.0.0.1"),
        ((8765, "localhost"), "localhost", "localhost"),
        ((8765, "0.0.0.0"), "0.0.0.0", "127.0.0.1"),
    ],
)
def test_serving_runs_streamlit_by_default_on_this_machine_alone(
    place: tuple[Any, ...],
    host: str,
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    runs: list[tuple[str, dict[str, Any], list[str]]] = []

    def run_module(name: str, **named: Any) -> None:
        runs.append((name, named, list(sys.argv)))

    monkeypatch.setattr(sys, "argv", ["uncletc"])
    monkeypatch.setattr(runpy, "run_module", run_module)
    cli.serve_dashboard(*place)
    ((name, named, arguments),) = runs
    assert name == "streamlit"
    assert named["run_name"] == "__main__"
    assert arguments[:2] == ["streamlit", "run"]
    app = Path(arguments[2])
    assert app.is_absolute()
    assert app.parts[-2:] == ("dashboard", "app.py")
    assert app.is_file()
    options = dict(zip(arguments[3::2], arguments[4::2], strict=True))
    assert options["--server.address"] == host
    assert options["--server.port"] == "8765"
    assert f"http://{shown}:8765" in capsys.readouterr().out


def test_says_what_to_install_for_the_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "streamlit" else name)
    with pytest.raises(SystemExit, match=r"the pages need .*: streamlit; .*uncletc\[dashboard\]"):
        cli.main(["dashboard"])

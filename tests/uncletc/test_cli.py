"""The command line, without starting a server."""

from importlib.metadata import version

import pytest

from uncletc import cli


@pytest.fixture
def served(monkeypatch):
    """The options of each dashboard asked for."""
    asked = []
    monkeypatch.setattr(cli, "run_pages", lambda name, options: asked.append([name, *options]))
    return asked


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"uncletc {version('uncletc')}\n"


@pytest.mark.parametrize("options", [[], ["--port", "1"], ["--host=localhost", "--port=80"]])
def test_the_dashboard_reads_its_own_options(options, served):
    cli.main(["dashboard", *options])
    cli.main(["lessons", *options])
    assert served == [["dashboard", *options], ["lessons", *options]]


@pytest.mark.parametrize("arguments", [[], ["dashbord"], ["data", "list", "--prot", "1"]])
def test_other_words_are_errors(arguments, served, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(arguments)
    assert end.value.code == 2
    assert "usage: uncletc" in capsys.readouterr().err
    assert served == []

"""Public names and signatures: others build on them, so they are added to and not renamed."""

import ast
import importlib
import inspect
import re
import subprocess
import sys

import pytest


def test_importing_is_silent_and_needs_no_dashboard():
    code = "import sys, uncletc; print({name.split('.')[0] for name in sys.modules})"
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.count("\n") == 1
    loaded = ast.literal_eval(run.stdout)
    assert "uncletc" in loaded
    assert not loaded & {"torch", "numba", "pandas", "optuna", "streamlit", "plotly", "dashboard"}


PAGES = (
    "baselines checking compare compare.metrics datasets effects estimates paper paper.tables "
    "planning search solvers.options tables"
)
ALIASES = {"Callback", "FoldKind", "Verdict"}  # of types; beside them, constants need no example


@pytest.mark.parametrize("page", ["uncletc", *(f"uncletc.{name}" for name in PAGES.split())])
def test_every_public_name_has_an_example(page):
    module = importlib.import_module(page)
    _, _, of_page = str(module.__doc__).partition("Examples\n--------\n")
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", "") == page and not name.startswith("_")
    ]
    named = {name: getattr(module, name) for name in names}
    without = [
        name
        for name, value in named.items()
        if not (name.isupper() or name in ALIASES or inspect.ismodule(value))
        and ">>> " not in str(value.__doc__)
        and not re.search(rf"\b{name}\b", of_page)
    ]
    assert named
    assert without == []

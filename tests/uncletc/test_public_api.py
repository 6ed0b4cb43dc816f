"""Public names and signatures: others build on them, so they are added to and not renamed."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import uncletc

NAMES = [
    "BCD",
    "METHODS",
    "PAPER_METHODS",
    "RESULTS",
    "ConvergenceWarning",
    "CountTensor",
    "DetectionNetwork",
    "Fit",
    "FitError",
    "FitSettings",
    "Iteration",
    "Joint",
    "Scale",
    "StopReason",
    "Truth",
    "UnreadableFitError",
    "baselines",
    "compare",
    "datasets",
    "effects",
    "fit",
    "metrics",
    "rate_tensor",
    "simulate",
]


def test_names() -> None:
    assert set(uncletc.__all__) >= set(NAMES)
    assert all(hasattr(uncletc, name) for name in uncletc.__all__)
    assert list(uncletc.__all__) == sorted(uncletc.__all__, key=lambda n: (not n.isupper(), n))


def test_former_names_warn() -> None:
    with pytest.warns(DeprecationWarning, match=r"now uncletc\.compare"):
        assert uncletc.evaluation.evaluate is uncletc.compare.evaluate
    with pytest.raises(AttributeError, match="nothing"):
        _ = uncletc.nothing


def test_importing_is_silent_and_needs_no_dashboard() -> None:
    code = "import sys, uncletc; print({name.split('.')[0] for name in sys.modules})"
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.count("\n") == 1
    loaded = ast.literal_eval(run.stdout)
    assert "uncletc" in loaded
    assert not loaded & {"torch", "numba", "pandas", "streamlit", "plotly", "dashboard"}

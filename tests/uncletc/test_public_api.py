"""Public names and signatures: others build on them, so they are added to and not renamed."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from typing import Any

import pytest

import uncletc
from uncletc import CountTensor, Fit, FitSettings, Iteration, StopReason, Truth, datasets

NAMES = {
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
}
NEEDED = inspect.Parameter.empty
POSITIONAL, KEYWORD = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


def test_names() -> None:
    assert set(uncletc.__all__) >= NAMES
    assert all(hasattr(uncletc, name) for name in uncletc.__all__)
    assert list(uncletc.__all__) == sorted(uncletc.__all__, key=lambda n: (not n.isupper(), n))


SIGNATURES: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "CountTensor": (
        CountTensor,
        {"shape": NEEDED, "indices": NEEDED, "counts": NEEDED},
        {
            "attributes": None,
            "attribute_indices": None,
            "modes": None,
            "labels": None,
            "attribute_names": None,
            "exposure": None,
            "simulated": False,
        },
    ),
    "FitSettings": (
        FitSettings,
        {},
        {
            "rank": NEEDED,
            "solver": "joint",
            "mu": None,
            "hidden": (20, 20, 20),
            "max_iter": 300,
            "tol": None,
            "seed": 0,
        },
    ),
    "fit": (
        uncletc.fit,
        {"counts": NEEDED, "settings": NEEDED},
        {"start": None, "callback": None},
    ),
    "Fit.rate": (Fit.rate, {"self": NEEDED, "indices": NEEDED}, {}),
    "Fit.detection": (Fit.detection, {"self": NEEDED, "attributes": NEEDED}, {}),
    "Fit.expected": (
        Fit.expected,
        {"self": NEEDED, "indices": NEEDED, "attributes": None},
        {},
    ),
    "Fit.save": (Fit.save, {"self": NEEDED, "path": NEEDED}, {}),
    "Fit.load": (Fit.load, {"path": NEEDED}, {}),
    "simulate": (uncletc.simulate, {"shape": (20, 20, 20), "rank": 3}, {"seed": 0}),
    "datasets.load": (datasets.load, {"name": NEEDED}, {}),
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name: str) -> None:
    function, positional, keyword = SIGNATURES[name]
    parameters = inspect.signature(function).parameters
    found = [p.name for p in parameters.values() if p.kind is POSITIONAL]
    assert found == list(positional)
    for argument, default in {**positional, **keyword}.items():
        assert parameters[argument].default == default, argument
    for argument in keyword:
        assert parameters[argument].kind is KEYWORD, argument


def test_attributes_of_the_results() -> None:
    assert {"factors", "history", "stop", "settings", "observed_detection"} <= set(
        Fit.__dataclass_fields__
    )
    assert {"rate", "detection"} <= set(Truth.__dataclass_fields__)
    assert {"counts", "table", "provenance"} <= set(datasets.Dataset.__dataclass_fields__)
    assert set(Iteration.__dataclass_fields__) >= {"iteration", "objective", "seconds"}
    assert {reason.name for reason in StopReason} >= {"TOLERANCE", "MAX_ITER", "CALLBACK"}
    assert set(datasets.NAMES) >= {"covid", "ppi", "covid-twin", "ppi-twin"}


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
    assert not loaded & {"streamlit", "plotly", "dashboard"}

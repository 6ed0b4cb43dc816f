"""Both simulated data sets with a short fit of each, and one service for all pages."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

from dashboard import operator_settings
from dashboard.shared.fit_status import service
from dashboard.work.engine import Service
from tests.dashboard.looking import leave_all
from uncletc import CountTensor, Fit, FitSettings, datasets
from uncletc.datasets import Dataset


@pytest.fixture(scope="session")
def covid_twin() -> Dataset:
    return datasets.load("covid-twin")


@pytest.fixture(scope="session")
def ppi_twin() -> Dataset:
    return datasets.load("ppi-twin")


@pytest.fixture(scope="session")
def covid_fit(covid_twin: Dataset, short_fit: Callable[..., Fit]) -> Fit:
    return short_fit(covid_twin.counts, 2, hidden=(5,))


@pytest.fixture(scope="session")
def ppi_fit(ppi_twin: Dataset, short_fit: Callable[..., Fit]) -> Fit:
    return short_fit(ppi_twin.counts, 2, hidden=(5,))


@pytest.fixture(autouse=True, scope="session")
def one_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One service for all tests: each of its processes loads torch, which takes seconds."""
    shared = Service(folder=tmp_path_factory.mktemp("results"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "Service", lambda **_: shared)
        yield shared
    shared.close()
    assert not any(place.worker.alive for place in shared._places)


@pytest.fixture(autouse=True, scope="module")
def nothing_left() -> Iterator[None]:
    """No file of tests leaves fits to the next, which would wait for them."""
    yield
    leave_all()


@pytest.fixture(autouse=True)
def usual_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test leaves settings of an operator to the next."""
    monkeypatch.setattr(operator_settings, "_current", [])


@pytest.fixture
def run_script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run a script that a page hands out, and return the table that it prints.

    The fits given stand in for those that the script would make, in order; the counts and settings
    of each are kept as ``run_script.asked``.
    """

    def run(script: str, *fits: Fit) -> pd.DataFrame:
        assert len([line for line in script.splitlines() if line]) <= 8
        waiting = list(fits)

        def fit(counts: CountTensor, settings: FitSettings) -> Fit:
            run.asked.append((counts, settings))
            return waiting.pop(0)

        if fits:
            monkeypatch.setattr("uncletc.fit", fit)
        names: dict[str, Any] = {}
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(script, "script", "exec"), names)
        assert printed.getvalue().strip()
        assert not waiting
        monkeypatch.undo()  # what is written next finds the true name of the function
        return names["table"]

    run.asked = []
    return run


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Streamlit puts each script it runs in place of ``__main__``, which new processes import."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main

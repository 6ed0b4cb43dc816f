"""A short fit of each simulated data set, and one service for all pages."""

import gc
import sys
from collections.abc import Callable, Iterator
from functools import cache
from time import monotonic

import pytest
from streamlit.components.v2 import manifest_scanner

from dashboard import operator_settings
from dashboard.shared.fit_status import running, service
from dashboard.work.engine import Service
from tests.dashboard.looking import leave_all, own_cache, showing
from uncletc import Fit
from uncletc.datasets import Dataset


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


@pytest.fixture(autouse=True, scope="session")
def packages_read_once() -> Iterator[None]:
    """A run under Streamlit's test runner reads about all installed packages: half a second."""
    scan = cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", scan)
        yield


@pytest.fixture(scope="module")
def cache_of_the_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(autouse=True, scope="module")
def nothing_left(one_service: Service) -> Iterator[None]:
    """No file of tests leaves fits to the next, which would wait for them, nor sessions.

    With a session that held the same counts their results would go in the middle of a test.
    """
    gc.collect()
    one_service._enforce_limits(monotonic())  # forgets what those that were collected held
    yield
    leave_all()


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fit | Callable[[], Fit]], None]:
    """Have pages show a fit of simulated counts; no fitting process runs."""
    monkeypatch.delenv("UNCLETC_DATA_DIR", raising=False)
    return lambda fit: monkeypatch.setattr(running, "fit_or_stop", showing(fit))


@pytest.fixture(autouse=True)
def usual_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test leaves settings of an operator to the next."""
    monkeypatch.setattr(operator_settings, "_current", [])


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Streamlit puts each script it runs in place of ``__main__``, which new processes import."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main

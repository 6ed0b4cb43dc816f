"""One service for the tests of this folder: each process that loads torch takes seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dashboard.work.engine import Service
from dashboard.work.orders import Evaluate, FitOrder
from uncletc import CountTensor, FitSettings
from uncletc.baselines import KLSettings

QUICK = FitSettings(rank=2, max_iter=3, hidden=(5,))
ENDLESS = FitSettings(rank=2, max_iter=10**6, tol=0.0, hidden=(5,))


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service that tests share which leave it without jobs."""
    shared = Service(folder=tmp_path_factory.mktemp("results"))
    yield shared
    processes = [each.process for each in shared._everyone if each.process is not None]
    shared.close()
    assert all(process.poll() is not None for process in processes)


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[Service]:
    """A service over the test's own folder; its processes start when they are needed."""
    started = Service(folder=tmp_path)
    yield started
    started.close()


@pytest.fixture
def fit_order(small: CountTensor) -> Callable[..., FitOrder]:
    """A fit of few iterations; with ``endless=True`` of more than anyone waits for."""

    def make(*, endless: bool = False, **changes: Any) -> FitOrder:
        return FitOrder(small, replace(ENDLESS if endless else QUICK, **changes))

    return make


@pytest.fixture
def comparison(small: CountTensor) -> Callable[..., Evaluate]:
    """A comparison of one quick method; with ``endless=True`` it does not end."""

    def make(*, endless: bool = False, **changes: Any) -> Evaluate:
        settings = KLSettings(rank=2, max_iter=10**7 if endless else 20, tol=0.0)
        choice = {"counts": small, "method": "NTF-CPD-KL", "settings": settings}
        return Evaluate(**(choice | changes))

    return make

"""Orders of small problems, a service of real processes, and one whose processes obey the test."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from dashboard.work import engine
from dashboard.work.engine import Service
from dashboard.work.limits import Limits
from dashboard.work.orders import Evaluate, FitOrder
from dashboard.work.pool import Lost, OnReport
from uncletc import CountTensor, FitSettings
from uncletc.baselines import KLSettings

QUICK = FitSettings(rank=2, max_iter=3, hidden=(5,))
ENDLESS = FitSettings(rank=2, max_iter=10**6, tol=0.0, hidden=(5,))


@pytest.fixture
def service(one_service: Service) -> Service:
    """The service of real processes; tests leave it without jobs."""
    return one_service


class ObedientWorker:
    """A worker whose orders end when the test says so."""

    memory = 0

    def __init__(self) -> None:
        self.message: dict[str, Any] = {}
        self.on_report: OnReport | None = None
        self.alive = False
        self._ends: SimpleQueue[Any] = SimpleQueue()

    def start(self) -> None:
        self.alive = True

    def run(self, message: dict[str, Any], data: list[bytes], on_report: OnReport) -> Any:
        self._ends = SimpleQueue()
        self.message, self.data, self.on_report, self.alive = message, data, on_report, True
        end = self._ends.get()
        self.alive, self.data, self.on_report = False, [], None
        if end is None:
            raise Lost
        return end

    def report(self, **report: Any) -> None:
        if self.on_report is not None:
            self.on_report({"seconds": 1.0, "values": {}} | report, b"")

    def end(self, end: str = "done", message: str = "", result: bytes = b"{}") -> None:
        self._ends.put(({"end": end, "message": message}, [result]))

    def cancel(self, run: str) -> None:
        if run == self.message["run"]:
            self.end("cancelled", "It was cancelled.")

    def kill(self) -> None:
        self._ends.put(None)

    close = kill


@pytest.fixture
def obedient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Service]]:
    """Make a service whose workers obey the test, with limits of its own."""
    monkeypatch.setattr(engine, "Worker", ObedientWorker)
    monkeypatch.setattr(engine, "_ENFORCED", 0.01)
    made = []

    def make(alive: Callable[[str], bool] | None = None, **limits: Any) -> Service:
        made.append(Service(tmp_path, limits=Limits(**{"quick_workers": 1} | limits), alive=alive))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def fit_order(small: CountTensor) -> Callable[..., FitOrder]:
    """A fit of few iterations; with ``endless=True`` of more than anyone waits for."""

    def make(*, endless: bool = False, **changes: Any) -> FitOrder:
        return FitOrder(small, replace(ENDLESS if endless else QUICK, **changes))

    return make


@pytest.fixture
def comparison(small: CountTensor) -> Callable[..., Evaluate]:
    """A comparison of one quick method; with ``endless=True`` it does not end."""

    def make(*, endless: bool = False, seed: int = 0, **changes: Any) -> Evaluate:
        settings = KLSettings(rank=2, max_iter=10**7 if endless else 20, tol=0.0, seed=seed)
        choice = {"counts": small, "method": "NTF-CPD-KL", "settings": settings}
        return Evaluate(**(choice | changes))

    return make

"""Readiness: a tiny fit as a page would order it, made again now and then."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.server.readiness import Readiness
from dashboard.work.limits import Limits
from dashboard.work.orders import Recovery
from dashboard.work.recovery import recover


class Job:
    state = "waiting"

    @property
    def active(self) -> bool:
        return self.state == "waiting"


class Fake:
    """A service whose orders end when the test says so."""

    def __init__(self) -> None:
        self.jobs: dict[Any, Job] = {}
        self.results: dict[Any, Any] = {}
        self.asked = 0
        self.waiting = 0.0
        self.away = False
        self.limits = Limits(queue=3)

    def numbers(self) -> dict[str, float]:
        return {"running": 1.0, "waiting_quick": self.waiting, "waiting_long": 0.0}

    def lookup(self, order: Recovery) -> Any:
        return self.results.get(order)

    def job(self, order: Recovery) -> Job | None:
        return self.jobs.get(order)

    def submit(self, order: Recovery, watcher: str) -> Job:
        assert watcher
        self.asked += 1
        return self.jobs.setdefault(order, Job())

    def end(self) -> None:
        for order in self.jobs:
            self.results[order] = {"curve": []}
        self.jobs.clear()


@pytest.fixture
def service() -> Fake:
    return Fake()


@pytest.fixture
def clock() -> list[float]:
    return [0.0]


@pytest.fixture
def readiness(service: Fake, clock: list[float]) -> Readiness:
    return Readiness(lambda: service, lambda: clock[0])  # type: ignore[return-value]


def test_not_ready_before_the_first_fit(readiness: Readiness, service: Fake) -> None:
    assert readiness.look() == "The first tiny fit has not finished yet."
    assert readiness.look() == "The first tiny fit has not finished yet."
    assert service.asked == 1
    service.end()
    assert readiness.look() == ""
    assert readiness.look() == ""
    assert service.asked == 1


def test_busy_is_ready(readiness: Readiness, service: Fake, clock: list[float]) -> None:
    readiness.look()
    service.end()
    readiness.look()
    clock[0] = 601.0
    assert readiness.look() == ""
    assert service.asked == 2
    clock[0] = 1100.0
    assert readiness.look() == ""
    assert service.asked == 2


def test_a_full_queue_is_ready(readiness: Readiness, service: Fake, clock: list[float]) -> None:
    readiness.look()
    service.end()
    readiness.look()
    clock[0], service.waiting = 601.0, 2.0
    assert readiness.look() == ""
    assert service.asked == 1
    service.waiting = 1.0
    assert readiness.look() == ""
    assert service.asked == 2


def test_a_fit_that_fails_is_not_ready_until_one_succeeds(
    readiness: Readiness, service: Fake, clock: list[float]
) -> None:
    readiness.look()
    service.end()
    readiness.look()
    clock[0] = 601.0
    readiness.look()
    (job,) = service.jobs.values()
    job.state = "failed"
    assert readiness.look() == "A tiny fit failed."
    job.state = "waiting"
    assert readiness.look() == "The first tiny fit has not finished yet."
    service.end()
    assert readiness.look() == ""


@pytest.mark.filterwarnings("ignore:max_iter was reached")
def test_the_order_can_be_worked_on(readiness: Readiness, service: Fake) -> None:
    readiness.look()
    (order,) = service.jobs
    assert recover(order, lambda **_: None)["curve"]


def test_a_server_whose_cluster_is_away_still_has_pages(
    readiness: Readiness, service: Fake
) -> None:
    service.away = True
    assert not readiness.look()
    assert service.asked == 0
    service.away = False
    assert readiness.look() == "The first tiny fit has not finished yet."

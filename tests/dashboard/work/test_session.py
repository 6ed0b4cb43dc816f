"""One session's view of the service: several orders at a time, a few of them in the queue."""

from __future__ import annotations

import pytest

from dashboard.work.jobs import Job
from dashboard.work.session import Session


class FakeService:
    """Keeps jobs as the service does, and ends them when told to."""

    def __init__(self):
        self.jobs, self.results = {}, {}

    def lookup(self, order):
        return self.results.get(order)

    def job(self, order):
        return self.jobs.get(order)

    def submit(self, order, watcher=""):
        job = self.jobs.get(order)
        if job is None or not job.active:
            job = self.jobs[order] = Job(order)
        job.watchers.add(watcher)
        return job

    def cancel(self, job, watcher=""):
        job.watchers.discard(watcher)
        if not job.watchers:
            job.state = "cancelled"

    def finish(self, order):
        del self.jobs[order]
        self.results[order] = object()

    def fail(self, order):
        self.jobs[order].state, self.jobs[order].message = "failed", "It broke."

    @property
    def active(self):
        return [order for order, job in self.jobs.items() if job.active]


@pytest.fixture
def service():
    return FakeService()


@pytest.fixture
def mine(service):
    return Session(service, "me")


@pytest.fixture
def wanted(fit_order):
    return [fit_order(rank=rank) for rank in range(1, 6)]


def test_what_is_missing_waits_for_this_session_alone(service, mine, wanted):
    service.results[wanted[0]] = object()
    mine.submit(mine.missing(wanted))
    assert service.active == wanted[1:]
    assert mine.missing(wanted) == wanted[1:]
    assert [job.order for job in mine.under_way(wanted)] == wanted[1:]
    assert Session(service, "you").under_way(wanted) == []


def test_cancel_leaves_what_others_wait_for(service, mine, wanted):
    mine.submit(wanted)
    service.submit(wanted[0], "somebody else")
    mine.cancel(wanted)
    assert mine.under_way(wanted) == []
    assert service.active == [wanted[0]]


def test_failed_ones_say_why(service, mine, wanted):
    mine.submit(wanted)
    assert mine.failed(wanted) == []
    service.fail(wanted[0])
    assert [job.message for job in mine.failed(wanted)] == ["It broke."]


def test_a_batch_keeps_few_orders_in_the_queue_and_ends(service, mine, wanted):
    asked: set[str] = set()
    rounds = 0
    while mine.advance(wanted, asked):
        assert 0 < len(service.active) <= 2
        service.finish(service.active[0])
        rounds += 1
    assert rounds == len(wanted) == len(asked)
    assert mine.missing(wanted) == []


def test_a_batch_does_not_try_a_failed_order_again(service, mine, wanted):
    asked: set[str] = set()
    assert mine.advance(wanted, asked)
    for order in wanted[:2]:
        service.fail(order)
    assert mine.advance(wanted, asked)
    assert service.active == wanted[2:4]
    for order in wanted[2:]:
        service.jobs.setdefault(order, Job(order))
        service.finish(order)
    assert not mine.advance(wanted, asked)

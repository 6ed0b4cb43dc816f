"""Metrics under names for Prometheus; readiness by a tiny fit, as a page would order it."""

from urllib.error import URLError
from urllib.request import urlopen

import pytest

from dashboard.server import Readiness, Work, metrics_served
from dashboard.work.engine import Service
from dashboard.work.limits import Limits
from tests.served import free_port

NOT_YET = "The first tiny fit has not finished yet."


class Job:
    state = "waiting"

    @property
    def active(self):
        return self.state == "waiting"


class Fake(Service):
    """A service whose orders end when the test says so."""

    away = False

    def __init__(self):
        self.jobs = {}
        self.results = {}
        self.asked, self.waiting = 0, 2
        self.limits = Limits(queue=4)

    def numbers(self):
        counted = {"orders_done": 3.0, "results_bytes": 4096.0}
        return counted | {"orders_waiting_quick": 2.0}

    @property
    def active(self):
        return ["somebody's order"] * self.waiting

    def lookup(self, order):
        return self.results.get(order)

    def job(self, order):
        return self.jobs.get(order)

    def submit(self, order):
        self.asked += 1
        return self.jobs.setdefault(order, Job())

    def end(self):
        self.results |= {order: {"curve": []} for order in self.jobs}
        self.jobs.clear()


def test_metrics_have_names_kinds_and_values():
    found = {metric.name: metric for metric in Work(Fake()).collect()}
    assert found["uncletc_orders_done"].type == "counter"
    assert found["uncletc_orders_waiting_quick"].type == "gauge"
    assert found["uncletc_results_bytes"].samples[0].value == 4096


def test_metrics_are_served_on_a_port_of_their_own_while_wanted():
    port = free_port()
    with metrics_served(Fake(), port, "127.0.0.1"):
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        assert "uncletc_orders_done_total 3.0" in text
        assert "process_resident_memory_bytes" in text
    with pytest.raises(URLError):
        urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5)
    with metrics_served(Fake(), None, "127.0.0.1"), pytest.raises(URLError):
        urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5)


def test_ready_means_that_a_tiny_fit_was_made():
    service = Fake()
    readiness = Readiness(lambda: service)
    service.away = True  # the cluster: pages that say so are better than none
    assert not readiness.problem()
    service.away, service.waiting = False, 4  # the queue is full
    assert readiness.problem() == NOT_YET
    assert service.asked == 0
    service.waiting = 2
    assert readiness.problem() == readiness.problem() == NOT_YET
    assert service.asked == 1
    (job,) = service.jobs.values()
    job.state = "failed"
    assert readiness.problem() == "A tiny fit failed."
    assert service.asked == 2
    service.end()
    assert readiness.problem() == readiness.problem() == ""

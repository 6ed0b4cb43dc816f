"""Limits, sessions and processes that a service looks after, with real processes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.work import watch
from dashboard.work.limits import Limits
from dashboard.work.service import Service
from tests.dashboard.work.waiting import finish, wait

ROOMY = Limits()


@pytest.fixture
def limited(tmp_path):
    """Make a service with limits of its own."""
    made = []

    def make(alive=None, **limits) -> Service:
        made.append(
            Service(folder=tmp_path / str(len(made)), limits=replace(ROOMY, **limits), alive=alive)
        )
        return made[-1]

    yield make
    for service in made:
        service.close()


def test_several_processes_work_on_a_lane_at_once(limited, fit_order):
    service = limited(quick_workers=2)
    jobs = [service.submit(fit_order(endless=True, seed=seed), "ann-fit") for seed in range(3)]
    wait(lambda: all(job.state == "running" for job in jobs[:2]))
    assert [service.place(job) for job in jobs] == [0, 0, 1]
    numbers = service.numbers()
    assert (numbers["running"], numbers["waiting_quick"], numbers["workers"]) == (2, 1, 2)
    assert numbers["sessions"] == 1
    for job in jobs:
        service.cancel(job, "ann-fit")
    wait(lambda: not service._register.runs)
    assert service.numbers()["cancelled"] == 3


def test_others_come_in_between(limited, fit_order):
    service = limited()
    first = service.submit(fit_order(endless=True, seed=0), "ann-fit")
    wait(lambda: first.state == "running")
    more = [service.submit(fit_order(seed=seed), "ann-fit") for seed in (1, 2)]
    other = service.submit(fit_order(seed=3), "bob-fit")
    assert [service.place(job) for job in (other, *more)] == [1, 2, 3]
    service.cancel(first, "ann-fit")
    assert [finish(job).state for job in (other, *more)] == ["done"] * 3


def test_an_order_beyond_the_limits_is_a_sentence(limited, fit_order):
    service = limited(session_orders=1)
    held = service.submit(fit_order(endless=True, seed=0), "ann-fit")
    refused = service.submit(fit_order(seed=1), "ann-fit")
    assert (refused.state, service.job(refused.order)) == ("failed", refused)
    assert refused.message.startswith("you already wait for 1 results")
    service.cancel(held, "ann-fit")


def test_one_that_takes_too_long_is_ended_and_said_so(limited, fit_order):
    service = limited(seconds=0.5)
    job = finish(service.submit(fit_order(endless=True)))
    assert job.state == "failed"
    assert job.message.startswith("it took longer than 0.5 seconds")
    assert job.lost == 0


def test_one_that_needs_too_much_memory_is_ended_and_said_so(limited, fit_order):
    service = limited(memory_gb=0.01)
    job = finish(service.submit(fit_order(endless=True)))
    assert "more than 0.01 GB of memory" in job.message


def test_a_hung_process_is_replaced_once(limited, fit_order):
    service = limited(silent_seconds=1e-6)
    job = finish(service.submit(fit_order(endless=True)))
    assert "so did a second one" in job.message
    assert service.numbers()["lost"] == 2


def test_what_a_closed_session_waited_for_is_left(limited, fit_order, monkeypatch):
    monkeypatch.setattr(watch, "_GONE", 0.2)
    open_sessions = {"ann", "bob"}
    service = limited(alive=lambda session: session in open_sessions)
    shared = service.submit(fit_order(endless=True, seed=0), "ann-fit")
    service.submit(shared.order, "bob-fit")
    alone = service.submit(fit_order(endless=True, seed=1), "ann-methods")
    open_sessions.remove("ann")
    wait(lambda: alone.state == "cancelled")
    assert shared.active
    assert shared.sessions == {"bob"}


def test_a_foreign_file_is_set_aside_and_the_result_made_anew(limited, comparison, fit_order):
    service = limited()
    order = comparison()
    path = service._shelf.store.path(order.key, order)
    for foreign in ("[1, 2]", '{"method": "POND", "trials": []}'):
        path.write_text(foreign)
        assert service.lookup(order) is None
        assert not path.exists()
    assert len(list(path.parent.glob("*.damaged"))) == 1  # the same name, so the last one
    assert finish(service.submit(order)).state == "done"
    assert service.lookup(order)["trials"]

    mine, other = fit_order(seed=1), fit_order(seed=2)
    finish(service.submit(mine))
    service._shelf.store.path(mine.key, mine).rename(service._shelf.store.path(other.key, other))
    assert service.lookup(other) is None

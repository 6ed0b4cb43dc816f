"""Orders on their way: how far one is, whose turn it is, what is logged of their ends."""

from __future__ import annotations

import json
import logging

import pytest

from dashboard.logs import Lines
from dashboard.work import jobs
from dashboard.work.jobs import Job, Queue, in_turn


@pytest.fixture
def job(fit_order):
    """Make jobs asked for one after another, by watchers."""
    made = []

    def make(*watchers: str, **more) -> Job:
        made.append(None)
        order = fit_order(seed=len(made))
        return Job(order, run=f"run-{len(made)}", watchers=set(watchers), asked=len(made), **more)

    return make


def test_pace_time_left_and_share(fit_order, comparison):
    job = Job(fit_order(max_iter=10))
    assert (job.active, job.iteration, job.seconds_left, job.share) == (True, 0, None, 0)
    job.on_message({"iteration": 2, "seconds": 4.0, "values": {"objective": 7.0}})
    assert (job.state, job.objectives, job.share) == ("running", [7.0], 0.2)
    assert job.seconds_left == pytest.approx(16)
    several = Job(comparison(trials=4))
    several.on_message({"iteration": 10, "seconds": 1.0, "trial": 1, "values": {}})
    assert several.share == pytest.approx(1.5 / 4)
    assert several.curve == []


def test_a_session_with_many_lets_others_in_between(job):
    ann = [job("ann-methods"), job("ann-fit"), job("ann-methods")]
    assert in_turn(ann[::-1]) == ann
    bob = [job("bob-fit") for _ in range(2)]
    assert in_turn([*ann, *bob]) == [ann[0], bob[0], ann[1], bob[1], ann[2]]
    assert in_turn([ann[0], bob[0]], [job("ann-fit")]) == [bob[0], ann[0]]  # what runs counts


def test_one_that_several_wait_for_has_the_best_of_their_places(job):
    ann = [job("ann-fit") for _ in range(2)]
    both = job("ann-fit", "bob-fit")
    assert in_turn([*ann, both]) == [ann[0], both, ann[1]]


def test_one_that_lost_its_process_comes_first(job):
    first, lost = job("ann-fit"), job("bob-fit", lost=1)
    assert in_turn([first, lost]) == [lost, first]


def test_the_end_of_each_order_is_a_line_without_what_users_brought(fit_order, caplog, monkeypatch):
    queue, order = Queue(), fit_order()
    with caplog.at_level(logging.INFO):
        for state in ("done", "failed"):
            job = queue.add(order, "ann-fit")
            job.start(object())
            queue.end(job, state, "county 'Adams' must have a count")
        queue.cancel(queue.add(order, "bob-fit"))
    lines = [json.loads(Lines().format(record)) for record in caplog.records]
    assert [line["state"] for line in lines] == ["done", "failed", "cancelled"]
    for line in lines:
        assert (line["message"], line["order"], line["lost"]) == ("an order ended", "FitOrder", 0)
        assert not {"ann", "bob", order.key} & set(json.dumps(line).split('"'))
        assert "Adams" not in json.dumps(line)
    assert queue.ended == {"done": 1, "failed": 1, "cancelled": 1}

    monkeypatch.setattr(jobs, "_ENDED_JOBS", 2)
    orders = [fit_order(seed=seed) for seed in range(4)]
    for each in orders:
        queue.end(queue.add(each, ""), "failed", "It broke.")
    assert [each.key in queue.jobs for each in orders] == [False] * 2 + [True] * 2

"""Fair turns among sessions."""

from __future__ import annotations

import pytest

from dashboard.work.jobs import Job
from dashboard.work.turns import in_turn


@pytest.fixture
def job(fit_order):
    """Make jobs asked for one after another, by watchers."""
    made = []

    def make(*watchers: str, **more) -> Job:
        made.append(None)
        order = fit_order(seed=len(made))
        return Job(order, run=f"run-{len(made)}", watchers=set(watchers), asked=len(made), **more)

    return make


def test_one_session_has_them_as_asked(job):
    jobs = [job("ann-fit") for _ in range(3)]
    assert in_turn(jobs[::-1]) == jobs


def test_a_session_with_many_lets_others_in_between(job):
    ann = [job("ann-methods") for _ in range(3)]
    bob = [job("bob-fit") for _ in range(2)]
    assert in_turn([*ann, *bob]) == [ann[0], bob[0], ann[1], bob[1], ann[2]]


def test_parts_of_a_page_are_one_session(job):
    ann = [job("ann-methods"), job("ann-fit")]
    bob = job("bob-fit")
    assert in_turn([*ann, bob]) == [ann[0], bob, ann[1]]


def test_what_runs_counts(job):
    running = job("ann-fit")
    ann, bob = job("ann-fit"), job("bob-fit")
    assert in_turn([ann, bob], [running]) == [bob, ann]


def test_one_that_several_wait_for_has_the_best_of_their_places(job):
    ann = [job("ann-fit") for _ in range(2)]
    both = job("ann-fit", "bob-fit")
    assert in_turn([*ann, both]) == [ann[0], both, ann[1]]


def test_one_that_lost_its_process_comes_first(job):
    first, lost = job("ann-fit"), job("bob-fit", lost=1)
    assert in_turn([first, lost]) == [lost, first]

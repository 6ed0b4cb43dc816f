"""Which fits are asked for: parts, held-out entries, sweeps, and one session's orders."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.shared.model import settings_of
from dashboard.whatif.runs import (
    Run,
    describe_run,
    differences,
    fits,
    held_rows,
    sweep_runs,
    sweep_tasks,
    task,
    tasks,
    value_of,
    visible,
)
from dashboard.work.fit_orders import Orders
from dashboard.work.service import Job, fit_key
from uncletc import FitSettings

BASE = Run(settings=FitSettings(rank=5))


def usual(**changes):
    values = {"rank": 5, "mu": 100, "layers": 2, "units": 10, "members": 3, "solver": "joint"}
    return settings_of(**(values | {"seed": 1} | changes))


class FakeService:
    """Keeps jobs as the service does, and finishes them when told to."""

    def __init__(self):
        self.jobs, self.fits = {}, {}

    def lookup(self, key):
        return self.fits.get(key)

    def job(self, key):
        return self.jobs.get(key)

    def submit(self, counts, settings, watcher=""):
        key = fit_key(counts, settings)
        job = self.jobs.get(key)
        if job is None or not job.active:
            job = self.jobs[key] = Job(key, settings)
        job.watchers.add(watcher)
        return job

    def cancel(self, job, watcher=""):
        job.watchers.discard(watcher)
        if not job.watchers:
            job.state = "cancelled"

    def finish(self, key, state="done", message=""):
        self.jobs[key].state, self.jobs[key].message = state, message
        if state == "done":
            self.fits[key] = object()

    @property
    def active(self):
        return [key for key, job in self.jobs.items() if job.active]


class TestWords:
    def test_description_names_what_is_unusual(self):
        text = describe_run(Run(settings=usual(solver="bcd"), part="first half"), "day")
        for part in ("rank 5", "μ 100", "2 × 10", "block coordinate descent", "half of the days"):
            assert part in text
        assert "members" not in text
        assert "days" not in describe_run(Run(settings=usual()), "day")

    def test_differences_name_both_values_and_nothing_else(self):
        a, b = Run(settings=usual()), Run(settings=usual(rank=7), part="second half")
        assert differences(a, b) == "From A to B: rank (5 → 7), counts (all → second half)."
        assert "same setting" in differences(a, a)
        linear = Run(settings=usual(layers=0))
        assert differences(a, linear) == "From A to B: hidden layers (2 → 0)."


class TestVisible:
    def test_held_out_entries_are_a_tenth_and_always_the_same(self, small):
        held = held_rows(small)
        assert len(held) == round(small.n_observed / 10)
        assert len(set(held.tolist())) == len(held)
        np.testing.assert_array_equal(held, held_rows(small))

    def test_held_out_counts_are_not_seen_but_all_others_are(self, small):
        seen = {tuple(entry) for entry in visible(small, "all", True).indices.tolist()}
        held = {tuple(entry) for entry in small.indices[held_rows(small)].tolist()}
        assert not seen & held
        assert seen | held == {tuple(entry) for entry in small.indices.tolist()}

    def test_halves_part_the_last_mode(self, small):
        first, second = (visible(small, part, False) for part in ("first half", "second half"))
        assert first.indices[:, -1].max() < 2 <= second.indices[:, -1].min()
        assert first.n_observed + second.n_observed == small.n_observed

    def test_a_half_without_held_out_entries_lacks_both(self, small):
        n_held = (small.indices[held_rows(small), -1] < 2).sum()
        n_first = (small.indices[:, -1] < 2).sum()
        assert visible(small, "first half", True).n_observed == n_first - n_held

    def test_all_counts_are_the_fit_of_other_pages(self, small):
        assert task(small, BASE).key == fit_key(small, BASE.settings)


def test_each_fit_is_asked_for_once_and_those_to_look_at_first(small):
    other = Run(settings=FitSettings(rank=2))
    assert [each.settings.rank for each in tasks(small, (BASE, other))] == [5, 2, 5, 2]
    assert [len(each.counts.indices) for each in tasks(small, (BASE, other))] == [60, 60, 54, 54]
    assert len(tasks(small, (BASE, BASE))) == 2


class TestSweeps:
    @pytest.mark.parametrize("parameter", ["rank", "μ", "units", "layers"])
    def test_only_the_parameter_changes_and_the_own_value_is_there(self, parameter):
        base = Run(settings=usual(rank=7, mu=200, layers=4, units=25), part="first half")
        runs = sweep_runs(base, parameter)
        assert 4 <= len(runs) <= 6
        assert list(runs) == sorted(runs)
        assert runs[value_of(base, parameter)] == base
        for value, run in runs.items():
            assert value_of(run, parameter) == value
            (changed,) = differences(base, run).split(":")[1:] if run != base else ("",)
            assert changed.count("→") == (run != base)

    def test_units_cannot_be_swept_without_layers(self):
        assert sweep_runs(Run(settings=usual(layers=0)), "units") == {}

    def test_layers_can_be_swept_from_none(self):
        runs = sweep_runs(Run(settings=usual(layers=0)), "layers")
        assert [len(run.settings.hidden) for run in runs.values()] == list(runs)


class TestOrders:
    @pytest.fixture
    def service(self):
        return FakeService()

    @pytest.fixture
    def mine(self, service):
        return Orders(service, "me")

    def test_only_what_is_missing_is_submitted(self, small, service, mine):
        wanted = tasks(small, (BASE,))
        service.fits[wanted[0].key] = object()
        mine.submit_missing(wanted)
        assert service.active == [wanted[1].key]
        assert mine.n_missing(wanted) == 1
        assert len(mine.under_way(wanted)) == 1

    def test_both_fits_of_a_run(self, small, service, mine):
        first, second = (each.key for each in tasks(small, (BASE,)))
        service.fits[second] = "held out"
        assert fits(mine, small, BASE) == (None, "held out")
        service.fits[first] = "all"
        assert fits(mine, small, BASE) == ("all", "held out")

    def test_cancel_leaves_what_others_wait_for(self, small, service, mine):
        wanted = tasks(small, (BASE,))
        mine.submit_missing(wanted)
        service.submit(wanted[0].counts, wanted[0].settings, "somebody else")
        mine.cancel(wanted)
        assert mine.under_way(wanted) == []
        assert service.active == [wanted[0].key]

    def test_a_failed_fit_is_told(self, small, service, mine):
        wanted = tasks(small, (BASE,))
        mine.submit_missing(wanted)
        assert mine.trouble(wanted) is None
        service.finish(wanted[0].key, "failed", "It broke.")
        assert "It broke." in mine.trouble(wanted)

    def test_a_sweep_keeps_few_fits_in_the_queue_and_ends(self, small, service, mine):
        wanted = sweep_tasks(small, sweep_runs(BASE, "rank").values())
        asked, rounds = set(), 0
        while mine.advance(wanted, asked):
            assert 0 < len(service.active) <= 2
            service.finish(service.active[0])
            rounds += 1
        assert rounds == len(wanted) == len(asked)
        assert mine.n_missing(wanted) == 0

    def test_a_sweep_does_not_try_a_failed_fit_again(self, small, service, mine):
        wanted = sweep_tasks(small, sweep_runs(BASE, "rank").values())
        asked = set()
        assert mine.advance(wanted, asked)
        for key in service.active:
            service.finish(key, "failed", "It broke.")
        mine.advance(wanted, asked)
        assert not set(service.active) & {wanted[0].key, wanted[1].key}

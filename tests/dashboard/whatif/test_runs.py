"""Which fits are asked for: parts, held-out entries, sweeps, and one session's orders."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from dashboard.shared.sidebar.model import FROM_COUNTS, settings_of
from dashboard.whatif.runs import (
    Run,
    describe_run,
    differences,
    fits,
    held_rows,
    order,
    orders,
    sweep_orders,
    sweep_runs,
    value_of,
    visible,
)
from dashboard.work.orders import FitOrder
from uncletc import FitSettings

BASE = Run(settings=FitSettings(rank=5))


def usual(**changes):
    values = {"rank": 5, "mu": 100, "layers": 2, "units": 10, "members": 3, "solver": "joint"}
    return settings_of(**(values | {"seed": 1} | changes))


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
        assert "identical" in differences(a, a)
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
        assert order(small, BASE) == FitOrder(small, BASE.settings)


def test_each_fit_is_asked_for_once_and_those_to_look_at_first(small):
    other = Run(settings=FitSettings(rank=2))
    assert [each.settings.rank for each in orders(small, (BASE, other))] == [5, 2, 5, 2]
    assert [len(each.counts.indices) for each in orders(small, (BASE, other))] == [60, 60, 54, 54]
    assert len(orders(small, (BASE, BASE))) == 2


class TestSweeps:
    def test_both_fits_of_each_value_come_one_after_the_other(self, small):
        runs = sweep_runs(BASE, "rank")
        wanted = sweep_orders(small, runs.values())
        assert [each.settings.rank for each in wanted] == [rank for rank in runs for _ in range(2)]
        assert [each.counts.n_observed for each in wanted[:2]] == [60, 54]

    @pytest.mark.parametrize("parameter", ["rank", "μ", "units", "layers"])
    def test_only_the_parameter_changes_and_the_own_value_is_there(self, parameter):
        base = Run(settings=usual(rank=7, mu=200, layers=4, units=25), part="first half")
        runs = sweep_runs(base, parameter)
        assert 4 <= len(runs) <= 6
        numbers = [value for value in runs if value != FROM_COUNTS]
        assert numbers == sorted(numbers)
        assert (FROM_COUNTS in runs) == (parameter == "μ")
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


def test_both_fits_of_a_run(small):
    class Finished:
        results: ClassVar = {order(small, BASE, held_out=True): "held out"}

        def lookup(self, wanted):
            return self.results.get(wanted)

    assert fits(Finished(), small, BASE) == (None, "held out")
    Finished.results[order(small, BASE)] = "all"
    assert fits(Finished(), small, BASE) == ("all", "held out")

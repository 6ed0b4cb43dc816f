"""Which fits are compared, their held-out errors against plain loops, and what is said of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from dashboard.shared.sidebar.model import FROM_COUNTS, settings_of
from dashboard.whatif.runs import (
    Run,
    differences,
    held_rows,
    order,
    orders,
    sweep_runs,
    value_of,
    visible,
)
from dashboard.whatif.scores import (
    Score,
    as_text,
    held_out_words,
    held_places,
    score,
    score_table,
    sweep_insight,
    sweep_table,
    verdict,
)
from dashboard.work.orders import FitOrder
from uncletc import FitSettings

BASE = Run(settings=FitSettings(rank=5))
RUNS = {side: Run(settings=FitSettings(rank=2)) for side in "AB"}


def usual(**changes):
    values = {"rank": 5, "mu": 100, "layers": 2, "units": 10, "members": 3, "solver": "joint"}
    return settings_of(**(values | {"seed": 1} | changes))


class TestRuns:
    def test_differences_name_both_values_and_nothing_else(self):
        a, b = Run(settings=usual()), Run(settings=usual(rank=7), part="second half")
        assert differences(a, b) == "From A to B: rank (5 → 7), counts (all → second half)."
        assert "identical" in differences(a, a)
        closed = Run(settings=replace(usual(), closed=("visit",)))
        assert differences(a, closed) == "From A to B: closed visits (none → visit)."

    def test_held_out_counts_are_a_tenth_and_not_seen(self, small):
        held = {tuple(entry) for entry in small.indices[held_rows(small)].tolist()}
        seen = {tuple(entry) for entry in visible(small, "all", True).indices.tolist()}
        assert len(held) == round(small.n_observed / 10)
        assert not seen & held
        assert seen | held == {tuple(entry) for entry in small.indices.tolist()}

    def test_halves_divide_the_last_mode(self, small):
        first, second = (visible(small, part, False) for part in ("first half", "second half"))
        assert first.indices[:, -1].max() < 2 <= second.indices[:, -1].min()
        assert first.n_observed + second.n_observed == small.n_observed
        lost = (small.indices[held_rows(small), -1] < 2).sum()
        assert visible(small, "first half", True).n_observed == first.n_observed - lost

    def test_each_fit_is_ordered_once_and_those_to_all_counts_first(self, small):
        other = Run(settings=FitSettings(rank=2))
        wanted = orders(small, (BASE, other))
        assert [each.settings.rank for each in wanted] == [5, 2, 5, 2]
        assert [each.counts.n_observed for each in wanted] == [60, 60, 54, 54]
        assert wanted[0] == order(small, BASE) == FitOrder(small, BASE.settings)
        assert len(orders(small, (BASE, BASE))) == 2

    @pytest.mark.parametrize("parameter", ["rank", "μ", "units", "layers"])
    def test_a_sweep_changes_one_setting_and_has_the_base(self, parameter):
        base = Run(settings=usual(rank=7, mu=200, layers=4, units=25), part="first half")
        runs = sweep_runs(base, parameter)
        assert (FROM_COUNTS in runs) == (parameter == "μ")
        assert runs[value_of(base, parameter)] == base
        for value, run in runs.items():
            assert value_of(run, parameter) == value
            assert differences(base, run).count("→") == (run != base)

    def test_units_cannot_be_varied_without_layers_and_layers_can(self):
        linear = Run(settings=usual(layers=0))
        assert sweep_runs(linear, "units") == {}
        runs = sweep_runs(linear, "layers")
        assert [len(run.settings.hidden) for run in runs.values()] == list(runs)


def made(deviances, squares=None):
    deviances = np.asarray(deviances, dtype=float)
    squares = deviances if squares is None else np.asarray(squares, dtype=float)
    return Score(math.sqrt(squares.mean()), float(deviances.mean()), squares, deviances)


@pytest.fixture(scope="module")
def second_fit(ppi_twin, short_fit):
    return short_fit(visible(ppi_twin.counts, "all", True), 2, hidden=(5,))


class TestScore:
    def test_is_that_of_a_loop_over_the_held_out_entries(self, small, short_fit):
        found = short_fit(visible(small, "all", True))
        g = found.detection(small.attributes)
        known = dict(zip(map(tuple, small.attribute_indices.tolist()), g, strict=True))
        squares, deviances, ys = [], [], []
        for row in held_rows(small):
            entry, y = tuple(small.indices[row].tolist()), int(small.counts[row])
            expected = max(float(found.rate([entry])[0]) * known.get(entry, g.mean()), 1e-3)
            squares.append((y - expected) ** 2)
            log = y * math.log(y / expected) if y else 0.0
            deviances.append(2 * (log - y + expected))
            ys.append(y)
        result = score(small, found)
        assert result.deviances == pytest.approx(deviances)
        assert result.deviance == pytest.approx(np.mean(deviances))
        assert result.squares == pytest.approx(squares)
        assert result.rrmse == pytest.approx(math.sqrt(np.mean(squares)) / np.mean(ys))

    def test_the_constant_is_the_mean_of_the_other_counts(self, small):
        held = held_rows(small)
        others, y = np.delete(small.counts, held).mean(), small.counts[held]
        expected = math.sqrt(np.mean((y - others) ** 2)) / y.mean()
        assert score(small, None).rrmse == pytest.approx(expected)


class TestVerdict:
    noise = np.random.default_rng(0).normal(size=400)
    alone = np.arange(400)

    def said(self, a, b, groups=alone):
        return verdict(a, b, groups, "interactions")

    def test_a_clear_difference_names_who_is_ahead(self):
        a, b = made(10 + self.noise), made(9 + 0.9 * self.noise)
        assert self.said(a, b).startswith("**B predicts held-out counts better**")
        assert self.said(b, a).startswith("**A predicts held-out counts better**")
        assert "ahead as well" in self.said(a, b)
        assert "400 counts in 400 interactions" in self.said(a, b)

    def test_days_of_a_place_are_no_independent_evidence(self):
        # Each of 20 places favours one side on all of its 20 days, A in a few places more.
        by_place = np.repeat(np.where(np.arange(20) < 12, 1.0, -1.0), 20)
        places = np.repeat(np.arange(20), 20)
        a, b = made(np.full(400, 10.0)), made(10 + by_place)
        assert self.said(a, b).startswith("**A predicts")  # were the days independent
        assert "about equally well" in self.said(a, b, places)
        assert "400 counts in 20 interactions" in self.said(a, b, places)

    def test_measures_that_disagree_are_said_to(self):
        a = made(10 + self.noise, squares=50 + self.noise)
        text = self.said(a, made(9 + self.noise, squares=60 + self.noise * 1.1))
        assert text.startswith("**B predicts")
        assert "But by rRMSE" in text

    def test_equal_predictions_are_said_to_be_equal(self):
        a = made(10 + self.noise)
        assert "identically" in self.said(a, a)


def test_places_of_held_out_entries_are_those_that_are_compared(ppi_twin):
    where = ppi_twin.counts.indices[held_rows(ppi_twin.counts)][:, :2]
    places = held_places(ppi_twin)
    assert len(places) == len(where)
    assert len(set(places.tolist())) == len(set(map(tuple, where.tolist())))


def test_words_wait_for_both_and_name_what_a_half_has_not_seen(ppi_twin, second_fit):
    runs = [replace(BASE, part=part) for part in ("all", "first half")]
    one = {"A": score(ppi_twin.counts, second_fit)}
    text = held_out_words(one, ppi_twin, runs)
    assert text.startswith("Not known yet")
    assert "B has seen only the first half of the visits" in text
    assert "A has seen" not in text
    assert "identically" in held_out_words(one | {"B": one["A"]}, ppi_twin, runs)


class TestTable:
    def test_simulated_counts_have_errors_against_the_truth(self, ppi_twin, ppi_fit, second_fit):
        table = score_table(ppi_twin, {"A": second_fit}, {"A": ppi_fit, "B": ppi_fit}, RUNS)
        counts, truth = ppi_twin.counts, ppi_twin.truth
        where = tuple(counts.attribute_indices.T)
        for name, estimate, true in (
            ("MAE of λ", ppi_fit.rate(counts.attribute_indices), truth.rate[where]),
            ("MAE of p", ppi_fit.detection(counts.attributes), truth.detection[where]),
        ):
            row = table.loc[f"{name} against the simulated truth"]
            expected = np.abs(estimate / estimate.mean() - true / true.mean()).mean()
            assert row["A"] == row["B"] == pytest.approx(expected)
        held = table.loc["Poisson deviance per held-out entry"]
        assert held["A"] == score(counts, second_fit).deviance
        assert as_text(table).loc["Poisson deviance per held-out entry", "B"] == "–"


@pytest.fixture(scope="module")
def other_fit(ppi_twin, short_fit):
    return short_fit(ppi_twin.counts, 2, hidden=(5,), seed=9)


@pytest.fixture(scope="module")
def swept(ppi_twin, ppi_fit, other_fit, second_fit):
    fits = {2: (ppi_fit, second_fit), 5: (other_fit, None), 10: (None, None), 15: (ppi_fit, None)}
    return sweep_table(ppi_twin, fits, current=2).set_index("value")


class TestSweep:
    def test_what_is_not_there_yet_is_missing(self, swept):
        assert swept.loc[10].isna().all()
        assert np.isfinite(swept.loc[2, ["deviance", "rrmse", "seconds"]]).all()
        assert math.isnan(swept.loc[5, "deviance"])
        assert math.isnan(swept.loc[15, "like_before"])

    def test_rank_correlations_are_spearmans(self, swept, ppi_twin, ppi_fit, other_fit):
        counts, means = ppi_twin.counts, []
        for found in (ppi_fit, other_fit):
            grid = np.empty(counts.shape)
            grid[tuple(counts.attribute_indices.T)] = found.detection(counts.attributes)
            means.append(grid.mean(axis=2).ravel())
        expected = spearmanr(*means).statistic
        assert swept.loc[5, "like_a"] == swept.loc[5, "like_before"] == pytest.approx(expected)
        assert swept.loc[2, "like_a"] == swept.loc[15, "like_a"] == pytest.approx(1)

    def test_insight_names_the_best_value(self, swept):
        some = swept.reset_index()
        assert sweep_insight(some, "rank") is None
        some["deviance"] = [3.0, 2.0, np.nan, 4.0]
        assert "Of the 3 values" in sweep_insight(some, "rank")
        assert "**rank 5**" in sweep_insight(some, "rank")
        some["deviance"] = [2.02, 2.0, 2.01, 2.03]
        assert "hardly matters" in sweep_insight(some, "rank")
        for least, words in ((0.95, "hardly changes"), (0.4, "p changes")):
            some["like_before"] = [np.nan, 0.99, least, 0.97]
            assert words in sweep_insight(some, "rank")

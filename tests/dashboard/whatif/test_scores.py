"""Held-out errors against plain loops, and the sentences that they become."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from dashboard.whatif.runs import Run, held_rows, visible
from dashboard.whatif.scores import (
    Score,
    as_text,
    constant_score,
    held_out_words,
    score,
    score_table,
    sweep_insight,
    sweep_table,
    verdict,
)
from uncletc import CountTensor, FitSettings

RUNS = {side: Run(settings=FitSettings(rank=2)) for side in "AB"}


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
        known = {
            tuple(entry): p for entry, p in zip(small.attribute_indices.tolist(), g, strict=True)
        }
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

    def test_held_out_counts_do_not_reach_the_constant(self, small):
        held = held_rows(small)
        others = np.delete(small.counts, held).mean()
        y = small.counts[held]
        assert constant_score(small).rrmse == pytest.approx(
            math.sqrt(np.mean((y - others) ** 2)) / y.mean()
        )


class TestVerdict:
    noise = np.random.default_rng(0).normal(size=400)

    def test_without_an_event_held_out_there_is_no_relative_error(self, small):
        zeros = np.zeros(small.n_observed, dtype=int)
        nothing = constant_score(CountTensor(small.shape, small.indices, zeros))
        assert np.isnan(nothing.rrmse)
        assert np.isfinite(nothing.deviance)

    def test_a_clear_difference_names_who_is_ahead(self):
        a, b = made(10 + self.noise), made(9 + 0.9 * self.noise)
        assert verdict(a, b, 400).startswith("**B predicts held-out counts better**")
        assert verdict(b, a, 400).startswith("**A predicts held-out counts better**")
        assert "ahead as well" in verdict(a, b, 400)

    def test_a_difference_within_chance_is_none(self):
        a, b = made(10 + self.noise), made(10.02 + np.roll(self.noise, 7))
        text = verdict(a, b, 400)
        assert text.startswith("**A and B predict held-out counts about equally well**")
        assert "9.96 for A, 9.98 for B" in text
        assert "does not separate them" in text

    def test_measures_that_disagree_are_told(self):
        a = made(10 + self.noise, squares=50 + self.noise)
        b = made(9 + self.noise, squares=60 + self.noise * 1.1)
        text = verdict(a, b, 400)
        assert text.startswith("**B predicts")
        assert "But by rRMSE" in text
        assert "A is ahead" in text

    def test_equal_scores_are_equal(self):
        a = made(10 + self.noise)
        assert "about equally well" in verdict(a, a, 400)


class TestWords:
    def test_waits_for_both(self, ppi_twin, second_fit):
        runs = [Run(settings=FitSettings(rank=rank)) for rank in (1, 2)]
        one = {"A": score(ppi_twin.counts, second_fit)}
        assert held_out_words(one, ppi_twin.counts, runs).startswith("Not known yet")
        both = one | {"B": score(ppi_twin.counts, second_fit)}
        assert "about equally well" in held_out_words(both, ppi_twin.counts, runs)

    def test_says_what_a_half_has_not_seen(self, ppi_twin):
        runs = [Run(settings=FitSettings(rank=1), part=part) for part in ("all", "first half")]
        text = held_out_words({}, ppi_twin.counts, runs)
        assert "B has seen only the first half of the visits" in text
        assert "A has seen" not in text


class TestTable:
    def test_simulated_counts_have_errors_against_the_truth(self, ppi_twin, ppi_fit, second_fit):
        table = score_table(ppi_twin, {"A": second_fit}, {"A": ppi_fit, "B": ppi_fit}, RUNS)
        counts, truth = ppi_twin.counts, ppi_twin.truth
        where = tuple(counts.attribute_indices.T)
        rate, p = found_pair(ppi_fit, counts)
        for name, estimate, true in (
            ("MAE of λ", rate, truth.rate[where]),
            ("MAE of p", p, truth.detection[where]),
        ):
            row = table.loc[f"{name} against the simulated truth"]
            expected = np.abs(estimate / estimate.mean() - true / true.mean()).mean()
            assert row["A"] == row["B"] == pytest.approx(expected)
        held = table.loc["Poisson deviance per held-out entry"]
        assert held["A"] == score(counts, second_fit).deviance
        assert math.isnan(held["B"])
        assert as_text(table).loc["Poisson deviance per held-out entry", "B"] == "–"

    def test_no_truth_no_errors_against_it(self, ppi_twin, ppi_fit):
        real = replace(ppi_twin, truth=None)
        table = score_table(real, {}, {"A": ppi_fit, "B": ppi_fit}, RUNS)
        assert not any("truth" in name for name in table.index)


def found_pair(found, counts):
    return found.rate(counts.attribute_indices), found.detection(counts.attributes)


@pytest.fixture(scope="module")
def other_fit(ppi_twin, short_fit):
    return short_fit(ppi_twin.counts, 2, hidden=(5,), seed=9)


@pytest.fixture(scope="module")
def swept(ppi_twin, ppi_fit, other_fit, second_fit):
    fits = {2: (ppi_fit, second_fit), 5: (other_fit, None), 10: (None, None), 15: (ppi_fit, None)}
    return sweep_table(ppi_twin.counts, fits, current=2).set_index("value")


class TestSweep:
    def test_what_is_not_there_yet_is_missing(self, swept):
        assert swept.loc[10].isna().all()
        assert np.isfinite(swept.loc[2, ["deviance", "rrmse", "seconds"]]).all()
        assert math.isnan(swept.loc[5, "deviance"])
        assert math.isnan(swept.loc[15, "like_before"])

    def test_rank_correlations_are_spearmans(self, swept, ppi_twin, ppi_fit, other_fit):
        counts = ppi_twin.counts
        means = []
        for found in (ppi_fit, other_fit):
            grid = np.empty(counts.shape)
            grid[tuple(counts.attribute_indices.T)] = found.detection(counts.attributes)
            means.append(grid.mean(axis=2).ravel())
        expected = spearmanr(*means).statistic
        assert swept.loc[5, "like_a"] == pytest.approx(expected)
        assert swept.loc[5, "like_before"] == pytest.approx(expected)
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
            assert f"{least:.2f}" in sweep_insight(some, "rank")

"""Problems of the benchmarks: what they hold, how fits are judged, and what stands beside them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import spread
from benchmarks._problem import Problem, log_score
from benchmarks.problems import PROBLEMS
from uncletc import ConvergenceWarning, FitSettings, fit


def observed(problem: Problem) -> np.ndarray:
    return np.ravel_multi_index(tuple(problem.counts.indices.T), problem.counts.shape)


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_complete_and_holds_out_what_no_fit_sees(name: str) -> None:
    problem = PROBLEMS[name].make(5)
    counts, truth = problem.counts, problem.truth
    assert counts.simulated
    assert counts.shape == truth.rate.shape == truth.detection.shape
    assert truth.detection.min() >= 0
    assert truth.detection.max() <= 1
    assert np.intersect1d(observed(problem), problem.held).size == 0
    assert len(problem.held) == len(problem.held_counts) >= 100
    np.testing.assert_array_equal(
        counts.attributes,
        problem.attributes(np.ravel_multi_index(tuple(counts.attribute_indices.T), counts.shape)),
    )
    expected = (truth.rate * truth.detection).ravel()[problem.held]
    assert problem.held_counts.mean() == pytest.approx(expected.mean(), rel=0.15)


@pytest.mark.parametrize("name", ["covid-fibre", "o10", "K4", "nb", "xor-0.3-noise"])
def test_the_seed_decides_a_problem(name: str) -> None:
    first, again, other = (PROBLEMS[name].make(seed) for seed in (3, 3, 4))
    assert first.counts.digest == again.counts.digest != other.counts.digest
    np.testing.assert_array_equal(first.held_counts, again.held_counts)


def test_whole_places_are_observed_or_not() -> None:
    problem = PROBLEMS["covid-fibre"].make(0)
    days = problem.counts.shape[2]
    places = np.concatenate([observed(problem), problem.held]) // days
    assert np.sum(np.bincount(places)[np.unique(places)] < days) <= 8 * days


def test_the_truth_has_no_error_and_its_scores_are_the_best() -> None:
    problem = PROBLEMS["sparse"].make(1)
    rate, p = problem.truth.rate, problem.truth.detection.ravel()
    double = SimpleNamespace(  # the same but for the free scale
        rate_tensor=lambda: 2 * rate,
        detection=lambda _: p[problem.judged] / 2,
        expected=lambda *_: (rate.ravel() * p)[problem.held],
    )
    found = problem.judge(double)
    assert found == problem.judge_truth()
    assert (found.rate, found.detection) == (0, 0)
    assert found.log_score < log_score(problem.held_counts, rate.ravel()[problem.held])


def test_a_fit_told_p_needs_no_attributes() -> None:
    problem = PROBLEMS["o30"].make(2)
    told = problem.told()
    assert told.n_attributes == 0
    np.testing.assert_array_equal(told.counts, problem.counts.counts)
    with pytest.warns(ConvergenceWarning):
        found = fit(told, FitSettings(rank=problem.rank, max_iter=2))
    errors = problem.judge_told(found)
    assert errors.rate < problem.constant
    assert errors.detection == 0


def test_intervals_of_a_whole_fit_are_held_against_the_truth() -> None:
    problem = PROBLEMS["o10"].make(8)
    settings = FitSettings(rank=problem.rank, max_iter=40)
    held, fitting, judging = spread.run_trial(problem, settings, level=0.9)
    assert min(fitting, judging) > 0
    assert len(held) == 6
    assert all(0 <= one.share <= 1 <= one.width for one in held.values())
    rows = spread.summarise("o10", [8], [held])
    assert [row[1] for row in rows] == list(held)

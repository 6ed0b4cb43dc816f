"""Folds, scores, intervals and the paper's cross-validation."""

import math

import numpy as np
import pytest
from scipy.stats import nbinom

from tests.uncletc.made import low_rank
from uncletc import METHODS, FitSettings
from uncletc.compare import SizeLaw, count_interval, difference, evaluate, make_folds, score, splits
from uncletc.compare.metrics import auroc, coverage, mae

pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")

KL = METHODS["NTF-CPD-KL"]


class TestFolds:
    def test_fibres_stay_together(self, small):
        folds = make_folds(small, kind="fibre")
        places = small.indices[:, 0] * 5 + small.indices[:, 1]
        for place in np.unique(places):
            assert len(np.unique(folds[places == place])) == 1
        sizes = np.bincount(folds)
        assert sizes.max() - sizes.min() <= 4

    def test_roles_rotate(self, small):
        folds = make_folds(small)
        trials = splits(folds)
        assert len(trials) == 5
        for one in trials:
            together = one.train.astype(int) + one.validation + one.test
            assert (together == 1).all()
            assert set(folds[one.test]) == {one.trial}
            assert set(folds[one.validation]) == {(one.trial + 1) % 5}
            assert len(set(folds[one.train])) == 3
        assert (sum(one.test.astype(int) for one in trials) == 1).all()
        assert (sum(one.validation.astype(int) for one in trials) == 1).all()


def test_scores_by_hand():
    y, y_hat = [0, 2, 0, 4], [1.0, 0.5, 0.2, 3.0]
    assert mae(y, y_hat) == pytest.approx((1 + 1.5 + 0.2 + 1) / 4)
    assert auroc(y, y_hat) == pytest.approx(3 / 4)  # of four pairs one is the wrong way round


def test_ranges_follow_a_law(rng):
    y_hat, law = rng.uniform(5, 2000, 20_000), SizeLaw(2.0, 0.5)
    size = 1 / law.phi(y_hat)
    counts = rng.negative_binomial(size, size / (size + y_hat))
    low, high = count_interval(y_hat, 0.9, law)
    for few in (y_hat < 200, y_hat > 1500):
        assert coverage(counts[few], low[few], high[few]) == pytest.approx(0.9, abs=0.02)


class TestEvaluate:
    def test_perfect_on_a_perfect_model(self):
        counts, _ = low_rank((8, 7, 6), 1, 0.9)
        found = evaluate(counts, KL, KL.settings(rank=1, tol=1e-12), every=None)
        assert found.mean("rrmse")[0] < 1e-3
        assert len(found.trials) == 5

    def test_test_counts_change_no_prediction(self, small):
        folds = make_folds(small)
        method = METHODS["UncleTC"]
        settings = FitSettings(rank=1, hidden=(3,), max_iter=4)
        first = evaluate(small, method, settings, every=1).trials[0]
        changed = small.with_counts(np.where(folds == 0, 10**5, small.counts))
        second = evaluate(changed, method, settings, every=1).trials[0]
        np.testing.assert_array_equal(first.predicted, second.predicted)
        assert first.iteration == second.iteration
        assert first.validation == second.validation
        assert first.test != second.test


class TestProbabilityScores:
    def test_with_a_law(self):
        y, predicted, law = np.array([0, 3, 50]), np.array([1.0, 2.0, 60.0]), SizeLaw(1.5, 0.4)
        found = score(y, predicted, 0.5, law)
        size = 1 / law.phi(predicted)
        expected = nbinom(size, size / (size + predicted)).logpmf(y)
        assert found.log_score == pytest.approx(-expected.mean())
        assert found.log_score_one_phi == score(y, predicted, 0.5).log_score
        assert math.isnan(score(y, predicted, law=law).log_score_one_phi)

    def test_test_counts_do_not_decide_the_dispersion(self, small):
        method = METHODS["Main effects"]
        (first, *_) = evaluate(small, method, method.settings()).trials
        values = small.counts.copy()
        values[first.rows] += 1000
        (second, *_) = evaluate(small.with_counts(values), method, method.settings()).trials
        assert first.phi == second.phi
        assert first.law == second.law
        assert first.test.log_score < second.test.log_score


class TestDifference:
    def test_against_loops(self, rng):
        first, second = rng.normal(size=(2, 40))
        groups = rng.integers(3, 9, 40)
        found = difference(first, second, groups)
        gaps = first - second
        sums = [(gaps[groups == each] - gaps.mean()).sum() for each in np.unique(groups)]
        n = len(sums)
        assert found.mean == pytest.approx(gaps.mean())
        assert found.error == pytest.approx(math.sqrt(n / (n - 1) * sum(np.square(sums))) / 40)
        assert found.n == n
        assert difference(first, second).error == pytest.approx(gaps.std(ddof=1) / math.sqrt(40))

    @pytest.mark.parametrize(
        ("first", "second", "groups", "message"),
        [
            ([1.0], [1.0, 2.0], None, "one shape"),
            ([], [], None, "n >= 1"),
            ([np.nan], [1.0], None, "finite"),
            ([1.0, 2.0], [1.0, 2.0], [0], "groups must have shape"),
        ],
    )
    def test_bad_input(self, first, second, groups, message):
        with pytest.raises(ValueError, match=message):
            difference(first, second, groups)

"""Model checks: against truth, independent formulas, and data that break the model on purpose."""

import numpy as np
import pytest
from scipy.stats import kstest, nbinom, norm, poisson

from uncletc import checking, simulate

PHI = 0.7


def test_poisson_checks_of_the_truth_are_clean():
    """With the true means λp plugged in, nothing is found."""
    counts, known = simulate((20, 20, 20), 3, observed=0.6, attributed=0.6, seed=3)
    mean = (known.rate * known.detection)[tuple(counts.indices.T)]
    found = checking.check(counts.counts, mean)
    assert found.poisson.pearson == pytest.approx(1, abs=0.1)
    assert found.negative_binomial.phi < 0.01
    assert kstest(found.poisson.residuals, "norm").pvalue > 0.01
    assert found.poisson.residuals.mean() == pytest.approx(0, abs=0.05)
    assert found.poisson.residuals.std() == pytest.approx(1, abs=0.05)
    assert found.ratio.low < 1 < found.ratio.high


def test_dispersion_is_found():
    """Negative binomial counts: Poisson is refused, the negative binomial is not."""
    rng = np.random.default_rng(1)
    mean = np.exp(rng.normal(1.5, 1.5, 6000))
    found = checking.check(rng.negative_binomial(1 / PHI, 1 / (1 + PHI * mean)), mean)
    assert found.poisson.pearson > 3
    assert found.negative_binomial.phi == pytest.approx(PHI, rel=0.1)
    assert found.negative_binomial.pearson == pytest.approx(1, abs=0.2)
    assert found.poisson.distance > 0.1 > 0.03 > found.negative_binomial.distance


class TestResiduals:
    def test_lie_between_the_probabilities_below_and_up_to_the_count(self):
        y, mean = np.array([0, 1, 4, 9]), np.array([0.5, 3.0, 4.0, 2.0])
        for phi, law in ((0.0, poisson(mean)), (2.0, nbinom(0.5, 1 / (1 + 2 * mean)))):
            u = norm.cdf(checking.quantile_residuals(y, mean, phi))
            assert (law.cdf(y - 1) <= u).all()
            assert (u <= law.cdf(y)).all()

    def test_upper_tail_keeps_its_digits(self):
        # P(y ≥ 17) is 1e-15 at mean 1: 1 - F has lost its digits.
        found = checking.quantile_residuals([17], [1.0])[0]
        assert -norm.ppf(poisson.sf(16, 1.0)) <= found <= -norm.ppf(poisson.sf(17, 1.0))


class TestSizes:
    def test_ratio_by_hand(self):
        found = checking.ratio([2, 4], [1.0, 2.0])
        assert (found.estimate, found.low, found.high) == pytest.approx((2, 2, 2))
        found = checking.ratio([1, 5], [2.0, 2.0], level=0.9)
        # Σy/Σŷ = 1.5, residuals -2 and 2: error of their sum √2·√8 = 4.
        assert found.estimate == pytest.approx(1.5)
        assert found.high == pytest.approx(1.5 * np.exp(norm.ppf(0.95) * (4 / 4) / 1.5))

    def test_interval_holds_the_truth_as_often_as_it_says(self):
        rng = np.random.default_rng(4)
        place = np.repeat(np.arange(60), 10)
        held = {"grouped": 0, "alone": 0}
        for _ in range(200):
            mean = np.full(600, 5.0)
            y = rng.poisson(mean * np.repeat(rng.gamma(10, 0.1, 60), 10))
            for name, groups in (("grouped", place), ("alone", None)):
                found = checking.ratio(y, mean, groups)
                held[name] += found.low < 1 < found.high
        assert held["grouped"] > 180
        assert held["alone"] < held["grouped"] - 20  # counts of a place are wrong together


def test_means_of_groups_and_flags():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 50)
    residuals = rng.normal(size=500) + (groups == 3) * 1.5
    found, _ = checking.residuals_by(residuals, groups, 12)
    assert found["mean"][3] == pytest.approx(residuals[groups == 3].mean())
    assert np.flatnonzero(found["far"]).tolist() == [3]
    assert np.isnan(found["mean"][10:]).all()
    assert found.n.tolist() == [50] * 10 + [0, 0]
    width = 1.96 * residuals.std(ddof=1) / np.sqrt(50)
    assert found["high"][0] - found["mean"][0] == pytest.approx(width)


def test_autocorrelation_of_pairs_by_loops_in_any_order():
    rng = np.random.default_rng(1)
    where = np.argwhere(rng.uniform(size=(3, 2, 8)) < 0.6)
    where = where[rng.permutation(len(where))]
    r = rng.normal(size=len(where))
    found = checking.autocorrelation(r, where, max_lag=9)
    centred = r - r.mean()
    for lag in range(1, 10):
        products = [
            centred[i] * centred[j]
            for i, a in enumerate(where)
            for j, b in enumerate(where)
            if (a[:2] == b[:2]).all() and b[2] - a[2] == lag
        ]
        assert found.pairs[lag - 1] == len(products)
        if products:
            expected = np.mean(products) / np.mean(centred**2)
            assert found.value[lag - 1] == pytest.approx(expected)
        else:
            assert np.isnan(found.value[lag - 1])


def test_a_negative_dispersion_is_named():
    with pytest.raises(ValueError, match="phi must be finite and at least 0, got -1"):
        checking.pearson([1], [1.0], -1)

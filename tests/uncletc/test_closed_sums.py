import math

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import binom, nbinom, poisson

from uncletc.solvers.closed import log_likelihood
from uncletc.solvers.closed.finite import Visits
from uncletc.solvers.closed.sums import draw_true_counts, true_counts


def log_terms(rate, p, y, mu, most):
    """log P(n) ∏ P(y | n) for n = 0, …, most."""
    n = np.arange(most + 1)
    prior = poisson(rate) if math.isinf(mu) else nbinom(mu, mu / (mu + rate))
    return prior.logpmf(n) + sum(binom(n, each).logpmf(c) for c, each in zip(y, p, strict=True))


CASES = [
    (3.0, [0.4, 0.5, 0.2], [1, 2, 0], math.inf),
    (3.0, [0.4], [2], math.inf),
    (0.01, [0.5, 0.5], [0, 0], math.inf),
    (5.0, [0.001, 0.002], [0, 1], math.inf),
    (5.0, [0.999, 0.9999], [4, 4], math.inf),
    (5.0, [1 - 1e-9, 1e-9], [6, 0], math.inf),
    (2.0, [0.3, 0.6], [40, 3], math.inf),
    (400.0, [0.1, 0.12, 0.08, 0.1], [35, 44, 38, 40], math.inf),
    (3.0, [0.4, 0.5, 0.2], [1, 2, 0], 2.0),
    (3.0, [0.4, 0.01], [0, 0], 0.3),
    (3.0, [0.02, 0.01], [3, 0], 0.3),
    (50.0, [0.05, 0.999], [2, 61], 1.0),
    (30.0, [0.3, 0.2], [8, 4], 150.0),
    (600.0, [0.3, 0.25, 0.35], [190, 175, 182], math.inf),  # more terms than sums over n have
    (600.0, [0.3, 0.25, 0.35], [190, 175, 182], 3.0),
]


@pytest.mark.parametrize("mu", [math.inf, 3.0])
def test_sums_of_all_but_certain_detection_fall_with_theta_beyond_the_least_number(mu):
    visits = Visits.of(np.array([0, 3]), np.array([4, 7, 5]))
    near, far = (true_counts(np.array([log]), visits, mu).log[0] for log in (-600.0, -2000.0))
    assert far == pytest.approx(near - 1400 * 7)


@pytest.mark.parametrize(("rate", "p", "y", "mu"), CASES)
def test_likelihood_of_visits_and_mean_of_the_true_count_are_sums_over_true_counts(rate, p, y, mu):
    terms = log_terms(rate, p, y, mu, 6000)
    brute = logsumexp(terms)
    found = log_likelihood([rate], p, y, np.zeros(len(y), dtype=int), mu=mu)
    assert found[0] == pytest.approx(brute, rel=1e-9, abs=1e-9)
    weights = np.exp(terms - brute)
    n = np.arange(len(weights))
    room = 0.0 if math.isinf(mu) else math.log(mu + rate)
    log_theta = np.array([math.log(rate) + np.log1p(-np.array(p)).sum() - room])
    found = true_counts(log_theta, Visits.of(np.array([0, len(y)]), np.array(y)), mu)
    assert found.mean[0] == pytest.approx(weights @ n, rel=1e-8)


def test_cells_have_their_own_visits_and_missing_ones_do_not_count():
    rate, cells = [2.0, 7.0, 4.0], [0, 0, 2]
    together = log_likelihood(rate, [0.3, 0.6, 0.5], [1, 0, 3], cells)
    assert together[0] == pytest.approx(logsumexp(log_terms(2.0, [0.3, 0.6], [1, 0], np.inf, 200)))
    assert together[1] == pytest.approx(0.0, abs=1e-12)  # no visit: nothing was seen or missed
    assert together[2] == pytest.approx(poisson(2.0).logpmf(3))  # one visit: thinned Poisson


def test_large_counts_cost_no_long_sums_and_stay_exact():
    found = log_likelihood([1e6], [0.3], [300_500], [0])
    assert found[0] == pytest.approx(poisson(3e5).logpmf(300_500), rel=1e-7)


@pytest.mark.parametrize("mu", [math.inf, 1e4, 0.5])
def test_sums_end_where_theta_runs_off_and_go_on_along_their_slope(mu):
    visits = Visits.of(np.array([0, 3]), np.array([3, 2, 5]))
    far, farther = (true_counts(np.array([log]), visits, mu) for log in (600.0, 700.0))
    assert far.mean == farther.mean > 500  # the mean of n where exact sums end
    np.testing.assert_allclose(farther.log - far.log, 100 * far.mean)


@pytest.mark.parametrize(("rate", "p", "y", "mu"), CASES)
def test_draws_are_of_the_true_count_given_all_counts(rate, p, y, mu):
    n = np.arange(6001)
    weights = np.exp(log_terms(rate, p, y, mu, n[-1]) - logsumexp(log_terms(rate, p, y, mu, n[-1])))
    mean, size = weights @ n, 4000
    deviation = math.sqrt(weights @ (n - mean) ** 2)
    visits = Visits.of(np.arange(size + 1) * len(y), np.tile(y, size))
    room = 0.0 if math.isinf(mu) else math.log(mu + rate)
    log_theta = np.full(size, math.log(rate) + np.log1p(-np.array(p)).sum() - room)
    rng = np.random.default_rng(4)
    drawn = draw_true_counts(log_theta, visits, mu, rng)
    assert abs(drawn.mean() - mean) <= 4 * deviation / math.sqrt(size) + 1e-9
    assert drawn.std() == pytest.approx(deviation, rel=0.15, abs=0.1)
    assert drawn.min() >= max(y)
    if visits.few.all():
        counted = draw_true_counts(log_theta, visits, mu, rng, whole=False)
        assert max(y) <= counted.min() <= counted.max() <= sum(y)

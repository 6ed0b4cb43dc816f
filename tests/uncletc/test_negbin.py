"""Scores of negative binomial counts against plain sums and another package."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from uncletc.negbin import crps, dispersion, floored, log_scores

MEANS = np.array([0.003, 0.4, 2.0, 30.0, 400.0])
COUNTS = np.array([0, 3, 1, 90, 350])
SPREADS = [0.0, 1e-5, 0.02, 0.8, 12.0]


def predicted(mean: float, phi: float):
    return poisson(mean) if phi == 0 else nbinom(1 / phi, 1 / (1 + phi * mean))


@pytest.mark.parametrize("phi", SPREADS)
def test_log_scores(phi: float) -> None:
    expected = [-predicted(m, phi).logpmf(y) for m, y in zip(MEANS, COUNTS, strict=True)]
    np.testing.assert_allclose(log_scores(COUNTS, MEANS, phi), expected, rtol=1e-7)


@pytest.mark.parametrize("phi", SPREADS)
def test_crps_is_the_sum_of_squared_differences(phi: float) -> None:
    k = np.arange(200_000)
    expected = [
        ((predicted(m, phi).cdf(k) - (k >= y)) ** 2).sum()
        for m, y in zip(MEANS, COUNTS, strict=True)
    ]
    np.testing.assert_allclose(crps(COUNTS, MEANS, phi), expected, rtol=1e-5)


@pytest.mark.parametrize("phi", [0.0, 1e-3, 1.0, 100.0])
def test_no_score_of_large_or_odd_counts_fails(phi: float) -> None:
    y, mean = np.array([0, 10**9, 5, 0]), np.array([1e9, 1e9, 1e-9, 1e-9])
    for scores in (log_scores(y, mean, phi), crps(y, mean, phi)):
        assert np.isfinite(scores).all()
        assert (scores >= -1e-9).all()


@pytest.mark.slow  # importing the other package takes ten seconds
def test_as_scoringrules() -> None:
    import scoringrules

    y, mean, phi = COUNTS, MEANS, 0.8
    where = {"n": 1 / phi, "prob": 1 / (1 + phi * mean)}
    np.testing.assert_allclose(crps(y, mean, phi), scoringrules.crps_negbinom(y, **where))
    np.testing.assert_allclose(log_scores(y, mean, phi), scoringrules.logs_negbinom(y, **where))


def test_dispersion_is_found() -> None:
    rng = np.random.default_rng(3)
    mean = np.exp(rng.normal(2, 1, 20_000))
    assert dispersion(rng.negative_binomial(2, 2 / (2 + mean)), mean) == pytest.approx(
        0.5, rel=0.05
    )
    assert dispersion(np.round(mean), mean) == 0.0


def test_small_predictions_are_raised() -> None:
    np.testing.assert_allclose(floored(np.array([0.0, 1.0, 2.0])), [0.001, 1.0, 2.0])
    np.testing.assert_allclose(floored(np.zeros(2)), 1e-9)

"""Scores of negative binomial counts against plain sums."""

import numpy as np
import pytest
from scipy.stats import nbinom, poisson

from uncletc.model.negbin import SizeLaw, dispersion, likely_law, log_scores

MEANS = np.array([0.003, 0.4, 2.0, 30.0, 400.0])
COUNTS = np.array([0, 3, 1, 90, 350])
SPREADS = [0.0, 1e-5, 0.02, 0.8, 12.0]


def predicted(mean, phi):
    return poisson(mean) if phi == 0 else nbinom(1 / phi, 1 / (1 + phi * mean))


@pytest.mark.parametrize("phi", SPREADS)
def test_log_scores_by_their_definition(phi):
    expected = [-predicted(m, phi).logpmf(y) for m, y in zip(MEANS, COUNTS, strict=True)]
    np.testing.assert_allclose(log_scores(COUNTS, MEANS, phi), expected, rtol=1e-7)


def test_each_count_may_have_its_own_dispersion():
    each = [log_scores(y, m, phi) for y, m, phi in zip(COUNTS, MEANS, SPREADS, strict=True)]
    np.testing.assert_allclose(log_scores(COUNTS, MEANS, SPREADS), each, rtol=1e-12)


def test_dispersion_is_found():
    rng = np.random.default_rng(3)
    mean = np.exp(rng.normal(2, 1, 20_000))
    y = rng.negative_binomial(2, 2 / (2 + mean))
    assert dispersion(y, mean) == pytest.approx(0.5, rel=0.05)
    assert dispersion(np.round(mean), mean) == 0.0


@pytest.mark.parametrize("law", [SizeLaw(1.8, 0.4), SizeLaw(0.05, 0.1), SizeLaw(6.0, 0.9)])
def test_a_law_is_found(law):
    rng = np.random.default_rng(4)
    mean = np.exp(rng.normal(2, 1.5, 20_000))
    size = 1 / law.phi(mean)
    found = likely_law(rng.negative_binomial(size, size / (size + mean)), mean)
    assert found.mu == pytest.approx(law.mu, rel=0.05)
    assert found.power == pytest.approx(law.power, abs=0.05)

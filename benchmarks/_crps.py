"""The continuous ranked probability score (CRPS) of negative binomial counts."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import nbinom

from uncletc.common.validation import FloatArray

_NARROWEST = 1e-7  # φ, where it makes no difference to Poisson that could be seen

# Nodes and weights on [0, π/2] that crowd towards both ends: what is integrated peaks at either.
_U = np.linspace(-3.2, 3.2, 161)
_LOW = 1 / (1 + np.exp(-np.pi * np.sinh(_U)))  # share of the way from 0, exact near 0
_HIGH = _LOW[::-1]  # share of the way left, exact near 0
_WEIGHT = np.pi**2 / 2 * np.cosh(_U) * _LOW * _HIGH * (_U[1] - _U[0])
_SIN2, _COS2 = np.sin(np.pi / 2 * _LOW) ** 2, np.sin(np.pi / 2 * _HIGH) ** 2


def crps(counts: ArrayLike, mean: ArrayLike, phi: ArrayLike) -> FloatArray:
    """Continuous ranked probability score of each count, Σ_k (F(k) - [k ≥ y])²; (n,).

    It is in counts, as an absolute error is, and E|Y - y| - E|Y - Y'|/2 for independent Y and Y'
    from the prediction (Gneiting and Raftery, JASA 2007). The first term is closed (Wei and Held,
    Test 2014); the second, there a hypergeometric function that overflows for large means or small
    φ, is here Euler's integral for it, by quadrature.

    Parameters
    ----------
    counts, mean, phi
        As for :func:`uncletc.model.negbin.log_scores`.
    """
    y, m = np.asarray(counts, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    spread = np.maximum(np.asarray(phi, dtype=np.float64), _NARROWEST)
    size, p = 1 / spread, 1 / (1 + spread * m)
    below = 2 * nbinom.cdf(y, size, p) - 1
    error = y * below - m * (2 * nbinom.cdf(y - 1, size + 1, p) - 1)
    return np.asarray(error - _half_difference(m, spread))


def _half_difference(mean: FloatArray, phi: FloatArray) -> FloatArray:
    """E|Y - Y'|/2 of independent counts with means (n,); (n,)."""
    size, p = 1 / phi, 1 / (1 + phi * mean)
    away = (p / (2 - p)) ** 2
    total = np.zeros(mean.shape)
    for sin2, cos2, weight in zip(_SIN2, _COS2, _WEIGHT, strict=True):
        total += weight * cos2 * (cos2 + away * sin2) ** (size - 1)
    return np.asarray(mean / (2 - p) * 4 / np.pi * total)

"""Negative binomial counts: mean m, variance m + φm²; φ = 0 is Poisson.

Which one, when: :func:`log_scores` and :func:`crps` judge predictions, both lower for better ones.
The log score punishes surprise, the CRPS is in counts, as an absolute error is. Both need φ, which
:func:`dispersion` takes from counts that are neither fitted nor judged.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import gammaln, xlogy
from scipy.stats import nbinom

from uncletc.validation import FloatArray

_LOG_PHI = (math.log(1e-6), math.log(1e4))
_LEAST = 1e-9  # of ŷ
_LEAST_SHARE = 1e-3  # of the mean ŷ
_POISSON = 1e-9  # φ below which a negative binomial is treated as Poisson
_NARROWEST = 1e-7  # φ in the CRPS, where it makes no difference to Poisson that could be seen

# Nodes and weights on [0, π/2] that crowd towards both ends: what is integrated peaks at either.
_U = np.linspace(-3.2, 3.2, 161)
_LOW = 1 / (1 + np.exp(-np.pi * np.sinh(_U)))  # share of the way from 0, exact near 0
_HIGH = _LOW[::-1]  # share of the way left, exact near 0
_WEIGHT = np.pi**2 / 2 * np.cosh(_U) * _LOW * _HIGH * (_U[1] - _U[0])
_SIN2, _COS2 = np.sin(np.pi / 2 * _LOW) ** 2, np.sin(np.pi / 2 * _HIGH) ** 2


def log_scores(counts: ArrayLike, mean: ArrayLike, phi: float) -> FloatArray:
    """-log P(y) of each count; (n,).

    Parameters
    ----------
    counts : array_like of int, shape (n,)
    mean : array_like of float, shape (n,)
        m > 0.
    phi : float
        φ ≥ 0.
    """
    y, m = np.asarray(counts, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    if phi < _POISSON:
        return np.asarray(m - xlogy(y, m) + gammaln(y + 1))
    size = 1 / phi
    spread = np.log1p(phi * m)
    kept = xlogy(y, phi * m) - y * spread - size * spread
    return np.asarray(gammaln(y + 1) + gammaln(size) - gammaln(y + size) - kept)


def crps(counts: ArrayLike, mean: ArrayLike, phi: float) -> FloatArray:
    """Continuous ranked probability score of each count, Σ_k (F(k) - [k ≥ y])²; (n,).

    It is E|Y - y| - E|Y - Y'|/2 for independent Y and Y' from the prediction (Gneiting and
    Raftery, JASA 2007). The first term is closed (Wei and Held, Test 2014); the second, there a
    hypergeometric function that overflows for large means or small φ, is here Euler's integral
    for it, by quadrature.

    Parameters
    ----------
    counts, mean, phi
        As for :func:`log_scores`.
    """
    y, m = np.asarray(counts, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    phi = max(phi, _NARROWEST)
    size, p = 1 / phi, 1 / (1 + phi * m)
    below = 2 * nbinom.cdf(y, size, p) - 1
    apart = y * below - m * (2 * nbinom.cdf(y - 1, size + 1, p) - 1)
    return np.asarray(apart - _half_difference(m, phi))


def _half_difference(mean: FloatArray, phi: float) -> FloatArray:
    """E|Y - Y'|/2 of independent counts with means (n,); (n,)."""
    size, p = 1 / phi, 1 / (1 + phi * mean)
    away = (p / (2 - p)) ** 2
    total = np.zeros(mean.shape)
    for sin2, cos2, weight in zip(_SIN2, _COS2, _WEIGHT, strict=True):
        total += weight * cos2 * (cos2 + away * sin2) ** (size - 1)
    return np.asarray(mean / (2 - p) * 4 / np.pi * total)


def dispersion(counts: ArrayLike, predicted: ArrayLike) -> float:
    """Maximum-likelihood φ of a negative binomial with variance ŷ + φŷ²; 0: Poisson or narrower.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        Held out of the fit that predicted them; otherwise φ is too small.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0; raised to at least a thousandth of its mean, so that no single count dominates.
    """
    y = np.asarray(counts, dtype=np.float64)
    y_hat = floored(np.asarray(predicted, dtype=np.float64))

    def misfit(phi: float) -> float:
        return float(log_scores(y, y_hat, phi).sum())

    best = minimize_scalar(lambda x: misfit(math.exp(x)), bounds=_LOG_PHI, method="bounded")
    return float(math.exp(best.x)) if best.fun < misfit(0.0) else 0.0


def floored(predicted: FloatArray) -> FloatArray:
    """Raise ŷ (n,) to a thousandth of its mean, and to 1e-9, so that no single count dominates."""
    return np.maximum(predicted, max(_LEAST_SHARE * float(predicted.mean()), _LEAST))

"""Held-out counts one by one: residuals, PIT, zeros, likelihood. Names are public in `checking`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import kstest, nbinom, poisson

from uncletc.metrics import poisson_deviances
from uncletc.validation import FloatArray

RESIDUAL_LIMIT = 8.0
_POISSON = 1e-9  # φ below which a negative binomial is a Poisson distribution
_LEAST_SHARE, _LEAST = 1e-3, 1e-9
_TINY = 1e-300


@dataclass(frozen=True, eq=False, kw_only=True)
class PIT:
    """Histogram of the probability integral transform, flat where the distribution is right.

    Attributes
    ----------
    edges : ndarray, shape (bins + 1,)
        From 0 to 1, evenly spaced.
    density : ndarray, shape (bins,)
        1 throughout where predicted distributions and counts agree; the mean is 1.
    n : int
        Counts.
    """

    edges: FloatArray
    density: FloatArray
    n: int


def pearson(counts: ArrayLike, predicted: ArrayLike, phi: float = 0.0) -> float:
    """Pearson's χ² over its degrees of freedom: mean (y - ŷ)² / (ŷ + φŷ²).

    Every count is a degree of freedom, because the fit has not seen it.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y ≥ 0, held out.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0, taken as a thousandth of its mean at least, so that no single count decides.
    phi : float
        φ ≥ 0; 0 for Poisson.

    Returns
    -------
    float
        About 1 where counts vary as the distribution says, 10 where they vary ten times as much.

    Examples
    --------
    >>> pearson([1, 3, 2], [2, 2, 2])
    0.3333333333333333
    """
    y, mean = checked(counts, predicted, phi)
    return float(np.mean((y - mean) ** 2 / (mean + phi * mean**2)))


def quantile_residuals(
    counts: ArrayLike, predicted: ArrayLike, phi: float = 0.0, *, seed: int = 0
) -> FloatArray:
    """Randomised quantile residuals, standard normal where the distribution is right.

    r = Φ⁻¹(u) with u uniform between F(y - 1) and F(y), the predicted probabilities of a count
    below and up to y (Dunn & Smyth, Randomized Quantile Residuals, Journal of Computational and
    Graphical Statistics 5, 1996). Large: more was counted than predicted.

    Parameters
    ----------
    counts, predicted, phi
        As for :func:`pearson`.
    seed : int
        Draws u.

    Returns
    -------
    ndarray, shape (n,)
        Cut off at ±8, where a count is as good as impossible.
    """
    y, mean = checked(counts, predicted, phi)
    below, up_to, above, from_here = _tails(y, mean, phi)
    v = np.random.default_rng(seed).uniform(size=len(y))
    # The upper tail is worked out from its own end: 1 - 1e-20 cannot be told from 1.
    lower = ndtri(np.maximum(below + v * (up_to - below), _TINY))
    upper = -ndtri(np.maximum(from_here - v * (from_here - above), _TINY))
    residuals = np.where(below > 0.5, upper, lower)
    return np.asarray(np.clip(residuals, -RESIDUAL_LIMIT, RESIDUAL_LIMIT))


def pit_histogram(
    counts: ArrayLike, predicted: ArrayLike, phi: float = 0.0, *, bins: int = 10
) -> PIT:
    """Histogram of the probability integral transform for counts, without chance.

    Each count spreads evenly between F(y - 1) and F(y) (Czado, Gneiting & Held, Predictive Model
    Assessment for Count Data, Biometrics 65, 2009, section 3). U-shaped: counts vary more than
    predicted; a hump in the middle: less; rising: more is counted than predicted.

    Parameters
    ----------
    counts, predicted, phi
        As for :func:`pearson`.
    bins : int
        At least 2.
    """
    if bins < 2:
        raise ValueError(f"bins must be at least 2, got {bins}")
    y, mean = checked(counts, predicted, phi)
    below, up_to, _, _ = _tails(y, mean, phi)
    edges = np.linspace(0, 1, bins + 1)
    reached = [
        float(np.mean(np.clip((edge - below) / np.maximum(up_to - below, _TINY), 0, 1)))
        for edge in edges[1:-1]
    ]
    density = np.diff([0.0, *reached, 1.0]) * bins
    return PIT(edges=edges, density=density, n=len(y))


def ks_distance(residuals: ArrayLike) -> float:
    """Kolmogorov and Smirnov's distance of residuals (n,) from a standard normal, in [0, 1].

    The largest difference between the share of residuals below a value and the share that there
    should be. No test: with φ estimated from the same counts, its p-value would flatter.
    """
    return float(kstest(np.asarray(residuals, dtype=np.float64), "norm").statistic)


def share_of_zeros(
    counts: ArrayLike, predicted: ArrayLike, phi: float = 0.0
) -> tuple[float, float]:
    """Share of zeros among the counts, and the share predicted; see :func:`pearson`."""
    y, mean = checked(counts, predicted, phi)
    return float(np.mean(y == 0)), float(np.mean(np.exp(_log_pmf(np.zeros_like(y), mean, phi))))


def log_likelihood(counts: ArrayLike, predicted: ArrayLike, phi: float = 0.0) -> FloatArray:
    """Logarithm of the predicted probability of each count; (n,). See :func:`pearson`."""
    y, mean = checked(counts, predicted, phi)
    return _log_pmf(y, mean, phi)


def deviances(counts: ArrayLike, predicted: ArrayLike) -> FloatArray:
    """Poisson deviance of each count, 2(y log(y/ŷ) - y + ŷ) ≥ 0; (n,). See :func:`pearson`."""
    y, mean = checked(counts, predicted)
    return poisson_deviances(y, mean)


def checked(
    counts: ArrayLike, predicted: ArrayLike, phi: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return y and ŷ, raised to its least value; reject what cannot be compared."""
    y, mean = pair(counts, predicted)
    if not (math.isfinite(phi) and phi >= 0):
        raise ValueError(f"phi must be finite and at least 0, got {phi}")
    return y, np.maximum(mean, max(_LEAST_SHARE * float(mean.mean()), _LEAST))


def pair(counts: ArrayLike, predicted: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return y and ŷ as they are; reject what cannot be compared."""
    y = np.asarray(counts, dtype=np.float64)
    mean = np.asarray(predicted, dtype=np.float64)
    if y.ndim != 1 or y.shape != mean.shape:
        raise ValueError(
            f"counts and predicted must have one shape (n,), got {y.shape} and {mean.shape}"
        )
    if not len(y):
        raise ValueError("counts must hold at least 1 value to check, got none")
    for name, values in (("counts", y), ("predicted", mean)):
        if not (np.isfinite(values).all() and values.min() >= 0):
            raise ValueError(f"{name} must be finite and >= 0 throughout")
    return y, mean


def _tails(
    y: FloatArray, mean: FloatArray, phi: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Probabilities of a count < y, ≤ y, > y and ≥ y."""
    found: Any = poisson(mean) if phi < _POISSON else nbinom(1 / phi, 1 / (1 + phi * mean))
    below, up_to, above, from_here = (
        np.asarray(each, dtype=np.float64)
        for each in (found.cdf(y - 1), found.cdf(y), found.sf(y), found.sf(y - 1))
    )
    return below, up_to, above, from_here


def _log_pmf(y: FloatArray, mean: FloatArray, phi: float) -> FloatArray:
    if phi < _POISSON:
        return np.asarray(poisson.logpmf(y, mean))
    return np.asarray(nbinom.logpmf(y, 1 / phi, 1 / (1 + phi * mean)))

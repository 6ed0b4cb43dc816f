"""Checks of single held-out counts: residuals, PIT, zeros, likelihood. Public in `checking`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri
from scipy.stats import kstest

from uncletc.common.validation import FloatArray
from uncletc.compare.metrics import poisson_deviances
from uncletc.compare.scores import count_distribution
from uncletc.model.negbin import floored

RESIDUAL_LIMIT = 8.0
_TINY = 1e-300


@dataclass(frozen=True, eq=False, kw_only=True)
class PIT:
    """Histogram of the probability integral transform; flat where the distribution is right.

    Attributes
    ----------
    edges : ndarray, shape (bins + 1,)
        From 0 to 1, evenly spaced.
    density : ndarray, shape (bins,)
        1 throughout where predicted distributions and counts agree; the mean is 1.
    n : int
        Number of counts.
    """

    edges: FloatArray
    density: FloatArray
    n: int


Phi = float | FloatArray


def pearson(counts: ArrayLike, predicted: ArrayLike, phi: Phi = 0.0) -> float:
    """Pearson's χ² over its degrees of freedom: mean (y - ŷ)² / (ŷ + φŷ²).

    Every count is a degree of freedom, because it was not fitted.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y ≥ 0, held out.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0; raised to at least a thousandth of its mean, so that no single count dominates.
    phi : float, or ndarray of shape (n,)
        φ ≥ 0; 0 for Poisson. One of each count must be above 0.

    Returns
    -------
    float
        About 1 where counts vary as predicted; 10 where their variance is ten times as large.

    Examples
    --------
    >>> pearson([1, 3, 2], [2, 2, 2])
    0.3333333333333333
    """
    y, mean = validated(counts, predicted, phi)
    return float(np.mean((y - mean) ** 2 / (mean + phi * mean**2)))


def quantile_residuals(
    counts: ArrayLike, predicted: ArrayLike, phi: Phi = 0.0, *, seed: int = 0
) -> FloatArray:
    """Randomised quantile residuals; standard normal where the distribution is right.

    r = Φ⁻¹(u) with u uniform between F(y - 1) and F(y), the predicted probabilities of a count
    below and up to y (Dunn & Smyth, Randomized Quantile Residuals, Journal of Computational and
    Graphical Statistics 5, 1996). Positive where more was counted than predicted.

    Parameters
    ----------
    counts, predicted, phi
        As for :func:`pearson`.
    seed : int
        Seed of the draws u.

    Returns
    -------
    ndarray, shape (n,)
        Clipped to ±8, beyond which a count is practically impossible.
    """
    y, mean = validated(counts, predicted, phi)
    below, up_to, above, from_here = _tails(y, mean, phi)
    v = np.random.default_rng(seed).uniform(size=len(y))
    # The upper tail is computed from its own end: in floating point 1 - 1e-20 equals 1.
    lower = ndtri(np.maximum(below + v * (up_to - below), _TINY))
    upper = -ndtri(np.maximum(from_here - v * (from_here - above), _TINY))
    residuals = np.where(below > 0.5, upper, lower)
    return np.asarray(np.clip(residuals, -RESIDUAL_LIMIT, RESIDUAL_LIMIT))


def pit_histogram(
    counts: ArrayLike, predicted: ArrayLike, phi: Phi = 0.0, *, bins: int = 10
) -> PIT:
    """Histogram of the probability integral transform for counts, without randomisation.

    Each count is spread evenly between F(y - 1) and F(y) (Czado, Gneiting & Held, Predictive Model
    Assessment for Count Data, Biometrics 65, 2009, section 3). A U shape means that counts vary
    more than predicted, a hump that they vary less, a slope upwards that predictions are too low.

    Parameters
    ----------
    counts, predicted, phi
        As for :func:`pearson`.
    bins : int
        At least 2.
    """
    if bins < 2:
        raise ValueError(f"bins must be at least 2, got {bins}")
    y, mean = validated(counts, predicted, phi)
    below, up_to, _, _ = _tails(y, mean, phi)
    edges = np.linspace(0, 1, bins + 1)
    cumulative = [
        float(np.mean(np.clip((edge - below) / np.maximum(up_to - below, _TINY), 0, 1)))
        for edge in edges[1:-1]
    ]
    density = np.diff([0.0, *cumulative, 1.0]) * bins
    return PIT(edges=edges, density=density, n=len(y))


def ks_distance(residuals: ArrayLike) -> float:
    """Kolmogorov-Smirnov distance of residuals (n,) from a standard normal, in [0, 1].

    The largest difference between the share of residuals below a value and the expected share.
    Not a test: with φ estimated from the same counts, its p-value would be too large.
    """
    return float(kstest(np.asarray(residuals, dtype=np.float64), "norm").statistic)


def share_of_zeros(counts: ArrayLike, predicted: ArrayLike, phi: Phi = 0.0) -> tuple[float, float]:
    """Share of zeros among the counts, and the share predicted; see :func:`pearson`."""
    y, mean = validated(counts, predicted, phi)
    log_zero = count_distribution(mean, phi).logpmf(np.zeros_like(y))
    return float(np.mean(y == 0)), float(np.mean(np.exp(log_zero)))


def log_likelihood(counts: ArrayLike, predicted: ArrayLike, phi: Phi = 0.0) -> FloatArray:
    """Log of the predicted probability of each count; (n,). See :func:`pearson`."""
    y, mean = validated(counts, predicted, phi)
    return np.asarray(count_distribution(mean, phi).logpmf(y))


def deviances(counts: ArrayLike, predicted: ArrayLike) -> FloatArray:
    """Poisson deviance of each count, 2(y log(y/ŷ) - y + ŷ) ≥ 0; (n,). See :func:`pearson`."""
    y, mean = validated(counts, predicted)
    return poisson_deviances(y, mean)


def validated(
    counts: ArrayLike, predicted: ArrayLike, phi: Phi = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return y, and ŷ raised to its smallest value; reject what cannot be compared."""
    y, mean = validated_pair(counts, predicted)
    if not (np.isfinite(phi).all() and np.min(phi) >= 0):
        raise ValueError(f"phi must be finite and at least 0, got {phi}")
    return y, floored(mean)


def validated_pair(counts: ArrayLike, predicted: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return y and ŷ as arrays; reject what cannot be compared."""
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
    y: FloatArray, mean: FloatArray, phi: Phi
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Probabilities of a count < y, ≤ y, > y and ≥ y."""
    predicted = count_distribution(mean, phi)
    return predicted.cdf(y - 1), predicted.cdf(y), predicted.sf(y), predicted.sf(y - 1)

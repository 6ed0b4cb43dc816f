"""How good predicted counts are, and how widely counts scatter around them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.stats import nbinom, poisson

from uncletc import metrics
from uncletc.validation import FloatArray

_LOG_PHI = (math.log(1e-6), math.log(1e4))
_LEAST = 1e-9  # of ŷ, so that one zero does not make the deviance infinite
_LEAST_SHARE = 1e-3  # of the mean ŷ
_POISSON = 1e-9  # φ below which a negative binomial is treated as Poisson


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How good predicted counts are; see :mod:`uncletc.metrics`.

    Attributes
    ----------
    rrmse : float
        NaN where all counts are zero.
    deviance : float
        Mean Poisson deviance, with ŷ raised to at least 1e-9.
    mae : float
    auroc, auprc : float
        For telling counts above zero from zeros; NaN where undefined.
    n : int
        Number of counts.
    """

    rrmse: float
    deviance: float
    mae: float
    auroc: float
    auprc: float
    n: int


def score(counts: ArrayLike, predicted: ArrayLike) -> Scores:
    """Score predictions of held-out counts.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y, held out.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0.
    """
    y, y_hat = np.asarray(counts), np.asarray(predicted, dtype=np.float64)
    return Scores(
        rrmse=metrics.rrmse(y, y_hat) if np.any(y > 0) else math.nan,
        deviance=metrics.poisson_deviance(y, np.maximum(y_hat, _LEAST)),
        mae=metrics.mae(y, y_hat),
        auroc=metrics.auroc(y, y_hat),
        auprc=metrics.auprc(y, y_hat),
        n=len(y),
    )


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
        return -float(count_distribution(y_hat, phi).logpmf(y).sum())

    best = minimize_scalar(lambda x: misfit(math.exp(x)), bounds=_LOG_PHI, method="bounded")
    return float(math.exp(best.x)) if best.fun < misfit(0.0) else 0.0


def count_interval(
    predicted: ArrayLike, level: float, phi: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Prediction interval of counts around ŷ, from a negative binomial or Poisson distribution.

    Parameters
    ----------
    predicted : array_like of float, shape (n,)
    level : float
        Nominal coverage, in (0, 1).
    phi : float
        φ ≥ 0, as :func:`dispersion` returns it.

    Returns
    -------
    tuple of ndarray, shapes (n,)
        Smallest and largest count. Counts are whole, so the intervals cover at least their level.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    if not (math.isfinite(phi) and phi >= 0):
        raise ValueError(f"phi must be finite and at least 0, got {phi}")
    y_hat = np.maximum(np.asarray(predicted, dtype=np.float64), _LEAST)
    predicted_counts = count_distribution(y_hat, phi)
    low, high = (predicted_counts.ppf(tail) for tail in ((1 - level) / 2, (1 + level) / 2))
    return np.asarray(low), np.asarray(high)


def floored(predicted: FloatArray) -> FloatArray:
    """Raise ŷ (n,) to a thousandth of its mean, and to 1e-9, so that no single count dominates."""
    return np.maximum(predicted, max(_LEAST_SHARE * float(predicted.mean()), _LEAST))


def count_distribution(mean: FloatArray, phi: float) -> Any:
    """SciPy's distribution of counts with means (n,) and variances ŷ + φŷ²; Poisson for φ = 0."""
    return poisson(mean) if phi < _POISSON else nbinom(1 / phi, 1 / (1 + phi * mean))

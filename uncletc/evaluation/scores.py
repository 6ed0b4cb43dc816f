"""How good predicted counts are, and how far counts spread around them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from scipy.stats import nbinom, poisson

from uncletc import metrics
from uncletc.validation import FloatArray

_LOG_PHI = (math.log(1e-6), math.log(1e4))
_LEAST = 1e-9  # of ŷ, so that one zero does not make the deviance infinite


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How good predicted counts are; see :mod:`uncletc.metrics`.

    Attributes
    ----------
    rrmse : float
        NaN where all counts are zero.
    deviance : float
        Mean Poisson deviance, ŷ taken as 1e-9 at least.
    mae : float
    auroc, auprc : float
        Of "any count"; NaN where undefined.
    n : int
        Counts judged.
    """

    rrmse: float
    deviance: float
    mae: float
    auroc: float
    auprc: float
    n: int


def score(counts: ArrayLike, predicted: ArrayLike) -> Scores:
    """Judge predicted counts.

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
    """φ of the likeliest negative binomial with variance ŷ + φŷ²; 0: no more spread than Poisson.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        Held out of the fit that predicted them; else φ comes out too small.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0, taken as a thousandth of its mean at least, so that no single count decides.
    """
    y = np.asarray(counts, dtype=np.float64)
    y_hat = np.asarray(predicted, dtype=np.float64)
    y_hat = np.maximum(y_hat, max(1e-3 * float(y_hat.mean()), _LEAST))

    def misfit(log_phi: float) -> float:
        size = math.exp(-log_phi)
        return -float(metrics.negative_binomial_log_likelihood(y, y_hat, size).sum())

    best = minimize_scalar(misfit, bounds=_LOG_PHI, method="bounded")
    poisson_misfit = -float(np.sum(xlogy(y, y_hat) - y_hat))
    return float(math.exp(best.x)) if best.fun < poisson_misfit else 0.0


def count_interval(
    predicted: ArrayLike, level: float, phi: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Range of counts around ŷ, between quantiles of a negative binomial, or of a Poisson.

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
        Least and largest count. Counts are whole, so the ranges cover at least their level.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    if not (math.isfinite(phi) and phi >= 0):
        raise ValueError(f"phi must be finite and at least 0, got {phi}")
    y_hat = np.maximum(np.asarray(predicted, dtype=np.float64), _LEAST)
    tails = (1 - level) / 2, (1 + level) / 2
    if phi < 1e-9:
        low, high = (poisson.ppf(tail, y_hat) for tail in tails)
    else:
        low, high = (nbinom.ppf(tail, 1 / phi, 1 / (1 + phi * y_hat)) for tail in tails)
    return np.asarray(low), np.asarray(high)

"""How good predicted counts are, and how widely counts scatter around them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import nbinom, poisson

from uncletc.common.validation import FloatArray
from uncletc.compare import metrics
from uncletc.model.negbin import SizeLaw, crps, floored, log_scores

_LEAST = 1e-9  # of ŷ, so that one zero does not make the deviance infinite
_LARGEST = 0.005  # share of counts that may hold half of all squared error
_POISSON = 1e-9  # φ below which a negative binomial is treated as Poisson


@dataclass(frozen=True, kw_only=True)
class Scores:
    """How good predicted counts are; see :mod:`uncletc.compare.metrics`.

    Attributes
    ----------
    rrmse : float
        NaN where all counts are zero.
    rrmse_rest : float
        rRMSE of all counts but the largest .5 %, of which a few can hold most of the squared error.
    deviance : float
        Mean Poisson deviance, with ŷ raised to at least 1e-9.
    mae : float
    auroc : float
        For telling counts above zero from zeros; NaN where undefined.
    log_score : float
        Mean -log P(y) of negative binomial counts with means ŷ and the law given; ŷ is raised to
        at least a thousandth of its mean. NaN without a law.
    crps : float
        Mean continuous ranked probability score of the same; in counts.
    log_score_one_phi : float
        `log_score` with one φ for all counts. NaN without it.
    n : int
        Number of counts.
    """

    rrmse: float
    rrmse_rest: float
    deviance: float
    mae: float
    auroc: float
    log_score: float
    crps: float
    log_score_one_phi: float
    n: int


def score(
    counts: ArrayLike,
    predicted: ArrayLike,
    phi: float | None = None,
    law: SizeLaw | None = None,
) -> Scores:
    """Score predictions of held-out counts.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y, held out.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0.
    phi : float, optional
        φ ≥ 0 of :func:`uncletc.compare.dispersion`, of other counts than these.
    law : SizeLaw, optional
        How φ depends on ŷ; see :func:`uncletc.compare.likely_law`. None: it is `phi`.
    """
    y, y_hat = np.asarray(counts), np.asarray(predicted, dtype=np.float64)
    rest = y <= np.quantile(y, 1 - _LARGEST)
    mean = floored(y_hat)
    spread = phi if law is None else law.phi(mean)
    return Scores(
        rrmse=_rrmse(y, y_hat),
        rrmse_rest=_rrmse(y[rest], y_hat[rest]),
        deviance=metrics.poisson_deviance(y, np.maximum(y_hat, _LEAST)),
        mae=metrics.mae(y, y_hat),
        auroc=metrics.auroc(y, y_hat),
        log_score=math.nan if spread is None else float(log_scores(y, mean, spread).mean()),
        crps=math.nan if spread is None else float(crps(y, mean, spread).mean()),
        log_score_one_phi=math.nan if phi is None else float(log_scores(y, mean, phi).mean()),
        n=len(y),
    )


def _rrmse(y: NDArray[Any], y_hat: FloatArray) -> float:
    return metrics.rrmse(y, y_hat) if np.any(y > 0) else math.nan


def count_interval(
    predicted: ArrayLike, level: float, law: SizeLaw
) -> tuple[FloatArray, FloatArray]:
    """Prediction interval of negative binomial counts around ŷ.

    Parameters
    ----------
    predicted : array_like of float, shape (n,)
    level : float
        Nominal coverage, in (0, 1).
    law : SizeLaw
        How φ depends on ŷ.

    Returns
    -------
    tuple of ndarray, shapes (n,)
        Smallest and largest count. Counts are whole, so the intervals cover at least their level.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    y_hat = np.maximum(np.asarray(predicted, dtype=np.float64), _LEAST)
    distribution = count_distribution(y_hat, law.phi(y_hat))
    low, high = (distribution.ppf(tail) for tail in ((1 - level) / 2, (1 + level) / 2))
    return np.asarray(low), np.asarray(high)


def count_distribution(mean: FloatArray, phi: float | FloatArray) -> Any:
    """SciPy's distribution of counts with means (n,) and variances ŷ + φŷ²; Poisson for φ = 0.

    φ is one number, or one of each count, then all above 0.
    """
    if np.ndim(phi) == 0 and phi < _POISSON:
        return poisson(mean)
    return nbinom(1 / phi, 1 / (1 + phi * mean))

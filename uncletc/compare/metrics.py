"""Errors of estimates against a truth, and of predictions against held-out counts.

Which one, when: with a known truth, :func:`mae_rate` and :func:`mae_detection` compare λ and p
up to their free scale. With real counts, :func:`rrmse`, :func:`poisson_deviance` and :func:`mae`
score the predicted counts ŷ, which have no free scale; :func:`auroc` shows how
well ŷ separates counts above zero from zeros, and :func:`coverage` how often intervals hold.

Examples
--------
>>> from uncletc import metrics
>>> metrics.mae([1.0, 3.0], [2.0, 2.0])
1.0
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import kl_div

from uncletc.common.validation import FloatArray


def mae_rate(estimate: ArrayLike, truth: ArrayLike, where: ArrayLike | None = None) -> float:
    """MAE_λ: mean |λ̂/mean(λ̂) - λ/mean(λ)| (paper, section 5.1).

    Parameters
    ----------
    estimate, truth : array_like of float, same shape
        λ̂ and λ, each ≥ 0 and known up to a factor.
    where : array_like of bool, optional
        Entries to compare; both means are over them alone. None: all entries.

    Returns
    -------
    float
        0 is perfect; 2 is the largest possible value.

    Raises
    ------
    ValueError
        If the shapes differ, no entry is left, or a mean is not positive and finite.

    Examples
    --------
    >>> mae_rate([2.0, 4.0], [1.0, 2.0]), mae_rate([3.0, 3.0], [1.0, 3.0])
    (0.0, 0.5)
    """
    estimated, true = _pair(estimate, truth)
    if where is not None:
        mask = np.asarray(where, dtype=bool)
        if mask.shape != estimated.shape:
            raise ValueError(f"where must have shape {estimated.shape}, got {mask.shape}")
        estimated, true = estimated[mask], true[mask]
    means = [float(values.mean()) if values.size else 0.0 for values in (estimated, true)]
    if not (np.isfinite(means).all() and min(means) > 0):
        raise ValueError(
            f"estimate and truth must have positive, finite means, got {means[0]} and {means[1]}"
        )
    return float(np.mean(np.abs(estimated / means[0] - true / means[1])))


def mae_detection(estimate: ArrayLike, truth: ArrayLike, where: ArrayLike | None = None) -> float:
    """MAE_p: like :func:`mae_rate`, for detection probabilities.

    The paper defines it over all entries, its public code over Ω; `where` selects a subset.

    Examples
    --------
    >>> mae_detection([0.2, 0.4, 0.9], [0.1, 0.2, 0.5], where=[True, True, False])
    0.0
    """
    return mae_rate(estimate, truth, where)


def rrmse(counts: ArrayLike, predicted: ArrayLike) -> float:
    """Relative root mean square error of predicted counts (paper, section 5.2).

    rRMSE = sqrt(mean((y - ŷ)²)) / mean(y).

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y, held-out counts, not all zero.
    predicted : array_like of float, shape (n,)
        ŷ = λ·p.

    Examples
    --------
    >>> rrmse([0, 2, 4], [2.0, 2.0, 2.0])
    0.816496580927726
    """
    y, y_hat = counts_and_predictions(counts, predicted)
    if not y.mean() > 0:
        raise ValueError("counts must not all be zero for a relative error; their mean is 0")
    return float(np.sqrt(np.mean((y - y_hat) ** 2)) / y.mean())


def poisson_deviance(counts: ArrayLike, predicted: ArrayLike) -> float:
    """Mean Poisson deviance, 2·mean(y log(y/ŷ) - y + ŷ), of predicted counts.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y ≥ 0; y log y is 0 at y = 0.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0. Infinite where ŷ = 0 < y.

    Returns
    -------
    float
        0 is perfect; about 1 per entry when the counts really are Poisson(ŷ) with ŷ ≫ 1.

    Examples
    --------
    >>> poisson_deviance([0, 4], [1.0, 4.0])
    1.0
    """
    return float(np.mean(poisson_deviances(counts, predicted)))


def poisson_deviances(counts: ArrayLike, predicted: ArrayLike) -> FloatArray:
    """Poisson deviance of each count, 2(y log(y/ŷ) - y + ŷ) ≥ 0; (n,).

    Parameters
    ----------
    counts, predicted
        As for :func:`poisson_deviance`.

    Examples
    --------
    >>> poisson_deviances([0, 2, 4], [1.0, 2.0, 4.0])
    array([2., 0., 0.])
    """
    y, y_hat = counts_and_predictions(counts, predicted)
    return np.asarray(2 * kl_div(y, y_hat))


def counts_and_predictions(
    counts: ArrayLike, predicted: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return y and ŷ as arrays of one shape; reject what cannot be compared.

    Examples
    --------
    >>> y, expected = counts_and_predictions([0, 2], [0.5, 1.5])
    >>> y - expected
    array([-0.5,  0.5])
    """
    y, y_hat = _pair(counts, predicted)
    if not y.size:
        raise ValueError("counts must hold at least 1 value to judge, got none")
    for values, name in ((y, "counts"), (y_hat, "predicted")):
        if not (np.isfinite(values).all() and values.min() >= 0):
            raise ValueError(f"{name} must be finite and >= 0; the smallest is {values.min()}")
    return y, y_hat


def _pair(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape:
        raise ValueError(f"both arrays must have one shape, got {a.shape} and {b.shape}")
    return a, b


def mae(counts: ArrayLike, predicted: ArrayLike) -> float:
    """Mean |y - ŷ| of predicted counts.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
    predicted : array_like of float, shape (n,)

    Examples
    --------
    >>> mae([0, 2, 4], [1.0, 2.0, 3.5])
    0.5
    """
    y, y_hat = counts_and_predictions(counts, predicted)
    return float(np.mean(np.abs(y - y_hat)))


def auroc(counts: ArrayLike, predicted: ArrayLike) -> float:
    """Area under the receiver operating curve of "any count", y > 0, ranked by ŷ.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
    predicted : array_like of float, shape (n,)

    Returns
    -------
    float
        1 is perfect, 0.5 is chance; NaN where all or none of the counts are zero.

    Examples
    --------
    >>> auroc([0, 0, 3, 1], [0.1, 0.4, 2.0, 0.3])
    0.75
    """
    from sklearn.metrics import roc_auc_score  # two seconds, which fits need not

    y, y_hat = counts_and_predictions(counts, predicted)
    any_count = y > 0
    if any_count.all() or not any_count.any():
        return math.nan
    return float(roc_auc_score(any_count, y_hat))


def coverage(values: ArrayLike, low: ArrayLike, high: ArrayLike) -> float:
    """Share of values within [low, high], ends included; arrays of one shape (n,).

    Examples
    --------
    >>> coverage([1, 5, 9, 2], low=[0, 2, 3, 1], high=[2, 6, 8, 4])
    0.75
    """
    actual, least = _pair(values, low)
    _, most = _pair(values, high)
    if not actual.size:
        raise ValueError("values must hold at least 1 value to judge, got none")
    return float(np.mean((least <= actual) & (actual <= most)))


def mean_and_sd(values: ArrayLike) -> tuple[float, float]:
    """Mean and sample standard deviation (n - 1) of values (n,), ignoring NaN.

    A single value has standard deviation 0; without values both are NaN.

    Examples
    --------
    >>> mean_and_sd([1.0, 2.0, 3.0, float("nan")])
    (2.0, 1.0)
    """
    present = np.asarray(values, dtype=np.float64)
    present = present[~np.isnan(present)]
    if not len(present):
        return math.nan, math.nan
    return float(present.mean()), float(present.std(ddof=min(1, len(present) - 1)))

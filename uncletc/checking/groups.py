"""Checks of groups of held-out counts: by size, place or time. Public in `checking`."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import ndtri

from uncletc.common.validation import FloatArray, check_whole
from uncletc.compare.metrics import counts_and_predictions
from uncletc.compare.scores import error_of_sum
from uncletc.data.entries import fibres

FAR = 0.25
_LEAST_IN_GROUP = 3  # one or two residuals are no evidence on their group


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """Observed over predicted, with an approximate interval.

    Attributes
    ----------
    estimate, low, high : float
        1 where predictions are right on average; 1.1 where 10 % more was counted than predicted.
    level : float
        Nominal coverage.
    """

    estimate: float
    low: float
    high: float
    level: float


def ratio(
    counts: ArrayLike, predicted: ArrayLike, groups: ArrayLike | None = None, *, level: float = 0.95
) -> Ratio:
    """Σy / Σŷ, with an interval that allows for correlated errors within a group.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y ≥ 0, held out.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0.
    groups : array_like of int, shape (n,), optional
        Which group, such as a place, each count belongs to. None: every count is its own group.
    level : float
        In (0, 1).
    """
    y, mean = counts_and_predictions(counts, predicted)
    total = float(mean.sum())
    if not total > 0:
        raise ValueError("predicted must not be 0 throughout")
    estimate = float(y.sum()) / total
    error = error_of_sum(y - estimate * mean, groups)[0] / total
    if estimate == 0:
        return Ratio(estimate=0.0, low=0.0, high=math.inf, level=level)
    width = float(ndtri((1 + level) / 2)) * error / estimate
    factor = math.exp(min(width, 700.0))
    return Ratio(estimate=estimate, low=estimate / factor, high=estimate * factor, level=level)


def by_decile(counts: ArrayLike, predicted: ArrayLike, *, bins: int = 10) -> pd.DataFrame:
    """Compare means of y and ŷ in bins of ŷ with equal numbers of counts, to within one.

    Parameters
    ----------
    counts, predicted
        As for :func:`ratio`; at least as many as `bins`.
    bins : int
        At least 1.

    Returns
    -------
    DataFrame
        One row per bin, from the smallest predictions to the largest: n (counts), predicted and
        observed (means of ŷ and of y), low and high (approximate 95 % interval of the mean of y:
        ± 1.96 standard errors, ≥ 0).
    """
    y, mean = counts_and_predictions(counts, predicted)
    if not 1 <= bins <= len(y):
        raise ValueError(f"bins must be from 1 to the {len(y)} counts, got {bins}")
    order = np.argsort(mean, kind="stable")
    part = np.repeat(np.arange(bins), [len(each) for each in np.array_split(order, bins)])
    sizes = pd.DataFrame({"predicted": mean[order], "observed": y[order]}).groupby(part)
    table = sizes.mean()
    table.insert(0, "n", sizes.size())
    width = 1.96 * sizes["observed"].std().fillna(np.inf) / np.sqrt(table["n"])
    observed = table["observed"]
    return table.assign(low=(observed - width).clip(lower=0), high=observed + width)


def residuals_by(
    residuals: ArrayLike, groups: ArrayLike, n_groups: int
) -> tuple[pd.DataFrame, float]:
    """Mean residual of each group, such as a day, a place or a species, and what groups explain.

    Parameters
    ----------
    residuals : array_like of float, shape (n,)
        As :func:`quantile_residuals` returns them.
    groups : array_like of int, shape (n,)
        0 to `n_groups` - 1.
    n_groups : int
        G.

    Returns
    -------
    table : DataFrame, G rows
        n (residuals), mean with its approximate 95 % interval low and high (± 1.96 s/√n with s the
        standard deviation of all residuals; NaN where n is 0), and far: whether the mean, of at
        least 3 residuals, is at least 0.25 from 0 and significantly so at the 5 % level over all G
        groups (Bonferroni).
    share : float
        Share of the residuals' variance that lies between groups, corrected for chance (adjusted
        R²); 0 to 1.
    """
    r = _values(residuals)
    group = np.asarray(groups, dtype=np.int64)
    if group.shape != r.shape:
        raise ValueError(f"groups must have shape {r.shape}, got {group.shape}")
    if group.min() < 0 or group.max() >= n_groups:
        raise ValueError(
            f"groups must be from 0 to {n_groups - 1}, got {group.min()}-{group.max()}"
        )
    n = np.bincount(group, minlength=n_groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(group, r, minlength=n_groups) / n
        error = (r.std(ddof=1) if len(r) > 1 else np.inf) / np.sqrt(n)
    n_seen = int((n > 0).sum())
    beyond = float(ndtri(1 - 0.025 / max(n_seen, 1)))
    far = (n >= _LEAST_IN_GROUP) & (np.abs(mean) >= FAR) & (np.abs(mean) > beyond * error)
    low, high = mean - 1.96 * error, mean + 1.96 * error
    table = pd.DataFrame({"n": n, "mean": mean, "low": low, "high": high, "far": far})
    within, total = float(np.sum((r - mean[group]) ** 2)), float(np.sum((r - r.mean()) ** 2))
    if total == 0 or len(r) <= n_seen:
        return table, 0.0
    return table, max(1 - (within / (len(r) - n_seen)) / (total / (len(r) - 1)), 0.0)


def autocorrelation(residuals: ArrayLike, indices: ArrayLike, *, max_lag: int) -> pd.DataFrame:
    """Correlate residuals of one fibre that lie 1, 2, … steps apart along the last mode.

    Parameters
    ----------
    residuals : array_like of float, shape (n,)
    indices : array_like of int, shape (n, K)
        Their entries. Only pairs of which both were held out count.
    max_lag : int
        At least 1.

    Returns
    -------
    DataFrame
        One row per lag: lag (1, 2, …), value (the correlation, NaN without a pair) and pairs; by
        chance alone a value stays within about ± 2/√pairs.
    """
    r, where = _values(residuals), np.asarray(indices, dtype=np.int64)
    check_whole("max_lag", max_lag, 1)
    step = where[:, -1]
    # Fibres lie further apart than any lag reaches.
    place = fibres(where) * (int(step.max()) + max_lag + 1) + step
    order = np.argsort(place)
    place, centred = place[order], r[order] - r.mean()
    variance = float(np.mean(centred**2))
    value, pairs = np.full(max_lag, np.nan), np.zeros(max_lag, dtype=np.int64)
    for k in range(1, max_lag + 1):
        partner = np.minimum(np.searchsorted(place, place + k), len(place) - 1)
        paired = place[partner] == place + k
        pairs[k - 1] = paired.sum()
        if paired.any() and variance > 0:
            value[k - 1] = np.mean(centred[paired] * centred[partner[paired]]) / variance
    return pd.DataFrame({"lag": np.arange(1, max_lag + 1), "value": value, "pairs": pairs})


def _values(residuals: ArrayLike) -> FloatArray:
    r = np.asarray(residuals, dtype=np.float64)
    if r.ndim != 1 or not len(r):
        raise ValueError(f"residuals must have shape (n,) with n at least 1, got {r.shape}")
    return r

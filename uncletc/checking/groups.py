"""Checks of groups of held-out counts: by size, place or time. Public in `checking`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from uncletc.checking.counts import validated_pair
from uncletc.common.validation import FloatArray, IntArray
from uncletc.compare.paired import error_of_sum

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


@dataclass(frozen=True, eq=False, kw_only=True)
class Deciles:
    """Observed against predicted counts, from the smallest predictions to the largest.

    Attributes
    ----------
    n : ndarray of int, shape (bins,)
        Number of counts.
    predicted, observed : ndarray, shape (bins,)
        Means of ŷ and of y.
    low, high : ndarray, shape (bins,)
        Approximate 95 % interval of the mean of y: ± 1.96 standard errors, ≥ 0.
    """

    n: IntArray
    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupedResiduals:
    """Mean residual of each group, such as a day, a place or a species.

    Attributes
    ----------
    n : ndarray of int, shape (G,)
        Residuals in the group.
    mean, low, high : ndarray, shape (G,)
        Mean with an approximate 95 % interval, ± 1.96 s/√n with s the standard deviation of all
        residuals; NaN where n is 0.
    far : ndarray of bool, shape (G,)
        Whether the mean, of at least 3 residuals, is at least .25 from 0 and significantly so at
        the 5 % level over all G groups (Bonferroni).
    share : float
        Share of the residuals' variance that lies between groups, corrected for chance (adjusted
        R²); 0 to 1.
    """

    n: IntArray
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    far: NDArray[np.bool_]
    share: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Autocorrelation:
    """Correlation of residuals that lie some steps apart along the last mode.

    Attributes
    ----------
    lag : ndarray of int, shape (L,)
        1, 2, …
    value : ndarray, shape (L,)
        Correlation; NaN without a pair.
    pairs : ndarray of int, shape (L,)
        Pairs of residuals; by chance alone a value stays within about ± 2/√pairs.
    """

    lag: IntArray
    value: FloatArray
    pairs: IntArray


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
    y, mean = validated_pair(counts, predicted)
    total = float(mean.sum())
    if not total > 0:
        raise ValueError("predicted must not be 0 throughout")
    estimate = float(y.sum()) / total
    error = error_of_sum(y - estimate * mean, groups)[0] / total
    if estimate == 0:
        return Ratio(estimate=0.0, low=0.0, high=math.inf, level=level)
    width = float(norm.ppf((1 + level) / 2)) * error / estimate
    factor = math.exp(min(width, 700.0))
    return Ratio(estimate=estimate, low=estimate / factor, high=estimate * factor, level=level)


def by_decile(counts: ArrayLike, predicted: ArrayLike, *, bins: int = 10) -> Deciles:
    """Compare means of y and ŷ in bins of ŷ with equal numbers of counts, to within one.

    Parameters
    ----------
    counts, predicted
        As for :func:`ratio`; at least as many as `bins`.
    bins : int
        At least 1.
    """
    y, mean = validated_pair(counts, predicted)
    if not 1 <= bins <= len(y):
        raise ValueError(f"bins must be from 1 to the {len(y)} counts, got {bins}")
    parts = np.array_split(np.argsort(mean, kind="stable"), bins)
    observed = np.array([y[part].mean() for part in parts])
    n = np.array([len(part) for part in parts])
    error = np.array([y[part].std(ddof=1) if len(part) > 1 else np.inf for part in parts])
    width = 1.96 * error / np.sqrt(n)
    return Deciles(
        n=n,
        predicted=np.array([mean[part].mean() for part in parts]),
        observed=observed,
        low=np.maximum(observed - width, 0),
        high=observed + width,
    )


def residuals_by(residuals: ArrayLike, groups: ArrayLike, n_groups: int) -> GroupedResiduals:
    """Mean residual of each group.

    Parameters
    ----------
    residuals : array_like of float, shape (n,)
        As :func:`quantile_residuals` returns them.
    groups : array_like of int, shape (n,)
        0 to `n_groups` - 1.
    n_groups : int
        G.
    """
    r, group = _values(residuals), _groups(groups, len(np.asarray(residuals)))
    if group.min() < 0 or group.max() >= n_groups:
        raise ValueError(
            f"groups must be from 0 to {n_groups - 1}, got {group.min()}-{group.max()}"
        )
    n = np.bincount(group, minlength=n_groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.bincount(group, r, minlength=n_groups) / n
        error = (r.std(ddof=1) if len(r) > 1 else np.inf) / np.sqrt(n)
    seen = n > 0
    beyond = float(norm.ppf(1 - 0.025 / max(int(seen.sum()), 1)))
    far = (n >= _LEAST_IN_GROUP) & (np.abs(mean) >= FAR) & (np.abs(mean) > beyond * error)
    return GroupedResiduals(
        n=n,
        mean=mean,
        low=mean - 1.96 * error,
        high=mean + 1.96 * error,
        far=far,
        share=_share_between(r, group, mean, int(seen.sum())),
    )


def fibres(indices: ArrayLike) -> IntArray:
    """Number, from 0, the fibre along the last mode that each entry (n, K) lies in; (n,)."""
    where = np.asarray(indices, dtype=np.int64)
    return np.asarray(np.unique(where[:, :-1], axis=0, return_inverse=True)[1].ravel())


def autocorrelation(residuals: ArrayLike, indices: ArrayLike, *, max_lag: int) -> Autocorrelation:
    """Correlate residuals of one fibre that lie 1, 2, … steps apart along the last mode.

    Parameters
    ----------
    residuals : array_like of float, shape (n,)
    indices : array_like of int, shape (n, K)
        Their entries. Only pairs of which both were held out count.
    max_lag : int
        At least 1.
    """
    r, where = _values(residuals), np.asarray(indices, dtype=np.int64)
    if max_lag < 1:
        raise ValueError(f"max_lag must be at least 1, got {max_lag}")
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
    return Autocorrelation(lag=np.arange(1, max_lag + 1), value=value, pairs=pairs)


def _share_between(r: FloatArray, group: IntArray, mean: FloatArray, n_seen: int) -> float:
    within = float(np.sum((r - mean[group]) ** 2))
    total = float(np.sum((r - r.mean()) ** 2))
    if total == 0 or len(r) <= n_seen:
        return 0.0
    return max(1 - (within / (len(r) - n_seen)) / (total / (len(r) - 1)), 0.0)


def _values(residuals: ArrayLike) -> FloatArray:
    r = np.asarray(residuals, dtype=np.float64)
    if r.ndim != 1 or not len(r):
        raise ValueError(f"residuals must have shape (n,) with n at least 1, got {r.shape}")
    return r


def _groups(groups: ArrayLike, n: int) -> IntArray:
    group = np.asarray(groups, dtype=np.int64)
    if group.shape != (n,):
        raise ValueError(f"groups must have shape ({n},), got {group.shape}")
    return group

"""Values of attributes that effects are worked out at."""

from __future__ import annotations

import numpy as np

from uncletc.common.validation import FloatArray, IntArray


def levels(x: FloatArray, points: int) -> FloatArray:
    """Distinct values of x (n, C) in order; of a single column at most `points` quantiles."""
    values = np.unique(x, axis=0)
    if x.shape[1] > 1:
        return values[::-1]  # the first level first
    if len(values) <= points:
        return values
    shares = np.linspace(0, 1, points)
    return np.unique(np.quantile(x, shares, method="inverted_cdf"))[:, None]


def binned(x: FloatArray, bins: int) -> tuple[FloatArray, IntArray]:
    """Values (m, C) that stand for x (n, C), and which one for each row (n,)."""
    values = levels(x, np.iinfo(np.int64).max)
    if x.shape[1] > 1:
        same = (x[:, None] == values).all(axis=2)
        return values, np.argmax(same, axis=1)
    if len(values) <= bins:
        return values, np.searchsorted(values[:, 0], x[:, 0])
    inner = np.quantile(x[:, 0], np.arange(1, bins) / bins, method="inverted_cdf")
    rank = np.searchsorted(np.unique(inner), x[:, 0])
    _, where = np.unique(rank, return_inverse=True)
    medians = [np.median(x[where == i, 0]) for i in range(where.max() + 1)]
    return np.array(medians)[:, None], where


def mean_along(x: FloatArray, at: FloatArray, curves: FloatArray) -> FloatArray:
    """Mean of curves (m, n), known at `at` (n,), over the values x; (m, 1)."""
    return np.array([[np.interp(x, at, curve).mean()] for curve in curves])

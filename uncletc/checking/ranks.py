"""Rank correlations of places drawn again and again, with all draws at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from uncletc.common.validation import FloatArray, IntArray

_LEAST_PLACES = 4  # a rank correlation of fewer has no interval worth the name


def spearman(first: FloatArray, second: FloatArray, weights: FloatArray) -> FloatArray:
    """Spearman's correlation of places that occur several times; NaN where one is constant.

    Parameters
    ----------
    first, second : ndarray, shape (n,)
        Finite.
    weights : ndarray, shape (B, n)
        How often each place occurs in each of B samples.

    Returns
    -------
    ndarray, shape (B,)
    """
    if len(first) < _LEAST_PLACES:
        return np.full(len(weights), np.nan)
    a, b = _ranks(first, weights), _ranks(second, weights)
    total = weights.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        a -= (weights * a).sum(axis=1, keepdims=True) / total
        b -= (weights * b).sum(axis=1, keepdims=True) / total
        products = (weights * a * b).sum(axis=1)
        sizes = (weights * a * a).sum(axis=1) * (weights * b * b).sum(axis=1)
        return np.asarray(products / np.sqrt(np.where(sizes > 0, sizes, np.nan)))


def _ranks(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Mid-ranks of values (n,) in each sample, less a half; (B, n)."""
    order = np.argsort(values, kind="stable")
    first = np.flatnonzero(np.diff(values[order], prepend=-np.inf) > 0)  # of each distinct value
    size = np.add.reduceat(weights[:, order], first, axis=1)
    middle = size.cumsum(axis=1) - size / 2
    own = np.searchsorted(values[order][first], values)
    return np.asarray(middle[:, own])


def resampled(
    groups: Sequence[object] | pd.Series | None, n: int, draws: int, seed: int
) -> FloatArray:
    """How often each place occurs: once in the first row, then in bootstrap samples; (1 + B, n)."""
    own: IntArray = np.arange(n) if groups is None else pd.factorize(np.asarray(groups))[0]
    if own.shape != (n,) or (own < 0).any():
        raise ValueError(f"groups must name a group for each of the {n} places, got {own.shape}")
    size = int(own.max(initial=-1)) + 1
    rng = np.random.default_rng(seed)
    picked = rng.multinomial(size, np.full(size, 1 / max(size, 1)), size=draws)
    return np.vstack([np.ones(n), picked[:, own]])

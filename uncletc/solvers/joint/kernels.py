"""Compiled passes over entries.

All factors lie in one array (ΣI_k, M, F), mode below mode, so that one compiled function serves
any number of modes. `at` holds, per entry and mode, the row of that array. Entries that follow one
another and differ in the last mode alone share the product of all others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray

IndexArray = NDArray[np.integer[Any]]
SMALLEST = 1e-30

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """Compile on first use and keep the machine code on disk; NaN and infinity stay themselves."""
    jit: Any = numba.njit(
        cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"}
    )
    compiled: _Function = jit(function)
    return compiled


@compiled
def _together(at: IndexArray, n: int, mode: int, factors: FloatArray, shared: FloatArray) -> int:
    """End of the entries from the n-th on that differ in the last mode alone.

    The product of their rows in the other modes, but one, is put into `shared` (M, F).
    """
    last, end, same = at.shape[1] - 1, n + 1, True
    shared[:] = 1.0
    for k in range(last):
        if k != mode:
            row = at[n, k]
            for m in range(shared.shape[0]):
                for f in range(shared.shape[1]):
                    shared[m, f] *= factors[row, m, f]
    while same and end < len(at):
        for k in range(last):
            same = same and at[end, k] == at[n, k]
        end += same
    return end


@compiled
def rates(at: IndexArray, factors: FloatArray, out: FloatArray) -> None:
    """λ per unit of exposure of each entry (N, M), into `out`, of factors (ΣI_k, M, F)."""
    (_, n_members, rank), last = factors.shape, at.shape[1] - 1
    shared, end = np.empty((n_members, rank)), 0
    for n in range(len(at)):
        if n == end:
            end = _together(at, n, last, factors, shared)
        row = at[n, last]
        for m in range(n_members):
            total = 0.0
            for f in range(rank):
                total += shared[m, f] * factors[row, m, f]
            out[n, m] = total


@compiled
def mode_sums(
    at: IndexArray,
    mode: int,
    first: int,
    factors: FloatArray,
    counts: FloatArray,
    detected: FloatArray,
    mu: FloatArray,
    kinds: IndexArray,
    weighted: bool,
    up: FloatArray,
    down: FloatArray,
) -> None:
    """Add Σ y/λ·w and Σ pε·w over each slice of one mode to `up` and `down` (I_k, M, F).

    w is the product of the other modes' factors, and ε = (y + μ)/(λp + μ). With weights
    v = μ/(λp + μ) of the entries the sums are Σ v·y/λ·w and Σ v·p·w. Entries are read in their own
    order: slice by slice, each would be fetched from afar.

    Parameters
    ----------
    at : ndarray, shape (N, K)
    mode, first : int
        k, and the row of `factors` where those of this mode begin.
    factors : ndarray, shape (ΣI_k, M, F)
    counts : ndarray, shape (N, 1)
    detected : ndarray, shape (N, M)
        p times exposure.
    mu : ndarray, shape (kinds, M) or (N, M)
    kinds : ndarray of int, shape (N,) or (0,)
        Row of `mu` of each entry; none where each has its own.
    weighted : bool
    """
    (_, n_members, rank), last = factors.shape, at.shape[1] - 1
    shared, whole = np.empty((n_members, rank)), np.empty((n_members, rank))
    more, less, end = np.empty((n_members, rank)), np.empty((n_members, rank)), 0
    for n in range(len(at)):
        row, own, y = at[n, last], at[n, mode], counts[n, 0]
        kind = kinds[n] if len(kinds) else n
        if n == end:
            end = _together(at, n, mode, factors, shared)
            for m in range(n_members):
                for f in range(rank):
                    whole[m, f] = shared[m, f] * (1.0 if mode == last else factors[own, m, f])
                    more[m, f], less[m, f] = 0.0, 0.0
        for m in range(n_members):
            rate, p, own_mu = SMALLEST, detected[n, m], mu[kind, m]
            for f in range(rank):
                rate += whole[m, f] * factors[row, m, f]
            share = 1.0 / (own_mu + rate * p)
            if weighted:
                share *= own_mu
                of_up, of_down = share * y / rate, share * p
            else:
                of_up, of_down = y / rate, share * p * (y + own_mu)
            if mode == last:
                for f in range(rank):
                    up[row - first, m, f] += of_up * shared[m, f]
                    down[row - first, m, f] += of_down * shared[m, f]
            else:
                for f in range(rank):
                    other = factors[row, m, f]
                    more[m, f] += of_up * other
                    less[m, f] += of_down * other
        if n + 1 == end and mode != last:
            for m in range(n_members):
                for f in range(rank):
                    up[own - first, m, f] += shared[m, f] * more[m, f]
                    down[own - first, m, f] += shared[m, f] * less[m, f]


@compiled
def prior_steps(
    factor: FloatArray,
    up: FloatArray,
    down: FloatArray,
    pseudo_counts: FloatArray,
    share: float,
    alike: bool,
    mean: FloatArray,
) -> None:
    """Take the multiplicative step of each element (I_k, M, F) under its gamma prior, in place.

    `up` becomes the counts attributed to each element, and `mean` that of its prior.

    Parameters
    ----------
    factor, up, down, mean : ndarray, shape (I_k, M, F)
    pseudo_counts : ndarray, shape (M,)
        What the prior is worth.
    share : float
        Of it, what holds the sizes of rows.
    alike : bool
        Whether all rows have the same mean; else those alone that nothing was expected in.
    """
    n_rows, n_members, rank = factor.shape
    for m in range(n_members):
        level = np.zeros(rank)
        for i in range(n_rows):
            level += factor[i, m]
        level /= n_rows
        middle, prior = max(level.mean(), SMALLEST), pseudo_counts[m]
        for i in range(n_rows):
            own = factor[i, m].mean()
            for f in range(rank):
                size = middle if alike or down[i, m, f] <= 0 else own
                mean[i, m, f] = max(size * level[f] / middle, SMALLEST)
                up[i, m, f] *= factor[i, m, f]
                held = prior / mean[i, m, f] + share * prior / max(level[f], SMALLEST)
                below = down[i, m, f] + held
                if below > 0:
                    factor[i, m, f] = (up[i, m, f] + (1 + share) * prior) / below


@compiled
def fit_sums(
    counts: FloatArray,
    rate: FloatArray,
    multiplier: FloatArray,
    mu: FloatArray,
    kinds: IndexArray,
    sums: FloatArray,
) -> None:
    """Add how well each member's λp agrees with counts to `sums` (4, M).

    They are Σ deviance, Σ v(y - λp)²/λp, Σ v·y and Σ v·λp, of negative binomial counts with
    weights v = μ/(λp + μ). Arguments as in :func:`mode_sums`; `rate` and `multiplier` (N, M).
    """
    for n in range(len(counts)):
        y, kind = counts[n, 0], kinds[n] if len(kinds) else n
        for m in range(rate.shape[1]):
            mean, own = rate[n, m] * multiplier[n, m], mu[kind, m]
            deviance = -(y + own) * math.log1p((y - mean) / (mean + own))
            if y > 0:
                deviance += y * math.log(y / max(mean, SMALLEST))
            share = 1.0 / (1.0 + mean / own)
            sums[0, m] += 2.0 * deviance
            sums[1, m] += share * (y - mean) ** 2 / max(mean, 0.1)
            sums[2, m] += share * y
            sums[3, m] += share * mean

"""Compiled passes over entries.

All factors lie in one array (ΣI_k, M, F), mode below mode, so that one compiled function serves
any number of modes. `at` holds, per entry and mode, the row of that array. Entries that follow one
another and differ in the last mode alone are a group: they share the product of all others.
"""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray

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
def _others(
    at: IndexArray, n: int, mode: int, factors: FloatArray, m: int, shared: FloatArray
) -> None:
    """Product of a member's rows of the n-th entry in all modes but this one and the last.

    It is put into `shared` (F,).
    """
    shared[:] = 1.0
    for k in range(at.shape[1] - 1):
        if k != mode:
            row = at[n, k]
            for f in range(len(shared)):
                shared[f] *= factors[row, m, f]


@compiled
def rates(starts: IntArray, at: IndexArray, factors: FloatArray, out: FloatArray) -> None:
    """λ per unit of exposure of each entry (N, M), into `out`, of factors (ΣI_k, M, F)."""
    (_, n_members, rank), last = factors.shape, at.shape[1] - 1
    shared = np.empty(rank)
    for m in range(n_members):
        for g in range(len(starts) - 1):
            _others(at, starts[g], last, factors, m, shared)
            for n in range(starts[g], starts[g + 1]):
                row, total = at[n, last], 0.0
                for f in range(rank):
                    total += shared[f] * factors[row, m, f]
                out[n, m] = total


@compiled
def mode_sums(
    starts: IntArray,
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
    starts : ndarray, shape (G + 1,)
        First entry of each group, and N.
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
    ups, downs = np.empty((2, np.diff(starts).max()))
    shared, whole, more, less = np.empty(rank), np.empty(rank), np.empty(rank), np.empty(rank)
    for m in range(n_members):
        for g in range(len(starts) - 1):
            start, end = starts[g], starts[g + 1]
            own = at[start, mode]
            _others(at, start, mode, factors, m, shared)
            for f in range(rank):
                whole[f] = shared[f] * (1.0 if mode == last else factors[own, m, f])
                more[f], less[f] = 0.0, 0.0
            for n in range(start, end):
                row, rate = at[n, last], SMALLEST
                for f in range(rank):
                    rate += whole[f] * factors[row, m, f]
                ups[n - start] = rate
            for n in range(start, end):
                rate, p, y = ups[n - start], detected[n, m], counts[n, 0]
                own_mu = mu[kinds[n] if len(kinds) else n, m]
                share = 1.0 / (own_mu + rate * p)
                if weighted:
                    share *= own_mu
                    ups[n - start], downs[n - start] = share * y / rate, share * p
                else:
                    ups[n - start], downs[n - start] = y / rate, share * p * (y + own_mu)
            for n in range(start, end):
                row, of_up, of_down = at[n, last], ups[n - start], downs[n - start]
                if mode == last:
                    for f in range(rank):
                        up[row - first, m, f] += of_up * shared[f]
                        down[row - first, m, f] += of_down * shared[f]
                else:
                    for f in range(rank):
                        other = factors[row, m, f]
                        more[f] += of_up * other
                        less[f] += of_down * other
            if mode != last:
                for f in range(rank):
                    up[own - first, m, f] += shared[f] * more[f]
                    down[own - first, m, f] += shared[f] * less[f]


@compiled
def prior_steps(
    rank: int,
    factor: FloatArray,
    up: FloatArray,
    down: FloatArray,
    prior: float,
    share: float,
    alike: bool,
    mean: FloatArray,
) -> None:
    """Take the multiplicative step of the first `rank` columns under their gamma prior, in place.

    `up` becomes the counts attributed to each element, and `mean` that of its prior.

    Parameters
    ----------
    rank : int
        F.
    factor, up, down, mean : ndarray, shape (I_k, M, F or more)
    prior : float
        What the prior is worth, in counts.
    share : float
        Of it, what holds the sizes of rows.
    alike : bool
        Whether all rows have the same mean; else those alone that nothing was expected in.
    """
    n_rows, n_members, _ = factor.shape
    for m in range(n_members):
        level = np.zeros(rank)
        for i in range(n_rows):
            level += factor[i, m, :rank]
        level /= n_rows
        middle = max(level.mean(), SMALLEST)
        for i in range(n_rows):
            own = factor[i, m, :rank].mean()
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

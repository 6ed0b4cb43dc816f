"""Compiled passes over entries.

All factors lie in one array (ΣI_k, M, F), mode below mode, so that one compiled function serves
any number of modes. `at` holds, per entry and mode, the row of that array. Entries that follow one
another and differ in the last mode alone share the product of all others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray

IndexArray = NDArray[np.integer[Any]]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_SMALLEST = 1e-30
_AT_ONCE = 1_024  # entries, whose rates and weights stay in the cache


def compiled(function: _Function) -> _Function:
    """Compile on first use and keep the machine code on disk; NaN and infinity stay themselves."""
    jit: Any = numba.njit(
        cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"}
    )
    compiled: _Function = jit(function)
    return compiled


@compiled
def rates(at: IndexArray, factors: FloatArray, out: FloatArray) -> None:
    """λ per unit of exposure of each entry (N, M), into `out`, of factors (ΣI_k, M, F)."""
    last, (_, n_members, rank) = at.shape[1] - 1, factors.shape
    shared = np.empty((n_members, rank))  # product of all modes but the last
    for n in range(len(at)):
        same = n > 0
        for k in range(last):
            same = same and at[n, k] == at[n - 1, k]
        if not same:
            for m in range(n_members):
                for f in range(rank):
                    shared[m, f] = factors[at[n, 0], m, f]
            for k in range(1, last):
                for m in range(n_members):
                    for f in range(rank):
                        shared[m, f] *= factors[at[n, k], m, f]
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

    w is the product of the other modes' factors. If weighted, Σ v·y/λ·w and Σ v·p·w instead, with
    v = μ/(λp + μ), what a negative binomial count weighs beside a Poisson one. Entries are read in
    their own order: slice by slice, each would be fetched from afar.

    Parameters
    ----------
    at : ndarray, shape (N, K)
    mode, first : int
        k, and the row of `factors` where those of this mode begin.
    factors : ndarray, shape (ΣI_k, M, F)
    counts : ndarray, shape (N, 1)
    detected : ndarray, shape (N, M)
        p times exposure.
    mu : ndarray, shape (kinds, M)
    kinds : ndarray of int, shape (N,)
        Which μ is an entry's.
    """
    n_members = detected.shape[1]
    observed, expected = np.empty((_AT_ONCE, n_members)), np.empty((_AT_ONCE, n_members))
    for begin in range(0, len(at), _AT_ONCE):
        some = at[begin : begin + _AT_ONCE]
        rates(some, factors, observed)
        for i in range(len(some)):
            n = begin + i
            for m in range(n_members):
                rate, y, d, own_mu = observed[i, m], counts[n, 0], detected[n, m], mu[kinds[n], m]
                rate += _SMALLEST
                of_all = rate * d + own_mu
                weight = own_mu / of_all if weighted else 1.0
                observed[i, m] = weight * y / rate
                expected[i, m] = d * (own_mu if weighted else y + own_mu) / of_all
        _add_sums(some, mode, first, factors, observed, expected, up, down)


@compiled
def _add_sums(
    at: IndexArray,
    mode: int,
    first: int,
    factors: FloatArray,
    observed: FloatArray,
    expected: FloatArray,
    up: FloatArray,
    down: FloatArray,
) -> None:
    """Add Σ observed·w and Σ expected·w; entries with a product in common add to it together."""
    last, (_, n_members, rank) = at.shape[1] - 1, factors.shape
    shared = np.empty((n_members, rank))  # product of all modes but this one and the last
    more, less = np.zeros((n_members, rank)), np.zeros((n_members, rank))
    for n in range(len(at) + 1):
        same = 0 < n < len(at)
        for k in range(last):
            same = same and at[n, k] == at[n - 1, k]
        if n > 0 and mode != last and not same:
            own = at[n - 1, mode] - first
            for m in range(n_members):
                for f in range(rank):
                    up[own, m, f] += shared[m, f] * more[m, f]
                    down[own, m, f] += shared[m, f] * less[m, f]
            more[:], less[:] = 0.0, 0.0
        if n == len(at):
            break
        if not same:
            shared[:] = 1.0
            for k in range(last):
                if k != mode:
                    for m in range(n_members):
                        for f in range(rank):
                            shared[m, f] *= factors[at[n, k], m, f]
        row = at[n, last]
        for m in range(n_members):
            of_up, of_down = observed[n, m], expected[n, m]
            if mode == last:
                for f in range(rank):
                    up[row - first, m, f] += of_up * shared[m, f]
                    down[row - first, m, f] += of_down * shared[m, f]
            else:
                for f in range(rank):
                    more[m, f] += of_up * factors[row, m, f]
                    less[m, f] += of_down * factors[row, m, f]

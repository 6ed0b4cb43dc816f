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
    observed: FloatArray,
    expected: FloatArray,
    up: FloatArray,
    down: FloatArray,
) -> None:
    """Add Σ observed·w and Σ expected·w over each slice of one mode to `up` and `down` (I_k, M, F).

    w is the product of the other modes' factors. Entries are read in their own order: slice by
    slice, each would be fetched from afar.

    Parameters
    ----------
    at : ndarray, shape (N, K)
    mode, first : int
        k, and the row of `factors` where those of this mode begin.
    factors : ndarray, shape (ΣI_k, M, F)
    observed, expected : ndarray, shape (N, M)
    """
    (_, n_members, rank), last = factors.shape, at.shape[1] - 1
    shared, end = np.empty((n_members, rank)), 0
    more, less = np.zeros((n_members, rank)), np.zeros((n_members, rank))
    for n in range(len(at)):
        if n == end:
            end = _together(at, n, mode, factors, shared)
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
        if n + 1 == end and mode != last:
            row = at[n, mode] - first
            for m in range(n_members):
                for f in range(rank):
                    up[row, m, f] += shared[m, f] * more[m, f]
                    down[row, m, f] += shared[m, f] * less[m, f]
            more[:], less[:] = 0.0, 0.0

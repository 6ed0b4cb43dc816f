"""Compiled passes over entries.

All factors lie in one array (ΣI_k, M·F), mode below mode, so that one compiled function serves
any number of modes. `at` holds, per entry and mode, the row of that array. Each pass keeps one
entry's products in the processor's registers and writes nothing of size N·F.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray

IndexArray = NDArray[np.signedinteger[Any]]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_SMALLEST = 1e-30


def compiled(function: _Function) -> _Function:
    """Compile on first use and keep the machine code on disk; NaN and infinity stay themselves."""
    jit: Any = numba.njit(
        cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"}
    )
    compiled: _Function = jit(function)
    return compiled


@compiled
def rates(at: IndexArray, factors: FloatArray, rank: int, out: FloatArray) -> None:
    """λ per unit of exposure of each entry (N, M), into `out`."""
    n_modes, n_columns = at.shape[1], factors.shape[1]
    product = np.empty(n_columns)
    for n in range(len(at)):
        product[:] = factors[at[n, 0]]
        for k in range(1, n_modes):
            row = factors[at[n, k]]
            for c in range(n_columns):
                product[c] *= row[c]
        for m in range(out.shape[1]):
            total = 0.0
            for f in range(rank):
                total += product[m * rank + f]
            out[n, m] = total


@compiled
def mode_sums(
    at: IndexArray,
    mode: int,
    first: int,
    factors: FloatArray,
    rank: int,
    counts: FloatArray,
    detected: FloatArray,
    mu: FloatArray,
    kinds: IndexArray,
    weighted: bool,
    up: FloatArray,
    down: FloatArray,
) -> None:
    """Add Σ y/λ·w and Σ pε·w over each slice of one mode to `up` and `down` (I_k, M·F).

    w is the product of the other modes' factors. If weighted, Σ v·y/λ·w and Σ v·p·w instead, with
    v = μ/(λp + μ), what a negative binomial count weighs beside a Poisson one. Entries are read in
    their own order: slice by slice, each would be fetched from afar.

    Parameters
    ----------
    at : ndarray, shape (N, K)
    mode, first : int
        k, and the row of `factors` where those of this mode begin.
    factors : ndarray, shape (ΣI_k, M·F)
    counts : ndarray, shape (N, 1)
    detected : ndarray, shape (N, M)
        p times exposure.
    mu : ndarray, shape (kinds, M)
    kinds : ndarray of int, shape (N,)
        Which μ is an entry's.
    """
    n_columns, n_members = factors.shape[1], detected.shape[1]
    product, part = np.empty(n_columns), np.empty(n_columns)
    more, less = np.empty(n_columns), np.empty(n_columns)
    begins_with = 1 if mode == 0 else 0
    for n in range(len(at)):
        other = at[n, begins_with]
        for c in range(n_columns):
            product[c] = factors[other, c]
        for k in range(begins_with + 1, at.shape[1]):
            if k != mode:
                other = at[n, k]
                for c in range(n_columns):
                    product[c] *= factors[other, c]
        own, kind = at[n, mode], kinds[n]
        for c in range(n_columns):
            part[c] = product[c] * factors[own, c]
        for m in range(n_members):
            begin = m * rank
            rate = _SMALLEST
            for f in range(begin, begin + rank):
                rate += part[f]
            y, d, own_mu = counts[n, 0], detected[n, m], mu[kind, m]
            weight = own_mu / (rate * d + own_mu)
            observed, expected = y / rate, d * (y + own_mu) / (rate * d + own_mu)
            if weighted:
                observed, expected = weight * observed, weight * d
            for f in range(begin, begin + rank):
                more[f], less[f] = observed * product[f], expected * product[f]
        row = own - first
        for c in range(n_columns):
            up[row, c] += more[c]
        for c in range(n_columns):
            down[row, c] += less[c]

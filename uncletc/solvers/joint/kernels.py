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
def slice_sums(
    order: IndexArray,
    starts: IndexArray,
    others: IndexArray,
    own: FloatArray,
    factors: FloatArray,
    rank: int,
    counts: FloatArray,
    detected: FloatArray,
    mu: FloatArray,
    kinds: IndexArray,
    up: FloatArray,
    down: FloatArray,
) -> None:
    """Σ y/λ·w and Σ pε·w over each slice of one mode, into `up` and `down` (I_k, M·F).

    Parameters
    ----------
    order : ndarray, shape (N,)
        Entries, slice by slice.
    starts : ndarray, shape (I_k + 1,)
        Where each slice begins in `order`.
    others : ndarray, shape (N, K - 1)
        Rows of the other modes, in that order.
    own : ndarray, shape (I_k, M·F)
    factors : ndarray, shape (ΣI_k, M·F)
    counts : ndarray, shape (N, 1)
    detected : ndarray, shape (N, M)
        p times exposure.
    mu : ndarray, shape (kinds, M)
    kinds : ndarray of int, shape (N,)
        Which μ is an entry's.
    """
    n_columns, n_members = own.shape[1], detected.shape[1]
    product, row = np.empty(n_columns), np.empty(n_columns)  # of their own: nothing else is there
    more, less = np.empty(n_columns), np.empty(n_columns)
    for r in range(len(starts) - 1):
        for c in range(n_columns):
            row[c], more[c], less[c] = own[r, c], 0.0, 0.0
        for i in range(starts[r], starts[r + 1]):
            n, first = order[i], others[i, 0]
            for c in range(n_columns):
                product[c] = factors[first, c]
            for k in range(1, others.shape[1]):
                other = others[i, k]
                for c in range(n_columns):
                    product[c] *= factors[other, c]
            kind = kinds[n]
            for m in range(n_members):
                begin = m * rank
                rate = _SMALLEST
                for f in range(begin, begin + rank):
                    rate += product[f] * row[f]
                y, d, own_mu = counts[n, 0], detected[n, m], mu[kind, m]
                ratio = y / rate
                share = d * (y + own_mu) / (rate * d + own_mu)
                for f in range(begin, begin + rank):
                    more[f] += ratio * product[f]
                    less[f] += share * product[f]
        for c in range(n_columns):
            up[r, c], down[r, c] = more[c], less[c]


@compiled
def sum_values(
    where: IndexArray,
    fields: FloatArray,
    codes: IndexArray,
    bins: FloatArray,
    slope: FloatArray,
    out: FloatArray,
) -> None:
    """Sums over each row of the fields at its levels and the bins at its codes, into `out` (N, C).

    Parameters
    ----------
    where : ndarray, shape (N, T)
    fields : ndarray, shape (levels, C)
    codes : ndarray, shape (A, J)
        Of the first A rows.
    bins : ndarray, shape (B, C)
    slope : ndarray, shape (A,)
        By which the sum of a row's bins is multiplied.
    """
    if out.shape[1] <= 2:  # one by one: as one number, which stays in a register
        for c in range(out.shape[1]):
            for n in range(len(where)):
                total = 0.0
                if n < len(codes):
                    for j in range(codes.shape[1]):
                        total += bins[codes[n, j], c]
                    total *= slope[n]
                for i in range(where.shape[1]):
                    total += fields[where[n, i], c]
                out[n, c] = total
        return
    row = np.empty(out.shape[1])
    for n in range(len(where)):
        for c in range(len(row)):
            row[c] = 0.0
        if n < len(codes):
            for j in range(codes.shape[1]):
                at = codes[n, j]
                for c in range(len(row)):
                    row[c] += bins[at, c]
            for c in range(len(row)):
                row[c] *= slope[n]
        for i in range(where.shape[1]):
            at = where[n, i]
            for c in range(len(row)):
                row[c] += fields[at, c]
        for c in range(len(row)):
            out[n, c] = row[c]


@compiled
def sum_rows(
    where: IndexArray,
    codes: IndexArray,
    slope: FloatArray,
    values: FloatArray,
    weights: FloatArray,
    fields: FloatArray,
    bins: FloatArray,
) -> None:
    """The transpose of :func:`sum_values`, of weights · values (N, C), added to both tables."""
    if values.shape[1] <= 2:
        for c in range(values.shape[1]):
            for n in range(len(where)):
                value = values[n, c] * weights[n]
                if n < len(codes):
                    sloped = value * slope[n]
                    for j in range(codes.shape[1]):
                        bins[codes[n, j], c] += sloped
                for i in range(where.shape[1]):
                    fields[where[n, i], c] += value
        return
    row = np.empty(values.shape[1])
    for n in range(len(where)):
        for c in range(len(row)):
            row[c] = values[n, c] * weights[n]
        for i in range(where.shape[1]):
            at = where[n, i]
            for c in range(len(row)):
                fields[at, c] += row[c]
        if n < len(codes):
            for c in range(len(row)):
                row[c] *= slope[n]
            for j in range(codes.shape[1]):
                at = codes[n, j]
                for c in range(len(row)):
                    bins[at, c] += row[c]

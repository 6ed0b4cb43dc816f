"""Sums of what each row looks up in a table, and their transpose.

Levels that finer ones determine, as places determine states, are first added to these, so that
rows look up the finest alone.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray
from uncletc.solvers.joint.kernels import IndexArray, compiled

NO_SLOPE = np.empty(0)


class Lookups(NamedTuple):
    """What rows look up in tables of numbers.

    Attributes
    ----------
    at : ndarray of int, shape (L,)
        Positions in a table of the levels of all columns, the coarsest first.
    bounds : ndarray of int, shape (L + 1,)
    coarse : ndarray of int, shape (E,)
        Levels that are added to each level, between its bounds.
    rows : ndarray of int, shape (N, T)
        Levels whose sum a row has then.
    sloped : ndarray of int, shape (A, J)
        Other positions, of which the first A rows have the sum times a slope.
    """

    at: IndexArray
    bounds: IndexArray
    coarse: IndexArray
    rows: IndexArray
    sloped: IndexArray

    @classmethod
    def of(cls, columns: Sequence[IndexArray], sloped: IndexArray) -> Self:
        """Arrange columns (N,) of positions, none of them in `sloped`."""
        found = sorted((_levels(column) for column in columns), key=lambda own: len(own[1]))
        start = np.cumsum([0, *(len(first) for _, first, _ in found)])
        rows, added = [], [np.empty((len(first), 0), dtype=int) for _, first, _ in found]
        for i, (codes, _, _) in enumerate(found):
            for j in range(i + 1, len(found)):  # the coarsest of those that determine it
                finer, firsts, _ = found[j]
                below = codes[firsts]
                if (below[finer] == codes).all():
                    added[j] = np.column_stack([added[j], start[i] + below])
                    break
            else:
                rows.append(start[i] + codes)
        return cls(
            _unsigned(np.concatenate([column[first] for _, first, column in found])),
            _unsigned(np.cumsum([0, *np.concatenate([np.full(*own.shape) for own in added])])),
            _unsigned(np.concatenate([own.ravel() for own in added])),
            _unsigned(np.stack(rows, axis=1)),
            _unsigned(sloped),
        )

    @classmethod
    def plain(cls, rows: IndexArray, n_positions: int) -> Self:
        """Keep positions (N, T) as they are, so that many rows need no more memory."""
        each, none = _unsigned(np.arange(n_positions)), _unsigned(np.zeros((0, 0)))
        return cls(each, _unsigned(np.zeros(n_positions + 1)), none.ravel(), _unsigned(rows), none)

    def sums(self, tables: FloatArray, slope: FloatArray = NO_SLOPE) -> FloatArray:
        """Sums over what rows look up in each of some tables (C, P); (C, N)."""
        out = np.empty((len(tables), len(self.rows)))
        _sums(self, slope, tables, out)
        return out

    def spread(
        self, values: FloatArray, n_positions: int, slope: FloatArray = NO_SLOPE
    ) -> FloatArray:
        """The transpose of :meth:`sums`, of values (C, N); (C, P)."""
        tables = np.zeros((len(values), n_positions))
        _spread(self, slope, np.ascontiguousarray(values), tables)
        return tables


def _unsigned(values: NDArray[Any]) -> IndexArray:
    """Positions that count from the start alone, so that none is checked."""
    return np.ascontiguousarray(values, dtype=np.uint32)


def _levels(column: IndexArray) -> tuple[IntArray, IntArray, IndexArray]:
    """The level of each row among those that occur, a row of each, and the column itself."""
    codes, levels = pd.factorize(column)
    first = np.empty(len(levels), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, first, column


@compiled
def _sums(lookups: Lookups, slope: FloatArray, tables: FloatArray, out: FloatArray) -> None:
    at, bounds, coarse, rows, sloped = lookups
    own = np.empty(len(at))
    for c in range(len(tables)):
        table = tables[c]
        for i in range(len(at)):
            total = table[at[i]]
            for q in range(bounds[i], bounds[i + 1]):
                total += own[coarse[q]]
            own[i] = total
        for n in range(len(rows)):
            total = 0.0
            if n < len(sloped):
                for j in range(sloped.shape[1]):
                    total += table[sloped[n, j]]
                total *= slope[n]
            for i in range(rows.shape[1]):
                total += own[rows[n, i]]
            out[c, n] = total


@compiled
def _spread(lookups: Lookups, slope: FloatArray, values: FloatArray, tables: FloatArray) -> None:
    at, bounds, coarse, rows, sloped = lookups
    for c in range(len(tables)):
        table, own = tables[c], np.zeros(len(at))
        for n in range(len(rows)):
            value = values[c, n]
            for i in range(rows.shape[1]):
                own[rows[n, i]] += value
            if n < len(sloped):
                for j in range(sloped.shape[1]):
                    table[sloped[n, j]] += value * slope[n]
        for i in range(len(at) - 1, -1, -1):
            for q in range(bounds[i], bounds[i + 1]):
                own[coarse[q]] += own[i]
            table[at[i]] += own[i]

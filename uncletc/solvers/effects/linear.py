"""What a step of the effects moves beside them, and what each row looks up of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray
from uncletc.result.posterior import Float32Array
from uncletc.solvers.joint.kernels import IndexArray, sum_rows, sum_values


@dataclass(frozen=True, eq=False)
class Linear:
    """Coefficients that move in the same step, of what else log expected counts are made of.

    Attributes
    ----------
    bins, of_bins : callable
        From changes of the coefficients (Q, C) to those of the logarithm of expected counts in
        each bin (B, C), a column each, and the transpose.
    sloped : ndarray, shape (A, J)
        Bins of the first A rows whose sum `slope` multiplies.
    slope : ndarray, shape (A,)
    codes : ndarray, shape (N, J')
        Further bins of each row.
    n_bins : int
        B.
    gap, precision : ndarray, shape (Q,)
        Of the coefficients from the centre of their normal prior, and its precisions.
    lowest : ndarray, shape (Q,)
        Least changes allowed; -inf where there is none.
    design : callable
        From numbers of rows (R,) to the derivatives of their logarithms (R, Q).
    moves : ndarray of bool, shape (Q,)
        Which may change.
    """

    bins: Callable[[FloatArray], FloatArray]
    of_bins: Callable[[FloatArray], FloatArray]
    sloped: IndexArray
    slope: FloatArray
    codes: IndexArray
    n_bins: int
    gap: FloatArray
    precision: FloatArray
    lowest: FloatArray
    design: Callable[[IntArray], Float32Array]
    moves: NDArray[np.bool_]


def no_coefficients(n_rows: int) -> Linear:
    """Return none, beside the random effects of so many rows."""
    nothing, none = np.empty(0), np.empty(0, dtype=bool)
    return Linear(
        lambda change: np.zeros((0, change.shape[1])),
        lambda sums: np.zeros((0, sums.shape[1])),
        np.zeros((0, 0), dtype=np.int32),
        nothing,
        np.zeros((n_rows, 0), dtype=np.int32),
        0,
        nothing,
        nothing,
        nothing,
        lambda rows: np.zeros((len(rows), 0), dtype=np.float32),
        none,
    )


class Rows:
    """Sums of what each row looks up in one table of numbers by level and by bin.

    Levels that finer ones determine, as places determine states, are first added to these, so that
    rows look up the finest alone.

    Parameters
    ----------
    columns : sequence of ndarray of int, shape (N,)
        What each row looks up: positions in the table.
    sloped : ndarray of int, shape (A, J)
        Positions of which the first A rows have the sum times a slope.
    """

    def __init__(self, columns: Sequence[IndexArray], sloped: IndexArray) -> None:
        found = sorted((_levels(column) for column in columns), key=lambda own: -len(own[1]))
        finest: list[tuple[IntArray, IntArray, list[IntArray]]] = []
        for codes, first, column in found:
            # The coarsest of those that determine it.
            for own, firsts, added in reversed(finest):
                below = column[firsts]
                if (below[own] == column).all():
                    added.append(below)
                    break
            else:
                finest.append((codes, first, [column[first]]))
        self._members = [np.stack(added, axis=1).astype(np.int32) for *_, added in finest]
        self._bounds = np.cumsum([0, *map(len, self._members)])
        where = [own + start for (own, *_), start in zip(finest, self._bounds, strict=False)]
        self._where = np.stack(where, axis=1).astype(np.int32)
        self._sloped = sloped.astype(np.int32)
        self._none = np.zeros((0, 0), dtype=np.int32)

    def forward(self, table: FloatArray, slope: FloatArray) -> FloatArray:
        """Sums over what rows look up in columns of a table (P, C); (N, C)."""
        own = np.empty((self._bounds[-1], table.shape[1]))
        for members, part in zip(self._members, self._parts(), strict=True):
            sum_values(members, table, self._none, table, slope, own[part])
        out = np.empty((len(self._where), table.shape[1]))
        sum_values(self._where, own, self._sloped, table, slope, out)
        return out

    def back(
        self, values: FloatArray, weights: FloatArray, slope: FloatArray, table: FloatArray
    ) -> None:
        """The transpose, of weights (N,) times columns of values (N, C), added to the table."""
        own = np.zeros((self._bounds[-1], table.shape[1]))
        sum_rows(self._where, self._sloped, slope, values, weights, own, table)
        one = np.ones(len(own))
        for members, part in zip(self._members, self._parts(), strict=True):
            sum_rows(members, self._none, slope, own[part], one[part], table, table)

    def _parts(self) -> list[slice]:
        return [slice(first, last) for first, last in pairwise(self._bounds)]


def _levels(column: IndexArray) -> tuple[IntArray, IntArray, IndexArray]:
    """The level of each row among those that occur, a row of each, and the column itself."""
    codes, levels = pd.factorize(column)
    first = np.empty(len(levels), dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, first, column

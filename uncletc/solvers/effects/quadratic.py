"""The quadratic approximation of a step: effects of one member, and coefficients beside them.

The whole matrix is never formed: systems are solved by conjugate gradients, several right sides at
once, preconditioned by exact blocks; bounds by an active set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray
from uncletc.result.posterior import Float32Array
from uncletc.solvers.joint.kernels import IndexArray, sum_rows, sum_values

# Iterations of conjugate gradients at most, and their relative error: of draws and probes, and of
# steps, which later ones correct.
_STEPS, _PRECISION, _PRECISION_OF_STEP = 25, 0.03, 0.1
_ACTIVE_SETS = 5  # tries to find which coefficients are at their bound; one or two are usual


class Effects(Protocol):
    """Effects of members, by the standard normal values t that they are made of."""

    def rows(self, linear: Linear) -> Rows:
        """Return what each row looks up of the effects and coefficients."""

    n_levels: int  # of which the last, beyond them, is of none

    def fields(self, m: int, t: FloatArray) -> FloatArray:
        """Effects that columns of t (n, C) stand for, at all levels; (levels, C)."""

    def of_fields(self, m: int, sums: FloatArray) -> FloatArray:
        """The transpose of :meth:`fields`, of sums over the rows of each level (levels, C)."""

    def divider(
        self, linear: Linear, free: NDArray[np.bool_]
    ) -> Callable[[FloatArray], FloatArray]:
        """Return what divides columns (n + Q, C) by about the second derivatives."""

    def values(self, m: int) -> FloatArray:
        """t of member m."""


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


class System:
    """Second derivatives of a step: effects of one member, and coefficients beside them."""

    def __init__(self, effects: Effects, m: int, weights: FloatArray, linear: Linear) -> None:
        self._effects, self._m, self._weights, self._linear = effects, m, weights, linear
        self._rows = effects.rows(linear)
        self._sum = max(float(weights.sum()), 1e-30)
        self._own = len(effects.values(m))
        self.size = self._own + len(linear.gap)
        own = np.ones(self._own)
        self._prior = np.concatenate([own, linear.precision])
        self._lowest = np.concatenate([-np.inf * own, linear.lowest])
        self._moves = np.concatenate([own > 0, linear.moves])
        self._leave(self._lowest < 0)

    def _leave(self, free: NDArray[np.bool_]) -> None:
        """Let these alone change, of those that may."""
        self.free = free & self._moves
        self._roughly = self._effects.divider(self._linear, self.free)

    def forward(self, x: FloatArray) -> FloatArray:
        """Changes of the logarithms of expected counts, for columns of x (n, C); (N, C)."""
        fields = self._effects.fields(self._m, x[: self._own])
        table = np.concatenate([fields, self._linear.bins(x[self._own :])])
        return self._rows.forward(table, self._linear.slope)

    def back(self, values: FloatArray) -> FloatArray:
        """The transpose of :meth:`forward`, of columns of values (N, C)."""
        return self._back(values, np.ones(len(values)))

    def _back(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        n_levels = self._effects.n_levels + 1
        table = np.zeros((n_levels + self._linear.n_bins, values.shape[1]))
        self._rows.back(values, weights, self._linear.slope, table)
        of_effects = self._effects.of_fields(self._m, table[:n_levels])
        return np.concatenate([of_effects, self._linear.of_bins(table[n_levels:])])

    def pull(self) -> FloatArray:
        """Slope of the prior."""
        linear = self._linear
        return np.concatenate([self._effects.values(self._m), linear.precision * linear.gap])

    def within_bounds(
        self, uphill: FloatArray, bound: NDArray[np.bool_] | None
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Highest point of the quadratic approximation that no bound forbids; (n,).

        Coefficients that would cross their bound are set to it, and those leave it that the slope
        pulls away from it, until neither happens (a primal-dual active set). `bound` are those that
        stayed there in the last step, None without one; the new ones are returned, too.
        """
        active = (self._lowest >= 0) & self._moves & (uphill <= 0 if bound is None else bound)
        x, rest = np.zeros((len(uphill), 1)), uphill[:, None].copy()
        for _ in range(_ACTIVE_SETS):
            self._leave(~active)
            self._descend(x, rest, uphill[:, None], _PRECISION_OF_STEP)
            changed = self._moves & np.where(active, rest[:, 0] <= 0, x[:, 0] < self._lowest)
            if (changed == active).all():
                break
            moved = np.where(changed, self._lowest - x[:, 0], 0.0)[:, None]
            if moved.any():
                x += moved
                rest -= self._times(moved)
            active = changed
        return np.where(self._moves, np.maximum(x[:, 0], self._lowest), 0.0), active

    def solve(
        self,
        right: FloatArray,
        precision: float = _PRECISION,
        start: FloatArray | None = None,
    ) -> FloatArray:
        """Solve for what may change, the level of all counts left free; the rest is 0.

        Parameters
        ----------
        right : ndarray, shape (n, C)
        precision : float
            Error, relative to a start at 0.
        start : ndarray, shape (n, C), optional
            None: 0.

        Returns
        -------
        ndarray, shape (n, C)
        """
        rest, x = right.copy(), np.zeros_like(right)
        if start is not None and start.any():
            x = np.where(self.free[:, None], start, 0.0)
            rest -= self._times(x)
        self._descend(x, rest, right, precision)
        return x

    def _descend(
        self, x: FloatArray, rest: FloatArray, right: FloatArray, precision: float
    ) -> None:
        """Solve by conjugate gradients for what is free, from x; `rest` is right - H·x, of all."""
        scaled = self._roughly(right)  # 0 for what is not free
        enough = precision**2 * np.einsum("nc,nc->c", right, scaled)
        if x.any():
            scaled = self._roughly(rest)
        size = np.einsum("nc,nc->c", rest, scaled)
        direction = scaled
        for _ in range(_STEPS):
            if not (size > enough).any():
                break
            product = self._times(direction)
            curved = np.einsum("nc,nc->c", direction, product)
            length = np.where(size > enough, size / np.maximum(curved, 1e-300), 0.0)
            x += length * direction
            rest -= length * product
            scaled = self._roughly(rest)
            before, size = size, np.einsum("nc,nc->c", rest, scaled)
            direction = (
                scaled + np.where(length > 0, size / np.maximum(before, 1e-300), 0.0) * direction
            )

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw from the normal distribution that has this matrix for its precision; (n, size)."""
        weights = self._weights[:, None]
        noise = np.sqrt(weights) * rng.standard_normal((len(weights), size))
        noise -= weights * (noise.sum(axis=0) / self._sum)
        prior = rng.standard_normal((self.size, size)) * np.sqrt(self._prior)[:, None]
        return self.solve(self.back(noise) + prior)

    def _times(self, x: FloatArray) -> FloatArray:
        moved = self.forward(x)
        moved -= (self._weights @ moved) / self._sum
        return self._prior[:, None] * x + self._back(moved, self._weights)

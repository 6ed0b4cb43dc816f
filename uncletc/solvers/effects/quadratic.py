"""The quadratic approximation of a step: effects of one member, and coefficients beside them.

The whole matrix is never formed: systems are solved by conjugate gradients, several right sides at
once, preconditioned by exact blocks; bounds by an active set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
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

    where: IndexArray  # levels of each row; (N, T)
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
    codes : ndarray, shape (N, J)
        Bins of each row.
    slope : ndarray, shape (N,)
        By which the first `n_sloped` bins of each row are multiplied.
    n_bins, n_sloped : int
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
    codes: IndexArray
    slope: FloatArray
    n_bins: int
    n_sloped: int
    gap: FloatArray
    precision: FloatArray
    lowest: FloatArray
    design: Callable[[IntArray], Float32Array]
    moves: NDArray[np.bool_]


def no_coefficients(n_rows: int) -> Linear:
    """Return none, beside the random effects of so many rows."""
    nothing, none = np.empty(0), np.empty(0, dtype=bool)
    return Linear(
        lambda change: np.zeros((1, change.shape[1])),
        lambda sums: np.zeros((0, sums.shape[1])),
        np.zeros((n_rows, 0), dtype=np.int32),
        np.zeros(n_rows),
        1,
        0,
        nothing,
        nothing,
        nothing,
        lambda rows: np.zeros((len(rows), 0), dtype=np.float32),
        none,
    )


class System:
    """Second derivatives of a step: effects of one member, and coefficients beside them."""

    def __init__(self, effects: Effects, m: int, weights: FloatArray, linear: Linear) -> None:
        self._effects, self._m, self._weights, self._linear = effects, m, weights, linear
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
        linear, out = self._linear, np.empty((len(self._weights), x.shape[1]))
        fields, bins = self._effects.fields(self._m, x[: self._own]), linear.bins(x[self._own :])
        sum_values(
            *(self._effects.where, fields, linear.codes, bins, linear.n_sloped, linear.slope, out)
        )
        return out

    def back(self, values: FloatArray) -> FloatArray:
        """The transpose of :meth:`forward`, of columns of values (N, C)."""
        return self._back(values, np.ones(len(values)), np.zeros(values.shape[1]))

    def _back(self, values: FloatArray, weights: FloatArray, level: FloatArray) -> FloatArray:
        linear, n_columns = self._linear, values.shape[1]
        fields = np.zeros((self._effects.n_levels + 1, n_columns))
        bins = np.zeros((linear.n_bins, n_columns))
        sum_rows(
            *(self._effects.where, linear.codes, linear.n_sloped, linear.slope),
            *(values, weights, level, fields, bins),
        )
        return np.concatenate([self._effects.of_fields(self._m, fields), linear.of_bins(bins)])

    def pull(self) -> FloatArray:
        """Slope of the prior."""
        linear = self._linear
        return np.concatenate([self._effects.values(self._m), linear.precision * linear.gap])

    def within_bounds(self, uphill: FloatArray) -> FloatArray:
        """Highest point of the quadratic approximation that no bound forbids; (n,).

        Coefficients that would cross their bound are set to it, and those leave it that the slope
        pulls away from it, until neither happens (a primal-dual active set).
        """
        active = (self._lowest >= 0) & (uphill <= 0) & self._moves
        x: FloatArray = np.zeros_like(uphill)
        for _ in range(_ACTIVE_SETS):
            self._leave(~active)
            x = np.where(active, self._lowest, x)
            x = self.solve(uphill[:, None], _PRECISION_OF_STEP, start=x[:, None])[:, 0]
            rest = uphill - self._times(x[:, None])[:, 0] if active.any() else uphill
            changed = self._moves & np.where(active, rest <= 0, x < self._lowest)
            if (changed == active).all():
                break
            active = changed
        return np.where(self._moves, np.maximum(x, self._lowest), 0.0)

    def solve(
        self,
        right: FloatArray,
        precision: float = _PRECISION,
        start: FloatArray | None = None,
    ) -> FloatArray:
        """Solve for what may change, by conjugate gradients, the level of all counts left free.

        Parameters
        ----------
        right : ndarray, shape (n, C)
        precision : float
            Error, relative to a start at 0.
        start : ndarray, shape (n, C), optional
            What may not change stays as it is here. None: 0.

        Returns
        -------
        ndarray, shape (n, C)
        """
        free = self.free[:, None]
        rest = np.where(free, right, 0.0)
        scaled = self._roughly(rest)
        size = np.einsum("nc,nc->c", rest, scaled)
        enough = precision**2 * size
        if start is None or not start.any():
            x = np.zeros_like(right)
        else:
            x = start.copy()
            rest -= np.where(free, self._times(x), 0.0)
            scaled = self._roughly(rest)
            size = np.einsum("nc,nc->c", rest, scaled)
        direction = scaled
        for _ in range(_STEPS):
            if not (size > enough).any():
                break
            product = np.where(free, self._times(direction), 0.0)
            curved = np.einsum("nc,nc->c", direction, product)
            length = np.where(size > enough, size / np.maximum(curved, 1e-300), 0.0)
            x += length * direction
            rest -= length * product
            scaled = self._roughly(rest)
            before, size = size, np.einsum("nc,nc->c", rest, scaled)
            direction = (
                scaled + np.where(length > 0, size / np.maximum(before, 1e-300), 0.0) * direction
            )
        return x

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw from the normal distribution that has this matrix for its precision; (n, size)."""
        weights = self._weights[:, None]
        noise = np.sqrt(weights) * rng.standard_normal((len(weights), size))
        noise -= weights * (noise.sum(axis=0) / self._sum)
        prior = rng.standard_normal((self.size, size)) * np.sqrt(self._prior)[:, None]
        return self.solve(self.back(noise) + prior)

    def _times(self, x: FloatArray) -> FloatArray:
        moved = self.forward(x)
        level = (self._weights @ moved) / self._sum
        return self._prior[:, None] * x + self._back(moved, self._weights, level)

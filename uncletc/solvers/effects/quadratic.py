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

# Iterations of conjugate gradients at most, and their relative error: of draws and probes, and of
# steps, which later ones correct.
_STEPS, _PRECISION, _PRECISION_OF_STEP = 25, 0.03, 0.1
_ACTIVE_SETS = 5  # tries to find which coefficients are at their bound; one or two are usual


class Effects(Protocol):
    """Effects of members, by the standard normal values t that they are made of."""

    def forward(self, m: int, t: FloatArray) -> FloatArray:
        """Sum of the effects that columns of t (n, C) stand for, at the rows; (N, C)."""

    def back(self, m: int, values: FloatArray) -> FloatArray:
        """The transpose of :meth:`forward`, of columns of values (N, C)."""

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
    forward, back : callable
        From changes of the coefficients (Q, C) to those of the logarithm of expected counts
        (N, C), a column each, and the transpose.
    gap, precision : ndarray, shape (Q,)
        Of the coefficients from the centre of their normal prior, and its precisions.
    lowest : ndarray, shape (Q,)
        Least changes allowed; -inf where there is none.
    design : callable
        From numbers of rows (R,) to the derivatives of their logarithms (R, Q).
    moves : ndarray of bool, shape (Q,)
        Which may change.
    """

    forward: Callable[[FloatArray], FloatArray]
    back: Callable[[FloatArray], FloatArray]
    gap: FloatArray
    precision: FloatArray
    lowest: FloatArray
    design: Callable[[IntArray], Float32Array]
    moves: NDArray[np.bool_]


def no_coefficients(n_rows: int) -> Linear:
    """Return none, beside the random effects of so many rows."""
    nothing, none = np.empty(0), np.empty(0, dtype=bool)
    return Linear(
        lambda change: np.zeros((n_rows, change.shape[1])),
        lambda values: np.zeros((0, values.shape[1])),
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
        own = self._effects.forward(self._m, x[: self._own])
        return own + self._linear.forward(x[self._own :])

    def back(self, values: FloatArray) -> FloatArray:
        """The transpose of :meth:`forward`."""
        return np.concatenate([self._effects.back(self._m, values), self._linear.back(values)])

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
        moved -= (self._weights @ moved) / self._sum
        moved *= self._weights[:, None]
        return self._prior[:, None] * x + self.back(moved)

"""The quadratic approximation of a step: effects of one member, and coefficients beside them.

No matrix is formed; its systems are solved by conjugate gradients, and bounds by an active set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray

_STEPS, _PRECISION = 25, 0.03  # of conjugate gradients
_ACTIVE_SETS = 5  # tries to find which coefficients are at their bound; one or two are usual


class Effects(Protocol):
    """Effects of members, by the standard normal values t that they are made of."""

    def forward(self, m: int, t: FloatArray) -> FloatArray:
        """Sum of the effects of member m that t stands for, at the rows; (N,)."""

    def back(self, m: int, values: FloatArray) -> FloatArray:
        """The transpose of :meth:`forward`, of values (N,)."""

    def diagonal(self, m: int, weights: FloatArray) -> FloatArray:
        """Diagonal of 1 + Aᵀ·diag(weights)·A, A being :meth:`forward`."""

    def values(self, m: int) -> FloatArray:
        """t of member m."""


@dataclass(frozen=True, eq=False)
class Linear:
    """Coefficients that move in the same step, of what else log expected counts are made of.

    Attributes
    ----------
    forward, back : callable
        From changes of the coefficients (Q,) to those of the logarithm of expected counts (N,),
        and the transpose.
    gap, precision : ndarray, shape (Q,)
        Of the coefficients from the centre of their normal prior, and its precisions.
    lowest : ndarray, shape (Q,)
        Least changes allowed; -inf where there is none.
    solver : callable
        From which coefficients may change (Q,) to a function that divides by the second
        derivatives of these alone, prior included, and is 0 elsewhere.
    """

    forward: Callable[[FloatArray], FloatArray]
    back: Callable[[FloatArray], FloatArray]
    gap: FloatArray
    precision: FloatArray
    lowest: FloatArray
    solver: Callable[[NDArray[np.bool_]], Callable[[FloatArray], FloatArray]]

    def after(self, first: int) -> Linear:
        """What is needed of the coefficients from `first` on alone; those before do not move."""
        none = np.zeros(first)

        def forward(change: FloatArray) -> FloatArray:
            return self.forward(np.concatenate([none, change]))

        def back(values: FloatArray) -> FloatArray:
            return self.back(values)[first:]

        def solver(free: NDArray[np.bool_]) -> Callable[[FloatArray], FloatArray]:
            solve = self.solver(np.concatenate([none.astype(bool), free]))
            return lambda right: solve(np.concatenate([none, right]))[first:]

        gap, precision, lowest = (x[first:] for x in (self.gap, self.precision, self.lowest))
        return Linear(forward, back, gap, precision, lowest, solver)


class System:
    """Second derivatives of a step: effects of one member, and coefficients beside them."""

    def __init__(
        self, effects: Effects, m: int, weights: FloatArray, linear: Linear | None
    ) -> None:
        self._effects, self._m, self._weights, self._linear = effects, m, weights, linear
        self._sum = max(float(weights.sum()), 1e-30)
        self._diagonal = effects.diagonal(m, weights)
        self._own = len(self._diagonal)
        self.size = self._own + (0 if linear is None else len(linear.gap))
        self._lowest = np.full(self.size, -np.inf)
        if linear is not None:
            self._lowest[self._own :] = linear.lowest
        self._leave(self._lowest < 0)

    def _leave(self, free: NDArray[np.bool_]) -> None:
        """Let these alone change."""
        self._free = free
        if self._linear is not None:
            self._divided = self._linear.solver(free[self._own :])

    def forward(self, x: FloatArray) -> FloatArray:
        """Changes of the logarithms of expected counts; (N,)."""
        moved = self._effects.forward(self._m, x[: self._own])
        if self._linear is not None:
            moved = moved + self._linear.forward(x[self._own :])
        return moved

    def back(self, values: FloatArray) -> FloatArray:
        """The transpose of :meth:`forward`."""
        own = self._effects.back(self._m, values)
        if self._linear is None:
            return own
        return np.concatenate([own, self._linear.back(values)])

    def pull(self) -> FloatArray:
        """Slope of the prior."""
        own = self._effects.values(self._m)
        if self._linear is None:
            return own
        return np.concatenate([own, self._linear.precision * self._linear.gap])

    def within_bounds(self, uphill: FloatArray) -> FloatArray:
        """Highest point of the quadratic approximation that no bound forbids.

        Coefficients that would cross their bound are set to it, and those leave it that the slope
        pulls away from it, until neither happens (a primal-dual active set).
        """
        active = (self._lowest >= 0) & (uphill <= 0)
        x: FloatArray = np.zeros_like(uphill)
        for _ in range(_ACTIVE_SETS):
            self._leave(~active)
            x = np.where(active, self._lowest, x)
            rest = uphill - self._times(x) if x.any() else uphill
            x = x + self.solve(rest)
            rest = uphill - self._times(x) if active.any() else uphill
            changed = np.where(active, rest <= 0, x < self._lowest)
            if (changed == active).all():
                break
            active = changed
        return np.asarray(np.maximum(x, self._lowest))

    def solve(self, right: FloatArray) -> FloatArray:
        """Solve for what may change, by conjugate gradients; 0 elsewhere.

        The level of all counts is free, and profiled out.
        """
        x, rest = np.zeros_like(right), np.where(self._free, right, 0.0)
        scaled = self._roughly(rest)
        direction, size = scaled, float(rest @ scaled)
        enough = _PRECISION**2 * size
        for _ in range(_STEPS):
            if not size > enough:
                break
            product = np.where(self._free, self._times(direction), 0.0)
            length = size / float(direction @ product)
            x += length * direction
            rest -= length * product
            scaled = self._roughly(rest)
            before, size = size, float(rest @ scaled)
            direction = scaled + size / before * direction
        return x

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Draw from the normal distribution that has this matrix for its precision."""
        noise = np.sqrt(self._weights) * rng.standard_normal(len(self._weights))
        noise -= self._weights * float(noise.sum()) / self._sum
        prior = rng.standard_normal(self.size)
        if self._linear is not None:
            prior[self._own :] *= np.sqrt(self._linear.precision)
        return self.solve(self.back(noise) + prior)

    def _times(self, x: FloatArray) -> FloatArray:
        moved = self.forward(x)
        moved = self._weights * (moved - float(self._weights @ moved) / self._sum)
        prior = x
        if self._linear is not None:
            prior = np.concatenate([x[: self._own], self._linear.precision * x[self._own :]])
        return prior + self.back(moved)

    def _roughly(self, right: FloatArray) -> FloatArray:
        own = right[: self._own] / self._diagonal
        if self._linear is None:
            return own
        return np.concatenate([own, self._divided(right[self._own :])])

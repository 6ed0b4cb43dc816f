"""Members, several fits of the same data, and the intervals between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy.special import ndtri

from uncletc.common.validation import FloatArray, IntArray, check_level
from uncletc.model.cp import products, rate_tensor
from uncletc.model.detection import DetectionNetwork, JointDetection
from uncletc.model.random_effects import ModeEffects
from uncletc.model.rates import RateEffects

Network = DetectionNetwork | JointDetection
_ROWS = 65_536  # entries predicted at once
_LEAST = 1e-12  # of λ and p, for logarithms
_FARTHEST = 700.0  # whose exponential is finite


@dataclass(frozen=True, eq=False)
class Member:
    """One of several fits of the same data: its factors and its network.

    Its λ is the product of its own factors, and its p is its own network's.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (I_k, F)
    network : DetectionNetwork or JointDetection, optional
    effects : RateEffects, optional
        Of attributes on λ.
    mode_effects : ModeEffects, optional
        Of modes and groups, on λ, on p and on reporting.

    Examples
    --------
    >>> from uncletc import fit, simulate
    >>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
    >>> first = fit(y, rank=2).members[0]
    >>> [factor.shape for factor in first.factors]
    [(12, 2), (12, 2), (12, 2)]
    """

    factors: tuple[FloatArray, ...]
    network: Network | None
    effects: RateEffects | None = None
    mode_effects: ModeEffects | None = None

    def rate(self, indices: IntArray) -> FloatArray:
        """λ per unit of exposure of valid entries (n, K); (n,)."""
        parts = np.array_split(indices, max(len(indices) // _ROWS, 1))
        return np.concatenate([self._rate(part) for part in parts])

    def rate_tensor(self) -> FloatArray:
        """λ per unit of exposure of every entry; (I_1, …, I_K)."""
        dense = rate_tensor(self.factors)
        for effects in self._on_rate:
            every = np.indices(dense.shape).reshape(dense.ndim, -1).T
            dense *= effects.factor(every).reshape(dense.shape)
        return dense

    def reporting(self, indices: IntArray, process: int = 0) -> FloatArray:
        """What modes and groups do to the reporting of valid entries (n, K), 1 by default; (n,)."""
        effects = self.mode_effects
        return np.ones(len(indices)) if effects is None else effects.reporting(indices, process)

    @property
    def _on_rate(self) -> list[RateEffects | ModeEffects]:
        """Effects of attributes and of modes, as far as there are any."""
        return [each for each in (self.effects, self.mode_effects) if each is not None]

    def _rate(self, indices: IntArray) -> FloatArray:
        rate: FloatArray = products(self.factors, indices).sum(axis=1)
        for effects in self._on_rate:
            rate *= effects.factor(indices)
        return rate

    def detection(self, attributes: FloatArray, indices: IntArray | None = None) -> FloatArray:
        """p of valid attributes (n, D); (n,).

        With valid entries (n, K) effects of modes on detection multiply it.
        """
        p, g = np.ones(len(attributes)), self.network
        if g is not None:
            parts = np.array_split(attributes, max(len(attributes) // _ROWS, 1))
            p = np.concatenate([g.probability(torch.tensor(z.copy())).numpy() for z in parts])
        if indices is None or self.mode_effects is None:
            return p
        return p * self.mode_effects.detection(indices)


class Shifts(NamedTuple):
    """Shifts of log p in each member (M,) and draw (R,) that make it relative to the median p.

    What deviations are left is multiplied by `widening`.
    """

    members: FloatArray
    drawn: FloatArray
    widening: float = 1.0

    @property
    def of_rate(self) -> Shifts:
        """Those of λ from those of p."""
        return Shifts(-self.members, -self.drawn)


@dataclass(frozen=True, eq=False)
class Interval:
    """An estimate per entry with an interval; arrays (n,).

    Attributes
    ----------
    estimate, low, high : ndarray, shape (n,)
    level : float
        Nominal coverage: how often such an interval should hold the true value.

    Examples
    --------
    >>> from uncletc import fit, simulate
    >>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
    >>> lambda_ = fit(y, rank=2).rate([[0, 0, 0], [9, 9, 9]], spread=True)
    >>> lambda_.level, bool((lambda_.low < lambda_.estimate).all())
    (0.9, True)
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    level: float


def combined(values: Sequence[FloatArray]) -> FloatArray:
    """Geometric mean of the members' λ or p, one array each; itself with one member.

    Members differ by factors, and two optima weigh the same in it whichever is the larger.
    """
    if len(values) == 1:
        return np.asarray(values[0])
    mean = sum(np.log(np.maximum(value, _LEAST)) for value in values) / len(values)
    return np.asarray(np.exp(mean))


def interval(
    centre: FloatArray,
    deviation: FloatArray,
    level: float,
    most: float = math.inf,
    *,
    of_counts: bool = False,
) -> Interval:
    """Interval about a centre (n,) from the standard deviation of its logarithm (n,).

    The centre times or divided by exp(z·deviation), z the normal quantile; it ends at `most`, or
    at the centre where that is larger. Of λ and λp, `of_counts`, the upper end is that of a gamma
    variable with the deviation as coefficient of variation, by the approximation of Wilson and
    Hilferty: counts rule out what is too large sooner than what is too small. From 1.5 z on, where
    that falls again, it grows with the variance.
    """
    check_level(level)
    z = float(ndtri((1 + level) / 2))
    ratio = above = np.exp(np.minimum(z * deviation, _FARTHEST))
    if of_counts:
        within = np.minimum(deviation, 1.5 * z)
        beyond = np.maximum(deviation / (1.5 * z), 1.0)
        above = np.minimum(ratio, (1 + z * within / 3 - within**2 / 9) ** 3 * beyond**2)
    high = np.minimum(centre * above, np.maximum(centre, most))
    return Interval(estimate=centre, low=centre / ratio, high=high, level=level)


def between(values: Sequence[FloatArray]) -> FloatArray:
    """Variance of the logarithm of λ or p between members, one array each; 0 with one member."""
    if len(values) == 1:
        return np.zeros(len(values[0]))
    return np.asarray(np.log(np.maximum(values, _LEAST)).var(axis=0, ddof=1))

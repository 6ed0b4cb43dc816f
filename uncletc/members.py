"""Members, several fits of the same data, and the intervals between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import t as student

from uncletc.cp import products
from uncletc.detection import DetectionNetwork, JointDetection
from uncletc.validation import FloatArray, IntArray

Network = DetectionNetwork | JointDetection
_ROWS = 65_536  # entries predicted at once
_ALLOWANCE = 1.35  # factor of intervals, for the bias of smoothing that all members share
_LEAST = 1e-12  # of λ and p, for logarithms


@dataclass(frozen=True, eq=False)
class Member:
    """One of several fits of the same data: its factors and its network.

    Its λ is the product of its own factors, and its p is its own network's.

    Attributes
    ----------
    factors : tuple of ndarray, shapes (I_k, F)
    network : DetectionNetwork or JointDetection, optional
    """

    factors: tuple[FloatArray, ...]
    network: Network | None

    def rate(self, indices: IntArray) -> FloatArray:
        """λ per unit of exposure of valid entries (n, K); (n,)."""
        parts = np.array_split(indices, max(len(indices) // _ROWS, 1))
        return np.concatenate([products(self.factors, part).sum(axis=1) for part in parts])

    def detection(self, attributes: FloatArray) -> FloatArray:
        """p of valid attributes (n, D); (n,)."""
        if self.network is None:
            return np.ones(len(attributes))
        return np.asarray(self.network.probability(torch.tensor(attributes)).numpy())


@dataclass(frozen=True, eq=False)
class Interval:
    """An estimate per entry with an interval; arrays (n,).

    Attributes
    ----------
    estimate, low, high : ndarray, shape (n,)
    level : float
        Nominal coverage: how often such an interval should hold the true value.
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


def interval(centre: FloatArray, values: FloatArray, level: float, resample: float) -> Interval:
    """Interval about a centre (n,) from the members' `values` (M, n).

    See the notes of :meth:`uncletc.Fit.rate`; `resample` is that of the joint solver, or 0.
    """
    n = len(values)
    if n < 2:
        raise ValueError(
            f"spread needs a fit with at least 2 members, got {n}; raise FitSettings.members"
        )
    if not 0 < level < 1:
        raise ValueError(f"level must be in (0, 1), got {level}")
    deviation = np.log(np.maximum(values, _LEAST)).std(axis=0, ddof=1)
    width = student.ppf((1 + level) / 2, n - 1) * deviation * np.sqrt(1 + 1 / n) * _ALLOWANCE
    ratio = np.exp(np.minimum(width / (resample or 1.0), 700.0))
    return Interval(estimate=centre, low=centre / ratio, high=centre * ratio, level=level)

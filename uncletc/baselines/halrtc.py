"""HaLRTC: high-accuracy low-rank tensor completion.

Source: J. Liu, P. Musialski, P. Wonka and J. Ye, "Tensor Completion for Estimating Missing Values
in Visual Data", IEEE Transactions on Pattern Analysis and Machine Intelligence 35(1), 2013.

Minimises Σ_k α_k ‖X_(k)‖_* subject to X = y on Ω, with α_k = 1/K and X_(k) the unfolding along
mode k, by the alternating direction method of multipliers: each mode has a copy M_k of X with
singular values shrunk by α_k/ρ and multipliers W_k; X is the mean of the copies on missing entries
and the counts on observed ones. As in the authors' code ρ grows with each iteration. X may be
negative, and then predicts 0. The method treats y as real numbers and ignores exposure.

Dense: it holds the whole tensor more than K + 1 times; tensors above
:data:`~uncletc.baselines.base.DENSE_LIMIT` entries are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from uncletc.baselines.base import Algorithm, Estimate, Settings, check_dense
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor


@dataclass(frozen=True, kw_only=True)
class HaLRTCSettings(Settings):
    """Settings of HaLRTC.

    Parameters
    ----------
    rho : float
        ρ > 0 at the start, per unit of the counts; the paper's grid is 10⁻⁷ to 10⁻⁴.
    growth : float
        Factor of ρ per iteration, ≥ 1.
    tol : float
        Stop when X changed, and the copies differ from it, by less than this, relative to the
        size of the observed counts; ≥ 0.
    max_iter, seed
        See :class:`~uncletc.baselines.base.Settings`; nothing here is random.
    """

    rho: float = 1e-6
    growth: float = 1.05

    def __post_init__(self) -> None:
        super().__post_init__()
        self._real("rho", 0.0, above=True)
        self._real("growth", 1.0)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DenseEstimate(Estimate):
    """λ of every entry, as a tensor.

    Attributes
    ----------
    values : ndarray, shape (I_1, …, I_K)
        The completed tensor: the counts themselves on Ω.
    """

    values: FloatArray

    def _rate(self, indices: IntArray) -> FloatArray:
        return np.asarray(np.maximum(self.values[tuple(indices.T)], 0.0))


class HaLRTC(Algorithm):
    """Complete the tensor with the smallest sum of nuclear norms.

    The objective is Σ α_k ‖X_(k)‖_* of the copies; it need not fall.
    """

    settled = False

    def __init__(self, data: CountTensor, settings: HaLRTCSettings) -> None:
        check_dense(data, "HaLRTC")
        where = tuple(data.indices.T)
        self.settings, self.rho = settings, settings.rho
        self.n_observed, self.size = data.n_observed, max(float(np.linalg.norm(data.counts)), 1.0)
        self.observed = np.zeros(data.shape, dtype=bool)
        self.observed[where] = True
        self.x = np.full(data.shape, float(data.counts.mean()))
        self.x[where] = data.counts
        self.multipliers = [np.zeros(data.shape) for _ in data.shape]
        norms = [float(np.linalg.norm(unfold(self.x, k), "nuc")) for k in range(len(data.shape))]
        self.norm = sum(norms) / len(norms)

    def objective(self) -> float:
        """Σ α_k ‖X_(k)‖_* of the copies, per observed entry."""
        return self.norm / self.n_observed

    def step(self) -> None:
        """Shrink the copies, combine them in X, and update the multipliers."""
        modes = len(self.multipliers)
        self.rho *= self.settings.growth
        copies, self.norm = [], 0.0
        for mode, w in enumerate(self.multipliers):
            copy, norm = shrink(unfold(self.x + w / self.rho, mode), 1 / modes / self.rho)
            copies.append(fold(copy, mode, self.x.shape))
            self.norm += norm / modes
        pairs = list(zip(copies, self.multipliers, strict=True))
        mean = sum(copy - w / self.rho for copy, w in pairs) / modes
        new = np.where(self.observed, self.x, mean)
        change = float(np.linalg.norm(new - self.x))
        self.x = new
        distance = max(float(np.linalg.norm(copy - new)) for copy in copies)
        for copy, w in pairs:
            w -= self.rho * (copy - new)
        self.settled = max(change, distance) < self.settings.tol * self.size

    def estimate(self, **record: Any) -> DenseEstimate:
        """λ of the current tensor."""
        return DenseEstimate(**record, values=self.x.copy())


def shrink(matrix: FloatArray, threshold: float) -> tuple[FloatArray, float]:
    """Lower all singular values by `threshold`, down to 0; return the matrix and its norm."""
    if matrix.shape[0] > matrix.shape[1]:
        transposed, norm = shrink(matrix.T, threshold)
        return transposed.T, norm
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    kept = np.maximum(values - threshold, 0.0)
    return (left * kept) @ right, float(kept.sum())


def unfold(tensor: FloatArray, mode: int) -> FloatArray:
    """Unfold along mode k: its rows, by all other modes together; (I_k, J)."""
    return np.moveaxis(tensor, mode, 0).reshape(tensor.shape[mode], -1)


def fold(matrix: FloatArray, mode: int, shape: tuple[int, ...]) -> FloatArray:
    """Undo :func:`unfold`."""
    others = [size for k, size in enumerate(shape) if k != mode]
    return np.moveaxis(matrix.reshape([shape[mode], *others]), 0, mode)

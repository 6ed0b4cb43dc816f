"""NTF-Tucker-LS: non-negative Tucker decomposition by least squares.

Source: Y.-D. Kim and S. Choi, "Nonnegative Tucker Decomposition", CVPR 2007 (multiplicative
updates; used here for the core). Rows of factors are updated as in
:mod:`~uncletc.baselines.ntf_ls`, which makes more progress per step.

Minimises ½ Σ_Ω (y_i - e_i Σ_{f_1 … f_K} G(f_1, …, f_K) ∏_k U_k(i_k, f_k))² over G ≥ 0, U_k ≥ 0,
with e the exposure. The core has min(F, I_k) columns along mode k. We add a small penalty on the
squares of G and U_k: without it predictions of missing entries grow without bound where few entries
of a slice are observed.

Dense: it holds the whole tensor, with weight 0 at missing entries, because the core's ∏F products
per entry would cost more than the zeros do; tensors above
:data:`~uncletc.baselines.base.DENSE_LIMIT` entries are refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from uncletc.baselines.base import Algorithm, Estimate, RankSettings, check_dense
from uncletc.baselines.halrtc import unfold
from uncletc.baselines.ntf_ls import nonnegative_rows
from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at
from uncletc.model.cp import fill_rows
from uncletc.solvers.bcd.blocks import TINY

_CORE_LIMIT = 2**22  # elements of the core, and of a mode's systems of equations


@dataclass(frozen=True, kw_only=True)
class TuckerSettings(RankSettings):
    """Settings of NTF-Tucker-LS.

    Parameters
    ----------
    passes : int
        Passes over the columns of each factor, and updates of the core, per iteration; ≥ 1.
    ridge : float
        ≥ 0, relative to the size of the counts; 0: least squares alone.
    rank, max_iter, tol, seed
        See :class:`~uncletc.baselines.base.RankSettings`.
    """

    passes: int = 5
    ridge: float = 1e-2

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole("passes", 1)
        self._real("ridge", 0.0)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class TuckerEstimate(Estimate):
    """λ_i = e_i Σ G(f_1, …, f_K) ∏_k U_k(i_k, f_k), with e the exposure.

    Attributes
    ----------
    core : ndarray, shape (F_1, …, F_K)
    factors : tuple of ndarray, shapes (I_k, F_k)
    exposure : ndarray, optional
        That of the counts; None: 1 everywhere.
    """

    core: FloatArray
    factors: tuple[FloatArray, ...]
    exposure: FloatArray | None = None

    @cached_property
    def _dense(self) -> FloatArray:
        return times(self.core, self.factors)

    def _rate(self, indices: IntArray) -> FloatArray:
        rate = self._dense[tuple(indices.T)]
        return np.asarray(rate * exposure_at(self.exposure, indices))


class Tucker(Algorithm):
    """Decompose by least squares over rows of the factors and multiplicative steps of the core."""

    def __init__(self, data: CountTensor, settings: TuckerSettings) -> None:
        check_dense(data, "NTF-Tucker-LS")
        sizes = [min(settings.rank, size) for size in data.shape]
        if max(math.prod(sizes), max(data.shape) * max(sizes) ** 2) > _CORE_LIMIT:
            raise ValueError(
                f"rank must keep the core and each mode's systems within {_CORE_LIMIT:,} numbers; "
                f"rank {settings.rank} is too large for shape {data.shape}"
            )
        self.data, self.settings = data, settings
        where = tuple(data.indices.T)
        self.weight, self.goal = np.zeros(data.shape), np.zeros(data.shape)
        exposure = data.exposure_at(data.indices)
        self.weight[where] = exposure**2
        self.goal[where] = exposure * data.counts
        self.half = 0.5 * float(np.mean(data.counts.astype(np.float64) ** 2))
        self.least = 1e-10 * self.half
        rng = np.random.default_rng(settings.seed)
        core = rng.uniform(0.0, 0.1, sizes)
        # A nearly diagonal core starts far from the saddle point where all columns are equal.
        core[tuple([np.arange(min(sizes))] * len(sizes))] += 1.0
        self.factors = [rng.uniform(0.0, 1.0, pair) for pair in zip(data.shape, sizes, strict=True)]
        level = float((times(core, self.factors)[where] * exposure).mean())
        self.core = _balance(core * (float(data.counts.mean()) / level), self.factors)
        size = math.sqrt(2 * self.half * data.n_observed)
        self.ridge = settings.ridge * math.pow(size, 2 - 2 / (len(sizes) + 1))

    def objective(self) -> float:
        """1/|Ω| [½ Σ_Ω (y_i - λ_i)² + ½ ϱ (‖G‖² + Σ_k ‖U_k‖²)]."""
        rate = times(self.core, self.factors)
        parts = (self.core, *self.factors)
        penalty = 0.5 * self.ridge * sum(float(np.sum(part**2)) for part in parts)
        misfit = float(np.sum(rate * (0.5 * self.weight * rate - self.goal)))
        return self.half + (misfit + penalty) / self.data.n_observed

    def step(self) -> None:
        """Update every factor, then the core."""
        problem = self.weight, self.goal, self.settings.passes, self.ridge
        for mode in range(len(self.factors)):
            self.factors[mode] = update_factor(self.core, self.factors, mode, *problem)
        self.core = _balance(update_core(self.core, self.factors, *problem), self.factors)

    def estimate(self, **record: Any) -> TuckerEstimate:
        """λ from the core and the factors."""
        factors = fill_rows(self.factors, self.data.indices)
        return TuckerEstimate(
            **record, core=self.core.copy(), factors=factors, exposure=self.data.exposure
        )


def times(core: FloatArray, factors: Sequence[FloatArray]) -> FloatArray:
    """G ×_1 U_1 … ×_K U_K; shape (I_1, …, I_K)."""
    for factor in factors:  # each product moves the first mode to the end
        core = np.tensordot(core, factor, axes=(0, 1))
    return core


def update_factor(
    core: FloatArray,
    factors: Sequence[FloatArray],
    mode: int,
    weight: FloatArray,
    goal: FloatArray,
    passes: int,
    ridge: float = 0.0,
) -> FloatArray:
    """Lower the objective over U_k ≥ 0; if ridge is 0, rows without observed entries stay."""
    eyes = [np.eye(core.shape[k]) if k == mode else U for k, U in enumerate(factors)]
    others = unfold(times(core, eyes), mode)  # (F, J)
    weights, goals = unfold(weight, mode), unfold(goal, mode)  # (I, J)
    gram = np.stack([weights @ (others * row).T for row in others], axis=1)  # (I, F, F)
    gram += ridge * np.eye(len(others))
    return nonnegative_rows(factors[mode], gram, goals @ others.T, passes)


def update_core(
    core: FloatArray,
    factors: Sequence[FloatArray],
    weight: FloatArray,
    goal: FloatArray,
    steps: int,
    ridge: float = 0.0,
) -> FloatArray:
    """Multiply G by Uᵀ goal / (Uᵀ (weight ∘ λ) + ϱG) `steps` times; never raises the objective."""
    transposed = [factor.T for factor in factors]
    numerator = times(goal, transposed)
    for _ in range(steps):
        denominator = times(weight * times(core, factors), transposed) + ridge * core
        core = core * numerator / np.maximum(denominator, TINY)
    return core


def _balance(core: FloatArray, factors: list[FloatArray]) -> FloatArray:
    """Give the factors, in place, and the core equal norms; λ stays, the penalty never rises."""
    norms = [max(float(np.linalg.norm(part)), TINY) for part in (core, *factors)]
    common = math.exp(sum(math.log(norm) for norm in norms) / len(norms))
    if min(norms) <= 1e-100:
        return core
    for factor, norm in zip(factors, norms[1:], strict=True):
        factor *= common / norm
    return core * (common / norms[0])

"""NTF-CPD-KL: non-negative CP decomposition with the Kullback-Leibler (Poisson) loss.

Source: E. C. Chi and T. G. Kolda, "On Tensors, Sparsity, and Nonnegative Factorizations", SIAM
Journal on Matrix Analysis and Applications 33(4), 2012 (CP-APR, by multiplicative updates).

Minimises Σ_Ω [λ_i - y_i log λ_i] with λ_i = e_i Σ_f ∏_k U_k(i_k, f) over U_k ≥ 0, where e is the
exposure: the Poisson likelihood if every event is counted. The source has no missing entries; here
all sums are over Ω only, which otherwise leaves the updates unchanged. As in the source, an element
near zero is lifted if a larger value would raise the likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import xlogy

from uncletc.baselines.base import RankSettings
from uncletc.baselines.factors import CP, Observed
from uncletc.common.validation import FloatArray
from uncletc.model.cp import products
from uncletc.solvers.bcd.blocks import TINY
from uncletc.solvers.bcd.blocks import update_factor as update_poisson

_NEARLY_ZERO, _LIFT = 1e-10, 1e-2  # relative to the mean of the factor


@dataclass(frozen=True, kw_only=True)
class KLSettings(RankSettings):
    """Settings of NTF-CPD-KL.

    Parameters
    ----------
    sweeps : int
        Multiplicative updates of each factor per iteration, ≥ 1.
    rank, max_iter, tol, seed
        See :class:`~uncletc.baselines.base.RankSettings`.
    """

    sweeps: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole("sweeps", 1)


class KL(CP):
    """Decompose by multiplicative updates, each of which lowers the objective."""

    settings: KLSettings

    def objective(self) -> float:
        """1/|Ω| Σ_Ω [λ_i - y_i log λ_i]."""
        return objective(self.factors, self.observed)

    def updated(self, mode: int) -> FloatArray:
        """See :func:`update_factor`."""
        return update_factor(self.factors, mode, self.observed, self.settings.sweeps)


def objective(factors: list[FloatArray], data: Observed) -> float:
    """1/|Ω| Σ_Ω [λ_i - y_i log λ_i]."""
    rate = data.exposure * products(factors, data.indices).sum(axis=1)
    return float(np.mean(rate - xlogy(data.counts, np.maximum(rate, TINY))))


def update_factor(factors: list[FloatArray], mode: int, data: Observed, sweeps: int) -> FloatArray:
    """Multiply U_k some times, as every solver here does, by sums of all that was counted.

    Elements near zero whose derivative asks for more are lifted first, in place of the first step,
    because no multiple of zero leaves zero (source, section 5.3).
    """
    before = factors[mode]
    factor = lift(factors, mode, data)
    sweeps -= factor is not before
    parts = [torch.from_numpy(each) for each in (*factors[:mode], factor, *factors[mode + 1 :])]
    detected = torch.ones_like(data.problem.counts)
    return update_poisson(parts, mode, data.problem, detected, sweeps, tol=0.0).numpy()


def lift(factors: list[FloatArray], mode: int, data: Observed) -> FloatArray:
    """Lift elements of U_k that are stuck near zero; return the same array if none is."""
    factor = factors[mode]
    level = max(float(factor.mean()), TINY)
    low = factor < _NEARLY_ZERO * level
    if not low.any():
        return factor
    others = products(factors, data.indices, skip=mode)
    rate = np.einsum("nf,nf->n", factor[data.indices[:, mode]], others)
    numerator = data.sums(mode, data.counts / np.maximum(rate, TINY), others)
    stuck = low & (numerator > data.sums(mode, data.exposure, others))
    return np.where(stuck, factor + _LIFT * level, factor) if stuck.any() else factor

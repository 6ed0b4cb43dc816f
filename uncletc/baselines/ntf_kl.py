"""NTF-CPD-KL: non-negative CP decomposition with the Kullback-Leibler (Poisson) loss.

Source: E. C. Chi and T. G. Kolda, "On Tensors, Sparsity, and Nonnegative Factorizations", SIAM
Journal on Matrix Analysis and Applications 33(4), 2012 (CP-APR, by multiplicative updates).

Minimises Σ_Ω [λ_i - y_i log λ_i] with λ_i = e_i Σ_f ∏_k U_k(i_k, f) over U_k ≥ 0, where e is the
exposure: the Poisson likelihood of counts that all events have reached. The source knows no
missing entries; here all sums go over Ω only, which leaves the updates otherwise the same. As
there, an element that is nearly zero though its derivative asks for more is lifted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from uncletc.baselines.base import RankSettings
from uncletc.baselines.factors import CP, Observed
from uncletc.cp import products
from uncletc.solvers.blocks import TINY
from uncletc.validation import FloatArray

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
    """Multiply U_k by Φ = Σ (y/λ)·w / Σ e·w some times, w the product of the other factors.

    Φ = 1 at a minimum. Elements near zero with Φ > 1 are lifted first, once, because no multiple
    of zero leaves zero (source, section 5.3). Rows without an observed entry stay.
    """
    factor, where = factors[mode], data.indices[:, mode]
    others = products(factors, data.indices, skip=mode)
    denominator = data.sums(mode, data.exposure, others)
    seen = denominator > 0
    level = max(float(factor.mean()), TINY)
    for sweep in range(sweeps):
        rate = np.maximum(np.einsum("nf,nf->n", factor[where], others), TINY)
        phi = np.ones_like(factor)
        np.divide(data.sums(mode, data.counts / rate, others), denominator, out=phi, where=seen)
        if sweep == 0:
            stuck = (factor < _NEARLY_ZERO * level) & (phi > 1)
            if stuck.any():
                factor = np.where(stuck, factor + _LIFT * level, factor)
                continue
        factor = factor * phi
    return factor

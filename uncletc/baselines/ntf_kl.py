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

from uncletc.baselines.base import Callback, Prediction, RankSettings, Run, fitting
from uncletc.baselines.factors import (
    FactorPrediction,
    Observed,
    balance,
    fill_rows,
    products,
    starting_factors,
)
from uncletc.counts import CountTensor
from uncletc.model import StopReason
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


def fit(
    counts: CountTensor, settings: KLSettings, *, callback: Callback | None = None
) -> Prediction:
    """Decompose by multiplicative updates, each of which lowers the objective.

    Parameters
    ----------
    counts : CountTensor
        At least one observed entry; attributes are not used.
    settings : KLSettings
    callback : callable, optional
        Called with each :class:`~uncletc.baselines.base.Progress`; return True to stop.

    Returns
    -------
    FactorPrediction
    """
    with fitting(counts, settings, KLSettings) as ordered:
        data = Observed.of(ordered)
        factors = starting_factors(ordered, settings.rank, np.random.default_rng(settings.seed))

        def result(stop: StopReason) -> Prediction:
            return FactorPrediction(
                shape=counts.shape,
                history=tuple(run.history),
                stop=stop,
                settings=settings,
                counts_digest=counts.digest,
                factors=fill_rows(factors, data.indices),
                exposure=counts.exposure,
            )

        run = Run(settings, callback, result)
        while (stop := run.record(objective(factors, data))) is None:
            for mode in range(len(factors)):
                factors[mode] = update_factor(factors, mode, data, settings.sweeps)
            balance(factors)
        return run.finish(stop)


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

"""BPTF: Bayesian Poisson tensor factorisation by variational inference.

Source: A. Schein, J. Paisley, D. M. Blei and H. Wallach, "Bayesian Poisson Tensor Factorization for
Inferring Multilateral Relations from Sparse Dyadic Event Counts", KDD 2015.

    y_i ~ Poisson(e_i Σ_f ∏_k U_k(i_k, f)),   U_k(i, f) ~ Gamma(α, rate α β_k)

with e the exposure. The posterior is approximated by independent gammas of shape γ and rate δ;
β_k, one over the mean of its mode's elements, is set to raise the bound. All sums go over Ω, so
missing entries are missing. Small α makes the factors sparse; the paper's grid is .02 to .2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, logsumexp

from uncletc.baselines.base import Algorithm, RankSettings
from uncletc.baselines.factors import FactorEstimate, Observed, starting_factors
from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.model.cp import fill_rows, products
from uncletc.solvers.bcd.blocks import TINY

_LEAST_MEAN = 1e-100  # of a mode's elements, where all counts are zero
_START = 100.0  # shape of the starting gammas: nearly certain, so that starts differ by their means


@dataclass(frozen=True, kw_only=True)
class BPTFSettings(RankSettings):
    """Settings of BPTF.

    Parameters
    ----------
    alpha : float
        α > 0, the shape of the prior: the smaller, the sparser.
    max_iter, tol
        By default 200 and 1e-4, as in the authors' code. They matter: with many more iterations
        the bound still rises slightly, while predictions of some missing entries diverge.
    rank, seed
        See :class:`~uncletc.baselines.base.RankSettings`.
    """

    alpha: float = 0.1
    max_iter: int = 200
    tol: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        self._real("alpha", 0.0, above=True)


@dataclass(eq=False)
class Posterior:
    """Gammas of shape γ and rate δ over each mode's factor, arrays (I_k, F); β_k per mode."""

    shapes: list[FloatArray]
    rates: list[FloatArray]
    beta: list[float]

    def mean(self, mode: int) -> FloatArray:
        """E U_k."""
        return self.shapes[mode] / self.rates[mode]

    def log_mean(self, mode: int) -> FloatArray:
        """E log U_k."""
        return np.asarray(digamma(self.shapes[mode]) - np.log(self.rates[mode]))

    def points(self) -> list[FloatArray]:
        """exp E log U of each mode, which predicts as in the authors' code."""
        return [np.exp(self.log_mean(k)) for k in range(len(self.shapes))]


class BPTF(Algorithm):
    """Raise the evidence lower bound by coordinate ascent."""

    def __init__(self, data: CountTensor, settings: BPTFSettings) -> None:
        self.data, self.observed, self.settings = data, Observed(data), settings
        starts = starting_factors(data, settings.rank, np.random.default_rng(settings.seed))
        means = [np.maximum(start, _LEAST_MEAN) for start in starts]
        self.posterior = Posterior(
            shapes=[np.full_like(mean, _START) for mean in means],
            rates=[_START / mean for mean in means],
            beta=[1 / float(mean.mean()) for mean in means],
        )

    def objective(self) -> float:
        """Minus the bound, per observed entry."""
        return -bound(self.posterior, self.observed, self.settings.alpha) / self.data.n_observed

    def step(self) -> None:
        """Update the posterior of each mode in turn."""
        for mode in range(len(self.data.shape)):
            update_mode(self.posterior, mode, self.observed, self.settings.alpha)

    def estimate(self, **record: Any) -> FactorEstimate:
        """λ from one factor per mode."""
        factors = fill_rows(self.posterior.points(), self.data.indices)
        return FactorEstimate(**record, factors=factors, exposure=self.data.exposure)


def update_mode(state: Posterior, mode: int, data: Observed, alpha: float) -> None:
    """Set γ, δ and β of one mode to what raises the bound most, each in turn, in place.

    γ = α + Σ y φ with φ the share of each component in its entry, ∝ ∏_k exp E log U_k;
    δ = α β_k + Σ e ∏_{j≠k} E U_j; 1/β_k = mean E U_k.
    """
    modes = range(len(state.shapes))
    logs = [state.log_mean(k) for k in modes]
    shares = _log_products(logs, data.indices)
    shares = np.exp(shares - logsumexp(shares, axis=1, keepdims=True))
    others = products([state.mean(k) for k in modes], data.indices, skip=mode)
    state.shapes[mode] = alpha + data.sums(mode, data.counts, shares)
    state.rates[mode] = alpha * state.beta[mode] + data.sums(mode, data.exposure, others)
    state.beta[mode] = 1 / max(float(state.mean(mode).mean()), _LEAST_MEAN)


def bound(state: Posterior, data: Observed, alpha: float) -> float:
    """Return the evidence lower bound, with the shares φ at their best."""
    modes = range(len(state.shapes))
    logs = _log_products([state.log_mean(k) for k in modes], data.indices)
    rate = data.exposure * products([state.mean(k) for k in modes], data.indices).sum(axis=1)
    log_rate = np.log(np.maximum(data.exposure, TINY)) + logsumexp(logs, axis=1)
    value = float(np.sum(data.counts * log_rate - rate - gammaln(data.counts + 1)))
    return value - sum(_divergence(state, k, alpha) for k in modes)


def _divergence(state: Posterior, mode: int, alpha: float) -> float:
    """Kullback-Leibler divergence of one mode's gammas from their prior."""
    shape, rate, prior = state.shapes[mode], state.rates[mode], alpha * state.beta[mode]
    terms = (
        (shape - alpha) * digamma(shape)
        - gammaln(shape)
        + gammaln(alpha)
        + alpha * (np.log(rate) - np.log(prior))
        + shape * (prior / rate - 1)
    )
    return float(terms.sum())


def _log_products(logs: list[FloatArray], indices: np.ndarray) -> FloatArray:
    """Σ_k of each component's logarithms; (N, F)."""
    return np.asarray(np.sum([log[indices[:, k]] for k, log in enumerate(logs)], axis=0))

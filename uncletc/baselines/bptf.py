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
from typing import Literal, get_args

import numpy as np
from scipy.special import digamma, gammaln, logsumexp

from uncletc.baselines.base import Callback, Prediction, RankSettings, Run, fitting
from uncletc.baselines.factors import (
    FactorPrediction,
    Observed,
    fill_rows,
    products,
    starting_factors,
)
from uncletc.counts import CountTensor
from uncletc.model import StopReason
from uncletc.solvers.blocks import TINY
from uncletc.validation import FloatArray, check_choice

Point = Literal["geometric", "arithmetic"]
_LEAST_MEAN = 1e-100  # of a mode's elements, where all counts are zero
_START = 100.0  # shape of the starting gammas: nearly certain, so that starts differ by their means


@dataclass(frozen=True, kw_only=True)
class BPTFSettings(RankSettings):
    """Settings of BPTF.

    Parameters
    ----------
    alpha : float
        α > 0, the shape of the prior: the smaller, the sparser.
    point : {"geometric", "arithmetic"}
        Which mean of the approximate posterior predicts: exp E log U, as in the authors' code,
        or E U.
    max_iter, tol
        By default 200 and 1e-4, as in the authors' code. They matter: far beyond, the bound still
        rises a little while some missing entries are predicted without limit.
    rank, seed
        See :class:`~uncletc.baselines.base.RankSettings`.
    """

    alpha: float = 0.1
    point: Point = "geometric"
    max_iter: int = 200
    tol: float = 1e-4

    def __post_init__(self) -> None:
        super().__post_init__()
        self._real("alpha", 0.0, above=True)
        check_choice("point", self.point, get_args(Point))


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

    def points(self, point: Point) -> list[FloatArray]:
        """One factor per mode to predict with."""
        modes = range(len(self.shapes))
        if point == "arithmetic":
            return [self.mean(k) for k in modes]
        return [np.exp(self.log_mean(k)) for k in modes]


def fit(
    counts: CountTensor, settings: BPTFSettings, *, callback: Callback | None = None
) -> Prediction:
    """Raise the evidence lower bound by coordinate ascent.

    Parameters
    ----------
    counts : CountTensor
        At least one observed entry; attributes are not used.
    settings : BPTFSettings
    callback : callable, optional
        Called with each :class:`~uncletc.baselines.base.Progress`, whose objective is minus the
        bound per observed entry; return True to stop.

    Returns
    -------
    FactorPrediction
    """
    with fitting(counts, settings, BPTFSettings) as ordered:
        data = Observed.of(ordered)
        rng = np.random.default_rng(settings.seed)
        means = [np.maximum(U, _LEAST_MEAN) for U in starting_factors(ordered, settings.rank, rng)]
        state = Posterior(
            shapes=[np.full_like(mean, _START) for mean in means],
            rates=[_START / mean for mean in means],
            beta=[1 / float(mean.mean()) for mean in means],
        )

        def result(stop: StopReason) -> Prediction:
            return FactorPrediction(
                shape=counts.shape,
                history=tuple(run.history),
                stop=stop,
                settings=settings,
                counts_digest=counts.digest,
                factors=fill_rows(state.points(settings.point), data.indices),
                exposure=counts.exposure,
            )

        run = Run(settings, callback, result)
        while (stop := run.record(-bound(state, data, settings.alpha) / len(data.counts))) is None:
            for mode in range(len(means)):
                update_mode(state, mode, data, settings.alpha)
        return run.finish(stop)


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

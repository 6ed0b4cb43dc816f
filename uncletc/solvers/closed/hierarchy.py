"""p of each level of an open mode, such as each species: a hierarchy, integrated numerically.

    logit p_s ~ Normal(m, τ²)

Counts of a species whose p is small say that p is not larger, and hardly how much smaller it is. A
normal distribution about the likeliest p of each has neither that shape nor the place, and the
species with the largest p, which counts tell best, decide the mean of all: p of the others comes
out too large, and N too small. Given all other parameters, species are independent of each other.
So the likelihood of each is taken over a grid of logits and μ, m and τ are integrated out over a
grid of their own, and p drawn from what is left. Where all have one p, the same likelihoods test
whether τ is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import expit

from uncletc.common.validation import FloatArray, IntArray
from uncletc.solvers.closed.marginal import (
    LEVEL_DEVIATION,
    SCATTER,
    START_LEVEL,
    Marginal,
    Optimum,
    normal_draws,
    second_derivatives,
)
from uncletc.solvers.closed.sums import log_likelihood

_FEWEST = 3  # levels
_LOGITS, _FINE = np.linspace(-7.0, 5.0, 49), np.linspace(-7.0, 5.0, 601)
_LOG_MU = np.linspace(-2.8, 2.8, 9)  # about the likeliest
_MEANS, _DEVIATIONS = np.linspace(-4.0, 3.0, 43), np.geomspace(0.1, 3.0, 18)
_USUAL_DEVIATION = 1.0  # of the half-normal prior of τ
# Nats by which p that differs must be likelier: sound tables had 1 at most, others 2 to 156.
_LIKELIER = 4.0
_FARTHEST = -60.0  # log-likelihood over the largest


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels of an open mode that have a p each.

    Attributes
    ----------
    marginal : Marginal
    of : ndarray of int, shape (N,)
        The level of each count, from 0.
    columns : ndarray of int, shape (S,)
        Features of which the levels' p are made: the constant and one of each level but the first;
        the constant alone where they have one p.
    """

    marginal: Marginal
    of: IntArray
    columns: IntArray

    @classmethod
    def of_modes(cls, marginal: Marginal, columns_of: IntArray) -> list[Hierarchy]:
        """Those of the open modes, of several levels each.

        Parameters
        ----------
        marginal : Marginal
        columns_of : ndarray of int, shape (D,)
            How many features each attribute has.
        """
        cells, first = marginal.cells, 1 + np.cumsum(columns_of) - columns_of
        found = []
        for at in cells.indices.T:
            of = np.unique(at, return_inverse=True)[1][cells.of]
            size = np.bincount(of)
            means = np.array([np.bincount(of, z) / size for z in cells.attributes.T])
            means = means.reshape(-1, len(size))  # of each attribute, by level
            alone = (means.sum(axis=1) == 1) & (means.max(axis=1) == 1)
            levels = np.unique(means[alone].argmax(axis=1))
            each = len(levels) == len(size) - 1 == alone.sum()
            if len(size) >= _FEWEST:
                found.append(cls(marginal, of, np.append(0, first[alone] if each else [])))
        return found

    @property
    def has_own(self) -> bool:
        """Whether each level has a p of its own."""
        return len(self.columns) > 1

    def differs(self, best: Optimum) -> bool:
        """Whether p of levels differs by more than other parameters say: a likelihood ratio."""
        found, priors = list(self._likelihoods(best, _LOG_MU[3:-3])), _priors()
        one = max(fine.sum(axis=0).max() + extra for fine, extra in found)
        several = max(_log_of_all(fine, priors).max() + extra for fine, extra in found)
        return bool(several - one > _LIKELIER)

    def posterior(
        self, best: Optimum, size: int, rng: np.random.Generator
    ) -> tuple[Optimum, FloatArray]:
        """Return the optimum with the mean logit of each level, and draws of parameters (R, P)."""
        marginal, values, priors = self.marginal, best.values, _priors()
        found = list(self._likelihoods(best, _LOG_MU))
        logs = np.array([_log_of_all(fine, priors) + extra for fine, extra in found])
        logs += _log_weights()
        weights = np.exp(logs - logs.max())
        chosen = rng.choice(weights.size, size, p=weights.ravel() / weights.sum())
        middle = self._middle(marginal.logits(values))
        drawn = np.empty((size, len(middle)))
        for one, (k, prior) in enumerate(zip(*np.divmod(chosen, logs.shape[1]), strict=True)):
            below = (np.exp(found[k][0]) * priors[prior]).cumsum(axis=1)
            at = (below < below[:, -1:] * rng.random((len(middle), 1))).sum(axis=1)
            drawn[one] = _FINE[at.clip(max=len(_FINE) - 1)]
        drawn += (rng.random(drawn.shape) - 0.5) * (_FINE[1] - _FINE[0])
        rows = np.unique(self.of, return_index=True)[1]
        design = marginal.design[rows].dense()[:, self.columns]
        moved = np.linalg.lstsq(design, (drawn - middle).T, rcond=None)[0].T
        every = self._others(best, size, rng)
        every[:, self.columns] += moved
        values = values.copy()
        values[self.columns] += moved.mean(axis=0)
        log = float(marginal.log_likelihood(best.form, values).sum())
        return replace(best, values=values, log_likelihood=log), every

    def _middle(self, logit: FloatArray) -> FloatArray:
        """Mean logit of each level; (S,)."""
        return np.asarray(np.bincount(self.of, logit) / np.bincount(self.of))

    def _likelihoods(self, best: Optimum, steps: FloatArray) -> Iterator[tuple[FloatArray, float]]:
        """At steps of log μ: the log-likelihood of levels (S, G), at most 0, and what it lacks."""
        marginal, cells = self.marginal, self.marginal.cells
        size, values = len(cells.exposure), best.values.copy()
        logit, level = marginal.logits(values), self.of[cells.starts[:-1]]
        seen = np.bincount(cells.of, expit(logit), size)
        expected = np.exp(marginal.log_rates(values)) * seen
        away = logit - self._middle(logit)[self.of]
        for step in steps if marginal.given_mu is None else np.zeros(1):
            values[-1] = best.values[-1] + step
            mu, coarse = marginal.mu(best.form, values), []
            for each in _LOGITS:
                p = expit(away + each)
                rates = expected / np.bincount(cells.of, p, size)
                log = log_likelihood(rates, p, cells.counts, cells.of, mu=mu, visits=cells.visits)
                coarse.append(np.bincount(level, log))
            fine = CubicSpline(_LOGITS, np.array(coarse))(_FINE).T
            most = fine.max(axis=1)
            centre, deviation = SCATTER[best.form.mixture]
            prior = -0.5 * ((values[-1] - centre) / deviation) ** 2
            yield np.maximum(fine - most[:, None], _FARTHEST), float(most.sum() + prior)

    def _others(self, best: Optimum, size: int, rng: np.random.Generator) -> FloatArray:
        """Draws of the other parameters, those of levels as they are; (R, P)."""
        q, values = self.marginal.n_curves, best.values
        rest = np.setdiff1d(np.arange(q + 1 + self.marginal.n_rates), [*self.columns, q])
        every = np.repeat(values[None], size, axis=0)

        def gradient(some: FloatArray) -> FloatArray:
            moved = values.copy()
            moved[rest] = some
            return np.asarray(self.marginal.cost(best.form, moved)[1][rest])

        if len(rest):
            curvature = second_derivatives(gradient, values[rest])
            every[:, rest] = normal_draws(values[rest], curvature, size, rng)
        return every


def _log_of_all(fine: FloatArray, priors: FloatArray) -> FloatArray:
    """Log-likelihood of all levels (S, G), with p integrated out, for each prior (M, G); (M,)."""
    return np.asarray(np.log(np.exp(fine) @ priors.T).sum(axis=0))


def _priors() -> FloatArray:
    """Densities of logits for each m and τ, which sum to 1; (M, G)."""
    means, deviations = (each.ravel()[:, None] for each in np.meshgrid(_MEANS, _DEVIATIONS))
    density = np.exp(-0.5 * ((_FINE - means) / deviations) ** 2)
    return np.asarray(density / density.sum(axis=1, keepdims=True))


def _log_weights() -> FloatArray:
    """Logarithms of the prior of each m and τ, whose steps are logarithmic; (M,)."""
    means, deviations = (each.ravel() for each in np.meshgrid(_MEANS, _DEVIATIONS))
    log = -0.5 * ((means - START_LEVEL) / LEVEL_DEVIATION) ** 2 + np.log(deviations)
    log -= 0.5 * (deviations / _USUAL_DEVIATION) ** 2
    return np.asarray(log)

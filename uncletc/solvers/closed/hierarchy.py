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

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import expit

from uncletc.common.validation import FloatArray, IntArray
from uncletc.solvers.closed.marginal import (
    LEVEL_DEVIATION,
    SCATTER,
    START_LEVEL,
    Marginal,
    Optimum,
    normal_draws,
)
from uncletc.solvers.closed.sums import log_likelihood

_FEWEST = 3  # levels
# Logits of each level, in standard deviations by curvature from the likeliest: farther below, where
# likelihoods fall slowly.
_COARSE, _FINE = np.linspace(-8.0, 5.0, 21), np.linspace(-8.0, 5.0, 261)
_STEP, _LEAST_CURVATURE = 0.05, 0.7
_LOG_MU, _POISSON = np.linspace(-2.1, 2.1, 7), 9.0  # about the likeliest, and of Poisson counts
_MEANS, _DEVIATIONS = np.linspace(-4.0, 3.0, 43), np.geomspace(0.1, 3.0, 18)
_ABOUT_0 = np.linspace(-0.5, 0.5, 11)
_USUAL_DEVIATION = 1.0  # of the half-normal prior of τ
# Nats by which p that differs must be likelier: 3 of 120 sound tables had 2.7 or more, others 2 to
# 156.
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
    def of_modes(cls, marginal: Marginal, columns_of: IntArray) -> list[Self]:
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
            if len(size) < _FEWEST:
                continue
            means = np.array([np.bincount(of, z) / size for z in cells.attributes.T])
            means = means.reshape(-1, len(size))  # of each attribute, by level
            alone = (means.sum(axis=1) == 1) & (means.max(axis=1) == 1)
            levels = np.unique(means[alone].argmax(axis=1))
            each = len(size) - 1 <= len(levels) == alone.sum()
            found.append(cls(marginal, of, np.append(0, first[alone] if each else [])))
        return found

    @property
    def has_own(self) -> bool:
        """Whether each level has a p of its own."""
        return len(self.columns) > 1

    def differs(self, best: Optimum) -> bool:
        """Whether p of levels differs by more than other parameters say: a likelihood ratio."""
        base, mu = self._base(best), self.marginal.mu(best.form, best.values)
        width = self._widths(base, mu)
        one = self._log_likelihood(base, mu, 0.0 * width)
        fine, most = self._likelihood(base, mu, width)
        several = _log_of_all(_FINE * width[:, None], fine[None], _ABOUT_0, _DEVIATIONS)
        return bool(several.max() + (most - one).sum() > _LIKELIER)

    def posterior(
        self, best: Optimum, size: int, rng: np.random.Generator
    ) -> tuple[Optimum, FloatArray]:
        """Return the optimum with the mean logit of each level, and draws of parameters (R, P)."""
        marginal, values = self.marginal, best.values.copy()
        middle = np.bincount(self.of, marginal.logits(values)) / np.bincount(self.of)
        drawn = self._logits(best, middle, size, rng)
        rows = np.unique(self.of, return_index=True)[1]
        design = marginal.design[rows].dense()[:, self.columns]
        moved = np.linalg.lstsq(design, (drawn - middle).T, rcond=None)[0].T
        every = self._others(best, design, size, rng)
        every[:, self.columns] += moved
        values[self.columns] += moved.mean(axis=0)
        log = float(marginal.log_likelihood(best.form, values).sum())
        return replace(best, values=values, log_likelihood=log), every

    def _logits(
        self, best: Optimum, middle: FloatArray, size: int, rng: np.random.Generator
    ) -> FloatArray:
        """Draws of the mean logit of each level, which `middle` (S,) has at the optimum; (R, S)."""
        base, values = self._base(best), best.values.copy()
        width = self._widths(base, self.marginal.mu(best.form, values))
        x = middle[:, None] + _FINE * width[:, None]
        held = self.marginal.given_mu is not None
        log_mu = values[-1:].copy() if held else np.append(values[-1] + _LOG_MU, _POISSON)
        centre, deviation = SCATTER[best.form.mixture]
        logs, fine = -0.5 * ((log_mu - centre) / deviation) ** 2, []
        # Poisson counts have probability one half before they are seen.
        logs[-1] = math.log(deviation * math.sqrt(2 * math.pi) / (_LOG_MU[1] - _LOG_MU[0]))
        for k, each in enumerate(log_mu):
            values[-1] = each
            mu = self.marginal.mu(best.form, values)
            likelihood, most = self._likelihood(base, mu, width)
            fine.append(likelihood)
            logs[k] += most.sum()
        weights = _log_of_all(x, np.array(fine), _MEANS, _DEVIATIONS) + logs[:, None]
        means, deviations = (each.ravel() for each in np.meshgrid(_MEANS, _DEVIATIONS))
        # The prior of each m and τ, whose steps are logarithmic.
        log = -0.5 * ((means - START_LEVEL) / LEVEL_DEVIATION) ** 2 + np.log(deviations)
        weights += log - 0.5 * (deviations / _USUAL_DEVIATION) ** 2
        weights = np.exp(weights - weights.max())
        chosen = rng.choice(weights.size, size, p=weights.ravel() / weights.sum())
        drawn = np.empty((size, len(middle)))
        for one, (k, prior) in enumerate(zip(*np.divmod(chosen, len(means)), strict=True)):
            density = np.exp(fine[k] - 0.5 * ((x - means[prior]) / deviations[prior]) ** 2)
            below = density.cumsum(axis=1)
            at = (below < below[:, -1:] * rng.random((len(middle), 1))).sum(axis=1)
            drawn[one] = np.take_along_axis(x, at[:, None].clip(max=len(_FINE) - 1), axis=1)[:, 0]
        drawn += (rng.random(drawn.shape) - 0.5) * width * (_FINE[1] - _FINE[0])
        return drawn

    def _base(self, best: Optimum) -> tuple[FloatArray, FloatArray]:
        """Logits of p at the optimum (N,), and counts that each cell lets expect (C,)."""
        marginal, cells = self.marginal, self.marginal.cells
        logit = marginal.logits(best.values)
        seen = np.bincount(cells.of, expit(logit), len(cells.exposure))
        return logit, np.exp(marginal.log_rates(best.values)) * seen

    def _widths(self, base: tuple[FloatArray, FloatArray], mu: float) -> FloatArray:
        """Standard deviations of the logits of levels, by curvature; (S,)."""
        step = np.full(self.of.max() + 1, _STEP)
        low, here, high = (self._log_likelihood(base, mu, k * step) for k in (-1, 0, 1))
        curvature = (2 * here - low - high) / _STEP**2
        return np.asarray(1 / np.sqrt(np.maximum(curvature, 0.0) + _LEAST_CURVATURE))

    def _likelihood(
        self, base: tuple[FloatArray, FloatArray], mu: float, width: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Log-likelihoods of levels on the fine grid (S, G), less the largest of each (S,)."""
        coarse = [self._log_likelihood(base, mu, each * width) for each in _COARSE]
        # Where sums over n end far below, a spline would swing.
        fine = PchipInterpolator(_COARSE, np.array(coarse))(_FINE).T
        most = fine.max(axis=1)
        return np.maximum(fine - most[:, None], _FARTHEST), most

    def _log_likelihood(
        self, base: tuple[FloatArray, FloatArray], mu: float, away: FloatArray
    ) -> FloatArray:
        """Log-likelihood of each level with so much added to its logits (S,); (S,)."""
        cells, (logit, expected) = self.marginal.cells, base
        p = expit(logit + away[self.of])
        rates = expected / np.bincount(cells.of, p, len(expected))
        log = log_likelihood(rates, p, cells.counts, cells.of, mu=mu, visits=cells.visits)
        return np.asarray(np.bincount(self.of[cells.starts[:-1]], log), dtype=np.float64)

    def _others(
        self, best: Optimum, design: FloatArray, size: int, rng: np.random.Generator
    ) -> FloatArray:
        """Draws of the other parameters, and of the levels' as far as they go with these; (R, P).

        `design` has the features of each level's logit, (S, S).
        """
        q, values = self.marginal.n_curves, best.values
        rest = np.setdiff1d(np.arange(q + 1 + self.marginal.n_rates), [*self.columns, q])
        every = np.repeat(values[None], size, axis=0)
        if len(rest):
            steps = _STEP * np.eye(len(values))[rest]
            ends = [
                [self.marginal.cost(best.form, values + k * e)[1] for e in steps] for k in (1, -1)
            ]
            rows = (np.array(ends[0]) - ends[1]) / (2 * _STEP)
            mu = self.marginal.mu(best.form, values)
            own = design.T / self._widths(self._base(best), mu) ** 2 @ design
            follow = np.linalg.solve(own, rows[:, self.columns].T)
            curvature = rows[:, rest] - rows[:, self.columns] @ follow
            every[:, rest] = normal_draws(values[rest], (curvature + curvature.T) / 2, size, rng)
            every[:, self.columns] -= (every[:, rest] - values[rest]) @ follow.T
        return every


def _log_of_all(
    x: FloatArray, fine: FloatArray, means: FloatArray, deviations: FloatArray
) -> FloatArray:
    """Log-likelihoods (K, S, G) of all levels at logits x (S, G), integrated out; (K, M).

    For each m and τ, τ slower.
    """
    means, deviations = (each.ravel()[:, None] for each in np.meshgrid(means, deviations))
    found = np.zeros((len(fine), len(means)))
    for level, own in enumerate(x):
        density = np.exp(-0.5 * ((own - means) / deviations) ** 2) / deviations
        share = density * (own[1] - own[0]) / math.sqrt(2 * math.pi)
        found += np.log(np.maximum(np.exp(fine[:, level]) @ share.T, 1e-300))
    return found

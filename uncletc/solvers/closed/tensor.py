"""A closed fit with two or more open modes: λ is a CP tensor, drawn given the true counts.

p and its level come from the likelihood in which cells are integrated out, about what the other
cells let expect of each, over the mean p of its levels (:mod:`~uncletc.solvers.closed.marginal`):
as many factors as a tensor has would explain part of what is chance in n, and make p too small.
Where each level of a mode has a p, these are drawn from a hierarchy
(:mod:`~uncletc.solvers.closed.hierarchy`). Given draws of p, a Gibbs sampler
draws n given λ and the counts, and the factors, whose priors are gamma, given n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import expit, log_expit

from uncletc.common.validation import FloatArray, IntArray
from uncletc.fitting.history import StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model.cp import fill_rows, products
from uncletc.model.negbin import dispersion, log_scores
from uncletc.result.fit_result import Fit
from uncletc.result.posterior import Doubt
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.hierarchy import Hierarchy
from uncletc.solvers.closed.level import doubt_of_empty_cells, doubts_of_level, doubts_of_residuals
from uncletc.solvers.closed.marginal import Form, Optimum
from uncletc.solvers.closed.sites import EXTRAS, USUAL, Search, Sites
from uncletc.solvers.closed.sums import draw_true_counts, likely_mu, log_likelihood, true_counts
from uncletc.solvers.uncertainty.draws import DRAWS

_STARTS, _SCREENED, _ROUNDS, _PREVIEW = 4, 50, 120, 20  # of EM
_REFINEMENTS = 6  # of μ and of the factors' prior
_SHAPE = 1.5  # of that prior at first
_SHAPES = (0.3, 10.0)
_SWEEPS, _BURNT = 2, 60  # of the Gibbs sampler, a draw and at first
_LONGER = 1.5  # times as long are steps of EM
_A_REPORT = 20  # draws
_MOST_MISSED = 1e12  # events of a cell
_FOLDS, _ROUNDS_OF_FOLD = 5, 60  # of cells that others let expect
_LEAST_RATIO = 1e-3  # of what factors let expect to what products of means do
_HALF = 0.5  # added to totals, so that none is 0
_PSEUDO_COUNTS = (*(2.0**k for k in range(-1, 7)), 256.0, 1e9)  # of levels that differ less
_SWEEPS_OF_MEANS = 3
_OF_SLOPES, _OF_LEVELS = 2.0, 0.5  # usual size of β, and of log factors about what β says


def fit_tensor(sites: Sites) -> Fit:
    """Fit counts with two or more open modes; see :mod:`uncletc.solvers.closed`."""
    about = replace(sites.cells, exposure=_expected_of_others(sites.cells, sites.settings))
    return _Search(sites, sites.marginal(about)).run()


def _products_of_means(cells: Cells) -> FloatArray:
    """Counts a visit that the other cells of its levels let expect of each; (C,).

    By factors of levels, (others + k) / (what is usual of these + k), where k, of each mode, is
    what makes counts likeliest: where levels hardly differ, their own counts say little of them.
    """
    visits, modes = np.diff(cells.starts), [*cells.indices.T]
    total, weights = np.bincount(cells.of, cells.counts, len(visits)), cells.exposure * visits
    level = (total.sum() - total + _HALF) / (weights.sum() - weights + _HALF)
    pseudo = [_HALF for _ in modes]
    factors = [np.ones(len(visits)) for _ in modes]  # with the cell's own counts

    def without(k: int) -> FloatArray:
        return np.asarray(weights * level * math.prod(factors[:k] + factors[k + 1 :]))

    def expected(pseudo: Sequence[float]) -> FloatArray:
        found = weights * level
        for k, at in enumerate(modes):
            usual = without(k)
            others, mean = (np.bincount(at, each)[at] - each for each in (total, usual))
            found *= (others + pseudo[k]) / (mean.clip(0.0) + pseudo[k])
        return np.asarray(found)

    def misfit(pseudo: Sequence[float]) -> float:
        mean = expected(pseudo)
        return float(log_scores(total, mean, dispersion(total, mean)).sum())

    for sweep in range(_SWEEPS_OF_MEANS):
        for k, at in enumerate(modes):
            if sweep:
                tried = [[*pseudo[:k], each, *pseudo[k + 1 :]] for each in _PSEUDO_COUNTS]
                pseudo = min(tried, key=misfit)
            own, usual = (np.bincount(at, each)[at] for each in (total, without(k)))
            factors[k] = (own + pseudo[k]) / (usual + pseudo[k])
    return expected(pseudo) / visits


def _expected_of_others(cells: Cells, settings: FitSettings) -> FloatArray:
    """Counts a visit that other cells let expect of each; (C,).

    By the products of means, by factors that were found without the cell, or a power of each: as
    counts are likeliest. Factors found with it would follow what is chance in its n.
    """
    found, visits = _products_of_means(cells), np.diff(cells.starts)
    total = np.bincount(cells.of, cells.counts, len(visits)).astype(np.float64)
    if settings.rank == 1 or not total.any():
        return found
    rng, weights = np.random.default_rng((settings.seed, 4)), cells.exposure * visits
    sizes = [int(at.max()) + 1 for at in cells.indices.T]
    values = [rng.uniform(0.5, 1.0, (size, settings.rank)) for size in sizes]
    fold, rates = rng.permutation(len(visits)) % _FOLDS, np.empty(len(visits))
    for k in range(_FOLDS):
        own, others = fold == k, fold != k
        part = replace(cells, indices=cells.indices[others])
        factors = _Factors(part, [*values])
        level = (total[others].sum() + _HALF) / float((factors.rates() * weights[others]).sum())
        factors.values = [u * level ** (1 / len(values)) for u in values]
        for number in range(_ROUNDS_OF_FOLD):
            factors.update(total[others], weights[others])
            if number % 5 == 4:
                factors.shape = factors.likely_shape()
        rates[own] = products(factors.values, cells.indices[own]).sum(axis=1)
    ratio = np.maximum(rates * cells.exposure / found, _LEAST_RATIO)
    blends = [found * ratio**power for power in np.linspace(0, 1, 5)]
    scores = [log_scores(total, m * visits, dispersion(total, m * visits)).sum() for m in blends]
    return np.asarray(blends[int(np.argmin(scores))])


@dataclass
class _Factors:
    """Factors of the open modes, given weights of cells.

    Attributes
    ----------
    cells : Cells
    values : list of ndarray, shape (I_k, F)
    shape : float
        Of the gamma prior of their elements.
    mu : float
        Of true counts about λ; infinite if Poisson.
    """

    cells: Cells
    values: list[FloatArray]
    shape: float = _SHAPE
    mu: float = math.inf

    def __post_init__(self) -> None:
        every = np.arange(len(self.cells.indices))
        self._sums = [
            csr_matrix((np.ones(len(at)), (at, every)), (len(u), len(at)))
            for at, u in zip(self.cells.indices.T, self.values, strict=True)
        ]

    def rates(self) -> FloatArray:
        """Σ_f ∏_k U of each cell; (C,)."""
        return np.asarray(np.maximum(products(self.values, self.cells.indices).sum(axis=1), 1e-300))

    def update(
        self, n: FloatArray, weights: FloatArray, rng: np.random.Generator | None = None
    ) -> None:
        """Take a step of EM, or draw where `rng` is given, given true counts n ~ Poisson(wλ)."""
        for k, at in enumerate(self.cells.indices.T):
            others = products(self.values, self.cells.indices, skip=k)
            if rng is None or not k:  # true counts of components are drawn once for all modes
                share = others * self.values[k][at]
                share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
                own = n[:, None] * share
            if rng is not None and not k:
                own[n > 0] = rng.multinomial(n[n > 0].astype(int), share[n > 0])
            room = self._sums[k] @ (others * weights[:, None])
            a = self.shape + self._sums[k] @ own
            b = self.shape / np.maximum(self.values[k].mean(axis=0), 1e-12) + room
            new = (a if rng is None else rng.gamma(a)) / b
            if rng is None:
                new = self.values[k] * (new / self.values[k]) ** _LONGER
            self.values[k] = np.maximum(new, 1e-30)

    def likely_shape(self) -> float:
        """Shape of the prior by log mean - mean log of a draw; an approximate inverse of ψ."""
        gaps = [np.log(u.mean(axis=0)) - np.log(u).mean(axis=0) for u in self.values]
        gap = max(float(np.mean(gaps)), 1e-3)
        shape = (3 - gap + math.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
        return min(max(shape, _SHAPES[0]), _SHAPES[1])


class _Slopes:
    """Steps of β, which factors of levels could follow: these are random about what β says.

    Attributes
    ----------
    of_levels : list of ndarray, shape (I_k, P)
        What levels of each open mode say of the covariates of λ, of mean 0.
    rest : ndarray, shape (C, P)
        Covariates less that of their levels.
    """

    def __init__(self, cells: Cells, lines: FloatArray, shape: Sequence[int]) -> None:
        rest, found = lines.copy(), [np.zeros((size, lines.shape[1])) for size in shape]
        for k in [*range(len(shape))] * _SWEEPS_OF_MEANS:
            at, mean = cells.indices[:, k], np.zeros_like(found[k])
            np.add.at(mean, at, rest)
            mean /= np.maximum(np.bincount(at, minlength=shape[k]), 1)[:, None]
            found[k] += mean
            rest -= mean[at]
        self.of_levels, self.rest = [each - each.mean(axis=0) for each in found], rest

    def move(
        self,
        beta: FloatArray,
        factors: _Factors,
        n: FloatArray,
        weights: FloatArray,
        rng: np.random.Generator | None = None,
    ) -> None:
        """Take a step of β (P,) and of factors with it, or draw it, given n ~ Poisson(wλ); (C,)."""
        if not beta.size:
            return
        mean = weights * factors.rates()
        precision = self.rest.T @ (mean[:, None] * self.rest) + np.eye(len(beta)) / _OF_SLOPES**2
        score = self.rest.T @ (n - mean) - beta / _OF_SLOPES**2
        for k, x in enumerate(self.of_levels):
            others = [u.mean(axis=0) for j, u in enumerate(factors.values) if j != k]
            log = np.log(factors.values[k] @ np.prod(others, axis=0))
            log -= log.mean()
            left = log - x @ np.linalg.lstsq(x, log, rcond=None)[0]
            free = max(len(x) - 1 - np.linalg.matrix_rank(x), 0) + 1
            squares = float(left @ left) + _OF_LEVELS**2
            variance = squares / (free if rng is None else rng.chisquare(free))
            precision += x.T @ x / variance
            score += x.T @ log / variance
        step = np.linalg.solve(precision, score)
        if rng is not None:
            step += np.linalg.solve(np.linalg.cholesky(precision).T, rng.standard_normal(len(beta)))
        beta += step
        for x, u in zip(self.of_levels, factors.values, strict=True):
            u *= np.exp(-x @ step)[:, None]


class _Search(Search):
    """The likeliest p, and factors given it."""

    @cached_property
    def slopes(self) -> _Slopes:
        """What steps of β need."""
        shape = [self.sites.counts.shape[mode] for mode in self.sites.cells.open_modes]
        return _Slopes(self.sites.cells, self.marginal.lines, shape)

    def run(self) -> Fit:
        """Maximise the posterior of p, estimate factors and μ, and draw."""
        modes = Hierarchy.of_modes(self.marginal, self.sites.features.columns.astype(int))
        own = next((mode for mode in modes if mode.has_own), None)
        rng = np.random.default_rng((self.sites.settings.seed, 1))
        # A hierarchy has the deviation of its own levels: there may be nothing else to smooth.
        smooth = own is None or len(own.columns) < self._last - 1
        likeliest, stop = self.settled() if smooth else self.maximise(USUAL, None)
        best, several = likeliest, np.empty((0, 0))
        if stop is StopReason.TOLERANCE:
            best, several = (own.posterior if own else self._posterior)(likeliest, DRAWS, rng)
        best = replace(best, values=best.values.copy())  # β moves with factors
        factors = self._factors(best, _ROUNDS)
        if stop is StopReason.TOLERANCE and self._unwanted(best, factors):
            stop = StopReason.CALLBACK
        if stop is not StopReason.TOLERANCE:
            return self._fit(stop, best, factors)
        draw, at = _copy(factors), best.values.copy()
        for _ in range(_BURNT):
            self._sweep(at, draw, rng)
            draw.shape = draw.shape**0.9 * draw.likely_shape() ** 0.1
        factors.shape = draw.shape
        self._settle(best, factors)
        drawn, n, logs = [], [], []
        draw, beta = _copy(factors), self._beta(best.values).copy()
        for number, values in enumerate(several):
            if number % _A_REPORT == 0 and self._unwanted(best, factors):
                return self._fit(StopReason.CALLBACK, best, factors)
            values = np.append(values[: self._last - len(beta)], beta)
            n.append([self._sweep(values, draw, rng) for _ in range(_SWEEPS)][-1])
            beta = self._beta(values).copy()
            logs.append([np.log(u) for u in draw.values])
            drawn.append(values)
        drawings = [np.stack(each, axis=2) for each in zip(*logs, strict=True)]
        moved = [each - each.mean(axis=2, keepdims=True) for each in drawings]
        values, numbers = np.array(drawn), np.stack(n, axis=1)
        doubts, total = self._doubts(likeliest, rng), numbers.sum(axis=0)
        doubts += self._doubts_of_numbers(best, factors, values, numbers)
        if any(mode.differs(likeliest) for mode in modes if not mode.has_own):
            doubts.append(Doubt.LEVELS)
        # Draws of N are skewed: its estimate is their median.
        means = numbers.mean(axis=1) * np.median(total) / max(total.mean(), 1e-300)
        mixture = "negative binomial" if math.isfinite(factors.mu) else "Poisson"
        population = self.sites.population(numbers, mixture, doubts, means)
        self._unwanted(best, factors)
        return self._fit(stop, best, factors, values, moved, population)

    def _posterior(
        self, likeliest: Optimum, size: int, rng: np.random.Generator
    ) -> tuple[Optimum, FloatArray]:
        """The likelier of it and Poisson true counts, and draws of both by how likely they are.

        Scatter that is 0 or more is found too large where there is none, and N with it.
        """
        marginal = self.marginal
        if marginal.given_mu is not None:
            return likeliest, marginal.draw_values(likeliest, size, rng)
        poisson = marginal.optimum(Form("Poisson"), likeliest.values)
        log = marginal.evidence(poisson) - marginal.evidence(likeliest)
        n = int(rng.binomial(size, expit(log)))
        drawn = marginal.draw_values(likeliest, size - n, rng)[:, : self._last]
        both = np.vstack([drawn, marginal.draw_values(poisson, n, rng)])
        return poisson if log > 0 else likeliest, both

    def _doubts(self, likeliest: Optimum, rng: np.random.Generator) -> list[Doubt]:
        """Doubts by other forms, of cells each with the λ that the likeliest p lets expect."""
        flat, cells = likeliest.values.copy(), self.marginal.cells
        flat[self.marginal.n_curves :] = 0.0
        alone = replace(
            cells,
            indices=np.arange(len(cells.indices))[:, None],
            exposure=np.exp(self.marginal.log_rates(flat)) * expit(flat[0]),
        )
        compared = Search(self.sites, self.sites.marginal(alone)).compared
        return compared(likeliest, rng, EXTRAS[:-1])[0]  # of several species some are not there

    def _doubts_of_numbers(
        self, best: Optimum, factors: _Factors, values: FloatArray, numbers: IntArray
    ) -> list[Doubt]:
        """Doubts by draws of parameters (R, P) and n (C, R), by residuals and by empty cells."""
        levels = self.marginal.design.mean_detection(values[:, : self.marginal.n_curves])
        cells, p = self.sites.cells, expit(self.marginal.logits(best.values))
        _, rates, log_theta, _ = self._seen(best.values, factors)
        mean = true_counts(log_theta, cells.visits, factors.mu).mean
        found = doubts_of_level(levels, numbers)
        found += doubts_of_residuals(self.sites.counts, cells, p, mean)
        return found + doubt_of_empty_cells(cells, p, rates[:, None], factors.mu)

    def result(self, best: Optimum, stop: StopReason) -> Fit:  # type: ignore[override]
        """Return the estimates so far."""
        return self._fit(stop, best, self._factors(best, _PREVIEW))

    def _unwanted(self, best: Optimum, factors: _Factors) -> bool:
        """Report factors to the callback; return whether it asks to stop."""
        log = self._log_likelihood(best, factors)
        stop = self.sites.report(log, lambda why: self._fit(why, best, factors))
        return stop is StopReason.CALLBACK

    @property
    def _last(self) -> int:
        return int(self.marginal.n_curves + 1 + self.marginal.n_rates)

    def _weights(self, values: FloatArray) -> FloatArray:
        """Exposure, and what covariates of λ say; (C,)."""
        log = self.marginal.lines @ self._beta(values)
        return np.asarray(self.sites.cells.exposure * np.exp(log))

    def _beta(self, values: FloatArray) -> FloatArray:
        return values[self.marginal.n_curves + 1 : self._last]

    def _log_likelihood(self, best: Optimum, factors: _Factors) -> float:
        """Of all counts."""
        cells, p = self.sites.cells, expit(self.marginal.logits(best.values))
        rates = self._weights(best.values) * factors.rates()
        return float(log_likelihood(rates, p, cells.counts, cells.of, mu=factors.mu).sum())

    def _seen(
        self, values: FloatArray, factors: _Factors
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Weights of cells, λ, log θ, and 1 - q, or 1 where n itself is drawn; (C,) each."""
        cells, log = self.sites.cells, log_expit(-self.marginal.logits(values))
        log_missed, mu = np.bincount(cells.of, log, len(cells.indices)), factors.mu
        weights = self._weights(values)
        rates = weights * factors.rates()
        log_theta = np.log(rates) + log_missed - (np.log(mu + rates) if mu < math.inf else 0.0)
        caught = np.where(cells.visits.few, -np.expm1(log_missed), 1.0)
        return weights, rates, np.asarray(log_theta), caught

    def _factors(self, best: Optimum, rounds: int) -> _Factors:
        """Likeliest factors and μ given p, by EM from several starts."""
        cells, given = self.sites.cells, self.sites.settings.mu
        rng = np.random.default_rng((self.sites.settings.seed, 3))
        weights, visits = self._weights(best.values), np.diff(cells.starts)
        p = expit(self.marginal.logits(best.values))
        goal = max(cells.counts.sum() / max(p.mean(), 1e-6), 0.5)
        starts = []
        for _ in range(_STARTS):
            sizes = [self.sites.counts.shape[mode] for mode in cells.open_modes]
            values = [rng.uniform(0.5, 1.0, (size, self.sites.settings.rank)) for size in sizes]
            start = _Factors(cells, values, mu=math.inf if given is None else given)
            level = goal / float((start.rates() * weights * visits).sum())
            start.values = [u * level ** (1 / len(values)) for u in values]
            self._climb(best.values, start, min(_SCREENED, rounds))
            starts.append(start)
        chosen = max(starts, key=partial(self._log_likelihood, best))
        if rounds > _SCREENED:
            self._settle(best, chosen)
        return chosen

    def _settle(self, best: Optimum, factors: _Factors) -> None:
        """Go on by EM, to the likeliest μ too unless the settings give it."""
        cells, p = self.sites.cells, expit(self.marginal.logits(best.values))
        for _ in range(_REFINEMENTS):
            self._climb(best.values, factors, _ROUNDS // _REFINEMENTS)
            counted = self._counted(best.values, factors)
            self.slopes.move(self._beta(best.values), factors, *counted)
            if self.sites.settings.mu is None:
                rates = self._weights(best.values) * factors.rates()
                factors.mu = likely_mu(rates, p, cells.counts, cells.of)

    def _climb(self, values: FloatArray, factors: _Factors, rounds: int) -> None:
        """Take rounds of EM about how many events were counted at all.

        About all true events it would take far more rounds where most are missed.
        """
        for _ in range(rounds):
            factors.update(*self._counted(values, factors))

    def _counted(self, values: FloatArray, factors: _Factors) -> tuple[FloatArray, FloatArray]:
        """Events that are counted at all, given their counts, and their mean over factors; (C,)."""
        weights, rates, log_theta, caught = self._seen(values, factors)
        visits, mu = self.sites.cells.visits, factors.mu
        found = true_counts(log_theta, visits, mu)
        k = np.where(visits.few, found.caught, found.mean)
        own = (mu + k) / (mu + rates * caught) if mu < math.inf else 1.0
        return k, weights * own * caught

    def _sweep(self, values: FloatArray, factors: _Factors, rng: np.random.Generator) -> IntArray:
        """Draw counted events given factors, factors given these, and return n of both; (C,)."""
        weights, rates, log_theta, caught = self._seen(values, factors)
        mu = factors.mu
        k = draw_true_counts(log_theta, self.sites.cells.visits, mu, rng, whole=False)
        own = rng.gamma(mu + k) / (mu + rates * caught) if mu < math.inf else 1.0
        counted = k.astype(float), weights * own * caught
        factors.update(*counted, rng)
        self.slopes.move(self._beta(values), factors, *counted, rng)
        missed = self._weights(values) * own * factors.rates() * (1 - caught)
        return np.asarray(k + rng.poisson(np.minimum(missed, _MOST_MISSED)))

    def _fit(self, stop: StopReason, best: Optimum, factors: _Factors, *drawn: Any) -> Fit:
        cells, own = self.sites.cells, self._weights(best.values) * factors.rates()
        every = fill_rows(factors.values, cells.indices)
        return self.sites.assemble(stop, best.values[: self._last], every, own, factors.mu, *drawn)


def _copy(factors: _Factors) -> _Factors:
    return replace(factors, values=[u.copy() for u in factors.values])

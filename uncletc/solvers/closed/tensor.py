"""A closed fit with two or more open modes: λ is a CP tensor, drawn given the true counts.

p and its level come from the likelihood in which cells are integrated out, about what the other
cells let expect of each, over the mean p of its levels (:mod:`~uncletc.solvers.closed.marginal`):
as many factors as a tensor has would explain part of what is chance in n, and make p too small.
Where each level of a mode has a p, these are drawn from a hierarchy
(:mod:`~uncletc.solvers.closed.hierarchy`). Given draws of p, a Gibbs sampler
draws n given λ and the counts, and the factors, whose priors are gamma, given n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import expit, log_expit

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model.cp import fill_rows, products
from uncletc.model.negbin import dispersion, log_scores
from uncletc.result.fit_result import Callback, Fit
from uncletc.result.posterior import Doubt, Population
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.hierarchy import Hierarchy
from uncletc.solvers.closed.level import doubt_of_empty_cells, doubts_of_level, doubts_of_residuals
from uncletc.solvers.closed.marginal import Optimum
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


def fit_tensor(
    counts: CountTensor, settings: FitSettings, cells: Cells, callback: Callback | None
) -> Fit:
    """Fit counts with two or more open modes; see :mod:`uncletc.solvers.closed`."""
    sites = Sites.of(counts, settings, cells, callback)
    about = replace(cells, exposure=_expected_of_others(cells, settings))
    return _Search(sites, sites.marginal(about)).run()


def _products_of_means(cells: Cells) -> FloatArray:
    """Counts a visit that the other cells of its levels let expect of each; (C,)."""
    visits = np.diff(cells.starts)
    total = np.bincount(cells.of, cells.counts, len(visits))
    expected = cells.exposure * visits
    for at in [*cells.indices.T] * 2:
        expected *= ((np.bincount(at, total) + _HALF) / (np.bincount(at, expected) + _HALF))[at]
    found = expected / visits
    for at in cells.indices.T:
        others, mean = (np.bincount(at, each)[at] - each for each in (total, expected))
        found *= (others + _HALF) / (mean.clip(0.0) + _HALF)
    return np.asarray(found)


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
    """

    cells: Cells
    values: list[FloatArray]
    shape: float = _SHAPE

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


class _Search(Search):
    """The likeliest p, and factors given it."""

    def run(self) -> Fit:
        """Maximise the posterior of p, estimate factors and μ, and draw."""
        modes = Hierarchy.of_modes(self.marginal, self.sites.features.columns.astype(int))
        own = next((mode for mode in modes if mode.has_own), None)
        rng = np.random.default_rng((self.sites.settings.seed, 1))
        # A hierarchy has the deviation of its own levels: there may be nothing else to smooth.
        smooth = own is None or len(own.columns) < self._last - 1
        likeliest, stop = self.settled() if smooth else self.maximise(USUAL, None)
        best, several = likeliest, None
        if stop is StopReason.TOLERANCE and own is not None:
            best, several = own.posterior(likeliest, DRAWS, rng)
        factors, mu = self._factors(best, _ROUNDS)
        if stop is StopReason.TOLERANCE and self._unwanted(best, factors, mu):
            stop = StopReason.CALLBACK
        if stop is not StopReason.TOLERANCE:
            return self._fit(stop, best, factors, mu)
        if several is None:
            several = self.marginal.draw_values(best, DRAWS, rng)
        draw = replace(factors, values=list(factors.values))
        for _ in range(_BURNT):
            self._sweep(best.values, draw, mu, rng)
            draw.shape = draw.shape**0.9 * draw.likely_shape() ** 0.1
        factors.shape = draw.shape
        mu = self._settle(best, factors, mu)
        drawn, n, logs = [], [], []
        draw = replace(factors, values=list(factors.values))
        for number, values in enumerate(several):
            if number % _A_REPORT == 0 and self._unwanted(best, factors, mu):
                return self._fit(StopReason.CALLBACK, best, factors, mu)
            values = values[: self._last]
            n.append([self._sweep(values, draw, mu, rng) for _ in range(_SWEEPS)][-1])
            logs.append([np.log(u) for u in draw.values])
            drawn.append(values)
        drawings = [np.stack(each, axis=2) for each in zip(*logs, strict=True)]
        moved = [each - each.mean(axis=2, keepdims=True) for each in drawings]
        values, numbers = np.array(drawn), np.stack(n, axis=1)
        doubts, total = self._doubts(likeliest, rng), numbers.sum(axis=0)
        doubts += self._doubts_of_numbers(best, factors, mu, values, numbers)
        if any(mode.differs(likeliest) for mode in modes if not mode.has_own):
            doubts.append(Doubt.LEVELS)
        population = Population(
            self.sites.cells.whole(self.sites.counts.shape),
            numbers,
            "negative binomial" if math.isfinite(mu) else "Poisson",
            doubts=tuple(doubt for doubt in Doubt if doubt in doubts),
            # Draws of N are skewed: its estimate is their median.
            estimates=numbers.mean(axis=1) * np.median(total) / max(total.mean(), 1e-300),
        )
        self._unwanted(best, factors, mu)
        return self._fit(stop, best, factors, mu, values, moved, population)

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
        self, best: Optimum, factors: _Factors, mu: float, values: FloatArray, numbers: IntArray
    ) -> list[Doubt]:
        """Doubts by draws of parameters (R, P) and n (C, R), by residuals and by empty cells."""
        levels = self.marginal.design.mean_detection(values[:, : self.marginal.n_curves])
        cells, p = self.sites.cells, expit(self.marginal.logits(best.values))
        rates = self._rates(best.values, factors)
        log_theta = _log_theta(rates, self._log_missed(best.values), mu)
        mean = true_counts(log_theta, cells.visits, mu).mean
        found = doubts_of_level(levels, numbers)
        found += doubts_of_residuals(self.sites.counts, cells, p, mean)
        return found + doubt_of_empty_cells(cells, p, rates[:, None], mu)

    def result(self, best: Optimum, stop: StopReason) -> Fit:  # type: ignore[override]
        """Return the estimates so far."""
        return self._fit(stop, best, *self._factors(best, _PREVIEW))

    def _unwanted(self, best: Optimum, factors: _Factors, mu: float) -> bool:
        """Report factors to the callback; return whether it asks to stop."""
        cells, p = self.sites.cells, expit(self.marginal.logits(best.values))
        log = log_likelihood(self._rates(best.values, factors), p, cells.counts, cells.of, mu=mu)
        stop = self.sites.report(float(log.sum()), lambda why: self._fit(why, best, factors, mu))
        return stop is StopReason.CALLBACK

    @property
    def _last(self) -> int:
        return int(self.marginal.n_curves + 1 + self.marginal.n_rates)

    def _weights(self, values: FloatArray) -> FloatArray:
        """Exposure, and what covariates of λ say; (C,)."""
        beta = values[self.marginal.n_curves + 1 : self._last]
        return np.asarray(self.sites.cells.exposure * np.exp(self.marginal.lines @ beta))

    def _rates(self, values: FloatArray, factors: _Factors) -> FloatArray:
        return self._weights(values) * factors.rates()

    def _log_missed(self, values: FloatArray) -> FloatArray:
        """log q of each cell; (C,)."""
        cells, log = self.sites.cells, log_expit(-self.marginal.logits(values))
        return np.asarray(np.bincount(cells.of, log, len(cells.indices)))

    def _factors(self, best: Optimum, rounds: int) -> tuple[_Factors, float]:
        """Likeliest factors and μ given p, by EM from several starts."""
        cells, given = self.sites.cells, self.sites.settings.mu
        rng = np.random.default_rng((self.sites.settings.seed, 3))
        mu = math.inf if given is None else given
        weights, visits = self._weights(best.values), np.diff(cells.starts)
        p = expit(self.marginal.logits(best.values))
        goal = max(cells.counts.sum() / max(p.mean(), 1e-6), 0.5)
        starts = []
        for _ in range(_STARTS):
            sizes = [self.sites.counts.shape[mode] for mode in cells.open_modes]
            values = [rng.uniform(0.5, 1.0, (size, self.sites.settings.rank)) for size in sizes]
            start = _Factors(cells, values)
            level = goal / float((start.rates() * weights * visits).sum())
            start.values = [u * level ** (1 / len(values)) for u in values]
            self._climb(best.values, start, mu, min(_SCREENED, rounds))
            starts.append(start)

        def misfit(factors: _Factors) -> float:
            rates = self._rates(best.values, factors)
            return -float(log_likelihood(rates, p, cells.counts, cells.of, mu=mu).sum())

        chosen = min(starts, key=misfit)
        return chosen, self._settle(best, chosen, mu) if rounds > _SCREENED else mu

    def _settle(self, best: Optimum, factors: _Factors, mu: float) -> float:
        """Go on by EM; return the likeliest μ, unless the settings give it."""
        cells, given = self.sites.cells, self.sites.settings.mu
        p = expit(self.marginal.logits(best.values))
        for _ in range(_REFINEMENTS):
            self._climb(best.values, factors, mu, _ROUNDS // _REFINEMENTS)
            if given is None:
                rates = self._rates(best.values, factors)
                mu = likely_mu(rates, p, cells.counts, cells.of)
        return mu

    def _climb(self, values: FloatArray, factors: _Factors, mu: float, rounds: int) -> None:
        """Take rounds of EM about how many events were counted at all.

        About all true events it would take far more rounds where most are missed.
        """
        cells, weights = self.sites.cells, self._weights(values)
        log_missed = self._log_missed(values)
        caught = _share_caught(cells, log_missed)
        for _ in range(rounds):
            rates = weights * factors.rates()
            log_theta = _log_theta(rates, log_missed, mu)
            found = true_counts(log_theta, cells.visits, mu)
            k = np.where(cells.visits.few, found.caught, found.mean)
            own = (mu + k) / (mu + rates * caught) if mu < math.inf else 1.0
            factors.update(k, weights * own * caught)

    def _sweep(
        self, values: FloatArray, factors: _Factors, mu: float, rng: np.random.Generator
    ) -> IntArray:
        """Draw counted events given factors, factors given these, and return n of both; (C,)."""
        cells, weights = self.sites.cells, self._weights(values)
        rates, log_missed = weights * factors.rates(), self._log_missed(values)
        caught, log_theta = _share_caught(cells, log_missed), _log_theta(rates, log_missed, mu)
        k = draw_true_counts(log_theta, cells.visits, mu, rng, whole=False)
        own = rng.gamma(mu + k) / (mu + rates * caught) if mu < math.inf else 1.0
        factors.update(k.astype(float), weights * own * caught, rng)
        missed = weights * own * factors.rates() * (1 - caught)
        return np.asarray(k + rng.poisson(np.minimum(missed, _MOST_MISSED)))

    def _fit(
        self, stop: StopReason, best: Optimum, factors: _Factors, mu: float, *drawn: Any
    ) -> Fit:
        cells, own = self.sites.cells, self._rates(best.values, factors)
        every = fill_rows(factors.values, cells.indices)
        return self.sites.assemble(stop, best.values[: self._last], every, own, mu, *drawn)


def _log_theta(rates: FloatArray, log_missed: FloatArray, mu: float) -> FloatArray:
    return np.asarray(np.log(rates) + log_missed - (np.log(mu + rates) if mu < math.inf else 0.0))


def _share_caught(cells: Cells, log_missed: FloatArray) -> FloatArray:
    """1 - q of each cell, or 1 where n itself is drawn; (C,)."""
    return np.where(cells.visits.few, -np.expm1(log_missed), 1.0)

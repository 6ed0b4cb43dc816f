"""A closed fit with one open mode: sites are integrated out, and estimated from their counts."""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import torch
from scipy.linalg import solve
from scipy.special import expit

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError, History, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model.rates import RateTable
from uncletc.result.fit_result import Callback, Fit
from uncletc.result.posterior import Doubt, Draws, Population
from uncletc.solvers.closed import level as tests
from uncletc.solvers.closed.cells import Cells, exposure_varies
from uncletc.solvers.closed.design import Design
from uncletc.solvers.closed.marginal import Extra, Form, Marginal, Optimum, variances
from uncletc.solvers.closed.sums import likely_mu
from uncletc.solvers.joint.dispersion import pearson_dispersion
from uncletc.solvers.joint.members import curves_of
from uncletc.solvers.joint.optimum import member_of
from uncletc.solvers.joint.smoothing import Smoothing
from uncletc.solvers.uncertainty.draws import DRAWS

ANCHOR = "repeat visits"
USUAL, _OTHERS = Form("negative binomial"), (Form("Poisson"), Form("log-normal"))
EXTRAS: tuple[Extra, ...] = ("between visits", "between sites", "empty sites")
_REFINEMENTS = 2  # of how smooth curves are
_ROUNDS_OF_SMOOTHING = 20  # about each optimum
_MOST_COMPARED = 250  # cells on which forms are compared
_POISSON = 1e3  # μ from which true counts are called Poisson
_LEAST_MEAN = 0.1  # in Pearson's statistic: one count where next to none is expected

Drawn = tuple[FloatArray, FloatArray, Population]
"""Draws: θ, log λ·p at covariates of 0 and β (R, Q + 1 + P); λ of each site (C, R); and N."""


class Sites:
    """A fit under way, whatever its likelihood.

    Parameters
    ----------
    counts : CountTensor
    settings : FitSettings
    cells : Cells
    callback : callable, optional

    Attributes
    ----------
    features : AttributeFeatures
        Curves of p.
    design : Design
        Features of each count.
    rate_table : RateTable, optional
        Attributes that act on λ.
    lines : ndarray, shape (C, P)
        Standardised attributes that act on λ.
    """

    def __init__(
        self, counts: CountTensor, settings: FitSettings, cells: Cells, callback: Callback | None
    ) -> None:
        self.counts, self.settings, self.cells = counts, settings, cells
        rng = np.random.default_rng(settings.seed)
        z = counts.attributes if counts.n_attributes else cells.attributes
        self.features = curves_of(z, counts, settings, rng)
        self.rate_table: RateTable | None = None
        self.lines: FloatArray = np.empty((len(cells.indices), 0))
        if len(cells.rate_indices):
            given = counts.shape, cells.rate_indices, cells.rate_attributes
            self.rate_table = RateTable.of(*given, rng, ranks=settings.by_ranks)
            self.lines = self.rate_table.columns(cells.whole(counts.shape))
        size = self.features.n_features + self.lines.shape[1]
        self.smoothing = Smoothing(self.features, size, 1)
        self.design = Design.of(self.features, cells.attributes)
        self.history: History[Fit] = History(callback)

    def report(
        self, log_likelihood: float, result: Callable[[StopReason], Fit]
    ) -> StopReason | None:
        """Tell the callback of a step; return why to stop, if there is a reason."""
        value = -log_likelihood / self.counts.n_observed
        if not math.isfinite(value):
            raise FitError(f"the likelihood became {value}; check the counts for huge values")
        if self.history.add(value, result):
            return StopReason.CALLBACK
        most = self.settings.max_iter
        return StopReason.MAX_ITER if len(self.history.records) > most else None

    def marginal(self, cells: Cells) -> Marginal:
        """The likelihood of counts with the factors of cells integrated out."""
        bounded, mu = self.smoothing.bounded.numpy(), self.settings.mu
        return Marginal(cells, self.design, self.lines, self.precisions(), bounded, mu)

    def population(
        self, n: IntArray, mixture: str, doubts: Sequence[Doubt], means: FloatArray | None = None
    ) -> Population:
        """Draws of n of each cell (C, R), and why their level cannot be believed."""
        found = tuple(doubt for doubt in Doubt if doubt in doubts)
        return Population(self.cells.whole(self.counts.shape), n, mixture, found, means)

    def precisions(self) -> FloatArray:
        """Of θ and β under the prior."""
        return np.asarray(self.smoothing.prior()[0].numpy())

    def smooth(self, coefficients: FloatArray, variance: FloatArray) -> None:
        """Let curves bend as far as θ and β, and how uncertain they are, say."""
        theta, prior, of_theta = (
            torch.from_numpy(each)[None] for each in (coefficients, self.precisions(), variance)
        )
        self.smoothing.update(theta, prior, of_theta)

    def smooth_about(self, values: FloatArray, hessian: FloatArray) -> FloatArray:
        """The same, as if the posterior were normal; return where its optimum is then.

        Parameters
        ----------
        values : ndarray, shape (Q + 1 + P + S,)
            θ, a level, β and what else there is, at the optimum.
        hessian : ndarray, shape (Q + 1 + P + S, Q + 1 + P + S)
            Second derivatives of minus the log posterior there.
        """
        rest = np.delete(np.arange(len(self.precisions()) + 1), self.features.n_features)
        bound = np.zeros(len(values), dtype=bool)
        bound[rest] = self.smoothing.bounded.numpy() & (values[rest] <= 0)
        free = np.flatnonzero(~bound)
        pull, before, moved = (hessian @ values)[free], self.precisions(), values.copy()
        for _ in range(_ROUNDS_OF_SMOOTHING):
            change = np.zeros(len(values))
            change[rest] = self.precisions() - before
            own = (hessian + np.diag(change))[np.ix_(free, free)]
            moved[free] = solve(own, pull)
            variance = np.zeros(len(values))
            variance[free] = variances(own)
            self.smooth(moved[rest], variance[rest])
        return moved

    def fit(
        self,
        stop: StopReason,
        values: FloatArray,
        rates: FloatArray,
        mu: float,
        drawn: Drawn | None = None,
        *,
        available: FloatArray | None = None,
    ) -> Fit:
        """Return the estimates.

        Parameters
        ----------
        stop : StopReason
        values : ndarray, shape (Q + 1 + P,)
            θ, log λ·p at covariates of 0, β.
        rates : ndarray, shape (C,)
            λ with the factor of each site.
        mu : float
            Of true counts about λ without that factor.
        drawn : Drawn, optional
            Draws of a finished fit.
        available : ndarray, shape (N,), optional
            Share of n that is there to be counted each time; λ is of these. None: all are.
        """
        cells, lines, q = self.cells, self.lines, self.features.n_features
        theta, level, beta = values[:q], values[q], values[q + 1 :]
        base = math.exp(level) / expit(theta[0])
        own = base * cells.exposure * np.exp(lines @ beta)
        (mode,) = cells.open_modes
        rows = np.full((self.counts.shape[mode], 1), base)
        visited = cells.indices[:, 0]
        rows[visited, 0] = rates / cells.exposure / np.exp(lines @ beta)
        if drawn is None:
            return self.assemble(stop, values, [rows], own, mu, available=available)
        parameters, each, found = drawn
        deviations = np.repeat((parameters[:, q] - level)[None], len(rows), axis=0)
        deviations -= np.logaddexp(0, -theta[0]) - np.logaddexp(0, -parameters[:, 0])
        noise = np.random.default_rng((self.settings.seed, 2)).standard_normal(deviations.shape)
        deviations += noise * math.sqrt(math.log1p(1 / mu))
        slopes = (parameters[:, q + 1 :] - beta).T
        deviations[visited] = np.log(each / rates[:, None]) - lines @ slopes
        draws = parameters, [deviations[:, None]], found
        return self.assemble(stop, values, [rows], own, mu, *draws, available=available)

    def assemble(
        self,
        stop: StopReason,
        values: FloatArray,
        factors: Sequence[FloatArray],
        own: FloatArray,
        mu: float,
        drawn: FloatArray | None = None,
        moved: Sequence[FloatArray] = (),
        population: Population | None = None,
        *,
        available: FloatArray | None = None,
    ) -> Fit:
        """Return the fit with these factors of the open modes.

        Parameters
        ----------
        stop : StopReason
        values : ndarray, shape (Q + 1 + P,)
            θ, the level of λ, β.
        factors : list of ndarray, shape (I_k, F)
        own : ndarray, shape (C,)
            Mean of true counts, whose dispersion is 1 / `mu`.
        mu : float
        drawn : ndarray, shape (R, Q + 1 + P), optional
            Draws of `values`.
        moved : list of ndarray, shape (I_k, F, R)
            Log factors of each draw less those above.
        population : Population, optional
        available : ndarray, shape (N,), optional
            As :meth:`fit` has it.
        """
        counts, cells, q = self.counts, self.cells, self.features.n_features
        theta, beta = values[:q], values[q + 1 :]
        every = [np.ones((size, factors[0].shape[1])) for size in counts.shape]
        for mode, each in zip(cells.open_modes, factors, strict=True):
            every[mode] = each
        draws = None
        if drawn is not None:
            logs = [np.zeros((*each.shape, DRAWS), dtype=np.float32) for each in every]
            for mode, each in zip(cells.open_modes, moved, strict=True):
                logs[mode] = each.astype(np.float32)
            draws = Draws(
                factors=tuple(logs),
                coefficients=(drawn[:, :q] - theta).T.astype(np.float32),
                level=np.zeros(DRAWS, dtype=np.float32),
                slopes=(drawn[:, q + 1 :] - beta).T.astype(np.float32, order="C"),
            )
        p = expit(self.design @ theta)
        coefficients = np.concatenate([theta, beta])
        member = member_of(every, self.features, self.rate_table, coefficients, anchored=True)
        observed = np.empty(counts.n_observed)
        observed[cells.order] = p
        mean, exposure = own[cells.of] * p, counts.exposure
        if counts.protocol and available is not None:
            mean, exposure = mean * available, self._exposed(available)
        variance = np.maximum(mean, _LEAST_MEAN) * (1 + mean / mu)
        over = member.detection(counts.attributes) if counts.n_attributes else p
        pearson = float(((cells.counts - mean) ** 2 / variance).mean())
        mu = mu if mu < _POISSON or self.settings.mu is not None else math.inf
        likely = mu
        if self.settings.mu is not None:
            likely = likely_mu(own, p, cells.counts, cells.of)
        anchor = counts.protocol or ANCHOR
        anchor += ", where all are seen at distance 0" if "transect" in anchor else ""
        n_parameters = len(coefficients) + 1
        if len(cells.open_modes) > 1:
            n_parameters += sum(each.size for each in factors)
        return Fit(
            **vars(member),
            observed_detection=observed,
            history=tuple(self.history.records),
            stop=stop,
            settings=self.settings,
            counts_digest=counts.digest,
            exposure=exposure,
            mean_detection=float(over.mean()),
            mu=mu,
            likely_mu=likely,
            dispersion=pearson_dispersion(pearson, counts.n_observed, n_parameters),
            draws=draws,
            population=population,
            anchored_by=anchor if population is not None and not population.doubts else "",
        )

    def _exposed(self, available: FloatArray) -> FloatArray:
        """Exposure times the share of n that is there, of a level where an entry has no count."""
        counts, cells = self.counts, self.cells
        (mode,) = (k for k in range(2) if k not in cells.open_modes)
        where = counts.indices[cells.order]
        sums, seen = (np.bincount(where[:, mode], w, counts.shape[mode]) for w in (available, None))
        share = np.expand_dims(sums / np.maximum(seen, 1), 1 - mode)
        table = np.broadcast_to(share, counts.shape).copy()
        table[tuple(where.T)] = available
        as_effort = exposure_varies(counts, cells.open_modes)
        return table if counts.exposure is None or as_effort else table * counts.exposure


@dataclass(frozen=True, eq=False)
class Search:
    """The likeliest parameters of unmarked animals."""

    sites: Sites
    marginal: Marginal

    def settled(self) -> tuple[Optimum, StopReason]:
        """Maximise the posterior of the usual form, and how smooth curves are."""
        best, stop = self.maximise(USUAL, None)
        for _ in range(_REFINEMENTS):
            if stop is StopReason.TOLERANCE:
                near = self.sites.smooth_about(best.values, self.marginal.hessian(best))
                self.marginal.set_precisions(self.sites.precisions())
                best, stop = self.maximise(USUAL, near)
        return best, stop

    def run(self) -> Fit:
        """Maximise the posterior, compare other forms, and draw."""
        rng = np.random.default_rng((self.sites.settings.seed, 1))
        best, stop = self.settled()
        if stop is not StopReason.TOLERANCE:
            return self.result(best, stop)
        doubts, chosen = self.compared(best, rng)
        varied, shares = self.marginal.correlations(best)
        if chosen != USUAL:
            best, stop = self.maximise(chosen, best.values)
        n = rng.multinomial(DRAWS // 2, shares)
        several = zip(varied, n.tolist(), strict=True)
        forms = [(best, DRAWS - DRAWS // 2), *((each, size) for each, size in several if size)]
        return self.result(best, stop, rng, doubts, forms)

    def compared(
        self, best: Optimum, rng: np.random.Generator, extras: Sequence[Extra] = EXTRAS
    ) -> tuple[list[Doubt], Form]:
        """Doubts of the level by other forms, and the likeliest form."""
        few = self.marginal.some_cells(_MOST_COMPARED, rng)
        base = few.optimum(USUAL, best.values) if few is not self.marginal else best
        mixtures = [base]
        if self.sites.settings.mu is None:
            mixtures += [few.near(each, base.values) for each in _OTHERS]
        chosen = max(mixtures[::2], key=lambda each: each.log_likelihood).form
        doubts = tests.doubt_of_mixtures(few, mixtures)
        most = max(each.log_likelihood for each in mixtures)
        for extra in extras:
            form = Form(USUAL.mixture, extra)
            if few.near(form, base.values).log_likelihood - most > tests.LIKELIER:
                between = extra == "between visits"
                doubts.append(Doubt.SCATTER if between else Doubt.SITES)
                chosen = form if between else chosen
        correlated = self.marginal.correlated(best, tests.small_correlation(self.marginal.cells))
        doubts += tests.doubts_of_scores(self.marginal, best)
        return doubts + tests.doubt_of_correlation(self.marginal, best, correlated), chosen

    def maximise(self, form: Form, start: FloatArray | None) -> tuple[Optimum, StopReason]:
        """Maximise, and report each step to the callback."""
        stop: StopReason | None = None

        def report(values: FloatArray) -> None:
            nonlocal stop
            log = float(self.marginal.log_likelihood(form, values).sum())
            now = Optimum(form, values.copy(), log)
            stop = self.sites.report(log, lambda reason: self.result(now, reason))
            if stop is not None:
                raise StopIteration

        if start is None:
            start = self.marginal.start(form)
            with suppress(StopIteration):
                report(start)
            if stop is not None:
                log = float(self.marginal.log_likelihood(form, start).sum())
                return Optimum(form, start, log), stop
        return self.marginal.optimum(form, start, report), stop or StopReason.TOLERANCE

    def result(
        self,
        best: Optimum,
        stop: StopReason,
        rng: np.random.Generator | None = None,
        doubts: Sequence[Doubt] = (),
        forms: Sequence[tuple[Optimum, int]] = (),
    ) -> Fit:
        """Return the estimates, with so many draws of each form where `rng` is given."""
        counts, marginal, cells = self.sites.counts, self.marginal, self.marginal.cells
        form, values = best.form, best.values
        q, last = marginal.n_curves, marginal.n_curves + 1 + marginal.n_rates
        numbers, rates = marginal.expected(form, values)
        drawn = None
        if rng is not None:
            parts, each = [], []
            for other, size in forms:
                these = marginal.draw_values(other, size, rng)
                each += [marginal.draw(other.form, one, rng) for one in these]
                parts.append(these[:, :last])
            several = np.concatenate(parts)
            n, rate = (np.stack(drawings, axis=1) for drawings in zip(*each, strict=True))
            levels = marginal.design.mean_detection(several[:, :q])
            p = expit(marginal.logits(values))
            found = [*doubts, *tests.doubts_of_residuals(counts, cells, p, numbers)]
            found += tests.doubt_of_empty_cells(cells, p, rate) + tests.doubts_of_level(levels, n)
            population = self.sites.population(n, form.mixture, found)
            drawn = several, rate, population
            if not population.doubts:
                rates = rate.mean(axis=1)
        return self.sites.fit(stop, values[:last], rates, marginal.mu(form, values), drawn)

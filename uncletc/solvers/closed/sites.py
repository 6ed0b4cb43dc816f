"""A closed fit with one open mode: sites are integrated out, and estimated from their counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.linalg import eigh
from scipy.special import expit

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError, History, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model.features import AttributeFeatures
from uncletc.model.rates import RateTable
from uncletc.result.fit_result import Callback, Fit
from uncletc.result.population import Doubt, Population
from uncletc.result.posterior import Draws
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.level import (
    CORRELATION,
    LIKELIER,
    doubt_of_correlation,
    doubt_of_mixtures,
    doubts_of_level,
    doubts_of_residuals,
)
from uncletc.solvers.closed.marginal import Form, Marginal, Optimum
from uncletc.solvers.closed.state import Problem
from uncletc.solvers.closed.sums import likely_mu
from uncletc.solvers.joint.dispersion import pearson_dispersion
from uncletc.solvers.joint.optimum import member_of
from uncletc.solvers.joint.smoothing import Smoothing
from uncletc.solvers.uncertainty.draws import DRAWS

ANCHOR = "repeat visits"
_USUAL = Form("negative binomial")
_REFINEMENTS = 2  # of how smooth curves are
_MOST_COMPARED = 250  # cells on which forms are compared
_POISSON = 1e3  # μ from which true counts are called Poisson
_LEAST_MEAN = 0.1  # in Pearson's statistic: one count where next to none is expected
_LEAST_OF_RATES = 0.3  # precision: of sites, covariates often say nearly all
_LEAST = 1e-4  # curvature of what nothing determines


def fit_sites(
    counts: CountTensor, settings: FitSettings, cells: Cells, callback: Callback | None
) -> Fit:
    """Fit counts with one open mode; see :mod:`uncletc.solvers.closed`."""
    problem = Problem.of(counts, cells, settings)
    features, table, lines = problem.features, problem.rates, problem.lines.numpy()
    size = features.n_features + lines.shape[1]
    smoothing = Smoothing(features, size, 1, level_precision=1.0, least_of_rates=_LEAST_OF_RATES)
    marginal = Marginal(
        cells,
        problem.design.numpy(),
        lines,
        smoothing.prior()[0].numpy(),
        smoothing.bounded.numpy(),
        settings.mu,
    )
    return _Search(counts, settings, features, table, marginal, History(callback)).run(smoothing)


@dataclass(frozen=True, eq=False)
class _Search:
    """A fit under way."""

    counts: CountTensor
    settings: FitSettings
    features: AttributeFeatures
    table: RateTable | None
    marginal: Marginal
    history: History[Fit]

    def run(self, smoothing: Smoothing) -> Fit:
        """Maximise the posterior, compare other forms, and draw."""
        rng = np.random.default_rng((self.settings.seed, 1))
        best, stop = self._maximise(_USUAL, None)
        for _ in range(_REFINEMENTS):
            if stop is StopReason.TOLERANCE:
                self._smooth(best, smoothing)
                best, stop = self._maximise(_USUAL, best.values)
        if stop is not StopReason.TOLERANCE:
            return self.result(best, stop)
        few = self.marginal.some_cells(_MOST_COMPARED, rng)
        base = few.optimum(_USUAL, best.values) if few is not self.marginal else best
        mixtures = [base]
        if self.settings.mu is None:
            mixtures += [few.near(Form("Poisson"), base.values)]
            mixtures += [few.near(Form("log-normal"), base.values)]
        chosen = max(mixtures[::2], key=lambda each: each.log_likelihood).form
        doubts = doubt_of_mixtures(few, mixtures)
        for extra in ("between visits", "between sites", "empty sites"):
            form = Form(_USUAL.mixture, extra)
            found = few.near(form, base.values)
            if found.log_likelihood - base.log_likelihood <= LIKELIER:
                continue
            doubts.append(Doubt.SITES)
            if extra == "between visits":
                doubts[-1], chosen = Doubt.SCATTER, form
        correlated = self.marginal.correlated(best, CORRELATION)
        doubts += doubt_of_correlation(self.marginal, best, correlated)
        varied, shares = self.marginal.correlations(best)
        if chosen != _USUAL:
            best, stop = self._maximise(chosen, best.values)
        n = rng.multinomial(DRAWS // 2, shares)
        several = zip(varied, n.tolist(), strict=True)
        forms = [(best, DRAWS - DRAWS // 2), *((each, size) for each, size in several if size)]
        return self.result(best, stop, rng, doubts, forms)

    def _maximise(self, form: Form, start: FloatArray | None) -> tuple[Optimum, StopReason]:
        """Maximise, and report each step to the callback."""
        stop = StopReason.TOLERANCE

        def report(values: FloatArray) -> None:
            nonlocal stop
            log = float(self.marginal.log_likelihood(form, values).sum())
            value = -log / self.counts.n_observed
            if not math.isfinite(value):
                raise FitError(f"the likelihood became {value}; check the counts for huge values")
            now = Optimum(form, values.copy(), log)
            if self.history.add(value, lambda reason: self.result(now, reason)):
                stop = StopReason.CALLBACK
            elif len(self.history.records) > self.settings.max_iter:
                stop = StopReason.MAX_ITER
            if stop is not StopReason.TOLERANCE:
                raise StopIteration

        if start is None:
            start = self.marginal.start(form)
            try:
                report(start)
            except StopIteration:
                log = float(self.marginal.log_likelihood(form, start).sum())
                return Optimum(form, start, log), stop
        return self.marginal.optimum(form, start, report), stop

    def _smooth(self, best: Optimum, smoothing: Smoothing) -> None:
        """Let curves bend as far as counts say."""
        level, covariance = self.marginal.n_curves, _covariance(self.marginal.hessian(best))
        rest = np.delete(np.arange(len(smoothing.bounded) + 1), level)
        theta = torch.from_numpy(best.values[rest])[None]
        variance = torch.from_numpy(np.diagonal(covariance)[rest].copy())[None]
        smoothing.update(theta, torch.from_numpy(self.marginal.precisions)[None], variance)
        self.marginal.set_precisions(smoothing.prior()[0].numpy())

    def result(
        self,
        best: Optimum,
        stop: StopReason,
        rng: np.random.Generator | None = None,
        doubts: Sequence[Doubt] = (),
        forms: Sequence[tuple[Optimum, int]] = (),
    ) -> Fit:
        """Return the estimates, with so many draws of each form where `rng` is given."""
        counts, marginal, cells = self.counts, self.marginal, self.marginal.cells
        form, values = best.form, best.values
        q, last = marginal.n_curves, marginal.n_curves + 1 + marginal.n_rates
        theta, beta = values[:q], values[q + 1 : last]
        p, own = expit(marginal.logits(values)), marginal.rates(values)
        numbers, rates = marginal.expected(form, values)
        mu = marginal.mu(form, values)
        draws, population = None, None
        if rng is not None:
            parts, each = [], []
            for other, size in forms:
                these = marginal.draw_values(other, size, rng)
                each += [marginal.draw(other.form, one, rng) for one in these]
                parts.append(these[:, :last])
            drawn = np.concatenate(parts)
            n, rate = (np.stack(drawings, axis=1) for drawings in zip(*each, strict=True))
            levels = expit(marginal.design @ drawn[:, :q].T).mean(axis=0)
            found = [*doubts, *doubts_of_residuals(counts, cells, p, numbers)]
            found += doubts_of_level(levels)
            population = Population(
                cells.whole(counts.shape),
                n,
                form.mixture,
                1 / (1 + s) if (s := marginal.spread(form, values)) else 0.0,
                tuple(doubt for doubt in Doubt if doubt in found),
            )
            if not population.doubts:
                rates = rate.mean(axis=1)
        rows = np.full(counts.shape[cells.open_modes[0]], math.exp(values[q]) / expit(theta[0]))
        visited = cells.indices[:, 0]
        rows[visited] = rates / cells.exposure / np.exp(marginal.lines @ beta)
        if rng is not None:
            deviations = np.repeat((drawn[:, q] - values[q])[None], len(rows), axis=0)
            deviations -= np.logaddexp(0, -theta[0]) - np.logaddexp(0, -drawn[:, 0])
            deviations += rng.standard_normal(deviations.shape) * math.sqrt(math.log1p(1 / mu))
            slopes = (drawn[:, q + 1 : last] - beta).T
            deviations[visited] = np.log(rate / rates[:, None]) - marginal.lines @ slopes
            ones = [np.zeros((size, 1, DRAWS), dtype=np.float32) for size in counts.shape]
            ones[cells.open_modes[0]][:, 0] = deviations
            draws = Draws(
                factors=tuple(ones),
                coefficients=(drawn[:, :q] - theta).T.astype(np.float32),
                level=np.zeros(DRAWS, dtype=np.float32),
                slopes=slopes.astype(np.float32),
            )
        factors = [np.ones((size, 1)) for size in counts.shape]
        factors[cells.open_modes[0]] = rows[:, None]
        coefficients = np.concatenate([theta, beta])
        member = member_of(factors, self.features, self.table, coefficients, anchored=True)
        observed = np.empty(counts.n_observed)
        observed[cells.order] = p
        mean = own[cells.of] * p
        variance = np.maximum(mean, _LEAST_MEAN) * (1 + mean / mu)
        over = member.detection(counts.attributes) if counts.n_attributes else p
        pearson = float(((cells.counts - mean) ** 2 / variance).mean())
        mu = mu if mu < _POISSON or self.settings.mu is not None else math.inf
        likely = mu
        if self.settings.mu is not None:
            likely = likely_mu(own, p, cells.counts, cells.of)
        return Fit(
            factors=member.factors,
            network=member.network,
            effects=member.effects,
            observed_detection=observed,
            history=tuple(self.history.records),
            stop=stop,
            settings=self.settings,
            counts_digest=counts.digest,
            exposure=counts.exposure,
            mean_detection=float(over.mean()),
            mu=mu,
            likely_mu=likely,
            dispersion=pearson_dispersion(pearson, counts.n_observed, len(values)),
            draws=draws,
            population=population,
            anchored_by=ANCHOR if population is not None and not population.doubts else "",
        )


def _covariance(hessian: FloatArray) -> FloatArray:
    values, vectors = eigh(hessian)
    return np.asarray((vectors / np.maximum(values, _LEAST)) @ vectors.T)

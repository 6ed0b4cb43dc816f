"""A closed fit from its starts to the result."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import torch
from scipy.special import expit, log_expit, logit

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.fitting.history import FitError, History, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model.cp import fill_rows, products
from uncletc.result.fit_result import Callback, Fit
from uncletc.result.population import Doubt, Population
from uncletc.result.posterior import Draws
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.histories import fit_histories
from uncletc.solvers.closed.level import doubts_of_level, doubts_of_residuals
from uncletc.solvers.closed.search import search
from uncletc.solvers.closed.sites import ANCHOR, fit_sites
from uncletc.solvers.closed.state import START_LOGIT, Problem, State
from uncletc.solvers.closed.sums import draw_true_counts, true_counts
from uncletc.solvers.joint.alignment import nearest_coefficients
from uncletc.solvers.joint.dispersion import pearson_dispersion
from uncletc.solvers.poisson import adapt_components
from uncletc.solvers.uncertainty.draws import DRAWS

_STARTS = 4
_LEAST_MEAN = 0.1  # in Pearson's statistic: one count where next to none is expected
_ROWS_FOR_START = 5_000


def fit_closed(
    counts: CountTensor, settings: FitSettings, start: Fit | None, callback: Callback | None
) -> Fit:
    """Fit counts that :func:`check_closed` accepts; see :func:`uncletc.fit` for the arguments.

    The objective in the history is minus the mean exact log-likelihood per observed entry: minus
    its last value times the number of entries is the log-likelihood of the fit. The solver stops
    after all its steps, each of which ends when the log posterior changes by less than ``tol`` per
    round of five L-BFGS steps, relative to its size; after ``max_iter`` rounds; or when the
    callback returns True.
    """
    cells = Cells.of_counts(counts, settings.closed)
    if counts.captures is not None or counts.removal:
        return fit_histories(counts, settings, cells, callback)
    if len(cells.open_modes) == 1:
        return fit_sites(counts, settings, cells, callback)
    problem = Problem.of(counts, cells, settings)
    starts = _starts(problem, counts, settings, start)
    history = History[Fit](callback)
    finding = search(starts, settings.tol, settings.seed, likely_mu=settings.mu is None)
    best = min(starts, key=State.cost)

    def result(stop: StopReason) -> Fit:
        return _fit(counts, problem, best, settings, history, stop)

    while True:
        value = -best.log_likelihood() / counts.n_observed
        if not math.isfinite(value):
            raise FitError(f"the likelihood became {value}; check the counts for huge values")
        if history.add(value, result):
            return result(StopReason.CALLBACK)
        if len(history.records) > settings.max_iter:
            stop = StopReason.MAX_ITER
            break
        following = next(finding, None)
        if following is None:
            stop = StopReason.TOLERANCE
            break
        best = following
    draws = best.draws(DRAWS, settings.seed)
    dropped: tuple[str, ...] = ()
    if len(starts) > 1:
        dropped = (f"a closed fit keeps the likeliest of {len(starts)} starts",)
    draws = _over_all_modes(draws, counts, cells)
    population = None if draws is None else _population(counts, problem, best, draws, settings.seed)
    anchor = "" if population is None or population.doubts else ANCHOR
    return replace(
        result(stop), draws=draws, dropped=dropped, population=population, anchored_by=anchor
    )


def _population(
    counts: CountTensor, problem: Problem, state: State, draws: Draws, seed: int
) -> Population:
    """True numbers of cells in each draw of the parameters, and doubts about the level."""
    cells, rng = problem.cells, np.random.default_rng((seed, 2))
    whole, size = cells.whole(counts.shape), len(cells.indices)
    moved = draws.log_sums(
        "rate",
        state.member(counts.shape),
        whole,
        np.empty((size, 0)),
        np.ones(size),
        np.arange(size),
    )[0]
    log_rate, p = np.log(np.maximum(state.rates(), 1e-300)), state.detection()
    logits = logit(p)[:, None] + problem.design.numpy() @ draws.coefficients

    def theta(log_rate: FloatArray, logit: FloatArray) -> FloatArray:
        room = np.log(state.mu + np.exp(log_rate)) if math.isfinite(state.mu) else 0.0
        return np.asarray(log_rate + np.bincount(cells.of, log_expit(-logit), size) - room)

    drawn = [
        draw_true_counts(
            theta(log_rate + moved[:, r], logits[:, r]), cells.starts, cells.counts, state.mu, rng
        )
        for r in range(moved.shape[1])
    ]
    mean = true_counts(theta(log_rate, logit(p)), cells.starts, cells.counts, state.mu).mean
    found = [
        *doubts_of_level(expit(logits).mean(axis=0)),
        *doubts_of_residuals(counts, cells, p, mean),
    ]
    mixture = "negative binomial" if math.isfinite(state.mu) else "Poisson"
    doubts = tuple(doubt for doubt in Doubt if doubt in found)
    return Population(whole, np.stack(drawn, axis=1), mixture, doubts=doubts)


def _starts(
    problem: Problem, counts: CountTensor, settings: FitSettings, start: Fit | None
) -> list[State]:
    """Random factors, and a level p, under which as many events are expected as were counted."""
    cells, rng = problem.cells, np.random.default_rng((settings.seed, 1))
    sizes = [counts.shape[mode] for mode in cells.open_modes]
    n_visits = np.diff(cells.starts)
    goal = max(float(cells.counts.sum()), 0.5)
    n_rates = problem.lines.shape[1]
    states = []
    n_starts = settings.members if start is not None else max(settings.members, _STARTS)
    for _ in range(n_starts):
        factors = [rng.uniform(0.5, 1.0, (size, settings.rank)) for size in sizes]
        theta = np.zeros(problem.features.n_features + n_rates)
        theta[0] = START_LOGIT
        if start is not None:
            factors = _open_factors(start, cells, factors)
            theta = _coefficients(problem, counts, start, theta)
        rate = products(factors, cells.indices).sum(axis=1) * cells.exposure * n_visits
        root = (goal / max(float(rate.sum()), 1e-300)) ** (1 / len(factors))
        mu = math.inf if settings.mu is None else settings.mu
        states.append(State(problem, [factor * root for factor in factors], theta, mu))
    return states


def _open_factors(start: Fit, cells: Cells, fresh: list[FloatArray]) -> list[FloatArray]:
    """Factors of the open modes of an earlier fit, with the mean of its λ along the others."""
    factors = list(start.members[0].factors)
    first = cells.open_modes[0]
    for mode in set(range(len(factors))) - set(cells.open_modes):
        factors[first] = factors[first] * factors[mode].mean(axis=0)
    earlier = [factors[mode] for mode in cells.open_modes]
    adapted = adapt_components(earlier, [torch.from_numpy(factor) for factor in fresh])
    return [factor.numpy() for factor in adapted]


def _coefficients(
    problem: Problem, counts: CountTensor, start: Fit, theta: FloatArray
) -> FloatArray:
    q, features, member = problem.features.n_features, problem.features, start.members[0]
    if start.n_attributes == features.n_attributes and start.network is not None:
        sample = counts.attributes if counts.n_attributes else problem.cells.attributes
        sample = sample[:: max(len(sample) // _ROWS_FOR_START, 1)]
        theta[:q] = nearest_coefficients(features, member, sample).numpy()
    if member.effects is not None and len(member.effects.coefficients) == len(theta) - q:
        theta[q:] = member.effects.coefficients
    return theta


def _fit(
    counts: CountTensor,
    problem: Problem,
    state: State,
    settings: FitSettings,
    history: History[Fit],
    stop: StopReason,
) -> Fit:
    cells, mu = problem.cells, state.mu
    member = state.member(counts.shape)
    p, rate = state.detection(), state.rates()
    observed = np.empty(counts.n_observed)
    observed[cells.order] = p
    mean = p * rate[cells.of]
    variance = np.maximum(mean, _LEAST_MEAN) * (1 + mean / mu)
    pearson = float(((cells.counts - mean) ** 2 / variance).mean())
    over_attributed = member.detection(counts.attributes) if counts.n_attributes else p
    return Fit(
        factors=fill_rows(member.factors, cells.whole(counts.shape)),
        network=member.network,
        effects=member.effects,
        observed_detection=observed,
        history=tuple(history.records),
        stop=stop,
        settings=settings,
        counts_digest=counts.digest,
        exposure=counts.exposure,
        mean_detection=float(over_attributed.mean()),
        mu=mu,
        likely_mu=state.likely_mu(),
        dispersion=pearson_dispersion(pearson, counts.n_observed, state.n_parameters),
    )


def _over_all_modes(draws: Draws | None, counts: CountTensor, cells: Cells) -> Draws | None:
    """The same with factors of closed modes, which are 1 in every draw."""
    if draws is None:
        return None
    rank, size = draws.factors[0].shape[1:]
    factors = [np.zeros((n, rank, size), dtype=np.float32) for n in counts.shape]
    for mode, own in zip(cells.open_modes, draws.factors, strict=True):
        factors[mode] = own
    return replace(draws, factors=tuple(factors))

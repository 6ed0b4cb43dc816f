"""The joint solver: maximum likelihood over factors and detection together.

Model. Each observed count is Poisson with mean λ·g(z)·ε, where λ is a low-rank nonnegative CP
tensor (times the exposure, where counts have one), g the detection probability and ε the entry's
own deviation from it: gamma with mean 1 and variance 1/μ. Attributes x that act on the true rate
multiply λ by exp(xᵀβ). With ε integrated out the count is
negative binomial with mean λg and dispersion 1/μ. As μ → ∞, p = g(z) exactly (the paper's own limit
of large μ). A deviation is relative, so μ means the same whatever the scale of λ and p; in the
paper's objective (eq. 11a) μ weighs (g - p)², which c² shrinks when λ·c, p/c replace λ, p, and the
optimum lies at p → 0. The logit of g is a sum of curves, one per attribute, and of a trained
network where held-out counts show that attributes act together.

An observed entry without attributes has an unknown p. It takes the mean of g over Ξ, times one
number for all such entries, which their counts determine; and the variance of g about its mean is
added to its deviation's 1/μ: its count informs λ, but no more than such a p allows. (The paper
leaves each such p free, section 4.)

Each element of a factor has a gamma prior about the product of its row's and its column's mean,
worth c·φ counts: c is its shape, φ how much more counts scatter than the model allows.

Algorithm, in an order that a misfit cannot feed:

1. Rounds of multiplicative updates of the factors (eq. 13) and a Newton step for the
   curves (:mod:`~uncletc.solvers.joint.curve_steps`), with φ = 1, from several starts side by side.
   In half of them λ explains what it can before g may move, which counts of very different sizes
   need; in the others curves are nearly straight as long. Only the likeliest continue.
2. Once the objective has settled: μ by adjusted likelihood, unless the settings give it; φ from
   Pearson's statistic with its degrees of freedom; and from then on c by empirical Bayes
   (:mod:`~uncletc.solvers.joint.dispersion`). Rounds as before until the objective changes no more.
3. The network, from the likeliest start (:mod:`~uncletc.solvers.network.stage`). On many counts and
   beside effects of modes further rounds follow, with the network held.
4. The optima that are nearly as likely as the best, or several networks, are the members of the
   fit, brought to one scale and one order of components.
"""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.data.stacked import StackedObservations, anchors_of
from uncletc.data.surveys import DRAWS_A_SURVEY
from uncletc.fitting.history import History, StopReason
from uncletc.fitting.settings import FitSettings
from uncletc.model import negbin
from uncletc.model.detection import JointDetection
from uncletc.result.ensemble import Member, combined
from uncletc.result.fit_result import Callback, Fit
from uncletc.solvers.joint import alignment
from uncletc.solvers.joint.dispersion import pearson_dispersion
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.joint.rounds import START_MU, Rounds, resumes_effects
from uncletc.solvers.joint.state import Estimate, State
from uncletc.solvers.network import stage
from uncletc.solvers.options import Joint
from uncletc.solvers.uncertainty.calibration import calibrate_intervals
from uncletc.solvers.uncertainty.draws import DRAWS, draws_of, free_parameters
from uncletc.solvers.uncertainty.residuals import residual_pattern

# Times by which λ is raised or lowered at most to match a total of which one count holds so large a
# share: such as one of 146 million among some of a hundred, which all others would follow.
_MOST_OFF, _LARGEST_COUNT = 2.0, 0.1
_GROWN = 1.25  # times as many counts, up to which no network is tested again
# Counts with which it is tried whether factors should come first beside effects, the share of them
# that judges, rounds of such fits, and standard errors by which factors first have to be better.
_TRIED, _UNSEEN, _TRIED_ROUNDS, _CLEARLY = (100, 10_000), 0.2, 60, 2.0


def fit_joint(
    counts: CountTensor, settings: FitSettings, start: Fit | None, callback: Callback | None
) -> Fit:
    """Run the joint solver; see :func:`uncletc.fit` for the arguments.

    The objective in the history is the mean negative binomial deviance per observed entry of the
    likeliest member. The solver stops when it has changed by less than ``tol`` per round, relative
    to its size, over several rounds; after ``max_iter`` rounds; or when the callback returns True,
    which is also asked between the steps of training a network.
    """
    history = History(callback)
    known = start is not None and start.has_patterns and resumes_effects(settings, start, counts)
    factors = _leading_factors(counts, settings) if settings.effects and not known else None
    stop, found, optimum = _search(counts, settings, factors or start, history, factors is not None)
    if optimum.layers:
        history.add(optimum.deviance(), partial(_fit, counts, settings, found, history))
    result = _fit(counts, settings, found, history, stop, optimum)
    return result if stop is StopReason.CALLBACK else calibrate_intervals(result, optimum, counts)


def _leading_factors(counts: CountTensor, settings: FitSettings) -> Fit | None:
    """Factors to begin with, if then a fit predicts counts better that it has not seen; or None.

    Beside effects of pairs of modes, factors that begin at random stay flat: what pairs explain is
    explained before. Where modes act together along few patterns, as in simulated counts, the error
    of λ is then up to ten times that of factors alone. Where they do not, factors that come first
    explain what effects would predict better, such as courses over time.
    """
    solver, n = settings.solver, counts.n_observed
    if settings.rank == 1 or counts.observations or not _TRIED[0] <= n <= _TRIED[1]:
        return None
    assert isinstance(solver, Joint)
    chosen = np.random.default_rng((settings.seed, 4)).random(n) < _UNSEEN
    seen, at, y = counts.subset(~chosen), counts.indices[chosen], counts.counts[chosen]
    z = counts.attributes_at(at, unknown_as_nan=True)

    def fitted(start: Fit | None = None, **changes: Any) -> Fit:
        never = replace(solver, network="never")
        short = replace(settings, max_iter=_TRIED_ROUNDS, solver=never, **changes)
        history = History[Fit](None)
        stop, found, _ = _search(seen, short, start, history, start is not None)
        return _fit(seen, short, found, history, stop)

    alone = fitted(effects=())
    means = [fit.expected(at, z) for fit in (fitted(), fitted(alone))]
    scores = (negbin.log_scores(y, mean, negbin.likely_law(y, mean).phi(mean)) for mean in means)
    gain = np.subtract(*scores)
    return alone if gain.mean() > _CLEARLY * gain.std() / math.sqrt(len(y)) else None


def _search(
    counts: CountTensor,
    settings: FitSettings,
    start: Fit | None,
    history: History[Fit],
    factors_first: bool,
) -> tuple[StopReason, Estimate, Optimum]:
    """Steps 1 to 3. What they hold per entry is free again before intervals need its memory."""
    rounds = Rounds(counts, settings, start, factors_first=factors_first)
    state = rounds.state

    def result(stop: StopReason) -> Fit:
        return _fit(counts, settings, state.estimate(), history, stop)

    def pause() -> None:
        if history.add(state.objective, result):
            raise _UnwantedError

    def trained() -> stage.Learned:
        """The optimum with networks, the best first, always or if counts show joint effects.

        Where μ is estimated, what a network could explain looks like deviations of single entries:
        networks are learnt as if there were next to none, and μ estimated again.
        """
        optimum, given = state.optimum(), (settings.hidden, settings.seed, pause)
        if by_minibatches:
            alone = not settings.effects
            scatter = alone and settings.mu is None
            return stage.train_by_minibatches(
                optimum, *given, always=always, joint=alone, scatter=scatter
            )
        if settings.mu is not None:
            return stage.learn_network(optimum, *given, always=always)
        learned = stage.learn_network(optimum.with_mu(START_MU), *given, always=always)
        return replace(learned, optima=[one.with_mu(one.likely_mu()) for one in learned.optima])

    always, tried = settings.network == "always", settings.network == "never"
    held = bool(settings.effects or settings.signs)  # what joint descents cannot have
    by_minibatches = held or counts.n_observed > stage.MOST_DESCENDED
    if rounds.resumed and start is not None and _has_tried(start, counts, settings):
        tried |= not always and start.stop is StopReason.TOLERANCE and not start.network_trained
    learned, stop, ended = stage.Learned([]), StopReason.TOLERANCE, False
    try:
        while not ended:
            pause()
            ended = rounds.settled()
            if not ended and len(history.records) > settings.max_iter:
                stop, ended = StopReason.MAX_ITER, True
            early = always and by_minibatches and state.dispersion_estimated
            if tried or not (ended or early):
                if not ended:
                    rounds.step()
            elif always or state.dispersion_estimated:
                tried, learned = True, trained()
                if learned.optima and by_minibatches:
                    rounds.adopt(learned.optima[0])
                    stop, ended = StopReason.TOLERANCE, False
    except _UnwantedError:
        return StopReason.CALLBACK, state.estimate(), _with_draws(state)
    if learned.optima and not by_minibatches:
        best = replace(learned.optima[0], gain=learned.gain)
        return stop, state.estimate_with_networks(learned.optima), best
    if settings.effects:  # the last step has left the level free
        state.measure(state.rate())
    optimum = replace(_with_draws(state), gain=learned.gain)
    if learned.optima and not settings.effects:
        optimum = replace(optimum, unseen=learned.optima[0].unseen)
    return stop, state.estimate(), optimum


def _has_tried(start: Fit, counts: CountTensor, settings: FitSettings) -> bool:
    """Whether a fit of the same counts, or of nearly all of them, asked for the same network."""
    asked = [(each.hidden, each.network) for each in (start.settings, settings)]
    grown = counts.n_observed <= _GROWN * len(start.observed_detection)
    same = start.counts_digest == counts.digest if start.shape == counts.shape else grown
    return same and asked[0] == asked[1]


def _with_draws(state: State) -> Optimum:
    """The state of the likeliest member, with draws of its effects of modes, if it has any."""
    return replace(state.optimum(), drawn=state.drawn())


class _UnwantedError(Exception):
    """The callback asked to stop while a network was trained."""


def _fit(
    counts: CountTensor,
    settings: FitSettings,
    found: Estimate,
    history: History[Fit],
    stop: StopReason,
    optimum: Optimum | None = None,
) -> Fit:
    """Make a fit of what was found, with draws about an optimum if one is given."""
    draws = None
    if optimum is not None:
        size = DRAWS + DRAWS_A_SURVEY * len(counts.surveys)
        draws = draws_of(optimum, counts.attributes, settings.seed, size)
    dispersion, pattern = found.dispersion, None
    if optimum is not None and draws is not None and not (optimum.layers or settings.effects):
        expected = optimum.expected()
        free = free_parameters(optimum, draws, expected)
        dispersion = pearson_dispersion(optimum.pearson(expected), len(expected), free)
        residuals, where = optimum.residuals(expected).numpy(), optimum.indices(slice(None))
        pattern = residual_pattern(residuals, where, counts.shape, settings.rank, settings.seed)
    anchored, log_offset = StackedObservations.of(counts).anchored, 0.0
    members, p = alignment.align(found.members, counts, anchored=anchored)
    rate = alignment.observed_rate(members, counts)
    usual = alignment.unattributed_detection(members, rate, p, counts, found.mu)
    of_entries = alignment.entry_detection(members, p, counts, usual)
    mean = rate * of_entries
    if draws is not None and members[0].mode_effects is not None:
        above = mean * np.exp(draws.half_variance(members[0], counts.indices))
        log_offset = float(np.log(above.sum() / mean.sum()))
    factor = _factor_to_total(mean, counts, found)
    alike = counts.counts.max() < _LARGEST_COUNT * counts.counts.sum()
    if alike or 1 / _MOST_OFF <= factor <= _MOST_OFF:
        if anchored:
            factor = min(factor, max(1 / float((p if p.size else of_entries).max()), 1.0))
            usual, p = usual * factor, p * factor
        else:
            rate = rate * factor
        members = [_times(member, factor, anchored) for member in members]
    names = [process.name for process in counts.observations]
    return Fit(
        **vars(members[0]),
        mu_power=found.powers[0] if found.powers else 0.0,
        powers_of_observations=dict(zip(names, found.powers[1:], strict=False)),
        others=tuple(members[1:]),
        dropped=tuple(found.dropped),
        observed_detection=alignment.observed_detection(members, rate, p, counts, found.mu, usual),
        history=tuple(history.records),
        stop=stop,
        settings=settings,
        counts_digest=counts.digest,
        exposure=counts.exposure,
        mean_detection=usual,
        log_offset=log_offset,
        mu=found.mu,
        likely_mu=found.likely_mu,
        dispersion=dispersion,
        residual_pattern=tuple(counts.modes[k] for k in pattern or ()),
        draws=draws,
        network_gain=None if optimum is None else optimum.gain,
        anchored_by=anchors_of(counts),
        mu_of_observations=dict(zip(names, found.mu_of_observations, strict=True)),
    )


def _factor_to_total(mean: FloatArray, counts: CountTensor, found: Estimate) -> float:
    """By what ŷ of the counted entries with attributes, or of all without any, misses their sum.

    Large counts weigh little in a negative binomial likelihood, so that expected ones may add up
    to much less. λ takes the factor, or p where data state the scale of λ. Held-out counts are
    predicted as well (COVID-19) or better (plants) with it. Of several observation processes whose
    p is g it is the mean of their logarithms, weighted by the information of each.
    """
    known = counts.attribute_rows >= 0  # p of others is an average alone
    known |= not known.any()
    seen, every = [(counts.counts[known], mean[known])], StackedObservations.of(counts)
    for k in range(1, len(counts.observations) + 1):
        one = np.flatnonzero((every.process == k) & (every.rows >= 0))
        at, z = every.indices[one], every.attributes[every.rows[one]]
        each = [m.rate(at) * m.detection(z, at) * m.reporting(at, k) for m in found.members]
        size = every.exposure[one] * counts.exposure_at(at)
        seen.append((every.counts[one], combined(each) * size))
    by_mu = zip(seen, (found.mu, *found.mu_of_observations), strict=True)
    some = [(y.sum(), m.sum(), (m + m**2 / mu).sum()) for (y, m), mu in by_mu if y.any()]
    y, m, variance = np.array(some or [(1.0, 1.0, 1.0)]).T
    return float(np.exp(np.average(np.log(y / m), weights=m**2 / variance)))


def _times(member: Member, factor: float, detection: bool) -> Member:
    """Multiply p, or else λ, by a factor."""
    if detection and isinstance(member.network, JointDetection):
        shifted = member.network.log_scale + float(np.log(factor))
        return replace(member, network=replace(member.network, log_scale=shifted))
    root = factor ** (1 / len(member.factors))
    return replace(member, factors=tuple(each * root for each in member.factors))

"""Rounds of the joint solver: factors and curves of several starts, side by side.

See :mod:`~uncletc.solvers.joint.solver` for the model and the order of steps.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from uncletc.common.validation import IntArray
from uncletc.data.counts import CountTensor
from uncletc.fitting.settings import FitSettings
from uncletc.model.detection import network_output, standardised
from uncletc.model.negbin import LEAST_MEAN, MEAN_OF_MU
from uncletc.model.random_effects import with_own_effects
from uncletc.result.fit_result import Fit
from uncletc.solvers.effects.steps import FIRST_MU, ModeSteps
from uncletc.solvers.joint.alignment import nearest_coefficients
from uncletc.solvers.joint.curve_steps import START_LOGIT, Detection
from uncletc.solvers.joint.dispersion import clip_dispersion, prior_shape, shape_of_posterior
from uncletc.solvers.joint.members import Members, Problem, rows_for_mean
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.joint.state import State
from uncletc.solvers.poisson import adapt_components
from uncletc.solvers.uncertainty.draws import draws_of

_CHEAP = 250_000  # entries times rank up to which several starts cost little
_RENEWED_FIRST = 3  # steps of the curves that each recompute second derivatives
_RENEW = 8  # later steps that share them
_SETTLED = 5  # rounds over which the objective must not change
# Relative change of p over the rounds followed, in units of tol, below which to stop: while μ
# changes, and once log μ and ν change by less than this.
_CHANGE_SEEN, _MORE_SEEN, _LAW_SEEN = 100.0, 150.0, 0.03
_LESS_OF_EXPECTED = 4.0  # times more may ŷ change
_SETTLED_FIRST = 1e-4  # relative change a round at which φ and μ are taken; 1e-6 may never come
_NATS_SETTLED = 0.001  # log-likelihood a round, below which a change means nothing
_START_SHAPE = 3.0  # c of uniform factors, the paper's
# c beside effects of modes, which have the first word: elements depart from their mean where many
# counts say so. On held-out places of COVID-19 deviance was 44.7 with 100 and 41.7 with 1000; on
# plants both are alike. c by empirical Bayes falls while factors still hold what effects could.
# Where no effect says how modes act together, factors have to: with effects of one mode beside
# patterns of rank 3, and 2 to 30 counts an entry, the error of λ was .53 with 1000, and .08 to .13
# with 3 as well as without effects.
_SHAPE_OF_REST = 1000.0
_ROUNDS_SHAPE = 5  # between estimates of c
# Counts per element of a factor, in units of c, below which c is taken from the joint posterior.
# The error of the simpler estimate falls with counts: 3 instead of 1 at 7, .75 for .65 at 100.
_FEW = 100.0
_MOST_REFINED, _ROUNDS_REFINED = 5, 15  # times, and rounds before each
_LONGER, _LONGEST = 1.8, 0.7  # of the steps of log c, which are short ones of an EM algorithm
_SAME_SHAPE = 0.1  # change of log c that is not worth further rounds
START_MU = 2000.0  # until it is estimated: nearly Poisson
_STEPS_DEVIATIONS = 2  # steps of effects between estimates of their deviations
_MOST_FOLLOWED = 0.7  # share of the scatter of counts that factors have followed, at most
_FOLLOWED = 3  # rounds over which p and ŷ must not change, beside effects
_FASTER, _SLOWER, _FASTEST = 1.05, 0.5, 0.95  # changes of the factors' momentum, and its limit
_ROUNDS_EXTRAPOLATED = 20  # without effects of modes, and then a step from the factors alone
_ROWS = 65_536  # entries evaluated at once
# Entries that a random sample of the first rounds has per element of a factor, and at least; where
# there are so many times more, the rounds that see all of them are few.
_SAMPLED, _LEAST_SAMPLE, _TIMES_SAMPLED = 50, 250_000, 3
_ROWS_FOR_START = 5_000
# Of tolerances there: on a plateau of the sample, rounds over all entries would cost much more.
_TIGHTER = 0.1


@dataclass(frozen=True)
class _Pace:
    """How many starts there are, and when what may move.

    Attributes
    ----------
    starts, finished : int
        Starts at first, and those that are finished.
    screened : int
        Rounds after which only the likeliest continue.
    held : int
        Rounds in which λ alone moves, of those starts whose g is held.
    free : int
        Rounds at least, with g free, before the objective counts as settled.
    every : int
        Rounds between steps of the curves and random effects.
    sweeps : int
        Updates of every factor per round.
    """

    starts: int
    finished: int
    screened: int
    held: int
    free: int
    every: int
    sweeps: int = 2


# On small problems half of the starts are held. Curves of the others hardly bend as long: where
# entries are few, bends at first lead to optima that more starts do not repair. On 40 seeds of the
# paper's with γ_Ω = .05 MAE_λ fell from .074 to .070; 20 and 35 rounds are alike.
_CHEAP_PACE = _Pace(starts=8, finished=4, screened=50, held=30, free=12, every=1)
_LARGE_PACE = _Pace(starts=1, finished=2, screened=25, held=10, free=12, every=2)
# With random effects one start finds what several do, since little is left to factors. Steps of
# the effects are nearly exact.
_PACE_WITH_EFFECTS = _Pace(starts=1, finished=2, screened=25, held=5, free=4, every=1, sweeps=1)
# From an earlier fit of the same effects: three rounds without the counts that estimate μ or φ.
_PACE_FROM_EFFECTS = _Pace(starts=1, finished=2, screened=25, held=5, free=3, every=1, sweeps=1)
# Times an earlier fit's dispersion that its counts may have in a table of now, by so many or more.
_STILL_FITS, _JUDGED = 2.0, 10_000
# Counts from which on effects of a fit under another μ are a start. φ of fewer settles late: on
# 13,000 of plants it was 3 after three rounds, and 12 at last.
_MANY = 20_000
_ROUND_FROM_EFFECTS = 7  # whose number is that of the first; the third renews deviations


def resumes_effects(settings: FitSettings, start: Fit | None, counts: CountTensor) -> bool:
    """Whether random effects of an earlier fit are where a fit with these settings begins."""
    if start is None or start.mode_effects is None:
        return False
    if start.settings.mu != settings.mu and (settings.mu is None or counts.n_observed < _MANY):
        return False
    own = with_own_effects(settings.effects, counts.every_group, settings.rank)
    alike = [*map(str, start.mode_effects.effects)] == [*map(str, own)]
    # Levels or attributes may be others under the same number: three rounds would not forget them.
    chosen = np.flatnonzero((counts.indices < start.shape).all(axis=1))
    chosen = chosen[:: 1 + len(chosen) // _JUDGED]
    at, y = counts.indices[chosen], counts.counts[chosen]
    z = counts.attributes_at(at, unknown_as_nan=True)
    if not (alike and len(at) and z.shape[1] == start.n_attributes):
        return False
    mean = np.maximum(start.expected(at, z), LEAST_MEAN)
    law = mean + mean**2 / start.mu * (mean / MEAN_OF_MU) ** -start.mu_power
    return bool(((y - mean) ** 2 / law).mean() <= _STILL_FITS * max(1.0, start.dispersion))


class Rounds:
    """Starts of one fit, and the rounds that move them.

    Parameters
    ----------
    counts : CountTensor
    settings : FitSettings
    start : Fit, optional
        Begin here.
    factors_first : bool
        Whether effects are left what the factors of a start do not explain.

    Attributes
    ----------
    state : State
        What has been found so far.
    resumed : bool
        Whether they began at random effects of an earlier fit.
    """

    def __init__(
        self,
        counts: CountTensor,
        settings: FitSettings,
        start: Fit | None = None,
        *,
        factors_first: bool = False,
    ) -> None:
        self._problem = Problem(counts, settings)
        self._whole: Problem | None = None
        size = max(_SAMPLED * settings.rank * sum(counts.shape), _LEAST_SAMPLE)
        whole = start is not None or settings.effects or settings.network == "always"
        if not whole and len(self._problem.entries.counts) >= _TIMES_SAMPLED * size:
            self._whole, self._problem = self._problem, self._problem.sample(size)
        entries = self._problem.entries
        self._cheap = len(entries.counts) * settings.rank <= _CHEAP and not settings.effects
        self.resumed = resumes_effects(settings, start, counts)
        self._factors_first = start.has_patterns if self.resumed and start else factors_first
        self._pace = _CHEAP_PACE if self._cheap else _LARGE_PACE
        if settings.effects:
            self._pace = _PACE_FROM_EFFECTS if self.resumed else _PACE_WITH_EFFECTS
        n_starts = max(settings.members, self._pace.starts if start is None else 1)
        self._finished = max(self._pace.finished, settings.members if self._cheap else 1)
        self._screening = n_starts > self._finished
        self._held = torch.zeros(n_starts, dtype=torch.bool)
        if start is None:
            self._held[:: 2 if self._cheap and n_starts > 1 else 1] = True
        self._rounds, self._settled_at, self._refinements = 0, 0, 0
        self._few = False  # whether counts are so few that the factors' prior matters
        self._values: list[Tensor] = []
        self._change, self._law_moved = math.inf, 0.0 if self.resumed else math.inf
        self._followed: list[Tensor] = []
        self._earlier: list[Tensor] | None = None
        self._momentum = torch.full((n_starts,), 0.5, dtype=torch.float64)
        self.state = self._initial(n_starts, start)
        if self.resumed:
            self._rounds, self._settled_at = _ROUND_FROM_EFFECTS, _ROUND_FROM_EFFECTS - 1
            self._momentum[:] = 0.0

    def _initial(self, n_starts: int, start: Fit | None) -> State:
        problem = self._problem
        settings, n_processes = problem.settings, problem.entries.n_processes
        factors = self._starting_factors(n_starts, start)
        detection = self._starting_detection(n_starts, start)
        own_mu = START_MU if settings.mu is None else settings.mu
        other_mu = start is not None and start.settings.mu != settings.mu
        mu, effects = [own_mu] + [START_MU] * (n_processes - 1), None
        if settings.effects:
            effects = ModeSteps(problem, n_starts, self._factors_first)
            if settings.mu is None:
                mu = [FIRST_MU] * n_processes
                if self._factors_first and start is not None:
                    mu = [start.mu]  # with less, effects would explain what factors have
            if self.resumed and start is not None:
                effects.powers = [start.mu_power, *start.powers_of_observations.values()]
                mu = [start.mu, *start.mu_of_observations.values()]
                if other_mu:
                    effects.powers[0], mu[0] = 0.0, own_mu
        alone = effects is None or effects.leaves_margins or self._factors_first
        members = Members(factors, settings.rank, alike=effects is not None)
        shape = _START_SHAPE if alone else _SHAPE_OF_REST
        state = State(problem, members, detection, effects, mu, shape)
        if self.resumed and effects is not None and start is not None and start.mode_effects:
            if not other_mu:  # else p moves: large counts, and small ones, have other weights
                effects.drop_orthogonality()
            # The same counts scatter alike about components of any number, beside effects of
            # several modes; and what p the earlier fit found for these attributes stays.
            same = start.counts_digest == problem.counts.digest and settings.mu is None
            state.dispersion_estimated = same and not effects.of_single_modes
            mean = state.rate() * state.without_effects
            effects.resume(start.mode_effects, mean.numpy())
            state.detect()
            state.rescale()
            state.renew_entry_mu(state.rate())
            if detection is not None:
                mean = state.rate() * state.without_effects
                effects.smooth_curves(mean, state.entry_mu, detection)
        return state

    def step(self) -> None:
        """Update the factors, then the curves and random effects, then the common scale."""
        state, entries = self.state, self._problem.entries
        before, last_deviance = state.members.factors, state.deviance
        state.members.extrapolate(self._earlier, self._momentum)
        detected = state.multiplier * entries.exposure
        pseudo_counts = state.shape * state.dispersion
        for _ in range(self._pace.sweeps):
            evidence = state.members.update(entries, detected, state.entry_mu, pseudo_counts)
        if state.effects is not None and state.effects.leaves_margins:
            state.members.leave_margins()
        if self._earlier is None:  # a first step is no guide to the next
            before = state.members.factors
        rate = state.rate()
        if self._rounds % self._pace.every == 0 or self._screening:
            if state.effects is None:
                self._step_curves(rate)
            else:
                self._step_effects(rate, state.effects)
        state.measure(rate)
        state.members.scaled(state.ratio)
        better = state.deviance <= last_deviance
        faster = (self._momentum * _FASTER + _FASTER - 1).clamp_max(_FASTEST)
        self._momentum = torch.where(better, faster, self._momentum * _SLOWER)
        self._earlier = before
        self._rounds += 1
        state.members.balanced()  # else norms of a component's columns diverge
        if state.effects is None and self._rounds % _ROUNDS_EXTRAPOLATED == 0:
            self._earlier = None
        since = self._rounds - self._settled_at
        if self._refinements and since % _ROUNDS_REFINED == 0:
            self._refine_shape()
        elif since % _ROUNDS_SHAPE == 0 and (
            state.effects is None and state.dispersion_estimated and not self._few
        ):
            state.shape = prior_shape(evidence, state.shape, state.dispersion)
        if self._screening and self._rounds == self._pace.screened:
            self._keep(self._finished)
            self._screening = False
        self._values.append(state.deviance)

    def settled(self) -> bool:
        """Whether the objective changes no more; when it first does not, φ and μ are estimated."""
        state, tol = self.state, self._problem.settings.tol
        first = _SETTLED_FIRST
        if self._whole is not None:
            tol, first = tol * _TIGHTER, first * _TIGHTER
        earliest = self._settled_at + self._pace.free
        if not state.dispersion_estimated and bool(self._held.any()):
            earliest += self._pace.held
        if self._screening or self._refinements or self._rounds <= earliest:
            return False
        if state.effects is not None:
            if math.isinf(self._law_moved):  # μ is not known
                return False
            known = self._law_moved <= _LAW_SEEN
            unchanged = self._change <= (_MORE_SEEN if known else _CHANGE_SEEN) * tol
            # From an earlier fit three rounds are enough for μ.
            unchanged |= self.resumed and not state.dispersion_estimated
        else:
            unchanged = self._unchanged(tol if state.dispersion_estimated else max(tol, first))
        if not unchanged:
            return False
        if not state.dispersion_estimated:
            self._estimate_scatter()
        elif self._whole is not None:
            self._take_all(self._whole)
        elif state.effects is None or not state.effects.drop_orthogonality():
            return True
        self._reset_convergence()
        return False

    def _take_all(self, problem: Problem) -> None:
        """Continue with all entries, after a sample of them."""
        self._problem, self._whole, self._few = problem, None, False
        self._pace = replace(self._pace, free=_SETTLED, sweeps=1)
        self.state.move_to(problem)
        self._estimate_scatter()

    def adopt(self, optimum: Optimum) -> None:
        """Continue from an optimum alone, and with its network, which then stays as it is."""
        state, features = self.state, optimum.features
        assert features is not None
        assert state.detection is not None
        self._keep(1)
        z, layers = optimum.attributes, optimum.layers
        monotone = bool(features.rising.any())

        def output(chosen: IntArray) -> Tensor:
            parts = np.array_split(chosen, len(chosen) // _ROWS + 1)
            inputs = (standardised(features, torch.from_numpy(z[part])) for part in parts)
            found = [network_output(layers, x, monotone=monotone) for x in inputs]
            return torch.cat(found)[:, None]

        outputs = output(optimum.rows), output(rows_for_mean(len(z)))
        state.detection.add_network(layers, optimum.coefficients, *outputs)
        state.members.factors = list(optimum.factors)
        self._held[:], self._momentum[:] = False, 0.5
        self._screening = self._few = False
        self._refinements = 0
        if state.effects is None:  # they are taken again, without what the network explains
            state.dispersion_estimated, state.dispersion = False, 1.0
            if self._problem.settings.mu is None:
                state.mu[0] = float(optimum.mu[0])
        self._reset_convergence()
        state.detect()
        state.measure(state.rate())

    def _keep(self, n: int) -> None:
        """Keep the n likeliest members."""
        chosen = self.state.keep(n)
        self._held, self._momentum = self._held[chosen], self._momentum[chosen]
        self._earlier = None

    def _reset_convergence(self) -> None:
        """Wait for the objective to settle again."""
        self._settled_at = self._rounds
        self._values.clear()
        self._earlier, self._change = None, math.inf

    def _unchanged(self, tol: float) -> bool:
        values = self._values
        if len(values) <= _SETTLED or len(values[-1]) != len(values[-1 - _SETTLED]):
            return False
        best, n = self.state.best, len(self._problem.entries.counts)
        before, now = float(values[-1 - _SETTLED][best]), float(values[-1][best])
        least = 2 * _NATS_SETTLED * self.state.dispersion / n if tol else 0.0
        return abs(before - now) <= _SETTLED * max(tol * abs(before), least)

    def _estimate_scatter(self) -> None:
        """Take φ and μ when the objective first settles, and see how the prior's shape is found."""
        state = self.state
        state.dispersion_estimated = True
        if state.effects is not None:  # which have estimated both from counts not seen
            return
        self._take_scatter()
        self._few = self._whole is None and (state.detection is None or not state.detection.layers)
        self._few = self._few and state.optimum().information_per_parameter < _FEW * state.shape
        self._refinements = _MOST_REFINED if self._few else 0

    def _take_scatter(self) -> None:
        """Take μ, where it is not given, and φ from the residuals of the likeliest member."""
        state, given = self.state, self._problem.settings.mu is not None
        for process in range(given, len(state.mu)):
            state.mu[process] = state.likely_mu(process)
        state.detect()
        state.measure(state.rate())
        state.dispersion = clip_dispersion(state.pearson(state.best))

    def _refine_shape(self) -> None:
        """Take c from the joint posterior of the likeliest member; at the end μ and φ again.

        Without it factors follow few counts too closely: MAE_λ is .24 instead of .20 in `nb`.
        """
        state, problem = self.state, self._problem
        optimum = state.optimum()
        draws = draws_of(optimum, problem.counts.attributes, problem.settings.seed)
        self._refinements -= 1
        if draws is None:
            self._refinements = 0
            return
        step = math.log(shape_of_posterior(optimum.factors, draws) / state.shape)
        step = min(max(_LONGER * step, -_LONGEST), _LONGEST)
        state.shape *= math.exp(step)
        if abs(step) < _SAME_SHAPE:
            self._refinements = 0
        if not self._refinements:
            self._take_scatter()
            self._reset_convergence()

    def _held_now(self) -> Tensor:
        """Members whose g may not move yet; (M,)."""
        return self._held if self._rounds < self._pace.held else torch.zeros_like(self._held)

    def _step_curves(self, rate: Tensor) -> None:
        """Move the curves towards the maximum of the likelihood given λ."""
        state, held = self.state, self._held_now()
        if state.detection is None or not self._problem.entries.n_attributed or bool(held.all()):
            return
        since = (self._rounds - (self._pace.held if self._held.all() else 0)) // self._pace.every
        renew = since < _RENEWED_FIRST or since % _RENEW == 0
        state.detection.step(
            rate, state.entry_mu, dispersion=state.dispersion, held=held, renew=renew
        )
        state.detect()

    def _step_effects(self, rate: Tensor, effects: ModeSteps) -> None:
        """Move random effects and the curves together, given the factors."""
        state, number = self.state, self._rounds // self._pace.every
        renew = number >= _RENEWED_FIRST and number % _STEPS_DEVIATIONS == 0
        detection = state.detection if self._problem.entries.n_attributed else None
        given = rate * state.without_effects, state.entry_mu, state.dispersion, detection
        learnt = state.dispersion_estimated
        effects.step_with_curves(*given, self._held_now(), learnt=learnt, deviations=renew)
        state.detect()
        state.renew_entry_mu(rate)
        self._follow(rate)
        if not renew:
            return
        holding = self._factors_first and not effects.leaves_margins
        alone = learnt and not holding
        left_out = effects.left_out(state.likeliest(rate)) if alone else None
        if (left_out or not learnt) and self._rounds >= self._pace.held:
            mean = state.expected(rate)
            law = np.append(np.log(state.mu), effects.powers)
            n_elements = self._problem.settings.rank * sum(self._problem.counts.shape)
            followed = holding * min(n_elements / len(mean), _MOST_FOLLOWED)
            state.mu, state.dispersion = effects.learn(mean, state.mu, left_out, followed)
            law -= np.append(np.log(state.mu), effects.powers)
            self._law_moved = float(np.abs(law).max())
            state.renew_entry_mu(rate)

    def _follow(self, rate: Tensor) -> None:
        """How much p changed over the last rounds, and ŷ at a lower weight.

        The deviance is no guide: it rises and falls as the deviations of effects do.
        """
        state, best = self.state, self.state.best
        p, expected = state.without_effects[:, best], rate[:, best] * state.multiplier[:, best]
        self._followed.append(torch.stack([p, expected]).log())
        if len(self._followed) > _FOLLOWED:
            change = self._followed[-1] - self._followed.pop(0)
            spread = change - change.mean(dim=1, keepdim=True)
            spread = spread.std(dim=1, correction=int(change.shape[1] > 1))
            self._change = max(float(spread[0]), float(spread[1]) / _LESS_OF_EXPECTED)

    def _starting_factors(self, n_members: int, start: Fit | None) -> list[Tensor]:
        settings = self._problem.settings
        rank, generator = settings.rank, torch.Generator().manual_seed(settings.seed)
        fresh = [
            0.1 + 0.9 * torch.rand(size, n_members * rank, generator=generator).double()
            for size in self._problem.counts.shape
        ]
        if start is None:
            return fresh

        parts = []
        for m in range(n_members):
            own = [factor[:, m * rank : (m + 1) * rank] for factor in fresh]
            pairs = zip(start.members[m % len(start.members)].factors, own, strict=True)
            grown = [  # modes that have grown go on as they ended
                np.pad(u, ((0, len(new) - len(u)), (0, 0)), mode="edge") for u, new in pairs
            ]
            parts.append(adapt_components(grown, own))
        return [torch.cat(mode, dim=1) for mode in zip(*parts, strict=True)]

    def _starting_detection(self, n_members: int, start: Fit | None) -> Detection | None:
        counts, features, rates = self._problem.counts, self._problem.features, self._problem.rates
        if features is None:
            return None
        q, n_rates = features.n_features, 0 if rates is None else rates.n_columns
        theta = torch.zeros(n_members, q + n_rates, dtype=torch.float64)
        theta[:, 0] = START_LOGIT
        if start is not None and start.n_attributes == features.n_attributes:
            sample = counts.attributes[:: max(len(counts.attributes) // _ROWS_FOR_START, 1)]
            for m in range(n_members):
                member = start.members[m % len(start.members)]
                theta[m, :q] = nearest_coefficients(features, member, sample)
                if member.effects is not None and len(member.effects.coefficients) == n_rates:
                    theta[m, q:] = torch.from_numpy(member.effects.coefficients)
        both = np.isin(counts.rate_attribute_names, counts.attribute_names)
        return Detection(
            self._problem.entries,
            features,
            theta,
            both=None if rates is None else both[rates.features.columns > 0],
            alike=not self._screening,
            straight=self._pace.held if self._screening and self._cheap else 0,
        )

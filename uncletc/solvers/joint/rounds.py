"""Rounds of the joint solver: factors and curves of several starts, side by side.

See :mod:`~uncletc.solvers.joint.solver` for the model and the order of steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.stacked import StackedObservations
from uncletc.fitting.history import FitError
from uncletc.fitting.settings import FitSettings
from uncletc.model.detection import network_output, standardised
from uncletc.model.features import AttributeFeatures
from uncletc.model.rates import RateTable, normal_scores
from uncletc.result.ensemble import Member
from uncletc.result.fit_result import Fit
from uncletc.solvers.effects.steps import FIRST_MU, ModeSteps
from uncletc.solvers.joint.alignment import nearest_coefficients
from uncletc.solvers.joint.curve_steps import START_LOGIT, Detection
from uncletc.solvers.joint.dispersion import (
    clip_dispersion,
    likely_mu,
    pearson_dispersion,
    prior_shape,
    shape_of_posterior,
)
from uncletc.solvers.joint.members import Entries, Members, rows_for_mean
from uncletc.solvers.joint.optimum import Optimum, constant, member_of
from uncletc.solvers.joint.parallel import choose_device, total, world
from uncletc.solvers.options import Joint
from uncletc.solvers.poisson import adapt_components
from uncletc.solvers.uncertainty.draws import draws_of

_SWEEPS = 2  # updates of every factor per round
_ROUNDS_HELD = 10  # in which λ alone moves
# The same on small problems, where half of the starts are held. Curves of the others hardly bend as
# long: where entries are few, bends at first lead to optima that more starts do not repair. On 40
# seeds of the paper's with γ_Ω = .05 MAE_λ fell from .074 to .070; 20 and 35 rounds are alike.
_ROUNDS_HELD_SCREENING = 30
_CHEAP = 250_000  # entries times rank up to which several starts cost little
_STARTS, _FINISHED = 8, 4  # starts of a small problem, and those that are finished
_FINISHED_LARGE = 2  # of the members that a large problem starts
_ROUNDS_SCREENED, _ROUNDS_SCREENED_LARGE = 50, 25  # after which only the likeliest continue
_NATS = 2.0  # by which a member may be less likely than the best: beyond, it should weigh little
_RENEWED_FIRST = 3  # steps of the curves that each recompute second derivatives
_RENEW = 8  # later steps that share them
_SETTLED = 5  # rounds over which the objective must not change
_ROUNDS_FREE = 12  # at least, with g free, before the objective counts as settled
# With effects of modes: rounds held, at least free, and between steps. Steps of the effects are
# nearly exact, and factors have little left to do.
_PACE_WITH_EFFECTS = (5, 6, 1)
_CHANGE_SEEN = 100.0  # relative change of p between renewals, in units of tol, below which to stop
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
_STEPS_DEVIATIONS = 3  # steps of effects between estimates of their deviations
_FASTER, _SLOWER, _FASTEST = 1.05, 0.5, 0.95  # changes of the factors' momentum, and its limit
_ROUNDS_BALANCED = 20
_ROWS = 65_536  # entries evaluated at once
_ROWS_FOR_START = 5_000


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a stage of the solver has found so far.

    Attributes
    ----------
    members : list of Member
        The nearly best optima, the likeliest first, each on a scale of its own.
    dropped : list of str
        Why starts that were finished are no members, a sentence each.
    mu, likely_mu : float
        μ as used, and the likeliest.
    dispersion : float
        Pearson's statistic per degree of freedom.
    mu_of_observations : tuple of float
        μ of each further observation process.
    mu_power : float
        ν, by which μ grows with ŷ.
    """

    members: list[Member]
    dropped: list[str]
    mu: float
    likely_mu: float
    dispersion: float
    mu_of_observations: tuple[float, ...] = ()
    mu_power: float = 0.0


class Rounds:
    """Starts of one fit, and the rounds that move them.

    Attributes
    ----------
    deviance : Tensor, shape (M,)
        Mean negative binomial deviance per observed entry of each member.
    dispersion_estimated : bool
        Whether the objective has settled for the first time, and φ and μ have been estimated.
    """

    def __init__(
        self, counts: CountTensor, settings: FitSettings, options: Joint, start: Fit | None
    ) -> None:
        self._counts, self._settings = counts, settings
        # Effects of modes are compiled for the processor alone.
        self.device = choose_device("cpu" if settings.effects else options.device)
        self._dtype = getattr(torch, options.precision)
        on_processor = self.device.type == "cpu"
        self._factor_dtype = torch.float64 if on_processor else self._dtype
        rng = np.random.default_rng(settings.seed)
        self._observations = StackedObservations.of(counts)
        self._n = len(self._observations.counts)
        self._features, self._rates = _attributes_of(counts, self._observations, settings, rng)
        self._entries = Entries.of(
            counts, self._observations, self._features, self._rates, self._dtype, self.device
        )
        # With effects of modes little is left to factors: one start finds what several do.
        self._cheap = cheap = self._n * settings.rank <= _CHEAP and not settings.effects
        self._finished = max(settings.members, _FINISHED) if cheap else _FINISHED_LARGE
        n_starts = max(settings.members, _STARTS) if cheap else settings.members
        if start is not None:
            n_starts = settings.members
        self._finished = min(self._finished, n_starts)
        self._screening = n_starts > self._finished
        self._rounds_screened = _ROUNDS_SCREENED if cheap else _ROUNDS_SCREENED_LARGE
        self._rounds_held = _ROUNDS_HELD_SCREENING if cheap else _ROUNDS_HELD
        self._rounds_free, self._steps_every = _ROUNDS_FREE, 1 if cheap else 2
        if settings.effects:
            self._rounds_held, self._rounds_free, self._steps_every = _PACE_WITH_EFFECTS
        self._generator = torch.Generator().manual_seed(settings.seed)
        self._members = Members(
            self._starting_factors(n_starts, start), settings.rank, alike=bool(settings.effects)
        )
        self._detection = self._starting_detection(n_starts, start)
        self._held = torch.zeros(n_starts, dtype=torch.bool, device=self.device)
        if start is None:
            self._held[:: 2 if cheap and n_starts > 1 else 1] = True
        self._rounds, self._settled_at, self._refinements = 0, 0, 0
        self._few = False  # whether counts are so few that the factors' prior matters
        self._values: list[Tensor] = []
        self._change = math.inf
        self._followed: Tensor | None = None
        self._earlier: list[Tensor] | None = None
        self._momentum = torch.full((n_starts,), 0.5, dtype=torch.float64, device=self.device)
        self._learns = self._entries.n_attributed > 0
        self.dispersion_estimated = False
        self._dispersion = 1.0
        own_mu = START_MU if settings.mu is None else settings.mu
        self._mu = [own_mu] + [START_MU] * (
            self._entries.n_processes - 1
        )  # of each observation process
        self._effects: ModeSteps | None = None
        if settings.effects:
            self._effects = ModeSteps(counts, self._observations, self._entries, settings, n_starts)
            if settings.mu is None:
                self._mu = [FIRST_MU] * len(self._mu)
        alone = self._effects is None or (settings.rank > 1 and self._effects.of_single_modes)
        self._shape = _START_SHAPE if alone else _SHAPE_OF_REST
        self._entry_mu: Tensor = None  # type: ignore[assignment]
        self._detect()
        for _ in range(2):
            self._measure(self._members.rate(self._entries))
            self._members.scaled(self._ratio)
        self._measure(self._members.rate(self._entries))

    @property
    def objective(self) -> float:
        """Of the likeliest member."""
        return float(self._likeliness().min())

    def round(self) -> None:
        """Update the factors, then the curves, then the common scale."""
        before, last_deviance = self._members.factors, self.deviance
        self._members.extrapolate(self._earlier, self._momentum)
        detected = self._multiplier * self._entries.exposure
        pseudo_counts = torch.full_like(self._momentum, self._shape * self._dispersion)
        for _ in range(_SWEEPS):
            evidence = self._members.update(self._entries, detected, self._entry_mu, pseudo_counts)
        rate = self._members.rate(self._entries)
        if self._effects is None:
            self._step(rate)
        else:
            self._step_with_effects(rate, self._effects)
        self._measure(rate)
        self._members.scaled(self._ratio)
        better = self.deviance <= last_deviance
        faster = (self._momentum * _FASTER + _FASTER - 1).clamp_max(_FASTEST)
        self._momentum = torch.where(better, faster, self._momentum * _SLOWER)
        self._earlier = before
        self._rounds += 1
        if self._rounds % _ROUNDS_BALANCED == 0:
            self._members.balanced()
            self._earlier = None
        since = self._rounds - self._settled_at
        if self._refinements and since % _ROUNDS_REFINED == 0:
            self._refine_shape()
        elif (
            self._effects is None
            and self.dispersion_estimated
            and not self._few
            and since % _ROUNDS_SHAPE == 0
        ):
            self._shape = prior_shape(evidence, self._shape, self._dispersion)
        if self._screening and self._rounds == self._rounds_screened:
            self._keep(self._finished)
            self._screening = False
        self._values.append(self.deviance)

    def adopt(self, optimum: Optimum) -> None:
        """Go on from an optimum alone, and with its network, which then stays as it is."""
        features, detection, (rank, size) = optimum.features, self._detection, world()
        assert features is not None
        assert detection is not None
        self._keep(1)
        z, layers = optimum.attributes, optimum.layers
        monotone = bool(features.rising.any())

        def output(chosen: IntArray) -> Tensor:
            parts = np.array_split(chosen, len(chosen) // _ROWS + 1)
            inputs = (standardised(features, torch.from_numpy(z[part])) for part in parts)
            return torch.cat([network_output(layers, x, monotone=monotone) for x in inputs])[
                :, None
            ]

        detection.add_network(
            layers,
            optimum.coefficients,
            output(optimum.rows[rank::size]),
            output(rows_for_mean(len(z))),
        )
        self._members.factors = [
            factor.to(device=self.device, dtype=self._factor_dtype) for factor in optimum.factors
        ]
        self._held[:], self._momentum[:] = False, 0.5
        self._screening = self._few = False
        self._refinements = 0
        if self._effects is None:  # they are taken again, without what the network explains
            self.dispersion_estimated, self._dispersion = False, 1.0
            if self._settings.mu is None:
                self._mu[0] = float(optimum.mu[0])
        self._reset_convergence()
        self._detect()
        self._measure(self._members.rate(self._entries))

    def settled(self) -> bool:
        """Whether the objective changes no more; when it first does not, φ and μ are estimated."""
        earliest = self._settled_at + self._rounds_free
        if not self.dispersion_estimated and bool(self._held.any()):
            earliest += self._rounds_held
        if self._screening or self._rounds <= earliest:
            return False
        tol = self._settings.tol
        if self._effects is not None:
            unchanged = self._change <= _CHANGE_SEEN * tol
        else:
            unchanged = self._unchanged(
                tol if self.dispersion_estimated else max(tol, _SETTLED_FIRST)
            )
        if self._refinements or not unchanged:
            return False
        if self.dispersion_estimated:
            return not self._drop_orthogonality()
        self._estimate_scatter()
        return False

    def _drop_orthogonality(self) -> bool:
        """Let places share with attributes, once; whether they did not before."""
        if self._effects is None or not self._effects.drop_orthogonality():
            return False
        self._reset_convergence()
        return True

    def _reset_convergence(self) -> None:
        """Wait for the objective to settle again."""
        self._settled_at = self._rounds
        self._values.clear()
        self._earlier, self._change = None, math.inf

    def _unchanged(self, tol: float) -> bool:
        values = self._values
        if len(values) <= _SETTLED or len(values[-1]) != len(values[-1 - _SETTLED]):
            return False
        best = int(self._likeliness().argmin())
        before, now = float(values[-1 - _SETTLED][best]), float(values[-1][best])
        least = 2 * _NATS_SETTLED * self._dispersion / self._n if tol else 0.0
        return abs(before - now) <= _SETTLED * max(tol * abs(before), least)

    def _estimate_scatter(self) -> None:
        """Take μ, where it is not given, and φ from the residuals of the likeliest member."""
        best = int(self._likeliness().argmin())
        if self._effects is not None:
            self.dispersion_estimated = True
            self._reset_convergence()
            return
        given = self._settings.mu is not None
        if not given or len(self._mu) > 1:
            likely = [self._likely_mu(best, process) for process in range(len(self._mu))]
            self._mu = self._mu[:1] + likely[1:] if given else likely
            self._detect()
            self._measure(self._members.rate(self._entries))
        self._dispersion = clip_dispersion(self._dispersion_of(best))
        self.dispersion_estimated = True
        self._few = self.optimum().information_per_parameter < _FEW * self._shape
        self._few &= self._detection is None or not self._detection.layers
        self._refinements = _MOST_REFINED if self._few else 0
        self._reset_convergence()

    def _refine_shape(self) -> None:
        """Take c from the joint posterior of the likeliest member."""
        optimum = self.optimum()
        draws = draws_of(optimum, self._counts.attributes, self._settings.seed)
        self._refinements -= 1
        if draws is None:
            self._refinements = 0
            return
        step = math.log(shape_of_posterior(optimum.factors, draws) / self._shape)
        step = min(max(_LONGER * step, -_LONGEST), _LONGEST)
        self._shape *= math.exp(step)
        if abs(step) < _SAME_SHAPE:
            self._refinements = 0

    def _dispersion_of(self, member: int) -> float:
        """Pearson's statistic of a member per degree of freedom."""
        parameters = self._settings.rank * sum(self._counts.shape)
        if self._detection is not None:
            parameters += self._detection.theta.shape[1] // 2  # the smoothing takes about half
        if self._effects is not None:
            parameters += round(self._effects.n_free(member))
        return pearson_dispersion(float(self._pearson[member]), self._n, parameters)

    def _likely_mu(self, member: int, process: int = 0) -> float:
        """μ of an observation process by maximum likelihood, given λ and p of a member."""
        if self._effects is not None:
            return self._mu[process]
        mean = self._members.rate(self._entries)[:, member] * self._multiplier[:, member]
        chosen = self._entries.kinds == process
        if not bool(chosen.any()):  # nothing determines p of its counts
            chosen = self._entries.kinds == process + len(self._mu)
        return likely_mu(self._entries.counts[chosen, 0].double(), mean[chosen].double())

    def _mu_of_observations(self) -> Tensor:
        """μ of each observation process and member; (L, M)."""
        mu = torch.tensor(self._mu, dtype=torch.float64, device=self.device)
        return mu[:, None].expand(-1, len(self._momentum))

    def _step(self, rate: Tensor) -> None:
        """Move the curves towards the maximum of the likelihood given λ."""
        held = self._held if self._rounds < self._rounds_held else torch.zeros_like(self._held)
        if self._detection is None or not self._learns or bool(held.all()):
            return
        if not self._screening and self._rounds % self._steps_every:
            return
        since = self._rounds - (self._rounds_held if bool(self._held.all()) else 0)
        since //= self._steps_every
        self._detection.step(
            rate,
            self._entry_mu,
            dispersion=torch.full_like(self._momentum, self._dispersion),
            held=held,
            renew=since < _RENEWED_FIRST or since % _RENEW == 0,
        )
        self._detect()

    def _step_with_effects(self, rate: Tensor, effects: ModeSteps) -> None:
        """Move effects of modes and the curves together, given the factors."""
        if self._rounds % self._steps_every:
            return
        held = self._held if self._rounds < self._rounds_held else torch.zeros_like(self._held)
        number = self._rounds // self._steps_every
        renew = number >= _RENEWED_FIRST and number % _STEPS_DEVIATIONS == 0
        effects.step(
            rate * self._plain,
            self._entry_mu,
            self._dispersion,
            self._detection if self._learns else None,
            held,
            learnt=self.dispersion_estimated,
            deviations=renew,
        )
        self._detect()
        self._entry_mu = self._mu_of_entries(rate, effects)
        if renew:
            self._follow(rate)
        if not self.dispersion_estimated and renew and self._rounds >= self._rounds_held:
            best = int(self._likeliness().argmin())
            mean = rate[:, best] * self._multiplier[:, best]
            self._mu, self._dispersion = effects.learn(mean, self._mu)
            self._entry_mu = self._mu_of_entries(rate, effects)

    def _follow(self, rate: Tensor) -> None:
        """How much p, and half as much ŷ, changed since the deviations were last renewed.

        The deviance is no guide: it rises and falls as the deviations of effects do.
        """
        best = int(self._likeliness().argmin())
        logs = (
            torch.stack([self._plain[:, best], (rate * self._multiplier)[:, best]]).double().log()
        )
        if self._followed is not None:
            change = logs - self._followed
            spread = (change - change.mean(dim=1, keepdim=True)).std(dim=1)
            self._change = max(float(spread[0]), float(spread[1]) / 2)
        self._followed = logs

    def _mu_of_entries(self, rate: Tensor, effects: ModeSteps) -> Tensor:
        mu = self._mu_of_observations()
        allowed = torch.cat([mu, mu])
        if self._detection is not None:
            allowed = self._detection.allowance(mu)
        return effects.mu_of_entries(mu, rate * self._multiplier, allowed)

    def drawn(self) -> tuple[list[FloatArray], FloatArray] | None:
        """Draws of the likeliest member's effects, θ and β; None without effects of modes."""
        if self._effects is None:
            return None
        m = int(self._likeliness().argmin())
        column = slice(m, m + 1)
        mean = self._members.rate(self._entries)[:, column] * self._plain[:, column]
        mu = self._entry_mu[:, column]
        learns = self._detection if self._learns else None
        tables, others = self._effects.draw(m, mean, mu, self._dispersion, learns)
        if self._detection is not None and not len(others):  # nothing determines g
            others = np.zeros((self._detection.theta.shape[1], tables[0].shape[1]))
        return tables, others

    def estimate(self) -> Estimate:
        """Return what has been found so far.

        Raises
        ------
        FitError
            If no start has a finite likelihood.
        """
        values = self._likeliness()
        finite = torch.isfinite(values)
        if not bool(finite.any()):
            raise FitError("no member has a finite likelihood; check the counts for huge values")
        order = torch.argsort(values, stable=True)
        best = int(order[0])
        worse = (values - values[best]) * self._n / (2 * self._dispersion)
        near = [int(m) for m in order if worse[m] <= _NATS]
        behind, broken = int((finite & (worse > _NATS)).sum()), int((~finite).sum())
        dropped = []
        if behind:
            dropped.append(f"{behind} of {len(values)} starts ended at a less likely optimum")
        if broken:
            dropped.append(f"{broken} starts have no finite likelihood")
        return Estimate(
            members=[self._member(m) for m in near],
            dropped=dropped,
            mu=self._mu[0],
            likely_mu=self._likely_mu(best),
            dispersion=self._dispersion_of(best),
            mu_of_observations=tuple(self._mu[1:]),
            mu_power=0.0 if self._effects is None else self._effects.powers[0],
        )

    def of_networks(self, optima: Sequence[Optimum]) -> Estimate:
        """What a network stage has found: a member of each optimum, the best first."""
        best = optima[0]
        unit = self._entries.unit ** (-1 / len(best.factors))
        members = [optimum.member() for optimum in optima]
        return Estimate(
            members=[replace(m, factors=tuple(f * unit for f in m.factors)) for m in members],
            dropped=[],
            mu=float(best.mu[0]),
            likely_mu=best.likely_mu(),
            mu_of_observations=tuple(self._mu[1:]),
            dispersion=pearson_dispersion(best.pearson(), len(best.counts), best.n_parameters),
        )

    def optimum(self) -> Optimum:
        """The state of the likeliest member, over all entries, whichever process holds them."""
        member = int(self._likeliness().argmin())
        counts, observations, n_modes = self._counts, self._observations, len(self._members.factors)
        order = observations.order
        rows = observations.rows[order]
        n_attributed = int((rows >= 0).sum()) if self._features is not None else 0
        columns = slice(member * self._settings.rank, (member + 1) * self._settings.rank)
        theta, precisions = torch.zeros(0, dtype=torch.float64), torch.zeros(0, dtype=torch.float64)
        centre, unattributed = theta, 1.0
        mu, exposure = constant(self._mu[0], len(order)), constant(1.0, len(order))
        if self._detection is not None:
            theta = self._detection.theta[member].cpu()
            precisions = self._detection.prior()[member].cpu()
            centre = self._detection.centre.cpu()
            unattributed = float(self._detection.elsewhere()[:, member].mean())
        known = torch.from_numpy(observations.known[order[n_attributed:]])
        kinds = observations.process[order] + np.where(
            np.isnan(observations.known[order]) & (np.arange(len(order)) >= n_attributed),
            len(self._mu),
            0,
        )
        if counts.exposure is not None or len(observations.errors):
            each = counts.exposure_at(observations.indices[order]) * observations.exposure[order]
            exposure = torch.from_numpy(each) / self._entries.unit
        if self._effects is not None:
            exposure = exposure * self._effects.factors[:, member].double()
            mu = self._entry_mu[:, member].cpu()
        elif kinds.any():
            mu = self._entry_mu[:, member].cpu()[torch.from_numpy(kinds)]
        x, x_rows = None, None
        if self._rates is not None:
            x = np.vstack([normal_scores(counts.rate_attributes), self._rates.features.middle])
            x_rows = observations.rate_rows[order]
        return Optimum(
            where=[
                torch.from_numpy(observations.indices[order, mode].astype(np.int32))
                for mode in range(n_modes)
            ],
            counts=torch.from_numpy(observations.counts[order].astype(np.float64)),
            exposure=exposure,
            attributes=observations.attributes,
            rows=rows[:n_attributed],
            rate_attributes=x,
            rate_rows=x_rows,
            observations=observations if len(observations.errors) else None,
            features=self._features,
            rates=self._rates,
            factors=[factor[:, columns].double().cpu() for factor in self._members.factors],
            coefficients=theta,
            precisions=precisions,
            centre=centre,
            layers=() if self._detection is None else self._detection.layers,
            unattributed=unattributed,
            known=known if observations.anchored else None,
            mu=mu,
            dispersion=self._dispersion,
            prior_shape=self._shape,
        )

    def _likeliness(self) -> Tensor:
        """Deviance of each member (M,); infinite where it is not a number."""
        return torch.where(torch.isfinite(self.deviance), self.deviance, torch.inf)

    def _member(self, m: int) -> Member:
        rank = self._settings.rank
        columns = slice(m * rank, (m + 1) * rank)
        unit = self._entries.unit ** (-1 / len(self._members.factors))
        factors = tuple(f[:, columns].double().cpu().numpy() * unit for f in self._members.factors)
        member = Member(factors, None)
        if self._detection is not None:
            theta = self._detection.theta[m].cpu().numpy().copy()
            anchored = self._observations.anchored
            layers = tuple(layer.numpy() for layer in self._detection.layers)
            member = member_of(
                factors, self._features, self._rates, theta, layers, anchored=anchored
            )
        if self._effects is None:
            return member
        return replace(member, mode_effects=self._effects.member(m))

    def _starting_factors(self, n_members: int, start: Fit | None) -> list[Tensor]:
        rank = self._settings.rank
        fresh = [
            0.1 + 0.9 * torch.rand(size, n_members * rank, generator=self._generator).double()
            for size in self._counts.shape
        ]
        if start is not None:
            members = [start.members[m % len(start.members)] for m in range(n_members)]
            parts = [
                adapt_components(member.factors, [f[:, m * rank : (m + 1) * rank] for f in fresh])
                for m, member in enumerate(members)
            ]
            fresh = [torch.cat(mode, dim=1) for mode in zip(*parts, strict=True)]
        return [factor.to(device=self.device, dtype=self._factor_dtype) for factor in fresh]

    def _starting_detection(self, n_members: int, start: Fit | None) -> Detection | None:
        if self._features is None:
            return None
        q = self._features.n_features
        n_rates = 0 if self._rates is None else self._rates.n_columns
        theta = torch.zeros(n_members, q + n_rates, dtype=torch.float64)
        theta[:, 0] = START_LOGIT
        if start is not None and start.n_attributes == self._features.n_attributes:
            sample = self._counts.attributes
            sample = sample[:: max(len(sample) // _ROWS_FOR_START, 1)]
            for m in range(n_members):
                member = start.members[m % len(start.members)]
                theta[m, :q] = nearest_coefficients(self._features, member, sample)
                if member.effects is not None and len(member.effects.coefficients) == n_rates:
                    theta[m, q:] = torch.from_numpy(member.effects.coefficients)
        return Detection(
            self._entries,
            self._features,
            theta.to(self.device),
            alike=not self._screening,
            straight=self._rounds_held if self._screening and self._cheap else 0,
        )

    def _detect(self) -> None:
        """Set p and μ of every entry from g."""
        mu = self._mu_of_observations()
        if self._detection is None:
            self._multiplier = torch.ones_like(self._entries.counts).expand(-1, self._members.size)
            of_kinds = torch.cat([mu, mu])
        else:
            self._multiplier = self._detection.multiplier()
            of_kinds = self._detection.allowance(mu)
        if self._effects is None:
            self._entry_mu = of_kinds
            return
        self._plain = self._multiplier
        self._multiplier = self._plain * self._effects.factors
        if self._entry_mu is None or self._entry_mu.shape != self._plain.shape:
            self._entry_mu = of_kinds[self._entries.kinds.long()]

    def _keep(self, n: int) -> None:
        """Keep the n likeliest members."""
        chosen = torch.argsort(self._likeliness(), stable=True)[:n].cpu()
        self._members.pick(chosen)
        if self._detection is not None:
            self._detection.pick(chosen)
        if self._effects is not None:
            self._effects.pick(chosen)
            self._entry_mu = self._entry_mu[:, chosen]
        on_device = chosen.to(self.device)
        self._held = self._held[on_device]
        self._momentum = self._momentum[on_device]
        self._earlier = None
        self._detect()
        self._measure(self._members.rate(self._entries))

    def _measure(self, rate: Tensor) -> None:
        """Deviance, Pearson's statistic and the ratio of counts to expectations, of each member."""
        y, kinds = self._entries.counts, self._entries.kinds
        sums = torch.zeros(4, rate.shape[1], dtype=torch.float64, device=rate.device)
        changes = (torch.nonzero(kinds[1:] != kinds[:-1]).ravel() + 1).tolist()
        bounds = sorted({*range(0, len(y), _ROWS), *changes, len(y)})
        for first, last in pairwise(bounds):
            part = slice(first, last)
            mean, count = (rate[part] * self._multiplier[part]).double(), y[part].double()
            mu = self._entries.mu_of(self._entry_mu, part)
            less = 1 / (1 + mean / mu)
            deviance = torch.xlogy(count, count.clamp_min(1e-30) / mean.clamp_min(1e-30)) - (
                count + mu
            ) * torch.log1p((count - mean) / (mean + mu))
            sums[0] += (2 * deviance).sum(dim=0)
            sums[1] += (less * (count - mean) ** 2 / mean.clamp_min(0.1)).sum(dim=0)
            sums[2] += (less * count).sum(dim=0)
            sums[3] += (less * mean).sum(dim=0)
        total(sums)
        self.deviance = sums[0] / self._n
        self._pearson = sums[1] / self._n
        self._ratio = (sums[2] / sums[3].clamp_min(1e-30)).clamp(1e-30, 1e30)


def _attributes_of(
    counts: CountTensor,
    observations: StackedObservations,
    settings: FitSettings,
    rng: np.random.Generator,
) -> tuple[AttributeFeatures | None, RateTable | None]:
    """Curves of the attributes, with their signs, and those that act on λ; None without any.

    If some p is known, that of other counts is to be found without attributes too: one number.
    """
    if not (counts.attributes.size or counts.rate_attributes.size or observations.anchored):
        return None, None
    stated = dict(settings.signs)
    signs = np.array([stated.get(name, 0) for name in counts.attribute_names], dtype=np.int64)
    curved = bool(settings.hidden)
    features = AttributeFeatures.of(observations.attributes, rng, curved=curved, signs=signs)
    if not counts.rate_attributes.size:
        return features, None
    indices, x = counts.attribute_indices, counts.rate_attributes
    return features, RateTable.of(counts.shape, indices, x, rng)

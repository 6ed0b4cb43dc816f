"""What the starts of a fit have estimated so far, and how likely that is.

All starts lie side by side: factors, curves and random effects, the scatter of the counts (μ, φ)
and the shape of the factors' prior. :meth:`State.measure` is the log-likelihood: that of negative
binomial counts with mean λp and dispersion 1/μ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from uncletc.common.validation import FloatArray
from uncletc.fitting.history import FitError
from uncletc.model.cp import has_patterns
from uncletc.result.ensemble import Member
from uncletc.solvers.effects.random_effects import Given
from uncletc.solvers.effects.steps import ModeSteps
from uncletc.solvers.joint.curve_steps import Detection
from uncletc.solvers.joint.dispersion import FEWEST_OF_MU, level_of, likely_mu, pearson_dispersion
from uncletc.solvers.joint.kernels import fit_sums
from uncletc.solvers.joint.members import Members, Problem
from uncletc.solvers.joint.optimum import Optimum, constant, member_of

_NATS = 2.0  # by which a member may be less likely than the best: beyond, it should weigh little


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
    powers : tuple of float
        ν of each observation process, by which μ grows with ŷ; empty without random effects.
    """

    members: list[Member]
    dropped: list[str]
    mu: float
    likely_mu: float
    dispersion: float
    mu_of_observations: tuple[float, ...] = ()
    powers: tuple[float, ...] = ()


@dataclass(eq=False)
class State:
    """The estimates of M members.

    Attributes
    ----------
    problem : Problem
    members : Members
        Factors.
    detection : Detection, optional
        None without attributes and known p.
    effects : ModeSteps, optional
        None without random effects.
    mu : list of float
        μ of each observation process.
    shape : float
        c of the factors' prior.
    dispersion : float
        φ, by which the log-likelihood is divided.
    dispersion_estimated : bool
        Whether the objective has settled for the first time, and φ and μ have been estimated.
    multiplier : Tensor, shape (N, M)
        p·exp(xᵀβ) of every entry, times its random effects.
    without_effects : Tensor, shape (N, M)
        The same without random effects.
    entry_mu : Tensor, shape (kinds, M) or (N, M)
        μ of each kind of entry; with random effects, of each entry.
    level_without_p : Tensor, shape (M,)
        p of the entries whose p nothing else determines, over the mean of g.
    deviance : Tensor, shape (M,)
        Mean negative binomial deviance per observed entry.
    ratio : Tensor, shape (M,)
        Counts over expectations, weighted by information.
    """

    problem: Problem
    members: Members
    detection: Detection | None
    effects: ModeSteps | None
    mu: list[float]
    shape: float
    dispersion: float = 1.0
    dispersion_estimated: bool = False

    def __post_init__(self) -> None:
        self.entry_mu = torch.empty(0)
        self.level_without_p = torch.ones(self.members.size, dtype=torch.float64)
        self.detect()
        self.rescale()

    def move_to(self, problem: Problem) -> None:
        """Keep these estimates for other entries."""
        self.problem = problem
        if self.detection is not None:
            self.detection.move_to(problem.entries)
        self.detect()
        self.rescale()

    def rescale(self) -> None:
        """Give λ the level at which expected counts are as large as the counts."""
        for _ in range(2):
            self.measure(self.rate())
            self.members.scaled(self.ratio)
        self.measure(self.rate())

    def rate(self) -> Tensor:
        """λ of every entry without exp(xᵀβ) and random effects, times exposure; (N, M)."""
        return self.members.rate(self.problem.entries)

    def detect(self) -> None:
        """Set p and μ of every entry from g."""
        mu, entries = self.mu_of_observations(), self.problem.entries
        if self.detection is None:
            self.without_effects = torch.ones_like(entries.counts).expand(-1, self.members.size)
        else:
            self.without_effects = self.detection.multiplier()
            if 0 < entries.n_with_p < len(entries.counts):
                self.without_effects[entries.n_with_p :] *= self.level_without_p
        self.multiplier = self.without_effects
        if self.effects is None:
            self.entry_mu = self._allowance(mu)
            return
        self.multiplier = self.without_effects * self.effects.factors
        if self.entry_mu.shape != self.multiplier.shape:
            self.entry_mu = self._allowance(mu)[entries.kinds.long()]

    def _allowance(self, mu: Tensor) -> Tensor:
        """μ of each kind of entry (2L, M): lower where nothing determines p."""
        return torch.cat([mu, mu]) if self.detection is None else self.detection.allowance(mu)

    def mu_of_observations(self) -> Tensor:
        """μ of each observation process and member; (L, M)."""
        mu = torch.tensor(self.mu, dtype=torch.float64)
        return mu[:, None].expand(-1, self.members.size)

    def renew_entry_mu(self, rate: Tensor) -> None:
        """Let μ of each entry follow its expected count, beside random effects."""
        assert self.effects is not None
        mu = self.mu_of_observations()
        self.entry_mu = self.effects.mu_of_entries(mu, rate * self.multiplier, self._allowance(mu))

    def measure(self, rate: Tensor) -> None:
        """Log-likelihood of each member, as its deviance, and Pearson's statistic.

        p of the entries whose p nothing else determines is taken first.
        """
        entries = self.problem.entries
        y, mu, sums = entries.counts, self.entry_mu.contiguous(), rate.new_zeros(4, rate.shape[1])
        if 0 < (n := entries.n_with_p) < len(y):
            mean = rate[n:] * self.multiplier[n:] / self.level_without_p
            own = mu[entries.kinds[n:].long()] if self.effects is None else mu[n:]
            self.level_without_p = level_of(y[n:], mean, own)
            self.detect()
        multiplier, rows = self.multiplier.contiguous(), self.members.rows_of_mu(entries)
        given = y.numpy(), rate.numpy(), multiplier.numpy(), mu.numpy()
        fit_sums(*given, rows, sums.numpy())
        self.deviance = sums[0] / len(y)
        self._pearson = sums[1] / len(y)
        self.ratio = (sums[2] / sums[3].clamp_min(1e-30)).clamp(1e-30, 1e30)

    @property
    def _values(self) -> Tensor:
        """Deviance of each member (M,); infinite where it is not a number."""
        return torch.where(torch.isfinite(self.deviance), self.deviance, torch.inf)

    @property
    def best(self) -> int:
        """Number of the likeliest member."""
        return int(self._values.argmin())

    @property
    def objective(self) -> float:
        """Deviance of the likeliest member."""
        return float(self._values.min())

    def keep(self, n: int) -> Tensor:
        """Keep the n likeliest members, and return which these are (n,)."""
        chosen = torch.argsort(self._values, stable=True)[:n]
        self.members.pick(chosen)
        self.level_without_p = self.level_without_p[chosen]
        if self.detection is not None:
            self.detection.pick(chosen)
        if self.effects is not None:
            self.effects.pick(chosen)
            self.entry_mu = self.entry_mu[:, chosen]
        self.detect()
        self.measure(self.rate())
        return chosen

    def pearson(self, member: int) -> float:
        """Pearson's statistic of a member per degree of freedom."""
        factors = [each.numpy() for each in self._factors(member)]
        parameters = sum(u.size for u in factors if self.effects is None or has_patterns(u))
        if self.detection is not None:
            parameters += self.detection.theta.shape[1] // 2  # the smoothing takes about half
        if self.effects is not None:
            parameters += round(self.effects.n_free(member))
        n = len(self.problem.entries.counts)
        return pearson_dispersion(float(self._pearson[member]), n, parameters)

    def likely_mu(self, process: int = 0) -> float:
        """μ of an observation process by adjusted likelihood, given λ and p of the likeliest.

        Few counts tell none, and would have 4.6 where they are Poisson: theirs is the tensor's.
        """
        if self.effects is not None:
            return self.mu[process]
        entries, best = self.problem.entries, self.best
        mean = self.rate()[:, best] * self.multiplier[:, best]
        chosen = entries.kinds == process
        if not bool(chosen.any()):  # nothing determines p of its counts
            chosen = entries.kinds == process + len(self.mu)
        if process and int(chosen.sum()) < FEWEST_OF_MU:
            return self.mu[0]
        at = entries.at[chosen.numpy()]
        return likely_mu(entries.counts[chosen, 0], mean[chosen], at, self.shape)

    def expected(self, rate: Tensor) -> Tensor:
        """Expected counts of the likeliest member (N,), given λ (N, M), at the level of the counts.

        A step of the effects leaves the level free, and its error is no scatter.
        """
        best, y = self.best, self.problem.entries.counts[:, 0]
        mean = rate[:, best] * self.multiplier[:, best]
        return mean * level_of(y, mean, self.entry_mu[:, best])

    def drawn(self) -> tuple[list[FloatArray], FloatArray, FloatArray] | None:
        """Draws of the likeliest member's random effects, θ and β, level; None without effects."""
        if self.effects is None:
            return None
        given = self.likeliest(self.rate())
        tables, others, level = self.effects.draw(given, self.effects.n_draws)
        if self.detection is not None and not len(others):  # nothing determines g
            others = np.zeros((self.detection.theta.shape[1], tables[0].shape[1]))
        return tables, others, level

    def likeliest(self, rate: Tensor) -> Given:
        """What is held beside the effects of the likeliest member."""
        m, entries, linear = self.best, self.problem.entries, None
        if self.detection is not None and entries.n_attributed:
            linear = self.detection.linear(m)
        mean, y = rate[:, m] * self.without_effects[:, m], entries.counts[:, 0]
        mu = self.entry_mu[:, m]
        return Given(m, mean.numpy(), y.numpy(), mu.numpy(), self.dispersion, linear)

    def estimate(self) -> Estimate:
        """Return what has been found so far.

        Raises
        ------
        FitError
            If no start has a finite likelihood.
        """
        values, n = self._values, len(self.problem.entries.counts)
        finite = torch.isfinite(values)
        if not bool(finite.any()):
            raise FitError("no member has a finite likelihood; check the counts for huge values")
        order = torch.argsort(values, stable=True)
        best = int(order[0])
        worse = (values - values[best]) * n / (2 * self.dispersion)
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
            mu=self.mu[0],
            likely_mu=self.likely_mu(),
            dispersion=self.pearson(best),
            mu_of_observations=tuple(self.mu[1:]),
            powers=() if self.effects is None else tuple(self.effects.powers),
        )

    def estimate_with_networks(self, optima: Sequence[Optimum]) -> Estimate:
        """What a network stage has found: a member of each optimum, the best first."""
        best = optima[0]
        unit = self.problem.entries.unit ** (-1 / len(best.factors))
        members = [optimum.member() for optimum in optima]
        return Estimate(
            members=[replace(m, factors=tuple(f * unit for f in m.factors)) for m in members],
            dropped=[],
            mu=float(best.mu[0]),
            likely_mu=best.likely_mu(),
            mu_of_observations=tuple(self.mu[1:]),
            dispersion=pearson_dispersion(best.pearson(), len(best.counts), best.n_parameters),
        )

    def _factors(self, m: int) -> list[Tensor]:
        """Factors of a member, per unit of this exposure."""
        rank = self.problem.settings.rank
        return [factor[:, m * rank : (m + 1) * rank] for factor in self.members.factors]

    def _member(self, m: int) -> Member:
        problem = self.problem
        unit = problem.entries.unit ** (-1 / len(self.members.factors))
        factors = tuple(factor.numpy() * unit for factor in self._factors(m))
        theta, layers = np.empty(0), list[FloatArray]()
        if self.detection is not None:
            theta = self.detection.theta[m].numpy().copy()
            layers = [layer.numpy() for layer in self.detection.layers]
        given, anchored = (factors, problem.features, problem.rates), problem.observations.anchored
        member = member_of(*given, theta, tuple(layers), anchored=anchored)
        if self.effects is None:
            return member
        return replace(member, mode_effects=self.effects.member(m))

    def optimum(self) -> Optimum:
        """The likeliest member, over all entries."""
        m, problem, entries = self.best, self.problem, self.problem.entries
        observations, order = problem.observations, problem.observations.order
        theta = precisions = centre = torch.zeros(0, dtype=torch.float64)
        unattributed, mu = 1.0, constant(self.mu[0], len(order))
        exposure = entries.exposure[:, 0]
        where = np.array(observations.indices[order].T, dtype=np.int32, order="C")
        if self.detection is not None:
            theta, precisions = self.detection.theta[m].clone(), self.detection.prior()[m]
            centre = self.detection.centre
            unattributed = float(self.detection.elsewhere()[:, m].mean() * self.level_without_p[m])
        if self.effects is not None:
            exposure = exposure * self.effects.factors[:, m]
            mu = self.entry_mu[:, m]
        elif entries.kinds.any():
            mu = self.entry_mu[:, m][entries.kinds.long()]
        return Optimum(
            where=[*map(torch.from_numpy, where)],
            counts=entries.counts[:, 0],
            exposure=exposure,
            attributes=observations.attributes,
            rows=observations.rows[order[: entries.n_attributed]],
            observations=observations if len(observations.errors) else None,
            features=problem.features,
            rates=problem.rates,
            factors=self._factors(m),
            leaves_margins=self.effects is not None and self.effects.leaves_margins,
            coefficients=theta,
            precisions=precisions,
            centre=centre,
            layers=() if self.detection is None else self.detection.layers,
            unattributed=unattributed,
            known=entries.known[:, 0] if observations.anchored else None,
            mu=mu,
            dispersion=self.dispersion,
            prior_shape=self.shape,
        )

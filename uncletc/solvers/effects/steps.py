"""Effects of modes in the rounds of a fit: steps together with the curves, and how counts scatter.

Beside effects, counts that scatter would be followed one by one: μ, and how it grows with the
expected count, is learnt from a share of the entries that the effects have not seen until then.

Effects orthogonal to attributes leave p what it can explain. Attributes that act on λ then get too
much: what places have by chance in common with them. So once p is found it stays, and the effects
share with these attributes as their priors say (:meth:`ModeSteps.drop_orthogonality`).
"""

import math

import numpy as np
import torch
from torch import Tensor

from uncletc.common.validation import FloatArray
from uncletc.data.surveys import DRAWS_A_SURVEY
from uncletc.model.negbin import LEAST_MEAN, MEAN_OF_MU
from uncletc.model.random_effects import alike, of_single_modes, with_own_effects
from uncletc.solvers.effects.random_effects import Given, RandomEffectsSolver
from uncletc.solvers.effects.terms import Term
from uncletc.solvers.joint.curve_steps import Detection
from uncletc.solvers.joint.dispersion import FEWEST_OF_MU, likely_law, unseen_dispersion
from uncletc.solvers.joint.members import Problem

FIRST_MU = 2.0  # which a μ near Poisson would let effects follow every count
# Share of the entries, at least and at most, that tell μ and are not seen meanwhile; and how many
# of these are enough.
_SHARES_UNSEEN, _ENOUGH_UNSEEN = (0.1, 0.3), 100
_SMOOTHINGS = 5  # of curves that an earlier fit has found; the precisions then hardly change
_DRAWS = 36  # standard deviations are then known within 12 %


class ModeSteps(RandomEffectsSolver):
    """Random effects of a fit's starts, which begin at 0, in steps with the curves.

    Parameters
    ----------
    problem : Problem
    n_members : int
        M.
    factors_first : bool
        Whether effects are left what the factors of a start do not explain.

    Attributes
    ----------
    powers : list of float
        ν of each observation process: μ of an entry is that of its process times (ŷ/20)^ν.
    of_single_modes : bool
        Whether each is of one mode, so that factors have to tell how modes act together.
    leaves_margins : bool
        Whether factors follow counts, and leave to effects how levels of modes differ in the mean:
        beside effects of single modes, and where they come first, if each mode has one of its own.
    n_draws : int
        Draws of effects that a fit keeps, at least.
    """

    def __init__(self, problem: Problem, n_members: int, factors_first: bool) -> None:
        counts, settings, observations = problem.counts, problem.settings, problem.observations
        order, self._entries = observations.order, problem.entries
        process, self._kinds = observations.process[order], problem.entries.kinds.numpy()
        self.powers = [0.0] * self._entries.n_processes
        chance = np.random.default_rng((settings.seed, 2)).random(len(order))
        least, most = _SHARES_UNSEEN
        self._unseen = chance < min(max(_ENOUGH_UNSEEN / len(order), least), most)
        self._given_mu = settings.mu
        self.n_draws = _DRAWS + DRAWS_A_SURVEY * len(counts.surveys)
        named = counts.every_group
        effects = with_own_effects(settings.effects, named, settings.rank)
        self.of_single_modes = of_single_modes(effects, named)
        leading = settings.rank > 1 and (self.of_single_modes or factors_first)
        self.leaves_margins = leading and not alike(effects, named, smooth=False)
        at, known = observations.indices[order], ~np.isnan(observations.known[order])
        rows = counts.modes, at, process, self._entries.n_processes, _attributes_of(problem)
        terms = [Term(effect, named, *rows, known) for effect in effects]
        super().__init__(terms, counts.modes, n_members, settings.seed, observations.local_error)

    @property
    def factors(self) -> Tensor:
        """What effects make of the expected count of each row; (N, M)."""
        return torch.from_numpy(np.exp(self.logs))

    def smooth_curves(self, mean: Tensor, mu: Tensor, detection: Detection) -> None:
        """Set the precisions of curves that an earlier fit has found, for a start at these.

        Parameters are those of :meth:`step_with_curves`.
        """
        for _ in range(_SMOOTHINGS):
            self._smooth(mean, mu, 1.0, detection)

    def step_with_curves(
        self,
        mean: Tensor,
        mu: Tensor,
        dispersion: float,
        detection: Detection | None,
        held: Tensor,
        *,
        learnt: bool,
        deviations: bool,
    ) -> None:
        """Move effects and, in the same step, the curves.

        Parameters
        ----------
        mean : Tensor, shape (N, M)
            Expected counts without effects.
        mu : Tensor, shape (N, M)
        dispersion : float
            φ.
        detection : Detection, optional
            None: nothing determines p of any entry.
        held : Tensor of bool, shape (M,)
            Members whose curves may not move yet.
        learnt : bool
            Whether μ is known, so that all entries may be seen.
        deviations : bool
            Also renew the deviations of effects.
        """
        y = self._entries.counts[:, 0].numpy()
        seen = None if learnt else ~self._unseen
        for m in range(mean.shape[1]):
            linear = None
            if detection is not None and not bool(held[m]):
                linear = detection.linear(m)
                linear.moves[: detection.features.n_features] = not self.shares  # else p stays
            given = Given(m, mean[:, m].numpy(), y, mu[:, m].numpy(), dispersion, linear)
            step = self.step(given, seen=seen, deviations=deviations)
            if linear is not None and detection is not None:
                detection.move(m, step)
        if detection is not None and deviations and not bool(held.any()):
            self._smooth(mean, mu, dispersion, detection)

    def mu_of_entries(self, mu: Tensor, mean: Tensor, allowed: Tensor) -> Tensor:
        """μ of every entry, which grows with the expected count; (N, M).

        Parameters
        ----------
        mu : Tensor, shape (L, M)
            Of each observation process.
        mean : Tensor, shape (N, M)
            Expected counts.
        allowed : Tensor, shape (2L, M)
            As :meth:`Detection.allowance` returns it.
        """
        kinds = self._entries.kinds.long()
        extra = 1 / allowed - 1 / torch.cat([mu, mu])
        process = kinds % len(mu)
        power = torch.tensor(self.powers, dtype=torch.float64)[process, None]
        own = mu[process] * (mean.clamp_min(LEAST_MEAN) / MEAN_OF_MU) ** power
        found: Tensor = 1 / (1 / own + extra[kinds].clamp_min(0.0))
        return found

    def learn(
        self,
        mean: Tensor,
        mu: list[float],
        left_out: tuple[FloatArray, FloatArray] | None = None,
        followed: float = 0.0,
    ) -> tuple[list[float], float]:
        """Return μ of each observation process and φ, from counts that effects have not seen.

        A μ that the settings give stays. Counts then scatter by φ times what it allows, which
        divides the log-likelihood: without that, effects would follow single counts.

        Parameters
        ----------
        mean : Tensor, shape (N,)
            Expected counts of the likeliest member.
        mu : list of float
            So far; it stays where too few counts are unseen.
        left_out : tuple of ndarray, optional
            As :meth:`left_out` returns it: μ then comes from every count. A sample of a small table
            estimates μ poorly, and each seed draws another one.
        followed : float
            Share of the scatter of counts, seen by effects or not, that factors have followed.
        """
        found, dispersion = list(mu), 1.0
        expected, variance = left_out or (mean.numpy(), np.zeros(len(mean)))
        y, unseen = self._entries.counts[:, 0].numpy(), self._unseen | (left_out is not None)
        for number in range(len(mu)):
            own = self._kinds == number
            if not own.any():  # nothing determines p of its counts; else the others scatter more
                own = self._kinds == number + len(mu)
            chosen = unseen & own
            if chosen.sum() < FEWEST_OF_MU:  # they scatter as the tensor's own
                found[number], self.powers[number] = found[0], self.powers[0]
                continue
            rest = (y - expected)[chosen] / math.sqrt(1 - followed)
            given = np.maximum(expected[chosen] + rest, 0.0), expected[chosen], variance[chosen]
            if number == 0 and self._given_mu is not None:
                dispersion = unseen_dispersion(*given, self._given_mu)
            else:
                found[number], self.powers[number] = likely_law(*given)
        return found, dispersion

    def _smooth(self, mean: Tensor, mu: Tensor, dispersion: float, detection: Detection) -> None:
        """Set the precisions of curves, given expected counts without effects (N, M)."""
        expected = mean * self.factors
        less = 1 / (1 + expected / mu)
        level = (less * self._entries.counts).sum(dim=0) / (less * expected).sum(dim=0)
        weights = expected * level * less / dispersion
        detection.smooth(weights)


def _attributes_of(problem: Problem) -> FloatArray | None:
    """All attributes of the rows as they act, means where there are none; (N, q)."""
    counts, observations, values = problem.counts, problem.observations, problem.counts.attributes
    if problem.rates is not None:
        values = np.column_stack([values, problem.rates.at(counts.attribute_indices)])
    if not values.size:
        return None
    rows = observations.rate_rows[observations.order]
    return np.where(rows[:, None] >= 0, values[rows], values.mean(axis=0))

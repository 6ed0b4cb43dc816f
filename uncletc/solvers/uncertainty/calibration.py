"""A check of a fit's intervals: how far estimates from counts simulated from it scatter.

Where counts are few, the likelihood is no parabola and the smoothing of curves is itself uncertain:
draws of single entries are widened by the size of what the curvature leaves out. Where entries are
few as well, or no other start came near the optimum, starts end at optima that know nothing of each
other, and only refits from new starts show how far these differ. Elsewhere estimates scatter as
the curvature says, and the check is left out.
"""

from dataclasses import replace

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.stacked import StackedObservations
from uncletc.fitting.settings import FitSettings
from uncletc.result.fit_result import Fit
from uncletc.result.posterior import QUANTITIES, Draws
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.joint.rounds import Rounds

# Counts per element of a factor, in units of the prior's c, below which draws are widened. Refits
# of problems with more found factors of 1.0.
_FEW = 100.0
# Entries per element of a factor, below which refits check them too. Those of problems with 11 or
# more found factors of at most 1.3, and no more than the next term does.
_ENTRIES_FEW = 4.0
# The same where no other start came near the optimum, whatever the counts: with 4 to 5 entries an
# element such optima held .4-.8 of the truth at .9, and those that several starts found .9.
_ENTRIES_LONE = 8.0
_CHEAP = 250_000  # entries times rank up to which refits cost little
_REFITS = 2  # more make the factors surer, which these are to some 15 %
_ROUNDS = 150  # of each, at most
# Relative size of the next term after the curvature, over counts per element. Chosen on 9 problems
# with 7 to 15 counts, where intervals held .79-.85 of the truth at .9. Below _FEWEST the prior says
# most: on 43 problems with .5 to 9 counts they need 1.2 times the width (.8 to 1.8, the most for
# skewed factors).
_NEXT_TERM, _FEWEST = 2.0, 4.0
_SHARE = 0.9  # of the deviations that widened intervals of this level hold
_NORMAL = 1.645  # of which a normal variable's absolute value holds as many
_ROWS = 4_096  # entries compared


def calibrate_intervals(fit: Fit, optimum: Optimum, counts: CountTensor) -> Fit:
    """Widen the draws of a fit where counts or entries are few; drop them if all counts are 0.

    Parameters
    ----------
    fit : Fit
        Whose first member is `optimum`.
    optimum : Optimum
    counts : CountTensor
        What it was fitted to.
    """
    if not optimum.counts.any():  # then λ may be as small as one likes
        return replace(fit, draws=None)
    draws, information = fit.draws, optimum.information_per_parameter / optimum.prior_shape
    if draws is None or optimum.unseen is not None:  # then draws are widened by unseen counts
        return fit
    widening = shared = np.ones(len(QUANTITIES))
    if information <= _FEW:
        widening = widening + _NEXT_TERM / max(optimum.information_per_parameter, _FEWEST)
    entries = counts.n_observed / sum(factor.numel() for factor in optimum.factors)
    lone = len(fit.members) == 1 and bool(fit.dropped)
    astray = (information <= _FEW and entries < _ENTRIES_FEW) or (lone and entries < _ENTRIES_LONE)
    alone = not counts.observations and not fit.settings.effects
    if astray and alone and counts.n_observed * fit.rank <= _CHEAP:
        shared = _scatter(draws, optimum, counts, replace(fit.settings, mu=fit.mu))
        widening = np.maximum(widening, shared)
    own, common = map(tuple, np.array([widening, shared]).tolist())
    return replace(fit, draws=replace(draws, widening=own, shared=common))


def _refit(counts: CountTensor, settings: FitSettings) -> Optimum:
    rounds = Rounds(counts, settings)
    for _ in range(min(_ROUNDS, settings.max_iter)):
        if rounds.settled():
            break
        rounds.step()
    return rounds.state.optimum()


def _scatter(
    draws: Draws, optimum: Optimum, counts: CountTensor, settings: FitSettings
) -> FloatArray:
    """How much farther refits to simulated counts lie from the fit than its draws; λ, p, λp."""
    rng = np.random.default_rng(settings.seed)
    order = StackedObservations.of(counts).order
    where, z = counts.attribute_indices, counts.attributes
    if not len(where):
        where, z = counts.indices, np.empty((len(counts.indices), 0))
    step = max(len(where) // _ROWS, 1)
    where, z = where[::step], z[::step]
    fitted = _logs(optimum, where, z)
    deviations = []
    for _ in range(_REFITS):
        simulated = np.empty(len(order), dtype=np.int64)
        simulated[order] = _simulated(optimum, rng)
        again = _refit(counts.with_counts(simulated), settings)
        deviations.append(np.abs(_logs(again, where, z) - fitted))
    expected = [draws.deviation(of, optimum.member(), where, z) for of in QUANTITIES]
    ratio = np.array(deviations) / np.maximum(expected, 1e-12)  # (refits, 3, entries)
    return np.maximum(np.quantile(ratio, _SHARE, axis=(0, 2)) / _NORMAL, 1.0)


def _simulated(optimum: Optimum, rng: np.random.Generator) -> IntArray:
    """Counts of the fit's mean and variance, φ·(ŷ + ŷ²/μ); (N,)."""
    mean = np.maximum(optimum.expected().numpy(), 1e-12)
    variance = (optimum.dispersion - 1) / mean + optimum.dispersion / optimum.mu.numpy()
    return np.asarray(rng.poisson(mean * rng.gamma(1 / variance, variance)))


def _logs(optimum: Optimum, where: IntArray, z: FloatArray) -> FloatArray:
    """log λ, log p and log λp of entries with attributes, on the scale of a mean p of 1."""
    member = optimum.member()
    p = np.log(member.detection(z))
    level = float(np.log(np.exp(p).mean()))
    rate = np.log(np.maximum(member.rate(where), 1e-300))
    return np.stack([rate + level, p - level, rate + p])

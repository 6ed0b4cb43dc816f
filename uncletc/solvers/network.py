"""The network stage of the joint solver: a network trained by gradient, where counts ask for one.

Curves of single attributes explain most tables. What attributes do together, no sum of curves can
express; a network of the user's depth and width can, but where there is no joint effect it only
adds variance. So it has to show its worth twice. First cheaply, on top of the λ and the curves
that are there (:mod:`uncletc.solvers.joint_effect`). Then by moving everything jointly (factors,
curves and network) on most of the entries: it must predict the others better than the
same descent without a network does. Only then is the fit finished with it on all entries.

What a network could explain, the additive stage takes for scatter: its φ is large, its λ is spoilt,
and the first look with it. So if φ is large and the joint descent is cheap, it is tried without the
first look. Starts are compared, by their cost, as if counts did not scatter; the best goes on with
half of the scatter (on the logarithmic scale of μ), so that what it cannot explain yet does not
distort the rest; it is judged, and finished without scatter. Only a scatter that then remains large
is taken for one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from uncletc.detection import standardised
from uncletc.solvers.descent import Rows, afresh, cost, descend, expected, with_network
from uncletc.solvers.dispersion import likely_mu
from uncletc.solvers.joint_effect import joint_effect
from uncletc.solvers.optimum import Optimum

_STANDARD_ERRORS = 2.0  # of a gain on the first look, from which it counts as shown
_STANDARD_ERRORS_BOTH = 2.0  # on the second, over two scores; additive counts: -4 to -12
_HELD_OUT = 0.15  # share of entries that judge; more leave too few to learn from
_FEWEST_ENTRIES = 100  # with attributes: fewer cannot show a joint effect
MOST_ENTRIES = 20_000  # the descents take half a minute of them, and a minute of COVID-19
_MISFIT = 1.5  # φ from which the first look is not trusted
_SCATTER = 5.0  # μ below which counts scatter beyond what a network leaves unexplained: 8 to 100
_MOST_SHAPE = 3.0  # of the factors' prior, which a misfit may have raised
_CHEAP = 6_000  # entries up to which a joint descent is cheap
# Iterations of each start, of the best under half of the scatter, and under none: on most of the
# entries, then on all. Half as many make errors a third larger.
_SCREENED, _HALF, _FINISHING = 100, 150, 300
_WORK = 5_000  # entries times fresh starts, which bounds the time of starts
_MOST_FRESH = 3
_SMALLEST = 1e-9


def learn_network(
    optimum: Optimum,
    hidden: tuple[int, ...],
    seed: int,
    pause: Callable[[], None] = lambda: None,
) -> Optimum | None:
    """Add a trained network to the curves of g.

    Parameters
    ----------
    optimum : Optimum
        After the additive stage, without `layers`.
    hidden : tuple of int
        Units of each hidden layer; (): no network.
    seed : int
        Of the starting weights and of the entries held out.
    pause : callable
        Called between descents, each of which takes seconds; an error that it raises ends them.

    Returns
    -------
    Optimum or None
        With trained `layers`, `unseen`, and factors, coefficients and φ moved to suit; None if
        held-out counts show no joint effect of attributes, or there are more than 20,000.
    """
    if not hidden or optimum.features is None or not np.isfinite(optimum.features.spread).any():
        return None  # a network sees attributes without a sign alone
    if not _FEWEST_ENTRIES <= len(optimum.rows) <= MOST_ENTRIES:
        return None
    scattered = optimum.dispersion > _MISFIT
    look = not scattered or len(optimum.counts) > _CHEAP
    inputs = standardised(optimum.features, optimum.z())
    if look and joint_effect(optimum, inputs, seed) <= _STANDARD_ERRORS:
        return None
    rows = Rows.of(optimum)
    generator = torch.Generator().manual_seed(seed)
    held_out = torch.rand(len(optimum.counts), generator=generator) < _HELD_OUT
    held_out[len(optimum.rows) :] = False
    seen, judges = rows.at(~held_out), rows.at(held_out)
    none = replace(optimum, dispersion=1.0, prior_shape=min(optimum.prior_shape, _MOST_SHAPE))
    found = _best_start(none, seen, hidden, generator, pause)
    found = descend(replace(found, mu=_half(optimum) if scattered else none.mu), seen, _HALF)
    rivals = []
    for dispersion in {1.0, optimum.dispersion}:
        pause()
        rival = replace(optimum, dispersion=dispersion)
        rivals.append(descend(rival, seen, _SCREENED + _HALF))
    if _gain(found, rivals, judges) <= _STANDARD_ERRORS_BOTH:
        return None
    pause()
    unseen = torch.full_like(optimum.counts, torch.nan)
    unseen[held_out] = expected(found, judges)
    found = _finished(replace(found, mu=none.mu), rows)
    return replace(found.with_mu(float(none.mu[0])), unseen=unseen)


def _half(optimum: Optimum) -> Tensor:
    """μ halfway, on the logarithmic scale, between that of the model and that of the residuals."""
    likely = optimum.likely_mu()
    return optimum.with_mu(math.sqrt(float(optimum.mu[0]) * likely)).mu


def _best_start(
    optimum: Optimum,
    seen: Rows,
    hidden: tuple[int, ...],
    generator: torch.Generator,
    pause: Callable[[], None],
) -> Optimum:
    """Descend from the additive fit and afresh; the least cost."""
    n_fresh = min(max(_WORK // len(seen.counts), 1), _MOST_FRESH)
    starts = [with_network(optimum, hidden, generator) for _ in range(1 + n_fresh)]
    starts[1:] = [afresh(start, seen, generator) for start in starts[1:]]
    ends = []
    for start in starts:
        pause()
        ends.append(descend(start, seen, _SCREENED))
    return min(ends, key=lambda end: cost(end, seen))


def _gain(candidate: Optimum, rivals: list[Optimum], judges: Rows) -> float:
    """Gain on held-out entries over the better rival, in standard errors, summed over two scores.

    The likelihood at the model's μ weighs large counts, which decide the errors of λ and p. At the
    μ that suits each prediction it weighs relative errors, which decide for scattered counts.
    """
    z = 0.0
    for mu in (rivals[0].mu[judges.chosen], None):
        score, *others = (_score(each, judges, mu) for each in (candidate, *rivals))
        gain = score - max(others, key=lambda other: float(other.mean()))
        z += float(gain.mean() / (gain.std() + _SMALLEST)) * math.sqrt(len(gain))
    return z


def _score(optimum: Optimum, rows: Rows, mu: Tensor | None) -> Tensor:
    """Log-likelihood of each entry at a μ, or at the one that suits them best; (n,)."""
    y, mean = rows.counts, expected(optimum, rows).clamp_min(_SMALLEST)
    if mu is None:
        mu = torch.full_like(y, likely_mu(y, mean))
    constant = torch.lgamma(y + mu) - torch.lgamma(mu) - torch.lgamma(y + 1) - y * mu.log()
    return constant + y * mean.log() - (y + mu) * torch.log1p(mean / mu)


def _finished(found: Optimum, rows: Rows) -> Optimum:
    """Descend on all entries, and again with the scatter that remains if that is large."""
    found = descend(found, rows, _FINISHING)
    likely = found.likely_mu()
    if likely >= min(_SCATTER, float(found.mu[0])):
        return found
    return descend(replace(found, mu=found.with_mu(likely).mu), rows, _FINISHING)

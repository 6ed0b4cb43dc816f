"""The network stage of the joint solver: a network trained by gradient, where counts ask for one.

Curves of single attributes explain most tables. What attributes do together, no sum of curves can
express; a network of the user's depth and width can, but where there is no joint effect it only
adds variance. So it has to show its worth twice. First cheaply, on top of the λ and the curves
that are there (:mod:`uncletc.solvers.joint_effect`). Then by moving everything jointly (factors,
curves and network) on most of the entries: it must predict the others better than the
same descent without a network does. Only then is the fit finished with it on all entries.

A misfit of the additive stage spoils λ, and through it the first look. Where counts scatter much
more than the model allows and the joint descent is cheap, it is tried without the first look.

A few starts are compared by the cost they reach: the likelihood of a network has local optima,
above all where entries are few.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from uncletc.solvers.descent import Descent, Rows
from uncletc.solvers.joint_effect import joint_effect
from uncletc.solvers.optimum import Optimum

_STANDARD_ERRORS = 2.0  # of a gain that count as shown, in either step
_HELD_OUT = 0.15  # share of entries that judge; more leave too few to learn from
_FEWEST_ENTRIES = 100  # with attributes: fewer cannot show a joint effect
_MISFIT = 1.5  # φ from which the first look is not trusted
_CHEAP = 6_000  # entries up to which a joint descent is cheap
_ITERATIONS_SCREENED = 100  # of each start
_ITERATIONS = 150  # more of the best, before it is judged
_ITERATIONS_FINISHING = 300  # on all entries
_WORK = 8_000  # entries times starts, which bounds the time of starts
_MOST_STARTS = 5
_SMALLEST = 1e-9


def learn_network(optimum: Optimum, hidden: tuple[int, ...], seed: int) -> Optimum | None:
    """Add a trained network to the curves of g.

    Parameters
    ----------
    optimum : Optimum
        After the additive stage; ``layers`` is ().
    hidden : tuple of int
        Units of each hidden layer; (): no network.
    seed : int
        Of the starting weights and the entries held out.

    Returns
    -------
    Optimum or None
        With trained ``layers`` and with factors and coefficients moved to suit; None if
        held-out counts show no joint effect of attributes.
    """
    if not hidden or optimum.features is None or len(optimum.attributes) < _FEWEST_ENTRIES:
        return None
    rows = Rows.of(optimum)
    misfits = optimum.dispersion > _MISFIT and len(optimum.counts) <= _CHEAP
    if not misfits and joint_effect(optimum, rows.inputs, seed) <= _STANDARD_ERRORS:
        return None
    generator = torch.Generator().manual_seed(seed)
    held_out = torch.rand(len(optimum.counts), generator=generator) < _HELD_OUT
    held_out[len(optimum.attributes) :] = False
    seen, judges = rows.at(~held_out), rows.at(held_out)
    candidates = [
        _best_start(optimum, seen, hidden, dispersion, generator)
        for dispersion in _dispersions(optimum, math.sqrt(optimum.dispersion))
    ]
    scores = [_score(candidate, judges) for candidate in candidates]
    best = max(range(len(scores)), key=lambda i: float(scores[i].mean()))
    rivals = [
        Descent(optimum, seen, (), dispersion, generator).run(_ITERATIONS_SCREENED + _ITERATIONS)
        for dispersion in _dispersions(optimum, optimum.dispersion)
    ]
    rival = max((_score(each, judges) for each in rivals), key=lambda score: float(score.mean()))
    gain = scores[best] - rival
    if float(gain.mean()) <= _STANDARD_ERRORS * float(gain.std()) / math.sqrt(len(gain)):
        return None
    unseen = torch.full_like(optimum.counts, torch.nan)
    unseen[held_out] = candidates[best].expected(judges)
    finished = candidates[best].move(rows).run(_ITERATIONS_FINISHING).optimum()
    return replace(finished, unseen=unseen)


def _dispersions(optimum: Optimum, other: float) -> list[float]:
    """φ to try: 1, as if all misfit were for the network to explain, and another."""
    return [1.0] if optimum.dispersion <= _MISFIT else [1.0, other]


def _best_start(
    optimum: Optimum,
    seen: Rows,
    hidden: tuple[int, ...],
    dispersion: float,
    generator: torch.Generator,
) -> Descent:
    """Descend from the additive fit and afresh; go on with the least cost."""
    n_starts = min(max(_WORK // len(seen.counts), 1), _MOST_STARTS)
    starts = [
        Descent(optimum, seen, hidden, dispersion, generator, fresh=i > 0).run(_ITERATIONS_SCREENED)
        for i in range(n_starts + 1)
    ]
    return min(starts, key=lambda start: start.cost).run(_ITERATIONS)


def _score(descent: Descent, rows: Rows) -> Tensor:
    """Log-likelihood of each entry, up to a constant; (n,)."""
    y, mu, mean = rows.counts, rows.mu, descent.expected(rows).clamp_min(_SMALLEST)
    return y * mean.log() - (y + mu) * torch.log1p((mean - y) / (y + mu))

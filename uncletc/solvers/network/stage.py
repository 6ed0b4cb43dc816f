"""The network stage of the joint solver: a network trained by gradient, where counts ask for one.

Curves of single attributes explain most tables. What attributes do together, no sum of curves can
express; a network of the user's depth and width can, but where there is no joint effect it only
adds variance. So it has to show its worth twice. First cheaply, on top of the λ and the curves
that are there (:mod:`~uncletc.solvers.network.interaction_test`). Then by moving everything jointly
(factors, curves and network) on most of the entries: it must predict the others better than the
same descent without a network does. Where entries are few, a fold of them says little, and where
a network lands depends on where it starts: several folds judge together, each with a network of
its own. Only then are these finished on all entries. The best few are the members of the fit, whose
mean is nearer the truth than any of them.

What a network could explain, the additive stage takes for scatter: its φ is large, its λ is spoilt,
and the quick test with it. So if φ is large and the joint descent is cheap, it is
tried without the quick test. Two starts are compared, by their cost, as if counts
did not scatter; the better continues with half of the scatter (on the logarithmic scale of μ), so
that what it cannot explain yet does not distort the rest; it is judged, and finished without
scatter. Only a scatter that then remains large is taken for one.

On many counts, beside effects of modes and where attributes have a sign, the network is trained by
minibatches instead (:mod:`~uncletc.solvers.network.training`): on most of the entries, against
factors alone that are trained as long; then on all of them. Rounds with the network held finish
factors, curves and effects (:func:`train_by_minibatches`).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from uncletc.solvers.joint.dispersion import likely_mu
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.network.descent import cost, descend, expected, random_start
from uncletc.solvers.network.interaction_test import joint_effect
from uncletc.solvers.network.training import Training
from uncletc.solvers.network.weights import with_network

START_MU = 2000.0  # nearly Poisson: with it, a network is not taken for scatter
_STANDARD_ERRORS = 2.0  # of a gain on the quick test, from which it counts as shown
# On the second, over two scores and all folds: 2 of one, the less the more folds agree. Additive
# counts that fit badly: -4.5 to 2 on one fold, -5 to -2.5 on five. `net` and `step` with 800
# counts: -4 to 7 on one, -6 to 14 on five.
_STANDARD_ERRORS_BOTH = 2.0
_HOPELESS = -1.0  # the same over two folds or more, from which no further fold is asked
_CLEAR = 6.0  # and from which further folds are not judged
_HELD_OUT = 0.15  # share of entries that judge; more leave too few to learn from
_FEWEST_ENTRIES = 100  # with attributes: fewer cannot show a joint effect
MOST_DESCENDED = 12_000  # entries of joint descents, which then take half a minute
_MISFIT = 1.5  # φ from which the quick test is not trusted
_SCATTER = 5.0  # μ below which counts scatter beyond what a network leaves unexplained: 8 to 100
_MOST_SHAPE = 3.0  # of the factors' prior, which a misfit may have raised
_CHEAP = 6_000  # entries up to which a joint descent is cheap
# Iterations of each start, of the better under half of the scatter, and under none: on most of the
# entries, then on all. Half as many make errors a third larger. A network judged after the last
# ones instead has overfitted: of 8 that are better than none, chosen because some are rejected
# otherwise, 5 were rejected, against 3.
_SCREENED, _HALF, _FINISHING = 100, 150, 300
# Entries times folds, which bounds the time, and the most folds. Each ends in a network of its own.
_WORK, _MOST_FOLDS = 10_000, 5
_KEPT = 3  # networks that become members: 1 makes errors of p 8 to 16 % larger, 5 no smaller
_SMALLEST = 1e-9
# Steps of Adam that judge a network, and those on all entries, more where it gains much a count:
# then there is more to be learnt than these steps can.
_JUDGED, _MORE, _MUCH_MORE, _MUCH = 700, 300, 4000, 0.1


@dataclass(frozen=True, eq=False)
class Learned:
    """What became of a network.

    Attributes
    ----------
    optima : list of Optimum
        With trained `layers`, and factors, coefficients and φ moved to suit; the best first. Empty
        without a network.
    gain : tuple of float, optional
        By how much held-out counts are predicted better with it, in log score a count, and the
        standard error of that; None where none was judged.
    """

    optima: list[Optimum]
    gain: tuple[float, float] | None = None


def train_by_minibatches(
    optimum: Optimum,
    hidden: tuple[int, ...],
    seed: int,
    pause: Callable[[], None],
    *,
    always: bool,
    joint: bool,
    scatter: bool,
) -> Learned:
    """Train a network beside held curves.

    Parameters
    ----------
    optimum : Optimum
        After the additive stage, or after its first rounds.
    hidden, seed, pause, always
        As :func:`learn_network` has them.
    joint : bool
        Whether factors are trained too; not beside effects of modes, whose part λ then is.
    scatter : bool
        Whether μ is estimated.
    """
    if not _is_tried(optimum, hidden, seed, always=always, tested=not always):
        return Learned([])
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(optimum.rows), generator=generator)
    held_out = order[: math.ceil(_HELD_OUT * len(order))].sort().values
    chosen = torch.ones(len(optimum.counts), dtype=torch.bool)
    chosen[held_out] = False
    seen = torch.nonzero(chosen).ravel()
    start = optimum.with_mu(START_MU) if scatter else optimum
    predicted = []
    for one in (start, with_network(start, hidden, generator)):
        training = Training(one, joint=joint, scatter=scatter)
        if joint or one.layers:
            training.run(seen, _JUDGED, generator, pause)
        predicted.append(training.expected(held_out))
    y = optimum.counts[held_out]
    without, with_it = (_score(y, mean, None) for mean in predicted)
    gain, error = _mean_gain(with_it - without)
    if not always and gain <= _STANDARD_ERRORS * error:
        return Learned([], (gain, error))
    steps = _MORE
    if gain > _MUCH:
        again, steps = replace(training.optimum(), mu=start.mu), _MUCH_MORE
        training = Training(again, joint=joint, scatter=scatter)
    training.run(torch.arange(len(optimum.counts)), steps, generator, pause)
    unseen = optimum.counts.new_full((len(optimum.counts),), torch.nan)
    unseen[held_out] = predicted[1]
    return Learned([replace(training.optimum(), unseen=unseen)], (gain, error))


def _is_tried(
    optimum: Optimum, hidden: tuple[int, ...], seed: int, *, always: bool, tested: bool
) -> bool:
    """Whether there are layers, attributes that a network sees, and entries enough that ask for it.

    The entries are asked only if `tested`, by :func:`joint_effect`.
    """
    features = optimum.features
    if not hidden or features is None or not np.isfinite(features.spread).any():
        return False
    if len(optimum.rows) < (1 if always else _FEWEST_ENTRIES):
        return False
    return not tested or joint_effect(optimum, seed) > _STANDARD_ERRORS


def _mean_gain(gains: Tensor) -> tuple[float, float]:
    """Mean of gains (n,), and its standard error."""
    return float(gains.mean()), float(gains.std()) / math.sqrt(len(gains))


def learn_network(
    optimum: Optimum,
    hidden: tuple[int, ...],
    seed: int,
    pause: Callable[[], None] = lambda: None,
    *,
    always: bool = False,
) -> Learned:
    """Add a trained network to the curves of g, by joint descents.

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
    always : bool
        Keep the networks whatever held-out counts say of them.

    Returns
    -------
    Learned
        Its optima have `unseen`, and are none if held-out counts show no joint effect of
        attributes, unless `always`.
    """
    scattered = optimum.dispersion > _MISFIT
    tested = not always and (not scattered or len(optimum.counts) > _CHEAP)
    if not _is_tried(optimum, hidden, seed, always=always, tested=tested):
        return Learned([])
    generator = torch.Generator().manual_seed(seed)
    none = replace(optimum, dispersion=1.0, prior_shape=min(optimum.prior_shape, _MOST_SHAPE))
    half = none.mu
    rivals = [replace(optimum, dispersion=dispersion) for dispersion in {1.0, optimum.dispersion}]
    if scattered:
        likely = optimum.likely_mu()  # with less scatter factors alone follow single counts
        rivals.insert(0, optimum.with_mu(likely))  # most often the best
        # Halfway, on the logarithmic scale, to that of the residuals.
        half = optimum.with_mu(math.sqrt(float(optimum.mu[0]) * likely)).mu
    unseen = optimum.counts.new_full((1 + len(rivals), len(optimum.counts)), torch.nan)

    def better_start(seen: Tensor) -> Optimum:
        """Descend from the additive fit and from a random start; the lower cost."""
        ends = []
        for renew in (False, True):
            pause()
            start = with_network(none, hidden, generator)
            start = random_start(start, seen, generator) if renew else start
            ends.append(descend(start, seen, _SCREENED))
        return min(ends, key=lambda end: cost(end, seen))

    def judge(judged: list[Tensor]) -> tuple[float, Tensor]:
        """The gain, over rivals until one leaves no hope, and what it was found from."""
        for k, rival in enumerate(rivals, 1):
            for held_out in judged:
                if unseen[k, held_out].isnan().any():
                    pause()
                    end = descend(rival, ~held_out, _SCREENED + _HALF)
                    unseen[k, held_out] = expected(end, held_out)
            gain = _gain(optimum, unseen[: k + 1])
            if gain <= _HOPELESS and not always:
                break
        return gain, unseen[: k + 1]

    found: list[Optimum] = []
    gain, compared, folds = 0.0, unseen, _folds(optimum, generator)
    for n, held_out in enumerate(folds, 1):
        seen = ~held_out
        found.append(descend(replace(better_start(seen), mu=half), seen, _HALF))
        unseen[0, held_out] = expected(found[-1], held_out)
        if gain <= _CLEAR:
            gain, compared = judge(folds[:n])
        if n > 1 and gain <= _HOPELESS and not always:
            break
    mean_gain = _mean_gain(_gains(optimum, compared, None))
    if gain <= _STANDARD_ERRORS_BOTH / len(folds) and not always:
        return Learned([], mean_gain)
    finished = _finished([replace(one, mu=none.mu) for one in found], pause)
    mu = float(none.mu[0])
    return Learned([replace(one.with_mu(mu), unseen=unseen[0]) for one in finished], mean_gain)


def _folds(optimum: Optimum, generator: torch.Generator) -> list[Tensor]:
    """Entries that judge, none of them twice: masks (N,), the fewer the more entries there are."""
    n, n_attributed = len(optimum.counts), len(optimum.rows)
    order = torch.randperm(n_attributed, generator=generator)
    n_folds = min(max(_WORK // n, 1), _MOST_FOLDS)
    folds = []
    for chosen in torch.split(order, math.ceil(_HELD_OUT * n_attributed))[:n_folds]:
        held_out = torch.zeros(n, dtype=torch.bool)
        held_out[chosen] = True
        folds.append(held_out)
    return folds


def _gain(optimum: Optimum, unseen: Tensor) -> float:
    """Gain on unseen entries over the better rival, in standard errors, summed over two scores.

    The likelihood at the model's μ weighs large counts, which decide the errors of λ and p. At the
    μ that suits each prediction it weighs relative errors, which decide for scattered counts.
    """
    z = 0.0
    for mu in (optimum.mu, None):
        gain = _gains(optimum, unseen, mu)
        z += float(gain.mean() / (gain.std() + _SMALLEST)) * math.sqrt(len(gain))
    return z


def _gains(optimum: Optimum, unseen: Tensor, mu: Tensor | None) -> Tensor:
    """Gain of log-likelihood on each unseen entry over the better rival; (n,).

    Parameters
    ----------
    optimum : Optimum
    unseen : Tensor, shape (1 + R, N)
        ŷ with the network and of R rivals, by fits that have not seen the entry; or NaN.
    mu : Tensor, shape (N,), optional
        None: that which suits each prediction best.
    """
    judged = ~torch.isnan(unseen[-1])
    y, given = optimum.counts[judged], None if mu is None else mu[judged]
    score, *others = (_score(y, mean, given) for mean in unseen[:, judged])
    return score - max(others, key=lambda other: float(other.mean()))


def _score(y: Tensor, mean: Tensor, mu: Tensor | None) -> Tensor:
    """Log-likelihood of each count at a μ, or at the one that suits them best; (n,)."""
    mean = mean.clamp_min(_SMALLEST)
    if mu is None:
        mu = torch.full_like(y, likely_mu(y, mean))
    constant = torch.lgamma(y + mu) - torch.lgamma(mu) - torch.lgamma(y + 1) - y * mu.log()
    return constant + y * mean.log() - (y + mu) * torch.log1p(mean / mu)


def _finished(found: list[Optimum], pause: Callable[[], None]) -> list[Optimum]:
    """Descend on all entries, and again with the scatter that remains if that is large.

    Returns the least cost first, and only some.
    """
    every = torch.ones(len(found[0].counts), dtype=torch.bool)

    def finish(optima: list[Optimum]) -> list[Optimum]:
        ends = []
        for one in optima:
            pause()
            ends.append(descend(one, every, _FINISHING))
        return ends

    ends = sorted(finish(found), key=lambda end: cost(end, every))[:_KEPT]
    likely = ends[0].likely_mu()
    if likely < min(_SCATTER, float(ends[0].mu[0])):
        ends = finish([replace(one, mu=one.with_mu(likely).mu) for one in ends])
    return ends

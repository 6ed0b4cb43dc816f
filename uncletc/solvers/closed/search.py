"""The order of steps of a closed fit; see :mod:`~uncletc.solvers.closed`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from torch import Tensor

from uncletc.solvers.closed.state import State

_ROUNDS_SCREENED, _FINISHED = 6, 2
_REFINEMENTS = 3  # estimates of the priors and of μ; more of μ with the level
_SAME_MU = 0.1  # change of log μ that is not worth further rounds
_NATS_SETTLED = 0.01  # change of the cost a round, below which a level has been tried
_ROUNDS_OF_LEVEL = 8  # at most
_STEP, _FARTHEST = 0.4, 6.0  # of the level, and its largest size


def search(starts: Sequence[State], tol: float, seed: int, *, likely_mu: bool) -> Iterator[State]:
    """Yield the likeliest start after every round; the last is the answer.

    Parameters
    ----------
    starts : sequence of State
    tol : float
        Relative change of the log-likelihood a round, below which it has settled.
    seed : int
    likely_mu : bool
        Whether to estimate μ.
    """

    def settled(now: float, then: float) -> bool:
        return abs(now - then) <= tol * abs(then)

    for _ in range(_ROUNDS_SCREENED if len(starts) > _FINISHED else 0):
        for each in starts:
            each.round()
        yield min(starts, key=State.cost)
    finished = sorted(starts, key=State.cost)[:_FINISHED]
    for each in finished:
        for _ in _settling(each, settled):
            yield min(finished, key=State.cost)
    best = min(finished, key=State.cost)
    for _ in range(_REFINEMENTS):
        best.update_priors(seed)
        if likely_mu:
            best.update_mu()
        for _ in _settling(best, settled):
            yield best
    yield from _choose_level(best)
    for _ in range(_REFINEMENTS):
        if not likely_mu or best.update_mu() < _SAME_MU:
            break
        for _ in _settling(best, settled):
            yield best
        yield from _choose_level(best)


def _settling(
    state: State, settled: Callable[[float, float], bool], most: int = 10**9
) -> Iterator[None]:
    """Take rounds until the cost has settled."""
    before = state.cost()
    for _ in range(most):
        state.round()
        yield
        now = state.cost()
        if settled(now, before):
            return
        before = now


def _choose_level(state: State) -> Iterator[State]:
    """Move the level of p to where it is likeliest with all else integrated out.

    The likeliest factors explain some of what is chance in n, as if true counts varied less than
    λ says; the level at which counts are likeliest given such factors is too low.
    """
    tried: dict[float, tuple[float, list[Tensor], Tensor]] = {}

    def try_at(level: float) -> Iterator[State]:
        nearest = min(tried, key=lambda other: abs(other - level))
        state.move(*tried[nearest][1:], level)
        near = _settling(state, lambda now, then: abs(now - then) < _NATS_SETTLED, _ROUNDS_OF_LEVEL)
        for _ in near:
            yield state
        tried[level] = state.evidence(), state.logs, state.theta

    def best() -> float:
        return min(tried, key=lambda level: tried[level][0])

    start = float(np.clip(state.level, -_FARTHEST, _FARTHEST))
    tried[start] = np.inf, state.logs, state.theta
    yield from try_at(start)
    for step in (_STEP, -_STEP):
        level = start + step
        while abs(level) <= _FARTHEST + _STEP:
            yield from try_at(level)
            if best() != level:
                break
            level += step
        if step > 0 and best() != start:
            break
    levels = sorted(tried)
    at = levels.index(best())
    if 0 < at < len(levels) - 1:
        yield from try_at(_vertex(*((x, tried[x][0]) for x in levels[at - 1 : at + 2])))
    state.move(*tried[best()][1:], best())
    yield state


def _vertex(
    left: tuple[float, float], middle: tuple[float, float], right: tuple[float, float]
) -> float:
    """Where the parabola through three points, the middle one the lowest, is lowest."""
    (a, at_a), (b, at_b), (c, at_c) = left, middle, right
    up, down = (b - a) * (at_b - at_c), (b - c) * (at_b - at_a)
    if up == down:
        return b
    return float(b - 0.5 * ((b - a) * up - (b - c) * down) / (up - down))

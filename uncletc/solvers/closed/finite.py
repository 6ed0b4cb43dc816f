"""The sum over true counts as a sum of few terms, where p does not vary between visits.

A product of falling factorials [n]_y = n!/(n - y)! is a sum of them with coefficients c > 0,

    ∏_v [n]_{y_v} / y_v! = Σ_k c_k [n]_k,   k = max y, …, Σ y,

where k stands for the distinct events among all that were counted. Each [n]_k has a sum over n in
closed form, so that S of :mod:`~uncletc.solvers.closed.sums` is

    Σ_k c_k θᵏ (μ)_k (1 - θ)^{-μ-k},   (μ)_k = Γ(μ + k)/Γ(μ),   or   e^θ Σ_k c_k θᵏ if Poisson.

Given k the other n - k events are negative binomial with shape μ + k, or Poisson with mean θ. A
cell in which nothing was counted has one term, however many events it may hold.
"""

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from uncletc.common.validation import FloatArray, IntArray
from uncletc.solvers.joint.kernels import compiled

_MOST_TERMS = 200  # of a cell; of more, sums over n take less
_HUGE = 1e200  # terms above are divided by it
_LARGE = 100.0  # μ from which lgamma(n + μ) - lgamma(μ) loses digits


class Visits(NamedTuple):
    """Counts of cells, and c_k of each.

    Attributes
    ----------
    starts : ndarray of int, shape (C + 1,)
        Where the counts of each cell begin, and where the last end.
    counts : ndarray of int, shape (N,)
        Cell by cell.
    least : ndarray of int, shape (C,)
        max y, the first k.
    firsts : ndarray of int, shape (C + 1,)
        Where c of each cell begins, and where the last ends; a cell that had too many has none.
    log : ndarray, shape (C,)
        The logarithm of the first c.
    ratios : ndarray, shape (T,)
        Of each c to the one before; the first is not used.
    """

    starts: IntArray
    counts: IntArray
    least: IntArray
    firsts: IntArray
    log: FloatArray
    ratios: FloatArray

    @property
    def few(self) -> NDArray[np.bool_]:
        """Which cells have c; (C,)."""
        return np.asarray(np.diff(self.firsts) > 0)

    @classmethod
    def of(cls, starts: IntArray, counts: IntArray) -> Self:
        """Those of counts, cell by cell."""
        visits = np.diff(starts)
        least, total = np.zeros(len(visits), dtype=np.int64), np.append(0, np.cumsum(counts))
        some = visits > 0
        if some.any():
            least[some] = np.maximum.reduceat(counts, starts[:-1][some])
        size = np.diff(total[starts]) - least + 1
        size[size > _MOST_TERMS] = 0
        firsts = np.append(0, np.cumsum(size))
        found = cls(starts, counts, least, firsts, np.zeros(len(visits)), np.ones(firsts[-1]))
        largest = int((least + size).max(initial=0, where=size > 0))
        _expand(found, gammaln(np.arange(largest + 1) + 1.0))
        return found


@compiled
def _expand(visits: Visits, log_factorial: FloatArray) -> None:  # pragma: no cover
    """Set the logarithms and ratios."""
    starts, first = visits.starts, visits.firsts
    now, new = np.zeros(_MOST_TERMS), np.zeros(_MOST_TERMS)
    for cell in range(len(visits.log)):
        if first[cell + 1] == first[cell]:
            continue
        low = high = 0
        now[0] = 0.0
        for y in visits.counts[starts[cell] : starts[cell + 1]]:
            # [n]_a [n]_y / y! = Σ_k C(a, k - y) / (k - a)! [n]_k,  k = max(a, y), …, a + y
            lowest = max(low, y)
            for k in range(lowest, high + y + 1):
                total, most = 0.0, -np.inf
                for a in range(max(low, k - y), min(high, k) + 1):
                    term = now[a - low] + log_factorial[a] - log_factorial[k - y]
                    term -= log_factorial[a - k + y] + log_factorial[k - a]
                    if term > most:
                        total, most = total * math.exp(most - term) + 1.0, term
                    else:
                        total += math.exp(term - most)
                new[k - lowest] = most + math.log(total)
            low, high = lowest, high + y
            now[: high - low + 1] = new[: high - low + 1]
        visits.log[cell] = now[0]
        for k in range(1, high - low + 1):
            visits.ratios[first[cell] + k] = math.exp(now[k] - now[k - 1])


@compiled
def add_terms(  # pragma: no cover
    log_theta: FloatArray, mu: float, visits: Visits, out: FloatArray
) -> None:
    """Set columns 0, 1, 2 and 4 of the sums of cells that have c: all but by_spread."""
    weights, of_none = np.empty(_MOST_TERMS), digamma(mu) if mu > 0 else 0.0
    for cell in range(len(log_theta)):
        ratios = visits.ratios[visits.firsts[cell] : visits.firsts[cell + 1]]
        k = visits.least[cell]
        if not len(ratios):
            continue
        odds, room = _odds(log_theta[cell], mu)
        total, mean, rising = _weigh(ratios, k, odds, mu, weights), 0.0, 0.0
        of_mu = digamma(k + mu) - of_none if mu > 0 and k > 0 else 0.0
        for i in range(len(ratios)):
            mean += weights[i] * (k + i)
            rising += weights[i] * of_mu
            of_mu += 1 / (k + i + mu) if mu > 0 else 0.0
        out[cell, 0] = visits.log[cell] + total + k * log_theta[cell]
        out[cell, 0] += log_rising(mu, k) - (mu + k) * room if mu > 0 else odds
        out[cell, 1] = mean + odds * (mu + mean if mu > 0 else 1.0)
        out[cell, 2] = rising - room if mu > 0 else 0.0
        out[cell, 4] = mean


@compiled
def draw_terms(  # pragma: no cover
    log_theta: FloatArray, mu: float, visits: Visits, chance: FloatArray, drawn: IntArray
) -> None:
    """Draw k of cells that have c, by a uniform number each."""
    weights = np.empty(_MOST_TERMS)
    for cell in range(len(log_theta)):
        ratios = visits.ratios[visits.firsts[cell] : visits.firsts[cell + 1]]
        k = visits.least[cell]
        if not len(ratios):
            continue
        _weigh(ratios, k, _odds(log_theta[cell], mu)[0], mu, weights)
        left, i = chance[cell], 0
        while i < len(ratios) - 1 and left > weights[i]:
            left -= weights[i]
            i += 1
        drawn[cell] = k + i


@compiled
def _weigh(  # pragma: no cover
    ratios: FloatArray, k: int, odds: float, mu: float, weights: FloatArray
) -> float:
    """Set the share of each term of a cell; return the logarithm of all over the first."""
    total, log, weights[0] = 1.0, 0.0, 1.0
    for i in range(1, len(ratios)):
        weights[i] = weights[i - 1] * ratios[i] * odds * (k + i - 1 + mu if mu > 0 else 1.0)
        total += weights[i]
        if weights[i] > _HUGE:
            weights[: i + 1] /= _HUGE
            total /= _HUGE
            log += math.log(_HUGE)
    weights[: len(ratios)] /= total
    return log + math.log(total)


@compiled
def _odds(log_theta: float, mu: float) -> tuple[float, float]:  # pragma: no cover
    """θ/(1 - θ) and log(1 - θ); θ and 0 if Poisson."""
    theta = math.exp(log_theta)
    if mu == 0:
        return theta, 0.0
    return theta / -math.expm1(log_theta), math.log1p(-theta)


@compiled
def digamma(x: float) -> float:  # pragma: no cover
    """ψ of x > 0."""
    value = 0.0
    while x < 8:
        value -= 1 / x
        x += 1
    f = 1 / (x * x)
    series = f * (1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f / 132))))
    return value + math.log(x) - 0.5 / x - series


@compiled
def log_rising(mu: float, n: int) -> float:  # pragma: no cover
    """log Γ(n + μ)/Γ(μ), of large μ by the difference of Stirling's series."""
    if n == 0:
        return 0.0
    if mu < _LARGE:
        return math.lgamma(n + mu) - math.lgamma(mu)
    further = 1 / (mu + n)
    series = (further - 1 / mu) / 12 - (further**3 - 1 / mu**3) / 360
    return n * math.log(mu) + (mu + n - 0.5) * math.log1p(n / mu) - n + series

"""The sum over true counts as a sum of few terms, where p does not vary between visits.

A product of falling factorials [n]_y = n!/(n - y)! is a sum of them with coefficients c > 0,

    ∏_v [n]_{y_v} / y_v! = Σ_k c_k [n]_k,   k = max y, …, Σ y,

where k stands for the distinct events among all that were counted. Each [n]_k has a sum over n in
closed form, so that S of :mod:`~uncletc.solvers.closed.sums` is

    Σ_k c_k θᵏ (μ)_k (1 - θ)^{-μ-k},   (μ)_k = Γ(μ + k)/Γ(μ),   or   e^θ Σ_k c_k θᵏ if Poisson.

Given k the other n - k events are negative binomial with shape μ + k, or Poisson with mean θ. A
cell in which nothing was counted has one term, however many events it may hold.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from uncletc.common.validation import FloatArray, IntArray
from uncletc.solvers.joint.kernels import compiled

_MOST_TERMS = 200  # of a cell; of more, sums over n take less
_HUGE = 1e200  # terms above are divided by it
_LARGE = 100.0  # μ from which lgamma(n + μ) - lgamma(μ) loses digits


class Terms(NamedTuple):
    """c_k of cells.

    Attributes
    ----------
    starts : ndarray of int, shape (C + 1,)
        Where those of each cell begin, and where the last end; none where they are too many.
    least : ndarray of int, shape (C,)
        The first k, max y.
    log : ndarray, shape (C,)
        The logarithm of the first.
    ratios : ndarray, shape (T,)
        Of each to the one before; the first is not used.
    """

    starts: IntArray
    least: IntArray
    log: FloatArray
    ratios: FloatArray

    @classmethod
    def of(cls, starts: IntArray, counts: IntArray) -> Terms:
        """Those of counts cell by cell, which begin at `starts` and end at its last."""
        visits = np.diff(starts)
        least, total = np.zeros(len(visits), dtype=np.int64), np.append(0, np.cumsum(counts))
        some = visits > 0
        if some.any():
            least[some] = np.maximum.reduceat(counts, starts[:-1][some])
        size = np.diff(total[starts]) - least + 1
        size[size > _MOST_TERMS] = 0
        first = np.append(0, np.cumsum(size))
        log, ratios = np.zeros(len(visits)), np.ones(first[-1])
        largest = int((least + size).max(initial=0, where=size > 0))
        _expand(starts, counts, first, gammaln(np.arange(largest + 1) + 1.0), log, ratios)
        return cls(first, least, log, ratios)


@compiled
def _expand(  # pragma: no cover
    starts: IntArray,
    counts: IntArray,
    first: IntArray,
    log_factorial: FloatArray,
    log: FloatArray,
    ratios: FloatArray,
) -> None:
    now, new = np.zeros(_MOST_TERMS), np.zeros(_MOST_TERMS)
    for cell in range(len(log)):
        if first[cell + 1] == first[cell]:
            continue
        low = high = 0
        now[0] = 0.0
        for y in counts[starts[cell] : starts[cell + 1]]:
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
        log[cell] = now[0]
        for k in range(1, high - low + 1):
            ratios[first[cell] + k] = math.exp(now[k] - now[k - 1])


@compiled
def add_terms(  # pragma: no cover
    log_theta: FloatArray,
    mu: float,
    starts: IntArray,
    least: IntArray,
    log: FloatArray,
    ratios: FloatArray,
    out: FloatArray,
) -> None:
    """Set log S, mean n, and mean ψ(n + μ) - ψ(μ) of cells that have terms; (C, 3 or more)."""
    for cell in range(len(log)):
        begin, end, k = starts[cell], starts[cell + 1], least[cell]
        if begin == end:
            continue
        odds, room = _odds(log_theta[cell], mu)
        of_mu = digamma(k + mu) if mu > 0 else 0.0
        term, total, number, rising, divided = 1.0, 1.0, float(k), of_mu, 0
        for i in range(begin + 1, end):
            term *= ratios[i] * odds * (k + mu if mu > 0 else 1.0)
            if mu > 0:
                of_mu += 1 / (k + mu)
            k += 1
            total += term
            number += term * k
            rising += term * of_mu
            if term > _HUGE:
                term /= _HUGE
                total /= _HUGE
                number /= _HUGE
                rising /= _HUGE
                divided += 1
        k, mean = least[cell], number / total
        out[cell, 0] = log[cell] + math.log(total) + divided * math.log(_HUGE)
        out[cell, 0] += k * log_theta[cell] + (odds if mu == 0 else -(mu + k) * room)
        out[cell, 1] = mean + odds * (mu + mean if mu > 0 else 1.0)
        out[cell, 2] = 0.0
        if mu > 0:
            out[cell, 0] += log_rising(mu, k)
            out[cell, 2] = rising / total - digamma(mu) - room


@compiled
def draw_terms(  # pragma: no cover
    log_theta: FloatArray,
    mu: float,
    starts: IntArray,
    least: IntArray,
    ratios: FloatArray,
    chance: FloatArray,
    drawn: IntArray,
) -> None:
    """Draw k of cells that have terms, by a uniform number each."""
    weights = np.empty(_MOST_TERMS)
    for cell in range(len(least)):
        begin, end, k = starts[cell], starts[cell + 1], least[cell]
        odds, weights[0], total = _odds(log_theta[cell], mu)[0], 1.0, 1.0
        for i in range(1, end - begin):
            weights[i] = weights[i - 1] * ratios[begin + i] * odds * (k + mu if mu > 0 else 1.0)
            k += 1
            total += weights[i]
            if weights[i] > _HUGE:
                weights[: i + 1] /= _HUGE
                total /= _HUGE
        left, i = chance[cell] * total, 0
        while i < end - begin - 1 and left > weights[i]:
            left -= weights[i]
            i += 1
        drawn[cell] = least[cell] + i


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
    if mu < _LARGE:
        return math.lgamma(n + mu) - math.lgamma(mu)
    further = 1 / (mu + n)
    series = (further - 1 / mu) / 12 - (further**3 - 1 / mu**3) / 360
    return n * math.log(mu) + (mu + n - 0.5) * math.log1p(n / mu) - n + series

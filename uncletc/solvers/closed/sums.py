"""The exact likelihood of repeated counts of the same true events: sums over the true count n.

Visits v to a cell count the same n events, each with its own p_v:

    P(y) = Σ_n P(n) ∏_v Binomial(y_v; n, p_v),   n = max y, max y + 1, …

where n is Poisson with mean λ, or negative binomial with mean λ and variance λ + λ²/μ. With
q = ∏_v (1 - p_v), and θ = qλ, or qλ/(μ + λ), it is, up to factors without n, S(θ) = Σ_n t_n with

    t_n = θⁿ/n! · Γ(n + μ)/Γ(μ) · ∏_v n!/((n - y_v)! y_v!)        (without the Γ if Poisson).

Where p does not vary between visits S has a closed form (:mod:`~uncletc.solvers.closed.finite`),
which serves unless it is long. Else terms of n are added.

Terms have one peak, and the ratio of each to the one before falls along n, or stays below θ < 1. A
sum begins at its peak and goes both ways until a geometric series that bounds what is left is
below 1e-11 of it.

Where counts leave the level of p open, θ can run off, and with it the peak. Beyond the θ at which
the mean of n is some `MOST_TRUE` times the largest count, log S continues as a straight line in
log θ with the slope it has there (the mean of n): still a lower bound of the true sum, since log S
is convex, so that an estimate can approach that region but gains nothing beyond it.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uncletc.common.validation import FloatArray, IntArray
from uncletc.model.negbin import least
from uncletc.solvers.closed.finite import Visits, add_terms, digamma, draw_terms, log_rising
from uncletc.solvers.joint.kernels import compiled

_MU = (0.1, 1e5)  # beyond, counts say nothing of μ
_POISSON = 1e4  # from which true counts are called Poisson
_LEAST_LOG = -700.0  # log θ whose exponential is a number > 0
# True counts per cell over its largest count (or 10, where it is less) up to which sums are exact:
# a smaller p than about 1 in 100 cannot be distinguished from 0 by repeat visits.
MOST_TRUE = 100.0


def log_likelihood(
    rate: ArrayLike,
    detection: ArrayLike,
    counts: ArrayLike,
    cells: ArrayLike,
    *,
    mu: float = math.inf,
    visits: Visits | None = None,
) -> FloatArray:
    """Log-probability of the counts of each cell, with the true count summed out.

    Parameters
    ----------
    rate : array_like of float, shape (C,)
        λ > 0 of each cell.
    detection : array_like of float, shape (N,)
        p in (0, 1) of each count.
    counts : array_like of int, shape (N,)
        y ≥ 0.
    cells : array_like of int, shape (N,)
        The cell of each count, from 0 to C - 1, ascending. A cell without counts has 0.
    mu : float
        μ > 0 of the true counts, whose variance is λ + λ²/μ; infinite for Poisson.
    visits : Visits, optional
        These counts, as :func:`visits_of` makes them; None: made here.

    Returns
    -------
    ndarray, shape (C,)

    Examples
    --------
    >>> log_likelihood([2.0], [0.5], [1], [0]).round(6)  # Poisson with mean λp = 1
    array([-1.])
    """
    y, p = np.asarray(counts, dtype=np.int64), np.asarray(detection, dtype=np.float64)
    where, mean = np.asarray(cells, dtype=np.int64), np.asarray(rate, dtype=np.float64)
    visits = visits_of(y, where, len(mean)) if visits is None else visits
    log_missed = np.bincount(where, np.log1p(-p), len(mean))
    finite = math.isfinite(mu)
    log_theta = np.log(mean) + log_missed - (np.log(mu + mean) if finite else 0.0)
    found = true_counts(np.asarray(log_theta, dtype=np.float64), visits, mu)
    seen = np.bincount(where, y * (np.log(p) - np.log1p(-p)), len(mean))
    return np.asarray(found.log + seen - (mu * np.log1p(mean / mu) if finite else mean))


def visits_of(counts: IntArray, cells: IntArray, size: int) -> Visits:
    """Counts of so many cells; the other arguments as above."""
    return Visits.of(np.searchsorted(cells, np.arange(size + 1)), counts)


def likely_mu(rate: FloatArray, detection: FloatArray, counts: IntArray, cells: IntArray) -> float:
    """μ under which counts are likeliest given λ and p; the other arguments as above.

    Returns a value in [0.1, 1e5], or infinity where Poisson is as likely.
    """
    visits = visits_of(counts, cells, len(rate))

    def misfit(mu: float) -> float:
        return -float(log_likelihood(rate, detection, counts, cells, mu=mu, visits=visits).sum())

    mu = least(misfit, *_MU)
    return mu if mu < _POISSON else math.inf


class Sums(NamedTuple):
    """log S of C cells, and means over the true counts given all counts of a cell.

    Attributes
    ----------
    log : ndarray, shape (C,)
    mean : ndarray, shape (C,)
        Of n.
    by_mu : ndarray, shape (C,)
        Mean of ψ(n + μ) - ψ(μ), ψ the digamma function; 0 if Poisson.
    by_missed : ndarray, shape (N,)
        Mean of ψ(n - y + b) of each count; 0 if p does not vary between visits.
    by_spread : ndarray, shape (C,)
        Mean of ψ(n + s); 0 if it does not.
    caught : ndarray, shape (C,)
        Of how many true events were counted at all, of the cells in `Visits.few`; 0 elsewhere.
    """

    log: FloatArray
    mean: FloatArray
    by_mu: FloatArray
    by_missed: FloatArray
    by_spread: FloatArray
    caught: FloatArray


_NOWHERE = np.zeros(0)


def true_counts(
    log_theta: FloatArray,
    visits: Visits,
    mu: float,
    missed: FloatArray = _NOWHERE,
    spread: float = 0.0,
) -> Sums:
    """Return log S and what its derivatives need.

    Parameters
    ----------
    log_theta : ndarray, shape (C,)
    visits : Visits
    mu : float
        Infinite for Poisson.
    missed : ndarray, shape (N,)
        b = (1 - p)s of each count, where p varies between visits.
    spread : float
        s = a + b of the beta distribution of p; 0: p does not vary.
    """
    size = len(log_theta)
    out, by_missed = np.zeros((size, 5)), np.zeros(len(visits.counts) if spread else 0)
    within, most, shape = _bounded(log_theta, visits, mu)
    if not spread:
        most = np.full(size, np.inf)
        add_terms(within, shape, visits, out)
    _sums(within, visits, shape, missed, spread, most, out, by_missed)
    out[:, 0] += (log_theta - within) * out[:, 1]
    log, mean, by_mu, by_spread, caught = out.T
    return Sums(log, mean, by_mu, by_missed, by_spread, caught)


def draw_true_counts(
    log_theta: FloatArray,
    visits: Visits,
    mu: float,
    rng: np.random.Generator,
    missed: FloatArray = _NOWHERE,
    spread: float = 0.0,
    *,
    whole: bool = True,
) -> IntArray:
    """Return one draw of n of each cell, given all its counts; (C,). Arguments as above.

    Not `whole`: of how many events were counted at all, where a cell has few terms.
    """
    within, most, shape = _bounded(log_theta, visits, mu)
    drawn, chance = np.empty(len(log_theta), dtype=np.int64), rng.random(len(log_theta))
    few = visits.few & (not spread)
    if not spread:
        draw_terms(within, shape, visits, chance, drawn)
    if whole:
        theta, k = np.exp(within[few]), drawn[few]
        mean = rng.gamma(shape + k) * theta / (1 - theta) if shape else theta
        drawn[few] = np.minimum(k + rng.poisson(mean), most[few])
    _draw(within, visits, shape, missed, spread, most, chance, drawn)
    return drawn


def _bounded(
    log_theta: FloatArray, visits: Visits, mu: float
) -> tuple[FloatArray, FloatArray, float]:
    """log θ within its bounds, the largest n that sums reach, and μ, 0 for infinity."""
    most = MOST_TRUE * np.maximum(visits.least, 10.0)
    shape = mu if math.isfinite(mu) else 0.0
    # Without visits the mean of n is θ (Poisson) or μθ/(1 - θ); with V visits p is small there.
    farthest = np.log(most if not shape else most / (shape + most))
    return np.clip(log_theta, _LEAST_LOG, farthest), most, shape


@compiled
def _ratio(  # pragma: no cover
    n: int, theta: float, y: NDArray[np.int64], mu: float, missed: FloatArray, spread: float
) -> float:
    """t_{n+1} / t_n."""
    ratio, above, below = 1.0, theta * (n + mu if mu > 0 else 1.0), n + 1.0
    for v in range(len(y)):
        above *= n + 1.0
        below *= n + 1.0 - y[v]
        if spread > 0:
            above *= n - y[v] + missed[v]
            below *= n + spread
        if v % 8 == 7:  # a division for all of them, but no overflow
            ratio *= above / below
            above = below = 1.0
    return ratio * above / below


@compiled
def _peak(  # pragma: no cover
    least: int,
    theta: float,
    y: NDArray[np.int64],
    mu: float,
    missed: FloatArray,
    spread: float,
    most: float,
) -> int:
    """The first n, from max y on, that the next term does not exceed."""
    low, high, step = least, least, 1
    while high < most and _ratio(high, theta, y, mu, missed, spread) > 1:
        low, high, step = high + 1, high + step, 2 * step
    while low < high:
        middle = (low + high) // 2
        if _ratio(middle, theta, y, mu, missed, spread) > 1:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _sums(  # pragma: no cover
    log_theta: FloatArray,
    visits: Visits,
    mu: float,
    missed: FloatArray,
    spread: float,
    most: FloatArray,
    out: FloatArray,
    by_missed: FloatArray,
) -> None:
    of_missed = np.zeros(np.diff(visits.starts).max() if spread > 0 else 1)
    for cell in range(len(log_theta)):
        if spread == 0 and visits.firsts[cell + 1] > visits.firsts[cell]:
            continue
        begin, end = visits.starts[cell], visits.starts[cell + 1]
        y, theta, least = visits.counts[begin:end], math.exp(log_theta[cell]), visits.least[cell]
        b = missed[begin:end] if spread > 0 else missed
        peak = _peak(least, theta, y, mu, b, spread, most[cell])
        log_term = peak * log_theta[cell] - math.lgamma(peak + 1.0)
        if mu > 0:
            log_term += log_rising(mu, peak)
        for v in range(len(y)):
            log_term += math.lgamma(peak + 1.0) - math.lgamma(y[v] + 1.0)
            log_term -= math.lgamma(peak - y[v] + 1.0)
            if spread > 0:
                log_term += math.lgamma(peak - y[v] + b[v]) - math.lgamma(peak + spread)
        # Sums of terms over the peak's, times 1, n - peak, ψ(n + μ), ψ(n + s) and ψ(n - y + b)
        total, first, rising, wide = 0.0, 0.0, 0.0, 0.0
        farthest = theta if (mu > 0 and (spread > 0 or (least == 0 and mu < 1))) else 0.0
        for way in (1, -1):
            term, n = 1.0, peak
            of_mu = digamma(peak + mu) if mu > 0 else 0.0
            of_spread = digamma(peak + spread) if spread > 0 else 0.0
            if spread > 0:
                for v in range(len(y)):
                    of_missed[v] = digamma(peak - y[v] + b[v])
                    by_missed[begin + v] += of_missed[v] if way == 1 else 0.0
            if way == 1:
                total, rising, wide = 1.0, of_mu, of_spread
            while (way == 1 and n < most[cell]) or (way == -1 and n > least):
                step = n if way == 1 else n - 1
                ratio = _ratio(step, theta, y, mu, b, spread)
                term = term * ratio if way == 1 else term / ratio
                n += way
                if mu > 0:
                    of_mu += way / (step + mu)
                away = float(n - peak)
                total += term
                first += term * away
                rising += term * of_mu
                if spread > 0:
                    of_spread += way / (step + spread)
                    wide += term * of_spread
                    for v in range(len(y)):
                        of_missed[v] += way / (step - y[v] + b[v])
                        by_missed[begin + v] += term * of_missed[v]
                if way == 1:
                    bound = max(ratio, farthest)  # of all later ratios
                    if bound < 1:
                        room = 1 - bound
                        left = away * away / room + (1 + bound) / room**3  # Σ bʲ(away + j)², halved
                        if 2 * term * bound * left < 1e-11 * total:
                            break
                elif term * (n - least) * (1 + float(peak - least) ** 2) < 1e-11 * total:
                    break
        out[cell, 0] = log_term + math.log(total)
        out[cell, 1] = peak + first / total
        out[cell, 2] = rising / total - digamma(mu) if mu > 0 else 0.0
        out[cell, 3] = wide / total
        if spread > 0:
            for v in range(len(y)):
                by_missed[begin + v] /= total


@compiled
def _draw(  # pragma: no cover
    log_theta: FloatArray,
    visits: Visits,
    mu: float,
    missed: FloatArray,
    spread: float,
    most: FloatArray,
    chance: FloatArray,
    drawn: IntArray,
) -> None:
    for cell in range(len(log_theta)):
        if spread == 0 and visits.firsts[cell + 1] > visits.firsts[cell]:
            continue
        begin, end = visits.starts[cell], visits.starts[cell + 1]
        y, theta, least = visits.counts[begin:end], math.exp(log_theta[cell]), visits.least[cell]
        b = missed[begin:end] if spread > 0 else missed
        peak = _peak(least, theta, y, mu, b, spread, most[cell])
        lowest, term, total = peak, 1.0, 1.0
        while lowest > least and term > 1e-10:
            lowest -= 1
            term /= _ratio(lowest, theta, y, mu, b, spread)
            total += term
        start, n, term = term, peak, 1.0
        while n < most[cell] and term > 1e-10:
            term *= _ratio(n, theta, y, mu, b, spread)
            n += 1
            total += term
        left, n, term = chance[cell] * total, lowest, start
        while left > term and n < most[cell]:
            left -= term
            term *= _ratio(n, theta, y, mu, b, spread)
            n += 1
        drawn[cell] = n

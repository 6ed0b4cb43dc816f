"""The exact likelihood of repeated counts of the same true events: sums over the true count n.

Visits v to a cell count the same n events, each with its own p_v:

    P(y) = Σ_n P(n) ∏_v Binomial(y_v; n, p_v),   n = max y, max y + 1, …

where n is Poisson with mean λ, or negative binomial with mean λ and variance λ + λ²/μ. With
q = ∏_v (1 - p_v), and θ = qλ, or qλ/(μ + λ), it is, up to factors without n, S(θ) = Σ_n t_n with

    t_n = θⁿ/n! · Γ(n + μ)/Γ(μ) · ∏_v n!/((n - y_v)! y_v!)        (without the Γ if Poisson).

Terms have one peak, and the ratio of each to the one before falls along n, or stays below θ < 1. A
sum begins at its peak and goes both ways until a geometric series that bounds what is left is
below 1e-13 of it.

Where counts leave the level of p open, θ can run off, and with it the peak. Beyond the θ at which
the mean of n is some `MOST_TRUE` times the largest count, log S continues as a straight line in
log θ with the slope it has there (the mean of n): still a lower bound of the true sum, since log S
is convex, so that an estimate can approach that region but gains nothing beyond it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from torch import Tensor

from uncletc.common.validation import FloatArray, IntArray
from uncletc.solvers.joint.kernels import compiled

_LOG_MU = (math.log(0.1), math.log(1e5))  # beyond, counts tell nothing of μ
_LOG_POISSON = math.log(1e4)  # from which true counts are called Poisson
_LARGE = 100.0  # μ from which lgamma(n + μ) - lgamma(μ) loses digits
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
    starts = np.searchsorted(where, np.arange(len(mean) + 1))
    log_missed = np.bincount(where, np.log1p(-p), len(mean))
    log_theta = np.asarray(np.log(mean) + log_missed - _log_room(mean, mu), dtype=np.float64)
    found = true_counts(log_theta, starts, y, mu)
    seen = np.bincount(where, y * (np.log(p) - np.log1p(-p)), len(mean))
    return np.asarray(found[:, 0] + seen - _emptiness(mean, mu))


def likely_mu(rate: FloatArray, detection: FloatArray, counts: IntArray, cells: IntArray) -> float:
    """μ under which counts are likeliest given λ and p; the other arguments as above.

    Returns a value in [0.1, 1e5], or infinity where Poisson is as likely.
    """

    def misfit(log_mu: float) -> float:
        mu = math.exp(log_mu)
        return -float(log_likelihood(rate, detection, counts, cells, mu=mu).sum())

    log_mu = float(minimize_scalar(misfit, bounds=_LOG_MU, method="bounded").x)
    return math.exp(log_mu) if log_mu < _LOG_POISSON else math.inf


def _log_room(rate: FloatArray, mu: float) -> FloatArray | float:
    return np.log(mu + rate) if math.isfinite(mu) else 0.0


def _emptiness(rate: FloatArray, mu: float) -> FloatArray:
    return np.asarray(mu * np.log1p(rate / mu) if math.isfinite(mu) else rate)


def true_counts(log_theta: FloatArray, starts: IntArray, counts: IntArray, mu: float) -> FloatArray:
    """log S, and mean and variance of n given all counts of a cell; (C, 3).

    Parameters
    ----------
    log_theta : ndarray, shape (C,)
    starts : ndarray of int, shape (C + 1,)
        Where the counts of each cell begin, and where the last end.
    counts : ndarray of int, shape (N,)
        Cell by cell.
    mu : float
        Infinite for Poisson.
    """
    out = np.empty((len(log_theta), 3))
    shape = mu if math.isfinite(mu) else 0.0
    largest = np.zeros(len(log_theta))
    np.maximum.at(largest, np.repeat(np.arange(len(log_theta)), np.diff(starts)), counts)
    most = MOST_TRUE * np.maximum(largest, 10.0)
    # Without visits the mean of n is θ (Poisson) or μθ/(1 - θ); with V visits p is small there.
    farthest = np.log(most if not shape else most / (shape + most))
    within = np.clip(log_theta, _LEAST_LOG, farthest)
    _sums(within, starts, counts, shape, out)
    out[:, 0] += np.maximum(log_theta - farthest, 0.0) * out[:, 1]
    return out


class LogSum(torch.autograd.Function):
    """log S of each cell (C,) as a function of log θ (C,), whose derivative is the mean of n."""

    @staticmethod
    def forward(
        ctx: Any, log_theta: Tensor, starts: IntArray, counts: IntArray, mu: float
    ) -> Tensor:
        """Sum; see :func:`true_counts`."""
        found = torch.from_numpy(true_counts(log_theta.detach().numpy(), starts, counts, mu))
        ctx.save_for_backward(found[:, 1])
        return found[:, 0].clone()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        """Return the gradient by log θ."""
        (mean,) = ctx.saved_tensors
        return gradient * mean, None, None, None


@compiled
def _ratio(n: int, theta: float, y: NDArray[np.int64], mu: float) -> float:  # pragma: no cover
    """t_{n+1} / t_n."""
    ratio = theta / (n + 1.0)
    if mu > 0:
        ratio *= n + mu
    for count in y:
        ratio *= (n + 1.0) / (n + 1.0 - count)
    return ratio


@compiled
def _log_rising(mu: float, n: int) -> float:  # pragma: no cover
    """log Γ(n + μ)/Γ(μ), of large μ by the difference of Stirling's series."""
    if mu < _LARGE:
        return math.lgamma(n + mu) - math.lgamma(mu)
    further = 1 / (mu + n)
    series = (further - 1 / mu) / 12 - (further**3 - 1 / mu**3) / 360
    return n * math.log(mu) + (mu + n - 0.5) * math.log1p(n / mu) - n + series


@compiled
def _peak(least: int, theta: float, y: NDArray[np.int64], mu: float) -> int:  # pragma: no cover
    """The first n, from max y on, that the next term does not exceed."""
    low, high, step = least, least, 1
    while _ratio(high, theta, y, mu) > 1:
        low, high, step = high + 1, high + step, 2 * step
    while low < high:
        middle = (low + high) // 2
        if _ratio(middle, theta, y, mu) > 1:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _sums(  # pragma: no cover
    log_theta: FloatArray, starts: IntArray, counts: IntArray, mu: float, out: FloatArray
) -> None:
    for cell in range(len(log_theta)):
        y = counts[starts[cell] : starts[cell + 1]]
        theta, least = math.exp(log_theta[cell]), 0
        for count in y:
            least = max(least, count)
        peak = _peak(least, theta, y, mu)
        log_term = peak * log_theta[cell] - math.lgamma(peak + 1.0)
        if mu > 0:
            log_term += _log_rising(mu, peak)
        for count in y:
            log_term += math.lgamma(peak + 1.0) - math.lgamma(count + 1.0)
            log_term -= math.lgamma(peak - count + 1.0)
        total, first, second = (
            1.0,
            0.0,
            0.0,
        )  # sums of terms over the peak's, times (n - peak)^0, 1, 2
        term, n = 1.0, peak
        while True:  # upwards
            ratio = _ratio(n, theta, y, mu)
            term *= ratio
            n += 1
            away = float(n - peak)
            total += term
            first += term * away
            second += term * away * away
            bound = theta if least == 0 and 0 < mu < 1 else ratio  # of all later ratios
            if bound < 1:
                room = 1 - bound
                left = away * away / room + (1 + bound) / room**3  # Σ bʲ(away + j)², halved
                if 2 * term * bound * left < 1e-13 * total:
                    break
        term, n = 1.0, peak
        while n > least:  # downwards
            n -= 1
            term /= _ratio(n, theta, y, mu)
            away = float(n - peak)
            total += term
            first += term * away
            second += term * away * away
            if term * (n - least) * (1 + float(peak - least) ** 2) < 1e-13 * total:
                break
        mean = first / total
        out[cell, 0] = log_term + math.log(total)
        out[cell, 1] = peak + mean
        out[cell, 2] = second / total - mean * mean

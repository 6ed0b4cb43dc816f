"""Negative binomial counts: mean m, variance m + φm²; φ = 0 is Poisson.

Which one, when: :func:`log_scores` judges predictions, lower for better ones. It needs φ, from
counts that are neither fitted nor judged: :func:`likely_law` lets it depend on the mean, because
large counts mostly scatter less in relation to their size; :func:`dispersion` is one for all.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln, xlogy

from uncletc.common.validation import FloatArray

MEAN_OF_MU = 20.0  # the expected count whose μ is the one that is reported
LEAST_MEAN = 0.5  # below it μ is the same: such counts tell nothing of it
_LAW_MU = (1e-5, 1e5)  # beyond, counts say nothing of μ or are as good as Poisson
_START = (0.7, 0.2)  # log μ and ν at first
_PHI = (1e-6, 1e4)
_LEAST = 1e-9  # of ŷ
_LEAST_SHARE = 1e-3  # of the mean ŷ
_POISSON = 1e-9  # φ below which a negative binomial is treated as Poisson


@dataclass(frozen=True)
class SizeLaw:
    """How widely counts scatter: their size 1/φ is μ·(max(ŷ, .5)/20)^ν.

    Attributes
    ----------
    mu : float
        μ > 0, the size of counts of which 20 are expected.
    power : float
        ν in [0, 1]. 0: φ is the same for all; 1: the variance of large counts is a multiple of
        their mean.
    """

    mu: float
    power: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.mu < math.inf:
            raise ValueError(f"mu must be finite and above 0, got {self.mu}")
        if not 0 <= self.power <= 1:
            raise ValueError(f"power must be in [0, 1], got {self.power}")

    def phi(self, mean: ArrayLike) -> FloatArray:
        """φ of counts with these means (n,), at least 1e-9; (n,)."""
        m = np.maximum(np.asarray(mean, dtype=np.float64), LEAST_MEAN)
        return np.maximum((m / MEAN_OF_MU) ** -self.power / self.mu, _POISSON)


def log_scores(counts: ArrayLike, mean: ArrayLike, phi: ArrayLike) -> FloatArray:
    """-log P(y) of each count; (n,).

    Parameters
    ----------
    counts : array_like of int, shape (n,)
    mean : array_like of float, shape (n,)
        m > 0.
    phi : float or array_like of float, shape (n,)
        φ ≥ 0.
    """
    y, m = np.asarray(counts, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    given = np.asarray(phi, dtype=np.float64)
    poisson = m - xlogy(y, m) + gammaln(y + 1)
    if (given < _POISSON).all():
        return np.asarray(poisson)
    spread_phi = np.maximum(given, _POISSON)
    size = 1 / spread_phi
    spread = np.log1p(spread_phi * m)
    kept = xlogy(y, spread_phi * m) - y * spread - size * spread
    wider = gammaln(y + 1) + gammaln(size) - gammaln(y + size) - kept
    return np.asarray(np.where(given < _POISSON, poisson, wider))


def dispersion(counts: ArrayLike, predicted: ArrayLike) -> float:
    """Maximum-likelihood φ of a negative binomial with variance ŷ + φŷ²; 0: Poisson or narrower.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        Held out of the fit that predicted them; otherwise φ is too small.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0; raised to at least a thousandth of its mean, so that no single count dominates.
    """
    y = np.asarray(counts, dtype=np.float64)
    y_hat = floored(np.asarray(predicted, dtype=np.float64))

    def misfit(phi: float) -> float:
        return float(log_scores(y, y_hat, phi).sum())

    best = least(misfit, *_PHI)
    return best if misfit(best) < misfit(0.0) else 0.0


def least(misfit: Callable[[float], float], low: float, high: float, error: float = 1e-5) -> float:
    """Value between two whose misfit is least, up to an error of its logarithm."""
    best = minimize_scalar(
        lambda log: misfit(math.exp(log)),
        bounds=(math.log(low), math.log(high)),
        options={"xatol": error},
    )
    return math.exp(best.x)


def likely_law(
    counts: ArrayLike, mean: ArrayLike, *, width: float | None = None, variance: ArrayLike = 0.0
) -> SizeLaw:
    """μ and ν that make counts likeliest if the size of each is μ·(max(ŷ, .5)/20)^ν.

    With one φ for all, large counts, which scatter less in relation to their size, would be taken
    for as uncertain as small ones.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        Held out of the fit that predicted them; otherwise φ is too small.
    mean : array_like of float, shape (n,)
        ŷ > 0, as :func:`floored` returns it.
    width : float, optional
        Standard deviation of a normal prior of ν about 0. None: maximum likelihood.
    variance : array_like of float, shape (n,)
        How uncertain ŷ are, relative to their squares: counts scatter as much more.

    Returns
    -------
    SizeLaw
        μ in [1e-5, 1e5], of which the largest stands for Poisson, and ν in [0, 1].
    """
    y, m = np.asarray(counts, dtype=np.float64), np.asarray(mean, dtype=np.float64)
    logs = np.log(np.maximum(m, LEAST_MEAN) / MEAN_OF_MU)
    largest, known = -math.log(_POISSON), np.asarray(variance, dtype=np.float64)

    def unlikely(law: FloatArray) -> float:
        mu = 1 / (np.exp(-np.minimum(law[0] + law[1] * logs, largest)) + known)
        terms = gammaln(y + mu) - gammaln(mu) - (y + mu) * np.log1p(m / mu)
        likelihood = float((terms - y * np.log(mu)).sum())
        return -likelihood + (0.0 if width is None else 0.5 * float((law[1] / width) ** 2))

    bounds = [(math.log(_LAW_MU[0]), math.log(_LAW_MU[1])), (0.0, 1.0)]
    found = minimize(unlikely, np.array(_START), method="Nelder-Mead", bounds=bounds).x
    return SizeLaw(math.exp(found[0]), float(found[1]))


def floored(predicted: FloatArray) -> FloatArray:
    """Raise ŷ (n,) to a thousandth of its mean, and to 1e-9, so that no single count dominates."""
    return np.maximum(predicted, max(_LEAST_SHARE * float(predicted.mean()), _LEAST))

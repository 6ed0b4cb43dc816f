"""How much counts scatter: μ by adjusted likelihood, and the shape of the factors' prior."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy.special import gammaln
from torch import Tensor

from uncletc.common.validation import FloatArray
from uncletc.model import negbin
from uncletc.result.fitted_model import FEWEST_FREE
from uncletc.result.posterior import Draws
from uncletc.solvers.joint.kernels import IndexArray

FEWEST_OF_MU = 30  # counts of an observation process that tell a μ of its own
_LEAST_MU, _LARGEST_MU = 0.1, 1e5  # beyond, counts say nothing of μ or are as good as Poisson
_WIDTH_OF_POWER = 0.3  # of the prior of ν about 0
_ROWS = 20_000  # counts that estimate μ: it is then known to 2 %
# To what expected counts are raised at most: to 2, beside counts of 100,000, zeros seem to scatter.
_MOST_RAISED = 0.1
_DISPERSED = 1.1  # φ below which counts are taken for no more dispersed than the model's
_MOST_DISPERSION = 100.0  # a prior worth more counts than this would be the fit
_LEAST_SHAPE, _LARGEST_SHAPE = 0.5, 5.0
_WIDEST = 50.0  # variance of the logarithm of an element that nothing determines
_SMALLEST = 1e-12
_WORTH = 2.0  # counts that a level of 1 is worth


def pearson_dispersion(pearson: float, n: int, n_parameters: float) -> float:
    """Pearson's statistic per degree of freedom, from its mean over n entries."""
    return pearson * n / max(n - n_parameters, FEWEST_FREE * n)


def clip_dispersion(dispersion: float) -> float:
    """Return the φ that a fit uses: 1 where counts are no more dispersed than the model's."""
    return min(dispersion, _MOST_DISPERSION) if dispersion > _DISPERSED else 1.0


def unseen_dispersion(
    counts: FloatArray, mean: FloatArray, variance: FloatArray, mu: float
) -> float:
    """φ of counts (N,) that a fit has not seen: their mean squared Pearson residual, clipped.

    Parameters
    ----------
    counts, mean, variance : ndarray, shape (N,)
        y and ŷ, and how uncertain ŷ is, relative to its square.
    mu : float
        μ of the negative binomial distribution, whose variance is ŷ + ŷ²/μ.
    """
    mean = negbin.floored(mean)
    expected = mean + mean**2 * (1 / mu + variance)
    return clip_dispersion(float(((counts - mean) ** 2 / expected).mean()))


def likely_mu(
    counts: Tensor, mean: Tensor, at: IndexArray | None = None, shape: float = 0.0
) -> float:
    """μ that makes negative binomial counts (N,) with these means most likely.

    Means that were estimated from the counts lie too near them, and μ would come out too large: 3
    to 6 where 2 is true, with 3 to 5 counts a row. So half the logarithm of what the counts say of
    each row of the factors is taken off the log-likelihood (Cox and Reid 1987).

    Parameters
    ----------
    counts, mean : Tensor, shape (N,)
    at : ndarray of int, shape (N, K), optional
        Row of the factors of each mode, one below the other; None: nothing is taken off.
    shape : float
        c of the factors' prior.

    Returns
    -------
    float
        In [0.1, 1e5]; the largest stands for Poisson.
    """
    step = max(len(counts) // _ROWS, 1)
    y = counts[::step].numpy(force=True)
    m = np.maximum(mean[::step].numpy(force=True), 1e-9)
    rows = np.empty(0, dtype=np.int64) if at is None else at[::step].ravel()

    def unlikely(mu: float) -> float:  # up to terms without μ
        terms = gammaln(y + mu) - gammaln(mu) - (y + mu) * np.log1p(m / mu) - y * math.log(mu)
        known = np.bincount(rows, np.repeat(m / (1 + m / mu), len(rows) // max(len(m), 1)))
        return float(np.log(shape + step * known).sum()) / 2 / step - float(terms.sum())

    return negbin.least(unlikely, _LEAST_MU, _LARGEST_MU)


def likely_law(counts: FloatArray, mean: FloatArray, variance: FloatArray) -> tuple[float, float]:
    """μ and ν that make counts (N,) likeliest if the μ of each is μ·(mean/20)^ν.

    Without ν large counts, which scatter less in relation to their size, would be smoothed as much
    as small ones. The means should be those of a fit that has not seen the counts; `variance` is
    how uncertain they are, relative to their squares.
    """
    mean = np.minimum(negbin.floored(mean), np.maximum(mean, _MOST_RAISED))
    law = negbin.likely_law(counts, mean, width=_WIDTH_OF_POWER, variance=variance)
    return min(max(law.mu, _LEAST_MU), _LARGEST_MU), law.power


def level_of(counts: Tensor, mean: Tensor, mu: Tensor) -> Tensor:
    """By what factor counts exceed these means, of each column; near 1 where few counts say so.

    Parameters
    ----------
    counts, mean, mu : Tensor, shape (N, M)
    """
    weight = 1 / (1 + mean / mu)
    return ((weight * counts).sum(dim=0) + _WORTH) / ((weight * mean).sum(dim=0) + _WORTH)


def prior_shape(
    evidence: list[tuple[Tensor, Tensor, Tensor]], shape: float, dispersion: float
) -> float:
    """Shape c of the factors' prior by empirical Bayes, half a step from the last one.

    A gamma prior about a known mean is likeliest where log c - ψ(c) = log E[u] - E[log u] over the
    posterior of the elements u. One c serves all modes: a mode with few counts cannot tell its own.

    Parameters
    ----------
    evidence : list of tuple of Tensor
        What :meth:`~uncletc.solvers.joint.members.Members.update` returned.
    shape, dispersion : float
        c and φ so far.
    """
    logs, rows = 0.0, 0
    for attributed, expected, mean in evidence:
        a = attributed / dispersion + shape
        b = expected / dispersion + shape / mean
        above = torch.log((a / b / mean).mean())
        below = (torch.digamma(a) - torch.log(b) - torch.log(mean)).mean()
        logs += len(mean) * math.log(_shape_of(float(above - below)))
        rows += len(mean)
    new = math.exp(0.5 * math.log(shape) + 0.5 * logs / rows)
    return min(max(new, _LEAST_SHAPE), _LARGEST_SHAPE)


def shape_of_posterior(factors: Sequence[Tensor], draws: Draws) -> float:
    """Shape c that is likeliest given how far the factors may lie from their estimates.

    :func:`prior_shape` takes each element's posterior as if all others were known. With few counts
    it is wider than that, elements differ less than they seem to agree, and c would come out too
    large: near 3 where 1 is true. Here the posterior of each element is a gamma with the variance
    of its logarithm over draws, less what its row and its column have in common.

    Parameters
    ----------
    factors : sequence of Tensor, shape (I_k, F)
    draws : Draws
        Of the same fit.
    """
    gaps = 0.0
    for factor, deviations in zip(factors, draws.factors, strict=True):
        own = torch.from_numpy(deviations).double()
        own = own - own.mean(dim=0) - (own - own.mean(dim=0)).mean(dim=1, keepdim=True)
        n_rows, rank = factor.shape
        free = max((n_rows - 1) * (rank - 1), 1) / (n_rows * rank)
        precision = 1 / (own.square().mean(dim=2) / free).clamp(1e-8, _WIDEST)
        mean = factor.mean(dim=1, keepdim=True) * factor.mean(dim=0) / factor.mean()
        ratio = (factor / mean.clamp_min(_SMALLEST)).clamp_min(_SMALLEST)
        known = _gamma_shape(precision)
        logs = torch.log(ratio) + torch.digamma(known) - torch.log(known)
        gaps += float(torch.log(ratio.mean()) - logs.mean()) * factor.numel()
    new = _shape_of(gaps / sum(factor.numel() for factor in factors))
    return min(max(new, _LEAST_SHAPE), _LARGEST_SHAPE)


def _gamma_shape(precision: Tensor) -> Tensor:
    """Shape of gamma variables from the precision of their logarithm, 1/ψ'(shape)."""
    shape = precision + 0.5
    for _ in range(20):
        error = torch.polygamma(1, shape) - 1 / precision
        shape = (shape - error / torch.polygamma(2, shape)).clamp_min(1e-3)
    return shape


def _shape_of(gap: float) -> float:
    """c with log c - ψ(c) = gap, by Newton's method from Minka's approximation."""
    gap = max(gap, 1e-4) if math.isfinite(gap) else 1e-4
    c = torch.tensor((3 - gap + math.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)).double()
    for _ in range(5):
        slope = 1 / c - torch.polygamma(1, c)
        c = (c - (torch.log(c) - torch.digamma(c) - gap) / slope).clamp_min(1e-3)
    return float(c)

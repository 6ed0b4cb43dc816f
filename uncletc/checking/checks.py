"""Hold counts out, predict them and check the predictions. Public in `checking`."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from uncletc.baselines import Prediction
from uncletc.checking.groups import Ratio, by_decile, ratio
from uncletc.common.validation import FloatArray, check_indices
from uncletc.compare.crossvalidation import FoldKind, make_folds
from uncletc.compare.metrics import counts_and_predictions
from uncletc.compare.scores import count_distribution
from uncletc.data.counts import CountTensor
from uncletc.model.negbin import floored, likely_law

RESIDUAL_LIMIT = 8.0
# Distance of residuals from normal that a reader would hardly see, and over √n what chance exceeds
# in 5 % of n residuals.
_CLOSE, _CHANCE = 0.05, 1.36
_TINY = 1e-300


Phi = float | FloatArray


def pearson(counts: ArrayLike, predicted: ArrayLike, phi: Phi = 0.0) -> float:
    """Pearson's χ² over its degrees of freedom: mean (y - ŷ)² / (ŷ + φŷ²).

    Every count is a degree of freedom, because it was not fitted.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y ≥ 0, held out.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0; raised to at least a thousandth of its mean, so that no single count dominates.
    phi : float, or ndarray of shape (n,)
        φ ≥ 0; 0 for Poisson. One of each count must be above 0.

    Returns
    -------
    float
        About 1 where counts vary as predicted; 10 where their variance is ten times as large.

    Examples
    --------
    >>> pearson([1, 3, 2], [2, 2, 2])
    0.3333333333333333
    """
    y, mean = _validated(counts, predicted, phi)
    return float(np.mean((y - mean) ** 2 / (mean + phi * mean**2)))


def quantile_residuals(
    counts: ArrayLike, predicted: ArrayLike, phi: Phi = 0.0, *, seed: int = 0
) -> FloatArray:
    """Randomised quantile residuals; standard normal where the distribution is right.

    r = Φ⁻¹(u) with u uniform between F(y - 1) and F(y), the predicted probabilities of a count
    below and up to y (Dunn & Smyth, Randomized Quantile Residuals, Journal of Computational and
    Graphical Statistics 5, 1996). Positive where more was counted than predicted.

    Parameters
    ----------
    counts, predicted, phi
        As for :func:`pearson`.
    seed : int
        Seed of the draws u.

    Returns
    -------
    ndarray, shape (n,)
        Clipped to ±8, beyond which a count is practically impossible.
    """
    y, mean = _validated(counts, predicted, phi)
    expected = count_distribution(mean, phi)
    below, up_to = expected.cdf(y - 1), expected.cdf(y)
    above, from_here = expected.sf(y), expected.sf(y - 1)
    v = np.random.default_rng(seed).uniform(size=len(y))
    # The upper tail is computed from its own end: in floating point 1 - 1e-20 equals 1.
    lower = ndtri(np.maximum(below + v * (up_to - below), _TINY))
    upper = -ndtri(np.maximum(from_here - v * (from_here - above), _TINY))
    residuals = np.where(below > 0.5, upper, lower)
    return np.asarray(np.clip(residuals, -RESIDUAL_LIMIT, RESIDUAL_LIMIT))


def ks_distance(residuals: ArrayLike) -> float:
    """Kolmogorov-Smirnov distance of residuals (n,) from a standard normal, in [0, 1].

    The largest difference between the share of residuals below a value and the expected share.
    Not a test: with φ estimated from the same counts, its p-value would be too large.
    """
    return float(scipy.stats.kstest(np.asarray(residuals, dtype=np.float64), "norm").statistic)


def _validated(
    counts: ArrayLike, predicted: ArrayLike, phi: Phi = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return y, and ŷ raised to its smallest value; reject what cannot be compared."""
    y, mean = counts_and_predictions(counts, predicted)
    if not (np.isfinite(phi).all() and np.min(phi) >= 0):
        raise ValueError(f"phi must be finite and at least 0, got {phi}")
    return y, floored(mean)


@dataclass(frozen=True, eq=False, kw_only=True)
class Distribution:
    """How well counts agree with one family of distributions around ŷ.

    Attributes
    ----------
    phi : float
        φ of counts of which 20 are expected; 0 for Poisson.
    pearson : float
        See :func:`pearson`.
    distance : float
        See :func:`ks_distance`.
    residuals : ndarray, shape (n,)
        See :func:`quantile_residuals`.
    """

    phi: float
    pearson: float
    distance: float
    residuals: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Check:
    """How well held-out counts agree with their predictions.

    Attributes
    ----------
    n : int
        Counts.
    ratio : Ratio
        Observed over predicted.
    deciles : DataFrame
        See :func:`by_decile`.
    poisson, negative_binomial : Distribution
        With φ = 0, and with the likeliest φ and ν of these counts; two fitted numbers hardly
        flatter the negative binomial.
    """

    n: int
    ratio: Ratio
    deciles: pd.DataFrame
    poisson: Distribution
    negative_binomial: Distribution

    @property
    def close(self) -> float:
        """Distance of residuals from a distribution up to which it has about their shape."""
        return max(_CLOSE, _CHANCE / math.sqrt(self.n))


def held_out(
    counts: CountTensor, *, kind: FoldKind = "entry", n_folds: int = 5, seed: int = 0
) -> NDArray[np.bool_]:
    """Choose entries to hold out: the first fold of :func:`uncletc.compare.make_folds`.

    Parameters
    ----------
    counts : CountTensor
    kind : {"entry", "fibre"}
        Single entries, or whole places or pairs.
    n_folds : int
        One in `n_folds` entries is held out; at least 3.
    seed : int

    Returns
    -------
    ndarray of bool, shape (N,)
        True where held out; fit ``counts.subset(~mask)``.
    """
    return np.asarray(make_folds(counts, n_folds, kind=kind, seed=seed) == 0)


def expected_at(fit: Prediction, counts: CountTensor, rows: ArrayLike) -> FloatArray:
    """Predict ŷ = λ·g(z) of some observed entries.

    Parameters
    ----------
    fit : Fit, or the prediction of another method
        Fitted without these entries.
    counts : CountTensor
        All counts.
    rows : array_like of bool, shape (N,), or of int, shape (n,)
        Mask over, or rows of, ``counts.indices``.

    Returns
    -------
    ndarray, shape (n,)
        An entry without attributes gets the mean g of those with attributes.
    """
    row_numbers = np.asarray(rows)
    if row_numbers.dtype == bool:
        row_numbers = np.flatnonzero(row_numbers)
    checked = check_indices(row_numbers.reshape(-1, 1), (counts.n_observed,), "rows")
    entries = counts.indices[checked[:, 0]]
    return fit.expected(entries, counts.attributes_at(entries, unknown_as_nan=True))


def check(
    counts: ArrayLike,
    predicted: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    bins: int = 10,
    seed: int = 0,
) -> Check:
    """Check predictions of held-out counts.

    Parameters
    ----------
    counts : array_like of int, shape (n,)
        y, at least as many as `bins`.
    predicted : array_like of float, shape (n,)
        ŷ ≥ 0.
    groups : array_like of int, shape (n,), optional
        For the interval of :func:`ratio`; such as :func:`fibres` returns.
    bins : int
        Groups of predictions by size.
    seed : int
        See :func:`quantile_residuals`.

    Examples
    --------
    >>> import numpy as np
    >>> mean = np.full(2000, 5.0)
    >>> result = check(np.random.default_rng(0).poisson(mean), mean)
    >>> bool(result.ratio.low < 1 < result.ratio.high), round(result.poisson.pearson)
    (True, 1)
    """
    overall = ratio(counts, predicted, groups)  # rejects bad counts and predictions
    y, mean = np.asarray(counts), floored(np.asarray(predicted, dtype=np.float64))
    law = likely_law(y, mean)

    def against(phi: Phi, of_twenty: float) -> Distribution:
        residuals = quantile_residuals(counts, predicted, phi, seed=seed)
        return Distribution(
            phi=of_twenty,
            pearson=pearson(counts, predicted, phi),
            distance=ks_distance(residuals),
            residuals=residuals,
        )

    return Check(
        n=len(y),
        ratio=overall,
        deciles=by_decile(counts, predicted, bins=bins),
        poisson=against(0.0, 0.0),
        negative_binomial=against(law.phi(mean), 1 / law.mu),
    )

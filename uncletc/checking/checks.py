"""Hold counts out, predict them, and run all checks at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uncletc.baselines import Prediction
from uncletc.checking.counts import (
    PIT,
    ks_distance,
    log_likelihood,
    pearson,
    pit_histogram,
    quantile_residuals,
    share_of_zeros,
)
from uncletc.checking.groups import Deciles, Ratio, by_decile, ratio
from uncletc.common.validation import FloatArray, check_indices
from uncletc.compare import FoldKind, make_folds
from uncletc.data.counts import CountTensor
from uncletc.model.negbin import SizeLaw, floored, likely_law


@dataclass(frozen=True, eq=False, kw_only=True)
class Distribution:
    """How well counts agree with one family of distributions around ŷ.

    Attributes
    ----------
    phi : float
        φ of counts of which 20 are expected; 0 for Poisson.
    power : float
        ν ≥ 0: φ of a count is `phi`·(ŷ/20)^-ν.
    pearson : float
        See :func:`pearson`.
    distance : float
        See :func:`ks_distance`.
    zeros : float
        Predicted share of zeros.
    log_likelihood : float
        Mean over the counts.
    residuals : ndarray, shape (n,)
        See :func:`quantile_residuals`.
    pit : PIT
    """

    phi: float
    power: float
    pearson: float
    distance: float
    zeros: float
    log_likelihood: float
    residuals: FloatArray
    pit: PIT


@dataclass(frozen=True, eq=False, kw_only=True)
class Check:
    """How well held-out counts agree with their predictions.

    Attributes
    ----------
    n : int
        Counts.
    zeros : float
        Share of zeros among them.
    ratio : Ratio
        Observed over predicted.
    deciles : Deciles
    poisson, negative_binomial : Distribution
        With φ = 0, and with the likeliest φ and ν of these counts; two fitted numbers hardly
        flatter the negative binomial.
    """

    n: int
    zeros: float
    ratio: Ratio
    deciles: Deciles
    poisson: Distribution
    negative_binomial: Distribution


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
    mask: NDArray[np.bool_] = make_folds(counts, n_folds, kind=kind, seed=seed) == 0
    return mask


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
        Bins of the PIT histograms, and groups of predictions by size.
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
    y = np.asarray(counts)
    law = likely_law(y, floored(np.asarray(predicted, dtype=np.float64)))
    return Check(
        n=len(y),
        zeros=float(np.mean(y == 0)),
        ratio=overall,
        deciles=by_decile(counts, predicted, bins=bins),
        poisson=_distribution(counts, predicted, None, bins, seed),
        negative_binomial=_distribution(counts, predicted, law, bins, seed),
    )


def _distribution(
    counts: ArrayLike, predicted: ArrayLike, law: SizeLaw | None, bins: int, seed: int
) -> Distribution:
    phi: float | FloatArray = 0.0
    if law is not None:
        phi = law.phi(floored(np.asarray(predicted, dtype=np.float64)))
    residuals = quantile_residuals(counts, predicted, phi, seed=seed)
    return Distribution(
        phi=0.0 if law is None else 1 / law.mu,
        power=0.0 if law is None else law.power,
        pearson=pearson(counts, predicted, phi),
        distance=ks_distance(residuals),
        zeros=share_of_zeros(counts, predicted, phi)[1],
        log_likelihood=float(log_likelihood(counts, predicted, phi).mean()),
        residuals=residuals,
        pit=pit_histogram(counts, predicted, phi, bins=bins),
    )

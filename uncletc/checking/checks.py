"""Held-out counts, their predictions, and all checks of them at once."""

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
from uncletc.checking.groups import (
    Deciles,
    Ratio,
    by_decile,
    ratio,
)
from uncletc.counts import CountTensor
from uncletc.evaluation import FoldKind, dispersion, make_folds
from uncletc.validation import FloatArray, check_indices


@dataclass(frozen=True, eq=False, kw_only=True)
class Distribution:
    """How well counts agree with one family of distributions around ŷ.

    Attributes
    ----------
    phi : float
        φ; 0 for Poisson.
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
    pearson: float
    distance: float
    zeros: float
    log_likelihood: float
    residuals: FloatArray
    pit: PIT


@dataclass(frozen=True, eq=False, kw_only=True)
class Check:
    """What held-out counts say about their predictions.

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
        With φ = 0, and with the likeliest φ of these counts: one number, so that it flatters the
        negative binomial hardly at all.
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
    """Choose the observed entries to hold out: the first fold of :func:`evaluation.make_folds`.

    Parameters
    ----------
    counts : CountTensor
    kind : {"entry", "fibre"}
        Single entries, or whole places or pairs.
    n_folds : int
        One entry in so many is held out; at least 3.
    seed : int

    Returns
    -------
    ndarray of bool, shape (N,)
        Fit ``counts.subset(~mask)``.
    """
    mask: NDArray[np.bool_] = make_folds(counts, n_folds, kind=kind, seed=seed) == 0
    return mask


def expected_at(found: Prediction, counts: CountTensor, rows: ArrayLike) -> FloatArray:
    """ŷ = λ·g(z) of some observed entries.

    Parameters
    ----------
    found : Fit, or the prediction of another method
        Of counts without these entries.
    counts : CountTensor
        All counts.
    rows : array_like of bool, shape (N,), or of int, shape (n,)
        Mask over, or rows of, ``counts.indices``.

    Returns
    -------
    ndarray, shape (n,)
        An entry without attributes is given the mean g of those that have some.
    """
    chosen = np.asarray(rows)
    if chosen.dtype == bool:
        chosen = np.flatnonzero(chosen)
    chosen = check_indices(chosen.reshape(-1, 1), (counts.n_observed,), "rows")[:, 0]
    entries = counts.indices[chosen]
    return found.expected(entries, counts.attributes_at(entries, unknown_as_nan=True))


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
        For the interval of :func:`ratio`, such as :func:`fibres` returns.
    bins : int
        Of the PIT histograms and of predictions.
    seed : int
        See :func:`quantile_residuals`.

    Examples
    --------
    >>> import numpy as np
    >>> mean = np.full(2000, 5.0)
    >>> found = check(np.random.default_rng(0).poisson(mean), mean)
    >>> bool(found.ratio.low < 1 < found.ratio.high), round(found.poisson.pearson)
    (True, 1)
    """
    overall = ratio(counts, predicted, groups)
    phi = dispersion(counts, predicted)
    return Check(
        n=len(np.asarray(counts)),
        zeros=float(np.mean(np.asarray(counts) == 0)),
        ratio=overall,
        deciles=by_decile(counts, predicted, bins=bins),
        poisson=_distribution(counts, predicted, 0.0, bins, seed),
        negative_binomial=_distribution(counts, predicted, phi, bins, seed),
    )


def _distribution(
    counts: ArrayLike, predicted: ArrayLike, phi: float, bins: int, seed: int
) -> Distribution:
    residuals = quantile_residuals(counts, predicted, phi, seed=seed)
    return Distribution(
        phi=phi,
        pearson=pearson(counts, predicted, phi),
        distance=ks_distance(residuals),
        zeros=share_of_zeros(counts, predicted, phi)[1],
        log_likelihood=float(log_likelihood(counts, predicted, phi).mean()),
        residuals=residuals,
        pit=pit_histogram(counts, predicted, phi, bins=bins),
    )

"""Effects of attributes on p: one, two, all together. See :mod:`uncletc.effects`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import xlogy

from uncletc.counts import CountTensor
from uncletc.effects.parts import (
    LEAST,
    Effect,
    Explanation,
    Importance,
    PairEffect,
    along_p,
    at_least,
    attribute_groups,
    averaged,
    binned,
    checked,
    levels,
    log_p,
    mean_along,
    sample,
)
from uncletc.metrics import negative_binomial_log_likelihood, poisson_deviance
from uncletc.model import Fit
from uncletc.validation import FloatArray, IntArray, check_indices

_SIZES = (-8.0, 12.0)  # logarithms between which a negative binomial's size is sought


def partial_dependence(
    found: Fit,
    counts: CountTensor,
    attribute: str,
    *,
    points: int = 30,
    rows: int = 500,
    seed: int = 0,
) -> Effect:
    """Partial dependence of log p on one attribute (Friedman, Annals of Statistics, 2001).

    The mean of log p over entries whose attribute is set to one value after the other
    (section 8.2 there).

    Parameters
    ----------
    found : Fit
        By any solver, with a detection network.
    counts : CountTensor
        With the attributes of the fit.
    attribute : str
        A name in :func:`attribute_groups`.
    points : int
        Values to try at most, ≥ 2: quantiles of the attribute, or all values where they are few.
        A group gets one per level.
    rows : int
        Entries to average over at most, ≥ 1, drawn at random.
    seed : int
        Decides which.

    Returns
    -------
    Effect
        Its mean over the entries' own values is 0.

    Raises
    ------
    ValueError
        If the fit has no network, the counts have other attributes, or a name is unknown.
    """
    z, (columns,) = checked(found, counts, attribute)
    at_least("points", points, 2)
    values = levels(z[:, columns], points)
    curves = averaged(found, sample(z, rows, seed), columns, values)
    if len(columns) == 1:
        centred = curves - mean_along(z[:, columns[0]], values[:, 0], curves)
    else:
        shares = np.array([(z[:, columns] == value).all(axis=1).mean() for value in values])
        centred = curves - curves @ shares[:, None]
    return Effect(log_effect=centred[0], members=centred[1:], values=values)


def accumulated_effect(
    found: Fit,
    counts: CountTensor,
    attribute: str,
    *,
    bins: int = 30,
    rows: int = 4000,
    seed: int = 0,
) -> Effect:
    """Accumulated local effect of one attribute on log p (Apley and Zhu, JRSS B, 2020, eq. 15-17).

    Within each quantile bin of the attribute, the mean change of log p when only this attribute
    moves from one end of the bin to the other; then the sum over bins from the left.

    Parameters
    ----------
    found, counts : Fit, CountTensor
        As for :func:`partial_dependence`.
    attribute : str
        One with an order: not a group.
    bins : int
        At most, ≥ 1; fewer where values repeat.
    rows : int
        Entries to use at most, ≥ 1, drawn at random.
    seed : int
        Decides which.

    Returns
    -------
    Effect
        At the ends of the bins; its mean over the entries' own values is 0. (The paper centres
        by the ends of each entry's bin; the entry's own place in it is exact for few values.)

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if the attribute is a group.
    """
    z, (columns,) = checked(found, counts, attribute)
    if len(columns) > 1:
        raise ValueError(
            f"attribute must have an order to accumulate along, got {attribute!r} with "
            f"{len(columns)} levels; use partial_dependence"
        )
    at_least("bins", bins, 1)
    z = sample(z, rows, seed)
    x = z[:, columns[0]]
    ends = levels(x[:, None], bins + 1)[:, 0]
    n_bins = len(ends) - 1
    where = np.clip(np.searchsorted(ends, x) - 1, 0, max(n_bins - 1, 0))
    lower, upper = z.copy(), z.copy()
    lower[:, columns[0]] = ends[where]
    upper[:, columns[0]] = ends[np.minimum(where + 1, n_bins)]
    change = log_p(found, upper) - log_p(found, lower)
    inside = np.bincount(where, minlength=n_bins)
    local = [np.bincount(where, each, minlength=n_bins)[:n_bins] for each in change]
    curves = np.zeros((len(change), n_bins + 1))
    curves[:, 1:] = np.cumsum(np.array(local) / np.maximum(inside[:n_bins], 1), axis=1)
    curves -= mean_along(x, ends, curves)
    return Effect(log_effect=curves[0], members=curves[1:], values=ends[:, None])


def pair_effect(
    found: Fit,
    counts: CountTensor,
    first: str,
    second: str,
    *,
    bins: int = 10,
    rows: int = 200,
    seed: int = 0,
) -> PairEffect:
    """Joint partial dependence of log p on two attributes, and what neither does alone.

    The interaction is that of Friedman and Popescu (Annals of Applied Statistics, 2008, sec. 8):
    the joint partial dependence minus that of each attribute, each with mean 0.

    Parameters
    ----------
    found, counts : Fit, CountTensor
        As for :func:`partial_dependence`.
    first, second : str
        Two names in :func:`attribute_groups`.
    bins : int
        Quantile bins of either attribute at most, ≥ 2, each standing at its median; a group has
        its levels.
    rows : int
        Entries to average over at most, ≥ 1, drawn at random.
    seed : int
        Decides which.

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if both names are the same.
    """
    if first == second:
        raise ValueError(f"first and second must be two attributes, got {first!r} twice")
    z, (one, two) = checked(found, counts, first, second)
    at_least("bins", bins, 2)
    (a, row_a), (b, row_b) = (binned(z[:, columns], bins) for columns in (one, two))
    entries = np.zeros((len(a), len(b)), dtype=np.int64)
    np.add.at(entries, (row_a, row_b), 1)
    shares = entries / len(z)
    some = sample(z, rows, seed)
    pairs = np.hstack([np.repeat(a, len(b), axis=0), np.tile(b, (len(a), 1))])
    joint = averaged(found, some, (*one, *two), pairs).reshape(-1, len(a), len(b))
    alone_a, alone_b = averaged(found, some, one, a), averaged(found, some, two, b)
    joint -= (joint * shares).sum(axis=(1, 2), keepdims=True)
    alone_a -= alone_a @ shares.sum(axis=1)[:, None]
    alone_b -= alone_b @ shares.sum(axis=0)[:, None]
    return PairEffect(
        log_effect=joint[0],
        members=joint[1:],
        interaction=joint[0] - alone_a[0][:, None] - alone_b[0],
        first=a,
        second=b,
        entries=entries,
    )


def permutation_importance(
    found: Fit,
    counts: CountTensor,
    *,
    repeats: int = 5,
    entries: int = 2000,
    size: float | None = math.inf,
    seed: int = 0,
) -> Importance:
    """Permutation importance of each attribute to the predicted counts ŷ = λp.

    The rise of the deviance when the values of one attribute are dealt anew among the entries
    (Breiman, Machine Learning, 2001, sec. 10; Fisher, Rudin and Dominici, JMLR, 2019). λ stays.
    Attributes that say the same share their importance, or neither shows any.

    Parameters
    ----------
    found : Fit
    counts : CountTensor
        The counts to predict; those of the fit, or held-out ones.
    repeats : int
        ≥ 1.
    entries : int
        At most, ≥ 1, drawn at random from the counted ones with attributes.
    size : float or None
        k > 0 of a negative binomial, whose variance is ŷ + ŷ²/k; inf: Poisson. None: k by maximum
        likelihood on these entries. Where counts vary far more than Poisson, a few large ones
        decide a Poisson deviance.
    seed : int
        Decides entries and permutations.

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if no counted entry has attributes.
    """
    checked(found, counts)
    at_least("repeats", repeats, 1)
    at_least("entries", entries, 1)
    if size is not None and not size > 0:
        raise ValueError(f"size must be positive, inf or None, got {size}")
    usable = np.flatnonzero(counts.attribute_rows >= 0)
    if not len(usable):
        raise ValueError("counts must hold a counted entry with attributes, got none")
    rng = np.random.default_rng(seed)
    chosen = usable if len(usable) <= entries else rng.choice(usable, entries, replace=False)
    y, z = counts.counts[chosen], counts.attributes[counts.attribute_rows[chosen]]
    rate = found.rate(counts.indices[chosen])

    def predicted(attributes: FloatArray) -> FloatArray:
        return np.maximum(rate * found.detection(attributes), LEAST)

    k = _likeliest_size(y, predicted(z)) if size is None else size
    base = _deviance(y, predicted(z), k)
    orders = [rng.permutation(len(z)) for _ in range(repeats)]
    groups = attribute_groups(counts)
    rise = np.zeros((len(groups), repeats))
    for g, columns in enumerate(groups.values()):
        for r, order in enumerate(orders):
            dealt = z.copy()
            dealt[:, columns] = z[order][:, columns]
            rise[g, r] = _deviance(y, predicted(dealt), k) - base
    return Importance(
        names=tuple(groups),
        rise=rise,
        deviance=base,
        size=k,
        entries=len(chosen),
        in_sample=counts.digest == found.counts_digest,
    )


def explain(
    found: Fit,
    counts: CountTensor,
    indices: ArrayLike,
    *,
    background: int = 1000,
    seed: int = 0,
) -> Explanation:
    """Share out the difference of mean log p between some entries and typical ones.

    Shapley values by sampled orders (Štrumbelj and Kononenko, Knowledge and Information Systems,
    2014), each order and its reverse (Mitchell et al., JMLR, 2022): attributes of a background
    entry turn one after the other into those of an entry asked for, and each is given the change
    of log p at its turn. Each entry meets as many background entries, so the contributions add
    up exactly. The background is one entry from each stretch of equal size along p, so that its
    mean log p hardly depends on the seed.

    Parameters
    ----------
    found, counts : Fit, CountTensor
        As for :func:`partial_dependence`.
    indices : array_like of int, shape (n, K)
        Entries of Ξ to explain together, n ≥ 1: all days of one place, for example.
    background : int
        Background entries, ≥ 1, drawn at random; rounded up to a multiple of n.
    seed : int
        Decides the background and the orders.

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if an entry lies outside Ξ.
    """
    z, _ = checked(found, counts)
    at_least("background", background, 1)
    wanted = check_indices(indices, counts.shape, "indices")
    if not len(wanted):
        raise ValueError("indices must name at least 1 entry, got none")
    rows = counts.attributes_at(wanted)
    rng = np.random.default_rng(seed)
    n = len(rows) * math.ceil(background / len(rows))
    typical = along_p(found, z, n, rng)
    asked = np.tile(rows, (n // len(rows), 1))
    groups = attribute_groups(counts)
    owner = np.empty(z.shape[1], dtype=np.int64)  # group of each column
    for g, columns in enumerate(groups.values()):
        owner[list(columns)] = g
    order = rng.permuted(np.tile(np.arange(len(groups)), (n, 1)), axis=1)
    start = log_p(found, typical)
    shares = np.zeros((len(start), len(groups)))
    for turns in (order, order[:, ::-1]):
        now, before = typical, start
        for turn in turns.T:
            now = np.where(owner == turn[:, None], asked, now)
            after = log_p(found, now)
            for share, change in zip(shares, after - before, strict=True):
                share += np.bincount(turn, change, minlength=len(groups))
            before = after
    shares /= 2 * n
    return Explanation(
        log_effect=shares[0],
        members=shares[1:],
        names=tuple(groups),
        log_p=float(log_p(found, rows)[0].mean()),
        typical_log_p=float(start[0].mean()),
    )


def _deviance(y: IntArray, y_hat: FloatArray, size: float) -> float:
    if math.isinf(size):
        return poisson_deviance(y, y_hat)
    terms = xlogy(y, y / y_hat) - (y + size) * np.log((y + size) / (y_hat + size))
    return float(2 * np.mean(terms))


def _likeliest_size(y: IntArray, y_hat: FloatArray) -> float:
    def misfit(log_size: float) -> float:
        terms = negative_binomial_log_likelihood(y, y_hat, math.exp(log_size))
        return -float(terms.sum())

    return math.exp(float(minimize_scalar(misfit, bounds=_SIZES, method="bounded").x))

"""Which attributes predictions depend on, and why p of some entries differs from a typical one."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uncletc.common.validation import FloatArray, check_indices
from uncletc.data.counts import CountTensor
from uncletc.effects.curves import LEAST, LogEffects, attribute_groups, log_p, validated
from uncletc.model.negbin import dispersion, log_scores
from uncletc.result.fitted_model import FittedModel

BEYOND = "place, beyond covariates of p"
"""Name of the contribution of effects of places on detection."""
_REPEATS, _ENTRIES = 5, 2000  # permutations of an attribute, and entries that are predicted
_BACKGROUND = 1000  # typical entries
_POOL = 20  # entries that one background entry is drawn from


@dataclass(frozen=True, eq=False, kw_only=True)
class Importance:
    """How much worse counts are predicted when an attribute is permuted.

    Attributes
    ----------
    names : tuple of str
        G attributes.
    rise : ndarray, shape (G, R)
        Rise of the deviance per entry in each repeat. Of held-out counts about 0 if the attribute
        is not needed; of those of the fit, which follows them, a little more.
    deviance : float
        Per entry, with nothing permuted.
    size : float
        k of the negative binomial; inf: Poisson.
    """

    names: tuple[str, ...]
    rise: FloatArray
    deviance: float
    size: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Explanation(LogEffects):
    """Contributions of attributes to mean log p of some entries, relative to typical ones.

    Attributes
    ----------
    log_effect : ndarray, shape (G,)
        They add up to the mean log p of the entries less that of the background.
    draws : ndarray, shape (R, G)
    names : tuple of str
        G attributes; last, where the fit has effects of places on detection, `BEYOND`.
    """

    names: tuple[str, ...]


def permutation_importance(fit: FittedModel, counts: CountTensor) -> Importance:
    """Permutation importance of each attribute to the predicted counts ŷ = λp.

    The rise of the deviance when the values of one attribute are permuted among the entries
    (Breiman, Machine Learning, 2001, sec. 10; Fisher, Rudin and Dominici, JMLR, 2019), five times,
    of 2,000 entries at most. λ is fixed. The deviance is that of a negative binomial, whose size
    is likeliest for these entries: a few large counts would dominate that of Poisson counts.
    Attributes with the same information share their importance, or none of them shows any.

    Parameters
    ----------
    fit : Fit
    counts : CountTensor
        The counts to predict; those of the fit, or held-out ones.

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if no counted entry has attributes.
    """
    validated(fit, counts)
    usable = np.flatnonzero(counts.attribute_rows >= 0)
    if not len(usable):
        raise ValueError("counts must hold a counted entry with attributes, got none")
    rng = np.random.default_rng(0)
    chosen = usable if len(usable) <= _ENTRIES else rng.choice(usable, _ENTRIES, replace=False)
    y, z = counts.counts[chosen], counts.attributes[counts.attribute_rows[chosen]]
    rate = fit.expected(counts.indices[chosen], z) / fit.detection(z)  # with reporting, if any

    def predicted(attributes: FloatArray) -> FloatArray:
        return np.maximum(rate * fit.detection(attributes), LEAST)

    phi = dispersion(y, predicted(z))
    best = log_scores(y, np.maximum(y, LEAST), phi)

    def deviance(attributes: FloatArray) -> float:
        return float(2 * (log_scores(y, predicted(attributes), phi) - best).mean())

    base = deviance(z)
    orders = [rng.permutation(len(z)) for _ in range(_REPEATS)]
    groups = attribute_groups(counts)
    rise = np.zeros((len(groups), _REPEATS))
    for g, columns in enumerate(groups.values()):
        for r, order in enumerate(orders):
            permuted = z.copy()
            permuted[:, columns] = z[order][:, columns]
            rise[g, r] = deviance(permuted) - base
    size = 1 / phi if phi else math.inf
    return Importance(names=tuple(groups), rise=rise, deviance=base, size=size)


def explain(fit: FittedModel, counts: CountTensor, indices: ArrayLike) -> Explanation:
    """Attribute the difference of mean log p between some entries and typical ones.

    Shapley values by sampled orders (Štrumbelj and Kononenko, Knowledge and Information Systems,
    2014), each order with its reverse (Mitchell et al., JMLR, 2022): one after the other, the
    attributes of a background entry are replaced by those of an entry to explain, and each is
    credited with the change of log p. Every entry is paired with equally many background entries,
    so the contributions add up exactly. The background has one entry from each of many equal
    runs along p, so that its mean log p hardly depends on which they are: 1,000 of them, rounded up
    to a multiple of n.

    Parameters
    ----------
    fit, counts : Fit, CountTensor
        As for :func:`partial_dependence`.
    indices : array_like of int, shape (n, K)
        Entries of Ξ to explain together, n ≥ 1: all days of one place, for example.

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if an entry lies outside Ξ.
    """
    z, _ = validated(fit, counts)
    entries = check_indices(indices, counts.shape, "indices")
    if not len(entries):
        raise ValueError("indices must name at least 1 entry, got none")
    rows = counts.attributes_at(entries)
    rng = np.random.default_rng(0)
    n = len(rows) * math.ceil(_BACKGROUND / len(rows))
    typical = _along_p(fit, z, n, rng)
    explained = np.tile(rows, (n // len(rows), 1))
    groups = attribute_groups(counts)
    # Group of each column: those of a group stand side by side, in the order of groups.
    owner = np.repeat(np.arange(len(groups)), [len(columns) for columns in groups.values()])
    order = rng.permuted(np.tile(np.arange(len(groups)), (n, 1)), axis=1)
    start = log_p(fit, typical)
    shares = np.zeros((len(start), len(groups)))
    for turns in (order, order[:, ::-1]):
        now, before = typical, start
        for turn in turns.T:
            now = np.where(owner == turn[:, None], explained, now)
            after = log_p(fit, now)
            for share, change in zip(shares, after - before, strict=True):
                share += np.bincount(turn, change, minlength=len(groups))
            before = after
    shares, names = shares / (2 * n), list(groups)
    effects = fit.mode_effects
    if effects is not None and any(effect.detection for effect in effects.effects):
        here = log_p(fit, rows, indices=entries) - log_p(fit, rows)
        shares, names = np.append(shares, here.mean(axis=1)[:, None], axis=1), [*names, BEYOND]
    return Explanation(log_effect=shares[0], draws=shares[1:], names=tuple(names))


def _along_p(fit: FittedModel, z: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw n rows, one from each of n runs of up to `_POOL` rows ordered by p."""
    if len(z) > n * _POOL:
        z = z[rng.choice(len(z), n * _POOL, replace=False)]
    order = np.argsort(fit.detection(z), kind="stable")
    place = (np.arange(n) + rng.uniform(size=n)) * len(z) / n
    return z[order[place.astype(np.int64)]]

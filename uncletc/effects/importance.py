"""Which attributes the predicted counts depend on at all."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from uncletc.counts import CountTensor
from uncletc.effects.entries import LEAST, attribute_groups, checked
from uncletc.effects.records import Importance
from uncletc.evaluation.scores import count_distribution
from uncletc.metrics import negative_binomial_deviance
from uncletc.model import Fit
from uncletc.validation import FloatArray, IntArray, check_whole

_SIZES = (-8.0, 12.0)  # logarithms between which a negative binomial's size is sought


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
    check_whole("repeats", repeats, 1)
    check_whole("entries", entries, 1)
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
    base = negative_binomial_deviance(y, predicted(z), k)
    orders = [rng.permutation(len(z)) for _ in range(repeats)]
    groups = attribute_groups(counts)
    rise = np.zeros((len(groups), repeats))
    for g, columns in enumerate(groups.values()):
        for r, order in enumerate(orders):
            dealt = z.copy()
            dealt[:, columns] = z[order][:, columns]
            rise[g, r] = negative_binomial_deviance(y, predicted(dealt), k) - base
    return Importance(
        names=tuple(groups),
        rise=rise,
        deviance=base,
        size=k,
        entries=len(chosen),
        in_sample=counts.digest == found.counts_digest,
    )


def _likeliest_size(y: IntArray, y_hat: FloatArray) -> float:
    def misfit(log_size: float) -> float:
        return -float(count_distribution(y_hat, math.exp(-log_size)).logpmf(y).sum())

    return math.exp(float(minimize_scalar(misfit, bounds=_SIZES, method="bounded").x))

"""Which attributes the predicted counts depend on at all."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from uncletc.common.validation import FloatArray, IntArray, check_whole
from uncletc.compare.metrics import negative_binomial_deviance
from uncletc.compare.scores import count_distribution
from uncletc.data.counts import CountTensor
from uncletc.effects.entries import LEAST, attribute_groups, validated
from uncletc.effects.records import Importance
from uncletc.result.fit_result import Fit

_SIZES = (-8.0, 12.0)  # logarithms between which a negative binomial's size is sought


def permutation_importance(
    fit: Fit,
    counts: CountTensor,
    *,
    repeats: int = 5,
    entries: int = 2000,
    size: float | None = math.inf,
    seed: int = 0,
) -> Importance:
    """Permutation importance of each attribute to the predicted counts ŷ = λp.

    The rise of the deviance when the values of one attribute are permuted among the entries
    (Breiman, Machine Learning, 2001, sec. 10; Fisher, Rudin and Dominici, JMLR, 2019). λ is fixed.
    Attributes with the same information share their importance, or none of them shows any.

    Parameters
    ----------
    fit : Fit
    counts : CountTensor
        The counts to predict; those of the fit, or held-out ones.
    repeats : int
        ≥ 1.
    entries : int
        Number of entries at most, ≥ 1, drawn at random from the counted ones with attributes.
    size : float or None
        k > 0 of a negative binomial with variance ŷ + ŷ²/k; inf: Poisson. None: k by maximum
        likelihood on these entries. If counts vary far more than Poisson, a few large ones
        dominate a Poisson deviance.
    seed : int
        Seed of the entries and the permutations.

    Raises
    ------
    ValueError
        As :func:`partial_dependence`, or if no counted entry has attributes.
    """
    validated(fit, counts)
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
    rate = fit.expected(counts.indices[chosen], z) / fit.detection(z)  # with reporting, if any

    def predicted(attributes: FloatArray) -> FloatArray:
        return np.maximum(rate * fit.detection(attributes), LEAST)

    k = _maximum_likelihood_size(y, predicted(z)) if size is None else size
    base = negative_binomial_deviance(y, predicted(z), k)
    orders = [rng.permutation(len(z)) for _ in range(repeats)]
    groups = attribute_groups(counts)
    rise = np.zeros((len(groups), repeats))
    for g, columns in enumerate(groups.values()):
        for r, order in enumerate(orders):
            permuted = z.copy()
            permuted[:, columns] = z[order][:, columns]
            rise[g, r] = negative_binomial_deviance(y, predicted(permuted), k) - base
    return Importance(
        names=tuple(groups),
        rise=rise,
        deviance=base,
        size=k,
        entries=len(chosen),
        in_sample=counts.digest == fit.counts_digest,
    )


def _maximum_likelihood_size(y: IntArray, y_hat: FloatArray) -> float:
    def misfit(log_size: float) -> float:
        return -float(count_distribution(y_hat, math.exp(-log_size)).logpmf(y).sum())

    return math.exp(float(minimize_scalar(misfit, bounds=_SIZES, method="bounded").x))

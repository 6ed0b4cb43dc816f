"""Predictions that need no model of detection: the least that a method must beat."""

from __future__ import annotations

import numpy as np

from uncletc import CountTensor
from uncletc.validation import FloatArray, IntArray

_PASSES = 30  # more change no prediction of these counts by a thousandth
_PSEUDO_COUNTS = 1.0  # that hold an effect to 1: a place that nothing is known of is the average


def constant(counts: CountTensor, indices: IntArray) -> FloatArray:
    """Predict one count per unit of exposure, for entries (n, K); (n,)."""
    level = counts.counts.sum() / counts.exposure_at(counts.indices).sum()
    return level * counts.exposure_at(indices)


def place_and_time(counts: CountTensor, indices: IntArray) -> FloatArray:
    """Predict by a level, times an effect of the place, times one of the time; (n,).

    A place is a combination of indices of all modes but the last. The effects are the likeliest of
    Poisson counts, a little shrunk.
    """
    places = counts.shape[:-1]
    sizes = int(np.prod(places)), counts.shape[-1]

    def groups(where: IntArray) -> tuple[IntArray, IntArray]:
        return np.ravel_multi_index(tuple(where[:, :-1].T), places), where[:, -1]

    own, y = groups(counts.indices), counts.counts
    base = constant(counts, counts.indices)
    effects = [np.ones(size) for size in sizes]
    for _ in range(_PASSES):
        for mode in (0, 1):
            expected = base * effects[1 - mode][own[1 - mode]]
            total, prior = np.bincount(own[mode], expected, sizes[mode]), _PSEUDO_COUNTS
            effects[mode] = (np.bincount(own[mode], y, sizes[mode]) + prior) / (total + prior)
    asked = groups(indices)
    return constant(counts, indices) * effects[0][asked[0]] * effects[1][asked[1]]

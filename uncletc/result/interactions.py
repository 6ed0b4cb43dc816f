"""Which two attributes act on p together, in a fit in which each acts by itself.

A network follows what attributes do together, but a few hundred counts often do not support one.
Then p by both may be wrong however narrow its intervals. A score test of their product, one number
for each pair, shows that with far fewer counts than a network needs.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import ndtri

from uncletc.common.validation import FloatArray
from uncletc.model.rates import normal_scores

_CHANCE = 0.001  # of naming a pair where none acts together
_LEAST = 0.1  # standard deviation of log p by a product, at its likeliest, that is worth naming
MOST_ENTRIES = 6_000  # that need to be looked at
_OWN = 1e-3  # share of a product's variance, at least, that its attributes alone do not have


def acting_together(
    attributes: FloatArray, detection: FloatArray, residuals: FloatArray, weights: FloatArray
) -> tuple[int, int] | None:
    """Return the two attributes whose product counts ask for most clearly; None if for none.

    The score of the coefficient of each product of normal scores in the logit of p, over its
    standard error. What factors and effects could follow of a product is not subtracted from its
    information, so that the test names too few pairs rather than too many.

    Parameters
    ----------
    attributes : ndarray, shape (n, D)
        z of counted entries.
    detection : ndarray, shape (n,)
        p.
    residuals, weights : ndarray, shape (n,)
        Score of log ŷ of each count, and its variance.
    """
    pairs = list(combinations(range(attributes.shape[1]), 2))
    root, rest, scores = np.sqrt(weights), 1 - detection, normal_scores(attributes)
    found, largest = None, float(ndtri(1 - _CHANCE / 2 / max(len(pairs), 1)))
    for i, j in pairs:
        product = scores[:, i] * scores[:, j]
        alone = np.column_stack([np.ones(len(product)), scores[:, [i, j]]]) * rest[:, None]
        x = rest * product
        x -= alone @ np.linalg.lstsq(alone * root[:, None], x * root, rcond=None)[0]
        information = float(np.square(root * x).sum())
        if information <= _OWN * float(np.square(root * rest * product).sum()):
            continue
        z = abs(float(residuals @ x)) / np.sqrt(information)
        if z > largest and z > _LEAST * np.linalg.norm(root):
            found, largest = (i, j), z
    return found

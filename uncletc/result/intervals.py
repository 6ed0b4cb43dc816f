"""Intervals of a fit's estimates: of single entries, and of means over sets of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.result.ensemble import Interval, Member, between, combined, interval
from uncletc.result.posterior import Draws, Quantity

_MOST_DETECTION = 1.0  # the largest p over Ξ on the scale of a fit


def entry_intervals(
    draws: Draws,
    first: Member,
    of: Quantity,
    values: Sequence[FloatArray],
    indices: IntArray,
    attributes: FloatArray,
    level: float,
) -> Interval:
    """Return the interval of each entry; see :meth:`uncletc.Fit.rate`.

    Parameters
    ----------
    draws : Draws
        Of the parameters.
    first : Member
        The likeliest, about which they are drawn.
    of : {"rate", "detection", "expected"}
    values : sequence of ndarray, shape (n,)
        λ, p or λp of each member.
    indices : ndarray of int, shape (n, K)
    attributes : ndarray, shape (n, D)
        See :meth:`uncletc.result.posterior.Draws.deviation`.
    level : float
    """
    deviation = draws.deviation(of, first, indices, attributes)
    total = np.sqrt(deviation**2 + between(values))
    return interval(combined(values), total, level, _most(of))


def mean_intervals(
    draws: Draws,
    first: Member,
    of: Quantity,
    values: Sequence[FloatArray],
    indices: IntArray,
    attributes: FloatArray,
    groups: IntArray,
    level: float,
) -> Interval:
    """Return the interval of the mean of each group (n,) of entries; see :meth:`uncletc.Fit.mean`.

    The other parameters are those of :func:`entry_intervals`.
    """
    centre = combined(values)
    sizes = np.bincount(groups)
    with np.errstate(invalid="ignore"):  # 0/0 is NaN where a number has no entries
        means = [np.bincount(groups, value) / sizes for value in (centre, *values)]
    deviation = draws.deviation_of_sums(of, first, indices, attributes, centre, groups)
    total = np.sqrt(deviation**2 + between(means[1:]))
    return interval(means[0], total, level, _most(of))


def _most(of: Quantity) -> float:
    return _MOST_DETECTION if of == "detection" else np.inf

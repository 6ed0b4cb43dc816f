"""Intervals of a fit's estimates: of single entries, and of means over sets of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.result.ensemble import Interval, between, combined, interval
from uncletc.result.posterior import Draws, Quantity

if TYPE_CHECKING:
    from uncletc.result.fit_result import Fit

_MOST_DETECTION = 1.0  # the largest p over Ξ on the scale of a fit


def entry_intervals(
    fit: Fit,
    of: Quantity,
    values: Sequence[FloatArray],
    indices: IntArray,
    attributes: FloatArray,
    level: float,
) -> Interval:
    """Return the interval of each entry; see :meth:`uncletc.Fit.rate`.

    Parameters
    ----------
    fit : Fit
    of : {"rate", "detection", "expected"}
    values : sequence of ndarray, shape (n,)
        λ, p or λp of each member.
    indices : ndarray of int, shape (n, K)
    attributes : ndarray, shape (n, D)
        See :meth:`uncletc.result.posterior.Draws.deviation`.
    level : float
    """
    deviation = drawn(fit).deviation(of, fit.members[0], indices, attributes)
    total = np.sqrt(deviation**2 + between(values))
    return interval(combined(values), total, level, _most(of))


def mean_intervals(
    fit: Fit,
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
    deviation = drawn(fit).deviation_of_sums(
        of, fit.members[0], indices, attributes, centre, groups
    )
    total = np.sqrt(deviation**2 + between(means[1:]))
    return interval(means[0], total, level, _most(of))


def drawn(fit: Fit) -> Draws:
    """Return the draws of a fit; ValueError if it has none."""
    if fit.draws is None:
        if fit.settings.closed:
            raise ValueError(
                "intervals of a closed fit need a finished one of at most 3,000 parameters: this "
                "fit has no draws of its parameters"
            )
        raise ValueError(
            "intervals need a finished fit by the joint solver: this fit has no draws of its "
            f"parameters (solver {fit.settings.solver.name!r})"
        )
    return fit.draws


def _most(of: Quantity) -> float:
    return _MOST_DETECTION if of == "detection" else np.inf

"""How wide the intervals of a fit are, and whether they hold what is true."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.planning.drawing import places_of
from uncletc.planning.results import ABSOLUTE, RELATIVE
from uncletc.result.ensemble import Interval, Member
from uncletc.result.fit_result import Fit
from uncletc.result.intervals import drawn
from uncletc.result.posterior import Draws, Quantity
from uncletc.solvers.combine import align, detection_over

LEVEL = 0.9
"""Nominal coverage of the intervals."""
_ROWS = 4_096  # of Ξ, over which p has its mean

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Present:
    """The entries whose intervals are compared: those counted at present.

    Attributes
    ----------
    indices : ndarray of int, shape (N, K)
    place : ndarray of int, shape (N,)
        Number of the place of each, from 0.
    rate, detection : ndarray, shape (N,), optional
        True λ and p.
    mean_detection : float
        True mean p over Ξ.
    """

    indices: IntArray
    place: IntArray
    rate: FloatArray | None = None
    detection: FloatArray | None = None
    mean_detection: float = 1.0

    @classmethod
    def of(cls, counts: CountTensor, along: int) -> Present:
        """Take the observed entries of counts; truth unknown."""
        places = places_of(counts.indices, counts.shape, along)
        return cls(counts.indices, np.unique(places, return_inverse=True)[1])


def widths_of_fit(fit: Fit, counts: CountTensor, along: str | None = None) -> list[Row]:
    """How wide the intervals of a fit are, as it stands.

    Parameters
    ----------
    fit : Fit
    counts : CountTensor
        What it was fitted to.
    along : str, optional
        The mode that visits are along; None: the last.

    Returns
    -------
    list of dict
        See :func:`measured`.
    """
    mode = len(counts.shape) - 1 if along is None else counts.modes.index(along)
    return measured(fit, counts, Present.of(counts, mode))


def measured(fit: Fit, counts: CountTensor, present: Present) -> list[Row]:
    """Widths of intervals of λ and p of the present places, and of totals.

    Parameters
    ----------
    fit : Fit
    counts : CountTensor
        What it was fitted to; the present entries are among them.
    present : Present

    Returns
    -------
    list of dict
        "quantity": "detection" and "rate" of places, the median over them (without attributes
        relative p is one and left out); "total", λ of all
        present entries together; "scale", the mean p over Ξ. "scale": "relative", where the mean
        p over Ξ is held; "absolute", where data state it. "width": upper over lower end of the
        90 % interval. "held": share of the true values that lie within, NaN where unknown.
    """
    rows = _rows(on_relative_scale(fit, counts), counts, present, RELATIVE)
    if fit.anchored_by:
        rows += _rows(fit, counts, present, ABSOLUTE)
        rows.append(_of_scale(fit, counts, present))
    return rows


def on_relative_scale(fit: Fit, counts: CountTensor) -> Fit:
    """Return a fit whose intervals hold nothing of the common scale of λ and p.

    Members are brought to one scale, and the draws to the estimate's mean p over Ξ. Intervals of
    a fit with a free scale keep some of it, since they widen the deviation of that mean; here it
    would pass for what more counts tell.
    """
    draws, members = drawn(fit), list(fit.members)
    if not len(draws.coefficients):
        return fit
    if fit.anchored_by:
        members = align(members, counts)
    sample = counts.attributes[:: max(counts.n_attributed // _ROWS, 1)]
    if not counts.n_attributes:
        sample = np.empty((1, 0))
    raw = _deviations_without_level(draws, fit, sample)
    p = fit.members[0].detection(sample)
    level = np.log(np.exp(raw) @ p / p.sum())
    factors = (draws.factors[0] + (level - draws.level).astype(np.float32), *draws.factors[1:])
    first, *others = members
    return replace(
        fit,
        factors=first.factors,
        network=first.network,
        others=tuple(others),
        mean_detection=_mean_detection(members, counts, fit),
        draws=replace(draws, factors=factors, level=level.astype(np.float32)),
    )


def _deviations_without_level(draws: Draws, fit: Fit, attributes: FloatArray) -> FloatArray:
    """Deviations of log p whose mean is free; (R, n)."""
    plain = replace(draws, level=np.zeros_like(draws.level), widening=(1.0, 1.0, 1.0))
    return plain.log_detection(fit.members[0], attributes)


def _mean_detection(members: list[Member], counts: CountTensor, fit: Fit) -> float:
    if not counts.n_attributes:
        return fit.mean_detection
    return float(detection_over(members, counts.attributes).mean())


def _rows(fit: Fit, counts: CountTensor, present: Present, scale: str) -> list[Row]:
    factor = 1.0  # from true p to what it is on the scale of the fit
    if scale == RELATIVE:
        factor = fit.mean_detection / present.mean_detection
    told = counts.rows_of(present.indices) >= 0
    if not counts.n_attributes:
        told = np.ones(len(told), dtype=bool)
    rows = []
    if told.any() and (counts.n_attributes or scale == ABSOLUTE):
        p = None if present.detection is None else present.detection[told] * factor
        of = _means(fit, counts, "detection", present.indices[told], present.place[told])
        rows.append(_row("detection", scale, of, _true_means(p, present.place[told])))
    rate = None if present.rate is None else present.rate / factor
    everywhere = np.zeros_like(present.place)
    for quantity, places in (("rate", present.place), ("total", everywhere)):
        of = _means(fit, counts, "rate", present.indices, places)
        rows.append(_row(quantity, scale, of, _true_means(rate, places)))
    return rows


def _of_scale(fit: Fit, counts: CountTensor, present: Present) -> Row:
    step = max(counts.n_attributed // _ROWS, 1)
    where = counts.attribute_indices[::step]
    if not counts.n_attributes:
        where = present.indices[:1]
    of = _means(fit, counts, "detection", where, np.zeros(len(where), dtype=np.int64))
    true = None if present.rate is None else np.array([present.mean_detection])
    return _row("scale", ABSOLUTE, of, true)


def _means(
    fit: Fit, counts: CountTensor, of: Quantity, indices: IntArray, groups: IntArray
) -> Interval:
    z = np.empty((len(indices), 0))
    if of == "detection" and counts.n_attributes:
        z = counts.attributes_at(indices, unknown_as_nan=True)
    return fit.mean(of, indices, z if of == "detection" else None, groups=groups, level=LEVEL)


def _true_means(values: FloatArray | None, groups: IntArray) -> FloatArray | None:
    if values is None:
        return None
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(groups, values) / np.bincount(groups))


def _row(quantity: str, scale: str, of: Interval, true: FloatArray | None) -> Row:
    there = np.isfinite(of.estimate) & (of.estimate > 0)
    held = np.nan
    if true is not None:
        held = float(((of.low <= true) & (true <= of.high))[there].mean())
    ratio = of.high[there] / np.maximum(of.low[there], 1e-300)
    width = float(np.median(ratio)) if there.any() else np.nan
    return {"quantity": quantity, "scale": scale, "width": width, "held": held}

"""Totals of groups of entries: reported, estimated true, and the share that was counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from uncletc.counts import CountTensor
from uncletc.datasets.base import Dataset
from uncletc.estimates.bounds import check_fitted, detection_ends, rate_ends, scale_of
from uncletc.estimates.names import Name, named_columns
from uncletc.members import Interval
from uncletc.model import Fit
from uncletc.scale import Scale
from uncletc.validation import FloatArray, IntArray


def totals(
    data: Dataset | CountTensor,
    fit: Fit,
    scale: Scale | None = None,
    *,
    by: str | Sequence[str] = (),
    level: float = 0.9,
) -> pd.DataFrame:
    """Sum what was reported and what is estimated over groups of counted entries.

    Both sums go over the entries with a count alone, so that they are of the same places and times.

    Parameters
    ----------
    data : Dataset or CountTensor
        What was fitted, with its roles and looks.
    fit : Fit
    scale : Scale, optional
        As for :func:`every_entry`.
    by : str or sequence of str
        Names of modes, groups, or other columns that name an entry; several: every combination
        that has counts. (): one row for all.
    level : float
        Nominal coverage of the intervals, in (0, 1).

    Returns
    -------
    DataFrame
        One row per group, in the order of their labels: a column for each of `by`; entries
        (counted ones); reported; rate (Σλ), and detection, the mean of p, each with
        ``_low`` and ``_high`` where the fit has draws; expected (Σŷ); on a known scale share,
        reported over Σλ, with its ends, at most 1.
        On a free scale λ and p are relative_rate and relative_detection, and no share is given.

    Raises
    ------
    ValueError
        If the counts are not those of the fit, or `by` names nothing there is.
    """
    counts = data.counts if isinstance(data, Dataset) else data
    check_fitted(counts, fit)
    scale = scale_of(counts, fit) if scale is None else scale
    chosen = _chosen(data, (by,) if isinstance(by, str) else tuple(by))
    where = counts.indices
    groups, columns = _grouped(chosen, where)
    sizes = np.bincount(groups)
    reported = np.bincount(groups, counts.counts).astype(np.float64)
    z = counts.attributes_at(where, unknown_as_nan=True)
    rate = _means(fit, "rate", where, z, groups, level)
    sums = Interval(
        estimate=rate.estimate * sizes, low=rate.low * sizes, high=rate.high * sizes, level=level
    )
    shown = rate_ends(scale, sums, reported)
    p = detection_ends(scale, _means(fit, "detection", where, z, groups, level))
    free = "" if scale.absolute else "relative_"
    columns |= {"entries": sizes, "reported": reported.astype(np.int64)}
    for name, found in (("rate", shown), ("detection", p)):
        columns[f"{free}{name}"] = found.estimate
        if fit.draws is not None:
            columns |= {f"{free}{name}_low": found.low, f"{free}{name}_high": found.high}
    columns["expected"] = np.bincount(groups, fit.expected(where, z))
    if scale.absolute:
        with np.errstate(divide="ignore", invalid="ignore"):
            columns["share"] = reported / shown.estimate
            if fit.draws is not None:
                columns["share_low"] = reported / shown.high
                columns["share_high"] = np.minimum(reported / shown.low, 1.0)
    return pd.DataFrame(columns)


def _chosen(data: Dataset | CountTensor, by: tuple[str, ...]) -> list[Name]:
    counts = data.counts if isinstance(data, Dataset) else data
    named = named_columns(data)
    known = dict(zip(counts.modes, named.modes, strict=True))
    known |= {each.column: each for each in named.others}
    for name in by:
        if name not in known:
            raise ValueError(f"by must name modes or groups, {', '.join(known)}; got {name!r}")
    return [known[name] for name in by]


def _grouped(chosen: list[Name], where: IntArray) -> tuple[IntArray, dict[str, Any]]:
    """Number of the group of each entry, and the columns that name the groups."""
    if not chosen:
        return np.zeros(len(where), dtype=np.int64), {}
    codes = [each.codes[tuple(where[:, k] for k in each.along)] for each in chosen]
    levels, groups = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    labels = {
        each.column: np.append(each.labels, "")[level]
        for each, level in zip(chosen, levels.T, strict=True)
    }
    return np.asarray(groups, dtype=np.int64).ravel(), labels


def _means(
    fit: Fit,
    of: Literal["rate", "detection"],
    where: IntArray,
    z: FloatArray,
    groups: IntArray,
    level: float,
) -> Interval:
    """Mean λ or p of each group as fitted, with ends where the fit has draws, else NaN."""
    if fit.draws is not None:
        return fit.mean(of, where, z, groups=groups, level=level)
    values = fit.rate(where)
    if of == "detection":
        known = ~np.isnan(z).any(axis=1)
        values = np.full(len(where), fit.mean_detection)
        values[known] = fit.detection(z[known])
    means = np.bincount(groups, values) / np.bincount(groups)
    nothing = np.full(len(means), np.nan)
    return Interval(estimate=means, low=nothing, high=nothing, level=level)

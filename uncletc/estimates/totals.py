"""Totals of groups of entries: reported, estimated true, and the share that was counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from uncletc.common.validation import IntArray
from uncletc.data.counts import CountTensor
from uncletc.datasets.base import Dataset
from uncletc.estimates.bounds import check_fitted, reports_late, scale_of
from uncletc.estimates.names import Name, named_columns
from uncletc.estimates.sums import group_sums
from uncletc.result.fit_result import Fit
from uncletc.result.scale import Scale


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
        One row per group, in the order of their labels: a column for each of `by`; then those of
        :meth:`Sums.table`, and expected, Σŷ. On a free scale λ and p are relative_rate and
        relative_detection. There is no share on a free scale, nor of single days of a fit with
        effects on reporting, whose reports come late.

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
    found = group_sums(fit, counts, groups)
    bound = not (reports_late(fit) and _over_time(chosen, counts))
    table = found.table(scale, level=level, at_least_reported=bound)
    table["reported"] = table["reported"].astype(np.int64)
    z = counts.attributes_at(where, unknown_as_nan=True)
    expected = np.bincount(groups, fit.expected(where, z), len(table))
    names = [str(name) for name in table]
    shares = [name for name in names if name.startswith("share")]
    for name in names[: len(names) - len(shares)]:
        free = not scale.absolute and name.startswith(("rate", "detection"))
        columns[f"relative_{name}" if free else name] = table[name]
    columns["expected"] = expected
    return pd.DataFrame(columns | {name: table[name] for name in shares})


def _over_time(chosen: list[Name], counts: CountTensor) -> bool:
    """Whether groups part the last mode, such as days."""
    return any(len(counts.modes) - 1 in each.along for each in chosen)


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

"""Rows that name the same entry: refused, summed, or kept as several looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.entries import flat_index
from uncletc.tables.columns import Columns, Duplicates
from uncletc.tables.long import Long, long_rows
from uncletc.tables.reading import RawTable

_MOST_LOOKS = 12


@dataclass(frozen=True, eq=False)
class Entries:
    """Counts, one row per look at an entry, sorted by look and entry.

    Attributes
    ----------
    indices : ndarray of int, shape (R, K)
    counts : ndarray, shape (R,)
        NaN where missing.
    rows : ndarray of int, shape (R,)
        A row of the table that each comes from.
    look : ndarray of int, shape (R,)
        0 for the first look at an entry.
    values : dict of str to ndarray, shape (R,)
        What else rows hold, by name; NaN where missing.
    rules : tuple of str
    """

    indices: IntArray
    counts: FloatArray
    rows: IntArray
    look: IntArray
    values: dict[str, FloatArray]
    rules: tuple[str, ...]


def repeated_rows(raw: RawTable, columns: Columns) -> int:
    """Count the rows that name an entry which a row above names too.

    Parameters
    ----------
    raw : RawTable
    columns : Columns
        Their `duplicates` do not matter.

    Raises
    ------
    ValueError
        If the columns do not fit the table; see :func:`uncletc.tables.build`.
    """
    long = long_rows(raw.frame, columns)
    return len(long.counts) - len(np.unique(flat_index(long.indices, long.shape)))


def entries_of(long: Long, values: Mapping[str, FloatArray], duplicates: Duplicates) -> Entries:
    """Make of rows what the owner says they are.

    Parameters
    ----------
    long : Long
    values : mapping of str to ndarray, shape (n,)
        Numbers of each row of the table.
    duplicates : {"refuse", "sum", "looks"}

    Raises
    ------
    ValueError
        If rows name the same entry and that is refused, or there are too many looks.
    """
    flat = flat_index(long.indices, long.shape)
    found = {name: column[long.rows] for name, column in values.items()}
    order = np.argsort(flat, kind="stable")
    again = np.concatenate([[False], flat[order][1:] == flat[order][:-1]])
    if not again.any():
        look = np.zeros(len(flat), dtype=np.int64)
        return Entries(long.indices, long.counts, long.rows, look, found, ())
    n = int(again.sum())
    if duplicates == "refuse":
        at = int(np.argmax(again))
        before, after = int(long.rows[order[at - 1]]), int(long.rows[order[at]])
        entry = ", ".join(
            f"{each.name} {each.labels[k]}"
            for each, k in zip(long.levels, long.indices[order[at]], strict=True)
        )
        raise ValueError(
            f"each entry must have one row; data rows {before + 1} and {after + 1} are both "
            f"{entry} ({n:,} such rows): sum them, keep them as looks, or name one more mode"
        )
    if duplicates == "sum":
        return _summed(long, found, order, again)
    return _looks(long, found, order)


def _summed(
    long: Long, values: Mapping[str, FloatArray], order: IntArray, again: np.ndarray
) -> Entries:
    group = np.cumsum(~again) - 1
    n = int(group[-1]) + 1
    first = order[~again]
    known = ~np.isnan(long.counts[order])
    sums = np.bincount(group[known], long.counts[order][known], n)
    seen = np.bincount(group[known], minlength=n) > 0
    means = {}
    for name, column in values.items():
        there = ~np.isnan(column[order])
        sizes = np.bincount(group[there], minlength=n)
        totals = np.bincount(group[there], column[order][there], n)
        means[name] = np.where(sizes > 0, totals / np.maximum(sizes, 1), np.nan)
    rule = f"Rows that name the same entry are summed ({int(again.sum()):,} rows added to others)"
    rule += "; their attributes are averaged." if values else "."
    return Entries(
        long.indices[first],
        np.where(seen, sums, np.nan),
        long.rows[first],
        np.zeros(n, dtype=np.int64),
        means,
        (rule,),
    )


def _looks(long: Long, values: Mapping[str, FloatArray], order: IntArray) -> Entries:
    known = order[~np.isnan(long.counts[order])]  # a look that counted nothing is none
    empty = order[np.isnan(long.counts[order])]
    flat = flat_index(long.indices, long.shape)
    lone = empty[~np.isin(flat[empty], flat[known])]
    lone = lone[np.unique(flat[lone], return_index=True)[1]]
    start = np.concatenate([[True], flat[known][1:] != flat[known][:-1]])
    begins = np.flatnonzero(start)
    look = np.arange(len(known)) - begins[np.cumsum(start) - 1]
    most = int(look.max(initial=0)) + 1
    if most > _MOST_LOOKS:
        at = int(known[int(np.argmax(look))])
        entry = ", ".join(
            f"{each.name} {each.labels[k]}"
            for each, k in zip(long.levels, long.indices[at], strict=True)
        )
        raise ValueError(
            f"an entry must have at most {_MOST_LOOKS} looks, {entry} has {most:,} rows: sum them, "
            "or name one more mode"
        )
    rows = np.concatenate([known, lone])
    rule = (
        f"Rows that name the same entry are looks at the same true events: up to {most} each, "
        f"{int((look > 0).sum()):,} rows beside the first."
    )
    return Entries(
        long.indices[rows],
        long.counts[rows],
        long.rows[rows],
        np.concatenate([look, np.zeros(len(lone), dtype=np.int64)]),
        {name: column[rows] for name, column in values.items()},
        (rule,),
    )

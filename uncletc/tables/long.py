"""Rows of a table as counts of entries: one row per count, also of a wide table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from uncletc.common.validation import FloatArray, IntArray
from uncletc.tables.columns import Columns, ModeColumn
from uncletc.tables.findings import listed
from uncletc.tables.limits import MOST_ENTRIES
from uncletc.tables.mode_levels import Levels, levels_of
from uncletc.tables.periods import periods
from uncletc.tables.running import without_totals
from uncletc.tables.values import counts_of
from uncletc.tables.wide import dates_of

_MOST_CELLS = 30_000_000  # of the counts of a wide table


@dataclass(frozen=True, eq=False)
class Long:
    """Counts with their entries, one row each.

    Attributes
    ----------
    levels : tuple of Levels
        Of each mode; their `codes` are of the table's rows, not of these.
    indices : ndarray of int, shape (R, K)
    counts : ndarray, shape (R,)
        NaN where missing.
    rows : ndarray of int, shape (R,)
        The row of the table that each comes from.
    rules : tuple of str
    """

    levels: tuple[Levels, ...]
    indices: IntArray
    counts: FloatArray
    rows: IntArray
    rules: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Levels of each mode."""
        return tuple(len(each.labels) for each in self.levels)

    @property
    def modes(self) -> tuple[str, ...]:
        """Names of the modes."""
        return tuple(each.name for each in self.levels)


def long_rows(frame: pl.DataFrame, columns: Columns) -> Long:
    """Turn a table into counts of entries.

    Raises
    ------
    ValueError
        Naming the column, the data row, the value and the rule it breaks.
    """
    if columns.across:
        counts, notes = _across_counts(frame, columns)
    else:
        counts, notes = counts_of(frame.get_column(columns.count), columns.count)
    levels = [levels_of(frame.get_column(mode.column), mode) for mode in columns.modes]
    n, width = len(frame), max(len(columns.across), 1)
    rows = np.repeat(np.arange(n), width)
    codes = [np.repeat(each.codes, width) for each in levels]
    if columns.running is not None:
        across = None
        if columns.across_mode is not None:
            as_it_stands = ModeColumn(column=columns.across_mode.column)
            across = _across_levels(columns.across, as_it_stands)
        counts, said = without_totals(frame, columns, counts, across)
        notes += said
    if columns.across_mode is not None:
        levels.append(_across_levels(columns.across, columns.across_mode))
        codes.append(np.tile(levels[-1].codes, n))
        notes.append(
            f"Each row holds {width} counts, one for each level of {columns.across_mode.column}."
        )
    long = Long(tuple(levels), np.column_stack(codes), counts, rows, tuple(notes))
    if np.isnan(long.counts).all():
        raise ValueError(
            f"{columns.count or 'the count'} must hold at least one count, all its rows are empty"
        )
    long = _without(_named(long), columns)
    modes = [*columns.modes, *([columns.across_mode] if columns.across_mode else [])]
    for k, mode in enumerate(modes):
        if mode.most is not None:
            long = _most_active(long, k, mode.most)
    _check_size(long)
    return long


def _across_counts(frame: pl.DataFrame, columns: Columns) -> tuple[FloatArray, list[str]]:
    n, width = len(frame), len(columns.across)
    if n * width > _MOST_CELLS:
        raise ValueError(
            f"the table must have at most {_MOST_CELLS:,} counts, it has {n:,} rows of {width:,}"
        )
    parts, notes = [], list[str]()
    for name in columns.across:
        column, said = counts_of(frame.get_column(name), name)
        parts.append(column)
        notes += [f"In {name}: {each[0].lower() + each[1:]}" for each in said]
    if len(notes) > 3:
        notes = [*notes[:3], f"So it is in {len(notes) - 3} more columns."]
    return np.column_stack(parts).ravel(), notes


def _across_levels(names: Sequence[str], mode: ModeColumn) -> Levels:
    dates = dates_of(names)
    if dates is not None:
        return levels_of(dates, mode)
    if mode.step is not None:
        raise ValueError(f"{mode.column} must have dates to be taken by {mode.step}: {names[0]!r}")
    if (named := periods(names)) is not None:
        return levels_of(pl.Series(list(named.values())), mode)
    return Levels(mode.column, tuple(names), np.arange(len(names)))


def _named(long: Long) -> Long:
    """Leave out rows that lack a level."""
    rules = list(long.rules)
    keep = np.ones(len(long.counts), dtype=bool)
    for k, each in enumerate(long.levels):
        lacking = long.indices[:, k] < 0
        if lacking.any():
            first = int(long.rows[np.argmax(lacking)])
            rules.append(
                f"{int(lacking.sum()):,} rows without a value of {each.name} are left out, the "
                f"first is data row {first + 1}."
            )
            keep &= ~lacking
        rules += each.rules
    if not (keep & ~np.isnan(long.counts)).any():
        raise ValueError(
            "the table must have a row with a count and a value of each mode, it has none"
        )
    return replace(_kept(long, keep), rules=tuple(rules))


def _without(long: Long, columns: Columns) -> Long:
    """Leave out levels, such as totals beside their parts."""
    for mode, level in columns.without:
        if mode not in long.modes or level not in long.levels[long.modes.index(mode)].labels:
            raise ValueError(f"without must name levels of modes; there is no {mode} {level!r}")
    rules = list(long.rules)
    for k, each in enumerate(long.levels):
        gone = [level for mode, level in columns.without if mode == each.name]
        if not gone:
            continue
        kept = np.array([i for i, label in enumerate(each.labels) if label not in gone])
        if not len(kept):
            raise ValueError(f"without must leave a level of {each.name}, it leaves none")
        rules.append(f"{each.name} {listed(gone)} is left out, with all its rows.")
        new = np.full(len(each.labels), -1)
        new[kept] = np.arange(len(kept))
        indices = long.indices.copy()
        indices[:, k] = new[indices[:, k]]
        levels = (*long.levels[:k], each.only(kept), *long.levels[k + 1 :])
        long = _kept(replace(long, levels=levels, indices=indices), indices[:, k] >= 0)
    return replace(long, rules=tuple(rules))


def _kept(long: Long, keep: np.ndarray) -> Long:
    if keep.all():
        return long
    return replace(long, indices=long.indices[keep], counts=long.counts[keep], rows=long.rows[keep])


def _most_active(long: Long, k: int, most: int) -> Long:
    each = long.levels[k]
    n = len(each.labels)
    if most < 1:
        raise ValueError(f"most of {each.name} must be at least 1, got {most}")
    if n <= most:
        return long
    counted = np.nan_to_num(long.counts)
    totals = np.bincount(long.indices[:, k], counted, n)
    rows = np.bincount(long.indices[:, k], minlength=n)
    kept = np.sort(np.lexsort((-rows, -totals))[:most])
    share = totals[kept].sum() / max(totals.sum(), 1.0)
    rule = (
        f"Of {n:,} levels of {each.name} the {most:,} with most counted events are kept; they have "
        f"{share:.1%} of all."
    )
    new = np.full(n, -1)
    new[kept] = np.arange(len(kept))
    indices = long.indices.copy()
    indices[:, k] = new[indices[:, k]]
    levels = (*long.levels[:k], each.only(kept), *long.levels[k + 1 :])
    found = replace(long, levels=levels, indices=indices, rules=(*long.rules, rule))
    return _kept(found, indices[:, k] >= 0)


def _check_size(long: Long) -> None:
    size = math.prod(long.shape)
    if size <= MOST_ENTRIES:
        return
    k = int(np.argmax(long.shape))
    each = long.levels[k]
    sizes = " × ".join(f"{n:,} {name}" for n, name in zip(long.shape, long.modes, strict=True))
    raise ValueError(
        f"the tensor must have at most {MOST_ENTRIES:,} entries, {sizes} are {size:,}: take "
        f"{each.name} by week, by month or in intervals, or keep its most active levels"
    )

"""Counts that are running totals: how many there were between one row and the next."""

from __future__ import annotations

import numpy as np
import polars as pl

from uncletc.common.validation import FloatArray, IntArray
from uncletc.tables.columns import Columns, ModeColumn
from uncletc.tables.mode_levels import Levels, levels_of


def without_totals(
    frame: pl.DataFrame, columns: Columns, counts: FloatArray, across: Levels | None
) -> tuple[FloatArray, list[str]]:
    """Return what each running total adds to the one before it; NaN where nothing tells it.

    Parameters
    ----------
    frame : polars.DataFrame
    columns : Columns
        Their `running` names the mode along which counts add up.
    counts : ndarray, shape (R,)
        Row by row, and in a wide table column by column.
    across : Levels, optional
        Levels of the columns of a wide table, one for each column as it stands.

    Raises
    ------
    ValueError
        If there is no such mode, or rows name the same entry.
    """
    names = [mode.column for mode in columns.modes]
    if across is not None:
        names.append(across.name)
    if columns.running not in names:
        raise ValueError(
            f"running must be one of the modes, {', '.join(names)}; got {columns.running!r}"
        )
    width = max(len(columns.across), 1)
    levels = [
        levels_of(frame.get_column(mode.column), ModeColumn(column=mode.column))
        for mode in columns.modes
    ]
    codes = [np.repeat(each.codes, width) for each in levels]
    if across is not None:
        codes.append(np.tile(across.codes, len(frame)))
    time = codes.pop(names.index(str(columns.running)))
    fibre = np.zeros(len(counts), dtype=np.int64)
    for each in codes:
        fibre = np.unique(fibre * (int(each.max(initial=0)) + 2) + each + 1, return_inverse=True)[1]
    return _differences(fibre, time, counts, str(columns.running))


def _differences(
    fibre: IntArray, time: IntArray, counts: FloatArray, mode: str
) -> tuple[FloatArray, list[str]]:
    known = np.flatnonzero(~np.isnan(counts) & (time >= 0))
    order = known[np.lexsort((time[known], fibre[known]))]
    same = np.diff(fibre[order]) == 0
    if (same & (np.diff(time[order]) == 0)).any():
        raise ValueError(
            f"running totals along {mode} need one row for each entry, some have several: name "
            "one more mode, or leave out the rows that repeat"
        )
    steps = np.full(len(counts), np.nan)
    steps[order[1:][same]] = np.diff(counts[order])[same]
    first = np.concatenate([[True], ~same]) if len(order) else np.zeros(0, dtype=bool)
    none_yet = order[first & (counts[order] == 0)]
    steps[none_yet] = 0.0
    fallen = int((steps < 0).sum())
    steps[steps < 0] = np.nan
    unknown = int(first.sum()) - len(none_yet)
    rules = [
        f"Counts are running totals along {mode}: each is taken as what it adds to the one before."
    ]
    if unknown:
        rules.append(
            f"The first of each series is missing ({unknown:,}): nothing tells since when it "
            "adds up."
        )
    if fallen:
        rules.append(f"Totals that fall are missing too ({fallen:,}): they correct earlier ones.")
    return steps, rules

"""Names that stand once for several rows, as merged cells leave them."""

from __future__ import annotations

import polars as pl

from uncletc.tables.records import short
from uncletc.tables.words import count_points, is_note

_LEAST_EMPTY = 0.4  # share of rows below a name
_LEAST_BLOCKS = 2


def filled_down(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Repeat names of the first columns downwards where each stands once, above empty cells."""
    notes = []
    for name in frame.columns[:2]:
        column = frame.get_column(name)
        if not _stands_once(column):
            break
        empty = column.null_count()
        frame = frame.with_columns(column.forward_fill())
        notes.append(
            f"{short(name)} stands in the first row of each block alone, as merged cells leave it: "
            f"it is filled downwards into {empty:,} rows."
        )
    return frame, notes


def _stands_once(column: pl.Series) -> bool:
    if column.dtype not in (pl.String, pl.Categorical, pl.Date, pl.Int32):
        return False
    if is_note(column.name) or count_points(column.name) > 0 or column[0] is None:
        return False
    known = column.drop_nulls()
    empty = column.null_count() / len(column)
    if empty < _LEAST_EMPTY or len(known) < _LEAST_BLOCKS or known.n_unique() < len(known):
        return False
    starts = column.is_not_null().arg_true().to_list()
    sizes = [b - a for a, b in zip(starts, [*starts[1:], len(column)], strict=True)]
    return bool(min(sizes) >= 2 and max(sizes) <= 3 * min(sizes))

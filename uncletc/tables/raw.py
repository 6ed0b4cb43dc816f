"""A table as it was read, and how large it may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
import polars as pl

from uncletc.tables.types import typed
from uncletc.tables.workbook import plain_columns

MOST_ROWS = 2_000_000
"""Rows of a table at most."""

MOST_COLUMNS = 2_000
"""Columns of a table at most."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as it was read: named columns of numbers, dates or text.

    Attributes
    ----------
    name : str
        Of the file.
    frame : polars.DataFrame
        Distinct names; whole numbers, numbers, dates, times or text; null where empty.
    notes : tuple of str
        What was decided or left out on the way, one sentence each.
    """

    name: str
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, frame: pl.DataFrame | pd.DataFrame | Mapping[str, Sequence[object]], name: str
    ) -> RawTable:
        """A table from a frame; text is read as numbers or dates as that of a file is.

        Raises
        ------
        ValueError
            If it has no row, or a column that cannot be read.
        """
        if isinstance(frame, pd.DataFrame):
            table = _from_pandas(frame)
        elif isinstance(frame, pl.DataFrame):
            table = frame
        else:
            table = pl.DataFrame(dict(frame), strict=False)
        check_size(name, *table.shape)
        found, notes = typed(plain_columns(table), comma_separates=True)
        return cls(name, found, tuple(notes))


def _from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    names = [str(name) for name in frame.columns]
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise ValueError(
            f"the table must have columns with distinct names, {twice[0]!r} occurs twice"
        )
    mixed = [
        name
        for name, kind in frame.dtypes.items()
        if pd.api.types.is_object_dtype(kind) or isinstance(kind, pd.CategoricalDtype)
    ]
    plain = frame.astype(dict.fromkeys(mixed, str))  # what is missing becomes "nan" or "None"
    return pl.from_pandas(plain.set_axis(names, axis=1))


def check_size(called: str, rows: int, columns: int) -> None:
    """Refuse a table without rows, or with more rows or columns than are read."""
    if not rows:
        raise ValueError(f"{called} must have at least one row below the names of its columns")
    if columns > MOST_COLUMNS:
        raise ValueError(
            f"{called} must have at most {MOST_COLUMNS:,} columns, it has {columns:,}: put it in "
            "long form, one row per count"
        )
    if rows > MOST_ROWS:
        raise ValueError(
            f"{called} must have at most {MOST_ROWS:,} rows, it has more: sum rows first, such as "
            "days to weeks"
        )

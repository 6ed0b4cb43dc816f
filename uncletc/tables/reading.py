"""Read a file as a table whose columns have names and types, and say all that was done to it."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pandas as pd
import polars as pl

from uncletc.tables.added import events_of_rows, joined_degrees, row_names
from uncletc.tables.content import HOW_CSV, kind_of, text_of
from uncletc.tables.delimited import Cells, read_delimited
from uncletc.tables.filled import filled_down
from uncletc.tables.headers import unfolded
from uncletc.tables.joined import joined_dates, joined_places
from uncletc.tables.records import short
from uncletc.tables.stacked import stacked
from uncletc.tables.typed import typed
from uncletc.tables.workbook import plain_columns, read_excel, read_parquet

MOST_BYTES = 300 * 2**20
"""Size of a file at most, unless :func:`read_file` is told otherwise."""

_LONGEST_NAME = 100
_TOTALS: tuple[str, ...] = (
    "total",
    "totals",
    "sum",
    "grand total",
    "subtotal",
    "all",
    "mean",
    "average",
    "summe",
)
_TOTALS += ("gesamt", "insgesamt", "sums")
_LAST = 5  # rows at the end that may be totals or remarks


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
        """Make one of a frame; text is read as numbers or dates as that of a file is.

        Raises
        ------
        ValueError
            If it has no row, or a column that cannot be read.
        """
        table = frame
        if isinstance(table, pd.DataFrame):
            table = _from_pandas(table)
        elif not isinstance(table, pl.DataFrame):
            table = pl.DataFrame(dict(table), strict=False)
        if table.is_empty():
            raise ValueError(f"{name} must have at least one row below the names of its columns")
        found, notes = typed(plain_columns(table), separator_is_comma=True)
        return cls(name, found, tuple(notes))


def _from_pandas(frame: pd.DataFrame) -> pl.DataFrame:
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the table must have columns with distinct names, {twice!r} occurs twice")
    columns = []
    for name, (_, column) in zip(names, frame.items(), strict=True):
        if isinstance(column.dtype, pd.CategoricalDtype) or column.dtype == object:
            text = [
                None if missing else str(v)
                for v, missing in zip(column, column.isna(), strict=True)
            ]
            columns.append(pl.Series(name, text, dtype=pl.String))
        else:
            columns.append(pl.from_pandas(column).alias(name))
    return pl.DataFrame(columns)


def read_file(
    source: str | Path | bytes | IO[bytes], name: str | None = None, *, most: int = MOST_BYTES
) -> RawTable:
    r"""Read a CSV, TSV, Parquet or Excel file.

    What it is, is found from what it holds: encoding (UTF-8, UTF-16, Windows-1252), separator
    (comma, semicolon, tab, vertical bar), lines above the names, decimal commas and thousands of
    each column, forms of dates, and of a workbook the sheet with most rows.

    Parameters
    ----------
    source : path, bytes or binary file
    name : str, optional
        Its name, for messages. None: that of the path.
    most : int
        Bytes at most.

    Returns
    -------
    RawTable

    Raises
    ------
    ValueError
        One sentence that says what is wrong, where, and how to mend it.
    FileNotFoundError
        If there is no file of this path.

    Examples
    --------
    >>> raw = read_file(b"site;date;seen\na;1.5.2024;3\nb;2.5.2024;0\n", "visits.csv")
    >>> raw.frame.schema["date"], raw.notes[0]
    (Date, 'Columns are separated by semicolons.')
    """
    if isinstance(source, bytes):
        data, called = source, name or "the file"
    elif isinstance(source, str | Path):
        path = Path(source)
        called = name or path.name
        if path.is_dir():
            raise ValueError(f"{called} must be a file, it is a folder")
        _check_size(path.stat().st_size, called, most)
        data = path.read_bytes()
    else:
        data, called = source.read(most + 1), name or "the file"
    called = short(called, 80)
    _check_size(len(data), called, most)
    if not data:
        raise ValueError(f"{called} must not be empty: it has no bytes")
    try:
        return _read(data, called)
    except csv.Error as error:
        raise ValueError(
            f"{called} has a field of more than a million characters, perhaps because a double "
            f"quote is never closed: {HOW_CSV}"
        ) from error
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{called} cannot be read as a table: {HOW_CSV}") from error


def _check_size(size: int, called: str, most: int) -> None:
    if size > most:
        raise ValueError(
            f"{called} must have at most {most / 2**20:,.0f} MB, it has {size / 2**20:,.0f}: leave "
            "out columns, sum rows, or save it as Parquet"
        )


def _read(data: bytes, called: str) -> RawTable:
    kind = kind_of(data, called)
    if kind == "parquet":
        frame, notes = read_parquet(data, called)
        names, said = distinct_names(frame.columns)
        frame.columns = names
        return _finished(called, plain_columns(frame), notes + said, comma=True)
    if kind == "excel":
        cells = read_excel(data, called)
        return _of_cells(called, cells, [], comma=True)
    text, encoding = text_of(data, called)
    cells = read_delimited(text, called)
    notes = [f"The file is read as {encoding}."] if encoding else []
    return _of_cells(called, cells, notes, comma=not any("separated" in n for n in cells.notes))


def _of_cells(called: str, cells: Cells, notes: list[str], *, comma: bool) -> RawTable:
    header = cells.header if cells.named else [""] * cells.frame.width
    names, said = distinct_names(header, cells.named)
    frame, more = _without_ends(cells.frame)
    if frame.is_empty():
        raise ValueError(f"{called} must have at least one row below the names of its columns")
    frame.columns = names
    return _finished(called, frame, [*notes, *cells.notes, *said, *more], comma=comma)


def _finished(called: str, frame: pl.DataFrame, notes: list[str], *, comma: bool) -> RawTable:
    found, said = typed(frame, separator_is_comma=comma)
    empty = [c for c in found.columns if found.get_column(c).null_count() == len(found)]
    if len(empty) == found.width:
        raise ValueError(f"{called} must have at least one row with a value, all are empty")
    if empty:
        found = found.drop(empty)
        shown = ", ".join(empty[:5]) + (f" and {len(empty) - 5} more" if len(empty) > 5 else "")
        said.append(f"Columns without any value are left out: {shown}.")
    for arrange in _ARRANGED:
        found, more = arrange(found)
        said += more
    return RawTable(called, found, (*notes, *said))


_ARRANGED = (
    filled_down,
    unfolded,
    stacked,
    joined_dates,
    joined_places,
    joined_degrees,
    row_names,
    events_of_rows,
)


def distinct_names(header: Sequence[str], named: bool = True) -> tuple[list[str], list[str]]:
    """Names that are distinct, not empty and of bounded length, and what was changed."""
    names = [short(name, _LONGEST_NAME) for name in header]
    notes = []
    unnamed = [k + 1 for k, name in enumerate(names) if not name]
    names = [name or f"column {k + 1}" for k, name in enumerate(names)]
    if unnamed and named:
        of = "Column" if len(unnamed) == 1 else "Columns"
        numbers = ", ".join(map(str, unnamed[:8])) + (", …" if len(unnamed) > 8 else "")
        notes.append(
            f"{of} {numbers} without a name {'is' if len(unnamed) == 1 else 'are'} called "
            f"column {unnamed[0]}{' and so on' if len(unnamed) > 1 else ''}."
        )
    repeated = [name for name, n in Counter(names).items() if n > 1]
    taken = set(names)
    for name in repeated:
        number = 1
        for k in [k for k, each in enumerate(names) if each == name][1:]:
            number += 1
            while f"{name} ({number})" in taken:
                number += 1
            names[k] = f"{name} ({number})"
            taken.add(names[k])
        notes.append(
            f"{names.index(name) and ''}The name {name!r} occurs {number} times: the "
            f"second is called {name + ' (2)'!r}."
        )
    return names, notes


def _without_ends(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Drop rows without any value, and at the end remarks and totals."""
    notes = []
    blank = frame.select(
        pl.all_horizontal(pl.all().is_null() | (pl.all().str.strip_chars() == ""))
    ).to_series()
    if blank.any():
        frame = frame.filter(~blank)
        notes.append(f"{int(blank.sum()):,} rows without any value are left out.")
    if frame.width < 2:
        return frame, notes
    for _ in range(_LAST):
        if len(frame) < 3:
            break
        row = [(value or "").strip() for value in frame.row(-1)]
        filled = [value for value in row if value]
        before = [value for value in frame.row(-2) if (value or "").strip()]
        alone = len(filled) == 1 and row[0] and frame.width > 2
        if alone or (alone is False and len(filled) == 1 and row[0] and len(before) > 1):
            notes.append(f"The last row is left out, it holds a remark: {short(filled[0])!r}.")
        elif _is_total(filled) and _often(frame, row) <= 1:
            notes.append(f"The last row is left out, it holds totals: {short(filled[0])!r}.")
        else:
            break
        frame = frame.head(len(frame) - 1)
    return frame, notes


def _is_total(filled: list[str]) -> bool:
    return len(filled) > 1 and filled[0].lower().rstrip(":") in _TOTALS


def _often(frame: pl.DataFrame, row: list[str]) -> int:
    """How often a row's first text stands in its column; totals of each month are many rows."""
    k = next(k for k, value in enumerate(row) if value)
    return int((frame.to_series(k).str.strip_chars() == row[k]).sum())

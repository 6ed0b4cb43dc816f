"""Excel workbooks and Parquet files as columns."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

import numpy as np
import openpyxl
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from uncletc.tables.content import HOW_CSV
from uncletc.tables.delimited import NO_NAMES, Cells, header_row
from uncletc.tables.headers import joined_names
from uncletc.tables.records import short

_MOST_CELLS = 12_000_000  # of a sheet: about a minute
_MOST_WIDE = 20_000
_MOST_VALUES = 100_000_000  # of a Parquet file
_MOST_BYTES = 2 << 30  # of a Parquet file, unpacked
_BLOCK = 20_000


def read_excel(data: bytes, name: str) -> Cells:
    """Read the sheet of a workbook that has most rows.

    Raises
    ------
    ValueError
        If it has no sheet with a table, or cannot be read, with what to do.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of styles and extensions, which are not read
        try:
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            sheets = {sheet.title: _sheet(sheet) for sheet in book.worksheets[:50]}
            book.close()
        except _TooLargeError as error:
            raise ValueError(
                f"{name} has a sheet with more than {_MOST_CELLS:,} cells: {HOW_CSV}"
            ) from error
        except Exception as error:  # openpyxl raises whatever its parsers do
            raise ValueError(
                f"{name} cannot be read as an Excel workbook, it may be damaged or protected: "
                f"in Excel, {HOW_CSV}"
            ) from error
    title = max(sheets, key=lambda each: _size(sheets[each]), default=None)
    if title is None or not _size(sheets[title]):
        raise ValueError(f"{name} must not be empty: none of its sheets holds a table")
    notes = []
    if len(sheets) > 1:
        others = ", ".join(repr(short(each)) for each in sheets if each != title)
        notes.append(f"The sheet {short(title)!r} is read, which has most rows; not {others}.")
    cells = _from_sheet(sheets[title], name)
    return Cells(cells.header, cells.frame, cells.first_line, notes + cells.notes, cells.named)


class _TooLargeError(Exception):
    pass


def _sheet(sheet: Any) -> list[tuple[int, pl.DataFrame]]:
    """Blocks of rows as text, each with the number of its columns."""
    blocks: list[tuple[int, pl.DataFrame]] = []
    rows: list[list[str | None]] = []
    n = 0
    for row in _values(sheet):
        n += max(len(row), 1)
        if n > _MOST_CELLS or len(row) > _MOST_WIDE:
            raise _TooLargeError
        rows.append([_text(value) for value in row])
        if len(rows) == _BLOCK:
            blocks.append(_block(rows))
            rows = []
    if rows:
        blocks.append(_block(rows))
    return blocks


def _values(sheet: Any) -> Iterator[tuple[Any, ...]]:
    if not hasattr(sheet, "iter_rows"):  # a sheet that is a chart
        return
    sheet.reset_dimensions()  # what a file declares need not be so
    yield from sheet.iter_rows(values_only=True)


def _block(rows: list[list[str | None]]) -> tuple[int, pl.DataFrame]:
    width = max(1, *(len(row) for row in rows))
    schema = {str(k): pl.String for k in range(width)}
    full = [row + [None] * (width - len(row)) for row in rows]
    return width, pl.DataFrame(full, schema=schema, orient="row")


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, datetime):
        whole = value.time() == time(0)
        return value.date().isoformat() if whole else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value)


def _size(blocks: list[tuple[int, pl.DataFrame]]) -> int:
    """Rows with two or more filled cells."""
    return sum(
        int((frame.select(pl.sum_horizontal(pl.all().is_not_null())).to_series() >= 2).sum())
        for _, frame in blocks
    )


def _from_sheet(blocks: list[tuple[int, pl.DataFrame]], name: str) -> Cells:
    width = max(width for width, _ in blocks)
    frame = pl.concat([each for _, each in blocks], how="diagonal")
    first = [["" if v is None else v for v in row] for row in frame.head(300).iter_rows()]
    used = [_trimmed(row) for row in first]
    at, named = header_row(used)
    header = [field.strip() for field in first[at]] if named else [""] * width
    if named and at and (joined := joined_names(first[at - 1], header)) is not None:
        header = joined
    notes = []
    if named and at:
        notes.append(
            f"{at} {'row' if at == 1 else 'rows'} above the names of the columns "
            f"{'is' if at == 1 else 'are'} left out, the first is {short(' '.join(first[0]))!r}."
        )
    if not named:
        notes.append(NO_NAMES)
    body = frame.slice(at + 1 if named else at)
    line = at + 2 if named else at + 1
    full = body.filter(~pl.all_horizontal(pl.all().is_null()))
    if full.is_empty():
        raise ValueError(f"{name} must have at least one row below the names of its columns")
    used_columns = [
        k for k in range(width) if header[k] or full.get_column(str(k)).null_count() < len(full)
    ]
    kept = full.select(pl.col(str(k)).alias(str(i)) for i, k in enumerate(used_columns))
    return Cells([header[k] for k in used_columns], kept, line, notes, named)


def _trimmed(row: list[str]) -> list[str]:
    n = len(row)
    while n and not row[n - 1].strip():
        n -= 1
    return row[:n] or [""]


def read_parquet(data: bytes, name: str) -> tuple[pl.DataFrame, list[str]]:
    """Read a Parquet file, and say which columns hold no plain values.

    Raises
    ------
    ValueError
        If it is damaged or declares more than can be held.
    """
    damaged = f"{name} is a damaged Parquet file: write it once more, or {HOW_CSV}"
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        about = file.metadata
        groups = [about.row_group(k) for k in range(about.num_row_groups)]
        unpacked = sum(group.total_byte_size for group in groups)
        n_rows, n_columns = about.num_rows, about.num_columns
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise ValueError(damaged) from error
    if n_rows < 0 or n_rows * n_columns > _MOST_VALUES or not 0 <= unpacked <= _MOST_BYTES:
        raise ValueError(
            f"{name} holds {n_rows:,} rows of {n_columns:,} columns, more than can be read: leave "
            "out columns, or sum rows first"
        )
    try:
        schema = file.schema_arrow
        nested = [pa.types.is_nested(field.type) for field in schema]
        names = [str(name) for name in schema.names]
        if len(set(names)) != len(names):
            raise ValueError(f"{name} must have columns with distinct names")
        read = file.read(columns=[n for n, skip in zip(names, nested, strict=True) if not skip])
        read.validate(full=True)  # text that is no text
        columns = {str(k): read.column(k) for k in range(read.num_columns)}
    except (pa.ArrowException, OSError, OverflowError, TypeError, UnicodeError) as error:
        raise ValueError(damaged) from error
    try:
        frame = pl.DataFrame({k: pl.from_arrow(column) for k, column in columns.items()})
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise ValueError(f"{name} holds a kind of column that cannot be read: {HOW_CSV}") from error
    if frame.is_empty() or not frame.width:
        raise ValueError(f"{name} must have at least one row and one column of single values")
    frame.columns = [n for n, skip in zip(names, nested, strict=True) if not skip]
    return frame, [
        f"The column {short(each)!r} is left out: it holds lists, not single values."
        for each, skip in zip(names, nested, strict=True)
        if skip
    ]


def plain_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of text, whole numbers, numbers, dates or times; anything else as text."""
    return frame.select(_plain(frame.get_column(each)) for each in frame.columns)


def _plain(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if kind.is_integer():
        top = column.abs().max() if kind.is_signed_integer() else column.max()
        small = isinstance(top, int) and 0 <= top < 2**31
        return column.cast(pl.Int32 if small else pl.Float64)
    if kind.is_float() or kind.is_decimal():
        values = column.cast(pl.Float64)
        return values.fill_nan(None)
    if kind in (pl.Date, pl.String):
        return column
    if isinstance(kind, pl.Datetime):
        plain = column.dt.replace_time_zone(None).cast(pl.Datetime("us"))
        whole = (plain.dt.truncate("1d") == plain).all()
        return plain.cast(pl.Date) if whole else plain
    if kind == pl.Boolean:
        text = np.where(column.fill_null(False).to_numpy(), "TRUE", "FALSE")
        return pl.Series(column.name, text).zip_with(
            column.is_not_null(), pl.Series(column.name, [None], dtype=pl.String)
        )
    if kind == pl.Binary:
        return pl.Series(column.name, [str(v)[:200] if v is not None else None for v in column])
    return column.cast(pl.String, strict=False)

"""Excel workbooks and Parquet files as columns."""

from __future__ import annotations

import io

import fastexcel
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

HOW_CSV = 'save the table as "CSV UTF-8" and read that'
"""What helps with every other kind of file."""

_MOST_UNPACKED = 2 << 30  # bytes
_MOST_VALUES = 100_000_000  # of a Parquet file
_MOST_SHEETS = 50


def read_excel(data: bytes, name: str) -> tuple[pl.DataFrame, list[str]]:
    """The sheet of a workbook that has most rows, as text in columns named by their number.

    Formulas are never computed: a cell holds the value that was saved with it.

    Raises
    ------
    ValueError
        If it has no sheet with a table, or cannot be read, with what to do.
    """
    try:
        book = fastexcel.read_excel(data)
        sheets = {
            title: book.load_sheet(title, header_row=None, dtypes="string").to_polars()
            for title in book.sheet_names[:_MOST_SHEETS]
        }
    except BaseException as error:  # a panic of the parser is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise ValueError(
            f"{name} cannot be read as a workbook, it may be damaged, protected or another kind of "
            f"file: {HOW_CSV}"
        ) from error
    sizes = {title: _rows_with_a_table(sheet) for title, sheet in sheets.items()}
    title = max(sizes, key=lambda each: sizes[each], default="")
    if not sizes.get(title):
        raise ValueError(f"{name} must not be empty: none of its sheets holds a table")
    sheet = sheets[title]
    frame = sheet.rename({column: str(k) for k, column in enumerate(sheet.columns)})
    others = ", ".join(repr(each[:40]) for each in sheets if each != title)
    note = f"The sheet {title[:40]!r} is read, which has most rows; not {others}."
    return frame.fill_null(""), [note] if others else []


def _rows_with_a_table(sheet: pl.DataFrame) -> int:
    """Rows with two or more filled cells."""
    if not sheet.width:
        return 0
    filled = sheet.select(pl.sum_horizontal(pl.all().is_not_null())).to_series()
    return int((filled >= 2).sum())


def read_parquet(data: bytes, name: str) -> tuple[pl.DataFrame, list[str]]:
    """The columns of a Parquet file, and a note on those that hold no plain values.

    Raises
    ------
    ValueError
        If it is damaged or declares more than can be held.
    """
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        about, schema = file.metadata, file.schema_arrow
        unpacked = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
        rows, width = about.num_rows, about.num_columns
        if rows < 0 or rows * width > _MOST_VALUES or not 0 <= unpacked <= _MOST_UNPACKED:
            raise ValueError(
                f"{name} holds {rows:,} rows of {width:,} columns, more than can be read: leave "
                "out columns, or sum rows first"
            )
        names = [str(each) for each in schema.names]
        if len(set(names)) != len(names):
            raise ValueError(f"{name} must have columns with distinct names")
        nested = [field.name for field in schema if pa.types.is_nested(field.type)]
        read = file.read(columns=[each for each in names if each not in set(nested)])
        read.validate(full=True)  # text that is no text
        frame = pl.from_arrow(read)
    except Exception as error:
        if isinstance(error, ValueError) and str(error).startswith(f"{name} "):
            raise
        raise ValueError(
            f"{name} is a damaged Parquet file: write it once more, or {HOW_CSV}"
        ) from error
    except pl.exceptions.PanicException as error:
        raise ValueError(f"{name} holds a kind of column that cannot be read: {HOW_CSV}") from error
    if not isinstance(frame, pl.DataFrame) or frame.is_empty() or not frame.width:
        raise ValueError(f"{name} must have at least one row and one column of single values")
    return frame, [
        f"The column {each[:40]!r} is left out: it holds lists, not single values."
        for each in nested
    ]

"""Excel workbooks and Parquet files as columns."""

from __future__ import annotations

import io
import re
import zipfile

import fastexcel
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

HOW_CSV = 'save the table as "CSV UTF-8" and read that'
"""What helps with every other kind of file."""

_MOST_UNPACKED = 1 << 30  # bytes; a workbook of a million rows of ten columns takes half of it
_MOST_CELLS = 30_000_000  # of a sheet, empty ones between others too
_MOST_VALUES = 100_000_000  # of a Parquet file
_MOST_SHEETS = 50
_CELL = re.compile(rb"""\sr=["']([A-Z]{1,3})(\d{1,7})["']""")


def read_excel(data: bytes, name: str) -> tuple[pl.DataFrame, list[str]]:
    """The sheet of a workbook that has most rows, as text in columns named by their number.

    Formulas are never computed: a cell holds the value that was saved with it.

    Raises
    ------
    ValueError
        If it has no sheet with a table, or cannot be read, with what to do.
    """
    plain = _unpacked(data, name)
    try:
        book = fastexcel.read_excel(plain)
        sheets = {
            title: book.load_sheet(title, header_row=None, dtypes="string").to_polars()
            for title in book.sheet_names[:_MOST_SHEETS]
        }
    except BaseException as error:  # a panic of the parser is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise ValueError(
            f"{name} cannot be read as an Excel workbook, it may be damaged or protected: "
            f"in Excel, {HOW_CSV}"
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


def _unpacked(data: bytes, name: str) -> bytes:
    """The workbook's parts without compression, so that the parser cannot unpack more than this."""
    out = io.BytesIO()
    total = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as plain:
            parts = {part.filename: part for part in archive.infolist()}
            _check_kind(set(parts), name)
            for part in parts.values():
                if not part.filename.endswith((".xml", ".rels")):
                    continue
                total += part.file_size
                if total > _MOST_UNPACKED:
                    raise ValueError(
                        f"{name} unpacks to more than {_MOST_UNPACKED >> 20:,} MB: {HOW_CSV}, or "
                        "leave out columns"
                    )
                content = archive.read(part)
                if "worksheets/" in part.filename:
                    _check_extent(content, name)
                plain.writestr(part.filename, content)
    except Exception as error:
        if isinstance(error, ValueError) and str(error).startswith(f"{name} "):
            raise
        raise ValueError(
            f"{name} is damaged, or was not copied whole: copy it once more, or {HOW_CSV}"
        ) from error
    return out.getvalue()


def _check_kind(names: set[str], name: str) -> None:
    if "content.xml" in names:
        raise ValueError(f"{name} is a LibreOffice document: save it as .xlsx, or {HOW_CSV}")
    if "xl/workbook.bin" in names:
        raise ValueError(f"{name} is a binary workbook (.xlsb): save it as .xlsx, or {HOW_CSV}")
    if "xl/workbook.xml" not in names:
        raise ValueError(f"{name} is a zip archive: unpack it, and read the table inside")


def _check_extent(sheet: bytes, name: str) -> None:
    """Refuse a sheet whose last cell lies so far off that the cells before it fill the memory."""
    columns, last = set[bytes](), 0
    for match in _CELL.finditer(sheet):
        columns.add(match[1])
        last = max(last, int(match[2]))
    width = max(
        (sum((byte - 64) * 26**k for k, byte in enumerate(each[::-1])) for each in columns),
        default=0,
    )
    if width * last > _MOST_CELLS:
        raise ValueError(f"{name} has a sheet with more than {_MOST_CELLS:,} cells: {HOW_CSV}")


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
        if rows < 0 or rows * width > _MOST_VALUES or not 0 <= unpacked <= 2 * _MOST_UNPACKED:
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

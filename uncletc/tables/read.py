"""Read a file as a table whose columns have names and types, and say all that was done to it."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import charset_normalizer
import polars as pl

from uncletc.tables.guess import with_events
from uncletc.tables.raw import RawTable, check_size
from uncletc.tables.types import listed, typed
from uncletc.tables.workbook import HOW_CSV, plain_columns, read_excel, read_parquet

MOST_BYTES = 300 * 2**20
"""Size of a file at most."""

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_SAMPLE = 300  # rows that the separator and the names are found from
_LONGEST_SAMPLE = 1 << 21  # characters of them
_BLOCK = 50_000  # rows that are held as lists
_LINES_LOST = 0.01  # share of lines that may be too long; more are a mistake of the file
_LONGEST_NAME = 100
_LAST = 5  # rows at the end that may be totals or remarks
_TOTALS = ("total", "totals", "sum", "grand total", "subtotal", "all", "mean", "average")
_END = "\x1f"  # stands alone in the last line, unless a double quote is never closed
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_OTHERS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel file (.xls): in Excel, "),
    (b"\x1f\x8b", "packed with gzip: unpack it first, or "),
    (b"BZh", "packed with bzip2: unpack it first, or "),
    (b"\xfd7zXZ\x00", "packed with xz: unpack it first, or "),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first, or "),
    (b"%PDF", "a PDF document: where the table was made, "),
    (b"SQLite format 3\x00", "a database: export one table of it: "),
    (b"\x89HDF", "an HDF5 or NetCDF file: write it as a table first: "),
    (b"RDX", "an R data file: in R, use write.csv(table, row.names = FALSE): "),
)

csv.field_size_limit(1 << 20)


def read_file(source: str | Path | bytes | IO[bytes], name: str | None = None) -> RawTable:
    r"""Read a CSV, TSV, Parquet or Excel file with one row of names.

    What it is, is found from what it holds: encoding (UTF-8, UTF-16, Windows-1252), separator
    (comma, semicolon, tab, vertical bar), lines above the names, decimal commas and
    thousands of each column, forms of dates, and of a workbook the sheet with most rows.

    Parameters
    ----------
    source : path, bytes or binary file
    name : str, optional
        Its name, for messages. None: that of the path.

    Returns
    -------
    RawTable

    Raises
    ------
    ValueError
        One sentence that says what is wrong, where, and what to do.
    FileNotFoundError
        If there is no file of this path.

    Examples
    --------
    >>> raw = read_file(b"site;date;seen\na;1.5.2024;3\nb;2.5.2024;0\n", "visits.csv")
    >>> raw.frame.schema["date"], raw.notes[0]
    (Date, 'Columns are separated by semicolons.')
    """
    if isinstance(source, str | Path):
        path = Path(source)
        name = name or path.name
        if path.is_dir():
            raise ValueError(f"{name} must be a file, it is a folder")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    else:
        data = source if isinstance(source, bytes) else source.read(MOST_BYTES + 1)
    called = short(name or "the file", 80)
    if len(data) > MOST_BYTES:
        raise ValueError(
            f"{called} must have at most {MOST_BYTES / 2**20:,.0f} MB, it has more: leave out "
            "columns, sum rows, or save it as Parquet"
        )
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


def _read(data: bytes, called: str) -> RawTable:
    if data[:4] == b"PAR1":
        frame, notes = read_parquet(data, called)
        check_size(called, *frame.shape)
        return _finished(called, frame.columns, plain_columns(frame), notes, comma_separates=True)
    if data[:4] == b"PK\x03\x04":
        sheet, notes = read_excel(data, called)
        at, named = header_row([list(row) for row in sheet.head(_SAMPLE).rows()])
        header = [str(field).strip() for field in sheet.row(at)] if named else [""] * sheet.width
        body = sheet.slice(at + named)
        used = [
            k for k, field in enumerate(header) if field or (body.get_column(str(k)) != "").any()
        ]
        notes += _about_header(at, named, sheet.row(0))
        frame = body.select(str(k) for k in used)
        check_size(called, *frame.shape)
        header = [header[k] for k in used] if named else []
        return _finished(called, header, frame, notes, comma_separates=True)
    encoding = _encoding(data, called)
    read_as = {"cp1252": "Windows-1252 (Western European)"}.get(encoding, encoding.upper())
    notes = [] if encoding.startswith("utf-8") else [f"The file is read as {read_as}."]
    return _delimited(data, encoding, called, notes)


def _encoding(data: bytes, called: str) -> str:
    """The encoding of text.

    Raises
    ------
    ValueError
        If it is no text, or none whose encoding can be known; says what to do.
    """
    for start, what in _OTHERS:
        if data.startswith(start):
            raise ValueError(f"{called} is {what}{HOW_CSV}")
    head = data[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype", b"<html", b"<?xml", b"<table")):
        raise ValueError(f"{called} is a web page or XML, not a table: download the file itself")
    if head.startswith((b'{"', b"[{", b"{\n", b"{\r", b"{ ")):
        raise ValueError(f"{called} is JSON, not a table with columns: {HOW_CSV}")
    encoding = next((known for mark, known in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
        if encoding == "utf-8" and "\x00" in text[:1000]:
            encoding = _encoding_of(data, 0)  # UTF-16 without a mark
            text = data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise ValueError(f"{called} starts as {encoding} but is not: {HOW_CSV}") from error
        encoding = _encoding_of(data, error.start)
        try:
            text = data.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            encoding = ""
    except LookupError:
        encoding = ""
    if not encoding or "\x00" in text:
        raise ValueError(
            f"{called} is not a text file in UTF-8, UTF-16 or Windows-1252: {HOW_CSV}, or use "
            "Parquet or Excel (.xlsx)"
        )
    if not text.strip("\ufeff \t\r\n"):
        raise ValueError(f"{called} must not be empty: it has no line with text")
    return encoding


def _encoding_of(data: bytes, at: int) -> str:
    """The encoding of text that is not UTF-8, if it is sure; else empty."""
    found = charset_normalizer.from_bytes(data[max(at - 2000, 0) // 2 * 2 :][: 1 << 16])
    names = [each.encoding for each in found]
    if "cp1252" in names:
        return "cp1252"
    return names[0] if names and names[0] in ("utf_16_le", "utf_16_be") else ""


def _delimited(data: bytes, encoding: str, called: str, notes: list[str]) -> RawTable:
    """Split text into columns."""
    lines = io.TextIOWrapper(io.BytesIO(data), encoding=encoding, newline="")
    sample, stated, skipped = list[str](), "", 0
    first = lines.readline(_LONGEST_SAMPLE)
    if re.fullmatch(r'"?sep=[,;\t|]"?\s*', first, re.IGNORECASE):  # Excel's line
        stated, skipped = first.strip('"\r\n ')[4], 1
    else:
        lines.seek(0)
    while len(sample) < _SAMPLE and sum(map(len, sample)) < _LONGEST_SAMPLE:
        sample.append(lines.readline(_LONGEST_SAMPLE))
    lines.seek(0)
    for _ in range(skipped):
        lines.readline()
    separator = stated or _separator(sample)
    if separator != ",":
        notes.append(f"Columns are separated by {_SEPARATORS[separator]}s.")
    rows = list(csv.reader(sample, delimiter=separator))
    at, named = header_row(rows)
    header = [field.strip() for field in rows[at]]
    notes += _about_header(at, named, rows[0])
    reader: Any = csv.reader(itertools.chain(lines, [_END]), delimiter=separator)
    for _ in range(at + named):
        next(reader, None)
    below = Counter(len(row) for row in rows[at + named :] if row)
    width = below.most_common(1)[0][0] if below else len(header)
    if named and width == len(header) + 1 and any(row[-1] for row in rows[at + 1 :] if row):
        header = ["row", *header]
        notes.append("Rows have one field more than there are names: the first is called row.")
    header += [""] * (width - len(header))
    check_size(called, 1, len(header))
    frame, said = _body(reader, len(header), separator, called, skipped)
    comma = separator == ","
    return _finished(called, header if named else [], frame, notes + said, comma_separates=comma)


def _separator(sample: list[str]) -> str:
    """The separator that gives most lines the same number of fields, and the more the better."""
    best, found = -1.0, ","
    for separator in _SEPARATORS:
        rows = [r for r in csv.reader(sample, delimiter=separator) if any(map(str.strip, r))]
        widths = Counter(len(row) for row in rows if len(row) > 1)
        if not widths:
            continue
        width, n = max(widths.items(), key=lambda item: (item[1], item[0]))
        first = len(rows[header_row(rows)[0]])
        score = n / len(rows) + 0.5 * (abs(first - width) <= 1) + min(width, 20) / 200
        if score > best:
            best, found = score, separator
    return found


def header_row(rows: list[list[str]]) -> tuple[int, bool]:
    """Which row holds the names of the columns, and whether it does: it may hold values."""
    filled = [sum(bool(field.strip()) for field in row) for row in rows]
    widths = Counter(
        len(row)
        for row, n in zip(rows, filled, strict=True)
        if n >= 2 and not row[0].startswith("#")
    )
    width = max(widths.items(), key=lambda item: item[1])[0] if widths else 1
    for at, row in enumerate(rows):
        enough = len(row) >= width - 1 and filled[at] >= max(min(2, width), width / 2)
        if enough and not row[0].startswith("# "):
            return at, not _is_values(row, rows[at + 1 :])
    return 0, True


def _is_values(row: list[str], below: list[list[str]]) -> bool:
    """Whether a first row is like the rows below it: numbers wherever they have numbers."""
    numeric = []
    for k, field in enumerate(row):
        values = [each[k].strip() for each in below[:50] if k < len(each) and each[k].strip()]
        if values and all(map(_NUMBER.fullmatch, values)):
            numeric.append(field.strip())
    if not numeric or not all(map(_NUMBER.fullmatch, numeric)):
        return False
    levels = [float(field.replace(",", ".")) for field in numeric]
    rising = all(a < b for a, b in itertools.pairwise(levels))
    years = all(1500 < level < 2200 and level == int(level) for level in levels)
    return not (rising and (len(levels) >= 3 or years))  # such as the years of a wide table


def _about_header(at: int, named: bool, first: Sequence[str]) -> list[str]:
    if not named:
        return ["The first line holds values, not names: columns are called column 1, column 2, …"]
    if not at:
        return []
    return [
        f"{at} {'line' if at == 1 else 'lines'} above the names of the columns "
        f"{'is' if at == 1 else 'are'} left out, the first is {short(' '.join(first))!r}."
    ]


def _body(
    reader: Any, n: int, separator: str, called: str, skipped: int
) -> tuple[pl.DataFrame, list[str]]:
    """The rows below the names as columns of text, and notes on lines that are long or short."""
    blocks, rows = [], list[list[str]]()
    long, brief = list[tuple[int, int]](), list[tuple[int, int]]()
    total, line, start = 0, 1, reader.line_num
    for row in reader:
        line, start = start + 1 + skipped, reader.line_num
        if row == [_END]:
            break
        if not row:
            continue
        total += 1
        if len(row) > n and any(map(str.strip, row[n:])):
            long.append((line, len(row)))
            continue
        if len(row) < n:
            brief.append((line, len(row)))
        rows.append((row + [""] * (n - len(row)))[:n] if len(row) != n else row)
        if len(rows) == _BLOCK:
            blocks.append(_block(rows, n))
            rows = []
            check_size(called, total, n)
    else:
        raise ValueError(
            f"{called} has a double quote that is never closed, perhaps in line {line}: remove it, "
            "or write it twice inside a quoted text"
        )
    if len(long) > _LINES_LOST * total:
        line, width = long[0]
        raise ValueError(
            f"{called}: line {line} has {width} fields where there are {n} columns: put text that "
            f"contains the {_SEPARATORS[separator]} between double quotes, or remove what is too "
            f"much ({len(long):,} such {'line' if len(long) == 1 else 'lines'})"
        )
    check_size(called, total, n)
    notes = []
    if long:
        notes.append(
            f"{len(long):,} of {total:,} lines have more fields than the {n} columns and are left "
            f"out, the first is line {long[0][0]} with {long[0][1]}: perhaps a text holds the "
            "separator and is not between double quotes."
        )
    if brief and n > 1:
        notes.append(
            f"{len(brief):,} of {total:,} lines have fewer fields than the {n} columns, the first "
            f"is line {brief[0][0]} with {brief[0][1]}: what they lack is taken as empty."
        )
    return pl.concat([*blocks, _block(rows, n)]).rechunk(), notes


def _block(rows: list[list[str]], n: int) -> pl.DataFrame:
    columns = zip(*rows, strict=True) if rows else itertools.repeat((), n)
    return pl.DataFrame(
        [pl.Series(str(k), column, dtype=pl.String) for k, column in enumerate(columns)]
    )


def _finished(
    called: str,
    header: Sequence[str],
    frame: pl.DataFrame,
    notes: list[str],
    *,
    comma_separates: bool,
) -> RawTable:
    """Name the columns, leave out what is no row or column, and find the types."""
    names, said = distinct_names(header or [""] * frame.width, named=bool(header))
    frame.columns = names
    frame, more = _without_ends(frame)
    found, types = typed(frame, comma_separates=comma_separates)
    empty = [each.name for each in found.get_columns() if each.null_count() == len(found)]
    if len(empty) == found.width:
        raise ValueError(f"{called} must have at least one row with a value, all are empty")
    if empty:
        found = found.drop(empty)
        types.append(f"Columns without any value are left out: {listed(empty)}.")
    found, events = with_events(found)
    return RawTable(called, found, (*notes, *said, *more, *types, *events))


def distinct_names(header: Sequence[str], *, named: bool = True) -> tuple[list[str], list[str]]:
    """Names that are distinct, not empty and of bounded length, and what was changed."""
    given = [short(field, _LONGEST_NAME) for field in header]
    names = [name or f"column {k + 1}" for k, name in enumerate(given)]
    unnamed = [str(k + 1) for k, name in enumerate(given) if not name]
    notes = []
    if unnamed and named:
        one = len(unnamed) == 1
        notes.append(
            f"Column{'' if one else 's'} {listed(unnamed)} without a name "
            f"{'is' if one else 'are'} called column {unnamed[0]}{'' if one else ' and so on'}."
        )
    sizes, taken, seen = Counter(names), set(names), Counter[str]()
    for k, name in enumerate(names):
        seen[name] += 1
        if seen[name] == 1:
            continue
        number = seen[name]
        while f"{name} ({number})" in taken:
            number += 1
        names[k] = f"{name} ({number})"
        taken.add(names[k])
        if seen[name] == 2:
            notes.append(
                f"The name {name!r} occurs {sizes[name]} times: the second is called {names[k]!r}."
            )
    return names, notes


def _without_ends(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Rows without those that have no value, and without remarks and totals at the end."""
    notes = []
    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    if len(texts) < frame.width or frame.is_empty():
        return frame, []
    blank = frame.select(
        pl.all_horizontal(pl.all().is_null() | (pl.all().str.strip_chars() == ""))
    ).to_series()
    if blank.any():
        frame = frame.filter(~blank)
        notes.append(f"{int(blank.sum()):,} rows without any value are left out.")
    for _ in range(_LAST if frame.width > 1 else 0):
        if len(frame) < 3:
            break
        row = [(value or "").strip() for value in frame.row(-1)]
        filled = [value for value in row if value]
        above = sum(bool((value or "").strip()) for value in frame.row(-2))
        if len(filled) == 1 and row[0] and (frame.width > 2 or above > 1):
            what = "a remark"
        elif (
            len(filled) > 1
            and filled[0].lower().rstrip(":") in _TOTALS
            and (frame.to_series(row.index(filled[0])).str.strip_chars() == filled[0]).sum() == 1
        ):
            what = "totals"
        else:
            break
        notes.append(f"The last row is left out, it holds {what}: {short(filled[0])!r}.")
        frame = frame.head(len(frame) - 1)
    return frame, notes


def short(text: str, most: int = 40) -> str:
    """A text, or its beginning."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"

"""Read a file as a table whose columns have names and types, and say all that was done to it."""

import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import charset_normalizer
import fastexcel
import pandas as pd
import polars as pl

from uncletc.tables.columns import WORDS, numbers_last
from uncletc.tables.histories import with_histories
from uncletc.tables.shapes import reshaped
from uncletc.tables.types import (
    CHECK,
    CODES,
    MOST_ROWS,
    RawTable,
    check_size,
    listed,
    plain_columns,
    typed,
)

MOST_BYTES = 300 * 2**20
"""Size of a file at most."""

HOW_CSV = 'save the table as "CSV UTF-8" and read that'
"""What helps with every other kind of file."""

_SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_SAMPLE = 300  # rows that the separator and the names are found from
_LONGEST_SAMPLE = 1 << 21  # characters of them
_LINES_LOST = 0.01  # share of lines that may be too long; more are a mistake of the file
_LONGEST_NAME = 100
_MOST_SHEETS = 50
_MOSTLY, _FEW_ROWS = 0.8, 4  # share of numbers below a row of units, and rows of which none is
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_COUNT = re.compile(r"(?!(19|20)\d\d$)\d{3,}")  # below a name, and none itself
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")  # characters of no text, but for
_MOST_CONTROL = 1000  # one in so many, by mistake
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how they begin

csv.field_size_limit(1 << 20)


def read_file(source: str | Path | bytes | IO[bytes], name: str | None = None) -> RawTable:
    r"""Read a CSV, TSV, Parquet or Excel file with a row of names, or two.

    What it is, is found from what it holds: encoding (UTF-8, UTF-16, Windows-1252), separator
    (comma, semicolon, tab, vertical bar), lines above the names, decimal commas and
    thousands of each column, forms of dates, and of a workbook the sheet with most cells.

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
            return read_file(file, name)
    data = source if isinstance(source, bytes) else source.read(MOST_BYTES + 1)
    data = data.encode() if isinstance(data, str) else data
    called = short(name or "the file", 80)
    if len(data) > MOST_BYTES:
        most = f"{MOST_BYTES / 2**20:,.0f} MB"
        raise ValueError(f"{called} must have at most {most}: leave out columns, or sum rows")
    try:
        if data[:4] == b"PAR1":
            return _from_parquet(data, called)
        if data[:4] in _WORKBOOKS:
            return _from_workbook(data, called)
        return _from_text(data, called)
    except csv.Error as error:
        why = "has a field of more than a million characters, perhaps a quote is never closed"
        raise ValueError(f"{called} {why}: {HOW_CSV}") from error
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{called} cannot be read as a table: {HOW_CSV}") from error


def _from_parquet(data: bytes, called: str) -> RawTable:
    """The columns of a Parquet file but for those that hold no plain values."""
    try:
        frame = pl.read_parquet(io.BytesIO(data))
    except (Exception, pl.exceptions.PanicException) as error:
        why = "is a damaged Parquet file, or has a kind of column that cannot be read"
        raise ValueError(f"{called} {why}: write it once more, or {HOW_CSV}") from error
    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    notes = [f"Left out, as they hold no single values: {listed(nested)}."] if nested else []
    frame = plain_columns(frame.drop(nested))
    return _finished(called, frame.columns, frame, notes)


def _from_workbook(data: bytes, called: str) -> RawTable:
    """The sheet with most filled cells, as text; a formula is what was saved of it."""
    try:
        book = fastexcel.read_excel(data)
        sheets = {
            title: book.load_sheet(title, header_row=None, dtypes="string").to_polars()
            for title in book.sheet_names[:_MOST_SHEETS]
        }
    except BaseException as error:  # a panic of the parser is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        why = "cannot be read as a workbook, it may be damaged or protected"
        raise ValueError(f"{called} {why}: {HOW_CSV}") from error
    filled = {name: sum(each.count() for each in sheet) for name, sheet in sheets.items()}
    title = max(filled, key=filled.__getitem__, default="")
    if not filled.get(title):
        raise ValueError(f"{called} must not be empty: none of its sheets holds a table")
    others = [short(name) for name in sheets if name != title and 2 * filled[name] > filled[title]]
    note = f"The sheet {short(title)!r} is read, which has most filled cells"
    notes = [f"{CHECK}{note}, and not {listed(others)}."] if others else [f"{note}."]
    notes = notes if len(sheets) > 1 else []
    sheet = sheets[title].fill_null("")
    at, names, above = header(list(map(list, sheet.head(_SAMPLE).rows())))
    notes += above
    body = _merged_filled(sheet.slice(at + 1), names, notes)
    used = [k for k, field in enumerate(names) if field or (body.to_series(k) != "").any()]
    return _finished(called, [names[k] for k in used], body[:, used], notes)


def _encoding(data: bytes, called: str) -> str:
    """The encoding of text.

    Raises
    ------
    ValueError
        If it is no text, or none whose encoding can be known; says what to do.
    """
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        near = charset_normalizer.from_bytes(data[max(error.start - 2000, 0) :][: 1 << 16])
        known = {name for each in near for name in each.could_be_from_charset}
        encoding = "cp1252" if "cp1252" in known or "cp1250" not in known else "cp1250"
        text = data.decode(encoding, "replace") if encoding in known else "\x00"
    if "\x00" in text or _MOST_CONTROL * len(_CONTROL.findall(text)) > len(text):
        why = "is not a text file in UTF-8, UTF-16 or Windows-1252"
        raise ValueError(f"{called} {why}: {HOW_CSV}, or use Parquet or Excel (.xlsx)")
    if not text.strip("\ufeff \t\r\n"):
        raise ValueError(f"{called} must not be empty: it has no line with text")
    return encoding


def _from_text(data: bytes, called: str) -> RawTable:
    encoding, notes = _encoding(data, called), list[str]()
    if not encoding.startswith("utf-8"):
        usual = {"cp1252": "Windows-1252 (Western European)", "cp1250": "Windows-1250"}
        notes.append(f"The file is read as {usual.get(encoding, encoding.upper())}.")
    lines = io.TextIOWrapper(io.BytesIO(data), encoding=encoding, errors="replace", newline="")
    sample = list[str]()
    while len(sample) < _SAMPLE and sum(map(len, sample)) < _LONGEST_SAMPLE:
        sample.append(lines.readline(_LONGEST_SAMPLE))
    separator = _separator(sample)
    if separator != ",":
        notes.append(f"Columns are separated by {_SEPARATORS[separator]}s.")
    reader = csv.reader(sample, delimiter=separator)
    rows, ends = zip(*((row, reader.line_num) for row in reader), strict=True)
    at, names, above = header(rows)
    below = Counter(len(row) for row in rows[at + 1 :] if row)
    width = below.most_common(1)[0][0] if below else len(names)
    if width == len(names) + 1 and any(row[-1] for row in rows[at + 1 :] if row):
        names = ["row", *names]
        notes.append("Rows have one field more than there are names: the first is called row.")
    names += [""] * (width - len(names))
    if not below and called.lower().endswith((".xlsx", ".xls", ".pdf")):
        raise ValueError(f"{called} is neither a workbook nor text with columns: {HOW_CSV}")
    check_size(called, 1, len(names))
    notes += above
    frame = _body(data, encoding, ends[at], len(names), separator, called, notes)
    return _finished(called, names, _merged_filled(frame, names, notes), notes)


def _separator(sample: list[str]) -> str:
    """The separator that gives most lines the same number of fields, and the more the better."""

    def lines_alike(separator: str) -> tuple[int, int]:
        rows = csv.reader(sample, delimiter=separator)
        widths = Counter(len(row) for row in rows if len(row) > 1 and any(map(str.strip, row)))
        return max(((n, width) for width, n in widths.items()), default=(0, 0))

    return max(_SEPARATORS, key=lines_alike)


def _merged_filled(body: pl.DataFrame, names: Sequence[str], notes: list[str]) -> pl.DataFrame:
    """The first columns with the values of merged cells in all their rows."""
    before: list[pl.Series] = []
    for name, column in zip(names, body.get_columns()[:-1], strict=False):
        blank = column == ""
        some = pl.DataFrame([*before, column]).filter(~blank)  # a year of each place
        if blank[:1].any() or 2 * blank.sum() < len(body) or some.n_unique() < max(len(some), 2):
            break
        used = blank & body.select(pl.any_horizontal(pl.all() != "")).to_series()
        above = column.set(blank, None).forward_fill()
        body = body.with_columns(column.zip_with(~used, above))
        before = [above.rename("before")]
        notes.append(
            f"{CHECK}empty cells of {name or 'a column'} take the value above, as merged cells do."
        )
    return body


def header(rows: Sequence[list[str]]) -> tuple[int, list[str], list[str]]:
    """The last row of the names of columns, the names, and a note on lines above them."""
    rows = [list(map(str.strip, row)) for row in rows]
    filled = [sum(map(bool, row)) for row in rows]
    width = max(filled, key=lambda n: (n > 1) * filled.count(n), default=1)
    at = next((k for k, n in enumerate(filled) if n >= max(min(2, width), width - 1, width / 2)), 0)
    above = list(filter(None, rows[at - 1])) if at else []
    first = [cell for name, cell in zip(rows[at - 1], rows[at], strict=False) if name and at]
    at -= len(above) > 1 and all(map(_COUNT.fullmatch, first)) and len({*above}) == len(above)
    what = f"{at} lines above the names of the columns are"
    what = what if at > 1 else "A line above the names is"
    notes = [f"{what} left out, the first is {short(' '.join(rows[0]))!r}."] if at else []
    pair = rows[max(at - 2, 0) : at]
    both = [*map(len, pair)] == [len(rows[at])] * 2 and all(map(any, zip(*pair, strict=True)))
    at -= both  # two rows name the columns together
    above, names = rows[at - 1] if at else [], rows[at]
    named = list(filter(None, names))
    again = len(set(named)) < len(named) and len(set(filter(None, above))) > 1
    if len(above) != len(names) or not (both or again):
        return at, names, notes
    tops = pd.Series(above).mask(lambda top: top == "").ffill().fillna("")  # merged cells
    names = [f"{top} {name}".strip() for top, name in zip(tops, names, strict=True)]
    return at, names, [f"Two rows of names are read as one: {listed(names)}."]


def _body(
    data: bytes, encoding: str, lines: int, n: int, separator: str, called: str, notes: list[str]
) -> pl.DataFrame:
    """The rows below the first lines as n columns of text."""
    columns: Any = list(map(str, range(n)))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", pd.errors.ParserWarning)
        try:
            frame = pd.read_csv(
                io.BytesIO(data),
                sep=separator,
                encoding=encoding,
                encoding_errors="replace",
                header=None,
                names=columns,
                index_col=False,
                dtype="string[pyarrow]",
                skiprows=lines,
                nrows=MOST_ROWS + 1,
                na_filter=False,
                on_bad_lines="warn",
            )
        except pd.errors.EmptyDataError:
            frame = pd.DataFrame(columns=columns)
        except pd.errors.ParserError as error:
            why = "has a double quote that is never closed"
            what = "remove it, or write it twice inside a quoted text"
            raise ValueError(f"{called} {why}: {what}") from error
    long = re.findall(r"line (\d+): expected \d+ fields, saw (\d+)", " ".join(map(str, caught)))
    if long:
        what = f"line {long[0][0]} has {long[0][1]} fields where there are {n} columns"
        if len(long) > _LINES_LOST * len(frame):
            raise ValueError(
                f"{called}: {what}: put text that contains the {_SEPARATORS[separator]} between "
                "double quotes, or remove what is too much"
            )
        notes.append(f"{len(long):,} lines are left out: {what}.")
    return pl.from_pandas(frame)


def _finished(
    called: str, header: Sequence[str], frame: pl.DataFrame, notes: list[str]
) -> RawTable:
    """Name the columns, leave out what is empty, and find the types."""
    semicolons = any("by semicolons" in note for note in notes)
    check_size(called, *frame.shape)
    if all(map(_NUMBER.fullmatch, header)):
        first = short(", ".join(header))
        raise ValueError(f"{called} must have one row of names above its values, not {first!r}")
    if not header[0].strip() and "row" not in header:  # as R writes the names of rows
        header = ["row", *header[1:]]
    frame.columns = _distinct_names(header, notes)
    if last := numbers_last(frame.columns):
        frame = frame.rename(last)
        name, now = next(iter(last.items()))
        notes.append(f"Numbers of visits are written last: {name} is {now}, and so on.")
    frame = _with_keys_divided(frame, notes)
    if {*frame.dtypes} == {pl.String}:
        frame = _without_units(_without_footer(frame, notes), notes)
    found = typed(frame, notes, semicolons=semicolons)
    blank = found.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if blank.all():
        raise ValueError(f"{called} must have at least one row with a value, all are empty")
    found = found.filter(~blank)
    empty = [each.name for each in found.get_columns() if each.null_count() == len(found)]
    if empty:
        notes.append(f"Columns without any value are left out: {listed(empty)}.")
    found = with_histories(found.drop(empty), notes)
    if len(header) < 2 and found.width < 2:
        marks = "commas, semicolons, tabs or vertical bars"
        raise ValueError(f"{called} must have two columns or more, {marks} between: {HOW_CSV}")
    return RawTable(called, reshaped(found, notes), tuple(notes))


def _with_keys_divided(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Divide a first column of several keys with commas between them, as Eurostat's tables have."""
    first = frame.to_series(0)
    names = first.name.partition("\\")[0].split(",")
    if len(names) < 2 or first.dtype != pl.String or {*names} & {*frame.columns}:
        return frame
    keys = first.str.split(",")
    if (keys.list.len() != len(names)).any() or len({*names}) < len(names):
        return frame
    notes.append(f"The first column is divided at its commas into {listed(names)}.")
    divided = keys.list.to_struct(fields=names).struct.unnest()
    return pl.concat([divided, frame[:, 1:]], how="horizontal")


def _without_footer(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Leave out last rows with text in the first cell alone."""
    if frame.width < 2:
        return frame
    first, rest = frame.to_series(0), frame[:, 1:]
    filled = rest.select(pl.any_horizontal((pl.all() != "").fill_null(False))).to_series()
    n = len(filled) - int(filled.reverse().arg_max() or 0)
    texts = first[n:].filter(first[n:] != "")
    if texts.is_empty():
        return frame
    notes.append(f"Rows below the table are left out, such as {short(texts[0])!r}.")
    return frame[:n]


def _without_units(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Leave out a first row that alone keeps two columns or more from being nearly all numbers."""
    below = frame[1:].select(pl.all().replace("", None).str.contains(f"^({_NUMBER.pattern})$"))
    mostly = below.select(pl.all().mean() > _MOSTLY).row(0) if len(below) > _FEW_ROWS else ()
    own = [top for top, many in zip(frame.row(0), mostly, strict=False) if many and top.strip()]
    coded = {*own} & WORDS["missing"] or {*map(str.lower, own)} & CODES
    if len(own) < 2 or coded or any(map(_NUMBER.fullmatch, own)):
        return frame
    notes.append("A row of units below the names is left out.")
    return frame[1:]


def _distinct_names(header: Sequence[str], notes: list[str]) -> list[str]:
    """Names that are distinct, not empty and of bounded length."""
    names, changed = dict[str, None](), list[str]()
    for k, field in enumerate(header):
        given = new = short(field, _LONGEST_NAME) or f"column {k + 1}"
        while new in names:
            new = f"{new} ({k + 1})"
        if new != given:
            changed.append(f"The name {given!r} occurs again: column {k + 1} is called {new!r}.")
        names[new] = None
    notes += changed[:4]
    return list(names)


def short(text: str, most: int = 40) -> str:
    """A text, or its beginning."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"

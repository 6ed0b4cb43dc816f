"""Lines of text as columns: separator, preamble, names, and lines that are too long or short."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from uncletc.common.validation import IntArray
from uncletc.tables.content import HOW_CSV
from uncletc.tables.headers import joined_names
from uncletc.tables.records import (
    LINES_LOST,
    SEPARATORS,
    kept,
    parsed,
    records,
    rows_at,
    short,
    too_long,
)

_SAMPLE = 300  # lines that the separator and the names are found from
_MOST_COLUMNS = 20_000
_MOST_SPACED = 60_000_000  # bytes, split line by line


@dataclass(frozen=True, eq=False)
class Cells:
    """Columns of text as they stand in a file, before their names and types are settled.

    Attributes
    ----------
    header : list of str
        Names as they stand, one per column of `frame`.
    frame : polars.DataFrame
        Columns of text named by their number; null where empty.
    first_line : int
        The line of the file in which the first row stands, from 1.
    notes : list of str
    named : bool
        Whether the names stand in the file.
    """

    header: list[str]
    frame: pl.DataFrame
    first_line: int
    notes: list[str]
    named: bool = True


def read_delimited(text: bytes, name: str) -> Cells:
    """Split a text file into columns.

    Parameters
    ----------
    text : bytes
        UTF-8 with line feeds.
    name : str

    Raises
    ------
    ValueError
        Naming the line, its number of fields, and what to do.
    """
    notes: list[str] = []
    skipped, stated, text = _stated_separator(text)
    sample = _sample(text)
    if not stated and _by_spaces(sample):
        text = _with_tabs(text, name)
        sample = _sample(text)
        notes.append("Columns are separated by spaces.")
        stated = "\t"
    separator = stated or _separator(sample)
    if separator != "," and not notes:
        notes.append(f"Columns are separated by {SEPARATORS.get(separator, separator)}s.")
    rows = list(csv.reader(io.StringIO("\n".join(sample)), delimiter=separator))
    at, named = header_row(rows)
    if named and at:
        notes.append(
            f"{at} {'line' if at == 1 else 'lines'} above the names of the columns "
            f"{'is' if at == 1 else 'are'} left out, the first is {short(' '.join(rows[0]))!r}."
        )
    if not named:
        notes.append(NO_NAMES)
    header = [field.strip() for field in rows[at]]
    if named and at and (joined := joined_names(rows[at - 1], header)) is not None:
        header = joined
    body = text
    lines = _lines_of(rows[: at + 1] if named else rows[:at], sample, separator)
    for _ in range(lines):
        body = body.partition(b"\n")[2]
    header, frame, more = _body(body, header, separator, name, skipped + lines + 1)
    return Cells(header, frame, skipped + lines + 1, notes + more, named)


NO_NAMES = "The first line holds values, not names: columns are called column 1, column 2, …"


def _stated_separator(text: bytes) -> tuple[int, str, bytes]:
    """Excel's first line "sep=;"."""
    head = text[:20].partition(b"\n")[0].strip().strip(b'"')
    if head[:4].lower() == b"sep=" and len(head) == 5:
        return 1, head[4:].decode("ascii", "replace"), text.partition(b"\n")[2]
    return 0, "", text


def _sample(text: bytes) -> list[str]:
    return text[: 1 << 21].decode("utf-8", "ignore").split("\n")[:_SAMPLE]


def _separator(lines: list[str]) -> str:
    """The separator that gives most lines the same number of fields, and the more the better."""
    best, found = -1.0, ","
    for separator in SEPARATORS:
        if not any(separator in line for line in lines):
            continue
        rows = list(csv.reader(io.StringIO("\n".join(lines)), delimiter=separator))
        widths = Counter(len(row) for row in rows if any(field.strip() for field in row))
        shared = {width: n for width, n in widths.items() if width > 1}
        if not shared:
            continue
        width, n = max(shared.items(), key=lambda item: (item[1], item[0]))
        first = len(rows[header_row(rows)[0]])
        score = n / sum(widths.values()) + (0.5 if abs(first - width) <= 1 else 0)
        score += min(width, 20) / 200
        if score > best:
            best, found = score, separator
    return found


def _by_spaces(lines: list[str]) -> bool:
    """Whether there is no separator but spaces, which split all lines alike."""
    some = [line for line in lines[:-1] or lines if line.strip()]
    if len(some) < 3 or any(separator in line for line in some for separator in SEPARATORS):
        return False
    widths = [len(row) for row in _split_at_spaces(some)]
    return min(widths[1:]) == max(widths[1:]) >= 2 and widths[0] in (widths[1] - 1, widths[1])


def _split_at_spaces(lines: Iterable[str]) -> list[list[str]]:
    rows = csv.reader((line.strip() for line in lines), delimiter=" ", skipinitialspace=True)
    return [row for row in rows if row]


def _with_tabs(text: bytes, name: str) -> bytes:
    if len(text) > _MOST_SPACED:
        raise ValueError(f"{name} has columns separated by spaces and is too large: {HOW_CSV}")
    made = io.StringIO(newline="")
    csv.writer(made, delimiter="\t", lineterminator="\n").writerows(
        _split_at_spaces(text.decode().split("\n"))
    )
    return made.getvalue().encode()


def header_row(rows: list[list[str]]) -> tuple[int, bool]:
    """Which row holds the names of the columns, and whether it does: it may hold values."""
    filled = [sum(bool(field.strip()) for field in row) for row in rows]
    widths = Counter(
        len(row)
        for row, n in zip(rows, filled, strict=True)
        if n >= 2 and not row[0].startswith("#")
    )
    if not widths:
        return next((i for i, n in enumerate(filled) if n), 0), True
    width = max(widths.items(), key=lambda item: item[1])[0]  # of as frequent ones the first
    for at, row in enumerate(rows):
        enough = len(row) >= width - 1 and filled[at] >= max(2, width / 2)
        if enough and not row[0].startswith("# "):
            return at, not _is_values(row, rows[at + 1 :])
    return next((i for i, n in enumerate(filled) if n), 0), True


_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")


def _is_values(row: list[str], below: list[list[str]]) -> bool:
    """Whether a first row is like the rows below it: numbers wherever they have numbers."""
    numeric = []
    for k, field in enumerate(row):
        values = [each[k].strip() for each in below[:50] if k < len(each) and each[k].strip()]
        if values and all(_NUMBER.fullmatch(value) for value in values):
            numeric.append(field.strip())
    if not numeric or not all(_NUMBER.fullmatch(field) for field in numeric):
        return False
    levels = [float(field.replace(",", ".")) for field in numeric]
    rising = all(a < b for a, b in itertools.pairwise(levels))
    years = all(1500 < level < 2200 and level == int(level) for level in levels)
    return not (rising and (len(levels) >= 3 or years))  # such as the years of a wide table


def _lines_of(rows: list[list[str]], sample: list[str], separator: str) -> int:
    """How many lines of the file these first rows take; a quoted name may go over several."""
    reader = csv.reader(io.StringIO("\n".join(sample)), delimiter=separator)
    for _ in rows:
        next(reader)
    return reader.line_num


def _body(
    text: bytes, header: list[str], separator: str, name: str, line: int
) -> tuple[list[str], pl.DataFrame, list[str]]:
    ends, widths, lines = records(text, separator, name, line)
    if not len(ends):
        raise ValueError(f"{name} must have at least one row below the names of its columns")
    starts = np.concatenate([[0], ends[:-1] + 1])
    blank = ends == starts
    n = len(header)
    long, notes = widths > n, list[str]()
    if long.sum() > max(1, LINES_LOST * len(ends)) and (long | blank).mean() > 0.9:
        n, long = int(np.median(widths[long])), widths > int(np.median(widths[long]))
        header, said = _wider(header, n, text, starts, ends, separator)
        notes += said
    if n > _MOST_COLUMNS:
        raise ValueError(f"{name} must have at most {_MOST_COLUMNS:,} columns, it has {n:,}")
    dropped, said = too_long(text, starts, ends, np.flatnonzero(long), n, lines, separator, name)
    notes += said
    short_ones = (widths < n) & ~blank
    if short_ones.any() and n > 1:
        first = int(np.argmax(short_ones))
        notes.append(
            f"{int(short_ones.sum()):,} of {len(ends):,} lines have fewer fields than the {n} "
            f"columns, the first is line {lines(first)} with {widths[first]}: what they lack is "
            "taken as empty."
        )
    keep = ~blank
    keep[dropped] = False
    if not keep.all():
        text = kept(text, starts, ends, keep)
    if not text:
        raise ValueError(f"{name} must have at least one row below the names of its columns")
    return header, parsed(text, n, separator, int(keep.sum()), name), notes


def _wider(
    header: list[str], n: int, text: bytes, starts: IntArray, ends: IntArray, separator: str
) -> tuple[list[str], list[str]]:
    """Names for a body with more columns: names of rows come first, or nothing comes last."""
    sample = rows_at(text, starts, ends, np.arange(min(len(ends), 1000)), separator)
    last = [row[len(header) :] for row in sample]
    if not any(field.strip() for row in last for field in row):
        return [*header, *[""] * (n - len(header))], []
    if n == len(header) + 1:
        return ["row", *header], [
            "Rows have one field more than there are names: the first column is called row."
        ]
    extra = [f"column {k + 1}" for k in range(len(header), n)]
    return [*header, *extra], [f"Columns {len(header) + 1} to {n} have no name: {extra[0]}, …"]

"""Rows of a text file: where each ends, how many fields it has, and those that have too many."""

from __future__ import annotations

import csv
import io

import numpy as np
import polars as pl
from numpy.typing import NDArray

from uncletc.common.validation import IntArray
from uncletc.tables.content import HOW_CSV

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}

LINES_LOST = 0.01
"""Share of lines that may be too long; more are a mistake of the file, not of lines."""

_STEP = 1 << 24  # bytes looked at together
_MOST_BY_CSV = 60_000_000  # bytes that are read line by line in Python, where quotes need it

csv.field_size_limit(1 << 20)


def records(text: bytes, separator: str, name: str, line: int) -> tuple[IntArray, IntArray, Lines]:
    """Where each row ends, how many fields it has, and the line of the file in which it stands."""
    if not text.endswith(b"\n"):
        text += b"\n"
    ends, before, quoted, n_separators = [], [], 0, 0
    for at in range(0, len(text), _STEP):
        part = np.frombuffer(text, dtype=np.uint8, count=min(_STEP, len(text) - at), offset=at)
        outside = np.ones(len(part), dtype=bool)
        quotes = part == ord('"')
        if quoted or quotes.any():
            inside = (np.cumsum(quotes, dtype=np.int64) + quoted) % 2
            quoted = int(inside[-1])
            outside = inside == 0
        breaks = np.flatnonzero((part == 10) & outside)
        between = np.cumsum((part == ord(separator)) & outside, dtype=np.int64) + n_separators
        ends.append(breaks + at)
        before.append(between[breaks])
        n_separators = int(between[-1])
    if quoted:
        raise ValueError(_unclosed(text, separator, name, line))
    found = np.concatenate(ends)
    widths = np.diff(np.concatenate(before).astype(np.int64), prepend=np.int64(0)) + 1
    return found.astype(np.int64), np.asarray(widths, dtype=np.int64), Lines(text, found, line)


class Lines:
    """The line of the file in which a row stands."""

    def __init__(self, text: bytes, ends: IntArray, first: int) -> None:
        self._text, self._ends, self._first = text, ends, first

    def __call__(self, row: int) -> int:
        """The line, from 1, of a row, from 0."""
        start = 0 if row == 0 else int(self._ends[row - 1]) + 1
        return self._first + self._text.count(b"\n", 0, start)


def _unclosed(text: bytes, separator: str, name: str, line: int) -> str:
    odd = [i for i, each in enumerate(text.split(b"\n")) if each.count(b'"') % 2]
    where = f"line {line + odd[-1]}" if odd else "some line"
    return (
        f"{name} has a double quote that is never closed, perhaps in {where}: remove it, or write "
        f"it twice inside a quoted text ({SEPARATORS.get(separator, separator)}-separated)"
    )


def rows_at(
    text: bytes, starts: IntArray, ends: IntArray, rows: IntArray, separator: str
) -> list[list[str]]:
    """The fields of some rows."""
    found = []
    for row in rows:
        cells = text[starts[row] : ends[row]].decode()
        found.append(next(csv.reader(io.StringIO(cells, newline=""), delimiter=separator), []))
    return found


def too_long(
    text: bytes,
    starts: IntArray,
    ends: IntArray,
    long: IntArray,
    n: int,
    lines: Lines,
    separator: str,
    name: str,
) -> tuple[IntArray, list[str]]:
    """Rows with text beyond the last column, which have to go; an error if they are many."""
    rows = rows_at(text, starts, ends, long[:100_000], separator)
    bad = [
        int(at)
        for at, row in zip(long, rows, strict=False)
        if any(field.strip() for field in row[n:])
    ]
    if not bad:
        return np.empty(0, dtype=np.int64), []
    line = lines(bad[0])
    width = len(rows[int(np.searchsorted(long, bad[0]))])
    if len(bad) > LINES_LOST * len(ends):
        raise ValueError(
            f"{name}: line {line} has {width} fields where there are {n} columns: put text that "
            f"contains the {SEPARATORS.get(separator, separator)} between double quotes, or remove "
            f"what is too much ({len(bad):,} such {'line' if len(bad) == 1 else 'lines'})"
        )
    return np.array(bad), [
        f"{len(bad):,} of {len(ends):,} lines have more fields than the {n} columns and are left "
        f"out, the first is line {line} with {width}: perhaps a text holds the separator and "
        "is not between double quotes."
    ]


def kept(text: bytes, starts: IntArray, ends: IntArray, keep: NDArray[np.bool_]) -> bytes:
    """The text of some rows: runs of kept rows, joined."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
    return b"".join(
        text[starts[a] : ends[b - 1] + 1].removesuffix(b"\n") + b"\n"
        for a, b in zip(edges[::2], edges[1::2], strict=True)
    )


def parsed(text: bytes, n: int, separator: str, n_rows: int, name: str) -> pl.DataFrame:
    """Columns of text named by their number, from rows that have at most `n` fields that count.

    Raises
    ------
    ValueError
        If double quotes inside text make a file too large to be split line by line.
    """
    names = [str(k) for k in range(n)]
    if len(separator) == 1 and separator.isascii():
        head = separator.join(names).encode() + b"\n"
        try:
            frame = pl.read_csv(
                io.BytesIO(head + text) if n_rows < 1000 else head + text,
                separator=separator,
                infer_schema=False,
                truncate_ragged_lines=True,
            )
        except pl.exceptions.PolarsError:
            frame = pl.DataFrame()
        if frame.shape == (n_rows, n):
            return frame
    if len(text) > _MOST_BY_CSV:
        raise ValueError(f"{name} has double quotes inside unquoted text: {HOW_CSV}")
    return _by_csv(text, n, separator, names)


def _by_csv(text: bytes, n: int, separator: str, names: list[str]) -> pl.DataFrame:
    """Line by line, where double quotes stand inside text."""
    parts, rows = [], []
    schema = dict.fromkeys(names, pl.String)
    for row in csv.reader(io.StringIO(text.decode(), newline=""), delimiter=separator):
        rows.append([*(field or None for field in row[:n]), *[None] * (n - len(row))])
        if len(rows) == 50_000:
            parts.append(pl.DataFrame(rows, schema=schema, orient="row"))
            rows = []
    parts.append(pl.DataFrame(rows, schema=schema, orient="row"))
    return pl.concat(parts).rechunk()


def short(text: str, most: int = 40) -> str:
    """A text, or its beginning."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"

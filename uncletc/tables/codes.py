"""Words and marks among numbers: what stands for a count that nobody made, or that is not told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from uncletc.tables.words import (
    class_of,
    count_points,
    is_category,
    is_fips,
    is_id,
    is_note,
    word_set,
)

_KNOWN = word_set("""
    x xx xxx * ** *** n/d nd n.d. na n.a. n/a : .. ... … c z s u -- --- — k.a. s/d s.d. ns n.s. tr
    suppressed redacted masked missing unknown unk pending tba tbd present nodata withheld
    confidential #value! #div/0! #ref! #n/a #name? #num! #null!
""")
_KNOWN |= {"not recorded", "not counted", "not surveyed", "not available", "not done", "no data"}
_KNOWN |= {"no count", "keine angabe", "sin dato", "sem dados"}
_NO_CODES = word_set("""
    nil zero none nothing no keine kein aucun aucune nada ninguno inf +inf -inf infinity
""")
_SECRET = re.compile(r"(<|≤|<=) ?\d+")
_NUMBER = re.compile(r"[+-]?[\d.,'’ ]*\d([eE][+-]?\d+)?%?")
_MARKED = re.compile(r"([+-]?\d[\d.,'’]*) ?([*†‡§]+|(?<= )[A-Za-z]{1,2})")
_MOST_CODES = 8
_LONGEST = 20
_LEAST = 0.2  # share of numbers, so that a column is one of numbers
_MOSTLY, _HALF = 0.9, 0.5  # the same where a code is not known as one


@dataclass(frozen=True)
class Coded:
    """A column of numbers without its codes.

    Attributes
    ----------
    column : polars.Series
        Text; null where a code stood.
    codes : dict of str to int
        How often each code stood.
    marks : dict of str to int
        How often each mark stood after a number.
    first : int
        The data row of the first code, from 1.
    """

    column: pl.Series
    codes: dict[str, int]
    marks: dict[str, int]
    first: int


def without_codes(column: pl.Series) -> Coded | None:
    """Take codes out of a column of numbers; None where it is one of text.

    A code has no digit, unless it is a bound such as "<5", so that a slip of the pen in a number
    is none. One that is not known as a code counts as one only where nearly all rows hold numbers,
    or the name of the column is that of counts.
    """
    sizes = column.drop_nulls().value_counts(name="rows")
    if not len(sizes) or _is_of_names(column.name):
        return None
    levels, rows = sizes.to_series(0).to_list(), sizes.get_column("rows").to_list()
    total, numbers, secret = sum(rows), 0, 0
    codes, marks, plain = Counter[str](), Counter[str](), dict[str, str]()
    unknown = False
    for level, n in zip(levels, rows, strict=True):
        if _NUMBER.fullmatch(level):
            numbers += n
        elif marked := _MARKED.fullmatch(level):
            numbers += n
            marks[marked[2]] += n
            plain[level] = marked[1]
        elif _SECRET.fullmatch(level):
            codes[level] += n
            secret += n
        elif level.casefold() in _KNOWN:
            codes[level] += n
        elif re.search(r"\d", level) or len(level) > _LONGEST or level.casefold() in _NO_CODES:
            return None
        else:
            codes[level] += n
            unknown = True
        if len(codes) > _MOST_CODES or len(marks) > _MOST_CODES:
            return None
    least = _LEAST if not unknown else _HALF if count_points(column.name) >= 3 else _MOSTLY
    if numbers + secret < least * total or not numbers:
        return None
    is_code = column.is_in(list(codes)).fill_null(False)
    text = column.set(is_code, None)
    if plain:
        text = text.replace(plain)
    first = int(is_code.arg_max() or 0) + 1
    return Coded(text, dict(codes), dict(marks), first)


def said_of_codes(found: Iterable[Coded]) -> list[str]:
    """One sentence for all codes of a table, and one for all marks after numbers."""
    notes = []
    for what, of in (("codes", "codes"), ("marks", "marks")):
        some = [each for each in found if getattr(each, of)]
        if not some:
            continue
        all_of = sum((Counter(getattr(each, of)) for each in some), Counter[str]())
        names = [each.column.name for each in some]
        where = ", ".join(names[:4]) + (
            f" and {len(names) - 4} more columns" if len(names) > 4 else ""
        )
        listed = ", ".join(
            f"{code!r} ({n:,} {'time' if n == 1 else 'times'})" for code, n in all_of.most_common(6)
        )
        if what == "codes":
            notes.append(
                f"Texts among the numbers of {where} are read as missing: {listed}; the first is "
                f"in data row {some[0].first} of {names[0]}."
            )
        else:
            notes.append(f"Marks after the numbers of {where} are left out: {listed}.")
    return notes


def _is_of_names(name: str) -> bool:
    """Whether a name is of levels or remarks, in which text is no code."""
    if is_id(name) or is_note(name) or is_category(name) or is_fips(name):
        return True
    numbered = re.search(r"\D\d{1,4}$", name)
    return bool(class_of(name)) and count_points(name) <= 0 and not numbered

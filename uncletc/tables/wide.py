"""Tables with one column of counts per species, date or visit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from uncletc.tables.periods import periods
from uncletc.tables.profiles import Profile
from uncletc.tables.typed import typed
from uncletc.tables.words import (
    class_of,
    count_points,
    is_attribute,
    is_exposure,
    is_id,
    is_latitude,
    is_longitude,
    is_note,
    is_total,
    tokens,
)

_LEAST = 3  # columns alike
_FEW_KEYS = 8


@dataclass(frozen=True)
class Wide:
    """Columns that hold counts, one for each level of a mode.

    Attributes
    ----------
    columns : tuple of str
    mode : str
        A name for the mode.
    dates : bool
        Whether their names are dates.
    reason : str
    unsure : bool
        Whether nothing but their values says so.
    """

    columns: tuple[str, ...]
    mode: str
    dates: bool
    reason: str
    unsure: bool = False


def find_wide(profiles: Sequence[Profile]) -> Wide | None:
    """Find the columns of counts of a wide table; None for a table in long form."""
    numeric = [each for each in profiles if each.numeric or each.empty]
    by_date = _dated(numeric)
    if by_date is not None:
        return by_date
    places = any(each.mode_class == "place" for each in profiles if not each.numeric)
    by_number = _numbered(numeric, places)
    if by_number is not None:
        return by_number
    return _alike(profiles)


def beside(wide: Wide, names: Sequence[str]) -> list[str]:
    """Other columns that there is one of for each column of counts, by the numbers they end in."""
    ends = {re.sub(r"^.*?(\d*)$", r"\1", name) for name in wide.columns}
    if "" in ends:
        return []
    stems: dict[str, list[str]] = {}
    for name in names:
        found = re.fullmatch(r"(.*?\D)(\d{1,4})", name)
        if found and found[2] in ends:
            stems.setdefault(found[1], []).append(name)
    return [name for group in stems.values() if len(group) >= 0.8 * len(ends) for name in group]


def dates_of(names: Sequence[str]) -> pl.Series | None:
    """Names as dates, where all are; a time in a name does not matter."""
    if not names or all(re.fullmatch(r"\d{1,3}", name) for name in names):
        return None
    plain = [re.sub(r"^[xX](?=\d)", "", name) for name in names]  # R writes an X before a digit
    plain = [
        re.sub(r"^(\d{4})[._](\d\d?)[._](\d\d?)$", r"\1-\2-\3", re.sub(r" \(\d+\)$", "", name))
        for name in plain
    ]
    column = typed(pl.DataFrame({"dates": plain}), separator_is_comma=True)[0].to_series()
    if column.null_count() or not (
        column.dtype == pl.Date or isinstance(column.dtype, pl.Datetime)
    ):
        return None
    days = column.cast(pl.Date)
    return days if days.n_unique() == len(days) else None


def _dated(numeric: Sequence[Profile]) -> Wide | None:
    names = [each.name for each in numeric if dates_of([each.name]) is not None]
    if len(names) >= 3 and dates_of(names) is not None:
        return Wide(tuple(names), "date", True, "their names are dates")
    named = [each.name for each in numeric if periods([each.name]) is not None]
    found = periods(named)
    if len(named) >= 3 and found is not None:
        mode = {"W": "week", "Q": "quarter"}.get(next(iter(found.values()))[5], "month")
        return Wide(tuple(named), mode, False, f"their names are {mode}s")
    years = [e.name for e in numeric if re.fullmatch(r"[xX]?(19|20)\d\d", e.name)]
    if len(years) >= 3:
        return Wide(tuple(years), "year", False, "their names are years")
    return None


def _numbered(numeric: Sequence[Profile], places: bool) -> Wide | None:
    """Find columns that a word and a number name, such as week1, week2 or y.1, y.2."""
    stems: dict[str, list[str]] = {}
    for each in numeric:
        found = re.fullmatch(r"(.*?)[\s._-]*(\d{1,4})", each.name)
        if found:
            stems.setdefault(found[1], []).append(each.name)
    whole = {
        each.name for each in numeric if each.empty or (each.kind == "whole" and each.range[0] >= 0)
    }
    some = {stem: names for stem, names in stems.items() if len(names) >= 3}
    good = {s: n for s, n in some.items() if set(n) <= whole and not _is_other(s)}
    if not good:
        return None
    stem = max(
        good, key=lambda s: (s.lower() in ("y", "count", "n") or count_points(s) > 0, len(good[s]))
    )
    names = good[stem]
    of_counts = stem.lower() in ("y", "count", "n") or count_points(stem) > 0
    if len(names) < 0.3 * len(numeric) and not of_counts:
        return None
    if not of_counts and not class_of(stem) and stem:
        others = [each for each in numeric if each.name not in names]
        if not _in_a_row(stem, names) or any(_named_count(each) for each in others):
            return None
    mode = stem.strip(" ._-").lower()
    if of_counts or len(mode) < 2:
        mode = "visit" if of_counts or places else "series"
    return Wide(tuple(names), mode, False, f"their names are {stem!r} and a number")


def _is_other(stem: str) -> bool:
    """Whether a stem is of attributes or the like."""
    others = (is_attribute, is_exposure, is_latitude, is_longitude, is_id, is_note)
    return any(each(stem) for each in others)


def _in_a_row(stem: str, names: Sequence[str]) -> bool:
    """Whether columns are numbered 1, 2, 3, …, or from 0."""
    numbers = sorted(int(re.sub(r"\D", "", name[len(stem) :])) for name in names)
    return numbers[0] in (0, 1) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _named_count(each: Profile) -> bool:
    return count_points(each.name) >= 6 and each.count_like


def _alike(profiles: Sequence[Profile]) -> Wide | None:
    """Many columns of whole numbers of like size, beside a few that name the row."""
    block = [each for each in profiles if _may_be_level(each)]
    others = [each for each in profiles if each not in block]
    unnamed = [each for each in others if not each.mode_class]
    if len(block) < _LEAST or len(block) < len(unnamed) or len(others) > _FEW_KEYS:
        return None
    if not others or any(map(_named_count, others)):
        return None
    if sum(count_points(each.name) >= 3 for each in block) > 0.3 * len(block):
        return None
    tops = np.array([each.range[1] + 1 for each in block if not each.empty])
    low, high = np.quantile(tops, [0.1, 0.9]) if len(tops) > 9 else (tops.min(), tops.max())
    if high > 300 * low:
        return None
    places = any(each.mode_class == "place" for each in others)
    kinds = any(each.mode_class == "kind" for each in others)
    latin = np.mean([len(re.findall(r"[^\W\d_]{3,}", each.name)) == 2 for each in block]) > 0.6
    classes = np.mean([bool(re.match(r"[<>≥≤]? ?\d+ ?([-–—+]|to|m\b)", e.name)) for e in block])
    mode = "species" if latin or (places and not kinds) else "series"
    if classes > 0.6:
        mode = "class"  # of ages, or of distances
    return Wide(
        tuple(each.name for each in block),
        mode,
        False,
        f"these {len(block)} columns all hold whole numbers of like size",
        unsure=not latin and len(block) <= _FEW_KEYS,
    )


def _may_be_level(each: Profile) -> bool:
    if each.empty:
        return False
    special = (is_attribute, is_exposure, is_latitude, is_longitude, is_id, is_note)
    if not (each.kind == "whole" and each.range[0] >= 0) or any(f(each.name) for f in special):
        return False
    if (
        each.numbers_rows
        or (each.designed and each.range[0] >= 1)
        or len(tokens(each.name)) == 0
        or is_total(each.name)
    ):
        return False
    if each.name.startswith("column ") and each.n_levels == each.n:
        return False  # names of rows
    return each.mode_class == "" or count_points(each.name) >= 3 or not _plain_mode(each)


def _plain_mode(each: Profile) -> bool:
    """Whether a name is that of a mode itself, not of one of its levels, as "bee 1" is."""
    return class_of(each.name) != "" and len(tokens(each.name)) == 1

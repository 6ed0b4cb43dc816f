"""Guess what the columns of a table are, from their names and values, and say why."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from uncletc.tables.columns import (
    AttributeColumn,
    Class,
    Columns,
    ModeColumn,
    class_of,
    count_score,
    is_fips,
    speaks_of,
    tokens,
)
from uncletc.tables.dates import dates_in, period_of, periods, step_of

if TYPE_CHECKING:
    from uncletc.tables.types import RawTable

EVENTS = "events"
"""The column of ones that a list of single events gets."""

FLAGS = dict.fromkeys(("true", "yes", "present", "detected"), 1.0)
FLAGS |= dict.fromkeys(("false", "no", "absent", "not detected"), 0.0)
"""Texts that stand for 1 and 0."""

_FEW_ZEROS = 0.02  # share of counts
_UNIQUE = 0.99  # share of rows at which columns count as naming them
_REPEATED = 0.9  # share of rows below which they are single events
_MOST_MODES, _MOST_ATTRIBUTES, _MOST_CATEGORIES, _MOST_MISSING = 4, 15, 12, 0.2
_ALL_DISTINCT = 20  # rows from which numbers that never repeat are no counts, but for their name
_LEAST_ACROSS = 3  # columns of counts in a wide table
_TOTALS = ("total", "sum", "all")
_NO_COUNT = (
    "Which column holds the counts? None has whole numbers of 0 or more and a name like count, n "
    "or cases. A table with one row per count, with one column of counts per species, date or "
    "visit, or with one row per event, is understood."
)
_HISTORIES = (
    "Columns such as {} hold numbers of animals by when each was caught. These are no counts of "
    "visits: give one column per visit, with how many were caught at it."
)
_SPECIAL = {  # role: joined words of a name, lowest and highest value
    "latitude": ("lat latitude decimallatitude", -90, 90),
    "longitude": ("lon long lng longitude decimallongitude", -180, 360),
}
_OF_MODES = {"kind": 3.0, "time": 2.5, "place": 2.0, "": 0.0}  # points


@dataclass(frozen=True)
class Guess:
    """What the columns of a table seem to be.

    Attributes
    ----------
    columns : Columns
        `count` is empty where no column may hold counts.
    reasons : dict of str to str
        For each column of the table, and for the mode that a wide table's columns are levels of,
        its role and why, or why it is left out; one sentence.
    questions : tuple of str
        What only the table's owner knows, as questions with what is taken meanwhile.
    """

    columns: Columns
    reasons: dict[str, str] = field(default_factory=dict)
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Column:
    """A column: what rules ask of its name and values."""

    values: pl.Series

    @cached_property
    def name(self) -> str:
        return self.values.name

    @cached_property
    def kind(self) -> Literal["whole", "number", "date", "text"]:
        dtype = self.values.dtype
        if dtype.is_numeric():
            whole = dtype.is_integer() or bool((self.values == self.values.floor()).all())
            return "whole" if whole else "number"
        return "date" if dtype.is_temporal() else "text"

    @property
    def numeric(self) -> bool:
        return self.kind in ("whole", "number")

    @cached_property
    def missing(self) -> float:
        return self.values.null_count() / len(self.values)

    @cached_property
    def levels(self) -> pl.Series:
        return self.values.drop_nulls().unique()

    @property
    def n_levels(self) -> int:
        return len(self.levels)

    @cached_property
    def range(self) -> tuple[float, float]:
        some = self.values.drop_nulls().cast(pl.Float64).to_numpy()
        return float(some.min(initial=math.inf)), float(some.max(initial=-math.inf))

    @cached_property
    def is_flag(self) -> bool:
        """Whether it holds yes and no."""
        return (
            self.kind == "text"
            and self.n_levels == 2
            and {str(each).lower() for each in self.levels} <= set(FLAGS)
        )

    @cached_property
    def named(self) -> float:
        """How much its name speaks for counts."""
        return count_score(self.name)

    @cached_property
    def count_like(self) -> bool:
        """Whether it holds whole numbers ≥ 0, but for a few corrections below 0."""
        return self.kind == "whole" and _share(self.values.drop_nulls() >= 0) > 0.95

    @cached_property
    def numbers_rows(self) -> bool:
        """Whether it is 1, 2, 3, … down the table."""
        if self.kind != "whole" or self.values.null_count() or len(self.values) < 4:
            return False
        return bool((self.values.diff().drop_nulls() == 1).all())

    @cached_property
    def designed(self) -> bool:
        """Whether it has few whole levels in a row with about as many rows each, like visits."""
        n = self.n_levels
        if self.kind != "whole" or not 2 <= n <= 100 or len(self.values) < 2 * n:
            return False
        rows = self.values.drop_nulls().value_counts(name="rows").get_column("rows").to_numpy()
        return self.range[1] - self.range[0] == n - 1 and bool(rows.max() <= 1.3 * rows.min())

    @cached_property
    def mode_class(self) -> Class:
        """Of what its levels are, as its name or type says."""
        if self.kind == "date":
            return "time"
        return "place" if is_fips(self.name) else class_of(self.name)

    @cached_property
    def is_visit(self) -> bool:
        """Whether it numbers repeated visits."""
        return self.says("visit") and self.mode_class == "time" and self.n_levels <= 100

    @cached_property
    def count_points(self) -> float:
        """How much speaks for it as the column of counts."""
        y = self.values.drop_nulls().cast(pl.Float64).to_numpy() if self.numeric else np.zeros(1)
        points = self.named + float(y.var() > y.mean())  # as counts of a varying rate
        points -= 5 * (bool(self.mode_class) and self.named <= 0)
        points -= _share(self.values == 0) > 0.5
        points -= self.designed * (3 if self.named < 6 else 1)
        points -= 8 * (self.named <= 0 and self.n_levels == len(self.values) >= _ALL_DISTINCT)
        return points - 4 * self.missing - 8 * self.numbers_rows

    @cached_property
    def mode_points(self) -> float:
        """How much speaks for it as a column that names entries."""
        whole, n = self.kind == "whole", self.n_levels
        points = _OF_MODES[self.mode_class] + (self.kind == "date") + 1.5 * is_fips(self.name)
        points += 0.3 * ("name" in tokens(self.name)) - 0.5 * self.says("id") + 0.5 * self.designed
        return (
            points - 0.2 * whole - (whole and n > 30) - 2 * self.repeats_little - 3 * self.missing
        )

    @property
    def repeats_little(self) -> bool:
        return self.n_levels > 0.5 * len(self.values)

    def says(self, *meanings: str) -> bool:
        """Whether its name speaks of one of these."""
        return speaks_of(self.name, *meanings)


def _share(flags: pl.Series) -> float:
    return float(flags.fill_null(False).mean() or 0.0) if len(flags) else 0.0  # type: ignore[arg-type]


def guess(raw: RawTable) -> Guess:
    r"""Guess the role of each column from its name, its values, and how they repeat.

    Parameters
    ----------
    raw : RawTable

    Returns
    -------
    Guess

    Examples
    --------
    >>> from uncletc.tables import read_file
    >>> text = b"site,visit,n_bees,wind\na,1,4,2.5\na,2,0,1\nb,1,2,3\nb,2,7,0.5\n"
    >>> found = guess(read_file(text, "bees.csv"))
    >>> [each.column for each in found.columns.modes], found.columns.count
    (['site', 'visit'], 'n_bees')
    """
    frame = raw.frame
    rest = [_Column(column) for column in frame.get_columns()]
    reasons: dict[str, str] = {}
    wide = _find_wide(rest)
    count, questions = "count", list[str]()
    if wide is not None:
        numbers = {_number_at_end(name) for name in wide.columns} - {""}
        beside = [each.name for each in rest if _number_at_end(each.name) in numbers]
        why = f"Left out: one column for each {wide.mode}, which only counts can have."
        reasons |= dict.fromkeys(beside, why)
        reasons |= dict.fromkeys(wide.columns, f"Counts of one level of {wide.mode}: {wide.why}.")
    special = _special(rest, reasons)
    events = wide is None and _is_list(frame)
    if wide is None:
        count, questions = _choose_count(rest, reasons)
        histories = [each.name for each in rest if is_history(each.name)]
        if not count and histories:
            questions = [_HISTORIES.format(histories[-1])]
    rest = [each for each in rest if each.name not in reasons]
    modes = _modes_of_events(rest) if events else _choose_modes(frame, rest, 1 if wide else 2)
    columns = Columns(
        modes=tuple(_mode(each, reasons) for each in modes),
        count=count,
        **special,  # type: ignore[arg-type]
    )
    if wide is not None:
        columns = _with_wide(columns, wide, reasons, len(frame))
        if wide.unsure:
            questions.append(
                f"Do the {len(wide.columns)} columns {wide.columns[0]} to {wide.columns[-1]} each "
                f"hold counts of one level of {wide.mode}? If not, say which one is the count."
            )
    attributes = _attributes(frame, rest, modes, reasons, of_events=events)
    columns, asked = _asked(replace(columns, attributes=attributes), frame)
    ordered = {name: reasons[name] for name in [*frame.columns, *reasons]}
    return Guess(columns, ordered, tuple(questions + asked))


# Lists of single events


def with_events(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Add a count of 1 to each row of a list of single events, such as animals with an id each.

    It is one where no column is named as a count, and rows with the same place, kind and time
    repeat; whole numbers beside an id of each row are measures of an animal then.
    """
    columns = [_Column(column) for column in frame.get_columns()]
    counted = any(it.numeric and (it.named > 0 or it.says("no count")) for it in columns)
    if counted or EVENTS in frame.columns or len(frame) < 2 or _find_wide(columns) is not None:
        return frame, []
    modes = [it for it in columns if it.mode_class and it.n_levels < _REPEATED * len(frame)]
    ids = any(it.says("id") and it.n_levels == len(frame) for it in columns)
    repeated = _unique_share(frame, modes) <= _REPEATED
    maybe_counts = bool(_choose_count(columns, {})[0])
    if len(modes) < 2 or not (ids and repeated if maybe_counts else ids or repeated):
        return frame, []
    ones = pl.Series(EVENTS, [1] * len(frame), dtype=pl.Int32)
    note = f"Each row is one event, counted in the added column {EVENTS}: no column holds counts."
    return frame.with_columns(ones), [note]


def _is_list(frame: pl.DataFrame) -> bool:
    return EVENTS in frame.columns and bool((frame.get_column(EVENTS) == 1).all())


def _modes_of_events(columns: Sequence[_Column]) -> list[_Column]:
    """The kind, the place and the time of events: of each class the column with most levels."""
    chosen = []
    for mode_class in ("kind", "place", "time"):
        some = [
            it for it in columns if it.mode_class == mode_class and _may_be_mode(it, wide=False)
        ]
        some = [it for it in some if not it.repeats_little]
        chosen += sorted(some, key=lambda it: it.n_levels)[-1:]
    return chosen


# Wide tables


@dataclass(frozen=True)
class _Wide:
    """Columns that hold counts, one for each level of a mode."""

    columns: tuple[str, ...]
    mode: str
    why: str
    unsure: bool = False  # whether nothing but their values says so


def _find_wide(columns: Sequence[_Column]) -> _Wide | None:
    """The columns of counts of a wide table; None for a table in long form."""
    numeric = [each.name for each in columns if each.numeric or not each.n_levels]
    days = dates_in(numeric)
    named = periods(each for each in numeric if period_of(each)) or {}
    month = "week" if "W" in next(iter(named.values()), "") else "month"
    by_name = (
        ("date", list(days) if len(set(days.values())) == len(days) else [], "dates"),
        (month, list(named), f"{month}s"),
        ("year", [each for each in numeric if re.fullmatch(r"[xX]?(19|20)\d\d", each)], "years"),
    )
    for mode, names, what in by_name:
        if len(names) >= _LEAST_ACROSS:
            return _Wide(tuple(names), mode, f"their names are {what}")
    return _numbered(columns) or _alike(columns)


def _number_at_end(name: str) -> str:
    """The number that a name ends in; empty where it ends in none, or is one."""
    found = re.fullmatch(r".*?\D(\d{1,4})", name)
    return found[1] if found else ""


def is_history(name: str) -> bool:
    """Whether a name is, or ends in, a history of captures such as 101."""
    return re.fullmatch(r"(.*[\W_])?[01]{2,}", name) is not None


def _numbered(columns: Sequence[_Column]) -> _Wide | None:
    """Columns that a word and a number name, such as week1, week2 or y.1, y.2."""
    stems: dict[str, dict[int, str]] = {}
    for each in columns:
        match = re.fullmatch(r"(.*?)[\s._-]*(\d{1,4})", each.name)
        if match and each.count_like and each.range[0] >= 0 and _may_be_level(match[1]):
            stems.setdefault(match[1], {})[int(match[2])] = each.name
    found = []
    for stem, names in stems.items():
        counts = stem.lower() in ("y", "n", "count") or count_score(stem) > 0
        in_a_row = max(names) - min(names) == len(names) - 1 and min(names) <= 1
        histories = all(map(is_history, names.values()))
        if histories or len(names) < _LEAST_ACROSS:
            continue
        if counts or class_of(stem) or in_a_row:
            found.append((counts, len(names), stem))
    if not found:
        return None
    counts, _, stem = max(found)
    block, mode = tuple(stems[stem].values()), stem.strip(" ._-").lower()
    others = [each for each in columns if each.name not in block]
    if not counts and any(each.count_like and each.named >= 6 for each in others):
        return None
    mode = "visit" if counts or len(mode) < 2 else mode
    return _Wide(block, mode, f"their names are {stem!r} and a number")


def _alike(columns: Sequence[_Column]) -> _Wide | None:
    """Many columns of whole numbers of like size, beside a few that name the row."""
    block = {
        each.name: each
        for each in columns
        if each.kind == "whole"
        and each.n_levels
        and each.range[0] >= 0
        and not (each.numbers_rows or (each.designed and each.range[0] >= 1))
        and _may_be_level(each.name)
        and not (class_of(each.name) and len(tokens(each.name)) == 1)
        and not is_history(each.name)
    }
    others = [each for each in columns if each.name not in block]
    unnamed = sum(not each.mode_class for each in others)
    if len(block) < max(_LEAST_ACROSS, unnamed) or not 1 <= len(others) <= 8:
        return None
    counts = sum(each.named >= 3 for each in block.values()) > 0.3 * len(block)
    if counts or any(each.named >= 6 and each.count_like for each in others):
        return None
    low, high = np.quantile([each.range[1] + 1 for each in block.values()], [0.1, 0.9])
    if high > 300 * low:
        return None
    latin = np.mean([len(re.findall(r"[^\W\d_]{3,}", name)) == 2 for name in block]) > 0.6
    classes = {each.mode_class for each in others}
    mode = "species" if latin or ("place" in classes and "kind" not in classes) else "series"
    why = f"these {len(block)} columns all hold whole numbers of like size"
    return _Wide(tuple(block), mode, why, unsure=not latin and len(block) <= 8)


def _may_be_level(name: str) -> bool:
    """Whether a name may be one of a level whose counts a column holds."""
    joined = "".join(tokens(name))
    degrees = [*_SPECIAL["latitude"][0].split(), *_SPECIAL["longitude"][0].split()]
    other = speaks_of(name, "attribute", "exposure", "id", "note", "no count")
    other = other or tokens(name)[:1] in (("date",), ("time",))  # of each visit
    return not (other or joined in (*_TOTALS, *degrees) or name.startswith("column "))


def _with_wide(columns: Columns, wide: _Wide, reasons: dict[str, str], rows: int) -> Columns:
    taken = {each.column for each in columns.modes}
    mode = wide.mode if wide.mode not in taken else f"{wide.mode} (column)"
    n = len(wide.columns)
    days = pl.Series(list(dates_in(wide.columns).values())) if wide.mode == "date" else None
    step = None if days is None else step_of(days, rows * n)
    by = f", taken by {step}" if step else ""
    reasons[mode] = f"Mode: one level for each of {n} columns, since {wide.why}{by}."
    return replace(columns, across=wide.columns, across_mode=ModeColumn(column=mode, step=step))


# The role of each column


def _special(columns: Sequence[_Column], reasons: dict[str, str]) -> dict[str, str]:
    """Columns known by their name alone: exposure and degrees."""
    found: dict[str, str] = {}
    for each in (it for it in columns if it.numeric and it.n_levels and it.name not in reasons):
        joined, (least, most) = "".join(tokens(each.name)), each.range
        for role, (names, low, high) in _SPECIAL.items():
            if joined in names.split() and low <= least and most <= high:
                found.setdefault(role, each.name)
        if each.says("exposure") and not each.says("no count") and least > 0 and not each.missing:
            found.setdefault("exposure", each.name)
    if len(found.keys() & _SPECIAL) == 1:
        found = {role: name for role, name in found.items() if role not in _SPECIAL}
    for role, name in found.items():
        reasons[name] = f"{role.capitalize()}, by its name."
    return found


def _choose_count(columns: Sequence[_Column], reasons: dict[str, str]) -> tuple[str, list[str]]:
    """The column with the counts, and questions; "" and a question where none may be."""
    good: dict[str, float] = {}
    for each in (it for it in columns if it.n_levels and it.name not in reasons):
        sure = each.named >= 6
        whole = each.count_like and (each.n_levels > 1 or sure) and not is_history(each.name)
        if each.kind == "number" and sure:
            reasons[each.name] = (
                "Left out: by its name a count, but it holds numbers that are not whole; round "
                "them in the file, or take the column as the exposure."
            )
        if (whole or (sure and each.is_flag)) and each.count_points > 0:
            good[each.name] = each.count_points
    if not good:
        return "", [_NO_COUNT]
    count = EVENTS if EVENTS in good else max(good, key=lambda name: round(good[name], 1))
    if count == EVENTS:
        reasons[count] = "Count: each row is one event."
        return count, []
    named = count_score(count) > 0
    others = [n for n in good if n != count and (good[n] >= good[count] - 2.5 or not named)]
    doubt = f" Could be the count as well: {', '.join(others[:6])}." if others else ""
    why = "by its name" if named else "it is the column most like counts"
    reasons[count] = f"Count: {why}.{doubt}"
    return count, [f"Is {count} the count?{doubt}"] if doubt or not named else []


def _unique_share(frame: pl.DataFrame, columns: Sequence[_Column]) -> float:
    """Share of rows that would stay if rows with the same values in these columns were one."""
    return frame.select(each.name for each in columns).n_unique() / len(frame) if columns else 0.0


def _determines(frame: pl.DataFrame, fine: Sequence[_Column], coarse: _Column) -> bool:
    """Whether the levels of some columns always say that of another."""
    names = [each.name for each in fine]
    both = frame.select(*names, coarse.name)
    return bool(names) and both.n_unique() <= frame.select(names).n_unique()


def _choose_modes(frame: pl.DataFrame, columns: Sequence[_Column], least: int) -> list[_Column]:
    """The columns that name an entry, one to four: those under which rows are unique, or nearly so.

    The best by their points first, then each that still distinguishes rows: another name of a
    level, and what a finer level implies, does not; nor does the day of a numbered visit. Kinds
    and places come first, times last.
    """
    some = [each for each in columns if _may_be_mode(each, wide=least == 1)]
    if len(some) < least:  # such as objects and observers
        some += [it for it in columns if it not in some and it.kind == "whole" and it.n_levels > 1]
    fewest = min((each.n_levels for each in some if each.is_visit), default=math.inf)

    def points(each: _Column) -> float:
        days = each.kind == "date" or bool({"date", "day"} & set(tokens(each.name)))
        return each.mode_points - 5.0 * (days and each.n_levels > fewest)

    some.sort(key=points, reverse=True)
    chosen: list[_Column] = []
    share = 0.0
    for each in some:
        if len(chosen) == _MOST_MODES or (share >= _UNIQUE and len(chosen) >= least):
            break
        own = [it for it in some if it.mode_class == each.mode_class != ""]
        finer = [it for it in own if it.n_levels > each.n_levels]
        if not each.is_visit and any(_determines(frame, [it], each) for it in finer):
            continue
        with_it = _unique_share(frame, [*chosen, each])
        gain = with_it - share
        needed = len(chosen) < least and (gain > 0 or bool(each.mode_class))
        named = each.mode_class or each.says("id")
        useful = gain > 0.005 if named else gain > 0.05 and with_it > 0.9
        if len(chosen) == _MOST_MODES - 1:
            useful = useful and with_it >= 0.8
        if needed or useful:
            chosen, share = [*chosen, each], with_it
    for each in sorted(chosen, key=points):
        others = [other for other in chosen if other is not each]
        if len(others) >= least and _unique_share(frame, others) >= share - 0.005:
            chosen = others  # a later column says what this one does
    order = {each.name: k for k, each in enumerate(columns)}
    return sorted(chosen, key=lambda each: (each.mode_class == "time", order[each.name]))


def _may_be_mode(each: _Column, *, wide: bool) -> bool:
    n = len(each.values)
    if each.n_levels < 2 or each.missing > 0.5 or each.says("note") or is_history(each.name):
        return False
    if each.kind == "number" or (each.says("attribute") and not each.mode_class):
        return False
    named = each.mode_class or each.says("id") or each.designed
    if each.kind == "whole" and not (named or (wide and each.n_levels == n)):
        return each.name.lower() in ("x", "y")
    return wide or not (each.numbers_rows or each.n_levels > 0.9 * n > 9)


def _mode(each: _Column, reasons: dict[str, str]) -> ModeColumn:
    """A column as a mode, made coarser where it has too many levels."""
    levels = each.n_levels
    what = {"time": "times", "place": "places", "kind": "kinds", "": "levels"}[each.mode_class]
    reason, mode = f"Mode: {levels:,} {what}", ModeColumn(column=each.name)
    step = step_of(each.levels, len(each.values)) if each.kind == "date" else None
    if step is not None:
        mode = replace(mode, step=step)
        reason += f", taken by {step}"
    if each.missing:
        reason += f"; rows without it ({each.values.null_count():,}) are left out"
    reasons[each.name] = f"{reason}."
    return mode


def _why_out(it: _Column) -> str:
    """Why a column is no attribute; empty where it may be one."""
    attribute, few = it.says("attribute"), it.n_levels <= _MOST_CATEGORIES
    of_counts = it.says("made of counts") or (it.says("no count") and it.says("count"))
    of_counts = of_counts or "".join(tokens(it.name)) in _TOTALS or it.named >= 3
    codes = it.says("id") and not attribute and not it.mode_class
    names = bool(it.mode_class) and not attribute
    names = names and (it.kind == "text" or (it.kind != "date" and it.n_levels <= 10))
    text = it.kind == "text" and not it.is_flag and not (attribute and few)
    reasons = (  # the first that holds
        (it.n_levels <= 1, "every row has the same value, or none"),
        (it.says("note"), "by its name it holds remarks"),
        (is_history(it.name), "by its name it holds animals of one history of captures"),
        (it.numeric and of_counts, "by its name it is made of counts, and determines the count"),
        (it.numbers_rows or codes, "it only numbers or codes rows"),
        (names, "other columns name the entries already"),
        (it.missing > _MOST_MISSING, "it is empty in many rows"),
        (text, "it is text; take it as a category if p may depend on it"),
    )
    return next((why for holds, why in reasons if holds), "")


def _attributes(
    frame: pl.DataFrame,
    columns: Sequence[_Column],
    modes: Sequence[_Column],
    reasons: dict[str, str],
    *,
    of_events: bool,
) -> tuple[AttributeColumn, ...]:
    """Attributes among columns without another role, with a reason for each column.

    One that is the same at all rows of a place says nothing of how a single count was made: it
    acts on the true rate. One that differs among the events of an entry is of those that were
    counted alone.
    """
    found: list[AttributeColumn] = []
    places = [each for each in modes if each.mode_class == "place"]
    places = places or [each for each in modes if each.mode_class == ""][:1]
    for each in columns:
        if each.name in reasons:
            continue
        why_not = _why_out(each)
        if each.kind == "date" and not any(mode.is_visit for mode in modes):
            why_not = "it is a date, and other columns name the rows"
        elif not why_not and of_events and not _determines(frame, modes, each):
            why_not = "it differs among the events of an entry"
        elif not why_not and len(found) == _MOST_ATTRIBUTES:
            why_not = f"{_MOST_ATTRIBUTES} attributes are taken already"
        if why_not:
            reasons[each.name] = f"Left out: {why_not}."
            continue
        place = next((place for place in places if _determines(frame, [place], each)), None)
        found.append(
            AttributeColumn(
                column=each.name,
                acts_on="detection" if place is None else "rate",
                category=each.kind == "text",
            )
        )
        reason = "Attribute that detection may depend on."
        if place is not None:
            reason = f"Attribute of true counts: the same at all rows of one {place.name}."
        reasons[each.name] = reason
    return tuple(found)


def _asked(columns: Columns, frame: pl.DataFrame) -> tuple[Columns, list[str]]:
    """What rows mean that repeat or are absent, as far as values say, and questions about it."""
    if len(columns.all_modes) < 2:
        return columns, [
            "Which columns name an entry? Two or more are needed, such as place, species and week."
        ]
    if columns.count == EVENTS and _is_list(frame):
        return replace(columns, duplicates="sum", absent="zero"), [
            "Each row is one event, so that a combination without a row is taken as 0. Or did "
            "nobody look at some of them (missing)?"
        ]
    questions = []
    unique = frame.select(each.column for each in columns.modes).n_unique() / len(frame)
    if unique < 1:
        questions.append(
            f"{1 - unique:.1%} of rows name an entry that another row names too. Are they parts of "
            "one count (summed, as now), several observations of it, or a mistake?"
        )
    if unique < 1 or any(each.step for each in columns.all_modes):
        columns = replace(columns, duplicates="sum")
    counts = frame.get_column(columns.count) if columns.count in frame.columns else pl.Series([0])
    if counts.dtype.is_numeric() and _share(counts == 0) < _FEW_ZEROS:
        questions.append(
            "Hardly any row has a count of 0. Does a combination without a row mean that nobody "
            "looked (missing, as now), or that nothing was seen (0)?"
        )
    return columns, questions

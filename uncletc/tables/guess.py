"""Guess what the columns of a table are, from their names and values, and say why."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl

from uncletc.data.protocols import band_edges, stem_of_band
from uncletc.tables.columns import (
    LEVELS,
    AttributeColumn,
    Columns,
    Meaning,
    ModeColumn,
    meaning_of,
    speaks_of,
    tokens,
    word_set,
)
from uncletc.tables.histories import CAPTURES, stems
from uncletc.tables.types import RawTable, dates_in, listed, period_of, periods, step_of

EVENTS = "events"
"""The column of ones that a list of single events gets."""

_UNIQUE = 0.99  # share of rows at which columns count as naming them
_REPEATED = 0.9  # share of rows below which they are single events
_MOST_MODES, _MOST_ATTRIBUTES, _MOST_CATEGORIES, _MOST_MISSING = 4, 15, 12, 0.2
_ALL_DISTINCT = 20  # rows from which numbers that never repeat are no counts, but for their name
_LEAST_ACROSS = 3  # columns of counts in a wide table
_NO_COUNT = (
    "Which column holds the counts? None has whole numbers of 0 or more and a name like count, n "
    "or cases. A table with one row per count, with one column of counts per species, date or "
    "visit, or with one row per event, is understood."
)
_HISTORIES = (
    "Columns such as {} hold numbers of animals by when each was caught. These are no counts of "
    "visits: give one column per visit, with how many were caught at it."
)
_MOST_BANDS = 40
_ORDINALS = word_set("first second third fourth fifth sixth 1st 2nd 3rd 4th 5th 6th")
_PASSES = {"pass", "removal", "sweep", "depletion"}
_REMOVED = "Is what one {} counts removed before the next? Then choose that as sampling protocol."
_SAME = (
    "Does each {0} count the same animals? Then choose “the same at each {0}” under "
    "Closed-population repeat visits, beside the results, to estimate how many there are."
)
_BANDS = (
    "Is {} measured from a line or from a point? Choose it as sampling protocol; p then follows "
    "from how counts fall with it."
)
_NO_MODES = "Which columns name an entry? Two or more are needed, such as place, species and week."
_WITHIN = {"latitude": (-90, 90), "longitude": (-180, 360), "exposure": (1e-300, math.inf)}
# How much a name speaks for counts, and for a mode.
_FOR_COUNT: dict[Meaning, float] = {"count": 6, "maybe count": 3.5, "exposure": -1, "": 0}
_FOR_MODE: dict[Meaning, float] = {"kind": 3, "time": 2.5, "place": 2}


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

    Examples
    --------
    >>> from uncletc.tables import RawTable
    >>> raw = RawTable.of({"site": list("aab"), "week": [1, 2, 1], "seen": [4, 0, 2]}, "visits")
    >>> found = guess(raw)
    >>> found.columns.count, found.reasons["site"]
    ('seen', 'Mode: 2 places.')
    """

    columns: Columns
    reasons: dict[str, str] = field(default_factory=dict)
    questions: tuple[str, ...] = ()


class _Column:
    """A column: what rules ask of its name and values."""

    def __init__(self, values: pl.Series) -> None:
        some, dtype, n = values.drop_nulls(), values.dtype, len(values)
        self.values, self.name, self.numeric = values, values.name, dtype.is_numeric()
        self.kind: Literal["whole", "number", "date", "text"] = "text"
        self.low, self.high = math.inf, -math.inf
        if self.numeric:
            self.kind = "whole" if bool((some == some.floor()).all()) else "number"
            y = some.cast(pl.Float64).to_numpy()
            self.low, self.high = y.min(initial=math.inf), y.max(initial=-math.inf)
        elif dtype.is_temporal():
            self.kind = "date"
        self.meaning: Meaning = (
            "time" if self.kind == "date" else meaning_of(self.name, number=self.numeric)
        )
        self.levels = some.unique()
        few = self.kind == "text" and len(self.levels) <= _MOST_BANDS
        self.bands = few and band_edges(self.levels) is not None
        if self.bands:
            self.meaning = "kind"
        self.of_levels = self.meaning in LEVELS
        self.n_levels, self.missing = len(self.levels), values.null_count() / n
        self.repeats_little = self.n_levels > 0.5 * n
        # Whole numbers of 0 or more, but for corrections below 0 or a code such as -9999.
        least = 0.5 if self.meaning == "count" else 0.95
        self.count_like = self.kind == "whole" and _share(some >= 0) > least
        # 1, 2, 3, … down the table.
        self.numbers_rows = self.kind == "whole" and n > 3 and bool((values.diff()[1:] == 1).all())
        self.is_day = self.kind == "date" or bool({"date", "day"} & set(tokens(self.name)))
        numbered = speaks_of(self.name, "visit") and not self.is_day
        self.is_visit = numbered and self.meaning == "time" and self.n_levels <= 100

    @cached_property
    def count_points(self) -> float:
        """How much speaks for it as the column of counts."""
        y = self.values.drop_nulls().cast(pl.Float64).to_numpy() if self.numeric else np.zeros(1)
        points = _FOR_COUNT.get(self.meaning, -5.0) + float(y.var() > y.mean())
        if self.meaning in ("count", "maybe count"):
            points += 2 * speaks_of(self.name, "new")
        elif self.n_levels == len(self.values) >= _ALL_DISTINCT:
            points -= 8
        points -= _share(self.values == 0) > 0.5
        return points - 4 * self.missing - 8 * self.numbers_rows

    @cached_property
    def mode_points(self) -> float:
        """How much speaks for it as a column that names entries."""
        points = _FOR_MODE.get(self.meaning, 0.0) + (self.kind == "date")
        points += 0.3 * ("name" in tokens(self.name)) - 0.5 * speaks_of(self.name, "id")
        points -= 0.2 * (self.kind == "whole") + 2 * self.repeats_little
        return points - 3 * self.missing


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
    names = [each.name for each in rest]
    banded = _banded(rest)
    histories = [
        name for name in names if _is_history(name) and name not in banded and not dates_in([name])
    ]
    if len(histories) == 1:  # such as "tests per 1000"
        histories = []
    why = "Left out: by its name it holds animals of one history of captures."
    reasons = dict.fromkeys(histories, why)
    rest = [each for each in rest if each.name not in reasons]
    wide = _find_wide(rest)
    if wide is not None:
        numbers = {_number_at_end(name) for name in wide.columns} - {""}
        beside = [each.name for each in rest if _number_at_end(each.name) in numbers]
        why = f"Left out: one column for each {wide.mode}, which only counts can have."
        reasons |= dict.fromkeys(beside, why)
        reasons |= dict.fromkeys(wide.columns, f"Counts of one level of {wide.mode}: {wide.why}.")
    if CAPTURES in frame.columns:
        reasons[CAPTURES] = "Left out: how often marked animals were caught, for closed visits."
    special = _special(rest, reasons)
    count, questions = "count", list[str]()
    if wide is None:
        count, questions = _choose_count(rest, reasons)
        if not count and histories:
            questions = [_HISTORIES.format(histories[-1])]
    rest = [each for each in rest if each.name not in reasons]
    events = wide is None and _is_list(frame)
    modes = _modes_of_events(rest) if events else _choose_modes(frame, rest, 1 if wide else 2)
    if CAPTURES in frame.columns:  # of one site, too
        modes = [each for each in rest if each.name in frame.columns[:2]]
    columns = Columns(
        modes=tuple(_mode(each, reasons) for each in modes),
        count=count,
        **special,  # type: ignore[arg-type]
    )
    if wide is not None:
        columns = _with_wide(columns, wide, reasons, len(frame))
    groups = _groups(frame, rest, modes, reasons)
    attributes = _attributes(frame, rest, modes, reasons, of_events=events)
    columns, asked = _asked(replace(columns, attributes=attributes, groups=groups), frame)
    bands = [each.name for each in modes if each.bands]
    if wide is not None and band_edges(wide.columns) is not None:
        bands.append(wide.mode)
    asked += [_BANDS.format(name) for name in bands]
    passes = [each.column for each in columns.all_modes if _PASSES & set(tokens(each.column))]
    asked += map(_REMOVED.format, passes)
    if CAPTURES not in frame.columns:
        visits = [it.column for it in columns.all_modes if speaks_of(it.column, "visit")]
        asked += [_SAME.format(name) for name in visits if not {"date", "day"} & set(tokens(name))]
    ordered = {name: reasons[name] for name in [*frame.columns, *reasons]}
    return Guess(columns, ordered, tuple(questions + asked))


# Lists of single events


def with_events(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Add a count of 1 to each row of a list of single events, such as animals with an id each.

    It is one where no column is named as a count, and rows with the same place, kind and time
    repeat; whole numbers beside an id of each row are measures of an animal then.
    """
    columns = [_Column(column) for column in frame.get_columns()]
    counts = ("count", "maybe count", "made of counts")
    counted = any(it.numeric and it.meaning in counts for it in columns)
    if counted or EVENTS in frame.columns or len(frame) < 2 or _find_wide(columns) is not None:
        return frame, []
    modes = [it for it in columns if it.of_levels and it.n_levels < _REPEATED * len(frame)]
    ids = any(it.meaning == "id" and it.n_levels == len(frame) for it in columns)
    repeated = _unique_share(frame, modes) <= _REPEATED
    maybe_counts = bool(_choose_count(columns, {})[0])
    if len(modes) < 2 or not (ids and repeated if maybe_counts else ids or repeated):
        return frame, []
    ones = pl.Series(EVENTS, [1] * len(frame), dtype=pl.Int32)
    note = f"Each row is one event, counted in the added column {EVENTS}: no column holds counts."
    return frame.with_columns(ones), [note]


def with_visits(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Make a row of each visit where columns by visit hold counts, and others what varied.

    Such as y1, y2, y3 beside wind1, wind2, wind3. Other tables are returned as they are.
    """
    wide = _find_wide([_Column(column) for column in frame.get_columns()])
    if wide is None or not (wide.mode == "visit" or meaning_of(wide.mode) == "time"):
        return frame, []
    blocks = stems(frame.columns, len(wide.columns))
    counts = next((stem for stem, names in blocks.items() if set(names) == set(wide.columns)), "")
    others = [stem for stem in blocks if stem != counts]
    rest = frame.drop(name for names in blocks.values() for name in names)
    called = {stem: stem for stem in blocks}
    called[counts] = "count" if meaning_of(counts) in LEVELS else counts
    if not counts or not others or {wide.mode, "row", *called.values()} & set(rest.columns):
        return frame, []
    named = [it for it in map(_Column, rest.get_columns()) if it.of_levels or it.numbers_rows]
    if _unique_share(rest, named) < _UNIQUE:
        rest = rest.with_columns(pl.int_range(1, len(rest) + 1).alias("site row"))
    for names in blocks.values():
        if len({True if frame[it].dtype.is_numeric() else frame[it].dtype for it in names}) > 1:
            frame = frame.with_columns(pl.col(names).cast(pl.String))
    rest = rest.with_row_index("row")
    visits = [
        rest.with_columns(
            pl.lit(k + 1).alias(wide.mode),
            *(frame[names[k]].alias(called[stem]) for stem, names in blocks.items()),
        )
        for k in range(len(wide.columns))
    ]
    note = (
        f"Each {wide.mode} is read as a row: numbered columns {counts} hold its counts, and "
        f"{listed(others)} its covariates."
    )
    long = pl.concat(visits, how="vertical_relaxed").sort("row", wide.mode).drop("row")
    return long, [note]


def _is_list(frame: pl.DataFrame) -> bool:
    return EVENTS in frame.columns and bool((frame.get_column(EVENTS) == 1).all())


def _modes_of_events(columns: Sequence[_Column]) -> list[_Column]:
    """The kind, the place and the time of events: of each the column with most levels.

    A kind that is text goes before one of numbers, such as an age.
    """
    some = [it for it in columns if _may_be_mode(it, wide=False) and not it.repeats_little]
    some.sort(key=lambda it: (it.meaning != "kind" or it.kind == "text", it.n_levels))
    best = {it.meaning: it for it in some}
    return [best[each] for each in ("kind", "place", "time") if each in best]


# Wide tables


@dataclass(frozen=True)
class _Wide:
    """Columns that hold counts, one for each level of a mode."""

    columns: tuple[str, ...]
    mode: str
    why: str


def _find_wide(columns: Sequence[_Column]) -> _Wide | None:
    """The columns of counts of a wide table; None for a table in long form."""
    numeric = [each.name for each in columns if each.numeric or not each.n_levels]
    days = dates_in(numeric)
    named = periods(each for each in numeric if period_of(each)) or {}
    period = "week" if "W" in next(iter(named.values()), "") else "month"
    if banded := _banded(columns):
        return _Wide(banded, "distance", "their names are bands of distance")
    by_name = (
        ("date", list(days) if len(set(days.values())) == len(days) else []),
        (period, list(named)),
        ("year", [each for each in numeric if re.fullmatch(r"[xX]?(19|20)\d\d", each)]),
        ("pass", [each for each in numeric if each.lower() in _ORDINALS]),
    )
    for mode, names in by_name:
        if len(names) >= _LEAST_ACROSS:
            return _Wide(tuple(names), mode, f"their names are {mode}s")
    return _numbered(columns) or _alike(columns)


def _banded(columns: Sequence[_Column]) -> tuple[str, ...]:
    """Columns of counts whose names are bands of distance; () without."""
    bands: dict[str | None, list[str]] = {}
    for each in columns:
        if each.count_like:
            bands.setdefault(stem_of_band(each.name), []).append(each.name)
    found = (names for names in bands.values() if band_edges(names) is not None)
    return tuple(next(found, ()))


def _number_at_end(name: str) -> str:
    """The number that a name ends in; empty where it ends in none, or is one."""
    found = re.fullmatch(r".*?\D(\d{1,4})", name)
    return found[1] if found else ""


def _is_history(name: str) -> bool:
    """Whether a name is, or ends in, a history of captures such as 101."""
    return re.fullmatch(r"(.*[\W_])?[01]{2,}", name) is not None


def _numbered(columns: Sequence[_Column]) -> _Wide | None:
    """Columns that a word and a number name, such as week1, week2 or y.1, y.2."""
    stems: dict[str, dict[int, str]] = {}
    for each in columns:
        match = re.fullmatch(r"(.*?)[\s._-]*(\d{1,4})", each.name)
        if match and each.count_like and each.low >= 0 and _may_be_level(match[1]):
            stems.setdefault(match[1], {})[int(match[2])] = each.name
    found = []
    for stem, names in stems.items():
        meaning = meaning_of(stem)
        in_a_row = max(names) - min(names) == len(names) - 1 and min(names) <= 1
        if len(names) >= _LEAST_ACROSS and (meaning in ("count", *LEVELS) or in_a_row):
            found.append((meaning == "count", meaning in LEVELS, len(names), stem))
    if not found:
        return None
    counts, *_, stem = max(found)
    block, mode = tuple(stems[stem].values()), stem.strip(" ._-").lower()
    others = [each for each in columns if each.name not in block]
    if not counts and any(each.count_like and each.meaning == "count" for each in others):
        return None
    mode = {"w": "week", "wk": "week", "d": "day"}.get(mode, mode)
    mode = "visit" if counts or len(mode) < 2 else mode
    return _Wide(block, mode, f"their names are {stem!r} and a number")


def _alike(columns: Sequence[_Column]) -> _Wide | None:
    """Many columns of whole numbers that no name explains, beside a few that name the row."""
    block = [
        each
        for each in columns
        if each.kind == "whole"
        and each.n_levels
        and each.low >= 0
        and not each.numbers_rows
        and _may_be_level(each.name)
        and not (each.of_levels and len(tokens(each.name)) == 1)
    ]
    others = [each for each in columns if each not in block]
    unnamed = sum(not each.of_levels for each in others)
    if len(block) < max(_LEAST_ACROSS, unnamed) or not 1 <= len(others) <= 8:
        return None
    if sum(each.meaning in ("count", "maybe count") for each in block) > 0.3 * len(block):
        return None
    meanings = {each.meaning for each in others}
    mode = "species" if "place" in meanings and "kind" not in meanings else "series"
    why = f"these {len(block)} columns all hold whole numbers"
    return _Wide(tuple(each.name for each in block), mode, why)


def _may_be_level(name: str) -> bool:
    """Whether a name may be one of a level whose counts a column holds."""
    other = ("attribute", "exposure", "id", "note", "made of counts", "latitude", "longitude")
    date = tokens(name)[:1] in (("date",), ("time",))  # of each visit
    total = tokens(name) in (("total",), ("sum",), ("all",))
    return not (meaning_of(name) in other or date or total or name.startswith("column "))


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
    for each in columns:
        low, high = _WITHIN.get(each.meaning, (math.inf, -math.inf))
        known = each.numeric and each.n_levels and (each.meaning != "exposure" or not each.missing)
        if known and low <= each.low <= each.high <= high and each.name not in reasons:
            found.setdefault(each.meaning, each.name)
    if len(found.keys() & {"latitude", "longitude"}) == 1:
        found = {role: name for role, name in found.items() if role == "exposure"}
    for role, name in found.items():
        reasons[name] = f"{role.capitalize()}, by its name."
    return found


def _choose_count(columns: Sequence[_Column], reasons: dict[str, str]) -> tuple[str, list[str]]:
    """The column with the counts, and questions; "" and a question where none may be."""
    good, faulty = dict[str, _Column](), list[str]()
    for each in (it for it in columns if it.n_levels and it.name not in reasons):
        named, fault = each.meaning == "count", ""
        if each.kind == "number" and named:
            fault = "numbers that are not whole; round them, or use the column as exposure."
        if each.kind == "text" and meaning_of(each.name) == "count":
            numbers = each.values.cast(pl.Float64, strict=False)
            other = each.values.filter(~numbers.is_finite().fill_null(False)).drop_nulls()
            if 0 < len(other) < len(each.values) / 2:
                fault = f"{str(other[0])[:40]!r}, which is no number; correct it or leave it empty."
        if fault:
            reasons[each.name] = f"Left out: by its name a count, but it holds {fault}"
            faulty.append(f"Is {each.name} the count? It holds {fault}")
        if each.count_like and (each.n_levels > 1 or named) and each.count_points > 0:
            good[each.name] = each
    if not good:
        return "", [*faulty, _NO_COUNT]
    added = {EVENTS: "each row is one event"}
    if CAPTURES in reasons:
        added["count"] = "animals caught at a visit"
    for name in added.keys() & good.keys():
        reasons[name] = f"Count: {added[name]}."
        return name, []
    count = max(good, key=lambda name: round(good[name].count_points, 1))
    named, best = good[count].meaning in ("count", "maybe count"), good[count].count_points
    others = [
        n for n, it in good.items() if n != count and (it.count_points >= best - 2.5 or not named)
    ]
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
    both = frame.select(*names, coarse.name).drop_nulls()
    return bool(names) and both.n_unique() <= both.select(names).n_unique()


def _choose_modes(frame: pl.DataFrame, columns: Sequence[_Column], least: int) -> list[_Column]:
    """The columns that name an entry, one to four: those under which rows are unique, or nearly so.

    The best by their points first, then each that still distinguishes rows: another name of a
    level, and what a finer level implies, does not; nor does the day of a numbered visit. Kinds
    and places come first, times last.
    """
    some = [each for each in columns if _may_be_mode(each, wide=least == 1)]
    if len(some) < least:  # such as objects and observers
        some += [it for it in columns if it not in some and it.kind == "whole" and it.n_levels > 1]
    if any(each.is_visit for each in some):
        some = [it for it in some if not it.is_day]
    some.sort(key=lambda each: each.mode_points, reverse=True)
    chosen: list[_Column] = []
    share = 0.0
    for each in some:
        if len(chosen) == _MOST_MODES or (share >= _UNIQUE and len(chosen) >= least):
            break
        own = [it for it in some if it.meaning == each.meaning and each.of_levels]
        finer = [it for it in own if it.n_levels > each.n_levels]
        if not each.is_visit and any(_determines(frame, [it], each) for it in finer):
            continue
        with_it = _unique_share(frame, [*chosen, each])
        needed = len(chosen) < least and (with_it > share or each.of_levels)
        named = each.of_levels or each.meaning == "id"
        useful = with_it - share > (0.005 if named else 0.05)
        if needed or (useful and (with_it >= 0.8 or len(chosen) < _MOST_MODES - 1)):
            chosen, share = [*chosen, each], with_it
    for each in chosen[::-1]:
        others = [other for other in chosen if other is not each]
        if len(others) >= least and _unique_share(frame, others) >= share - 0.005:
            chosen = others  # a later column says what this one does
    order = {each.name: k for k, each in enumerate(columns)}
    return sorted(chosen, key=lambda each: (each.meaning == "time", order[each.name]))


def _may_be_mode(each: _Column, *, wide: bool) -> bool:
    n = len(each.values)
    named = each.of_levels or each.meaning == "id"
    if each.n_levels < 2 or each.missing > 0.5 or each.meaning in ("note", "attribute"):
        return False
    if each.kind == "number" or (each.kind == "whole" and not named and not wide):
        return False
    return wide or not (each.numbers_rows or each.n_levels > 0.9 * n > 9)


def _mode(each: _Column, reasons: dict[str, str]) -> ModeColumn:
    """A column as a mode, dates made coarser where they have too many levels."""
    what = f"{each.meaning}s" if each.of_levels else "levels"
    what = "bands of distance" if each.bands else what
    reason = f"Mode: {each.n_levels:,} {what}"
    step = step_of(each.levels, len(each.values)) if each.kind == "date" else None
    if step is not None:
        reason += f", taken by {step}"
    if each.missing:
        reason += f"; rows without it ({each.values.null_count():,}) are left out"
    reasons[each.name] = f"{reason}."
    return ModeColumn(column=each.name, step=step)


def _why_out(it: _Column) -> str:
    """Why a column is no attribute; empty where it may be one."""
    few = it.n_levels <= _MOST_CATEGORIES
    of_counts = it.meaning in ("count", "maybe count", "made of counts")
    names = it.of_levels and (it.kind == "text" or (it.kind != "date" and it.n_levels <= 10))
    text = it.kind == "text" and not (it.meaning == "attribute" and few)
    reasons = (  # the first that holds
        (it.n_levels <= 1, "every row has the same value, or none"),
        (it.meaning == "note", "by its name it holds remarks"),
        (it.numeric and of_counts, "by its name it is made of counts, and determines the count"),
        (it.numbers_rows or it.meaning == "id", "it only numbers or codes rows"),
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
    places = [each for each in modes if each.meaning == "place"]
    places = places or [each for each in modes if not each.of_levels][:1]
    for each in columns:
        if each.name in reasons:
            continue
        why_not = _why_out(each)
        if each.kind == "date" and not any(mode.is_visit for mode in modes):
            why_not = "it is a date, and other columns name the rows"
        elif not why_not and of_events and not _determines(frame, modes, each):
            why_not = "it differs among the events of an entry"
        elif not why_not and len(found) == _MOST_ATTRIBUTES:
            why_not = f"{_MOST_ATTRIBUTES} covariates are taken already"
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
        reason = "Covariate that detection may depend on."
        if place is not None:
            reason = f"Covariate of true counts: the same at all rows of one {place.name}."
        reasons[each.name] = reason
    return tuple(found)


def _groups(
    frame: pl.DataFrame,
    columns: Sequence[_Column],
    modes: Sequence[_Column],
    reasons: dict[str, str],
) -> tuple[str, ...]:
    """Columns of places or kinds that a finer mode determines, such as the region of a site."""
    found = []
    for each in (it for it in columns if it.kind == "text" and it.meaning in ("place", "kind")):
        fine = [mode for mode in modes if 1 < each.n_levels < mode.n_levels]
        of = next((mode.name for mode in fine if _determines(frame, [mode], each)), "")
        if of and each.name not in reasons:
            reasons[each.name] = f"Group: each {of} is of one {each.name}."
            found.append(each.name)
    return tuple(found)


def _asked(columns: Columns, frame: pl.DataFrame) -> tuple[Columns, list[str]]:
    """What rows mean that repeat or are absent, as far as values say, and what is asked."""
    if len(columns.all_modes) < 2:
        return columns, [_NO_MODES]
    if columns.count == EVENTS and _is_list(frame):
        return replace(columns, duplicates="sum", absent="zero"), [
            "Each row is one event, so that a combination without a row is taken as 0. Or did "
            "nobody look at some of them (missing)?"
        ]
    unique = frame.select(each.column for each in columns.modes).n_unique() == len(frame)
    if not unique or any(each.step for each in columns.all_modes):
        columns = replace(columns, duplicates="sum")
    return columns, []

"""Guess what the columns of a table are, from their names and values, and say why."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from uncletc.common.validation import IntArray
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
    from uncletc.tables.raw import RawTable

EVENTS = "events"
"""The column of ones that a list of single events gets."""

FLAGS = dict.fromkeys(("true", "yes", "present", "detected"), 1.0)
FLAGS |= dict.fromkeys(("false", "no", "absent", "not detected"), 0.0)
"""Texts that stand for 1 and 0."""

LARGE = 20.0
"""Counts above this are changed little by rounding."""

_MANY_LEVELS, _LEVELS_KEPT = 4000, 1000
_FEW_ZEROS = 0.02  # share of counts
_UNIQUE = 0.99  # share of rows at which columns count as naming them
_MOST_MODES, _MOST_CANDIDATES = 4, 8
_MOST_ATTRIBUTES, _MOST_CATEGORIES, _MOST_MISSING = 15, 12, 0.2
_LEAST_ACROSS = 3  # columns of counts in a wide table
_MOST_KEYS = 40_000  # keys that are compared to see how many repeat
_DEGREES = {
    "latitude": ("lat", "latitude", "decimallatitude"),
    "longitude": ("lon", "long", "lng", "longitude", "decimallongitude"),
}
_BY_NAME = {
    "known_detection": ("knowndetection", "knownp", "detectionprobability", "detectionprob"),
    "known_error": ("knownerror", "detectionerror", "knownse", "detectionse"),
} | _DEGREES


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
class _Profile:
    """A column, in short."""

    column: pl.Series

    @cached_property
    def name(self) -> str:
        return self.column.name

    @cached_property
    def kind(self) -> Literal["whole", "number", "date", "text"]:
        dtype = self.column.dtype
        if dtype.is_numeric():
            whole = dtype.is_integer() or bool((self.column == self.column.floor()).all())
            return "whole" if whole else "number"
        return "date" if dtype.is_temporal() else "text"

    @cached_property
    def n(self) -> int:
        return len(self.column)

    @cached_property
    def missing(self) -> float:
        return self.column.null_count() / self.n

    @cached_property
    def levels(self) -> pl.Series:
        return self.column.drop_nulls().unique()

    @property
    def n_levels(self) -> int:
        return len(self.levels)

    @cached_property
    def range(self) -> tuple[float, float]:
        some = self.column.drop_nulls().cast(pl.Float64).to_numpy()
        return float(some.min(initial=math.inf)), float(some.max(initial=-math.inf))

    @property
    def numeric(self) -> bool:
        return self.kind in ("whole", "number")

    @cached_property
    def is_flag(self) -> bool:
        """Whether it holds yes and no."""
        return (
            self.kind == "text"
            and self.n_levels == 2
            and {str(each).lower() for each in self.levels} <= set(FLAGS)
        )

    @cached_property
    def count_like(self) -> bool:
        """Whether it holds whole numbers ≥ 0, but for a few corrections below 0."""
        return self.kind == "whole" and _share(self.column.drop_nulls() >= 0) > 0.95

    @cached_property
    def numbers_rows(self) -> bool:
        """Whether it is 1, 2, 3, … down the table."""
        if self.kind != "whole" or self.column.null_count() or self.n < 4:
            return False
        return bool((self.column.diff().drop_nulls() == 1).all())

    @cached_property
    def designed(self) -> bool:
        """Whether it has few whole levels in a row with about as many rows each, like visits."""
        if self.kind != "whole" or not 2 <= self.n_levels <= 100 or self.n < 2 * self.n_levels:
            return False
        rows = np.unique(self.codes[self.codes > 0], return_counts=True)[1]
        low, high = self.range
        return high - low == self.n_levels - 1 and bool(rows.max() <= 1.3 * rows.min())

    @cached_property
    def mode_class(self) -> Class:
        """Of what its levels are, as its name or type says."""
        if self.kind == "date":
            return "time"
        return "place" if is_fips(self.name) else class_of(self.name)

    @cached_property
    def codes(self) -> IntArray:
        """The number of each row's level; 0 where it is missing; (n,)."""
        if self.column.dtype == pl.Categorical:
            known = self.column.to_physical().cast(pl.Int64) + 1
        else:
            known = self.column.rank("dense").cast(pl.Int64)
        return known.fill_null(0).to_numpy()

    @cached_property
    def mode_score(self) -> float:
        """How good it is as a mode: what its name says, and that its levels repeat."""
        score = {"kind": 3.0, "time": 2.5, "place": 2.0, "": 0.0}[self.mode_class]
        score += (self.kind == "date") + 1.5 * is_fips(self.name)
        score += 0.3 * ("name" in tokens(self.name)) - 0.5 * speaks_of(self.name, "id")
        score += 0.5 * self.designed - 1.0 * (self.kind == "whole" and self.n_levels > 30)
        score -= 0.2 * (self.kind == "whole") + 3 * self.missing
        return score - 2.0 * (self.n_levels > 0.5 * self.n)


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
    rest = [_Profile(column) for column in raw.frame.get_columns()]
    reasons: dict[str, str] = {}
    wide = _find_wide(rest)
    if wide is not None:
        reasons |= dict.fromkeys(wide.columns, f"Counts of one level of {wide.mode}: {wide.why}.")
        rest = [each for each in rest if each.name not in reasons]
        reasons |= _beside(wide, rest)
    special = _special(rest, reasons)
    count, questions = ("count", list[str]()) if wide else _choose_count(rest, reasons)
    rest = [each for each in rest if each.name not in reasons or each.name == ""]
    modes = _choose_modes(rest, wide is not None)
    rows = len(raw.frame)
    mode_columns = tuple(_mode(each, reasons) for each in modes)
    columns = Columns(modes=mode_columns, count=count, **special)  # type: ignore[arg-type]
    if wide is not None:
        columns = _with_wide(columns, wide, reasons, rows)
        if wide.unsure:
            questions.append(
                f"Do the {len(wide.columns)} columns {wide.columns[0]} to {wide.columns[-1]} each "
                f"hold counts of one level of {wide.mode}? If not, say which one is the count."
            )
    columns = replace(columns, attributes=_attributes(rest, count, reasons, wide is not None))
    columns, asked = _asked(columns, modes, raw.frame)
    ordered = {name: reasons[name] for name in [*raw.frame.columns, *reasons]}
    return Guess(columns, ordered, tuple(questions + asked))


def with_events(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Add a count of 1 to each row of a list of single events, such as cases with an id each."""
    profiles = [_Profile(column) for column in frame.get_columns()]
    if EVENTS in frame.columns or len(frame) < 2 or _find_wide(profiles) is not None:
        return frame, []
    if _choose_count(profiles, {})[0] or any(
        each.numeric and (count_score(each.name) > 0 or speaks_of(each.name, "no count"))
        for each in profiles
    ):
        return frame, []
    modes = [each for each in profiles if each.mode_class and not each.numbers_rows]
    modes = [each for each in modes if each.n_levels < 0.9 * each.n]
    ids = any(speaks_of(each.name, "id") and each.n_levels == each.n for each in profiles)
    if len(modes) < 2 or (not ids and _unique_share(modes) > 0.9):
        return frame, []
    ones = pl.Series(EVENTS, [1] * len(frame), dtype=pl.Int32)
    return frame.with_columns(ones), [
        f"The file has no column of counts: each row is one event, counted in the added column "
        f"{EVENTS}."
    ]


@dataclass(frozen=True)
class _Wide:
    """Columns that hold counts, one for each level of a mode."""

    columns: tuple[str, ...]
    mode: str
    why: str
    unsure: bool = False  # whether nothing but their values says so


def _find_wide(profiles: Sequence[_Profile]) -> _Wide | None:
    """The columns of counts of a wide table; None for a table in long form."""
    numeric = [each.name for each in profiles if each.numeric or not each.n_levels]
    days = dates_in(numeric)
    if len(set(days.values())) == len(days) >= _LEAST_ACROSS:
        return _Wide(tuple(days), "date", "their names are dates")
    named = periods(each for each in numeric if period_of(each)) or {}
    if len(named) >= _LEAST_ACROSS:
        mode = {"W": "week", "Q": "quarter"}.get(next(iter(named.values()))[5], "month")
        return _Wide(tuple(named), mode, f"their names are {mode}s")
    years = tuple(each for each in numeric if re.fullmatch(r"[xX]?(19|20)\d\d", each))
    if len(years) >= _LEAST_ACROSS:
        return _Wide(years, "year", "their names are years")
    return _numbered(profiles) or _alike(profiles)


def _numbered(profiles: Sequence[_Profile]) -> _Wide | None:
    """Columns that a word and a number name, such as week1, week2 or y.1, y.2."""
    stems: dict[str, dict[int, str]] = {}
    for each in profiles:
        match = re.fullmatch(r"(.*?)[\s._-]*(\d{1,4})", each.name)
        if match and each.count_like and each.range[0] >= 0:
            stems.setdefault(match[1], {})[int(match[2])] = each.name
    best: tuple[bool, int] = (False, 0)
    found = None
    for stem, names in stems.items():
        if len(names) < _LEAST_ACROSS or not _may_be_level(stem):
            continue
        counts = stem.lower() in ("y", "n", "count") or count_score(stem) > 0
        in_a_row = sorted(names) in (list(range(len(names))), list(range(1, len(names) + 1)))
        if (counts or class_of(stem) or in_a_row) and (counts, len(names)) > best:
            best = (counts, len(names))
            mode = stem.strip(" ._-").lower()
            mode = "visit" if counts or len(mode) < 2 else mode
            found = _Wide(tuple(names.values()), mode, f"their names are {stem!r} and a number")
    others = [e for e in profiles if found and e.name not in found.columns and e.count_like]
    if found and not best[0] and any(count_score(each.name) >= 6 for each in others):
        return None  # another column is the count
    return found


def _alike(profiles: Sequence[_Profile]) -> _Wide | None:
    """Many columns of whole numbers of like size, beside a few that name the row."""
    block = {
        each.name: each
        for each in profiles
        if each.kind == "whole"
        and each.n_levels
        and each.range[0] >= 0
        and not each.numbers_rows
        and not (each.designed and each.range[0] >= 1)
        and _may_be_level(each.name)
        and not (class_of(each.name) and len(tokens(each.name)) == 1)
        and not re.fullmatch(r"[01]{2,}", each.name)  # capture histories
    }
    others = [each for each in profiles if each.name not in block]
    unnamed = sum(not each.mode_class for each in others)
    if len(block) < max(_LEAST_ACROSS, unnamed) or not 1 <= len(others) <= 8:
        return None
    if any(count_score(each.name) >= 6 and each.count_like for each in others):
        return None
    if sum(count_score(name) >= 3 for name in block) > 0.3 * len(block):
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
    return not (
        speaks_of(name, "attribute", "exposure", "id", "note", "no count")
        or joined in ("total", "sum", "all", *itertools.chain(*_DEGREES.values()))
        or name.startswith("column ")
    )


def _beside(wide: _Wide, rest: Sequence[_Profile]) -> dict[str, str]:
    """Reasons to leave out other columns of which there is one for each column of counts."""
    ends = {re.sub(r"^.*?(\d*)$", r"\1", name) for name in wide.columns}
    stems: dict[str, list[str]] = {}
    for each in rest:
        match = re.fullmatch(r"(.*?\D)(\d{1,4})", each.name)
        if match and match[2] in ends:
            stems.setdefault(match[1], []).append(each.name)
    why = (
        f"Left out: one column for each {wide.mode}, which only counts can have; in a table with "
        "one row per count it could be an attribute."
    )
    return {
        name: why for group in stems.values() if len(group) >= 0.8 * len(ends) for name in group
    }


def _special(profiles: Sequence[_Profile], reasons: dict[str, str]) -> dict[str, str]:
    """Columns known by their name alone: exposure, known detection, degrees."""
    found: dict[str, _Profile] = {}
    for each in profiles:
        if not each.numeric or not each.n_levels:
            continue
        joined = "".join(tokens(each.name))
        role = next((role for role, names in _BY_NAME.items() if joined in names), "")
        if not role and speaks_of(each.name, "exposure") and not speaks_of(each.name, "no count"):
            role = "exposure"
        if role and role not in found:
            found[role] = each
    limits = {"known_detection": (0, 1), "latitude": (-90, 90), "longitude": (-180, 360)}
    for role, each in list(found.items()):
        low, high = limits.get(role, (0, math.inf))
        inside = low <= each.range[0] and each.range[1] <= high
        if not inside or (role == "exposure" and (each.range[0] == 0 or each.missing)):
            del found[role]
    if len(_DEGREES.keys() & found.keys()) == 1:
        found = {role: each for role, each in found.items() if role not in _DEGREES}
    if "known_detection" not in found:
        found.pop("known_error", None)
    said = {
        "exposure": "Exposure: what true counts are proportional to",
        "known_detection": "Known detection: p from elsewhere",
        "known_error": "Standard error of the known detection",
        "latitude": "Latitude of the places",
        "longitude": "Longitude of the places",
    }
    reasons |= {each.name: f"{said[role]}, by its name." for role, each in found.items()}
    return {role: each.name for role, each in found.items()}


def _choose_count(profiles: Sequence[_Profile], reasons: dict[str, str]) -> tuple[str, list[str]]:
    """The column with the counts, and questions; "" and a question where none may be."""
    scores: dict[str, float] = {}
    for each in profiles:
        named = count_score(each.name)
        if each.name in reasons or not each.n_levels:
            continue
        if each.is_flag and named >= 6:
            scores[each.name] = named - 4 * each.missing
        elif each.kind == "number" and named >= 6:
            typical = each.column.filter(each.column > 0).median()
            if each.range[0] >= 0 and isinstance(typical, float) and typical >= LARGE:
                scores[each.name] = named - 2
            else:
                reasons[each.name] = (
                    "Left out: by its name a count, but it holds numbers that are not whole; round "
                    "them in the file, or take the column as the exposure."
                )
        elif each.count_like and (each.n_levels > 1 or named >= 6):
            y = each.column.drop_nulls().cast(pl.Float64).to_numpy()
            score = named - 5.0 * (bool(each.mode_class) and named <= 0) + (y.var() > y.mean())
            score += (
                0.5 * (named < 6 and (y == 0).any()) - 4 * each.missing - (y == 0).mean() // 0.5
            )
            score -= 8 * each.numbers_rows + (1 if named >= 6 else 3) * each.designed
            scores[each.name] = score - 2 * (y < 0).mean()
    good = {name: score for name, score in scores.items() if score > 0}
    if not good:
        return "", [
            "Which column holds the counts? None has whole numbers of 0 or more and a name like "
            "count, n or cases. A table with one row per count, or with one column of counts per "
            "species, date or visit, is understood."
        ]
    count = max(good, key=lambda name: round(good[name], 1))
    named = count_score(count) > 0
    others = [n for n in good if n != count and (good[n] >= good[count] - 2.5 or not named)]
    doubt = f" Could be the count as well: {', '.join(others[:6])}." if others else ""
    why = "by its name" if named else "it is the column most like counts"
    reasons[count] = f"Count: {why}.{doubt}"
    return count, [f"Is {count} the count?{doubt}"] if doubt or not named else []


def _share(flags: pl.Series) -> float:
    return float(flags.fill_null(False).mean() or 0.0) if len(flags) else 0.0  # type: ignore[arg-type]


def _unique_share(columns: Sequence[_Profile]) -> float:
    """Share of rows that would stay if rows with the same values in these columns were one."""
    if not columns:
        return 0.0
    keys = np.zeros(columns[0].n, dtype=np.uint64)
    for each in columns:
        keys = (keys * np.uint64(1_000_003) + each.codes.astype(np.uint64)) * np.uint64(0x9E3779B1)
    every = len(keys) // _MOST_KEYS
    if every > 1:  # some keys with all their rows, so that what repeats is seen
        some = keys[(keys >> np.uint64(7)) % np.uint64(every) == 0]
        keys = some if len(some) > 1000 else keys
    return len(np.unique(keys)) / len(keys)


def _determines(fine: _Profile, coarse: _Profile) -> bool:
    """Whether the level of one column always says that of another, which has fewer levels."""
    if coarse.n_levels >= fine.n_levels:
        return False
    pair = fine.codes * (int(coarse.codes.max(initial=0)) + 1) + coarse.codes
    return len(np.unique(pair)) <= len(np.unique(fine.codes))


def _choose_modes(profiles: Sequence[_Profile], wide: bool) -> list[_Profile]:
    """The columns that name an entry, one to four: those under which rows are unique, or nearly so.

    The best by name first, then each that still distinguishes rows: another name of a level, and
    what a finer level implies, does not. Kinds and places come first, times last.
    """
    least = 1 if wide else 2
    some = sorted(
        (each for each in profiles if _may_be_mode(each, wide)), key=lambda each: -each.mode_score
    )
    some = [
        each
        for each in some
        if (each.designed and each.mode_class == "time")  # visits, beside their days
        or not any(o.mode_class == each.mode_class and _determines(o, each) for o in some)
    ]
    chosen: list[_Profile] = []
    share = 0.0
    for each in some:
        with_it = _unique_share([*chosen, each])
        gain = with_it - share
        needed = len(chosen) < least and (gain > 0 or each.mode_class)
        useful = gain > 0.005 if each.mode_class else gain > 0.05 and with_it > 0.9
        if len(chosen) < _MOST_MODES and (needed or (useful and share < _UNIQUE)):
            chosen, share = [*chosen, each], with_it
    rest = [each for each in some if each not in chosen][:_MOST_CANDIDATES]
    if share < _UNIQUE and len(chosen) <= _MOST_MODES - 2:  # two that only together name rows
        pairs = itertools.combinations(rest, 2)
        pair = max(pairs, key=lambda pair: _unique_share([*chosen, *pair]), default=())
        if pair and _unique_share([*chosen, *pair]) >= _UNIQUE:
            chosen = [*chosen, *pair]
    for each in sorted(chosen, key=lambda each: each.mode_score):
        others = [other for other in chosen if other is not each]
        if len(others) >= least and _unique_share(others) >= _unique_share(chosen) - 0.005:
            chosen = others  # a later column says what this one does
    if len(chosen) > 3 and _unique_share(chosen) < 0.8:
        chosen = sorted(chosen, key=lambda each: -each.mode_score)[:3]
    order = {each.name: k for k, each in enumerate(profiles)}
    return sorted(chosen, key=lambda each: (each.mode_class == "time", order[each.name]))


def _may_be_mode(each: _Profile, wide: bool) -> bool:
    if each.n_levels < 2 or each.missing > 0.5 or speaks_of(each.name, "note"):
        return False
    if each.kind == "number" or (speaks_of(each.name, "attribute") and not each.mode_class):
        return False
    named = each.mode_class or speaks_of(each.name, "id") or each.designed
    if each.kind == "whole" and not (named or (wide and each.n_levels == each.n)):
        return each.name.lower() in ("x", "y")
    return wide or not (each.numbers_rows or each.n_levels > 0.9 * each.n > 9)


def _mode(each: _Profile, reasons: dict[str, str]) -> ModeColumn:
    """A column as a mode, made coarser where it has too many levels."""
    levels = each.n_levels
    what = {"time": "times", "place": "places", "kind": "kinds", "": "levels"}[each.mode_class]
    said, mode = f"Mode: {levels:,} {what}", ModeColumn(column=each.name)
    step = step_of(each.levels, each.n) if each.kind == "date" else None
    if step is not None:
        mode = replace(mode, step=step)
        said += f", taken by {step}"
    elif levels > _MANY_LEVELS:
        mode = replace(mode, most=_LEVELS_KEPT)
        said += f"; the {_LEVELS_KEPT:,} with most counted events are kept"
    if each.missing:
        said += f"; rows without it ({each.column.null_count():,}) are left out"
    reasons[each.name] = f"{said}."
    return mode


def _with_wide(columns: Columns, wide: _Wide, reasons: dict[str, str], rows: int) -> Columns:
    taken = {each.column for each in columns.modes}
    mode = wide.mode if wide.mode not in taken else f"{wide.mode} (column)"
    n = len(wide.columns)
    days = pl.Series(list(dates_in(wide.columns).values())) if wide.mode == "date" else None
    step = None if days is None else step_of(days, rows * n)
    by = f", taken by {step}" if step else ""
    reasons[mode] = f"Mode: one level for each of {n} columns, since {wide.why}{by}."
    return replace(columns, across=wide.columns, across_mode=ModeColumn(column=mode, step=step))


def _attributes(
    profiles: Sequence[_Profile], count: str, reasons: dict[str, str], wide: bool
) -> tuple[AttributeColumn, ...]:
    """Attributes among columns without another role, with a reason for each column."""
    found: list[AttributeColumn] = []
    of = " of all counts of a row" if wide else ""
    for each in profiles:
        if each.name in reasons:
            continue
        why_not = _why_not(each, count)
        if not why_not and len(found) == _MOST_ATTRIBUTES:
            why_not = f"{_MOST_ATTRIBUTES} attributes are taken already"
        if why_not:
            reasons[each.name] = f"Left out: {why_not}."
            continue
        found.append(AttributeColumn(column=each.name, category=not each.numeric))
        what = "numbers" if each.numeric else f"{each.n_levels} names without order"
        reasons[each.name] = f"Attribute: {what}{of} that detection may depend on."
        if each.missing:
            reasons[each.name] += f" Rows without it ({each.missing:.1%}) have no attributes."
    return tuple(found)


def _why_not(each: _Profile, count: str) -> str:
    """Why a column is no attribute; empty where it may be one."""
    name, is_attribute = each.name, speaks_of(each.name, "attribute")
    if each.n_levels <= 1:
        return "every row has the same value, or none"
    if "".join(tokens(name)) in ("total", "sum", "all"):
        return "by its name it is the sum of the counts beside it"
    if speaks_of(name, "note"):
        return "by its name it holds remarks"
    if each.kind == "date":
        return "it is a date, and other columns name the rows"
    if each.numeric:
        shared = {word for word in {*tokens(name)} & {*tokens(count)} if count_score(word) >= 6}
        if speaks_of(name, "cumulative"):
            return "by its name it is a running total of counts, which determines the count"
        made = shared or speaks_of(name, "count")
        if speaks_of(name, "made of counts") or (speaks_of(name, "no count") and made):
            return "by its name it is a rate made of the counts, which would determine the count"
        if shared or (count_score(name) >= 3 and not is_attribute):
            return "by its name it is another count, which would determine the count"
    if each.numbers_rows or (speaks_of(name, "id") and not is_attribute and not each.mode_class):
        return "it only numbers or codes rows"
    if each.mode_class and not is_attribute and (each.kind == "text" or each.n_levels <= 10):
        return "by its name it could name entries, and other columns do so already"
    if each.missing > _MOST_MISSING:
        return f"it is empty in {each.missing:.0%} of rows"
    if each.numeric or each.is_flag or (is_attribute and each.n_levels <= _MOST_CATEGORIES):
        return ""
    if _share(each.column.cast(pl.String).str.contains(r"^[<>~]?[+-]?\d+([.,]\d+)?\D?$")) > 0.8:
        return "it holds numbers but for some rows: correct or empty those, and read the file again"
    if each.n_levels <= _MOST_CATEGORIES:
        return (
            f"it is text with {each.n_levels} values; take it as a category if p may depend on it"
        )
    return f"it is text with {each.n_levels:,} different values"


def _asked(
    columns: Columns, modes: Sequence[_Profile], frame: pl.DataFrame
) -> tuple[Columns, list[str]]:
    """What rows mean that repeat or are absent, as far as values say, and questions about it."""
    if len(modes) < (1 if columns.across else 2):
        return columns, [
            "Which columns name an entry? Two or more are needed, such as place, species and week."
        ]
    questions = []
    unique = _unique_share(modes)
    if unique < 1:
        questions.append(
            f"{1 - unique:.1%} of rows name an entry that another row names too. Are they parts of "
            "one count (summed, as now), several observations of it, or a mistake?"
        )
    if unique < 1 or any(each.step for each in columns.all_modes):
        columns = replace(columns, duplicates="sum")
    if columns.count and not columns.across:
        counts = frame.get_column(columns.count)
        zeros = _share(counts == 0) if counts.dtype.is_numeric() else 1.0
        if columns.count == EVENTS and bool((counts == 1).all()):
            columns = replace(columns, absent="zero")
            questions.append(
                "Each row is one event, so that a combination without a row is taken as 0. Or did "
                "nobody look at some of them (missing)?"
            )
        elif zeros < _FEW_ZEROS:
            questions.append(
                f"{'Hardly any' if zeros else 'No'} row has a count of 0. Does a combination "
                "without a row mean that nobody looked (missing, as now), or that nothing was seen "
                "(0)?"
            )
    return columns, questions

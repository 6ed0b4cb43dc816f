"""Guess what the columns of a table are, and say why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from uncletc.tables.added import EVENTS
from uncletc.tables.attributes import attributes_of
from uncletc.tables.columns import Columns, ModeColumn, Step
from uncletc.tables.count_column import choose_count
from uncletc.tables.dates import step_of
from uncletc.tables.keys import choose_modes
from uncletc.tables.limits import MOST_ENTRIES
from uncletc.tables.profiles import Profile, share, unique_share
from uncletc.tables.reading import RawTable
from uncletc.tables.values import numbers_of
from uncletc.tables.wide import Wide, beside, dates_of, find_wide
from uncletc.tables.words import (
    count_points,
    is_exposure,
    is_known_detection,
    is_known_error,
    is_latitude,
    is_longitude,
    is_running,
)

_MANY_LEVELS = 4000
_LEVELS_KEPT = 1000
_MANY_NUMBERS = 60
_BINS = 20
_FEW_ZEROS = 0.02


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
    names = raw.frame.columns
    profiles = [Profile.of(raw.frame.get_column(name), names) for name in names]
    reasons: dict[str, str] = {}
    wide = find_wide(profiles)
    rest = [each for each in profiles if wide is None or each.name not in wide.columns]
    if wide is not None:
        reasons |= dict.fromkeys(
            beside(wide, [each.name for each in rest]),
            f"Left out: one column for each {wide.mode}, which only counts can have; in a "
            "table with one row per count it could be an attribute.",
        )
        rest = [each for each in rest if each.name not in reasons]
    special = _special(rest, reasons)
    rest = [each for each in rest if each.name not in special.values()]
    count, questions = ("", list[str]()) if wide else choose_count(rest, reasons)
    rest = [each for each in rest if each.name != count]
    some = [
        each
        for each in rest
        if wide or each.mode_class or each.kind in ("text", "date") or count_points(each.name) <= 0
    ]
    modes = choose_modes(some, 1 if wide else 2, wide is not None)
    modes = _with_degrees(modes, profiles, special, reasons)
    columns = Columns(
        modes=tuple(_mode(each, reasons) for each in modes),
        count=count,
        exposure=special.get("exposure"),
        known_detection=special.get("known_detection"),
        known_error=special.get("known_error"),
        latitude=special.get("latitude"),
        longitude=special.get("longitude"),
    )
    if wide is not None:
        columns = _with_wide(columns, wide, reasons, len(raw.frame))
    attributes = attributes_of(
        [each for each in rest if each not in modes], count, reasons, of_rows=wide is None
    )
    columns = replace(columns, attributes=attributes)
    columns = _smaller(columns, modes, wide, reasons)
    columns, asked = _asked(columns, modes, raw, wide)
    ordered = {name: reasons[name] for name in [*raw.frame.columns, *reasons] if name in reasons}
    return Guess(columns, ordered, tuple(questions + asked))


def _special(profiles: Sequence[Profile], reasons: dict[str, str]) -> dict[str, str]:
    """Columns that only their name can tell: exposure, known detection, degrees."""
    found: dict[str, str] = {}
    rules = (
        ("exposure", is_exposure, (0, math.inf), "Exposure: what true counts are proportional to"),
        ("known_detection", is_known_detection, (0, 1), "Known detection: p from elsewhere"),
        ("known_error", is_known_error, (0, math.inf), "Standard error of the known detection"),
        ("latitude", is_latitude, (-90, 90), "Latitude of the places"),
        ("longitude", is_longitude, (-180, 360), "Longitude of the places"),
    )
    for role, named, (low, high), said in rules:
        for each in profiles:
            if role in found or not named(each.name) or not each.numeric or each.empty:
                continue
            if role == "exposure" and each.column.null_count():
                reasons[each.name] = (
                    f"Left out: by its name an exposure, but empty in {each.missing:.0%} of rows."
                )
                continue
            inside = low <= each.range[0] and each.range[1] <= high
            if inside and not (role == "exposure" and each.range[0] <= 0):
                found[role] = each.name
                reasons[each.name] = f"{said}, by its name."
    for one, other in (("latitude", "longitude"), ("longitude", "latitude")):
        if one in found and other not in found:
            reasons.pop(found.pop(one))
    if "known_error" in found and "known_detection" not in found:
        reasons.pop(found.pop("known_error"))
    return found


def _with_degrees(
    modes: list[Profile],
    profiles: Sequence[Profile],
    special: dict[str, str],
    reasons: dict[str, str],
) -> list[Profile]:
    """Take degrees as modes where no other column names places."""
    if "latitude" not in special or any(each.mode_class == "place" for each in modes):
        return modes
    if len(modes) > 2 or unique_share(modes) > 0.9:
        return modes
    names = [special.pop("latitude"), special.pop("longitude")]
    for name in names:
        reasons.pop(name)
    return [each for each in profiles if each.name in names] + modes


def _mode(each: Profile, reasons: dict[str, str]) -> ModeColumn:
    levels = each.n_levels
    what = {"time": "times", "place": "places", "kind": "kinds", "": "levels"}
    said = f"Mode: {levels:,} {what[each.mode_class]}"
    mode = ModeColumn(column=each.name)
    if each.kind == "date":
        step = step_of(each.levels, each.n)
        if step is not None:
            mode = replace(mode, step=_step(step))
            said += f", taken by {step}"
    elif each.kind == "number" and levels > _MANY_NUMBERS:
        mode = replace(mode, bins=_BINS)
        said += f", put into {_BINS} intervals with about as many rows each"
    elif levels > _MANY_LEVELS:
        mode = replace(mode, most=_LEVELS_KEPT)
        said += f"; the {_LEVELS_KEPT:,} with most counted events are kept"
    if each.missing:
        said += f"; rows without it ({each.column.null_count():,}) are left out"
    reasons[each.name] = f"{said}."
    return mode


def _step(step: str) -> Step:
    steps: dict[str, Step] = {"day": "day", "week": "week", "month": "month"}
    return steps[step]


def _with_wide(columns: Columns, wide: Wide, reasons: dict[str, str], n_rows: int) -> Columns:
    for name in wide.columns:
        reasons[name] = f"Counts of one level of {wide.mode}: {wide.reason}."
    taken = {each.column for each in columns.modes}
    mode = wide.mode if wide.mode not in taken else f"{wide.mode} (column)"
    step = None
    if wide.dates:
        dates = dates_of(wide.columns)
        assert dates is not None
        step = step_of(dates, n_rows * len(dates))
    across = ModeColumn(column=mode, step=None if step is None else _step(step))
    n = len(wide.columns)
    by = f", taken by {step}" if step else ""
    reasons[mode] = f"Mode: one level for each of {n} columns, since {wide.reason}{by}."
    return replace(columns, count="count", across=wide.columns, across_mode=across)


def _smaller(
    columns: Columns, modes: Sequence[Profile], wide: Wide | None, reasons: dict[str, str]
) -> Columns:
    """Keep the most active levels of the largest mode while there are too many entries."""
    sizes = {
        each.name: _levels_left(each, mode) for each, mode in zip(modes, columns.modes, strict=True)
    }
    other = len(wide.columns) if wide else 1
    while sizes and math.prod(sizes.values()) * other > MOST_ENTRIES:
        largest = max(sizes, key=lambda name: sizes[name])
        kept = max(sizes[largest] // 2, 10)
        if kept >= sizes[largest]:
            break
        sizes[largest] = kept
        columns = replace(
            columns,
            modes=tuple(
                replace(each, most=kept) if each.column == largest else each
                for each in columns.modes
            ),
        )
        before = reasons[largest].split("; the ")[0].rstrip(".")
        reasons[largest] = f"{before}; the {kept:,} with most counted events are kept."
    return columns


def _levels_left(each: Profile, mode: ModeColumn) -> int:
    if mode.bins is not None:
        return mode.bins
    if mode.most is not None:
        return mode.most
    per = {"week": 7, "month": 30}
    return max(each.n_levels // per.get(mode.step or "", 1), 1)


def _asked(
    columns: Columns, modes: Sequence[Profile], raw: RawTable, wide: Wide | None
) -> tuple[Columns, list[str]]:
    questions = []
    needed = 1 if wide else 2
    if len(modes) < needed:
        questions.append(
            "Which columns name an entry? Two or more are needed, such as place, species and week."
        )
        return columns, questions
    unique = unique_share(modes)
    all_modes = [*columns.modes, *([columns.across_mode] if columns.across_mode else [])]
    by_step = any(mode.step is not None or mode.bins is not None for mode in all_modes)
    if unique < 1 or by_step:
        if unique < 1:
            questions.append(
                f"{1 - unique:.1%} of rows name an entry that another row names too. Are they "
                "parts of one count (summed, as now), several looks at it, or a mistake?"
            )
        columns = replace(columns, duplicates="sum")
    if is_running(columns.count):
        questions.append(
            f"Is {columns.count} a running total, as its name says? Then let `running` name the "
            "mode in time, and differences are taken."
        )
    if wide is not None and wide.unsure:
        questions.append(
            f"Do the {len(wide.columns)} columns {wide.columns[0]} to {wide.columns[-1]} each hold "
            f"counts of one level of {wide.mode}? If not, say which one is the count."
        )
    if columns.count and not wide:
        counts = pl.Series(numbers_of(raw.frame.get_column(columns.count)))
        zeros = share(counts == 0)
        if columns.count == EVENTS and bool((counts == 1).all()):
            columns = replace(columns, absent="zero")
            questions.append(
                "Each row is one event, so that a combination without a row is taken as 0. Or did "
                "nobody look at some of them (missing)?"
            )
        elif zeros < _FEW_ZEROS:
            few = f"{'No' if not zeros else 'Hardly any'} row has a count of 0. "
            questions.append(
                f"{few}Does a combination without a row mean that nobody looked "
                "(missing, as now), or that nothing was seen (0)?"
            )
    return columns, questions

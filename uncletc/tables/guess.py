"""Guess what the columns of a table are, from their names and values, and say why."""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
import polars.selectors as cs

from uncletc.data.roles import ActsOn
from uncletc.tables.build import MOST_COUNTS
from uncletc.tables.checks import OFTEN
from uncletc.tables.columns import (
    QUESTIONS,
    WORDS,
    AttributeColumn,
    Columns,
    ModeColumn,
    meaning_of,
    sign_of,
    speaks_of,
    tokens,
)
from uncletc.tables.histories import CAPTURES, OF_ANIMALS
from uncletc.tables.profiles import (
    Profile,
    determines,
    parts_of,
    profiles_of,
    proportional,
    share,
    unique_share,
)
from uncletc.tables.types import RawTable, by_step, dates_in, listed, step_of
from uncletc.tables.wide import Wide, find_wide

EVENTS = "events"
"""The column of ones that a list of single events gets."""

_RARE, _ALIKE = 9, 0.05  # counts of which rates are rounded too much; SD of logs
_LEAST_LISTED = 20  # counts from which zeros that are never written down are seen
_UNIQUE, _NEARLY_UNIQUE = 0.99, 0.9  # share of rows at which columns count as naming them
_MOST_OF_YEAR = 366  # days, weeks or months
_MOST_STEPS = 0.2  # weeks a row of a list of events
_MOST_KEYS = 100  # levels of numbers that may name rows
_MOST_UNKNOWN = 0.35  # share of rows whose level of a mode is empty: they are left out
_MOST_ROWS = 10  # times as many levels as rows of an entry, of what rows may be named by
_MOST_MODES, _MOST_ATTRIBUTES, _MOST_MISSING = 4, 15, 0.2
_SURVEYS = "; estimates of p can be added as surveys"
_MOST_FAULTY = 0.8  # share of values by which a column named as a count is still one
_UNNAMED = "no name explains it; take it as a covariate if p or true counts may depend on it"
_WITHIN = {"latitude": (-90, 90), "longitude": (-180, 360), "exposure": (0, math.inf)}

_Profiles = Sequence[Profile]
_Reasons = dict[str, str]  # the role of each column and why, to which each step adds


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
    rest = profiles_of(frame)
    reasons = dict[str, str]()
    wide = find_wide(rest)
    if wide.columns:
        why = f"Left out: one column for each {wide.mode}, which only counts can have."
        reasons |= dict.fromkeys(wide.beside([each.name for each in rest]), why)
        own = frame.select(pl.sum_horizontal(wide.columns)).to_series()
        sums = (it.name for it in rest if it.numeric and share(it.values == own) > _NEARLY_UNIQUE)
        reasons |= dict.fromkeys(sums, "Left out: it is made of counts, the sum of its row.")
        reasons |= dict.fromkeys(wide.columns, f"Counts of one level of {wide.mode}: {wide.why}.")
    if CAPTURES in frame.columns:
        reasons[CAPTURES] = "Left out: how often marked animals were caught, for closed visits."
    special = _special(rest, reasons)
    count, questions = ("count", []) if wide.columns else choose_count(rest, reasons)
    alike = () if speaks_of(wide.mode, "time", "pass", "distance") else wide.columns
    block = sorted((it for it in rest if it.name in alike), key=lambda it: it.low)
    if block and block[-1].low > block[len(block) // 2].high:
        questions.append(QUESTIONS["unlike"].format(block[-1].name))
    elif not wide.named:
        questions.append(QUESTIONS["alike"].format(listed(wide.columns, 3), wide.mode))
    if "series" in frame.columns:  # made of names of columns
        levels = frame["series"].unique(maintain_order=True).cast(pl.String).to_list()
        questions.append(QUESTIONS["alike"].format(listed(levels, 3), "series"))
    special = _without_what_is_made_of(count, rest, special, reasons)
    rest = [each for each in rest if each.name not in reasons]
    events = not wide.columns and _is_list(frame)
    days = frame.with_columns(cs.datetime().dt.truncate("1d"))  # which times are made, or coarser
    least = 1 if wide.columns else 2
    modes = _modes_of_events(rest) if events else _choose_modes(days, rest, least)
    if CAPTURES in frame.columns:  # of one site, too
        modes = [each for each in rest if each.name in frame.columns[:2]]
    as_modes = tuple(_mode(each, reasons, of_events=events) for each in modes)
    columns = Columns(modes=as_modes, count=count, **special)  # type: ignore[arg-type]
    if wide.columns:
        columns = _with_wide(columns, wide, reasons, len(frame))
    names = [each.column for each in columns.all_modes]
    passes = [name for name in names if speaks_of(name, "pass")]
    bands = [each.name for each in modes if each.bands] + names[-1:] * (wide.mode == "distance")
    if (bands or passes) and columns.exposure is None:
        columns = replace(columns, exposure=_effort(rest, reasons))
    built = days.with_columns(by_step(days[it.column], it.step) for it in columns.modes if it.step)
    groups = _groups(built, rest, modes, reasons)
    if count in frame.columns and frame[count].has_nulls():  # visits not made have no wind
        counted = frame.drop_nulls(count)
        for each in rest:
            each.missing = counted[each.name].null_count() / max(len(counted), 1)
    times = {it.name for it in modes if it.meaning == "time"} - {*passes}
    times |= {name for name in names[len(modes) :] if meaning_of(name, number=False) == "time"}
    once = not bands and not times
    attributes = _attributes(built, rest, modes, reasons, once=once, sick=speaks_of(count, "sick"))
    out = f"Left out: {_UNNAMED}."
    if columns.exposure is None and not events and {*wide.columns, count} & {*frame.columns}:
        y = frame.select(pl.sum_horizontal(wide.columns or [count], ignore_nulls=False)).to_series()
        numbers = [it for it in attributes if frame[it.column].dtype.is_numeric()]
        free = [it.column for it in numbers if it.acts_on == "detection" and not it.sign]
        # p, too, may rise in proportion: with the share of places that report.
        free = [it for it in free if not speaks_of(it, "share of", "driver", "of detection")]
        plain = [it.name for it in rest if it.numeric and reasons[it.name] == out]
        plain = plain[:_MOST_ATTRIBUTES]
        free, others = free + plain, [*(it.column for it in numbers), *plain]
        name, power, made = proportional(built, y, free, [it.name for it in modes], others)
        reasons |= dict.fromkeys(
            made, "Left out: it is made of counts, which hardly scatter about it."
        )
        attributes = tuple(it for it in attributes if it.column not in (name, *made))
        if name:
            columns = replace(columns, exposure=name)
            reasons[name] = f"Exposure: counts rise in proportion to it, with its power {power}."
            questions.append(QUESTIONS["proportional"].format(name, power))
    columns, asked = _asked(replace(columns, attributes=attributes, groups=groups), frame)
    dates = [it.name for it in rest if it.kind == "date" and it not in modes and it.n_levels > 1]
    if events and modes and modes[-1].kind == "date" and dates:
        asked.append(QUESTIONS["dates"].format(modes[-1].name, listed(dates)))
    plain = [it.name for it in rest if reasons[it.name] == out and (it.few or it.numeric)]
    said = " ".join(questions)
    plain = [it for it in plain if count and not re.search(rf"(?<!\w){re.escape(it)}(?!\w)", said)]
    asked += [QUESTIONS["unnamed"].format(listed(plain), plain[0])] if plain else []
    asked += [QUESTIONS["bands"].format(name) for name in bands]
    asked += [QUESTIONS["removed"].format(name) for name in passes]
    if CAPTURES not in frame.columns:
        rounds = [it.name for it in modes if it.may_be_visit]
        visits = [it for it in names if it in rounds or speaks_of(it, "visit", "observer")]
        no = {"date", "day", "year"} | WORDS["unit of place"]
        visits = [it for it in visits if not no & {*tokens(it)} and it not in passes]
        asked += [QUESTIONS["same"].format(name) for name in visits]
    ordered = {name: reasons[name] for name in [*frame.columns, *reasons]}
    return Guess(columns, ordered, tuple(questions + asked))


def _is_list(frame: pl.DataFrame) -> bool:
    column = frame.get_column(EVENTS, default=None)
    return column is not None and column.dtype.is_numeric() and bool((column == 1).all())


def _modes_of_events(columns: _Profiles) -> list[Profile]:
    """The kind, the place and the time of events: of each the column with most levels.

    A kind with names goes before an age, or one of numbers, which is none with many levels.
    Of several dates the one that is first in most rows is when something happened. Weeks or
    months of several years are other levels in each year.
    """
    some = [it for it in columns[::-1] if _may_be_mode(it, wide=False) and not it.of_one_animal]
    some = [it for it in some if it.kind == "date" or not it.repeats_little]
    days = {it.name: it.values.cast(pl.Date) for it in some if it.kind == "date"}
    first = pl.DataFrame(days).min_horizontal() if days else None
    early = {name: share(each == first) for name, each in days.items()}
    names = [it for it in some if it.kind == "text" and not it.says("aged")]
    some.sort(key=lambda it: (it.meaning != "kind" or it in names, it.n_levels))
    some.sort(key=lambda it: it.kind == "date")  # before times of day
    some.sort(key=lambda it: early.get(it.name, 0.0))
    best = {it.meaning: it for it in some}
    found = [best[each] for each in ("kind", "place", "time") if each in best]
    fine = len(found) > 2 and found[0] not in names and not found[0].few
    years = [it for it in some if it.meaning == "time" and it.numeric and it.low > _MOST_OF_YEAR]
    of_year = "time" in best and best["time"].numeric and best["time"].high <= _MOST_OF_YEAR
    return found[fine:] + years[: int(of_year)]


def _with_wide(columns: Columns, wide: Wide, reasons: _Reasons, rows: int) -> Columns:
    taken = {each.column for each in columns.modes}
    mode = wide.mode if wide.mode not in taken else f"{wide.mode} (column)"
    n = len(wide.columns)
    days = pl.Series(list(dates_in(wide.columns).values())) if wide.mode == "date" else None
    step = None if days is None else step_of(days, rows * n)
    by = f", taken by {step}" if step else ""
    reasons[mode] = f"Mode: one level for each of {n} columns, since {wide.why}{by}."
    return replace(columns, across=wide.columns, across_mode=ModeColumn(column=mode, step=step))


# The role of each column


def _special(columns: _Profiles, reasons: _Reasons) -> dict[str, str]:
    """Columns known by their name alone: exposure and degrees."""
    found: dict[str, str] = {}
    for each in (it for it in columns if it.name not in reasons):
        low, high = _WITHIN.get(each.meaning, (math.inf, -math.inf))
        some = each.meaning != "exposure" or share(each.values > 0) >= 1 - _MOST_MISSING
        if some and low <= each.low <= each.high <= high:  # rows without any will be left out
            found.setdefault(each.meaning, each.name)
    if len(found.keys() & {"latitude", "longitude"}) == 1:
        found = {role: name for role, name in found.items() if role == "exposure"}
    reasons |= {name: f"{role.capitalize()}, by its name." for role, name in found.items()}
    return found


def _without_what_is_made_of(
    count: str, columns: _Profiles, special: dict[str, str], reasons: _Reasons
) -> dict[str, str]:
    """Leave out parts of the count, and rates: it over another column, then the exposure."""
    values = {it.name: it.values for it in columns}
    of = next((it for it in columns if it.name == count), None)
    if of is None:
        return special
    numbers = [it for it in columns if it.numeric and it.n_levels > 1 and it.name != count]
    some = [it for it in numbers if it.name not in reasons]
    parts = [it for it in some if it.count_like and _is_part(it, of)]
    reasons |= {it.name: f"Left out: it is part of {count}, and determines it." for it in parts}
    levels = {it.name: it.n_levels for it in numbers}
    rates = [it.name for it in some if it.kind == "number"][:_MOST_ATTRIBUTES]
    for rate, over in itertools.product(rates, [*levels][:_MOST_ATTRIBUTES]):
        if rate == over:
            continue
        table = pl.DataFrame([values[each].cast(pl.Float64) for each in (count, rate, over)])
        table = table.gather_every(len(table) // 1000 + 1)
        y, r, n = table.filter(pl.min_horizontal(pl.all()) > 0, pl.col(count) > _RARE).to_numpy().T
        own = np.log(y / n)
        if len(y) > _LEAST_LISTED and np.std(np.log(r) - own) < _ALIKE < np.std(own) / 2:
            if 10 * levels[rate] < levels[over]:  # as areas that were searched beside densities
                rate, over = over, rate
            reasons[rate] = f"Left out: it is {count} over {over}, and determines it."
            if not (speaks_of(over, "test") or "exposure" in special):
                special = special | {"exposure": over}
                reasons[over] = f"Exposure: {rate} is {count} over it."
    return special


def _is_part(part: Profile, of: Profile) -> bool:
    """Whether counts are among others by their names and values: falls with harm, falls."""
    named = part.words[:1] == of.words[:1] and not part.says("test")
    return named and bool((part.values <= of.values).all())


def _effort(columns: _Profiles, reasons: _Reasons) -> str | None:
    """How long a line is, or how hard a pass searched: counts by distance or pass go with it."""
    some = [it for it in columns if it.n_levels > 1 and not it.missing and 0 < it.low < math.inf]
    found = [it.name for word in ("effort", "length") for it in some if word in tokens(it.name)]
    reasons |= dict.fromkeys(found[:1], "Exposure: counts go with how much was surveyed.")
    return found[0] if found else None


def choose_count(columns: _Profiles, reasons: _Reasons) -> tuple[str, list[str]]:
    """The column with the counts, and questions; "" where none may be."""
    good, faulty, nearly = list[Profile](), list[str](), False
    free = [it for it in columns if it.n_levels and it.name not in reasons]
    levels = [it for it in columns if it.of_levels][:_MOST_ATTRIBUTES]
    free = [it for it in free if it.meaning == "count" or not any(at.codes(it) for at in levels)]
    for each in free:
        named, fault = each.meaning == "count", ""
        if each.kind == "number" and (named or (each.meaning == "maybe count" and each.nearly)):
            at = int((each.values != each.values.floor()).arg_true()[0])
            fault = f"{each.values[at]:g} (data row {at + 1}), which is not whole; round such "
            fault += "numbers, or use the column as exposure."
        if each.kind == "text" and meaning_of(each.name) == "count":
            numbers = each.values.cast(pl.Float64, strict=False)
            other = each.values.filter(~numbers.is_finite().fill_null(False)).drop_nulls()
            if 0 < len(other) < _MOST_FAULTY * each.values.count():
                like = re.search(r"[<>≤≥+]|\d ?[-–] ?\d", str(other[0]))
                what = "write the likeliest instead" if like else "correct it or leave it empty"
                fault = f"{str(other[0])[:40]!r}, which is no number; {what}."
        if fault:
            reasons[each.name] = f"Left out: by its name a count, but it holds {fault}"
            faulty.append(f"Is {each.name} the count? It holds {fault}")
            nearly |= each.nearly or each.kind == "text"
        varies = each.count_like and (each.n_levels > 1 or named)
        varies &= not WORDS["of intervals"] & {*each.words[-1:]}
        if varies and each.count_points > 0 and (named or not each.names_animal):
            good.append(each)
    if faulty and all(it.says("beside cases") for it in good if it.meaning == "count"):
        good = []  # tests or deaths are not the count where cases are faulty
    plain = [it for it in free if it.meaning == "" and it.count_like and it.count_points > -2]
    if not good:
        some = [it for it in plain if it.high > 1 < it.n_levels]
        some = [it for it in some if not (it.names_animal or (it.few and it.low > 0))]
        good = some if len(some) == 1 and not faulty else []
    if not good:
        return "", [*faulty, QUESTIONS["no count"]]
    added = {EVENTS: "each row is one event"}
    if CAPTURES in reasons:
        added["count"] = "animals caught at a visit"
    for name in (it.name for it in good if it.name in added):
        reasons[name] = f"Count: {added[name]}."
        return name, []
    first = max(good, key=lambda it: (it.n_levels > 1, round(it.count_points, 1)))
    near = [it for it in good if it.count_points > first.count_points - 1.05]
    count = max([first, *(it for it in near if _is_part(first, it))], key=lambda it: it.high)
    parts = {it: parts_of(it, columns) for it in sorted(good, key=lambda it: it.high)[-4:]}
    count = next((it for it in parts if count.name in parts[it]), count)
    own, name = parts.get(count, []), count.name
    reasons |= dict.fromkeys(own, f"Left out: {' + '.join(own)} = {name}.")
    named = count.meaning in ("count", "maybe count")
    near = [it for it in good if it.count_points >= count.count_points - 2.5]
    may = dict.fromkeys(near if named else good + plain)
    others = [it.name for it in may if it is not count and it.n_levels > 1 < it.high]
    others = [it for it in others if it not in reasons and not speaks_of(it, "test", "suspected")]
    doubt = f" Could be the count as well: {', '.join(others[:6])}." if others else ""
    why = "by its name" if named else "it is the column most like counts"
    reasons[name] = f"Count: {why}.{doubt}"
    asked = [f"Is {name} the count?{doubt}"] * bool(doubt or not named)
    return name, faulty * (nearly or not named) + asked


def _choose_modes(frame: pl.DataFrame, columns: _Profiles, least: int) -> list[Profile]:
    """The columns that name an entry, one to four: those under which rows are unique, or nearly so.

    The best by their points first, then each that still distinguishes rows: another name of a
    level, and what a finer level implies, does not; nor does the day of a numbered visit. Kinds
    and places come first, times last.
    """
    some = [each for each in columns if _may_be_mode(each, wide=least == 1)]
    seen = [it for it in columns if least > 1 and (it.bands or it.says("pass"))][:1]
    others = [it for it in some if it not in seen and not (seen and it.is_day)]
    at = [it.name for it in some if it.meaning == "place" and seen]  # searched on one day each
    some = [
        it for it in some if not (it.is_day and any(determines(frame, [x], it.name) for x in at))
    ]
    place = [it for it in columns if it.kind == "text" and it.n_levels == 1 and not it.missing]
    place = [it for it in place if it not in seen]
    if not others and len(place[:1] + seen) == least:  # of one place
        return place[:1] + seen
    if len(some) < least and unique_share(frame, some) < 1:  # such as objects and observers
        more = [it for it in columns if it.kind == "text" or it.numbers_levels]
        some += [it for it in more if it not in some and it.n_levels > 1 and it.meaning != "note"]
    some = _without_keys(frame, some)
    if any(each.is_visit for each in some):
        some = [it for it in some if not it.is_day]
    places = [it.name for it in some if it.meaning == "place" and it.kind != "number"]
    some.sort(key=lambda each: each.mode_points, reverse=True)
    chosen: list[Profile] = []
    share = 0.0
    for each in some:
        size = math.prod(it.n_levels for it in [*chosen, each])
        many = len(chosen) >= _MOST_MODES and size > MOST_COUNTS
        if many or (share >= _UNIQUE and len(chosen) >= least):
            break
        if each.kind == "date" and any(it.kind == "date" for it in chosen):
            continue  # such as when what was reported began
        if each.missing > _MOST_UNKNOWN and len(chosen) >= least:
            continue
        own = [it for it in some if it.meaning == each.meaning and each.of_levels]
        finer = [it for it in own if it.n_levels > each.n_levels]
        if not each.is_visit and any(determines(frame, [it.name], each.name) for it in finer):
            continue
        with_it = unique_share(frame, [*chosen, each])
        needed = len(chosen) < least and (with_it > share or each.of_levels)
        alike = [it for it in chosen if it.meaning == each.meaning or not each.of_levels]
        pairs = [(each.name, it.name) for it in alike]
        if needed and any(determines(frame, [a], b) or determines(frame, [b], a) for a, b in pairs):
            continue  # another name of the same levels, or of their groups
        named = each.of_levels or each.meaning == "id"
        enough = min(0.8, 2 * share if named else 1)
        useful = with_it > share * (1.005 if named else 1.05)
        if needed or (useful and (with_it >= enough or len(chosen) < _MOST_MODES - 1)):
            chosen, share = [*chosen, each], with_it
    for each in chosen[::-1]:
        others = [other for other in chosen if other is not each]
        if len(others) >= least and unique_share(frame, others) >= 0.995 * share:
            chosen = others  # a later column says what this one does
    while share < _NEARLY_UNIQUE and len(chosen) < _MOST_MODES and chosen:
        shares = {it: unique_share(frame, [*chosen, it]) for it in columns if it not in chosen}
        keys = [it for it in shares if _may_be_key(it, share, shares[it])]
        if not keys:
            break
        best = max(keys, key=lambda it: (round(shares[it], 1), it.kind == "text", -it.n_levels))
        chosen, share = [*chosen, best], shares[best]
    days = [it for it in chosen if it.is_day and not any(at.meaning == "place" for at in chosen)]
    own = [it for it in some if it.name in places for day in days if _nested(frame, day, it)]
    chosen += sorted(own, key=lambda it: it.n_levels)[-1:]  # where each day was elsewhere
    in_order = [it for it in columns if it in chosen]
    return sorted(in_order, key=lambda it: (it.says("pass"), it.meaning == "time"))


def _may_be_key(it: Profile, before: float, after: float) -> bool:
    """Whether rows that the modes do not name are levels of a column: its share of unique ones."""
    rows = it.n_levels * before  # of a design that is crossed, of 1 / before each
    label = it.kind == "text" or it.meaning == "place"
    label |= it.low >= 1 and it.n_levels <= _MOST_KEYS and after >= _UNIQUE
    no = ("note", "coordinate", "count", "maybe count", "made of counts", "exposure")
    if it.kind == "date" or it.n_levels < 2 or it.missing > _MOST_MISSING or it.meaning in no:
        return False
    if it.meaning == "attribute":  # such as two depths
        return label and it.few and rows <= 2 and after >= _NEARLY_UNIQUE
    few = it.n_levels <= _MOST_KEYS if it.meaning == "" and after >= _UNIQUE else rows <= _MOST_ROWS
    return label and few and (after >= _NEARLY_UNIQUE or after >= 3 * before)


def _nested(frame: pl.DataFrame, fine: Profile, coarse: Profile) -> bool:
    """Whether each level of one column is of one level of another, and several of each."""
    return 2 * coarse.n_levels <= fine.n_levels and determines(frame, [fine.name], coarse.name)


def _without_keys(frame: pl.DataFrame, some: list[Profile]) -> list[Profile]:
    """Leave out what only numbers the visits that a place and a time name."""
    places, times = ([it for it in some if it.meaning == what] for what in ("place", "time"))
    keys = [
        each
        for each, *of in itertools.product(some, places, times)
        if all(_nested(frame, each, it) for it in of)
        and determines(frame, [it.name for it in of], each.name)
    ]
    return [it for it in some if it not in keys]


def _may_be_mode(each: Profile, *, wide: bool) -> bool:
    named = each.of_levels or each.meaning == "id"
    no = ("note", "attribute", "coordinate")
    if each.n_levels < 2 or each.missing > 0.5 or each.meaning in no:
        return False
    decimal = each.kind == "number" and each.meaning == "place" and not each.repeats_little
    numbered = wide and (each.numbers_levels or each.numbers_rows)
    if not decimal and each.numeric and (each.kind == "number" or not (named or numbered)):
        return False
    if wide or each.kind == "date":  # times of day will be made coarser
        return True
    return not (each.flags or each.numbers_rows or each.n_levels > 0.9 * len(each.values) > 9)


def _mode(each: Profile, reasons: _Reasons, *, of_events: bool) -> ModeColumn:
    """A column as a mode, dates made coarser where they have too many levels, or hardly repeat."""
    level = each.meaning if each.of_levels else "level"
    what = "bands of distance" if each.bands else level + "s" * (each.n_levels > 1)
    reason = f"Mode: {each.n_levels:,} {what}"
    step = step_of(each.levels, len(each.values)) if each.kind == "date" else None
    if each.kind == "date" and of_events and each.repeats_little:
        weeks = by_step(each.levels, "week").n_unique()
        step = "week" if weeks <= _MOST_STEPS * len(each.values) else "month"
    if step is not None:
        reason += f", taken by {step}"
    if each.missing:
        reason += f"; rows without it ({each.values.null_count():,}) are left out"
    reasons[each.name] = f"{reason}."
    return ModeColumn(column=each.name, step=step)


def _why_out(it: Profile, *, fixed: bool) -> tuple[tuple[bool, str], ...]:
    """What of its name and values keeps a column from being an attribute; the first that holds."""
    other = it.meaning in ("count", "maybe count") or (not it.meaning and it.says("beside cases"))
    other &= it.high > 1 or it.says("beside cases")  # not yes or no
    made_of = it.numeric and it.meaning == "made of counts"
    code = fixed or it.says("id", "kind") or it.is_visit
    code |= it.meaning == "place" and not it.words[1:]
    codes = code if it.n_levels <= 10 else it.meaning == "place" or it.says("id")
    of_p = it.name.endswith(OF_ANIMALS) or it.of_equipment or it.of_detection
    codes = fixed or not it.few if it.kind == "text" else it.kind != "date" and codes
    names = it.of_levels and not of_p and codes
    return (
        (it.n_levels <= 1, "every row has the same value, or none"),
        (it.meaning == "note", "by its name it holds remarks, or an order or precision of rows"),
        (it.meaning == "coordinate", "it is a coordinate, and not in degrees"),
        (made_of, "by its name it is made of counts, and determines the count"),
        (it.numeric and other, "by its name it counts something else"),
        (it.numbers_rows or it.meaning == "id", "it only numbers or codes rows"),
        (names, "other columns name the entries already"),
        (it.missing > _MOST_MISSING, "it is empty in many rows" + it.known_p * _SURVEYS),
    )


def _is_named(it: Profile) -> bool:
    """Whether a name says that λ or p may depend on it."""
    of_p = it.name.endswith(OF_ANIMALS) or it.of_equipment or it.of_detection or sign_of(it.name)
    of_day = it.says("clock") and it.numeric and 0 <= it.low <= it.high <= 24  # its time
    return bool(of_p or it.meaning == "attribute" or it.is_day or of_day)


def _attributes(
    frame: pl.DataFrame, columns: _Profiles, modes: _Profiles, reasons: _Reasons,
    *, once: bool, sick: bool,
) -> tuple[AttributeColumn, ...]:  # fmt: skip
    """Attributes among columns without another role, with a reason for each column.

    One that is the same at all rows of a place says nothing of how a single count was made: it
    acts on the true rate, unless the place was visited `once` and its name is of searching, or it
    is text on equipment. So does what drives a disease where those who are `sick` are counted. One
    that differs among the events of an entry is of those that were counted alone.
    """
    found: list[AttributeColumn] = []
    events, places = _is_list(frame), [each for each in modes if each.meaning == "place"]
    places = places or [each for each in modes if not each.of_levels][:1]
    kinds = [each.name for each in modes if each.meaning == "kind"]
    others = [each.name for each in modes if each.name not in kinds]
    days = {"date", "whole"} if any(each.kind == "date" for each in modes) else {"date"}
    days = set() if any(each.is_visit for each in modes) else days
    of_p = ("known p", "p of", "share of", "means of search", "particle", "beside p")
    for each in (it for it in columns if it.name not in reasons):
        texts = each.values.cast(pl.String)
        day = each.is_day or bool({*each.words[-1:]} & WORDS["year month day"])
        of_one = events and not any(determines(frame, it, each.name) for it in (kinds, others))
        same = any(texts.equals(it.values.cast(pl.String)) for it in modes)
        pairs = [(a, b) for it in modes for a, b in ((it, each), (each, it)) if each.of_levels]
        fixed = events or any(determines(frame, [a.name], b.name) for a, b in pairs)
        no = (
            (same, "it is the same as a column that names the entries"),
            (day and each.kind in days, "it is a date, and other columns name the rows"),
            *_why_out(each, fixed=fixed),
            (of_one, "it differs among the events of an entry"),
            (each.kind == "text" and not each.few, "it is text of many values"),
            (not _is_named(each), _UNNAMED),
            (len(found) == _MOST_ATTRIBUTES, f"{_MOST_ATTRIBUTES} covariates are taken already"),
        )
        if why_not := next((why for holds, why in no if holds), ""):
            reasons[each.name] = f"Left out: {why_not}."
            continue
        # Not of something else, such as of women.
        alone = all(speaks_of(word, *of_p) for word in each.words)
        sign = sign_of(each.name) or int(each.known_p and alone)
        searched = each.says("search") or set() < {*tokens(each.name)} <= WORDS["distance"]
        searched = (once and searched) or each.of_equipment or each.of_detection
        of = () if sign or searched or each.name.endswith(OF_ANIMALS) else places
        place = next((it.name for it in of if determines(frame, [it.name], each.name)), None)
        drives = sick and each.says("driver") and not (sign or searched)
        acts_on: ActsOn = "rate" if place or drives else "detection"
        reason = f"Covariate that detection may {('depend on', 'rise with', 'fall with')[sign]}."
        reason += " It is not taken as known; surveys of p can be added." if each.known_p else ""
        why = f"the same at all rows of one {place}" if place else "by its name it drives disease"
        reasons[each.name] = f"Covariate of true counts: {why}." if acts_on == "rate" else reason
        text = each.kind == "text"
        found.append(AttributeColumn(column=each.name, acts_on=acts_on, sign=sign, category=text))
    return tuple(found)


def _groups(
    frame: pl.DataFrame, columns: _Profiles, modes: _Profiles, reasons: _Reasons
) -> tuple[str, ...]:
    """Columns of text that a finer mode determines, such as the region of a site."""
    found, meanings = [], ("place", "kind", "")
    some = [it for it in columns if it.kind == "text" and it.meaning in meanings and not it.flags]
    for each in (it for it in some if not it.name.endswith(OF_ANIMALS)):
        fine = [it for it in modes if 1 < each.n_levels < it.n_levels and it.kind != "date"]
        fine = [it for it in fine if it.meaning == "kind" or not each.of_equipment]
        fine = [it for it in fine if each.meaning or 2 * each.n_levels <= it.n_levels]
        of = next((mode.name for mode in fine if determines(frame, [mode.name], each.name)), "")
        if of and each.name not in reasons:
            reasons[each.name] = f"Group: each {of} is of one {each.name}."
            found.append(each.name)
    return tuple(found)


def _asked(columns: Columns, frame: pl.DataFrame) -> tuple[Columns, list[str]]:
    """What rows mean that repeat or are absent, as far as values say, and what is asked.

    Of single events, and where counts are often 1 and never 0, zeros were not written down. Of
    species they are where another was seen; cases of a disease or a sex are reported always.
    """
    if len(columns.all_modes) < 2:
        return columns, [QUESTIONS["no modes"]]
    names = [each.column for each in columns.modes]
    events = columns.count == EVENTS and _is_list(frame)
    unique, asked = frame.select(names).n_unique(), list[str]()
    if events or unique < len(frame) or any(it.step for it in columns.all_modes):
        columns = replace(columns, duplicates="sum")
    if not events and unique < _NEARLY_UNIQUE * len(frame):
        asked = [QUESTIONS["repeats"].format(f"{len(frame):,}", f"{unique:,}", listed(names))]
    kinds = [it.column for it in columns.all_modes if meaning_of(it.column, number=False) == "kind"]
    cells = [frame[it] for it in columns.across or (columns.count,) if it in frame.columns]
    if not cells:
        return columns, asked
    y, kind = pl.concat([each.cast(pl.Float64) for each in cells]), ["", *kinds][-1]
    held = bool(kinds) or events  # else whoever wrote no row may not have been there
    always = not kinds or any(speaks_of(it, "always reported") for it in kinds)
    parts = [[name] for name in names] if always else [[kind], [*{*names} - {kind}]]
    parts = parts if not columns.across else [names]
    size = len(cells) * math.prod(frame.select(part).n_unique() for part in parts)
    few = len(y) < _LEAST_LISTED or (columns.across and not y.has_nulls())
    never = size <= MOST_COUNTS and not few and y.min() == 1 and share(y == 1) >= OFTEN
    never &= y.drop_nulls().len() < size  # else none is absent
    if not (events or never):
        return columns, asked
    why = "Each row is one event" if events else f"{columns.count} is never 0"
    taken = "0" if always else f"0 wherever another {kind} has a count"
    columns = replace(columns, absent="zero" if always else kind) if held else columns
    return columns, [*asked, QUESTIONS["never zero"].format(why, taken if held else "missing")]

"""Dates, weeks, months and quarters as people write them."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from datetime import date

import polars as pl

from uncletc.tables.columns import Step, class_of, tokens

FORMS = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%m-%d-%Y",
    "%d.%m.%y", "%m/%d/%y", "%d/%m/%y", "%d-%b-%Y", "%d-%b-%y", "%d %b %Y", "%d %B %Y", "%b %d, %Y",
    "%B %d, %Y", "%b %d %Y",
)  # fmt: skip
_CLOCKS = (" %H:%M:%S", "T%H:%M:%S", " %H:%M", "T%H:%M", " %I:%M:%S %p", " %I:%M %p")
_SWAPPED = {"%m/%d/%Y": "%d/%m/%Y", "%m/%d/%y": "%d/%m/%y", "%d-%m-%Y": "%m-%d-%Y"}
_LIKE_DATE = (
    r"^\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ]\p{L}{3,9}[- ]\d{2,4}"
    r"|\p{L}{3,9} \d{1,2},? \d{4})"
)
_NAMED_DAY = r"(\d{8}$|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4})"
_ZONE = r"(\d{2}:\d{2}(:\d{2})?)(\.\d+)?\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$"
_QUICK = 200_000  # counts that are fitted in some seconds

_PARTS = {"y": "year", "m": "month", "b": "month", "d": "day"}
_MONTHS = {name.lower(): k for k, name in enumerate(calendar.month_abbr) if name}
_PERIODS = (
    re.compile(r"(?P<year>(?:19|20)\d\d)[-_/. ]?(?P<kind>w|week|m|q) ?(?P<part>\d\d?)"),
    re.compile(r"(?P<kind>w|week|q)[-_ ]?(?P<part>\d\d?)[-_/, ]+(?P<year>(?:19|20)\d\d)"),
    re.compile(r"(?P<part>\d\d?)[/.](?P<year>(?:19|20)\d\d)"),
    re.compile(r"(?P<year>(?:19|20)\d\d)[-/.](?P<part>\d\d?)"),
    re.compile(r"(?P<name>[a-z]{3,9})\.?[-_/ ,']*(?P<year>(?:19|20)\d\d|\d\d)"),
    re.compile(r"(?P<year>(?:19|20)\d\d)[-_/ ](?P<name>[a-z]{3,9})\.?"),
)


def dates_of(column: pl.Series) -> tuple[pl.Series, str] | None:
    """Text as dates or times and what was decided; None where one row is neither.

    Parameters
    ----------
    column : polars.Series
        Text; null where empty.
    """
    levels = column.drop_nulls().unique()
    if levels.is_empty() or not levels.head(200).str.contains(_LIKE_DATE).all():
        return None
    short_years = levels.str.contains(r"[-/. ]\d{2}$").any()
    for form in FORMS:
        if form.endswith("%Y") and short_years:
            continue
        if _fits(levels, form):
            doubt = ""
            if form in _SWAPPED and _fits(levels, _SWAPPED[form]):
                doubt = " (it could be the other way round: no day is above 12)"
            said = re.sub("%(.)", lambda sign: _PARTS[sign[1].lower()], form)
            note = "" if form == FORMS[0] else f"Dates are read as {said}{doubt}"
            return column.str.to_date(form, strict=False), note
    if not levels.str.contains(r"\d:\d").any():
        return None
    note, bare = "", levels.str.replace(_ZONE, "$1")
    if (bare != levels).any():
        column, levels = column.str.replace(_ZONE, "$1"), bare
        note = "Times are read without their zone"
    for form in (form + clock for form in FORMS for clock in _CLOCKS):
        if _fits(levels, form):
            times = column.str.to_datetime(form, strict=False, time_unit="us")
            whole = bool((times.dt.truncate("1d") == times).all())
            return (times.cast(pl.Date) if whole else times), note
    return None


def _fits(levels: pl.Series, form: str) -> bool:
    """Whether all texts are of this form, in a year that makes sense."""
    for some in (levels.head(20), levels):
        times = some.str.to_datetime(form, strict=False, time_unit="us")
        if times.null_count() or not times.dt.year().is_between(1500, 2200).all():
            return False
    return True


def digits_as_dates(column: pl.Series) -> tuple[pl.Series, str] | None:
    """Digits as days, weeks or months where the column's name is of time: 20200501, 202005."""
    words = set(tokens(column.name))
    levels = column.drop_nulls().unique() if class_of(column.name) == "time" else column.head(0)
    if levels.is_empty():
        return None
    first = column.drop_nulls()[0]
    if words & {"date", "day", "sampledate", "time"} and levels.str.contains(r"^\d{8}$").all():
        if not _fits(levels, "%Y%m%d"):
            return None
        days = column.str.to_date("%Y%m%d", strict=False)
        return days, f"Numbers are read as dates, such as {first}"
    if not levels.str.contains(r"^(19|20)\d{4}$").all():
        return None
    parts = levels.str.slice(4, 2).cast(pl.Int64)
    for kind, mark, most in (("week", "W", 53), ("month", "", 12)):
        if any(word.endswith(kind) for word in words) and parts.is_between(1, most).all():
            text = column.str.replace(r"^(\d{4})(\d{2})$", rf"$1-{mark}$2")
            return text, f"Numbers are read as {kind}s, such as {first}"
    return None


def periods(names: Iterable[str]) -> dict[str, str] | None:
    """Return "2020-W05", "2020-03" or "2020-Q1" for each name; None where one is none of these.

    Examples
    --------
    >>> periods(["Jan-20", "Feb-20"])
    {'Jan-20': '2020-01', 'Feb-20': '2020-02'}
    >>> periods(["2020M01", "x"]) is None
    True
    """
    found = {name: period_of(name) for name in names}
    values = set(found.values())
    kinds = {each[5] if each[5] in "WQ" else "M" for each in values if each}
    if "" in values or len(kinds) != 1 or len(values) < len(found):
        return None
    return found


def period_of(name: str) -> str:
    """Return one name as a week, month or quarter; empty where it is none."""
    for form in _PERIODS:
        match = form.fullmatch(name.strip().lower())
        if match is None:
            continue
        parts = match.groupdict()
        year = parts["year"] if len(parts["year"]) == 4 else f"20{parts['year']}"
        if parts.get("name"):
            full = [each.lower() for each in calendar.month_name]
            month = _MONTHS.get(parts["name"]) or (
                full.index(parts["name"])
                if parts["name"] in full
                else 9 * (parts["name"] == "sept")
            )
            return f"{year}-{month:02d}" if month else ""
        kind, part = (parts.get("kind") or "m")[0], int(parts["part"])
        if not 1 <= part <= {"w": 53, "m": 12, "q": 4}[kind]:
            return ""
        return f"{year}-" + {"w": f"W{part:02d}", "m": f"{part:02d}", "q": f"Q{part}"}[kind]
    return ""


def by_step(dates: pl.Series, step: Step) -> pl.Series:
    """The first day of each date's day, week (from Monday) or month."""
    every = {"day": "1d", "week": "1w", "month": "1mo"}[step]
    return dates.dt.truncate(every).cast(pl.Date)


def step_of(levels: pl.Series, n_counts: int) -> Step | None:
    """A step under which dates make a sensible number of levels; None: as they stand.

    Parameters
    ----------
    levels : polars.Series
        Distinct dates or times.
    n_counts : int
        Counts of all of them: where they are many, fewer levels are faster.
    """
    days = levels.cast(pl.Date).unique()
    if len(days) <= (500 if n_counts <= _QUICK else 120):
        return "day" if len(days) < levels.n_unique() else None
    weeks = by_step(days, "week").n_unique()
    if weeks <= 300:
        return "week" if weeks < len(days) else None
    return "month"


def dates_in(names: Iterable[str]) -> dict[str, date]:
    """The dates that names of columns are, of those that are dates; R writes an X before them."""
    plain = {name: re.sub(r"^[xX](?=\d)", "", name).replace("_", "-") for name in names}
    likely = {name: text for name, text in plain.items() if re.match(_NAMED_DAY, text)}
    column = pl.Series("date", list(likely.values()), dtype=pl.String)
    found = dates_of(column) or digits_as_dates(column)
    if found is None or not found[0].dtype.is_temporal():
        return {}
    return dict(zip(likely, found[0].cast(pl.Date).to_list(), strict=True))

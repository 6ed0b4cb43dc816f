"""Dates, weeks and months as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import date, datetime

import polars as pl

from uncletc.tables.columns import Step, meaning_of

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
_WEEK = re.compile(
    r"(?P<year>(19|20)\d\d)[-_/. ]?w(eek)? ?(?P<week>\d\d?)"
    r"|w(eek)?[-_ ]?(?P<week_2>\d\d?)[-_/, ]+(?P<year_2>(19|20)\d\d)"
)
_MONTHS = ("%b-%y", "%b %Y", "%B %Y", "%b-%Y", "%Y-%m", "%m/%Y", "%Y/%m", "%YM%m", "%Y-%b")


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
            order = re.sub("%(.)", lambda sign: _PARTS[sign[1].lower()], form)
            note = "" if form == FORMS[0] else f"Dates are read as {order}{doubt}"
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
    """Digits as days where the column's name is of time: 20200501."""
    levels = column.drop_nulls().unique()
    named = meaning_of(column.name, number=False) == "time"
    days = named and levels.str.contains(r"^(19|20)\d{6}$").all()
    if levels.is_empty() or not days or not _fits(levels, "%Y%m%d"):
        return None
    return column.str.to_date("%Y%m%d", strict=False), "Numbers are read as dates"


def periods(names: Iterable[str]) -> dict[str, str] | None:
    """Return "2020-W05" or "2020-03" for each name; None where one is no week or month.

    Examples
    --------
    >>> periods(["Jan-20", "Feb-20"])
    {'Jan-20': '2020-01', 'Feb-20': '2020-02'}
    >>> periods(["2020M01", "x"]) is None
    True
    """
    found = {name: period_of(name) for name in names}
    distinct = set(found.values())
    mixed = len({"W" in each for each in distinct}) != 1
    return None if "" in distinct or mixed or len(distinct) < len(found) else found


def period_of(name: str) -> str:
    """Return one name as a week or a month; empty where it is none."""
    text = name.strip().replace("_", "-")
    if match := _WEEK.fullmatch(text.lower()):
        year, week = match["year"] or match["year_2"], int(match["week"] or match["week_2"])
        return f"{year}-W{week:02d}" if 1 <= week <= 53 else ""
    for form in _MONTHS if re.search(r"\d\d$|^\d{4}", text) else ():
        with suppress(ValueError):
            month = datetime.strptime(text, form)
            return f"{month:%Y-%m}" if 1900 <= month.year < 2100 else ""
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

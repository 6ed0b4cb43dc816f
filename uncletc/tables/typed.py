"""Columns of text as numbers, dates or text: what a column holds is decided for all its rows."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

from uncletc.tables.codes import said_of_codes, without_codes
from uncletc.tables.periods import periods
from uncletc.tables.words import class_of, tokens, word_set

MISSING = ("", "NA", ".", "NaN", "nan", "N/A", "n/a", "#N/A", "NULL", "null", "None", "-", "–", "?")
"""Texts that stand for a missing value."""

LONGEST = 200
"""Characters of a label at most."""

_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_COMMA_THOUSANDS = r"^[+-]?\d{1,3}(,\d{3})+(\.\d+)?$"
_POINT_THOUSANDS = r"^[+-]?\d{1,3}(\.\d{3})+(,\d+)?$"
_COMMA_DECIMAL = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+|\d{1,3}([ '’]\d{3})+)?(,\d+)?([eE][+-]?\d+)?$"
_SPACED = r"^[+-]?\d{1,3}([ '’]\d{3})+(\.\d+)?$"
_MOST_PERIODS = 2000
_LEADING_ZERO = r"^0\d+$"

_DATES = (
    ("%Y-%m-%d", "year-month-day"),
    ("%Y/%m/%d", "year/month/day"),
    ("%Y.%m.%d", "year.month.day"),
    ("%d.%m.%Y", "day.month.year"),
    ("%m/%d/%Y", "month/day/year"),
    ("%d/%m/%Y", "day/month/year"),
    ("%d-%m-%Y", "day-month-year"),
    ("%m-%d-%Y", "month-day-year"),
    ("%d.%m.%y", "day.month.year"),
    ("%m/%d/%y", "month/day/year"),
    ("%d/%m/%y", "day/month/year"),
    ("%d-%b-%Y", "day-month-year"),
    ("%d-%b-%y", "day-month-year"),
    ("%d %b %Y", "day month year"),
    ("%d %B %Y", "day month year"),
    ("%b %d, %Y", "month day, year"),
    ("%B %d, %Y", "month day, year"),
    ("%b %d %Y", "month day year"),
)
_TIMES: tuple[str, ...] = (
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
)
_TIMES += ("%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M:%S")
_TIMES += ("%d.%m.%Y %H:%M:%S", "%d/%m/%Y %H:%M:%S", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S")
_TIMES += ("%m/%d/%Y %I:%M:%S %p", "%m/%d/%Y %I:%M %p", "%d/%m/%Y %I:%M:%S %p")
_ZONE = r"(\d{2}:\d{2}(:\d{2})?)(\.\d+)?\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$"
_LIKE_DATE = (
    r"^\s*(\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ]\p{L}{3,9}[- ]\d{2,4}"
    r"|\p{L}{3,9} \d{1,2},? \d{4})"
)
_AMBIGUOUS = {"%m/%d/%Y": "%d/%m/%Y", "%m/%d/%y": "%d/%m/%y", "%d-%m-%Y": "%m-%d-%Y"}


@dataclass(frozen=True)
class _Commas:
    """What commas in numbers of this file are."""

    seen: bool  # some cannot mark thousands
    likely: bool  # columns are not separated by commas


def typed(frame: pl.DataFrame, separator_is_comma: bool) -> tuple[pl.DataFrame, list[str]]:
    """Return columns of text as the numbers and dates that they hold, and what was decided.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns of text; others stay as they are.
    separator_is_comma : bool
        Whether commas separate columns: then one inside a number more likely marks thousands.
    """
    clean = frame.select(_clean(frame.get_column(name)) for name in frame.columns)
    texts = [name for name in clean.columns if clean.get_column(name).dtype == pl.String]
    seen = any(_has_decimal_commas(clean.get_column(name)) for name in texts)
    decimal = _Commas(seen, seen or not separator_is_comma)
    columns, notes, commas_in, coded = [], list[str](), list[str](), []
    for name in clean.columns:
        column = clean.get_column(name)
        if column.dtype == pl.String:
            text = column
            column, said = _typed(text, decimal)
            if column.dtype in (pl.String, pl.Categorical) and (found := without_codes(text)):
                numbers = _numbers(found.column, found.column.drop_nulls(), decimal)
                if numbers is not None:
                    column, said = numbers
                    coded.append(found)
            if said == _SAID_COMMA:
                commas_in.append(name)
            elif said:
                notes.append(said)
        columns.append(column)
    notes += said_of_codes(coded)
    if commas_in:
        notes.insert(0, f"Decimal commas are read as such in {_listed(commas_in)}.")
    return pl.DataFrame(columns), notes


_SAID_COMMA = "decimal commas"


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:6])
    return shown if len(names) <= 6 else f"{shown} and {len(names) - 6} more columns"


def _clean(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String:
        return column
    text = column.str.replace_all("\u00a0|\u202f", " ").str.strip_chars()
    missing = text.is_in(MISSING)
    if missing.any():
        codes = text.filter(~missing & text.is_not_null()).unique()
        iso = len(codes) >= 20 and bool(codes.str.contains(r"^[A-Z]{2}$").all())
        names = text.is_in([each for each in MISSING if not (iso and each == "NA")])
        text = text.set(names, None)
    return text


def _has_decimal_commas(column: pl.Series) -> bool:
    some = column.drop_nulls().head(100_000)
    with_comma = some.filter(some.str.contains(",", literal=True))
    return (
        len(with_comma) > 0
        and bool(some.str.contains(_COMMA_DECIMAL).all())
        and not bool(with_comma.str.contains(_COMMA_THOUSANDS).all())
    )


def _typed(column: pl.Series, decimal: _Commas) -> tuple[pl.Series, str]:
    some = column.drop_nulls()
    if some.is_empty():
        return column, ""
    compact = _compact_dates(column, some)
    if compact is not None:
        return compact
    found = _numbers(column, some, decimal)
    if found is not None:
        return found
    dates = _dates(column, some)
    if dates is not None:
        return dates
    levels = some.unique().to_list() if some.head(50).str.contains(r"\d\d").all() else []
    named = periods(levels) if len(levels) <= _MOST_PERIODS else None
    if named and any(level != period for level, period in named.items()):
        first = str(some[0])
        text = column.replace_strict(named, default=None, return_dtype=pl.String)
        return text, f"Times in {column.name} are written as {named[first]} for {first}, and so on."
    return _labels(column)


def _numbers(column: pl.Series, some: pl.Series, decimal: _Commas) -> tuple[pl.Series, str] | None:
    if some.str.contains(_LEADING_ZERO).any():
        return None  # codes, such as FIPS
    plain = bool(some.str.contains(_PLAIN).all())
    name = column.name
    if plain:
        points = some.filter(some.str.contains(".", literal=True))
        thousands = (
            len(points) > 0
            and bool(points.str.contains(r"^[+-]?\d{1,3}(\.\d{3})+$").all())
            and (decimal.seen or bool((points.str.count_matches(".", literal=True) > 1).any()))
        )
        if not thousands:
            values = column.cast(pl.Float64, strict=False)
            return (_compact(values), "") if values.drop_nulls().is_finite().all() else None
    if not some.head(1000).str.contains(r"^[+-]?[\d.,]").all():
        return None
    if some.str.contains(r"^[+-]?[\d.,]+ ?%$").all():
        values = column.str.replace(r" ?%$", "").str.replace(",", ".", literal=True)
        return _compact(values.cast(pl.Float64, strict=False)), f"{name} is in percent."
    forms = (
        (_COMMA_THOUSANDS, ",", ".", "commas mark thousands"),
        (_COMMA_DECIMAL, ".", ",", _SAID_COMMA),
        (_POINT_THOUSANDS, ".", ",", "points mark thousands"),
        (_SPACED, " ", ".", "spaces mark thousands"),
    )
    if decimal.likely:
        forms = (forms[1], forms[0], *forms[2:])
    for form, thousands_mark, decimal_mark, said in forms:
        if bool((some.str.contains(form) | some.str.contains(_PLAIN)).all()):
            values = column.str.replace_all(r"[ '’]", "")
            values = values.str.replace_all(thousands_mark, "", literal=True)
            values = values.str.replace(decimal_mark, ".", literal=True)
            numbers = values.cast(pl.Float64, strict=False)
            if numbers.null_count() > column.null_count():
                continue
            return _compact(numbers), said if said == _SAID_COMMA else f"In {name}, {said}."
    return None


def _compact(values: pl.Series) -> pl.Series:
    """Whole numbers in four bytes each where they fit."""
    some = values.drop_nulls()
    if some.is_empty():
        return values
    top = some.abs().max()
    if isinstance(top, float) and top < 2**31 and bool((some == some.floor()).all()):
        return values.cast(pl.Int32)
    return values


def _dates(column: pl.Series, some: pl.Series) -> tuple[pl.Series, str] | None:
    if not some.head(200).str.contains(_LIKE_DATE).all():
        return None
    levels = some.unique()
    if len(levels) > 0.5 * len(some):
        levels = some
    for form, said in _DATES:
        if form.endswith("%Y") and levels.str.contains(r"[-/. ]\d{2}$").any():
            continue
        if _sensible(levels.str.to_date(form, strict=False, exact=True)):
            dates = column.str.to_date(form, strict=False, exact=True)
            other = _AMBIGUOUS.get(form)
            unsure = other and _sensible(levels.str.to_date(other, strict=False, exact=True))
            doubt = " (it could be the other way round: no day is above 12)" if unsure else ""
            note = f"Dates in {column.name} are read as {said}{doubt}."
            return dates, "" if form == "%Y-%m-%d" else note
    if not levels.str.contains(r"\d:\d").any():
        return None
    said, bare = "", levels.str.replace(_ZONE, "$1")
    if (bare != levels).any():
        column, levels = column.str.replace(_ZONE, "$1"), bare
        said = f"Times in {column.name} are taken as they stand, whatever their zone."
    for form in _TIMES:
        times = levels.str.to_datetime(form, strict=False, exact=True, time_unit="us")
        if _sensible(times):
            times = column.str.to_datetime(form, strict=False, exact=True, time_unit="us")
            whole = bool((times.dt.truncate("1d") == times).all())
            return (times.cast(pl.Date) if whole else times), said
    return None


_WEEKS = word_set("week epiweek weeks semana semaine woche se sem yearweek yw")
_MONTHS = word_set("month months mes mês mois monat maand yearmonth period")


def _compact_dates(column: pl.Series, some: pl.Series) -> tuple[pl.Series, str] | None:
    """Digits as dates, where the name of the column is of time: 20200501, 202005."""
    name = column.name
    words = set(tokens(name))
    if class_of(name) != "time" and not words & (_WEEKS | _MONTHS):
        return None
    if some.str.contains(r"^(19|20)\d{6}$").all():
        if not _sensible(some.unique().str.to_date("%Y%m%d", strict=False, exact=True)):
            return None
        dates = column.str.to_date("%Y%m%d", strict=False, exact=True)
        return (
            dates,
            f"Numbers in {name} are read as dates, such as {some[0]} as {dates.drop_nulls()[0]}.",
        )
    if not some.str.contains(r"^(19|20)\d{4}$").all():
        return None
    parts = some.unique().str.slice(4, 2).cast(pl.Int64)
    if words & _WEEKS and parts.is_between(1, 53).all():
        form = r"$1-W$2"
    elif words & _MONTHS and parts.is_between(1, 12).all():
        form = r"$1-$2"
    else:
        return None
    text = column.str.replace(r"^(\d{4})(\d{2})$", form)
    first = str(text.drop_nulls()[0])
    what = "weeks" if "W" in form else "months"
    return text, f"Numbers in {name} are read as {what}, such as {some[0]} as {first}."


def _sensible(dates: pl.Series) -> bool:
    if dates.null_count():
        return False
    years = dates.dt.year()
    return bool(((years >= 1500) & (years <= 2200)).all())


def _labels(column: pl.Series) -> tuple[pl.Series, str]:
    """Text of bounded length, in few bytes where few texts repeat."""
    note, longest = "", column.str.len_chars().max()
    if isinstance(longest, int) and longest > LONGEST:
        column = column.str.slice(0, LONGEST)
        note = f"Texts in {column.name} are cut after {LONGEST} characters."
    some = column.head(100_000)
    if len(column) > 1000 and some.n_unique() < 0.3 * len(some):
        column = column.cast(pl.Categorical)
    return column, note


def as_number(text: str) -> float | None:
    """A number as usually written, None for anything else."""
    return float(text) if re.fullmatch(_PLAIN, text.strip()) else None

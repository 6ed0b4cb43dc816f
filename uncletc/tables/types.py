"""A table as it was read; columns of text as the numbers, dates or labels that they hold."""

import itertools
import re
from calendar import month_abbr
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from typing import Self

import pandas as pd
import polars as pl
import polars.selectors as cs

from uncletc.tables.columns import FORMS, LEVELS, MONTHS, WORDS, Step, meaning_of

CHECK = "Please check: "
"""Begins a rule of a table's provenance that its owner should read: a warning of the report."""

MOST_ROWS = 2_000_000
"""Rows of a table at most."""

MOST_COLUMNS = 2_000
"""Columns of a table at most."""

_MISSING = ["", *WORDS["missing"]]
CODES = {word.replace("_", " ") for word in WORDS["code"]}
"""What stands among numbers for one that is not known, lower case."""

_SUPPRESSED = r"^(<|≤|<=) ?\d+$|^: ?[a-z]$"
_FLAGGED = r"^(\d[\d .,'’]*?) ?(?:[a-z]{1,2}|\([a-z]\)|[*†‡§]+)$"  # provisional, estimated, …
_LEAST_NUMBERS = 0.2  # share of numbers beside codes

_FORM = r"^[+-]?([1-9]\d{0,2}([ '’%s]\d{3})+|[1-9]\d?(,\d\d)+,\d{3}|\d*)([%s]\d*)?([eE][+-]?\d+)?$"
_FORMS = {mark: _FORM % (other, mark) for mark, other in ((".", ","), (",", "."))}
"""Numbers by their decimal mark; the other mark, a space or an apostrophe marks thousands."""

_FEW_ODD, _MOST_ODD = 0.17, 3  # share of values beside numbers or dates, and how many
_NO_AMOUNTS = (*LEVELS, "id", "note", "latitude", "longitude", "coordinate")
_MOST_PERIODS = 2000
_FEW_DAYS = 3  # levels of digits that may be days by chance

_SWAPPED = {"%m/%d/%Y": "%d/%m/%Y", "%m/%d/%y": "%d/%m/%y", "%d-%m-%Y": "%m-%d-%Y"}
_LIKE_DATE = (
    r"^\s*((\d{4}|\d\d?)[-/.]\d{1,2}[-/.]\d\d|\d{4}[-/.]\d{1,2}[-/.]\d"
    r"|\d{1,2}[- /]\p{L}{3,9}[- /]\d{2,4}"
    r"|\p{L}{3,9} \d{1,2},? \d{4})"
)
# Dates with words, or ranges of them.
_IN_WORDS = r"^\p{L}{2}|\d \p{L}+ \d|\p{L}{3}|[–—]|[\d.] ?- ?\d+[./]"
_NAMED_DAY = r"(\d{8}$|\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4})"
_ZONE = r"(\d{2}:\d{2}(:\d{2})?)(\.\d+)?\s?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?$"
_QUICK = 200_000  # counts that are fitted in some seconds

_PARTS = {"y": "year", "m": "month", "b": "month", "d": "day"}
_OF_YEAR = re.compile(r"((?:19|20)\d\d)[-/ ]?(w|week|q)[- ]?(\d\d?)")  # weeks and quarters
_YEAR_LAST = re.compile(r"(w(?:eek)?[- ]?\d\d?(?=[-/, ])|q[1-4])[-/, ]*((?:19|20)\d\d)")
_WORD = re.compile(r"([^\W\d_]+)(\.(?=[ -]))?")
_SEASON = re.compile(r"((?:19|20)\d\d)[-/–](?:19|20)?(\d\d)")


@dataclass(frozen=True, eq=False)
class RawTable:
    """A table as it was read: named columns of numbers, dates or text.

    Attributes
    ----------
    name : str
        Of the file.
    frame : polars.DataFrame
        Distinct names; whole numbers, numbers, dates, times or text; null where empty.
    notes : tuple of str
        What was decided or left out on the way, one sentence each.

    Examples
    --------
    >>> import pandas as pd
    >>> raw = RawTable.of(pd.DataFrame({"site": ["a", "b"], "seen": ["1,204", "n/a"]}), "visits")
    >>> raw.frame["seen"].to_list()
    [1204, None]
    >>> raw.notes
    ('Marks of thousands are left out: seen.',)
    """

    name: str
    frame: pl.DataFrame
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, frame: pl.DataFrame | pd.DataFrame | Mapping[str, Sequence[object]], name: str
    ) -> Self:
        """A table from a frame; text is read as numbers or dates as that of a file is.

        Raises
        ------
        ValueError
            If it has no row, or a column that cannot be read.
        """
        if isinstance(frame, pd.DataFrame):
            mixed = [it for it, kind in frame.dtypes.items() if kind.kind in "Om"]
            table = pl.from_pandas(frame.astype(dict.fromkeys(mixed, str)))  # missing: "nan"
        else:
            table = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame, strict=False)
        check_size(name, *table.shape)
        notes = list[str]()
        return cls(name, typed(plain_columns(table), notes), tuple(notes))


def check_size(called: str, rows: int, columns: int) -> None:
    """Refuse a table without rows, or with more rows or columns than are read."""
    if not rows:
        raise ValueError(f"{called} must have at least one row below the names of its columns")
    in_long_form = f"{columns:,}: put it in long form, one row per count"
    for n, most, what, advice in (
        (columns, MOST_COLUMNS, "columns", in_long_form),
        (rows, MOST_ROWS, "rows", "more: sum rows first, such as days to weeks"),
    ):
        if n > most:
            raise ValueError(f"{called} must have at most {most:,} {what}, it has {advice}")


def plain_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """Columns of text, whole numbers, numbers, dates or times; anything else as text."""
    return pl.DataFrame([_plain(each) for each in frame.get_columns()])


def _plain(column: pl.Series) -> pl.Series:
    kind = column.dtype
    if kind.is_numeric() or kind == pl.Boolean:
        exact = column if kind.is_integer() else column.cast(pl.Float64).fill_nan(None)
        return _whole_where_it_is(exact)
    if isinstance(kind, pl.Datetime):
        return _days_if_whole(column.dt.replace_time_zone(None).cast(pl.Datetime("us")))
    return column if kind == pl.Date else column.cast(pl.String, strict=False)


def _days_if_whole(times: pl.Series) -> pl.Series:
    return times.cast(pl.Date) if (times.dt.truncate("1d") == times).all() else times


def _whole_where_it_is(values: pl.Series) -> pl.Series:
    top = values.abs().max()
    exact = isinstance(top, int | float) and top < 2**53
    return values.cast(pl.Int64) if exact and (values == values.floor()).all() else values


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names in a sentence: "a, b and c", "a, b and 7 others"."""
    shown = names if len(names) <= most + 1 else [*names[:most], f"{len(names) - most} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def typed(frame: pl.DataFrame, notes: list[str], *, semicolons: bool = False) -> pl.DataFrame:
    """Columns of text as the numbers and dates that they hold.

    Parameters
    ----------
    frame : polars.DataFrame
    notes : list of str
        To which what was decided is added.
    semicolons : bool
        Whether they separated columns, as where the comma is the decimal mark.
    """
    texts = cs.string()
    frame = frame.with_columns(texts.str.replace_all("\u00a0|\u202f", " ").str.strip_chars())
    frame = frame.with_columns(texts.replace(_MISSING, None))
    sure = {each.name: _decimal_commas(each) for each in frame.select(texts)}
    commas, noted = 1 in sure.values(), dict[str, list[str]]()
    unsure = [name for name, it in sure.items() if it and it > (0.4 if semicolons else 0.6)]
    if unsure and not {0, 1} & {*sure.values()}:
        commas, what = semicolons, "marks of thousands" if semicolons else "decimal marks"
        noted[f"{CHECK}dots before three digits are read as {what}"] = unsure
    for column in frame.select(texts):
        if column.null_count() < len(column):
            found, what = (
                _flags(column)
                or digits_as_dates(column)
                or _numbers(column, commas=commas and sure[column.name] != -1)
                or dates_of(column)
                or _hours(column)
                or _as_periods(column)
                or (column, _but_for_few(column))
            )
            frame = frame.with_columns(found.alias(column.name))
            for each in what.splitlines():
                noted.setdefault(each, []).append(column.name)
    notes += [f"{what}: {listed(names)}." for what, names in noted.items()]
    return frame


def _decimal_commas(column: pl.Series) -> float | None:
    """How surely a column has decimal commas, or dots of thousands, 0 to 1; None: it says nothing.

    -1 for codes, times and degrees, whose dots say nothing of other columns.

    Decimals are written to the same digit, or without zeros at their end: beside a number without a
    dot, 1.050 is 1,050.
    """
    some = _without_codes(column.head(100_000))[0].drop_nulls().unique()
    dotted = some.filter(some.str.contains(".", literal=True))
    points, commas = (bool(some.str.contains(form).all()) for form in _FORMS.values())
    if not points or dotted.is_empty():
        return 1 if commas and not points else None
    named = meaning_of(column.name, number=False) in _NO_AMOUNTS
    if named or not some.str.contains(r"^[+-]?(0|[1-9]\d{0,2}(\.\d{3})*)$").all():
        return -1 if named else 0
    mixed = (some != "0").sum() > len(dotted)
    return 0.5 + 0.25 * mixed + 0.25 * (mixed and bool(dotted.str.ends_with("0").any()))


def _numbers(column: pl.Series, *, commas: bool) -> tuple[pl.Series, str] | None:
    """Text as numbers, and a note on what was read otherwise; None where it is other text.

    Parameters
    ----------
    column : polars.Series
    commas : bool
        Whether the table has decimal commas.
    """
    bare, codes = _without_codes(column)
    percent = bool(bare.drop_nulls().str.ends_with("%").all())
    bare = bare.str.strip_chars_end("% ") if percent else bare
    some, marks = bare.drop_nulls(), (",", ".") if commas else (".", ",")
    counts = meaning_of(column.name) == "count" and some.str.contains(_FORMS[marks[1]]).all()
    names = r"^0\d|^\d{16,}$" + r"|\d[eE]\d" * (meaning_of(column.name) in _NO_AMOUNTS)
    if some.str.contains(names).any() or not some.head(1000).str.contains(r"\d").all():
        return None  # codes, such as FIPS, or text
    for mark in marks:
        if not some.str.contains(_FORMS[mark]).all():
            continue
        plain = bare.str.replace_all("[ '’.]" if mark == "," else "[ '’,]", "")
        numbers = plain.str.replace(mark, ".", literal=True).cast(pl.Float64, strict=False)
        if numbers.null_count() > bare.null_count() or numbers.is_infinite().any():
            return None
        if counts and mark == marks[0] and (numbers != numbers.floor()).any():
            continue  # 1.234 is 1,234: counts are whole
        decimal = mark == "," and some.str.contains(",", literal=True).any()
        note = "Marks of thousands are left out" if (plain != bare).any() else ""
        note = "Decimal commas are read as such" if decimal else note
        note = "Percent signs are left out" if percent else note
        return numbers if percent else _whole_where_it_is(numbers), codes or note
    return None


def _without_codes(column: pl.Series) -> tuple[pl.Series, str]:
    """Codes of missing values and flags taken out of a column of numbers, and a note on them."""
    numbered = column.name[-1:].isdigit() or month_and_day(column.name)  # these hold counts
    if not numbered and meaning_of(column.name) in (*LEVELS, "id", "note"):
        return column, ""
    bare, filled = column.str.replace(_FLAGGED, "$1"), column.count()
    flagged = column.filter(bare != column)
    named = meaning_of(column.name) == "count"
    most = 0.5 if named else _FEW_ODD
    year, flags = re.match(r"[xX]?(19|20)\d\d", column.name), ""
    if flagged.len() and (year or 1 < len(flagged) <= most * filled):  # once is a slip
        flags = f"{CHECK}flags behind numbers, such as p for provisional, are left out"
        column = bare
    suppressed = column.str.contains(_SUPPRESSED).fill_null(False)
    code = column.str.to_lowercase().is_in(list(CODES)).fill_null(False)
    odd = ~(code | suppressed | column.str.contains("|".join(_FORMS.values()))).fill_null(True)
    again = column.filter(odd)  # one word, or a few where a count is named
    evenly = column.rename("").drop_nulls().value_counts()["count"].n_unique() < 2  # as names are
    known = numbered or again.n_unique() <= (_MOST_ODD if named else not evenly)
    suppressed |= odd & bool(known and len(again) <= _FEW_ODD * filled)
    found = column.filter(code | suppressed)
    if found.is_empty() or filled - code.sum() < _LEAST_NUMBERS * filled:
        return column, flags
    times = found.rename("").value_counts(sort=True, name="times").head(6).iter_rows()
    listing = ", ".join(f"{text!r} ({n:,} time{'s' * (n > 1)})" for text, n in times)
    near = found.filter(found.str.contains(r"^[<≤>]|\d ?\+$") & named)
    less = f"a likely number for {near[0]!r} biases λ less than none; " if len(near) else ""
    what = f"{CHECK if suppressed.any() else ''}{less}codes are read as missing, {listing}"
    return column.set(code | suppressed, None), f"{flags}\n{what[0].upper()}{what[1:]}".strip()


def _but_for_few(column: pl.Series) -> str:
    """Which value of a column of text keeps it from being one of numbers; "" of others."""
    odd = column.filter(~column.str.contains(_FORMS["."]))
    few = 0 < odd.n_unique() <= _MOST_ODD and len(odd) <= _FEW_ODD * column.count()
    named = meaning_of(column.name, number=False) in _NO_AMOUNTS
    what = f"{CHECK}numbers are left as text beside {odd[0][:40]!r}, which is none" if few else ""
    return "" if named else what


def _flags(column: pl.Series) -> tuple[pl.Series, str] | None:
    """Yes and no of a numbered visit as 1 and 0."""
    words = column.name[-1:].isdigit() and not column.str.contains(r"\d").any()
    flags = flags_of(column) if words else None
    return None if flags is None else (flags, "Yes and no are read as 1 and 0")


def flags_of(column: pl.Series) -> pl.Series | None:
    """Yes and no, or a mark and nothing, as 1 and 0; None for other columns."""
    texts = column.cast(pl.String).str.to_lowercase()
    levels = {*texts.fill_null("").unique()}
    yes, no = levels & WORDS["yes"], levels & {*WORDS["no"], ""}
    two = len(yes) == len(no) == 1 and len(levels) == 2
    return texts.is_in([*yes]).fill_null(False).cast(pl.Int64) if two else None


def _hours(column: pl.Series) -> tuple[pl.Series, str] | None:
    """Times of day as hours; None for those of a clock, by which counts are summed."""
    if not column.drop_nulls().unique().str.contains(r"^\d?\d:\d\d(:\d\d)?( ?[AaPp][Mm])?$").all():
        return None
    for form in (clock[1:] for clock in FORMS["clocks"]):
        times = column.str.to_time(form, strict=False)
        hours = times.dt.hour() + times.dt.minute() / 60 + times.dt.second() / 3600
        if times.null_count() == column.null_count() and (hours * 4 != (hours * 4).floor()).any():
            return hours, "Times of day are read as hours"
    return None


def _as_periods(column: pl.Series) -> tuple[pl.Series, str] | None:
    """Weeks, months and quarters in one form that sorts."""
    levels = column.drop_nulls().unique()
    if len(levels) > _MOST_PERIODS or not levels.str.contains(r"\d\d").all():
        return None
    named = periods(levels.to_list())
    if named is None or all(level == period for level, period in named.items()):
        return None
    first = str(column.drop_nulls()[0])
    text = column.replace_strict(named, default=None, return_dtype=pl.String)
    return text, f"Times are written as {named[first]} for {first}, and so on"


# Dates, weeks and months as people write them


def dates_of(column: pl.Series) -> tuple[pl.Series, str] | None:
    """Text as dates or times and what was decided; None where one row is neither.

    Parameters
    ----------
    column : polars.Series
        Text; null where empty.
    """
    bare, noted = column.str.replace(_ZONE, "$1"), None
    levels = bare.drop_nulls().unique(maintain_order=True)
    plain = some = levels.head(200)
    if some.str.contains(_IN_WORDS).any():
        plain = pl.Series([_first_and_last(it)[1] for it in some], dtype=pl.String)
    if (plain.str.contains(_LIKE_DATE).mean() or 0) < 1 - _FEW_ODD:  # type: ignore[operator]
        return None
    if not plain.equals(some):
        ends = zip(*map(_first_and_last, levels), strict=True)
        found = dates_of(pl.Series([*itertools.chain(*ends)]))
        if found is not None and found[0].dtype.is_temporal():
            first, last = found[0][: len(levels)], found[0][len(levels) :]
            notes = [found[1]] + ["of several days the first is taken"] * (not first.equals(last))
            first = first.zip_with((first <= last).fill_null(True), first.dt.offset_by("-1y"))
            times = column.replace_strict(levels, first, default=None)
            return times, "; ".join(filter(None, notes))
    clocks = FORMS["clocks"] if levels.str.contains(r"\d:\d").any() else ("",)
    for form, clock in itertools.product(FORMS["dates"], clocks):
        if not _fits(levels, form + clock):
            continue
        may = [it for it in (form, _SWAPPED.get(form, form)) if _fits(levels, it + clock)]
        read = [bare.str.to_datetime(it + clock, strict=False, time_unit="us") for it in may]
        falls = [int((it.drop_nulls().to_physical().diff() < 0).sum()) for it in read]
        k = falls.index(min(falls))  # the order in which they ascend
        form, times = may[k], read[k]
        order = re.sub("%(.)", lambda sign: _PARTS[sign[1].lower()], form)
        notes = [f"Dates are read as {order}"] if form != FORMS["dates"][0] else []
        if len({*may}) > 1 and (falls[k] or falls[0] == falls[-1]):
            notes = [f"{CHECK}dates are read as {order}, and could be the other way round"]
        if (bare != column).any():
            notes.append("Times are read without their zone")
        return _days_if_whole(times), "; ".join(notes)
    shapes = levels
    for text, sign in ((r"\d{3,}", "Y"), (r"\d+", "n"), (r"\p{L}+", "a")):
        shapes = shapes.str.replace_all(text, sign)
    parts = pl.DataFrame([levels.alias("level"), shapes.alias("shape")]).partition_by("shape")
    by_form = [part for each in parts if (part := dates_of(each[:, 0]))] if len(parts) > 1 else []
    if len(by_form) == len(parts) and all(part.dtype.is_temporal() for part, _ in by_form):
        new = pl.concat([part.cast(pl.Datetime("us")) for part, _ in by_form])
        times = bare.replace_strict(pl.concat(parts)[:, 0], new, default=None)
        what = "; ".join(sorted({note.removeprefix(CHECK).lower() for _, note in by_form if note}))
        return _days_if_whole(times), f"{CHECK}dates have several forms ({what})"
    for form, clock in itertools.product(FORMS["dates"], clocks):
        lost = levels.filter(levels.str.to_datetime(form + clock, strict=False).is_null())
        few = bare.is_in(lost).fill_null(False)
        if 0 < len(lost) <= _MOST_ODD and few.sum() <= _FEW_ODD * bare.count():
            times, note = dates_of(column.set(few, None)) or (column, "")
            return times, f"{note}\n{CHECK}{lost[0]!r} is no date, and is read as missing".strip()
        if len(lost) < len(levels):
            what = "Dates of several forms, or that no calendar has, are left as text"
            noted = column, f"{what}; write all of them like 2024-05-01"
    return noted


def _first_and_last(text: str) -> tuple[str, str]:
    """The first day and the last of a date or a range of dates, its month by an English word.

    Examples
    --------
    >>> _first_and_last("lundi 3 avr. 2023"), _first_and_last("26/12–01/01/2023")
    (('3 Apr 2023', '3 Apr 2023'), ('26/12/2023', '01/01/2023'))
    """
    start, words = re.match(r"[^\W\d_]+\.?,? +", text), re.findall(r"[^\W\d_]+", text.lower())
    named = [word in MONTHS for word in words]  # a weekday is before a month, or is none itself
    text = text[start.end() :] if start and (any(named[1:]) or not named[0]) else text
    text = _WORD.sub(lambda it: month_abbr[MONTHS.get(it[1].lower(), 0)] or it[0], text)
    text = re.sub(r"(?<=\d)(\.|er|º)? +(?:de +)?(?=[A-Z])|(?<=[a-z]) +de +", " ", text)
    ends = re.split(r"\s*[–—]\s*|\s+(?:-|to|bis|au|al|a)\s+|(?<=[\d.])-(?=\d+[/.])", text)
    parts = re.findall(r"\W*\w+", ends[-1])  # what the first day has in common with the last
    return ends[0].rstrip(".") + "".join(parts[len(re.findall(r"\w+", ends[0])) :]), ends[-1]


def _fits(levels: pl.Series, form: str) -> bool:
    """Whether all texts are of this form, in a year that makes sense."""
    for some in (levels.head(20), levels):
        times = some.str.to_datetime(form, strict=False, time_unit="us")
        if times.null_count() or not times.dt.year().is_between(1500, 2200).all():
            return False
    return True


def digits_as_dates(column: pl.Series) -> tuple[pl.Series, str] | None:
    """Digits as days, 20200501, or as weeks where the column's name is of time."""
    levels = column.drop_nulls().unique()
    named = meaning_of(column.name, number=False) == "time"
    weeks = named and levels.str.contains(r"^(19|20)\d\d(0[1-9]|[1-4]\d|5[0-3])$").all()
    if weeks and (levels.str.tail(2) > "12").any():  # 202240
        return column.str.replace(r"(..)$", "-W$1"), "Numbers are read as weeks"
    form = r"^(19|20)\d{6}$" if named else r"^(19[5-9]|20[0-4])\d{5}$"  # no codes
    days = (named or len(levels) > _FEW_DAYS) and levels.str.contains(form).all()
    if levels.is_empty() or not days or not _fits(levels, "%Y%m%d"):
        return None
    return column.str.to_date("%Y%m%d", strict=False), "Numbers are read as dates"


def periods(names: Iterable[str]) -> dict[str, str] | None:
    """Return "2020-W05", "2020-Q1", "2020-03" or "2020/21" for each name.

    None where one is no week, quarter, month or season, or is of another kind than the first.

    Examples
    --------
    >>> periods(["Jan-20", "Feb-20"])
    {'Jan-20': '2020-01', 'Feb-20': '2020-02'}
    >>> periods(["2010-11", "2011-12", "2012-13"])
    {'2010-11': '2010/11', '2011-12': '2011/12', '2012-13': '2012/13'}
    >>> periods(["2020M01", "x"]) is None
    True
    """
    every = list(names)
    found = {name: _season_of(name) for name in every}
    if "" in found.values():  # 2010-11 alone is a month
        found = {name: period_of(name) for name in every}
    distinct = set(found.values())
    kinds = {re.sub(r"\d+", "", each) for each in distinct}
    return None if "" in distinct or len(kinds) != 1 or len(distinct) < len(found) else found


def period_of(name: str) -> str:
    """Return one name as a week, a quarter, a month or a season; empty where it is none."""
    english = _WORD.sub(lambda it: month_abbr[MONTHS.get(it[1].lower(), 0)] or it[0], name)
    text = _as_written(english)
    if match := _OF_YEAR.fullmatch(_YEAR_LAST.sub(r"\2\1", text.lower())):
        number = int(match[3])
        most, period = (4, f"Q{number}") if match[2] == "q" else (53, f"W{number:02d}")
        return f"{match[1]}-{period}" if 1 <= number <= most else ""
    for form in FORMS["months"] if re.search(r"\d\d$|^\d{4}", text) else ():
        with suppress(ValueError):
            month = datetime.strptime(text, form)
            return f"{month:%Y-%m}" if 1900 <= month.year < 2100 else ""
    return _season_of(name)


def month_and_day(name: str) -> tuple[int, int] | None:
    """The month of a name and its day, without a year; 0 for the day of a month alone.

    Examples
    --------
    >>> month_and_day("12-May"), month_and_day("Mai"), month_and_day("12 sites")
    ((5, 12), (5, 0), None)
    """
    match = re.fullmatch(r"x?(\d{0,2})[-._ /]*([^\W\d_]+)\.?", name.lower())
    return (MONTHS[match[2]], int(match[1] or 0)) if match and match[2] in MONTHS else None


def _season_of(name: str) -> str:
    """Return one name as a year and the next; empty where it is none."""
    match = _SEASON.fullmatch(_as_written(name))
    following = match and (int(match[1]) + 1 - int(match[2])) % 100 == 0
    return f"{match[1]}/{match[2]}" if match and following else ""


def _as_written(name: str) -> str:
    """The name as it was before R wrote an X before it and dots for other signs."""
    return re.sub(r"^[xX](?=\d)", "", name.strip()).replace("_", "-").replace(".", "-")


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
    if found is None or not found[0].dtype.is_temporal() or found[0].has_nulls():
        return {}
    return dict(zip(likely, found[0].cast(pl.Date).to_list(), strict=True))

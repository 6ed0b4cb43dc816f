"""Columns of text as numbers, dates or text: what a column holds is decided for all its rows."""

from __future__ import annotations

import re
from collections import Counter

import polars as pl

from uncletc.tables.columns import class_of, count_score, is_fips, speaks_of, word_set
from uncletc.tables.dates import dates_of, digits_as_dates, periods

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

_CODES = word_set(
    "x xx xxx * ** *** n/d nd n.d. na n.a. n/a : .. ... … c z s u -- --- — n.s. suppressed "
    "redacted masked missing unknown unk pending tba tbd nodata withheld confidential #value! "
    "#div/0! #ref! #n/a #name? #num! #null!"
) | {"not recorded", "not counted", "not surveyed", "not available", "not done", "no data"}
_ZERO_WORDS = ("nil", "zero", "none", "nothing", "no", "inf", "+inf", "-inf", "infinity")
_SUPPRESSED = re.compile(r"(<|≤|<=) ?\d+")
_NUMBER = re.compile(r"[+-]?[\d.,'’ ]*\d([eE][+-]?\d+)?%?")
_MOST_CODES = 8
_LONGEST_CODE = 20
_LEAST, _HALF, _MOSTLY = 0.2, 0.5, 0.9  # share of numbers beside known codes, and beside others


def typed(frame: pl.DataFrame, *, comma_separates: bool) -> tuple[pl.DataFrame, list[str]]:
    """Columns of text as the numbers and dates that they hold, and what was decided.

    Parameters
    ----------
    frame : polars.DataFrame
        Columns of text; others stay as they are.
    comma_separates : bool
        Whether commas separate columns: then one inside a number more likely marks thousands.
    """
    clean = [_clean(each) for each in frame.get_columns()]
    seen = any(_has_decimal_commas(each) for each in clean if each.dtype == pl.String)
    columns, notes, commas_in = [], list[str](), list[str]()
    coded = dict[str, tuple[Counter[str], int]]()
    for text in clean:
        column, said = text, ""
        if text.dtype == pl.String and text.null_count() < len(text):
            column, said = _typed(text, seen, seen or not comma_separates)
            if column.dtype in (pl.String, pl.Categorical) and (found := without_codes(text)):
                bare, codes, row = found
                numbers = _numbers(bare, seen, seen or not comma_separates)
                if numbers is not None:
                    column, said = numbers
                    coded[text.name] = codes, row
        if said == _DECIMAL_COMMAS:
            commas_in.append(text.name)
        elif said:
            notes.append(said)
        columns.append(column)
    if commas_in:
        notes.insert(0, f"Decimal commas are read as such in {listed(commas_in)}.")
    return pl.DataFrame(columns), notes + _about_codes(coded)


def listed(names: list[str], most: int = 5) -> str:
    """Names in a sentence: "a, b and c", "a, b and 7 others"."""
    shown = names if len(names) <= most + 1 else [*names[:most], f"{len(names) - most} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


_DECIMAL_COMMAS = "decimal commas"


def _clean(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String:
        return column
    text = column.str.replace_all("\u00a0|\u202f", " ").str.strip_chars()
    codes = list(MISSING)
    if (text == "NA").any():
        names = text.filter(~text.is_in(MISSING)).unique()
        if len(names) >= 20 and names.str.contains(r"^[A-Z]{2}$").all():
            codes.remove("NA")  # Namibia among countries
    return text.set(text.is_in(codes).fill_null(False), None)


def _has_decimal_commas(column: pl.Series) -> bool:
    some = column.drop_nulls().head(100_000)
    with_comma = some.filter(some.str.contains(",", literal=True))
    return (
        len(with_comma) > 0
        and bool(some.str.contains(_COMMA_DECIMAL).all())
        and not bool(with_comma.str.contains(_COMMA_THOUSANDS).all())
    )


def _typed(column: pl.Series, commas_seen: bool, commas_likely: bool) -> tuple[pl.Series, str]:
    found = (
        digits_as_dates(column)
        or _numbers(column, commas_seen, commas_likely)
        or dates_of(column)
        or _as_periods(column)
    )
    return found or _labels(column)


def _numbers(
    column: pl.Series, commas_seen: bool, commas_likely: bool
) -> tuple[pl.Series, str] | None:
    some = column.drop_nulls()
    if (
        some.str.contains(r"^0\d+$").any()
        or not some.head(1000).str.contains(r"^[+-]?[\d.,]").all()
    ):
        return None  # codes, such as FIPS, or text
    plain = some.str.contains(_PLAIN)
    if plain.all():
        points = some.filter(some.str.contains(".", literal=True))
        thousands = (
            len(points) > 0
            and bool(points.str.contains(r"^[+-]?\d{1,3}(\.\d{3})+$").all())
            and (commas_seen or bool((points.str.count_matches(".", literal=True) > 1).any()))
        )
        if not thousands:
            values = column.cast(pl.Float64, strict=False)
            return (compact(values), "") if values.drop_nulls().is_finite().all() else None
    if some.str.contains(r"^[+-]?[\d.,]+ ?%$").all():
        values = column.str.replace(r" ?%$", "").str.replace(",", ".", literal=True)
        return compact(values.cast(pl.Float64, strict=False)), f"{column.name} is in percent."
    forms = [
        (_COMMA_THOUSANDS, ",", ".", f"In {column.name}, commas mark thousands."),
        (_COMMA_DECIMAL, ".", ",", _DECIMAL_COMMAS),
        (_POINT_THOUSANDS, ".", ",", f"In {column.name}, points mark thousands."),
        (_SPACED, " ", ".", f"In {column.name}, spaces mark thousands."),
    ]
    if commas_likely:
        forms[:2] = forms[1::-1]
    for form, thousands_mark, decimal_mark, said in forms:
        if (some.str.contains(form) | plain).all():
            values = column.str.replace_all(r"[ '’]", "")
            values = values.str.replace_all(thousands_mark, "", literal=True)
            values = values.str.replace(decimal_mark, ".", literal=True)
            numbers = values.cast(pl.Float64, strict=False)
            if numbers.null_count() == column.null_count():
                return compact(numbers), said
    return None


def compact(values: pl.Series) -> pl.Series:
    """Whole numbers in four bytes each where they fit."""
    top = values.abs().max()
    whole = isinstance(top, float) and top < 2**31 and bool((values == values.floor()).all())
    return values.cast(pl.Int32) if whole else values


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
    return text, f"Times in {column.name} are written as {named[first]} for {first}, and so on."


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


def without_codes(column: pl.Series) -> tuple[pl.Series, Counter[str], int] | None:
    """Missing-value and suppression codes taken out of a numeric column; None for one of text.

    A code has no digit, unless it is a bound such as "<5", so that a slip of the pen in a number
    is none. One that is not known as a code counts as one only where nearly all rows hold numbers,
    or the name of the column is that of counts.

    Returns
    -------
    (polars.Series, Counter of str, int)
        Text, null where a code stood; how often each stood; the data row of the first, from 1.
    """
    name = column.name
    if speaks_of(name, "id", "note") or is_fips(name):
        return None
    names_levels = bool(class_of(name)) or speaks_of(name, "attribute")
    if names_levels and count_score(name) <= 0 and not re.search(r"\D\d{1,4}$", name):
        return None
    codes = Counter[str]()
    numbers = suppressed = 0
    unknown = False
    for level, n in column.drop_nulls().value_counts(name="rows").iter_rows():
        word = level.casefold()
        if _NUMBER.fullmatch(level):
            numbers += n
            continue
        if _SUPPRESSED.fullmatch(level):
            suppressed += n
        elif word not in _CODES:
            slip = re.search(r"\d", level) or len(level) > _LONGEST_CODE or word in _ZERO_WORDS
            if slip:
                return None
            unknown = True
        codes[level] += n
        if len(codes) > _MOST_CODES:
            return None
    least = _LEAST if not unknown else _HALF if count_score(name) >= 3 else _MOSTLY
    if not numbers or numbers + suppressed < least * (numbers + codes.total()):
        return None
    is_code = column.is_in(list(codes)).fill_null(False)
    return column.set(is_code, None), codes, int(is_code.arg_max() or 0) + 1


def _about_codes(found: dict[str, tuple[Counter[str], int]]) -> list[str]:
    """One sentence for all codes of a table."""
    if not found:
        return []
    codes = sum((each for each, _ in found.values()), Counter[str]())
    said = ", ".join(
        f"{code!r} ({n:,} {'time' if n == 1 else 'times'})" for code, n in codes.most_common(6)
    )
    name, (_, row) = next(iter(found.items()))
    return [
        f"Texts among the numbers of {listed(list(found))} are read as missing: {said}; the first "
        f"is in data row {row} of {name}."
    ]

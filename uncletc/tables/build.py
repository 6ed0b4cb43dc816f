"""A data set from a table and what its owner says of its columns."""

from __future__ import annotations

import calendar
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pandas as pd
import polars as pl

from uncletc.common.validation import FloatArray, IntArray, check_choice
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at, flat_index
from uncletc.data.frames import MOST_MODES, exposure_along
from uncletc.data.observations import Look
from uncletc.data.roles import Role, Roles
from uncletc.datasets.base import Dataset, Provenance, Source
from uncletc.datasets.described import described
from uncletc.datasets.reading import scaled
from uncletc.tables.checks import CHECK, as_missing
from uncletc.tables.columns import (
    Absent,
    Columns,
    Duplicates,
    ModeColumn,
    Step,
    class_of,
    is_fips,
)
from uncletc.tables.dates import by_step, dates_in, periods
from uncletc.tables.guess import FLAGS, LARGE
from uncletc.tables.read import RawTable
from uncletc.tables.types import listed

MOST_ENTRIES = 50_000_000
"""Entries of a tensor at most, counted or not: pages draw λ of all of them."""

MOST_COUNTS = 3_000_000
"""Zeros and counts at most where combinations without a row are zeros."""

_MOST_CELLS = 30_000_000  # of the counts of a wide table
_MOST_LOOKS = 12
_MOST_CATEGORIES = 30
_FEW = 0.05  # share of counts that may be corrected
_TOP = 2.0**53  # whole numbers beyond are not exact
_COUNTY = 1000  # FIPS codes from here on are of counties, below of states
_LEAST_STATES = 5
_SAME_PLACE = 0.02  # degrees
_TAKEN = ("count", "rows", "total")  # columns of the tables of a data set

_STATES_TEXT = """
AL 01 Alabama; AK 02 Alaska; AZ 04 Arizona; AR 05 Arkansas; CA 06 California; CO 08 Colorado; CT
09 Connecticut; DE 10 Delaware; DC 11 District of Columbia; FL 12 Florida; GA 13 Georgia; HI 15
Hawaii; ID 16 Idaho; IL 17 Illinois; IN 18 Indiana; IA 19 Iowa; KS 20 Kansas; KY 21 Kentucky; LA
22 Louisiana; ME 23 Maine; MD 24 Maryland; MA 25 Massachusetts; MI 26 Michigan; MN 27 Minnesota;
MS 28 Mississippi; MO 29 Missouri; MT 30 Montana; NE 31 Nebraska; NV 32 Nevada; NH 33 New
Hampshire; NJ 34 New Jersey; NM 35 New Mexico; NY 36 New York; NC 37 North Carolina; ND 38 North
Dakota; OH 39 Ohio; OK 40 Oklahoma; OR 41 Oregon; PA 42 Pennsylvania; RI 44 Rhode Island; SC 45
South Carolina; SD 46 South Dakota; TN 47 Tennessee; TX 48 Texas; UT 49 Utah; VT 50 Vermont; VA
51 Virginia; WA 53 Washington; WV 54 West Virginia; WI 55 Wisconsin; WY 56 Wyoming; AS 60
American Samoa; GU 66 Guam; MP 69 Northern Mariana Islands; PR 72 Puerto Rico; VI 78 Virgin
Islands
"""
_STATES = {
    letters: (code, name)
    for letters, code, name in (
        each.split(" ", 2) for each in _STATES_TEXT.replace("\n", " ").strip().split("; ")
    )
}


def build(raw: RawTable, columns: Columns) -> Dataset:
    r"""Make a data set of a table.

    Parameters
    ----------
    raw : RawTable
    columns : Columns

    Returns
    -------
    Dataset
        ``name`` is "own". Attributes are min-max scaled to 0..1. ``table`` has a row per count of
        the file: the modes, their ``<mode>_index``, ``look`` (0: the first observation) and
        ``count`` (NaN: not counted). ``mode_tables`` have for each level ``rows`` with a count,
        their ``total``, and where known ``fips``, ``latitude`` and ``longitude``. ``roles`` are
        what `columns` says. ``provenance`` has one sentence per rule that was applied.

    Raises
    ------
    ValueError
        Naming the column, the data row, the value and the rule it breaks.

    Examples
    --------
    >>> from uncletc.tables import guess, read_file
    >>> text = b"site,week,seen\na,1,4\na,2,0\nb,1,2\nb,2,7\na,3,1\n"
    >>> raw = read_file(text, "visits.csv")
    >>> build(raw, guess(raw).columns).counts
    CountTensor(2 × 3, 5 observed (83.3%), 0 attributed, 0 attributes)
    """
    _check(raw, columns)
    rules = list[str]()
    long = _long(raw.frame, columns, rules)
    attributes, roles = _attributes(raw.frame, columns, rules)
    stated = _stated(raw.frame, columns, long)
    entries = _entries(long, attributes | stated, columns.duplicates, rules)
    rules = [*raw.notes, *_count_rules(columns, entries), *rules]
    counts = _tensor(long, entries, columns, tuple(attributes), rules)
    tables = _mode_tables(long, entries, raw.frame, columns, rules)
    z = [entries.values[name] for name in attributes]
    complete = ~np.isnan(z).any(axis=0) if z else slice(None)
    used = ", ".join(["counts", *(["attributes"] if attributes else [])])
    own = Source(name=f"{raw.name} (your own file)", url="", licence="none stated", used_for=used)
    dataset = Dataset(
        name="own",
        title=raw.name,
        counts=counts,
        table=_table(long, entries),
        mode_tables=tables,
        provenance=Provenance(
            simulated=False, period="as in the file", sources=(own,), rules=tuple(rules)
        ),
        roles=roles,
        attribute_info=described(
            {name: column[complete] for name, column in zip(attributes, z, strict=True)}
        ),
    )
    return as_missing(dataset, columns.missing) if columns.missing else dataset


def repeated_rows(raw: RawTable, columns: Columns) -> int:
    """How many rows name an entry that a row above names too.

    Parameters
    ----------
    raw : RawTable
    columns : Columns
        Their `duplicates` do not matter.

    Raises
    ------
    ValueError
        If the columns do not fit the table; see :func:`uncletc.tables.build`.
    """
    long = _long(raw.frame, columns, [])
    return len(long.counts) - len(np.unique(flat_index(long.indices, long.shape)))


def _check(raw: RawTable, columns: Columns) -> None:
    check_choice("duplicates", columns.duplicates, get_args(Duplicates))
    check_choice("absent", columns.absent, get_args(Absent))
    for mode in columns.modes:
        if mode.step is not None:
            check_choice(f"step of {mode.column}", mode.step, get_args(Step))
    if columns.across and columns.across_mode is None:
        raise ValueError("across_mode must name the mode that the columns across are levels of")
    n = len(columns.modes) + bool(columns.across)
    if not 2 <= n <= MOST_MODES:
        raise ValueError(
            f"modes must be at least 2 columns, got {n}: choose the columns that name an entry, "
            "such as place, species and week"
            if n < 2
            else f"modes must be at most {MOST_MODES} columns, got {n}: leave some out"
        )
    if not columns.across and not columns.count:
        raise ValueError("count must name the column that holds the counts, none is chosen")
    if columns.known_error is not None and columns.known_detection is None:
        raise ValueError("known_error needs known_detection, which is not given")
    modes = [each.column for each in columns.modes]
    others = (columns.exposure, columns.known_detection, columns.known_error)
    chosen = [*modes, *(columns.across or [columns.count])]
    chosen += [each.column for each in columns.attributes] + [each for each in others if each]
    known = set(raw.frame.columns)
    for column in [*chosen, *(each for each in (columns.latitude, columns.longitude) if each)]:
        if column not in known:
            has = ", ".join(raw.frame.columns[:30])
            raise ValueError(f"the table must have a column {column!r}; it has {has}")
    seen = set[str]()
    for column in chosen:
        if column in seen:
            raise ValueError(
                f"each column must have one role, {column!r} has {chosen.count(column)}"
            )
        seen.add(column)
    names = [each.column for each in columns.all_modes]
    for name in names:
        if name in _TAKEN or name.endswith("_index"):
            raise ValueError(f"a mode must not be called {name!r}: rename its column in the file")
    if len(set(names)) < len(names):
        raise ValueError(f"modes must have distinct names, {names[-1]!r} has two")


# Values of columns


def numbers_of(column: pl.Series) -> FloatArray:
    """A column as float64, NaN where it is empty; (n,).

    Raises
    ------
    ValueError
        If it holds other text or dates; names the first such data row.
    """
    if column.dtype.is_temporal():
        raise ValueError(f"{column.name} must hold numbers; it holds dates")
    values = column
    if not column.dtype.is_numeric():
        text = column.cast(pl.String).str.to_lowercase()
        values = text.cast(pl.Float64, strict=False)
        if text.drop_nulls().is_in(list(FLAGS)).all():
            values = text.replace_strict(FLAGS, return_dtype=pl.Float64)
    values = values.cast(pl.Float64)
    wrong = column.is_not_null() & ~values.is_finite().fill_null(False)
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        raise ValueError(
            f"{column.name} must hold numbers; data row {row + 1} is {str(column[row])[:40]!r}: "
            "correct it, or leave it empty if it is not known"
        )
    return values.fill_null(np.nan).to_numpy().astype(np.float64)


def _counts_of(column: pl.Series, rules: list[str]) -> FloatArray:
    """Whole counts, NaN where missing; what was corrected is added to `rules`."""
    name, y = column.name, numbers_of(column)
    n = max(int((~np.isnan(y)).sum()), 1)
    below = y < 0
    if below.any():
        row = int(np.argmax(below))
        values = np.unique(y[below])
        code = len(values) == 1 and re.fullmatch(r"-(1|2|8+|9+)", f"{values[0]:.15g}")
        if below.sum() > _FEW * n and not code:
            raise ValueError(f"{name} must be at least 0; data row {row + 1} is {y[row]:.15g}")
        said = listed([f"{value:.15g}" for value in values])
        rules.append(
            f"{CHECK}{int(below.sum()):,} of the values of {name} below 0 ({said}; the first in "
            f"data row {row + 1}) {'is' if below.sum() == 1 else 'are'} taken as missing."
        )
        y = np.where(below, np.nan, y)
    part = ~np.isnan(y) & (y != np.floor(y))
    if part.any():
        row = int(np.argmax(part))
        if part.sum() > _FEW * n and float(np.median(y[y > 0])) < LARGE:
            raise ValueError(
                f"{name} must be whole numbers; data row {row + 1} is {y[row]:.15g}: round them in "
                "the file, or take this column as the exposure and choose the column with the "
                "counts themselves"
            )
        rules.append(
            f"{CHECK}{int(part.sum()):,} counts of {name} that are not whole, the first in data "
            f"row {row + 1} ({y[row]:.15g}), are rounded."
        )
        y = np.round(y)
    if (y > _TOP).any():
        row = int(np.argmax(y > _TOP))
        raise ValueError(f"{name} must be below 2**53; data row {row + 1} is {y[row]:.15g}")
    return y


def _stated(frame: pl.DataFrame, columns: Columns, long: _Long) -> dict[str, FloatArray]:
    """Exposure, known detection and its error by their field of `columns`; (n,) each."""
    found = {}
    for field in ("exposure", "known_detection", "known_error"):
        name = getattr(columns, field)
        if name is None:
            continue
        values = numbers_of(frame.get_column(name))
        most = 1.0 if field == "known_detection" else np.inf
        wrong = (values < 0) if field == "known_error" else ~((values > 0) & (values <= most))
        if field == "exposure":  # of rows that are used
            wrong &= np.bincount(long.rows, minlength=len(values)) > 0
        else:
            wrong &= ~np.isnan(values)
        if wrong.any():
            row = int(np.argmax(wrong))
            rule = "at least 0" if field == "known_error" else "above 0"
            rule += " and at most 1" if field == "known_detection" else ""
            rule += " in every row" if field == "exposure" else " where it is given"
            now = "empty" if np.isnan(values[row]) else f"{values[row]:.15g}"
            raise ValueError(f"{name} must be {rule}; data row {row + 1} is {now}")
        found[field] = values
    return found


def _attributes(
    frame: pl.DataFrame, columns: Columns, rules: list[str]
) -> tuple[dict[str, FloatArray], Roles]:
    """The numbers of each attribute by name, NaN where missing; a category has several."""
    values: dict[str, FloatArray] = {}
    roles = []
    for each in columns.attributes:
        column = frame.get_column(each.column)
        if each.category:
            found = _categories(column, rules)
        else:
            try:
                found = {each.column: numbers_of(column)}
            except ValueError as error:
                raise ValueError(f"{error}; or take the column as a category") from error
            if np.isnan(found[each.column]).all():
                raise ValueError(f"{each.column} must have a value in at least one row")
        values |= found
        roles += [
            Role(name, each.acts_on, each.sign, "Stated by the owner of the table.")
            for name in found
        ]
    if values:
        names = ", ".join(each.column for each in columns.attributes)
        rules.append(f"Attributes are {names}, each min-max scaled to 0..1.")
    same = [name for name, column in values.items() if np.nanmin(column) == np.nanmax(column)]
    if same:
        rules.append(f"These attributes are the same in every row: {', '.join(same)}.")
    return values, Roles(roles)


def _categories(column: pl.Series, rules: list[str]) -> dict[str, FloatArray]:
    if column.dtype.is_float() and (column == column.floor()).all():
        column = column.cast(pl.Int64)
    text = column.cast(pl.String)
    sizes = text.drop_nulls().alias("value").value_counts(name="rows")
    names = sizes.sort(["rows", "value"], descending=[True, False]).get_column("value").to_list()
    if not 2 <= len(names) <= _MOST_CATEGORIES:
        raise ValueError(
            f"{column.name} must have 2 to {_MOST_CATEGORIES} different values to be a category, "
            f"it has {len(names):,}"
        )
    rules.append(
        f"The category {column.name} becomes {len(names) - 1} attributes of 0 and 1, against its "
        f"most frequent value, {names[0]}."
    )
    return {
        f"{column.name}: {name}": (text == name).cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in sorted(names[1:])
    }


# Levels of modes


@dataclass(frozen=True, eq=False)
class _Levels:
    """The labels of a mode in order, and the level of each row, -1 where it is missing."""

    name: str
    labels: tuple[str, ...]
    codes: IntArray


def _levels_of(column: pl.Series, mode: ModeColumn, rules: list[str]) -> _Levels:
    name = mode.column
    if mode.bins is not None:
        return _binned(column, name, mode.bins, rules)
    values, kind = column, column.dtype
    if mode.step is not None:
        if not kind.is_temporal():
            raise ValueError(
                f"{name} must hold dates to be taken by {mode.step}; data row 1 is "
                f"{str(column[0])[:40]!r}"
            )
        values = by_step(column, mode.step)
        if values.n_unique() < column.n_unique():
            by = {"day": "day", "week": "week, named by its Monday", "month": "month"}[mode.step]
            rules.append(f"Dates in {name} are taken by {by}: {values.n_unique():,} levels.")
    if values.dtype.is_temporal():
        form = "%Y-%m-%d" if values.dtype == pl.Date else "%Y-%m-%d %H:%M:%S"
        text = values.dt.to_string("%Y-%m" if mode.step == "month" else form)
        return _coded(name, text, sorted)
    if is_fips(name) and (fips := _fips(values)) is not None:
        return _coded(name, fips, sorted)
    if kind.is_numeric():
        numbers = values.cast(pl.Float64)
        known = numbers.drop_nulls().unique().sort().to_list()
        labels = [str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v) for v in known]
        return _Levels(name, tuple(labels), _codes(numbers, known))
    text = values.cast(pl.String).str.strip_chars()
    return _coded(name, text.set((text == "").fill_null(False), None), _in_order)


def _coded(name: str, text: pl.Series, order: Any) -> _Levels:
    labels = order(text.drop_nulls().unique().to_list())
    return _Levels(name, tuple(labels), _codes(text, labels))


def _codes(values: pl.Series, known: list[Any]) -> IntArray:
    """The place of each value among the known ones; -1 where it is missing."""
    if not known:
        return np.full(len(values), -1)
    found = values.replace_strict(known, range(len(known)), default=-1, return_dtype=pl.Int64)
    return found.fill_null(-1).to_numpy()


def _fips(values: pl.Series) -> pl.Series | None:
    """Codes of US states with two digits, of counties with five; None where some are neither."""
    numbers = (
        values
        if values.dtype.is_numeric()
        else values.cast(pl.String).cast(pl.Float64, strict=False)
    )
    known = numbers.drop_nulls()
    if numbers.null_count() > values.null_count() or known.is_empty():
        return None
    if not ((known == known.floor()) & known.is_between(1, 99_999)).all():
        return None
    county = numbers >= _COUNTY
    text = numbers.cast(pl.Int64).cast(pl.String)
    return text.str.zfill(2).zip_with(~county.fill_null(False), text.str.zfill(5))


def _in_order(labels: list[str]) -> list[str]:
    """Months and days of the week in their order, other labels so that 2 is before 10."""
    for names in (calendar.month_abbr, calendar.day_abbr):
        places = {name.lower(): k for k, name in enumerate(names) if name}
        found = {each: places.get(each[:3].lower(), -1) for each in labels}
        if len(labels) > 1 and -1 not in found.values() and all(map(str.isalpha, labels)):
            return sorted(labels, key=lambda each: found[each])
    return sorted(labels, key=_natural)


def _natural(text: str) -> tuple[Any, ...]:
    """A sort key under which "site 2" is before "site 10"."""
    parts = re.split(r"([0-9]+)", text.casefold())
    return tuple(int(part) if i % 2 else part for i, part in enumerate(parts)), text


def _binned(column: pl.Series, name: str, bins: int, rules: list[str]) -> _Levels:
    values = numbers_of(column)
    if bins < 2 or np.isnan(values).all():
        raise ValueError(f"bins of {name} must be at least 2 of at least one number, got {bins}")
    cut = pd.qcut(values, bins, duplicates="drop", precision=3)
    if len(cut.categories) < 2:
        raise ValueError(f"{name} must have more than one value to be put into intervals")
    labels = tuple(
        f"{max(each.left, np.nanmin(values)):g} to {each.right:g}" for each in cut.categories
    )
    rules.append(f"{name} is put into {len(labels)} intervals with about as many rows each.")
    return _Levels(name, labels, np.asarray(cut.codes, dtype=np.int64))


# Rows as counts of entries


@dataclass(frozen=True, eq=False)
class _Long:
    """Counts with their entries, one row each: also of a wide table."""

    levels: tuple[_Levels, ...]  # their codes are of the table's rows, not of these
    indices: IntArray  # (R, K)
    counts: FloatArray  # (R,), NaN where missing
    rows: IntArray  # the row of the table that each comes from

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(each.labels) for each in self.levels)

    @property
    def modes(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.levels)

    def entry(self, row: int) -> str:
        """The labels of one row's entry."""
        return ", ".join(
            f"{each.name} {each.labels[k]}"
            for each, k in zip(self.levels, self.indices[row], strict=True)
        )

    def kept(self, keep: np.ndarray) -> _Long:
        """Some rows only."""
        return replace(
            self, indices=self.indices[keep], counts=self.counts[keep], rows=self.rows[keep]
        )

    def only(self, k: int, kept: IntArray) -> _Long:
        """Some levels of a mode only."""
        new = np.full(len(self.levels[k].labels), -1)
        new[kept] = np.arange(len(kept))
        indices = self.indices.copy()
        indices[:, k] = new[indices[:, k]]
        some = replace(self.levels[k], labels=tuple(self.levels[k].labels[i] for i in kept))
        levels = (*self.levels[:k], some, *self.levels[k + 1 :])
        return replace(self, levels=levels, indices=indices).kept(indices[:, k] >= 0)


def _long(frame: pl.DataFrame, columns: Columns, rules: list[str]) -> _Long:
    """Turn a table into counts of entries, and add what was done to `rules`."""
    n, width = len(frame), max(len(columns.across), 1)
    if n * width > _MOST_CELLS:
        raise ValueError(
            f"the table must have at most {_MOST_CELLS:,} counts, it has {n:,} rows of {width:,}"
        )
    said = list[str]()
    names = columns.across or (columns.count,)
    counts = np.column_stack([_counts_of(frame.get_column(each), said) for each in names]).ravel()
    rules += said if len(said) <= 3 else [*said[:3], f"So it is in {len(said) - 3} more columns."]
    if np.isnan(counts).all():
        raise ValueError(
            f"{columns.count or 'the count'} must hold at least one count, all its rows are empty"
        )
    if columns.running is not None:
        counts = _differences(_coded_rows(frame, columns, [], coarse=False), columns, counts, rules)
    levels = _coded_rows(frame, columns, rules, coarse=True)
    if columns.across_mode is not None:
        across = columns.across_mode.column
        rules.append(f"Each row holds {width} counts, one for each level of {across}.")
    long = _Long(
        levels, np.column_stack([each.codes for each in levels]), counts, np.arange(n).repeat(width)
    )
    long = _without(_named(long, rules), columns, rules)
    for k, mode in enumerate(columns.all_modes):
        if mode.most is not None:
            long = _most_active(long, k, mode.most, rules)
    size = math.prod(long.shape)
    if size > MOST_ENTRIES:
        sizes = " × ".join(f"{n:,} {name}" for n, name in zip(long.shape, long.modes, strict=True))
        raise ValueError(
            f"the tensor must have at most {MOST_ENTRIES:,} entries, {sizes} are {size:,}: take "
            f"{long.modes[int(np.argmax(long.shape))]} by week, by month or in intervals, or keep "
            "its most active levels"
        )
    return long


def _coded_rows(
    frame: pl.DataFrame, columns: Columns, rules: list[str], *, coarse: bool
) -> tuple[_Levels, ...]:
    """The levels of each mode, of every count; as they stand in the file unless `coarse`."""
    width = max(len(columns.across), 1)
    found = []
    for mode in columns.all_modes:
        as_said = mode if coarse else ModeColumn(column=mode.column)
        if mode is columns.across_mode:
            levels = _across_levels(columns.across, as_said, rules)
            found.append(replace(levels, codes=np.tile(levels.codes, len(frame))))
        else:
            levels = _levels_of(frame.get_column(mode.column), as_said, rules)
            found.append(replace(levels, codes=levels.codes.repeat(width)))
    return tuple(found)


def _across_levels(names: Sequence[str], mode: ModeColumn, rules: list[str]) -> _Levels:
    days = dates_in(names)
    if len(set(days.values())) == len(names):
        return _levels_of(pl.Series(list(days.values()), dtype=pl.Date), mode, rules)
    if mode.step is not None:
        raise ValueError(f"{mode.column} must have dates to be taken by {mode.step}: {names[0]!r}")
    if (named := periods(names)) is not None:
        return _levels_of(pl.Series(list(named.values())), mode, rules)
    return _Levels(mode.column, tuple(names), np.arange(len(names)))


def _differences(
    levels: tuple[_Levels, ...], columns: Columns, counts: FloatArray, rules: list[str]
) -> FloatArray:
    """What each cumulative count adds to the one before it; NaN where nothing says so."""
    names, mode = [each.name for each in levels], str(columns.running)
    if mode not in names:
        raise ValueError(f"running must be one of the modes, {', '.join(names)}; got {mode!r}")
    table = pd.DataFrame({each.name: each.codes for each in levels}).assign(count_=counts)
    table = table[~np.isnan(counts) & (table[mode] >= 0)].sort_values(mode, kind="stable")
    if table.duplicated(names).any():
        raise ValueError(
            f"running totals along {mode} need one row for each entry, some have several: name "
            "one more mode, or leave out the rows that repeat"
        )
    steps = table.groupby([name for name in names if name != mode])["count_"].diff()
    first = steps.isna()
    unknown = int((first & (table["count_"] > 0)).sum())
    steps = steps.mask(first & (table["count_"] == 0), 0.0)
    fallen = int((steps < 0).sum())
    found = np.full(len(counts), np.nan)
    found[table.index] = steps.mask(steps < 0)
    rules.append(
        f"Counts are running totals along {mode}: each is taken as what it adds to the one before."
    )
    if unknown:
        rules.append(
            f"The first of each series is missing ({unknown:,}): since when it adds up is unknown."
        )
    if fallen:
        rules.append(f"Totals that fall are missing too ({fallen:,}): they correct earlier ones.")
    return found


def _named(long: _Long, rules: list[str]) -> _Long:
    """Leave out rows that lack a level."""
    for k, name in enumerate(long.modes):
        lacking = long.indices[:, k] < 0
        if lacking.any():
            first = int(long.rows[np.argmax(lacking)])
            rules.append(
                f"{int(lacking.sum()):,} rows without a value of {name} are left out, the first is "
                f"data row {first + 1}."
            )
    long = long.kept(np.asarray((long.indices >= 0).all(axis=1)))
    if np.isnan(long.counts).all():
        raise ValueError(
            "the table must have a row with a count and a value of each mode, it has none"
        )
    return long


def _without(long: _Long, columns: Columns, rules: list[str]) -> _Long:
    """Leave out levels, such as totals beside their parts."""
    for mode, level in columns.without:
        if mode not in long.modes or level not in long.levels[long.modes.index(mode)].labels:
            raise ValueError(f"without must name levels of modes; there is no {mode} {level!r}")
    for k, each in enumerate(long.levels):
        gone = [level for mode, level in columns.without if mode == each.name]
        kept = np.flatnonzero([label not in gone for label in each.labels])
        if not len(kept):
            raise ValueError(f"without must leave a level of {each.name}, it leaves none")
        if gone:
            rules.append(f"{each.name} {listed(gone)} is left out, with all its rows.")
            long = long.only(k, kept)
    return long


def _most_active(long: _Long, k: int, most: int, rules: list[str]) -> _Long:
    n, name = long.shape[k], long.modes[k]
    if most < 1:
        raise ValueError(f"most of {name} must be at least 1, got {most}")
    if n <= most:
        return long
    totals = np.bincount(long.indices[:, k], np.nan_to_num(long.counts), n)
    rows = np.bincount(long.indices[:, k], minlength=n)
    kept = np.sort(np.lexsort((-rows, -totals))[:most])
    share = totals[kept].sum() / max(totals.sum(), 1.0)
    rules.append(
        f"{CHECK}of {n:,} levels of {name} the {most:,} with most counted events are kept; they "
        f"have {share:.1%} of all."
    )
    return long.only(k, kept)


# Entries: rows that repeat, and combinations without a row


@dataclass(frozen=True, eq=False)
class _Entries:
    """Counts, one row per observation of an entry, sorted by observation and entry."""

    indices: IntArray  # (R, K)
    counts: FloatArray  # (R,), NaN where missing
    rows: IntArray  # a row of the table that each comes from
    look: IntArray  # 0 for the first observation of an entry
    values: dict[str, FloatArray]  # what else rows hold, by name; NaN where missing


def _entries(
    long: _Long, values: Mapping[str, FloatArray], duplicates: Duplicates, rules: list[str]
) -> _Entries:
    """Make of rows that name the same entry what the owner says they are."""
    flat = flat_index(long.indices, long.shape)
    found = {name: column[long.rows] for name, column in values.items()}
    look = np.zeros(len(flat), dtype=np.int64)
    order = np.argsort(flat, kind="stable")
    again = np.concatenate([[False], flat[order][1:] == flat[order][:-1]])
    n = int(again.sum())
    if not n:
        return _Entries(long.indices, long.counts, long.rows, look, found)
    if duplicates == "refuse":
        at = int(np.argmax(again))
        before, after = int(long.rows[order[at - 1]]), int(long.rows[order[at]])
        raise ValueError(
            f"each entry must have one row; data rows {before + 1} and {after + 1} are both "
            f"{long.entry(order[at])} ({n:,} such rows): sum them, keep them as several "
            "observations, or name one more mode"
        )
    if duplicates == "looks":
        return _observations(long, found, flat, rules)
    rules.append(
        f"Rows that name the same entry are summed ({n:,} rows added to others)"
        + ("; their attributes are averaged." if values else ".")
    )
    groups = pd.DataFrame({"\x00count": long.counts} | found).groupby(flat)
    first = order[~again]
    means = groups.mean()
    return _Entries(
        long.indices[first],
        groups["\x00count"].sum(min_count=1).to_numpy(),
        long.rows[first],
        look[first],
        {name: means[name].to_numpy() for name in found},
    )


def _observations(
    long: _Long, values: Mapping[str, FloatArray], flat: IntArray, rules: list[str]
) -> _Entries:
    """Rows of one entry as several observations of it; one that counted nothing is none."""
    counted = ~np.isnan(long.counts)
    lone = ~counted & ~np.isin(flat, flat[counted]) & ~pd.Series(flat).duplicated().to_numpy()
    look = np.zeros(len(flat), dtype=np.int64)
    look[counted] = pd.Series(flat[counted]).groupby(flat[counted]).cumcount()
    most = int(look.max()) + 1
    if most > _MOST_LOOKS:
        raise ValueError(
            f"an entry must have at most {_MOST_LOOKS} observations, "
            f"{long.entry(int(np.argmax(look)))} has {most:,} rows: sum them, or name one more mode"
        )
    rules.append(
        f"Rows that name the same entry are observations of the same true events: up to {most} "
        f"each, {int((look > 0).sum()):,} rows beside the first."
    )
    rows = np.flatnonzero(counted | lone)
    rows = rows[np.lexsort((flat[rows], lone[rows]))]
    return _Entries(
        long.indices[rows],
        long.counts[rows],
        long.rows[rows],
        look[rows],
        {name: column[rows] for name, column in values.items()},
    )


def _absent(long: _Long, entries: _Entries) -> IntArray:
    """Entries that no row names; (n, K)."""
    size = math.prod(long.shape)
    if size > MOST_COUNTS:
        k = int(np.argmax(long.shape))
        raise ValueError(
            f"absent rows as zeros must make at most {MOST_COUNTS:,} counts, they make {size:,}: "
            f"keep the most active levels of {long.modes[k]} ({long.shape[k]:,} now), or make it "
            "coarser"
        )
    there = np.zeros(size, dtype=bool)
    there[flat_index(entries.indices, long.shape)] = True
    return np.column_stack(np.unravel_index(np.flatnonzero(~there), long.shape))


def _carried(
    values: FloatArray, indices: IntArray, others: IntArray, shape: tuple[int, ...]
) -> FloatArray:
    """Values at other entries, where they depend on some modes only; else NaN.

    Parameters
    ----------
    values : ndarray, shape (R,)
        Of the entries with a row; NaN where missing.
    indices, others : ndarray of int, shape (R, K) and (n, K)
    shape : tuple of int
    """
    known = ~np.isnan(values)
    modes = range(len(shape))
    for some in itertools.chain(*(itertools.combinations(modes, n) for n in range(len(shape)))):
        sizes = tuple(shape[k] for k in some)
        here, there = (
            np.ravel_multi_index(tuple(at[:, k] for k in some), sizes)
            if some
            else np.zeros(len(at), dtype=np.int64)
            for at in (indices, others)
        )
        table = np.full(math.prod(sizes), np.nan)
        table[here[known]] = values[known]
        if np.array_equal(table[here[known]], values[known]):
            return table[there]
    return np.full(len(others), np.nan)


# The data set


def _count_rules(columns: Columns, entries: _Entries) -> list[str]:
    of = f"the column {columns.count}"
    if columns.across:
        n = len(columns.across)
        of = f"the {n} columns from {columns.across[0]} to {columns.across[-1]}"
    meaning = "missing, not zero" if columns.absent == "missing" else "zeros"
    rules = [f"Counts are those of {of}; combinations without a row are {meaning}."]
    lacking = int(np.isnan(entries.counts).sum())
    return [*rules, f"Rows without a count are missing too ({lacking:,})."] if lacking else rules


def _tensor(
    long: _Long, entries: _Entries, columns: Columns, names: tuple[str, ...], rules: list[str]
) -> CountTensor:
    """Entries as a count tensor: zeros of absent rows, attributes, exposure, further processes."""
    indices, counts, look = entries.indices, entries.counts, entries.look
    attributes = {name: entries.values[name] for name in names}
    known = entries.values.get("known_detection", np.full(len(counts), np.nan))
    if columns.absent == "zero":
        more = _absent(long, entries)
        rules.append(f"{len(more):,} combinations without a row are counts of 0.")
        for name, column in attributes.items():
            made = _carried(column, indices, more, long.shape)
            if len(more) and np.isnan(made).all():
                rules.append(
                    f"{name} differs from row to row, so that entries without a row have no "
                    "attributes."
                )
            attributes[name] = np.concatenate([column, made])
        indices = np.concatenate([indices, more])
        counts, look, known = (
            np.concatenate([each, np.full(len(more), value)])
            for each, value in ((counts, 0.0), (look, 0), (known, np.nan))
        )
    complete = ~np.isnan(list(attributes.values())).any(axis=0) if names else counts == counts
    first = look == 0
    z = np.full((len(counts), len(names)), np.nan)
    if names:
        if not (complete & first).any():
            raise ValueError(
                "attributes must all have a value in at least one row; each row lacks one"
            )
        z[complete] = scaled({name: column[complete] for name, column in attributes.items()})
        if lacking := int((~complete & first).sum()):
            rules.append(f"Rows that lack an attribute are used without attributes ({lacking:,}).")
    own = first & ~np.isnan(counts) & np.isnan(known)
    if not own.any():
        raise ValueError(
            "known_detection must leave some rows empty, whose detection is estimated; it is given "
            "for every count: take it as the exposure instead"
        )
    exposure, of_rows = None, np.ones(len(counts))
    if columns.exposure is not None:
        given, at = entries.values["exposure"], entries.look == 0
        exposure = exposure_along(given[at], columns.exposure, entries.indices[at], long.shape)
        of_rows[: len(given)] = given / exposure_at(exposure, entries.indices)
        rules.append(
            f"True counts are assumed proportional to {columns.exposure}; entries without a row "
            "get its median" + ("; further looks have that of their rows." if look.any() else ".")
        )
    errors = entries.values.get("known_error", np.zeros(1))
    error = 0.0 if np.isnan(errors).all() else float(np.nanmedian(errors))
    looks = []
    for k, is_known in itertools.product(range(int(look.max(initial=0)) + 1), (False, True)):
        at = ~np.isnan(counts) & (look == k) & (np.isnan(known) != is_known)
        if not at.any() or (k == 0 and not is_known):
            continue
        name = f"look {k + 1}"
        if is_known:
            name = f"known detection, {name}" if k else "known detection"
        own_z = z[at] if names and not is_known else None
        if own_z is not None and np.isnan(own_z).any():
            own_z = np.where(np.isnan(own_z), _means(own_z), own_z)
            rules.append(f"Attributes that {name} lacks are taken at their mean.")
        looks.append(
            Look(
                name,
                indices[at],
                counts[at].astype(np.int64),
                known_detection=known[at] if is_known else None,
                known_error=error if is_known else 0.0,
                attributes=own_z,
                exposure=of_rows[at],
            )
        )
    if columns.known_detection is not None:
        n = int((~np.isnan(counts) & ~np.isnan(known)).sum())
        rules.append(
            f"Detection is known for {n:,} counts from {columns.known_detection}; they state the "
            f"scale of p, with a standard error of log p of {error:.2g}."
        )
    with_z = first & complete
    return CountTensor(
        long.shape,
        indices[own],
        counts[own].astype(np.int64),
        attributes=z[with_z] if names else None,
        attribute_indices=indices[with_z] if names else None,
        modes=long.modes,
        labels=[each.labels for each in long.levels],
        attribute_names=names or None,
        exposure=exposure,
        looks=looks,
    )


def _means(z: FloatArray) -> FloatArray:
    known = ~np.isnan(z)
    sums = np.where(known, z, 0.0).sum(axis=0)
    return np.where(known.any(axis=0), sums / np.maximum(known.sum(axis=0), 1), 0.5)


def _table(long: _Long, entries: _Entries) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for k, each in enumerate(long.levels):
        columns[each.name] = np.asarray(each.labels, dtype=object)[entries.indices[:, k]]
        columns[f"{each.name}_index"] = entries.indices[:, k]
    if entries.look.any():
        columns["look"] = entries.look
    return pd.DataFrame(columns | {"count": entries.counts})


def _mode_tables(
    long: _Long, entries: _Entries, frame: pl.DataFrame, columns: Columns, rules: list[str]
) -> dict[str, pd.DataFrame]:
    """One row per level of each mode: rows with a count, their total, and where it lies."""
    known = ~np.isnan(entries.counts)
    tables = {}
    for k, each in enumerate(long.levels):
        at, n = entries.indices[known, k], len(each.labels)
        totals = np.bincount(at, entries.counts[known], n).astype(np.int64)
        tables[each.name] = pd.DataFrame(
            {each.name: list(each.labels), "rows": np.bincount(at, minlength=n), "total": totals}
        )
        codes = fips_of(each.name, each.labels)
        if codes is not None and each.name != "fips":
            tables[each.name]["fips"] = codes
    if columns.latitude and columns.longitude:
        given = {"latitude": columns.latitude, "longitude": columns.longitude}
        degrees = pd.DataFrame(
            {to: numbers_of(frame.get_column(name))[entries.rows] for to, name in given.items()}
        )
        said = f"{columns.latitude} and {columns.longitude}"
        for k, each in enumerate(long.levels):
            groups = degrees.groupby(entries.indices[:, k])
            spread = (groups.max() - groups.min()).to_numpy()
            if np.nanmax(spread, initial=0.0) < _SAME_PLACE:
                means = groups.mean().reindex(range(len(each.labels)))
                for to in given.keys() - {each.name}:
                    tables[each.name][to] = means[to].to_numpy()
                rules.append(f"{said} say where the levels of {each.name} lie.")
                break
        else:
            rules.append(f"{said} differ within the levels of every mode: none has a place.")
    return tables


def fips_of(name: str, labels: Sequence[str]) -> list[str] | None:
    """FIPS codes of levels that are US states or counties, None where they are not."""
    if is_fips(name) and all(each.isdigit() and len(each) in (2, 5) for each in labels):
        return list(labels)
    if class_of(name) != "place":
        return None
    codes = {full.lower(): code for code, full in _STATES.values()}
    codes |= {letters.lower(): code for letters, (code, _) in _STATES.items()}
    found = [codes.get(each.lower(), "") for each in labels]
    many = len(labels) >= _LEAST_STATES and sum(map(bool, found)) > 0.8 * len(labels)
    return found if many else None

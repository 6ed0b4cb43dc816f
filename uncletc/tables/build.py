"""A data set from a table and what its owner says of its columns."""

from __future__ import annotations

import calendar
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np
import pandas as pd
import polars as pl

from uncletc.common.validation import FloatArray, IntArray, check_choice
from uncletc.data.counts import CountTensor
from uncletc.data.entries import exposure_at, flat_index
from uncletc.data.frames import MOST_MODES, exposure_along
from uncletc.data.observations import Observations
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
    is_fips,
)
from uncletc.tables.dates import by_step, dates_in, periods
from uncletc.tables.guess import FLAGS, LARGE
from uncletc.tables.raw import RawTable
from uncletc.tables.types import listed

MOST_ENTRIES = 50_000_000
"""Entries of a tensor at most, counted or not: pages draw λ of all of them."""

MOST_COUNTS = 3_000_000
"""Zeros and counts at most where combinations without a row are zeros."""

_MOST_CELLS = 30_000_000  # of the counts of a wide table
_MOST_OBSERVATIONS = 12
_MOST_CATEGORIES = 30
_FEW = 0.05  # share of counts that may be corrected
_TOP = 2.0**53  # whole numbers beyond are not exact
_COUNTY = 1000  # FIPS codes from here on are of counties, below of states
_SAME_PLACE = 0.02  # degrees
_TAKEN = ("count", "rows", "total")  # columns of the tables of a data set


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
        the file: the modes, their ``<mode>_index``, ``process`` (0: the first observation) and
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
    rules = list(raw.notes)
    meaning = "missing, not zero" if columns.absent == "missing" else "zeros"
    of = f"the column {columns.count}"
    if columns.across:
        n = len(columns.across)
        of = f"the {n} columns from {columns.across[0]} to {columns.across[-1]}"
    rules.append(f"Counts are those of {of}; combinations without a row are {meaning}.")
    long = _long(raw.frame, columns, rules)
    attributes, roles = _attributes(raw.frame, columns, rules)
    values = pd.DataFrame(attributes | _stated(raw.frame, columns, long))
    long = replace(long, values=values.reindex(long.rows).reset_index(drop=True))
    entries = _entries(long, columns.duplicates, rules)
    if lacking := int(np.isnan(entries.counts).sum()):
        rules.append(f"Rows without a count are missing too ({lacking:,}).")
    counts = _tensor(entries, columns, list(attributes), rules)
    z = entries.values[list(attributes)].dropna()
    used = ", ".join(["counts", *(["attributes"] if attributes else [])])
    own = Source(name=f"{raw.name} (your own file)", url="", licence="none stated", used_for=used)
    tables = _mode_tables(entries, columns, rules)
    dataset = Dataset(
        name="own",
        title=raw.name,
        counts=counts,
        table=_table(entries),
        mode_tables=tables,
        provenance=Provenance(
            simulated=False, period="as in the file", sources=(own,), rules=tuple(rules)
        ),
        roles=roles,
        attribute_info=described({name: z[name].to_numpy() for name in attributes}),
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
    """Exposure, known detection, its error and degrees by their column; (n,) each."""
    rules = {
        "exposure": "above 0 in every row",
        "known_detection": "above 0 and at most 1 where it is given",
        "known_error": "at least 0 where it is given",
    }
    found = {}
    for field in (*rules, "latitude", "longitude"):
        name = getattr(columns, field)
        if name is None:
            continue
        found[name] = values = numbers_of(frame.get_column(name))
        if field not in rules:
            continue
        if field == "exposure":  # of rows that are used
            wrong = ~(values > 0) & np.isin(np.arange(len(values)), long.rows)
        elif field == "known_detection":
            wrong = (values <= 0) | (values > 1)
        else:
            wrong = values < 0
        if wrong.any():
            row = int(np.argmax(wrong))
            now = "empty" if np.isnan(values[row]) else f"{values[row]:.15g}"
            raise ValueError(f"{name} must be {rules[field]}; data row {row + 1} is {now}")
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

_Coded = tuple[tuple[str, ...], IntArray]
"""The labels of a mode in order, and the level of each row, -1 where it is missing."""


def _levels_of(column: pl.Series, mode: ModeColumn, rules: list[str]) -> _Coded:
    name, values, kind = mode.column, column, column.dtype
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
        return _coded(values.dt.to_string("%Y-%m" if mode.step == "month" else form))
    if is_fips(name) and (fips := _fips(values)) is not None:
        return _coded(fips)
    if kind.is_numeric():
        known = values.cast(pl.Float64).drop_nulls().unique().sort().to_list()
        labels = [str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v) for v in known]
        return tuple(labels), _codes(values.cast(pl.Float64), known)
    text = values.cast(pl.String).str.strip_chars()
    return _coded(text.set((text == "").fill_null(False), None))


def _coded(text: pl.Series) -> _Coded:
    labels = _in_order(text.drop_nulls().unique().to_list())
    return tuple(labels), _codes(text, labels)


def _codes(values: pl.Series, known: list[Any]) -> IntArray:
    """The place of each value among the known ones; -1 where it is missing."""
    return pd.Index(known).get_indexer(values.to_pandas()) if known else np.full(len(values), -1)


def _fips(values: pl.Series) -> pl.Series | None:
    """Codes of US states with two digits, of counties with five; None where some are neither."""
    numbers = values.cast(pl.String).cast(pl.Float64, strict=False)
    known = (numbers == numbers.floor()) & numbers.is_between(1, 99_999)
    if numbers.null_count() > values.null_count() or not known.any() or not known.all():
        return None
    text = numbers.cast(pl.Int64).cast(pl.String)
    return text.str.zfill(5).zip_with((numbers >= _COUNTY).fill_null(False), text.str.zfill(2))


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


# Rows as counts of entries


@dataclass(frozen=True, eq=False)
class _Long:
    """Counts with their entries, one row each: also of a wide table."""

    modes: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    indices: IntArray  # (R, K)
    counts: FloatArray  # (R,), NaN where missing
    rows: IntArray  # the row of the table that each comes from
    values: pd.DataFrame  # what else rows hold, by name; NaN where missing
    process: IntArray  # 0 for the first observation of an entry

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.labels))

    def entry(self, row: int) -> str:
        """The labels of one row's entry."""
        parts = zip(self.modes, self.labels, self.indices[row], strict=True)
        return ", ".join(f"{mode} {labels[k]}" for mode, labels, k in parts)

    def kept(self, keep: np.ndarray) -> _Long:
        """Some rows only."""
        rows = {
            name: getattr(self, name)[keep] for name in ("indices", "counts", "rows", "process")
        }
        return replace(self, **rows, values=self.values.iloc[keep].reset_index(drop=True))

    def only(self, k: int, kept: IntArray) -> _Long:
        """Some levels of a mode only."""
        new = np.full(len(self.labels[k]), -1)
        new[kept] = np.arange(len(kept))
        indices, labels = self.indices.copy(), list(self.labels)
        indices[:, k], labels[k] = new[indices[:, k]], tuple(labels[k][i] for i in kept)
        found = replace(self, labels=tuple(labels), indices=indices)
        return found.kept(np.flatnonzero(indices[:, k] >= 0))


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
    modes = tuple(each.column for each in columns.all_modes)
    if columns.running is not None:
        plain = [replace(each, step=None) for each in columns.all_modes]
        codes = [code for _, code in _coded_rows(frame, columns, plain, [])]
        counts = _differences(dict(zip(modes, codes, strict=True)), columns, counts, rules)
    levels = _coded_rows(frame, columns, columns.all_modes, rules)
    indices, rows = np.column_stack([codes for _, codes in levels]), np.arange(n).repeat(width)
    empty, first = pd.DataFrame(index=range(len(rows))), np.zeros(len(rows), dtype=np.int64)
    long = _Long(modes, tuple(each for each, _ in levels), indices, counts, rows, empty, first)
    long = _without(_named(long, rules), columns, rules)
    for k, mode in enumerate(columns.all_modes):
        if mode.most is not None:
            long = _most_active(long, k, mode.most, rules)
    size = math.prod(long.shape)
    if size > MOST_ENTRIES:
        sizes = " × ".join(f"{n:,} {name}" for n, name in zip(long.shape, long.modes, strict=True))
        raise ValueError(
            f"the tensor must have at most {MOST_ENTRIES:,} entries, {sizes} are {size:,}: take "
            f"{long.modes[int(np.argmax(long.shape))]} by week or by month, or keep its most "
            "active levels"
        )
    return long


def _coded_rows(
    frame: pl.DataFrame, columns: Columns, modes: Sequence[ModeColumn], rules: list[str]
) -> list[_Coded]:
    """The levels of each mode, of every count."""
    found = []
    width = max(len(columns.across), 1)
    for mode in modes[: len(columns.modes)]:
        labels, codes = _levels_of(frame.get_column(mode.column), mode, rules)
        found.append((labels, codes.repeat(width)))
    if columns.across:
        labels, codes = _across_levels(columns.across, modes[-1], rules)
        found.append((labels, np.tile(codes, len(frame))))
    return found


def _across_levels(names: Sequence[str], mode: ModeColumn, rules: list[str]) -> _Coded:
    days = dates_in(names)
    if len(set(days.values())) == len(names):
        return _levels_of(pl.Series(list(days.values()), dtype=pl.Date), mode, rules)
    if mode.step is not None:
        raise ValueError(f"{mode.column} must have dates to be taken by {mode.step}: {names[0]!r}")
    if (named := periods(names)) is not None:
        return _levels_of(pl.Series(list(named.values())), mode, rules)
    return tuple(names), np.arange(len(names))


def _differences(
    codes: dict[str, IntArray], columns: Columns, counts: FloatArray, rules: list[str]
) -> FloatArray:
    """What each cumulative count adds to the one before it; NaN where nothing says so."""
    names, mode = list(codes), str(columns.running)
    if mode not in names:
        raise ValueError(f"running must be one of the modes, {', '.join(names)}; got {mode!r}")
    table = pd.DataFrame(codes).assign(count_=counts)
    table = table[~np.isnan(counts) & (table[mode] >= 0)].sort_values(mode, kind="stable")
    if table.duplicated(names).any():
        raise ValueError(
            f"running totals along {mode} need one row for each entry, some have several: name "
            "one more mode, or leave out the rows that repeat"
        )
    steps = table.groupby([name for name in names if name != mode])["count_"].diff()
    first, fallen = steps.isna(), int((steps < 0).sum())
    steps = steps.mask(first & (table["count_"] == 0), 0.0).mask(steps < 0)
    found = np.full(len(counts), np.nan)
    found[table.index] = steps
    rules.append(
        f"Counts are running totals along {mode}: each is taken as what it adds to the one before. "
        f"Missing are the first of each series, unless 0 ({int(steps.isna().sum()) - fallen:,}), "
        f"and totals that fall, which correct earlier ones ({fallen:,})."
    )
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
    long = long.kept(np.flatnonzero((long.indices >= 0).all(axis=1)))
    if np.isnan(long.counts).all():
        raise ValueError(
            "the table must have a row with a count and a value of each mode, it has none"
        )
    return long


def _without(long: _Long, columns: Columns, rules: list[str]) -> _Long:
    """Leave out levels, such as totals beside their parts."""
    for mode, level in columns.without:
        if mode not in long.modes or level not in long.labels[long.modes.index(mode)]:
            raise ValueError(f"without must name levels of modes; there is no {mode} {level!r}")
    for k, (name, labels) in enumerate(zip(long.modes, long.labels, strict=True)):
        gone = [level for mode, level in columns.without if mode == name]
        kept = np.flatnonzero([label not in gone for label in labels])
        if not len(kept):
            raise ValueError(f"without must leave a level of {name}, it leaves none")
        if gone:
            rules.append(f"{name} {listed(gone)} is left out, with all its rows.")
            long = long.only(k, kept)
    return long


def _most_active(long: _Long, k: int, most: int, rules: list[str]) -> _Long:
    n, name = long.shape[k], long.modes[k]
    if most < 1:
        raise ValueError(f"most of {name} must be at least 1, got {most}")
    if n <= most:
        return long
    totals = np.bincount(long.indices[:, k], np.nan_to_num(long.counts), n)
    kept = np.sort(np.argsort(-totals, kind="stable")[:most])
    share = totals[kept].sum() / max(totals.sum(), 1.0)
    rules.append(
        f"{CHECK}of {n:,} levels of {name} the {most:,} with most counted events are kept; they "
        f"have {share:.1%} of all."
    )
    return long.only(k, kept)


# Entries: rows that repeat, and combinations without a row


def _entries(long: _Long, duplicates: Duplicates, rules: list[str]) -> _Long:
    """Make of rows that name the same entry what the owner says they are."""
    flat = pd.Series(flat_index(long.indices, long.shape))
    again = flat.duplicated().to_numpy()
    n = int(again.sum())
    if not n:
        return long
    if duplicates == "refuse":
        at = int(np.argmax(again))
        before = int(long.rows[np.argmax(flat == flat[at])])
        raise ValueError(
            f"each entry must have one row; data rows {before + 1} and {int(long.rows[at]) + 1} "
            f"are both {long.entry(at)} ({n:,} such rows): sum them, keep them as several "
            "observations, or name one more mode"
        )
    if duplicates == "observations":
        return _observations(long, flat, rules)
    rules.append(
        f"Rows that name the same entry are summed ({n:,} rows added to others)"
        + ("; their attributes are averaged." if long.values.shape[1] else ".")
    )
    order = np.flatnonzero(~again)
    order = order[np.argsort(flat[order], kind="stable")]
    return replace(
        long.kept(order),
        counts=np.asarray(pd.Series(long.counts).groupby(flat).sum(min_count=1), dtype=np.float64),
        values=long.values.groupby(flat).mean().reset_index(drop=True),
    )


def _observations(long: _Long, flat: pd.Series, rules: list[str]) -> _Long:
    """Rows of one entry as several observations of it; one that counted nothing is none."""
    counted = ~np.isnan(long.counts)
    first_empty = ~counted & ~np.isin(flat, flat[counted]) & ~flat.duplicated().to_numpy()
    long = long.kept(np.flatnonzero(counted | first_empty))
    flat = flat[counted | first_empty]
    process = np.asarray(flat.groupby(flat).cumcount(), dtype=np.int64)
    most = int(process.max()) + 1
    if most > _MOST_OBSERVATIONS:
        raise ValueError(
            f"an entry must have at most {_MOST_OBSERVATIONS} observations, "
            f"{long.entry(int(np.argmax(process)))} has {most:,} rows: sum them, or name one "
            f"more mode"
        )
    rules.append(
        f"Rows that name the same entry are observations of the same true events: up to {most} "
        f"each, {int((process > 0).sum()):,} rows beside the first."
    )
    return replace(long, process=process)


def _with_absent(long: _Long, rules: list[str]) -> _Long:
    """Add a zero for each entry that no row names; what depends on one mode alone is known."""
    size = math.prod(long.shape)
    if size > MOST_COUNTS:
        k = int(np.argmax(long.shape))
        raise ValueError(
            f"absent rows as zeros must make at most {MOST_COUNTS:,} counts, they make {size:,}: "
            f"keep the most active levels of {long.modes[k]} ({long.shape[k]:,} now), or make it "
            "coarser"
        )
    there = np.isin(np.arange(size), flat_index(long.indices, long.shape))
    more = np.column_stack(np.unravel_index(np.flatnonzero(~there), long.shape))
    rules.append(f"{len(more):,} combinations without a row are counts of 0.")
    zeros = np.zeros(len(more), dtype=np.int64)
    values = pd.DataFrame(np.nan, index=range(len(more)), columns=long.values.columns)
    for name, k in itertools.product(values.columns, range(len(long.shape))):
        of_levels = long.values[name].groupby(long.indices[:, k]).agg(["min", "max"])
        if (of_levels["min"] == of_levels["max"])[of_levels["min"].notna()].all():
            values[name] = of_levels["min"].reindex(more[:, k]).to_numpy()
            break
    return replace(
        long,
        indices=np.concatenate([long.indices, more]),
        counts=np.concatenate([long.counts, zeros]),
        rows=np.concatenate([long.rows, zeros]),
        process=np.concatenate([long.process, zeros]),
        values=pd.concat([long.values, values], ignore_index=True),
    )


# The data set


def _tensor(entries: _Long, columns: Columns, names: list[str], rules: list[str]) -> CountTensor:
    """Entries as a count tensor: zeros of absent rows, attributes, exposure, further processes."""
    n = len(entries.counts)
    full = _with_absent(entries, rules) if columns.absent == "zero" else entries
    indices, counts, process = full.indices, full.counts, full.process
    known, errors = (
        full.values[name].to_numpy(copy=True) if name else np.full(len(counts), np.nan)
        for name in (columns.known_detection, columns.known_error)
    )
    known[n:] = np.nan  # only of rows
    table = full.values[names]
    complete, first = table.notna().all(axis=1).to_numpy(), process == 0
    with_z = first & complete
    z = np.full(table.shape, np.nan)
    if names:
        if not with_z.any():
            raise ValueError(
                "attributes must all have a value in at least one row; each row lacks one"
            )
        some = table[complete]
        z[complete] = scaled({name: some[name].to_numpy() for name in names})
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
        given, at = entries.values[columns.exposure].to_numpy(), entries.process == 0
        exposure = exposure_along(given[at], columns.exposure, entries.indices[at], entries.shape)
        of_rows[:n] = given / exposure_at(exposure, entries.indices)
        rules.append(
            f"True counts are assumed proportional to {columns.exposure}; entries without a row "
            "get its median"
            + ("; further observation processes have that of their rows." if process.any() else ".")
        )
    error = 0.0 if np.isnan(errors).all() else float(np.nanmedian(errors))
    observations = []
    for k, is_known in itertools.product(range(int(process.max(initial=0)) + 1), (False, True)):
        at = ~np.isnan(counts) & (process == k) & (np.isnan(known) != is_known)
        if not at.any() or (k == 0 and not is_known):
            continue
        own_z = None
        if names and not is_known:
            given_z = pd.DataFrame(z[at])
            own_z = given_z.fillna(given_z.mean()).fillna(0.5).to_numpy()
        observations.append(
            Observations(
                f"{'known detection, ' * is_known}process {k + 1}",
                indices[at],
                counts[at].astype(np.int64),
                known_detection=known[at] if is_known else None,
                known_error=error if is_known else 0.0,
                attributes=own_z,
                exposure=of_rows[at],
            )
        )
    if columns.known_detection is not None:
        rules.append(
            f"Detection is known for {int((~np.isnan(counts) & ~np.isnan(known)).sum()):,} counts "
            f"from {columns.known_detection}; they state the scale of p, with a standard error of "
            f"log p of {error:.2g}."
        )
    return CountTensor(
        full.shape,
        indices[own],
        counts[own].astype(np.int64),
        attributes=z[with_z] if names else None,
        attribute_indices=indices[with_z] if names else None,
        modes=full.modes,
        labels=full.labels,
        attribute_names=names or None,
        exposure=exposure,
        observations=observations,
    )


def _table(entries: _Long) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for name, labels, at in zip(entries.modes, entries.labels, entries.indices.T, strict=True):
        columns[name] = np.asarray(labels, dtype=object)[at]
        columns[f"{name}_index"] = at
    if entries.process.any():
        columns["process"] = entries.process
    return pd.DataFrame(columns | {"count": entries.counts})


def _mode_tables(entries: _Long, columns: Columns, rules: list[str]) -> dict[str, pd.DataFrame]:
    """One row per level of each mode: rows with a count, their total, and where it lies."""
    counts, tables = pd.Series(entries.counts), {}
    for name, labels, at in zip(entries.modes, entries.labels, entries.indices.T, strict=True):
        of_levels = counts.groupby(at).agg(["count", "sum"])
        of_levels = of_levels.reindex(range(len(labels)), fill_value=0).astype(np.int64)
        tables[name] = pd.DataFrame(
            {name: list(labels), "rows": of_levels["count"], "total": of_levels["sum"]}
        )
        digits = all(each.isdigit() and len(each) in (2, 5) for each in labels)
        if is_fips(name) and digits and name != "fips":
            tables[name]["fips"] = list(labels)
    if columns.latitude and columns.longitude:
        degrees = entries.values[[columns.latitude, columns.longitude]]
        degrees = degrees.set_axis(["latitude", "longitude"], axis=1)
        for name, at in zip(entries.modes, entries.indices.T, strict=True):
            groups = degrees.groupby(at)
            if ((groups.max() - groups.min()).max() < _SAME_PLACE).all():
                means = groups.mean().reindex(range(len(tables[name])))
                tables[name] = tables[name].assign(**means.drop(columns=name, errors="ignore"))
                rules.append(f"Latitude and longitude say where the levels of {name} lie.")
                break
        else:
            rules.append("Latitude and longitude differ within the levels of every mode.")
    return tables

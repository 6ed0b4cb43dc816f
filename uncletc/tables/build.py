"""A data set from a table and what its owner says of its columns.

Each count of the table is a row with the level of each mode; rows that name the same entry are
joined, and what remains is the count tensor. What is decided on the way becomes a sentence of the
provenance.
"""

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
from uncletc.data.frames import MOST_MODES, exposure_along, with_categories
from uncletc.data.observations import Observations
from uncletc.data.roles import Role, Roles
from uncletc.datasets.base import Dataset, Provenance, Source, described, scaled
from uncletc.tables.checks import CHECK
from uncletc.tables.columns import Absent, Columns, Duplicates, ModeColumn, Step, is_fips
from uncletc.tables.dates import by_step, dates_in, periods
from uncletc.tables.guess import FLAGS
from uncletc.tables.histories import CAPTURES, captures_of
from uncletc.tables.types import RawTable, listed

MOST_ENTRIES = 50_000_000
"""Entries of a tensor at most, counted or not: pages draw λ of all of them."""

MOST_COUNTS = 3_000_000
"""Zeros and counts at most where combinations without a row are zeros."""

SAME_ENTRY = "name the same entry"
"""Stands in a rule or an error where rows repeat."""

_MOST_CELLS = 30_000_000  # of the counts of a wide table
_MOST_OBSERVATIONS = 12
_TOP = 2.0**53  # whole numbers beyond are not exact
_COUNTY = 1000  # FIPS codes from here on are of counties, below of states
_SAME_PLACE = 0.02  # degrees
_TAKEN = ("count", "rows", "total")  # columns of tables that pages make
_STATED = ("exposure", "latitude", "longitude")
_VALUE = "value of "  # begins the name of a column of values of `_Cells.rows`


def build(raw: RawTable, columns: Columns) -> Dataset:
    r"""Make a data set of a table.

    Parameters
    ----------
    raw : RawTable
    columns : Columns

    Returns
    -------
    Dataset
        ``name`` is "own". Attributes are min-max scaled to 0..1. ``table`` is empty;
        ``mode_tables`` have the levels of each mode, and where known ``fips``, ``latitude`` and
        ``longitude``. ``roles`` are what `columns` says. ``provenance`` has one sentence per rule
        that was applied.

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
    names, rules = columns.across, list(raw.notes)
    of = f"{len(names)} columns from {names[0]} to {names[-1]}" if names else columns.count
    absent = "zeros" if columns.absent == "zero" else "missing, not zero"
    rules.append(f"Counts are those of {of}; combinations without a row are {absent}.")
    cells = _cells(raw.frame, columns, rules)
    attributes, roles = _attributes(raw.frame, columns, rules)
    cells = cells.with_values(attributes | _stated(raw.frame, columns, cells))
    cells = _one_per_entry(cells, columns.duplicates, rules)
    cells = _as_missing(cells, columns, rules)
    counts = _tensor(cells, columns, list(attributes), rules)
    if CAPTURES in raw.frame.columns and counts.modes[-1] == "visit":
        counts = _with_captures(counts, raw.frame, columns, rules)
    z = cells.values(attributes).dropna()
    used = "counts, attributes" if attributes else "counts"
    own = Source(name=f"{raw.name} (your own file)", url="", licence="none stated", used_for=used)
    return Dataset(
        name="own",
        title=raw.name,
        counts=counts,
        mode_tables=_mode_tables(cells, columns),
        provenance=Provenance(
            simulated=False, period="as in the file", sources=(own,), rules=tuple(rules)
        ),
        roles=roles,
        attribute_info=described({name: z[name].to_numpy() for name in attributes}),
    )


def _with_captures(
    counts: CountTensor, frame: pl.DataFrame, columns: Columns, rules: list[str]
) -> CountTensor:
    """Add how often each animal was caught, where the table has it and its counts are whole."""
    levels = {label: k for k, label in enumerate(counts.labels[0])}
    sites = frame.get_column(columns.modes[0].column).cast(pl.String)
    rows = [(text, levels.get(site, -1)) for text, site in zip(frame[CAPTURES], sites, strict=True)]
    captures = captures_of([text for text, _ in rows], np.array([level for _, level in rows]))
    try:
        return counts.with_captures(captures)
    except ValueError:
        rules.append(
            "Capture histories are not used, as some of their sites or visits are left out."
        )
        return counts


def _check(raw: RawTable, columns: Columns) -> None:
    check_choice("duplicates", columns.duplicates, get_args(Duplicates))
    check_choice("absent", columns.absent, get_args(Absent))
    for mode in columns.all_modes:
        if mode.step is not None:
            check_choice(f"step of {mode.column}", mode.step, get_args(Step))
    n = len(columns.modes) + bool(columns.across)
    if columns.across and columns.across_mode is None:
        raise ValueError("across_mode must name the mode that the columns across are levels of")
    if not 2 <= n <= MOST_MODES:
        raise ValueError(
            f"modes must be 2 to {MOST_MODES} columns, got {n}: choose the columns that name an "
            "entry, such as place, species and week"
        )
    if not columns.across and not columns.count:
        raise ValueError("count must name the column that holds the counts, none is chosen")
    chosen = [each.column for each in columns.modes]
    chosen += [each.column for each in columns.attributes]
    chosen += columns.across or [columns.count]
    chosen += [name for each in _STATED if (name := getattr(columns, each))]
    names = [each.column for each in columns.all_modes]
    for column in chosen:
        if column not in raw.frame.columns:
            has = ", ".join(raw.frame.columns[:30])
            raise ValueError(f"the table must have a column {column!r}; it has {has}")
        if (times := max(chosen.count(column), names.count(column))) > 1:
            raise ValueError(f"each column must have one role, {column!r} has {times}")
    for name in names:
        if name in _TAKEN or name.endswith("_index") or names.count(name) > 1:
            raise ValueError(f"a mode must not be called {name!r}: rename its column in the file")


# Values of columns


def _require(ok: Any, name: str, values: Any, rule: str, hint: str = "") -> None:
    """Raise an error with the first row that breaks a rule."""
    if not (ok := np.asarray(ok)).all():
        row = int(np.argmin(ok))
        value = values[row]
        now = repr(str(value)[:40]) if isinstance(value, str) else f"{value:.15g}"
        now = "empty" if value != value else now
        raise ValueError(f"{name} must {rule}; data row {row + 1} is {now}{hint}")


def numbers_of(column: pl.Series) -> FloatArray:
    """A column as float64, NaN where it is empty; dates as days from the first; (n,).

    Raises
    ------
    ValueError
        If it holds other text; names the first such data row.
    """
    values = column
    if column.dtype.is_temporal():
        values = (column - column.min()).dt.total_seconds() / 86_400
    elif not column.dtype.is_numeric():
        text = column.cast(pl.String).str.to_lowercase()
        values = text.cast(pl.Float64, strict=False)
        if text.drop_nulls().is_in(list(FLAGS)).all():
            values = text.replace_strict(FLAGS, return_dtype=pl.Float64)
    values = values.cast(pl.Float64)
    ok = column.is_null() | values.is_finite().fill_null(False)
    hint = ": correct it, or leave it empty if it is not known"
    _require(ok, column.name, column, "hold numbers", hint)
    return values.fill_null(np.nan).to_numpy().astype(np.float64)


def _counts_of(column: pl.Series, rules: list[str]) -> FloatArray:
    """Whole counts, NaN where missing; what is taken as missing is added to `rules`."""
    name = column.name
    if column.dtype.is_temporal():
        raise ValueError(f"{name} must hold numbers; it holds dates")
    y = numbers_of(column)
    if (below := y < 0).any():
        values = [f"{value:.15g}" for value in np.unique(y[below])]
        rules.append(
            f"{CHECK}values of {name} below 0 ({int(below.sum()):,}: {listed(values)}; the first "
            f"in data row {np.argmax(below) + 1}) are taken as missing, not zero."
        )
        y = np.where(below, np.nan, y)
    hint = ": round them in the file, or take this column as the exposure"
    _require(np.isnan(y) | (y == np.floor(y)), name, y, "be whole numbers", hint)
    _require(~(y > _TOP), name, y, "be below 2**53")
    return y


def _stated(frame: pl.DataFrame, columns: Columns, cells: _Cells) -> dict[str, FloatArray]:
    """Exposure and degrees by their column; (n,) each."""
    found, used = {}, np.isin(np.arange(len(frame)), cells.rows["row"])
    for field in _STATED:
        if not (name := getattr(columns, field)):
            continue
        found[name] = values = numbers_of(frame.get_column(name))
        if field == "exposure":
            _require((values > 0) | ~used, name, values, "be above 0 in every row")
    return found


def _attributes(
    frame: pl.DataFrame, columns: Columns, rules: list[str]
) -> tuple[dict[str, FloatArray], Roles]:
    """The numbers of each attribute by name, NaN where missing; a category has several."""
    values: dict[str, FloatArray] = {}
    roles = []
    for each in columns.attributes:
        column = frame.get_column(each.column)
        if column.null_count() == len(column):
            raise ValueError(f"{each.column} must have a value in at least one row")
        try:
            found = (
                _categories(column, rules) if each.category else {each.column: numbers_of(column)}
            )
        except ValueError as error:
            hint = "" if each.category else "; or take the column as a category"
            raise ValueError(f"{error}{hint}") from error
        values |= found
        reason = "Stated by the owner of the table."
        roles += [Role(name, each.acts_on, each.sign, reason) for name in found]
    same = [name for name, column in values.items() if np.nanmin(column) == np.nanmax(column)]
    if same:
        rules.append(f"{CHECK}attributes that are the same in every row: {', '.join(same)}.")
    return values, Roles(roles)


def _categories(column: pl.Series, rules: list[str]) -> dict[str, FloatArray]:
    if column.dtype.is_float() and (column == column.floor()).all():
        column = column.cast(pl.Int64)
    text = column.cast(pl.String).to_pandas().astype("category")
    made, names, levels = with_categories(pd.DataFrame({column.name: text}), [column.name])
    rules.append(
        f"The category {column.name} becomes {len(names[column.name])} attributes of 0 and 1, "
        f"against its most frequent value, {levels[column.name][0]}."
    )
    return {name: made[name].to_numpy(np.float64) for name in sorted(names[column.name])}


# Levels of modes


def _levels_of(column: pl.Series, mode: ModeColumn, rules: list[str]) -> pd.Categorical[Any]:
    """The level of each row of a mode, its labels in their order."""
    name, values, kind = mode.column, column, column.dtype
    if mode.step is not None:
        if not kind.is_temporal():
            raise ValueError(
                f"{name} must hold dates to be taken by {mode.step}; data row 1 is "
                f"{str(column[0])[:40]!r}"
            )
        values = by_step(column, mode.step)
        if values.n_unique() < column.n_unique():
            by = "week, named by its Monday" if mode.step == "week" else mode.step
            rules.append(f"Dates in {name} are taken by {by}: {values.n_unique():,} levels.")
    if kind.is_temporal():
        form = "%Y-%m-%d" if values.dtype == pl.Date else "%Y-%m-%d %H:%M:%S"
        text = values.dt.to_string("%Y-%m" if mode.step == "month" else form)
    elif is_fips(name) and (fips := _fips(values)) is not None:
        text = fips
    else:
        text = values.cast(pl.String).str.strip_chars()
        text = text.str.replace(r"\.0$", "") if kind.is_float() else text
        text = text.set((text == "").fill_null(False), None)
    labels = text.drop_nulls().unique().to_list()
    by_calendar = all(label.lower() in _CALENDAR for label in labels)
    labels.sort(key=(lambda label: _CALENDAR[label.lower()]) if by_calendar else _natural)
    return pd.Categorical(text.to_pandas(), categories=labels)


def _fips(values: pl.Series) -> pl.Series | None:
    """Codes of US states with two digits, of counties with five; None where some are neither."""
    numbers = values.cast(pl.String).cast(pl.Float64, strict=False)
    known = (numbers == numbers.floor()) & numbers.is_between(1, 99_999)
    if numbers.null_count() > values.null_count() or not known.any() or not known.all():
        return None
    text = numbers.cast(pl.Int64).cast(pl.String)
    return text.str.zfill(5).zip_with((numbers >= _COUNTY).fill_null(False), text.str.zfill(2))


_CALENDAR = {
    name.lower(): k
    for names in (calendar.month_abbr, calendar.month_name, calendar.day_abbr, calendar.day_name)
    for k, name in enumerate(names)
}
"""Months and days of the week in their order."""


def _natural(text: str) -> tuple[Any, ...]:
    """A sort key under which "site 2" is before "site 10", and numbers are in their order."""
    if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        return 0, float(text), text
    parts = re.split(r"([0-9]+)", text.casefold())
    return 1, tuple(int(part) if i % 2 else part for i, part in enumerate(parts)), text


def _across_levels(names: Sequence[str], mode: ModeColumn, rules: list[str]) -> pd.Categorical[Any]:
    """The level that each column of counts is of."""
    days = dates_in(names)
    if len(set(days.values())) == len(names):
        return _levels_of(pl.Series(list(days.values()), dtype=pl.Date), mode, rules)
    if mode.step is not None:
        raise ValueError(f"{mode.column} must have dates to be taken by {mode.step}: {names[0]!r}")
    if (named := periods(names)) is not None:
        return _levels_of(pl.Series(list(named.values())), mode, rules)
    return pd.Categorical(list(names), categories=list(names))


# Rows as counts of entries


@dataclass(frozen=True, eq=False)
class _Cells:
    """Counts with their entries: one row for each count of a table, also of a wide one.

    Attributes
    ----------
    modes : tuple of str
    rows : DataFrame
        0 to K - 1: the level of each mode; count, NaN where missing; row of the table, -1 for
        none; process, 0 for the first observation of an entry; values by column.
    """

    modes: tuple[str, ...]
    rows: pd.DataFrame

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(self.rows[k].cat.categories) for k in range(len(self.modes)))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.labels))

    @property
    def indices(self) -> IntArray:
        codes = [self.rows[k].cat.codes for k in range(len(self.modes))]
        return np.column_stack(codes).astype(np.int64)

    @property
    def flat(self) -> pd.Series:
        """The number of each row's entry."""
        return pd.Series(flat_index(self.indices, self.shape))

    def entry(self, row: int) -> str:
        """The labels of one row's entry."""
        return ", ".join(f"{mode} {self.rows[k][row]}" for k, mode in enumerate(self.modes))

    def at(self, levels: Sequence[tuple[str, str]]) -> pd.Series:
        """Which rows are of one of these levels of modes."""
        found = pd.Series(False, index=self.rows.index)
        for mode, level in levels:
            k = self.modes.index(mode) if mode in self.modes else -1
            if k < 0 or level not in self.labels[k]:
                raise ValueError(f"levels must be of modes; there is no {mode} {level!r}")
            found |= self.rows[k] == level
        return found

    def only(self, keep: Any) -> _Cells:
        """Some rows only, and their levels."""
        rows = self.rows[np.asarray(keep)].reset_index(drop=True)
        for k in range(len(self.modes)):
            rows[k] = rows[k].cat.remove_unused_categories()
        return replace(self, rows=rows)

    def with_values(self, values: dict[str, FloatArray]) -> _Cells:
        """Values by row of the table."""
        at = self.rows["row"]
        found = pd.DataFrame({f"{_VALUE}{name}": column[at] for name, column in values.items()})
        return replace(self, rows=pd.concat([self.rows, found], axis=1))

    def values(self, names: Any) -> pd.DataFrame:
        """Values of these columns."""
        return self.rows[[f"{_VALUE}{name}" for name in names]].set_axis(list(names), axis=1)


def _cells(frame: pl.DataFrame, columns: Columns, rules: list[str]) -> _Cells:
    """Turn a table into counts of entries, and add what was done to `rules`."""
    n, width = len(frame), max(len(columns.across), 1)
    if n * width > _MOST_CELLS:
        raise ValueError(
            f"the table must have at most {_MOST_CELLS:,} counts, it has {n:,} rows of {width:,}"
        )
    missing = list[str]()
    series = [frame.get_column(each) for each in columns.across or (columns.count,)]
    counts = np.column_stack([_counts_of(each, missing) for each in series]).ravel()
    rules += missing[:3]
    if len(missing) > 3:
        rules.append(f"So it is in {len(missing) - 3} more columns.")
    modes = columns.all_modes
    called = tuple(each.column for each in modes)
    if columns.running is not None:
        plain = _coded(frame, columns, [replace(each, step=None) for each in modes], [])
        counts = _differences(plain.set_axis(called, axis=1), columns.running, counts, rules)
    rows = _coded(frame, columns, modes, rules)
    rows = rows.assign(count=counts, row=np.arange(n).repeat(width), process=0)
    for k, name in enumerate(called):
        if (lacking := rows[k].isna()).any():
            rules.append(
                f"{int(lacking.sum()):,} rows without a value of {name} are left out, the first is "
                f"data row {rows['row'][lacking.argmax()] + 1}."
            )
    cells = _Cells(called, rows).only(rows[list(range(len(modes)))].notna().all(axis=1))
    if cells.rows["count"].isna().all():
        raise ValueError(
            "the table must have a row with a count and a value of each mode, it has none"
        )
    if columns.without:
        cells = cells.only(~cells.at(columns.without))
        if cells.rows.empty:
            raise ValueError("without must leave a level of each mode, it leaves none")
        gone = listed([f"{mode} {level}" for mode, level in columns.without])
        rules.append(f"Left out, with all its rows: {gone}.")
    if (size := math.prod(cells.shape)) > MOST_ENTRIES:
        sizes = " × ".join(f"{n:,} {name}" for n, name in zip(cells.shape, called, strict=True))
        raise ValueError(
            f"the tensor must have at most {MOST_ENTRIES:,} entries, {sizes} are {size:,}: take "
            f"{called[int(np.argmax(cells.shape))]} by week or by month, or leave out levels of it "
            "in the file"
        )
    return cells


def _coded(
    frame: pl.DataFrame, columns: Columns, modes: Sequence[ModeColumn], rules: list[str]
) -> pd.DataFrame:
    """The levels of each mode, of every count."""
    n, width = len(frame), max(len(columns.across), 1)
    found = dict[int, Any]()
    for k, mode in enumerate(modes[: len(columns.modes)]):
        found[k] = _levels_of(frame.get_column(mode.column), mode, rules).repeat(width)
    if columns.across:
        levels = _across_levels(columns.across, modes[-1], rules)
        found[len(found)] = levels.take(np.tile(np.arange(width), n))
    return pd.DataFrame(found)


def _differences(
    levels: pd.DataFrame, mode: str, counts: FloatArray, rules: list[str]
) -> FloatArray:
    """What each cumulative count adds to the one before it; NaN where nothing says so."""
    names = list(map(str, levels))
    if mode not in names:
        raise ValueError(f"running must be one of the modes, {', '.join(names)}; got {mode!r}")
    table = levels[~np.isnan(counts) & levels[mode].notna()].sort_values(mode, kind="stable")
    if table.duplicated().any():
        raise ValueError(
            f"running totals along {mode} need one row for each entry, some have several: name "
            "one more mode, or leave out the rows that repeat"
        )
    totals = pd.Series(counts).loc[table.index]
    others = [table[name] for name in names if name != mode]
    steps = totals.groupby(others, observed=True, dropna=False).diff()
    first, fallen = steps.isna(), int((steps < 0).sum())
    steps = steps.mask(first & (totals == 0), 0.0).mask(steps < 0)
    rules.append(
        f"Counts are running totals along {mode}: each is taken as what it adds to the one before. "
        f"Missing are the first of each series, unless 0 ({int(steps.isna().sum()) - fallen:,}), "
        f"and totals that fall, which correct earlier ones ({fallen:,})."
    )
    return np.asarray(steps.reindex(range(len(counts))), dtype=np.float64)


def _as_missing(cells: _Cells, columns: Columns, rules: list[str]) -> _Cells:
    """Take the counts of some levels out, such as those of days on which nobody reported."""
    if not columns.missing:
        return cells
    levels = listed([f"{mode} {level}" for mode, level in columns.missing])
    rules.append(f"Counts of {levels} are taken as missing.")
    counts = cells.rows["count"].mask(cells.at(columns.missing))
    return replace(cells, rows=cells.rows.assign(count=counts))


# Entries: rows that repeat, and combinations without a row


def _one_per_entry(cells: _Cells, duplicates: Duplicates, rules: list[str]) -> _Cells:
    """Make of rows that name the same entry what the owner says they are."""
    flat = cells.flat
    again = flat.duplicated()
    n = int(again.sum())
    if not n:
        return cells
    if duplicates == "refuse":
        at = int(again.argmax())
        before, row = (cells.rows["row"][i] + 1 for i in ((flat == flat[at]).argmax(), at))
        raise ValueError(
            f"rows must not {SAME_ENTRY}; data rows {before} and {row} are both "
            f"{cells.entry(at)} ({n:,} such rows): sum them, keep them as several observations, "
            "or name one more mode"
        )
    if duplicates == "sum":
        rules.append(
            f"Rows that {SAME_ENTRY} are summed ({n:,} rows added to others); values of "
            "their other columns are averaged."
        )
        groups = cells.rows.groupby(flat)
        rows = cells.rows[~again].set_index(flat[~again]).sort_index()
        rows["count"] = groups["count"].sum(min_count=1)
        values = [name for name in map(str, rows) if name.startswith(_VALUE)]
        rows[values] = groups[values].mean()
        return replace(cells, rows=rows.reset_index(drop=True))
    # A row of an entry that counted nothing is no observation, unless it is its only one.
    counted = cells.rows["count"].notna()
    cells = cells.only(counted | (~flat.isin(flat[counted]) & ~again))
    process = cells.rows.groupby(cells.flat).cumcount()
    most = int(process.max()) + 1
    if most > _MOST_OBSERVATIONS:
        raise ValueError(
            f"an entry must have at most {_MOST_OBSERVATIONS} observations, "
            f"{cells.entry(int(process.argmax()))} has {most:,} rows: sum them, or name one "
            f"more mode"
        )
    rules.append(
        f"Rows that {SAME_ENTRY} are observations of the same true events: up to {most} "
        f"each, {int((process > 0).sum()):,} rows beside the first."
    )
    return replace(cells, rows=cells.rows.assign(process=process))


def _with_absent(cells: _Cells, rules: list[str]) -> _Cells:
    """Add a zero for each entry that no row names; what depends on one mode alone is known."""
    size = math.prod(cells.shape)
    if size > MOST_COUNTS:
        k = int(np.argmax(cells.shape))
        raise ValueError(
            f"absent rows as zeros must make at most {MOST_COUNTS:,} counts, they make {size:,}: "
            f"leave out levels of {cells.modes[k]} ({cells.shape[k]:,} now) in the file, or make "
            "it coarser"
        )
    absent = np.setdiff1d(np.arange(size), cells.flat)
    rules.append(f"{len(absent):,} combinations without a row are counts of 0.")
    codes = np.unravel_index(absent, cells.shape)
    levels = {
        k: pd.Categorical.from_codes(code, categories=pd.Index(labels))
        for k, (code, labels) in enumerate(zip(codes, cells.labels, strict=True))
    }
    more = pd.DataFrame(levels).assign(count=0.0, row=-1, process=0)
    values = [name for name in cells.rows if str(name).startswith(_VALUE)]
    for name, k in itertools.product(values, range(len(cells.shape))):
        ends = cells.rows[name].groupby(cells.rows[k].cat.codes).agg(["min", "max"]).dropna()
        if name not in more and (ends["min"] == ends["max"]).all():
            more[name] = ends["min"].reindex(codes[k]).to_numpy()
    return replace(cells, rows=pd.concat([cells.rows, more], ignore_index=True))


# The data set


def _tensor(cells: _Cells, columns: Columns, names: list[str], rules: list[str]) -> CountTensor:
    """Entries as a count tensor: zeros of absent rows, attributes, exposure, further processes."""
    exposure = None
    cells = replace(cells, rows=cells.rows.assign(of_row=1.0))
    if columns.exposure is not None:
        of_rows = cells.values([columns.exposure]).to_numpy().ravel()
        own_row = (cells.rows["process"] == 0).to_numpy()
        at = cells.indices[own_row]
        exposure = exposure_along(of_rows[own_row], columns.exposure, at, cells.shape)
        of_rows = of_rows / exposure_at(exposure, cells.indices)
        cells = replace(cells, rows=cells.rows.assign(of_row=of_rows))
        rules.append(
            f"True counts are assumed proportional to {columns.exposure}; entries without a row "
            "get its median."
        )
    if columns.absent == "zero":
        cells = _with_absent(cells, rules)
    rows, indices = cells.rows, cells.indices
    table, first = cells.values(names), rows["process"] == 0
    complete = table.notna().all(axis=1)
    z = pd.DataFrame(np.nan, index=table.index, columns=names)
    if names:
        if not (first & complete).any():
            raise ValueError(
                "attributes must all have a value in at least one row; each row lacks one"
            )
        z[complete] = scaled({name: table[name][complete].to_numpy() for name in names})
        if lacking := int((~complete & first).sum()):
            rules.append(f"Rows that lack an attribute are used without attributes ({lacking:,}).")
    counted = rows["count"].notna()
    own = (first & counted).to_numpy()
    observations = []
    for process in range(1, int(rows["process"].max()) + 1):
        group = rows[counted & (rows["process"] == process)]
        at = group.index.to_numpy()
        own_z = z.loc[at].fillna(z.loc[at].mean()).fillna(0.5).to_numpy() if names else None
        observations.append(
            Observations(
                f"process {process + 1}",
                indices[at],
                group["count"].to_numpy(dtype=np.int64),
                attributes=own_z,
                exposure=group["of_row"].fillna(1.0).to_numpy(),
            )
        )
    with_z = (first & complete).to_numpy()
    return CountTensor(
        cells.shape,
        indices[own],
        rows["count"].to_numpy()[own].astype(np.int64),
        attributes=z.to_numpy()[with_z] if names else None,
        attribute_indices=indices[with_z] if names else None,
        modes=cells.modes,
        labels=cells.labels,
        attribute_names=names or None,
        exposure=exposure,
        observations=observations,
    )


def _mode_tables(cells: _Cells, columns: Columns) -> dict[str, pd.DataFrame]:
    """One row per level of each mode, and where it lies."""
    tables = {}
    for name, labels in zip(cells.modes, cells.labels, strict=True):
        tables[name] = pd.DataFrame({name: list(labels)})
        digits = all(each.isdigit() and len(each) in (2, 5) for each in labels)
        if is_fips(name) and digits and name != "fips":
            tables[name]["fips"] = list(labels)
    if columns.latitude and columns.longitude:
        degrees = cells.values([columns.latitude, columns.longitude])
        degrees = degrees.set_axis(["latitude", "longitude"], axis=1)
        for k, name in enumerate(cells.modes):
            groups = degrees.groupby(cells.rows[k].cat.codes)
            if ((groups.max() - groups.min()).max() < _SAME_PLACE).all():
                means = groups.mean().reindex(range(len(tables[name])))
                tables[name] = tables[name].assign(**means.drop(columns=name, errors="ignore"))
                break
    return tables

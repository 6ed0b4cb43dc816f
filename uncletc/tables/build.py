"""A data set from a table and what its owner says of its columns.

Each count of the table is a row with the level of each mode; rows that name the same entry are
joined, and what remains is the count tensor. What is decided on the way becomes a sentence of the
provenance.
"""

from __future__ import annotations

import math
import re
from calendar import day_abbr, day_name
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd
import polars as pl

from uncletc.common.validation import FloatArray, IntArray, check_choice
from uncletc.data import frames
from uncletc.data.counts import CountTensor
from uncletc.data.entries import LabelKind, Labels, exposure_at, flat_index
from uncletc.data.groups import Group
from uncletc.data.observations import Observations
from uncletc.data.protocols import Protocol, band_edges
from uncletc.data.roles import Role, Roles
from uncletc.datasets.base import AttributeInfo, Dataset, Provenance, Source, described, scaled
from uncletc.tables.checks import is_day, of_whole_steps
from uncletc.tables.columns import IN_SETTINGS, Columns, Duplicates, ModeColumn, Step, is_fips
from uncletc.tables.effects import usual_effects
from uncletc.tables.histories import CAPTURES, with_captures
from uncletc.tables.profiles import determines
from uncletc.tables.types import CHECK, RawTable, by_step, dates_in, listed, month_and_day, periods

MOST_ENTRIES = 50_000_000
"""Entries of a tensor at most, counted or not: pages draw λ of all of them."""

MOST_COUNTS = 3_000_000
"""Zeros and counts at most where combinations without a row are zeros."""

SAME_ENTRY = "name the same entry"
"""Stands in a rule or an error where rows repeat."""

_MOST_CELLS = 30_000_000  # of the counts of a wide table
_MOST_OBSERVATIONS = 12
_OFTEN_AGAIN = 0.8  # share of entries with as many rows each, as by design
_COUNTY = 1000  # FIPS codes from here on are of counties, below of states
_SAME_PLACE = 0.02  # degrees
_TAKEN = ("count", "rows", "total")  # columns of tables that pages make
_MOST_ADDED = 2  # days of a calendar for each on which something was seen
_CODES = (-99, -999, -9999, -99_999)  # of missing values, where all others are far above
_FAR_ABOVE = 5
_NINES, _LEAST_TIMES, _LARGEST = 999, 3, 19  # or they occur more often than each of so many below
_STATED = ("exposure", "latitude", "longitude")
_VALUE = "value of "  # begins the name of a column of values in `_Rows`

_Rows = pd.DataFrame  # one per count, as `_rows` makes them
_Values = dict[str, FloatArray]  # of columns by their name, NaN where missing
_Rules = list[str]  # sentences of the provenance, to which each step adds


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
        ``longitude``. ``roles`` are what `columns` says, ``effects`` those of `usual_effects`.
        ``provenance`` has one sentence per rule that was applied.

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
    CountTensor(2 × 3, 5 observed (83.3%), 5 attributed, 0 attributes)
    """
    _check(raw, columns)
    rules = list(raw.notes)
    frame, columns = _one_site(raw.frame, columns, rules)
    names = columns.across
    of = f"{len(names)} columns from {names[0]} to {names[-1]}" if names else columns.count
    beside = f"zeros where another {columns.absent} has a count, else missing"
    absent = {"zero": "zeros", "missing": "missing, not zero"}.get(columns.absent, beside)
    rules.append(f"Counts are those of {of}; combinations without a row are {absent}.")
    rows, labels = _rows(frame, columns, rules)
    rows, stated = _stated(rows, frame, columns, rules)
    groups = _groups(frame, columns, rows, list(map(len, labels)))
    attributes, roles, known = _attributes(frame, columns, rules)
    rows = rows.join(pd.DataFrame(attributes | stated).add_prefix(_VALUE), on="row")
    before = len(rows)
    rows = _one_per_entry(rows, frame, labels, columns, rules)
    modes = [each.column for each in columns.modes]
    dates = [it.name for it in frame.get_columns() if it.dtype.is_temporal()]
    dates = [it for it in dates if it not in modes and not determines(frame, modes, it)]
    single = not columns.across and frame[columns.count].max() == 1  # events
    if columns.duplicates == "sum" and len(rows) < before and dates and not single:
        what = f"rows that {SAME_ENTRY} and differ in {listed(dates)} are summed"
        rules.append(f"{CHECK}{what}; of revisions, keep the last alone.")
    z = rows[[f"{_VALUE}{name}" for name in attributes]].dropna().to_numpy()
    counts = _tensor(rows, labels, columns, list(attributes), rules).with_groups(*groups)
    if CAPTURES in frame.columns and counts.modes[-1] == "visit":
        try:
            counts = with_captures(counts, frame, columns.modes[0].column)
        except ValueError:
            rules.append("Capture histories are not used: some sites or visits are left out.")
    if columns.protocol:
        counts = roles.apply(counts).with_protocol(columns.protocol)
        kept = counts.all_attribute_names
        if lost := [role.attribute for role in roles if role.attribute not in kept]:
            why = f"p of a {columns.protocol} depends on distance alone"
            rules.append(f"{CHECK}{why}; left out: {listed(lost)}.")
        roles = Roles(role for role in roles if role.attribute in kept)
        if "transect" in columns.protocol:
            roles = Roles(replace(role, acts_on="rate", sign=0) for role in roles)
    used = "counts, attributes" if attributes else "counts"
    own = Source(name=f"{raw.name} (your own file)", url="", licence="none stated", used_for=used)
    return Dataset(
        name="own",
        title=raw.name,
        counts=counts if counts.n_attributed else counts.with_detection_by(),
        mode_tables=_mode_tables(rows, labels, columns),
        provenance=Provenance(
            simulated=False, period="as in the file", sources=(own,), rules=tuple(rules)
        ),
        roles=roles,
        effects=usual_effects(counts),
        attribute_info=known | described(dict(zip(attributes, z.T, strict=True)), known),
    )


def _one_site(frame: pl.DataFrame, columns: Columns, rules: _Rules) -> tuple[pl.DataFrame, Columns]:
    """Make one mode of all that say where, which a sampling protocol needs."""
    if not columns.protocol or columns.missing or columns.without:
        return frame, columns
    seen = columns.modes[-1:] if columns.across_mode is None else ()
    for mode in columns.modes:
        if band_edges(frame[mode.column].unique().drop_nulls()) is not None:
            seen = (mode,)
    where = [each.column for each in columns.modes if each not in seen]
    if len(where) < 2:
        return frame, columns
    name = " and ".join(where)
    site = pl.concat_str([pl.col(each).cast(pl.String) for each in where], separator=", ")
    rules.append(f"Each {name} together is one place, where animals are the same.")
    modes = (ModeColumn(column=name), *seen)
    return frame.with_columns(site.alias(name)), replace(columns, modes=modes)


def _check(raw: RawTable, columns: Columns) -> None:
    check_choice("duplicates", columns.duplicates, get_args(Duplicates))
    names = [each.column for each in columns.all_modes]
    check_choice("absent", columns.absent, ("missing", "zero", *names))
    check_choice("protocol", columns.protocol, get_args(Protocol))
    for mode in columns.all_modes:
        if mode.step is not None:
            check_choice(f"step of {mode.column}", mode.step, get_args(Step))
    n = len(columns.modes) + bool(columns.across)
    if columns.across and columns.across_mode is None:
        raise ValueError("across_mode must name the mode that the columns across are levels of")
    if not 2 <= n <= frames.MOST_MODES:
        raise ValueError(
            f"modes must be 2 to {frames.MOST_MODES} columns that name an entry, got {n}"
        )
    if not columns.across and not columns.count:
        raise ValueError("count must name the column that holds the counts, none is chosen")
    chosen = [each.column for each in columns.modes]
    chosen += [each.column for each in columns.attributes]
    chosen += (*(columns.across or [columns.count]), *columns.groups)
    chosen += [name for each in _STATED if (name := getattr(columns, each))]
    frames.check_columns(chosen, raw.frame.columns)
    for name in (*names, *columns.groups):
        if name in _TAKEN or name.endswith("_index") or names.count(name) > 1:
            raise ValueError(f"a mode or group must not be called {name!r}: rename its column")


# Values of columns


def numbers_of(column: pl.Series, otherwise: str = "") -> FloatArray:
    """A column as float64, NaN where it is empty; dates as days from the first; (n,).

    Parameters
    ----------
    column : polars.Series
    otherwise : str
        What else an error advises.

    Raises
    ------
    ValueError
        If it holds other text; names the first such data row.
    """
    values = column
    if column.dtype.is_temporal():
        values = (column - column.min()).dt.total_seconds() / 86_400
    values = values.cast(pl.Float64, strict=False)
    wrong = column.is_not_null() & ~values.is_finite().fill_null(False)
    hint = f": correct it, or leave it empty if it is not known{otherwise}"
    frames.refuse_row(wrong, f"{column.name} must hold numbers", column, hint)
    return values.fill_null(np.nan).to_numpy().astype(np.float64)


def _counts_of(column: pl.Series, rules: _Rules) -> FloatArray:
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
    top = np.nanmax(y, initial=0)
    n = int((y == top).sum())
    others, often = np.unique(y[y < top], return_counts=True)
    most = max(_LEAST_TIMES, often[-_LARGEST:].max(initial=0) + 1)
    far = (top >= _NINES and n >= most) or not (others > top / _FAR_ABOVE).any()
    if -top in _CODES and n > 1 and far:
        what = f"{n:,} values of {name} are {top:.0f}, the largest"
        rules.append(f"{CHECK}{what}; leave them empty where it stands for what is not known.")
    hint = ": round them in the file, or take this column as the exposure"
    return frames.whole_counts(y, name, hint)


def _stated(
    rows: _Rows, frame: pl.DataFrame, columns: Columns, rules: _Rules
) -> tuple[_Rows, _Values]:
    """Exposure and degrees by their column, (n,) each, and the rows that have exposure.

    Where there is none nothing could be counted, or nobody knows; where absent rows are zeros, each
    needs some.
    """
    chosen = [name for each in _STATED if (name := getattr(columns, each))]
    found = {name: numbers_of(frame.get_column(name)) for name in chosen}
    if columns.exposure is not None:
        values = found[columns.exposure]
        none = (np.isnan(values) | (values == 0))[rows["row"]]
        if none.any() and columns.absent != "zero":
            lost = CHECK if (rows["count"][none] > 0).any() else ""
            rules.append(
                f"{lost}Counts left out where {columns.exposure} is 0 or empty: {none.sum():,}."
            )
            rows = rows[~none].reset_index(drop=True)
        wrong = ~(values > 0) & np.isin(np.arange(len(frame)), rows["row"])
        frames.refuse_row(wrong, f"{columns.exposure} must be above 0 in every row", values)
    return rows, found


def _attributes(
    frame: pl.DataFrame, columns: Columns, rules: _Rules
) -> tuple[_Values, Roles, dict[str, AttributeInfo]]:
    """The numbers of each attribute by name, NaN where missing; a category has several."""
    values: _Values = {}
    roles, known = list[Role](), dict[str, AttributeInfo]()
    for each in columns.attributes:
        column = frame.get_column(each.column)
        if column.null_count() == len(column):
            raise ValueError(f"{each.column} must have a value in at least one row")
        if each.category:
            found, about = _categories(column, rules)
            known |= about
        else:
            found = {each.column: numbers_of(column, "; or take the column as a category")}
        for name, own in found.items():
            least = np.nanmin(own)
            if least in _CODES and not (own < np.where(own > least, least / 2, -np.inf)).any():
                found[name] = np.where(own == least, np.nan, own)
                n = int((own == least).sum())
                rules.append(f"{CHECK}{least:.0f} of {name} is taken as missing ({n:,} rows).")
        values |= found
        reason = "Chosen for this column, or guessed from it."
        roles += [Role(name, each.acts_on, each.sign, reason) for name in found]
    same = [name for name, column in values.items() if np.nanmin(column) == np.nanmax(column)]
    if same:
        rules.append(f"{CHECK}covariates that are the same in every row: {', '.join(same)}.")
    return values, Roles(roles), known


def _categories(column: pl.Series, rules: _Rules) -> tuple[_Values, dict[str, AttributeInfo]]:
    text = column.cast(pl.String).to_pandas().astype("category")
    made, of, levels = frames.with_categories(pd.DataFrame({column.name: text}), [column.name])
    names, every = of[column.name], levels[column.name]
    rules.append(
        f"The category {column.name} becomes covariates of 0 and 1 ({len(names)}), "
        f"against its most frequent value, {every[0]}."
    )
    known = {column.name if len(names) > 1 else names[0]: AttributeInfo(levels=tuple(every))}
    return {name: made[name].to_numpy(np.float64) for name in sorted(names)}, known


# Levels of modes


def _levels_of(column: pl.Series, mode: ModeColumn, rules: _Rules) -> pd.Categorical[Any]:
    """The level of each row of a mode, its labels in their order."""
    name, values, kind = mode.column, column, column.dtype
    if mode.step is not None:
        if not kind.is_temporal():
            got = f"data row 1 is {str(column[0])[:40]!r}"
            raise ValueError(f"{name} must hold dates to be taken by {mode.step}; {got}")
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
        text = values.cast(pl.String)
    labels = text.drop_nulls().unique().to_list()
    when: dict[str, Any] = {it: month_and_day(it) or _WEEKDAYS.get(it.lower()) for it in labels}
    labels.sort(key=when.__getitem__ if all(when.values()) else _natural)
    years = [it[0] for label in labels if (it := re.findall(r"\b(?:19|20)\d\d\b", label))]
    if labels and len(years) == len(labels) and years != sorted(years):
        rules.append(f"{CHECK}{name} is text with a year in each, and is not in the order of time.")
    return pd.Categorical(text.to_pandas(), categories=labels)


def _fips(values: pl.Series) -> pl.Series | None:
    """Codes of US states with two digits, of counties with five; None where some are neither."""
    numbers = values.cast(pl.String).cast(pl.Float64, strict=False)
    known = (numbers == numbers.floor()) & numbers.is_between(1, 99_999)
    if numbers.null_count() > values.null_count() or not known.any() or not known.all():
        return None
    text = numbers.cast(pl.Int64).cast(pl.String)
    return text.str.zfill(5).zip_with((numbers >= _COUNTY).fill_null(False), text.str.zfill(2))


_WEEKDAYS = {name.lower(): (k % 7, 0) for k, name in enumerate((*day_abbr, *day_name))}


def _natural(text: str) -> tuple[Any, ...]:
    """A sort key under which "site 2" is before "site 10", and "[0,9]" before "(9,20]"."""
    if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        return 0, float(text), text
    parts = re.split(r"([0-9]+)", text.casefold().replace("(", "["))
    return 1, tuple(int(part) if i % 2 else part for i, part in enumerate(parts)), text


def _across_levels(names: Sequence[str], mode: ModeColumn, rules: _Rules) -> pd.Categorical[Any]:
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


def _rows(frame: pl.DataFrame, columns: Columns, rules: _Rules) -> tuple[_Rows, list[Labels]]:
    """Counts with their entries, also those of a wide table, and the labels of each mode.

    Returns
    -------
    DataFrame
        One row per count: 0 to K - 1, the level of each mode; entry, its number in the tensor;
        count, NaN where missing; row of the table.
    list of Labels
    """
    n, width = len(frame), max(len(columns.across), 1)
    if n * width > _MOST_CELLS:
        raise ValueError(f"the table must have at most {_MOST_CELLS:,} counts, got {n * width:,}")
    missing = list[str]()
    series = [frame.get_column(each) for each in columns.across or (columns.count,)]
    counts = np.column_stack([_counts_of(each, missing) for each in series]).ravel()
    if not columns.across and (n_empty := series[0].null_count()):
        lost = CHECK if columns.absent != "missing" else ""
        rules.append(f"{lost}Rows where {columns.count} is empty are missing, not 0: {n_empty:,}.")
    rules += missing[:3]
    if len(missing) > 3:
        rules.append(f"So it is in {len(missing) - 3} more columns.")
    modes = columns.all_modes
    stepped = next((k for k, it in enumerate(modes) if it.step), 0)
    plain = levels = _coded(frame, columns, modes, rules)
    if modes[stepped].step:
        plain = _coded(frame, columns, [replace(each, step=None) for each in modes], [])
    if columns.running is not None:
        named = plain.set_axis([each.column for each in modes], axis=1)
        counts = _differences(named, columns.running, counts, rules)
    rows = levels.assign(count=counts, row=np.arange(n).repeat(width), written=plain[stepped])
    if columns.across and columns.absent != "missing":  # an empty cell is as no row
        rows = rows[rows["count"].notna()].reset_index(drop=True)
    for k, mode in enumerate(modes):
        if (lacking := rows[k].isna()).any():
            rules.append(
                f"{CHECK}rows left out for lack of a value of {mode.column}: {lacking.sum():,}, "
                f"the first is data row {rows['row'][lacking.argmax()] + 1}."
            )
    rows = rows.dropna(subset=list(levels))
    if rows["count"].isna().all():
        raise ValueError("the table must have a row with a count and a value of each mode")
    if columns.without:
        rows = rows[~_at(rows, columns, columns.without)]
        gone = listed([f"{mode} {level}" for mode, level in columns.without])
        if rows.empty:
            raise ValueError(f"without must leave a level of each mode, not {gone}")
        rules.append(f"Left out, with all its rows: {gone}.")
    if columns.missing:
        taken = listed([f"{mode} {level}" for mode, level in columns.missing])
        rows = rows.assign(count=rows["count"].mask(_at(rows, columns, columns.missing)))
        rules.append(f"Counts of {taken} are taken as missing.")
    rows, labels = rows.reset_index(drop=True), list[Labels]()
    for k, mode in enumerate(modes):
        own = rows[k].cat.remove_unused_categories().cat
        in_rows = k < len(columns.modes) and not is_fips(mode.column)
        number = in_rows and frame.schema[mode.column].is_numeric()
        kind: LabelKind = "number" if number else "text"
        days = all(map(is_day, own.categories))
        if days and columns.absent == "zero":  # nothing may have happened on some
            by, dates = "7D" if mode.step == "week" else "D", pd.DatetimeIndex(own.categories)
            every = pd.date_range(dates[0], dates[-1], freq=by).strftime("%Y-%m-%d")
            if len(own.categories) < len(every) <= _MOST_ADDED * len(own.categories):
                own = own.set_categories(every).cat
                rules.append(f"All of {mode.column} from {every[0]} to {every[-1]} are levels.")
        labels.append(Labels(own.categories, "date" if days else kind))
        rows[k] = own.codes.astype(np.int64)
    shape = tuple(map(len, labels))
    if (size := math.prod(shape)) > MOST_ENTRIES:
        sizes = " × ".join(f"{n:,} {each.column}" for n, each in zip(shape, modes, strict=True))
        raise ValueError(
            f"the tensor must have at most {MOST_ENTRIES:,} entries, {sizes} are {size:,}: take "
            f"{modes[int(np.argmax(shape))].column} by week or by month, or leave out levels of it "
            "in the file"
        )
    rows["entry"] = flat_index(_indices(rows, labels), shape)
    return rows, labels


def _groups(
    frame: pl.DataFrame, columns: Columns, rows: _Rows, sizes: Sequence[int]
) -> list[Group]:
    """The groups of levels of a mode, of the first in which each level is of one group."""
    found = []
    for name in columns.groups:
        column = frame[name].cast(pl.String).to_pandas()
        texts = column.take(rows["row"].to_numpy()).set_axis(rows.index)
        for k, mode in enumerate(columns.modes):
            levels = texts.groupby(rows[k])
            if (levels.nunique() <= 1).all():
                of_all = levels.first().reindex(range(sizes[k]))  # of some no row may be left
                codes, labels = pd.factorize(of_all, sort=True)
                found.append(Group(name, [mode.column], codes, list(labels)))
                break
        else:
            modes = " or ".join(each.column for each in columns.modes)
            raise ValueError(f"group {name!r} must have one value at each {modes}, some have more")
    return found


def _indices(rows: _Rows, labels: list[Labels]) -> IntArray:
    return rows[list(range(len(labels)))].to_numpy(dtype=np.int64)


def _at(rows: _Rows, columns: Columns, levels: Sequence[tuple[str, str]]) -> pd.Series:
    """Which rows are of one of these levels of modes."""
    names = [each.column for each in columns.all_modes]
    found = pd.Series(False, index=rows.index)
    for mode, level in levels:
        k = names.index(mode) if mode in names else -1
        if k < 0 or level not in rows[k].cat.categories:
            raise ValueError(f"levels must be of modes; there is no {mode} {level!r}")
        found |= rows[k] == level
    return found


def _coded(
    frame: pl.DataFrame, columns: Columns, modes: Sequence[ModeColumn], rules: _Rules
) -> pd.DataFrame:
    """The levels of each mode, of every count."""
    n, width = len(frame), max(len(columns.across), 1)
    of_rows = modes[: len(columns.modes)]
    found = [_levels_of(frame[it.column], it, rules).repeat(width) for it in of_rows]
    if columns.across:
        levels = _across_levels(columns.across, modes[-1], rules)
        found.append(levels.take(np.tile(np.arange(width), n)))
    return pd.DataFrame(dict(enumerate(found)))


def _differences(levels: pd.DataFrame, mode: str, counts: FloatArray, rules: _Rules) -> FloatArray:
    """What each cumulative count adds to the one before it; NaN where nothing says so."""
    names = list(map(str, levels))
    if mode not in names:
        raise ValueError(f"running must be one of the modes, {', '.join(names)}; got {mode!r}")
    table = levels[~np.isnan(counts) & levels[mode].notna()].sort_values(mode, kind="stable")
    if table.duplicated().any():
        what = f"running totals along {mode} need one row for each entry, some have several"
        raise ValueError(f"{what}: name one more mode, or leave out the rows that repeat")
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


# Entries: rows that repeat, and combinations without a row


def _one_per_entry(
    rows: _Rows, frame: pl.DataFrame, labels: list[Labels], columns: Columns, rules: _Rules
) -> _Rows:
    """Make of rows that name the same entry what the owner says they are; adds process.

    The process is 0 for the first observation of an entry, 1 for the second.
    """
    rows, again = rows.assign(process=0), rows["entry"].duplicated()
    n = int(again.sum())
    if not n:
        return rows

    def called(at: int) -> str:
        pairs = zip(columns.all_modes, labels, strict=True)
        return ", ".join(f"{mode.column} {own[rows[k][at]]}" for k, (mode, own) in enumerate(pairs))

    if columns.duplicates == "refuse":
        at = int(again.argmax())
        first = int((rows["entry"] == rows["entry"][at]).argmax())
        before, row = (rows["row"][i] + 1 for i in (first, at))
        raise ValueError(
            f"rows must not {SAME_ENTRY}; data rows {before} and {row} are both "
            f"{called(at)} ({n:,} such rows): sum them, keep them as several observations, "
            f'or name one more mode.{IN_SETTINGS}duplicates = "sum" or "observations"'
        )
    if columns.duplicates == "sum":
        rules.append(
            f"Rows that {SAME_ENTRY} are summed ({n:,} rows added to others); values of "
            "their other columns are averaged."
        )
        listed_events = rows["count"].isin([0, 1]).all()
        steps = any(mode.step for mode in columns.all_modes)
        same = 0 if listed_events else len(frame) - frame.n_unique()
        if same:
            rules.append(f"{CHECK}rows that repeat another exactly are summed, too ({same:,}).")
        rows["count"] = of_whole_steps(rows, columns, rules)
        groups = rows.groupby("entry")
        often = groups.size()
        each = int(often.median())
        if each > 1 and (often == each).mean() > _OFTEN_AGAIN and not listed_events and not steps:
            rules.append(
                f"{CHECK}nearly every entry has {each} rows, which are summed; if they count the "
                "same events again, take them as several observations of these."
            )
        summed = rows[~again].set_index("entry", drop=False).rename_axis(None).sort_index()
        summed["count"] = groups["count"].sum(min_count=1)
        values = [name for name in map(str, rows) if name.startswith(_VALUE)]
        summed[values] = groups[values].mean()
        return summed.reset_index(drop=True)
    # A row of an entry that counted nothing is no observation, unless it is its only one.
    counted = rows["count"].notna()
    only = ~rows["entry"].isin(rows["entry"][counted]) & ~again
    rows = rows[counted | only].reset_index(drop=True)
    rows["process"] = rows.groupby("entry").cumcount()
    most = int(rows["process"].max()) + 1
    if most > _MOST_OBSERVATIONS:
        raise ValueError(
            f"an entry must have at most {_MOST_OBSERVATIONS} observations, "
            f"{called(int(rows['process'].argmax()))} has {most:,} rows: sum them, or name one "
            "more mode"
        )
    rules.append(f"Rows that {SAME_ENTRY} are observations of the same true events: up to {most}.")
    return rows


def _with_absent(rows: _Rows, labels: list[Labels], columns: Columns, rules: _Rules) -> _Rows:
    """Add a zero for each entry that no row names, or that none does in a fibre that has some.

    Known is what depends on one mode alone; of the rest a fibre's zeros have its rows' mean.
    """
    shape, names = tuple(map(len, labels)), [each.column for each in columns.all_modes]
    along = None if columns.absent == "zero" else names.index(columns.absent)
    step = math.prod(shape[along + 1 :]) if along is not None else 1
    width = math.prod(shape) if along is None else shape[along]
    fibre = rows["entry"] * 0 if along is None else rows["entry"] - rows[along] * step
    if (size := fibre.nunique() * width) > MOST_COUNTS:
        k = int(np.argmax(shape))
        raise ValueError(
            f"absent rows as zeros must make at most {MOST_COUNTS:,} counts, they make {size:,}: "
            f"leave out levels of {columns.all_modes[k].column} ({shape[k]:,} now) in the file, or "
            "make it coarser"
        )
    entries = fibre.unique()[:, None] + np.arange(width) * step  # the first of a fibre, and others
    absent = np.setdiff1d(entries, rows["entry"])
    rules.append(f"{len(absent):,} combinations without a row are counts of 0.")
    more = pd.DataFrame(dict(enumerate(np.unravel_index(absent, shape))))
    more = more.assign(entry=absent, count=0.0, row=-1, process=0)
    every = pd.concat([rows, more], ignore_index=True)
    values = every.filter(regex=f"^{_VALUE}")
    values = frames.of_levels(values, _indices(every, labels))
    if along is not None:
        means = rows.groupby(fibre)[[*values]].mean().loc[every["entry"] - every[along] * step]
        values = values.fillna(means.set_axis(every.index))
    return every.assign(**values)


def _tensor(
    rows: _Rows, labels: list[Labels], columns: Columns, names: Sequence[str], rules: _Rules
) -> CountTensor:
    """Entries as a count tensor: zeros of absent rows, attributes, exposure, further processes."""
    exposure, shape = None, tuple(map(len, labels))
    if columns.exposure is not None:
        of_rows, own = rows[f"{_VALUE}{columns.exposure}"].to_numpy(), rows["process"] == 0
        indices = _indices(rows, labels)
        exposure = frames.exposure_along(of_rows[own], columns.exposure, indices[own], shape)
        rows = rows.assign(times=of_rows / exposure_at(exposure, indices))
        usual = "entries without a row get what is usual for their levels"
        rules.append(f"True counts are assumed proportional to {columns.exposure}; {usual}.")
    named = [f"{_VALUE}{name}" for name in names]
    lacking = int((rows[named].isna().any(axis=1) & (rows["process"] == 0)).sum())
    if columns.absent != "missing":
        rows = _with_absent(rows, labels, columns, rules)
    first, counted = rows["process"] == 0, rows["count"].notna()
    table = rows[named].set_axis(list(names), axis=1)
    table[:] = frames.filled(table.to_numpy(dtype=float), _indices(rows, labels))
    complete = table.notna().all(axis=1)
    z = table.mask(~complete)
    if names:
        if not (first & complete).any():
            raise ValueError("attributes must all have a value in at least one row")
        z[complete] = scaled({name: table[name][complete].to_numpy() for name in names})
        if lacking:
            usual = "get what is usual for their levels; those left with none are used without"
            rules.append(f"Rows that lack a covariate ({lacking:,}) {usual}.")
    observations = []
    for process in range(1, int(rows["process"].max()) + 1):
        group = rows[counted & (rows["process"] == process)]
        own_z = z.loc[group.index]
        observations.append(
            Observations(
                f"process {process + 1}",
                _indices(group, labels),
                group["count"].to_numpy(dtype=np.int64),
                attributes=own_z.fillna(own_z.mean()).fillna(0.5).to_numpy() if names else None,
                exposure=1.0 if exposure is None else group["times"].to_numpy(),
            )
        )
    attributed = first & complete
    return CountTensor(
        shape,
        _indices(rows[first & counted], labels),
        rows["count"][first & counted].astype(np.int64),
        attributes=z[attributed].to_numpy() if names else None,
        attribute_indices=_indices(rows[attributed], labels) if names else None,
        modes=[each.column for each in columns.all_modes],
        labels=labels,
        attribute_names=names or None,
        exposure=exposure,
        observations=observations,
    )


def _mode_tables(rows: _Rows, labels: list[Labels], columns: Columns) -> dict[str, pd.DataFrame]:
    """One row per level of each mode, and where it lies."""
    tables = {}
    for mode, own in zip(columns.all_modes, labels, strict=True):
        tables[mode.column] = pd.DataFrame({mode.column: list(own)})
        if is_fips(mode.column) and all(each.isdigit() and len(each) in (2, 5) for each in own):
            tables[mode.column]["fips"] = list(own)
    if columns.latitude and columns.longitude:
        degrees = rows[[f"{_VALUE}{columns.latitude}", f"{_VALUE}{columns.longitude}"]]
        for k, mode in enumerate(columns.all_modes):
            groups = degrees.set_axis(["latitude", "longitude"], axis=1).groupby(rows[k])
            if ((groups.max() - groups.min()).max() < _SAME_PLACE).all():
                means = groups.mean().drop(columns=mode.column, errors="ignore")
                tables[mode.column] = tables[mode.column].join(means)
                break
    return tables

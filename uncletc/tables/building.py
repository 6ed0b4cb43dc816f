"""A data set from a table and what its owner says of its columns."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pandas as pd
import polars as pl

from uncletc.common.validation import FloatArray, check_choice
from uncletc.data.frames import MOST_MODES
from uncletc.data.roles import Role, Roles
from uncletc.datasets.base import AttributeInfo, Dataset, Provenance, Source
from uncletc.datasets.described import described
from uncletc.tables.columns import Absent, Columns, Duplicates, Step
from uncletc.tables.existing import as_missing
from uncletc.tables.long import Long, long_rows
from uncletc.tables.places import mode_tables
from uncletc.tables.reading import RawTable
from uncletc.tables.repeats import Entries, entries_of
from uncletc.tables.tensor import ERROR, EXPOSURE, KNOWN, tensor_of
from uncletc.tables.values import attribute_values, numbers_of, positive

_TAKEN = ("count", "rows", "total")


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
        the file: the modes, their ``<mode>_index``, ``look`` (0: the first) and ``count`` (NaN: not
        counted). ``mode_tables`` have for each level ``rows`` with a count, their ``total``, and
        where known ``fips``, ``latitude`` and ``longitude``. ``roles`` are what `columns` says.
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
    CountTensor(2 × 3, 5 observed (83.3%), 0 attributed, 0 attributes)
    """
    _check(raw, columns)
    rules = list(raw.notes)
    long = long_rows(raw.frame, columns)
    values, roles, said = _values(raw, columns)
    exposure = {} if columns.exposure is None else {EXPOSURE: _exposure(raw, columns, long)}
    known = _known(raw, columns)
    entries = entries_of(long, values | exposure | known, columns.duplicates)
    rules += [*_count_rules(columns, entries), *long.rules, *entries.rules, *said]
    made = tensor_of(long, entries, columns, tuple(values), rules)
    tables, places = mode_tables(
        long.levels, entries.indices, entries.counts, entries.rows, raw.frame, columns
    )
    dataset = Dataset(
        name="own",
        title=raw.name,
        counts=made,
        table=_table(long, entries),
        mode_tables=tables,
        provenance=_provenance(raw.name, columns, [*rules, *places]),
        roles=roles,
        attribute_info=_info(entries, tuple(values)),
    )
    return as_missing(dataset, columns.missing) if columns.missing else dataset


def _info(entries: Entries, names: tuple[str, ...]) -> dict[str, AttributeInfo]:
    """The range of each attribute over the entries that have all, as it is scaled."""
    columns = {name: entries.values[name] for name in names}
    complete = ~np.isnan(np.array(list(columns.values()))).any(axis=0) if names else slice(None)
    return described({name: column[complete] for name, column in columns.items()})


def _check(raw: RawTable, columns: Columns) -> None:
    check_choice("duplicates", columns.duplicates, get_args(Duplicates))
    check_choice("absent", columns.absent, get_args(Absent))
    for mode in columns.modes:
        if mode.step is not None:
            check_choice(f"step of {mode.column}", mode.step, get_args(Step))
    if columns.across and columns.across_mode is None:
        raise ValueError("across_mode must name the mode that the columns across are levels of")
    n = len(columns.modes) + bool(columns.across)
    if n > MOST_MODES:
        raise ValueError(f"modes must be at most {MOST_MODES} columns, got {n}: leave some out")
    if n < 2:
        raise ValueError(
            f"modes must be at least 2 columns, got {n}: choose the columns that name an entry, "
            "such as place, species and week"
        )
    if not columns.across and not columns.count:
        raise ValueError("count must name the column that holds the counts, none is chosen")
    attributes = [each.column for each in columns.attributes]
    modes = [each.column for each in columns.modes]
    others = [columns.exposure, columns.known_detection, columns.known_error]
    counts = [*columns.across] or [columns.count]
    chosen = [*modes, *counts, *attributes, *(each for each in others if each is not None)]
    for column in [*chosen, *(c for c in (columns.latitude, columns.longitude) if c is not None)]:
        if column not in raw.frame.columns:
            has = ", ".join(raw.frame.columns[:30])
            raise ValueError(f"the table must have a column {column!r}; it has {has}")
    for column in chosen:
        if chosen.count(column) > 1:
            raise ValueError(
                f"each column must have one role, {column!r} has {chosen.count(column)}"
            )
    for name in [*modes, *([columns.across_mode.column] if columns.across_mode else [])]:
        if name in _TAKEN or name.endswith("_index"):
            raise ValueError(f"a mode must not be called {name!r}: rename its column in the file")
    if columns.across_mode is not None and columns.across_mode.column in modes:
        raise ValueError(f"modes must have distinct names, {columns.across_mode.column!r} has two")


def _values(raw: RawTable, columns: Columns) -> tuple[dict[str, FloatArray], Roles, list[str]]:
    values: dict[str, FloatArray] = {}
    roles, rules = [], list[str]()
    for each in columns.attributes:
        found, said = attribute_values(raw.frame, each)
        for name, column in found.items():
            if np.isnan(column).all():
                raise ValueError(f"{name} must have a value in at least one row; all are empty")
        values |= found
        rules += said
        roles += [
            Role(name, each.acts_on, each.sign, "Stated by the owner of the table.")
            for name in found
        ]
    if values:
        names = ", ".join(each.column for each in columns.attributes)
        rules.append(f"Attributes are {names}, each min-max scaled to 0..1.")
        same = [n for n, column in values.items() if np.ptp(column[~np.isnan(column)]) == 0]
        if same:
            rules.append(f"These attributes are the same in every row: {', '.join(same)}.")
    return values, Roles(roles), rules


def _exposure(raw: RawTable, columns: Columns, long: Long) -> FloatArray:
    column = raw.frame.get_column(str(columns.exposure))
    used = np.zeros(len(column), dtype=bool)
    used[long.rows] = True
    if used.all():
        return positive(column)
    filled = numbers_of(column)
    filled[~used] = 1.0  # rows that are left out anyway
    return positive(pl.Series(column.name, filled))


def _known(raw: RawTable, columns: Columns) -> dict[str, FloatArray]:
    found = {}
    if columns.known_detection is not None:
        found[KNOWN] = positive(raw.frame.get_column(columns.known_detection), 1.0, empty=True)
    if columns.known_error is not None:
        if columns.known_detection is None:
            raise ValueError("known_error needs known_detection, which is not given")
        error = numbers_of(raw.frame.get_column(columns.known_error))
        if (error < 0).any():
            row = int(np.argmax(error < 0))
            raise ValueError(
                f"{columns.known_error} must be at least 0; data row {row + 1} is {error[row]:g}"
            )
        found[ERROR] = error
    return found


def _count_rules(columns: Columns, entries: Entries) -> list[str]:
    what = (
        f"the {len(columns.across)} columns from {columns.across[0]} to {columns.across[-1]}"
        if columns.across
        else f"the column {columns.count}"
    )
    meaning = (
        "combinations without a row are missing, not zero"
        if columns.absent == "missing"
        else "combinations without a row are zeros"
    )
    rules = [f"Counts are those of {what}; {meaning}."]
    lacking = int(np.isnan(entries.counts).sum())
    if lacking:
        rules.append(f"Rows without a count are missing too ({lacking:,}).")
    return rules


def _table(long: Long, entries: Entries) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for k, each in enumerate(long.levels):
        labels = np.asarray(each.labels, dtype=object)
        columns[each.name] = labels[entries.indices[:, k]]
        columns[f"{each.name}_index"] = entries.indices[:, k]
    if entries.look.any():
        columns["look"] = entries.look
    return pd.DataFrame(columns | {"count": entries.counts})


def _provenance(called: str, columns: Columns, rules: list[str]) -> Provenance:
    used = ", ".join(["counts", *(["attributes"] if columns.attributes else [])])
    source = Source(name=f"{called} (your own file)", url="", licence="none stated", used_for=used)
    return Provenance(
        simulated=False, period="as in the file", sources=(source,), rules=tuple(rules)
    )

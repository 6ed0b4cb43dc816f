"""Columns that a table lacks: names of its rows, one place of two degrees, one event a row."""

from __future__ import annotations

import polars as pl

from uncletc.tables.count_column import choose_count
from uncletc.tables.profiles import Profile, unique_share
from uncletc.tables.words import (
    class_of,
    count_points,
    is_fips,
    is_id,
    is_latitude,
    is_longitude,
    is_note,
)

EVENTS = "events"
"""The column of ones."""

_LEAST_NUMBERS = 3
_REPEATED = 2.0  # rows for each pair of degrees
_DIGITS = 5  # of degrees: a metre


def row_names(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Number the rows where no column could name them, as in a matrix of counts alone."""
    if frame.width < _LEAST_NUMBERS or "row" in frame.columns:
        return frame, []
    named = any(is_id(name) or (class_of(name) and not _numbered(name)) for name in frame.columns)
    if named or not all(kind.is_numeric() for kind in frame.dtypes):
        return frame, []
    profiles = [Profile.of(frame.get_column(name), frame.columns) for name in frame.columns]
    if any(each.numbers_rows or each.grid for each in profiles):
        return frame, []
    if any(count_points(each.name) >= 6 and not _numbered(each.name) for each in profiles):
        return frame, []
    if sum(each.kind == "whole" and each.count_like for each in profiles) < _LEAST_NUMBERS:
        return frame, []
    rows = pl.Series("row", [f"row {k + 1}" for k in range(len(frame))])
    return frame.select(rows, pl.all()), [
        "No column names the rows: they are called row 1, row 2, …"
    ]


def _numbered(name: str) -> bool:
    return name[-1:].isdigit()


def joined_degrees(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Add a column of places where latitude and longitude alone tell them, and are no grid."""
    north = [name for name in frame.columns if is_latitude(name)]
    east = [name for name in frame.columns if is_longitude(name)]
    named = any(class_of(name) == "place" or is_fips(name) for name in frame.columns)
    if len(north) != 1 or len(east) != 1 or named:
        return frame, []
    pair = frame.select(north[0], east[0])
    if not all(kind.is_numeric() for kind in pair.dtypes):
        return frame, []
    known = pair.drop_nulls().unique()
    sizes = [known.get_column(name).n_unique() for name in known.columns]
    if len(known) < 2 or len(known) * _REPEATED > len(frame):
        return frame, []
    if len(known) > 1.5 * max(sizes):  # a grid, whose rows and columns are modes
        return frame, []
    text = [pl.col(name).cast(pl.Float64).round(_DIGITS).cast(pl.String) for name in known.columns]
    place = pair.select(pl.concat_str(text, separator=", ").alias("place"))
    return pl.concat([place, frame], how="horizontal"), [
        f"The column place is put together from {north[0]} and {east[0]}."
    ]


def events_of_rows(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Add a count of 1 to each row of a list of single events, such as cases with an id each."""
    if EVENTS in frame.columns or len(frame) < 2:
        return frame, []
    profiles = [Profile.of(frame.get_column(name), frame.columns) for name in frame.columns]
    if choose_count(profiles, {})[0]:
        return frame, []
    if any(count_points(each.name) > 0 and each.numeric for each in profiles):
        return frame, []  # a rate or the like: not a list, and no counts
    modes = [e for e in profiles if e.mode_class and not is_note(e.name) and not e.numbers_rows]
    modes = [each for each in modes if each.n_days < 0.9 * each.n]
    if len(modes) < 2:
        return frame, []
    ids = [each for each in profiles if is_id(each.name) and each.n_levels == each.n]
    if not ids and unique_share(modes) > 0.9:
        return frame, []
    ones = pl.Series(EVENTS, [1] * len(frame), dtype=pl.Int32)
    return frame.with_columns(ones), [
        f"No column holds counts: each row is taken as one event, in the column {EVENTS}."
    ]

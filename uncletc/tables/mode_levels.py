"""Levels of a mode: the labels of a column in order, and the level of each row."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from uncletc.common.validation import IntArray
from uncletc.tables.columns import ModeColumn
from uncletc.tables.dates import by_step
from uncletc.tables.values import numbers_of
from uncletc.tables.words import is_fips

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
_COUNTY = 1000  # codes from here on are of counties, below of states


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of one mode.

    Attributes
    ----------
    name : str
        Of the mode.
    labels : tuple of str
        Numbers and dates in their order, texts alphabetically with numbers inside as numbers.
    codes : ndarray of int, shape (n,)
        The level of each row; -1 where it is missing.
    rules : tuple of str
        What was done, one sentence each.
    """

    name: str
    labels: tuple[str, ...]
    codes: IntArray
    rules: tuple[str, ...] = ()

    def only(self, kept: IntArray) -> Levels:
        """The same with some levels only, others as missing."""
        new = np.full(len(self.labels) + 1, -1)
        new[kept] = np.arange(len(kept))
        labels = tuple(self.labels[k] for k in kept)
        return Levels(self.name, labels, new[self.codes], self.rules)


def levels_of(column: pl.Series, mode: ModeColumn) -> Levels:
    """Find the levels of a mode.

    Raises
    ------
    ValueError
        If a step is asked of a column without dates, or intervals of one without numbers.
    """
    if mode.step is not None:
        return _by_date(column, mode.column, mode.step)
    if mode.bins is not None:
        return _binned(column, mode.column, mode.bins)
    if column.dtype == pl.Date:
        return _coded(column, column.dt.to_string("%Y-%m-%d"), mode.column)
    if isinstance(column.dtype, pl.Datetime):
        return _coded(column, column.dt.to_string("%Y-%m-%d %H:%M:%S"), mode.column)
    if column.dtype.is_numeric():
        return _of_numbers(column, mode.column)
    text = column.cast(pl.String)
    text = text.set(text.str.strip_chars() == "", None)
    known = text.drop_nulls().unique().to_list()
    rules: tuple[str, ...] = ()
    if is_fips(mode.column) and all(re.fullmatch(r"\d{1,5}(\.0)?", each) for each in known):
        text = _fips(text.cast(pl.Float64))
    elif known and all(re.fullmatch(r"[+-]?\d+(\.\d+)?", each) for each in known):
        return _same_numbers(text, mode.column)
    elif len({each.lower() for each in known}) < len(known):
        n = len(known) - len({each.lower() for each in known})
        rules = (
            f"{n} labels of {mode.column} differ from others in capitals only; they stay apart.",
        )
    order = _in_calendar(text.drop_nulls().unique().to_list())
    return Levels(mode.column, tuple(order), _codes(text, order), rules)


def _by_date(column: pl.Series, name: str, step: str) -> Levels:
    if column.dtype != pl.Date and not isinstance(column.dtype, pl.Datetime):
        raise ValueError(
            f"{name} must hold dates to be taken by {step}; data row 1 is {str(column[0])[:40]!r}"
        )
    starts = by_step(column, step)
    form = "%Y-%m" if step == "month" else "%Y-%m-%d"
    found = _coded(starts, starts.dt.to_string(form), name)
    if starts.n_unique() == column.n_unique():
        return found
    said = {"day": "by day", "week": "by week, named by its Monday", "month": "by month"}[step]
    rule = f"Dates in {name} are taken {said}: {len(found.labels):,} levels."
    return Levels(name, found.labels, found.codes, (rule,))


def _binned(column: pl.Series, name: str, bins: int) -> Levels:
    values = numbers_of(column)
    known = values[~np.isnan(values)]
    if bins < 2 or not len(known):
        raise ValueError(f"bins of {name} must be at least 2 of at least one number, got {bins}")
    edges = np.unique(np.quantile(known, np.linspace(0, 1, bins + 1)))
    if len(edges) < 3:
        raise ValueError(f"{name} must have more than one value to be put into intervals")
    inside = np.searchsorted(edges[1:-1], values, side="right")
    used, codes = np.unique(inside[~np.isnan(values)], return_inverse=True)
    found = np.full(len(values), -1)
    found[~np.isnan(values)] = codes
    digits = _digits(edges)
    labels = tuple(f"{edges[k]:.{digits}g} to {edges[k + 1]:.{digits}g}" for k in used)
    rule = f"{name} is put into {len(labels)} intervals with about as many rows each."
    return Levels(name, labels, found, (rule,))


def _digits(edges: Any) -> int:
    """Digits that tell edges apart."""
    for digits in range(3, 17):
        if len({f"{edge:.{digits}g}" for edge in edges}) == len(edges):
            return digits
    return 17


def _of_numbers(column: pl.Series, name: str) -> Levels:
    values = column.cast(pl.Float64)
    if is_fips(name) and _are_fips(values.drop_nulls()):
        text = _fips(values)
        order = sorted(text.drop_nulls().unique().to_list())
        return Levels(name, tuple(order), _codes(text, order))
    known = values.drop_nulls().unique().sort().to_list()
    labels = tuple(str(int(v)) if v.is_integer() and abs(v) < 1e15 else repr(v) for v in known)
    return Levels(name, labels, _codes(values, known))


def _are_fips(values: pl.Series) -> bool:
    return bool(((values == values.floor()) & values.is_between(1, 99_999)).all())


def _fips(values: pl.Series) -> pl.Series:
    """Codes of states with two digits, of counties with five."""
    top = values.max()
    counties = isinstance(top, float) and top >= _COUNTY
    text = values.cast(pl.Int64).cast(pl.String)
    if not counties:
        return text.str.zfill(2)
    return pl.select(
        pl.when(values >= _COUNTY).then(text.str.zfill(5)).otherwise(text.str.zfill(2))
    ).to_series()


def _same_numbers(text: pl.Series, name: str) -> Levels:
    """Texts that are numbers: equal ones are one level, named as it first stands."""
    values = text.cast(pl.Float64)
    first = pl.DataFrame({"value": values, "text": text}).drop_nulls().unique("value", keep="first")
    first = first.sort("value")
    known = first.get_column("value").to_list()
    return Levels(name, tuple(first.get_column("text").to_list()), _codes(values, known))


def _coded(values: pl.Series, text: pl.Series, name: str) -> Levels:
    pairs = pl.DataFrame({"value": values, "text": text}).drop_nulls().unique("value").sort("value")
    known = pairs.get_column("value")
    labels = tuple(pairs.get_column("text").to_list())
    return Levels(name, labels, _codes(values, known.to_list()))


def _codes(values: pl.Series, known: list[Any]) -> IntArray:
    """The place of each value among the known ones; -1 where it is missing."""
    if not known:
        return np.full(len(values), -1)
    table = pl.DataFrame(
        {"value": pl.Series(known, dtype=values.dtype), "code": np.arange(len(known))}
    )
    frame = pl.DataFrame({"value": values})
    joined = frame.join(table, on="value", how="left", maintain_order="left")
    return joined.get_column("code").fill_null(-1).to_numpy().astype(np.int64)


def _in_calendar(labels: list[str]) -> list[str]:
    """Months and days of the week in their order, other labels alphabetically."""
    for names in (_MONTHS, _WEEKDAYS):
        places = {name: k for k, name in enumerate(names)}
        found = {each: places.get(each[:3].lower()) for each in labels}
        full = all(re.fullmatch(r"[A-Za-z]{3,9}\.?", each) for each in labels)
        if len(labels) > 1 and full and None not in found.values():
            return sorted(labels, key=lambda each: (found[each], each))
    return sorted(labels, key=_natural)


def _natural(text: str) -> tuple[Any, ...]:
    """A sort key under which "site 2" is before "site 10"."""
    parts = re.split(r"([0-9]+)", text.casefold())
    return tuple(int(part) if i % 2 else part for i, part in enumerate(parts)), text

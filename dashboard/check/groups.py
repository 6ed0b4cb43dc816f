"""Ways to divide counts on the Model check page: by place, by time, by species. Pure."""

from __future__ import annotations

import calendar
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.places import (
    cell_notes,
    cells,
    is_covid,
    is_ordered,
    is_own,
    pair_columns,
)
from dashboard.shared.text.words import is_day
from uncletc.datasets import Dataset

CELL = "county cell"
PAIR = "interaction"
_FEW_IN_CELL = 5


@dataclass(frozen=True, eq=False, kw_only=True)
class Grouping:
    """Observed entries divided into groups.

    Attributes
    ----------
    labels : tuple of str
        Of the groups.
    groups : ndarray of int, shape (N,)
        The group of each observed entry.
    ordered : bool
        Whether the order of the groups means something, such as time.
    """

    labels: tuple[str, ...]
    groups: NDArray[np.int64]
    ordered: bool = False


def groupings(dataset: Dataset) -> dict[str, Grouping]:
    """Return all ways to divide the counts of a data set, by name; places first, then time."""
    if is_own(dataset):
        return _own_groupings(dataset)
    counts, covid = dataset.counts, is_covid(dataset)
    divided = {CELL if covid else PAIR: _places(dataset)} | _times(dataset)
    for mode, name in enumerate(counts.modes[:-1]):
        divided[name] = Grouping(
            labels=counts.labels[mode], groups=counts.indices[:, mode], ordered=covid
        )
    if not covid:
        guilds = dataset.mode_tables["pollinator"]["guild"]
        divided["guild"] = _coded(guilds, counts.indices[:, 1], sorted(set(guilds)))
    return divided


def names_of_groupings(dataset: Dataset) -> list[str]:
    """What :func:`groupings` will return."""
    if is_own(dataset):
        return list(groupings(dataset))
    if is_covid(dataset):
        return [CELL, "day", "weekday", "latitude", "longitude"]
    return [PAIR, "visit", "year", "month", "plant", "pollinator", "guild"]


def fibres_of(dataset: Dataset) -> tuple[str, str]:
    """What all counts along the last mode belong to, and many of them."""
    if not is_own(dataset):
        return (CELL, f"{CELL}s") if is_covid(dataset) else (PAIR, f"{PAIR}s")
    first = dataset.counts.modes[:-1]
    if len(first) == 1:
        return first[0], f"levels of {first[0]}"
    kind = "pair" if len(first) == 2 else "combination"
    return f"{kind} of {' and '.join(first)}", f"{kind}s of {' and '.join(first)}"


def _own_groupings(dataset: Dataset) -> dict[str, Grouping]:
    """By what shares all modes but the last, by each mode, and of days by weekday and month."""
    counts, last = dataset.counts, len(dataset.counts.modes) - 1
    sizes = counts.shape[:-1]
    keys, groups = np.unique(
        np.ravel_multi_index(tuple(counts.indices[:, :-1].T), sizes), return_inverse=True
    )
    at = np.unravel_index(keys, sizes)
    names = zip(*(np.asarray(counts.labels[k])[i] for k, i in enumerate(at)), strict=True)
    places = Grouping(labels=tuple(" – ".join(each) for each in names), groups=groups.ravel())
    divided = {fibres_of(dataset)[0]: places}
    for k in (last, *range(last)):
        labels, steps = counts.labels[k], counts.indices[:, k]
        divided[counts.modes[k]] = Grouping(
            labels=labels, groups=steps, ordered=is_ordered(dataset, k)
        )
        if all(map(is_day, labels)):
            days = pd.to_datetime(pd.Series(labels))
            divided["weekday"] = _coded(days.dt.day_name(), steps, list(calendar.day_name))
            if days.dt.month.nunique() > 1:
                months = list(calendar.month_name)[1:]
                divided["month"] = _coded(days.dt.month_name(), steps, months)
    return divided


def county_residuals(dataset: Dataset, means: pd.DataFrame, grouping: Grouping) -> pd.DataFrame:
    """Mean residual of each county's cell, for a map.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts.
    means : DataFrame
        ``view.groups["county cell"]``.
    grouping : Grouping
        That it was made with.

    Returns
    -------
    DataFrame
        fips, value (NaN without held-out counts), unsure (whether the interval holds 0 or the cell
        has few held-out counts), and the lines counted and cell_note.
    """
    counts, table = dataset.counts, dataset.table
    group = pd.Series(grouping.groups, pd.MultiIndex.from_arrays(counts.indices[:, :2].T))
    group = group[~group.index.duplicated()]
    group_of_county = group.reindex(
        pd.MultiIndex.from_frame(table[pair_columns(dataset)])
    ).to_numpy()
    labels = pd.Series(grouping.labels).reindex(group_of_county)
    county_means = means.set_index("group").reindex(labels).reset_index(drop=True)
    counted = [
        f"held-out counts: {each.n:.0f}, mean {each.observed:,.1f}, predicted {each.predicted:,.1f}"
        if each.n > 0
        else None
        for each in county_means.itertuples()
    ]
    return pd.DataFrame(
        {
            "fips": table["fips"].to_numpy(),
            "value": county_means["mean"],
            "unsure": county_means["low"].le(0) & county_means["high"].ge(0)
            | county_means["n"].lt(_FEW_IN_CELL),
            "counted": counted,
            "cell_note": cell_notes(table),
        }
    )


def _places(dataset: Dataset) -> Grouping:
    """Cells named after their most populous county, or pairs of species."""
    counts, covid = dataset.counts, is_covid(dataset)
    pairs, groups = np.unique(counts.indices[:, :2], axis=0, return_inverse=True)
    (first, second), join = counts.labels[:2], ", " if covid else " – "
    plain = pd.Series([f"{first[a]}{join}{second[b]}" for a, b in pairs.tolist()])
    labels = plain
    if covid:
        named = cells(dataset.table).set_index(pair_columns(dataset))["label"]
        labels = named.reindex(pd.MultiIndex.from_arrays(pairs.T)).reset_index(drop=True)
        labels = labels.fillna(plain)
        labels = labels.mask(labels.duplicated(keep=False), labels + " (" + plain + ")")
    return Grouping(labels=tuple(labels), groups=groups.ravel().astype(np.int64))


def _times(dataset: Dataset) -> dict[str, Grouping]:
    counts = dataset.counts
    name, labels, step = counts.modes[-1], counts.labels[-1], counts.indices[:, -1]
    times = {name: Grouping(labels=labels, groups=step, ordered=True)}
    table = dataset.mode_tables[name]
    if "weekday" in table:
        return times | {"weekday": _coded(table["weekday"], step, list(calendar.day_name))}
    years, months = table["year"].astype(str), table["month"]
    named = [calendar.month_name[month] for month in months]
    return times | {
        "year": _coded(years, step, sorted(set(years))),
        "month": _coded(named, step, [calendar.month_name[month] for month in sorted(set(months))]),
    }


def _coded(values: Iterable[str], step: NDArray[np.int64], order: Sequence[str]) -> Grouping:
    """Divide entries by a value that each step of a mode has."""
    codes = pd.Categorical(values, categories=order).codes.astype(np.int64)
    return Grouping(labels=tuple(order), groups=codes[step])

"""Ways to divide counts on the Model check page: by place, by time, by species. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.datasets import Dataset

CELL = "county cell"
PAIR = "interaction"
_FEW_IN_CELL = 5
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


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
    covid = "fips" in dataset.table
    found = {CELL if covid else PAIR: _places(dataset, county=covid)}
    found |= _times(dataset)
    counts = dataset.counts
    for mode in range(len(counts.shape) - 1):
        found[counts.modes[mode]] = Grouping(
            labels=counts.labels[mode], groups=counts.indices[:, mode], ordered=covid
        )
    if not covid:
        guilds = dataset.mode_tables["pollinator"]["guild"]
        found["guild"] = _coded(guilds, counts.indices[:, 1], sorted(set(guilds)))
    return found


def names_of_groupings(family: str) -> list[str]:
    """What :func:`groupings` will return, known before there are counts."""
    if family == "covid":
        return [CELL, "day", "weekday", "latitude", "longitude"]
    return [PAIR, "visit", "year", "month", "plant", "pollinator", "guild"]


def county_residuals(
    dataset: Dataset, cells: pd.DataFrame, grouping: Grouping, held: NDArray[np.bool_]
) -> pd.DataFrame:
    """Mean residual of each county's cell, for a map.

    Parameters
    ----------
    dataset : Dataset
        COVID-19 counts.
    cells : DataFrame
        ``view.groups["county cell"]``.
    grouping : Grouping
        That it was made with.
    held : ndarray of bool, shape (N,)

    Returns
    -------
    DataFrame
        fips, value (NaN without held-out counts), unsure (whether the interval holds 0 or the cell
        has few held-out counts), and the lines counted and cell_note.
    """
    counts = dataset.counts
    row = np.full(len(grouping.labels), -1)
    row[np.unique(grouping.groups[held])] = np.arange(len(cells))
    row_of_cell = np.full(counts.shape[:2], -1)
    row_of_cell[tuple(counts.indices[:, :2].T)] = row[grouping.groups]
    table = dataset.table
    own = row_of_cell[table["latitude_index"], table["longitude_index"]]
    found = cells.reset_index(drop=True).reindex(own).reset_index(drop=True)
    unsure = (found["low"] <= 0) & (found["high"] >= 0) | (found["n"] < _FEW_IN_CELL)
    counted = [
        f"held-out counts: {each.n:.0f}, mean {each.observed:,.1f}, predicted {each.predicted:,.1f}"
        if known
        else None
        for each, known in zip(found.itertuples(), own >= 0, strict=True)
    ]
    shared = [
        f"one value for the {n} counties of its cell" if n > 1 else None
        for n in table["counties_in_cell"]
    ]
    return pd.DataFrame(
        {
            "fips": table["fips"].to_numpy(),
            "value": found["mean"],
            "unsure": unsure,
            "counted": counted,
            "cell_note": shared,
        }
    )


def _places(dataset: Dataset, *, county: bool) -> Grouping:
    """Cells named after their most populous county, or pairs of species."""
    counts, table = dataset.counts, dataset.table
    pairs, groups = np.unique(counts.indices[:, :2], axis=0, return_inverse=True)
    if county:
        table = table.sort_values("population", ascending=False, kind="stable")
        table = table.drop_duplicates(["latitude_index", "longitude_index"])
        more = [f" +{n - 1}" if n > 1 else "" for n in table["counties_in_cell"]]
        names = dict(
            zip(
                zip(table["latitude_index"], table["longitude_index"], strict=True),
                table["county"] + ", " + table["state"] + more,
                strict=True,
            )
        )
        join = ", "
    else:
        names, join = {}, " – "
    first, second = counts.labels[:2]
    plain = [f"{first[a]}{join}{second[b]}" for a, b in pairs.tolist()]
    labels = [names.get((a, b), plain[i]) for i, (a, b) in enumerate(pairs.tolist())]
    repeated = {label for label, n in Counter(labels).items() if n > 1}
    labels = [
        f"{label} ({plain[i]})" if label in repeated else label for i, label in enumerate(labels)
    ]
    return Grouping(labels=tuple(labels), groups=groups.ravel().astype(np.int64))


def _times(dataset: Dataset) -> dict[str, Grouping]:
    counts = dataset.counts
    name, labels, step = counts.modes[-1], counts.labels[-1], counts.indices[:, -1]
    found = {name: Grouping(labels=labels, groups=step, ordered=True)}
    table = dataset.mode_tables[name]
    if "weekday" in table:
        return found | {"weekday": _coded(table["weekday"], step, _WEEK)}
    months = ["January", "February", "March", "April", "May", "June", "July", "August"]
    months += ["September", "October", "November", "December"]
    by_month = [months[month - 1] for month in table["month"]]
    return found | {
        "year": _coded(table["year"].astype(str), step, sorted(set(table["year"].astype(str)))),
        "month": _coded(by_month, step, [month for month in months if month in by_month]),
    }


def _coded(values: Sequence[str], step: NDArray[np.int64], order: Sequence[str]) -> Grouping:
    """Divide entries by a value that each step of a mode has."""
    code = {value: i for i, value in enumerate(order)}
    return Grouping(
        labels=tuple(order),
        groups=np.array([code[value] for value in values], dtype=np.int64)[step],
        ordered=False,
    )

"""Counties that share a cell of the counts: what each reported, and its part of the estimates.

A cell of COVID-19 counts may hold counties of several states. Counts are known by county; λ is
known by cell alone, and is divided among the counties of a cell as their reported cases are.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from uncletc.common.validation import FloatArray
from uncletc.datasets.base import Dataset

CELL = ["latitude_index", "longitude_index"]


def has_counties(dataset: Dataset) -> bool:
    """Whether the counts are of US counties, with the reports of each."""
    return dataset.county_counts is not None and {"state", *CELL} <= {*dataset.table.columns}


def county_shares(table: pd.DataFrame) -> FloatArray:
    """Return the part of its cell's estimates that each county has.

    Its part of the reported cases of the cell; where none reported any, of the people.

    Parameters
    ----------
    table : DataFrame
        One row per county: latitude_index, longitude_index, cases, population and, where some
        are left out of the counts, counted.

    Returns
    -------
    ndarray, shape (n,)
        The counties of a cell add up to 1; 0 for those that are left out.
    """
    counted = table["counted"] if "counted" in table else pd.Series(True, table.index)
    known = table[CELL].assign(
        cases=table["cases"].where(counted, 0),
        people=table["population"].where(counted, 0),
        one=counted.astype(float),
    )
    sums = known.groupby(CELL)[["cases", "people", "one"]].transform("sum")
    by = np.select([sums["cases"] > 0, sums["people"] > 0], [0, 1], 2)
    parts, wholes = (each[["cases", "people", "one"]].to_numpy(float) for each in (known, sums))
    row = np.arange(len(table))
    shares: FloatArray = parts[row, by] / np.maximum(wholes[row, by], 1.0)
    return shares


def reported_by_county(dataset: Dataset, day: int | None = None) -> FloatArray:
    """Return what each county of the counts reported, over all days or on one; (n,).

    0 for counties that are left out of the counts.
    """
    cases = dataset.table["cases"].to_numpy(dtype=np.float64)
    if day is not None:
        if dataset.county_counts is None:
            raise ValueError(f"dataset must have the counts of counties by day, {dataset.name!r}")
        cases = np.nan_to_num(dataset.county_counts[:, day])
    counted = dataset.table.get("counted")
    return cases if counted is None else np.where(counted, cases, 0.0)


def state_names(table: pd.DataFrame) -> pd.Series:
    """Return the states of each cell, its most populous county's first: "Delaware, Maryland".

    Index ``latitude_index``, ``longitude_index``.
    """
    table = table.sort_values("population", ascending=False, kind="stable")
    table = table.drop_duplicates([*CELL, "state"])
    return table.groupby(CELL)["state"].agg(", ".join)

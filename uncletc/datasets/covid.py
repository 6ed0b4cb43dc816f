"""COVID-19 by US county and day, as a latitude × longitude × day tensor."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.groups import Group
from uncletc.datasets.base import AttributeInfo, Dataset, described, scaled
from uncletc.datasets.covid_files import DAYS, FACTS, read_attributes, read_daily, with_population

CELL = ["latitude_index", "longitude_index"]
"""Columns of a county table that name its cell."""


def load_covid() -> Dataset:
    """Load daily new COVID-19 cases of US counties, 2021-01-01 to 2021-03-01.

    A county's coordinates, rounded to whole degrees, give its cell of the latitude × longitude
    grid; the grid holds the rounded values in use. Ω holds the cells and days with a report, Ξ
    every day of every cell that has a county. The population of a cell is its exposure; without it,
    as in the paper, p absorbs the sizes of places.

    Returns
    -------
    Dataset
        ``table`` has one row per county: ``fips`` (5 characters), ``county``, ``state``,
        ``latitude``, ``longitude`` (degrees), ``population`` (2019), ``latitude_index``,
        ``longitude_index`` (of the modes), ``cell``, ``counties_in_cell``, ``counted`` (whether
        the counts hold it: all of them), ``cases`` (sum over the days) and
        ``tests_per_1000`` (state's mean tests a day per 1000 people; NaN: unknown).
        ``mode_tables`` has the degrees of "latitude" and "longitude", and date and weekday of
        "day". ``provenance`` states the sources, licences and every rule applied.

    Raises
    ------
    DataUnavailableError
        If a public file is neither here nor available.

    Notes
    -----
    About 50 MB are downloaded once, then checked and read from the cache.
    """
    counties, new_cases = read_daily("Confirmed")
    counties = with_population(counties)
    attributes, tests_per_1000 = read_attributes(counties)
    cases = np.where(new_cases < 0, 0.0, new_cases)
    table, degrees = _county_table(counties)
    table["cases"] = np.nansum(cases, axis=1).astype(np.int64)
    table["tests_per_1000"] = tests_per_1000
    counts, info = _tensor(table, degrees, cases, attributes)
    return Dataset(
        name="covid",
        roles=FACTS.roles,
        effects=FACTS.effects,
        title=FACTS.title,
        counts=counts.with_groups(*covid_groups(table, degrees, DAYS)),
        attribute_info=info,
        table=table,
        county_counts=cases,
        mode_tables=covid_mode_tables(degrees, DAYS),
        provenance=FACTS.provenance(f"{DAYS[0]:%Y-%m-%d} to {DAYS[-1]:%Y-%m-%d}"),
    )


def _county_table(counties: pd.DataFrame) -> tuple[pd.DataFrame, list[IntArray]]:
    """One row per county, with all columns except cases and tests; degrees of both modes."""
    table = counties.rename_axis("fips").reset_index()
    degrees = table[["latitude", "longitude"]].round().astype(np.int64)
    modes = [np.unique(degrees[mode]) for mode in degrees]
    for name, known, own in zip(CELL, modes, degrees.to_numpy().T, strict=True):
        table[name] = np.searchsorted(known, own)
    table["cell"] = [f"{north}°, {east}°" for north, east in degrees.to_numpy()]
    table["counties_in_cell"] = table.groupby("cell")["fips"].transform("size")
    return table.assign(counted=True), modes


def _tensor(
    table: pd.DataFrame,
    degrees: list[IntArray],
    cases: FloatArray,
    attributes: dict[str, FloatArray],
) -> tuple[CountTensor, dict[str, AttributeInfo]]:
    """The counts, and what their attributes are."""
    places = table[CELL].to_numpy()
    cells, cell_of = np.unique(places, axis=0, return_inverse=True)
    people = table["population"].to_numpy(dtype=np.float64)
    belongs = _by_cell(cell_of, np.ones(len(people)))
    weights = _by_cell(cell_of, people / (belongs @ people)[cell_of])

    total = belongs @ np.nan_to_num(cases)  # (C, 60) for C cells
    reported = belongs @ (~np.isnan(cases)).astype(np.float64) > 0
    values = {
        # A cell's people add up; everything else is an average over them.
        name: (belongs if name == "population" else weights) @ of_counties
        for name, of_counties in attributes.items()
    }
    values["weekend"] = np.round(values["weekend"])  # of two values, whatever means round to
    entries = every_day(cells, len(DAYS))
    of_cells = np.zeros((len(degrees[0]), len(degrees[1]), 1))
    of_cells[cells[:, 0], cells[:, 1], 0] = belongs @ people
    tensor = CountTensor(
        (len(degrees[0]), len(degrees[1]), len(DAYS)),
        entries[reported.ravel()],
        total[reported].astype(np.int64),
        attributes=scaled(values),
        attribute_indices=entries,
        modes=("latitude", "longitude", "day"),
        labels=[*degrees, DAYS],
        attribute_names=tuple(values),
        exposure=of_cells,
    )
    return tensor, described(values, FACTS.attributes)


def _by_cell(cell_of: IntArray, weights: FloatArray) -> csr_array:
    """Matrix, cells × counties, that adds up counties with the given weights."""
    n = len(cell_of)
    return csr_array((weights, (cell_of, np.arange(n))), shape=(int(cell_of.max()) + 1, n))


def covid_mode_tables(
    degrees: Sequence[ArrayLike], days: pd.DatetimeIndex
) -> dict[str, pd.DataFrame]:
    """Degrees of each latitude and longitude, date and weekday of each day."""
    return {
        "latitude": pd.DataFrame({"degrees": degrees[0]}),
        "longitude": pd.DataFrame({"degrees": degrees[1]}),
        "day": pd.DataFrame({"date": days, "weekday": days.day_name()}),
    }


def covid_groups(
    table: pd.DataFrame, degrees: Sequence[ArrayLike], days: pd.DatetimeIndex
) -> list[Group]:
    """Places with their positions, states, days and weekdays.

    Parameters
    ----------
    table : DataFrame
        One row per county: ``latitude_index``, ``longitude_index``, ``state``, ``population`` and
        ``cell``.
    degrees : sequence of array_like
        Of each latitude, and of each longitude.
    days : DatetimeIndex
    """
    first = largest_counties(table)
    rows, columns = (first[name].to_numpy() for name in CELL)
    latitudes, longitudes = (np.asarray(each, dtype=np.float64) for each in degrees)
    shape = len(latitudes), len(longitudes)
    states, state = np.unique(first["state"].to_numpy(dtype=str), return_inverse=True)
    places, of_state = np.full(shape, -1), np.full(shape, -1)
    places[rows, columns] = np.arange(len(first))
    of_state[rows, columns] = state
    grid = ["latitude", "longitude"]
    # Degrees of latitude north, and as many east as are equally far.
    north = latitudes[rows]
    positions = np.column_stack([north, longitudes[columns] * np.cos(np.deg2rad(north))])
    labels = [f"{day:%Y-%m-%d}" for day in days]
    number = np.arange(len(days))
    weekdays = list(pd.date_range("2024-01-01", periods=7).day_name())
    return [
        Group("place", grid, places, first["cell"].tolist(), positions),
        Group("state", grid, of_state, states.tolist()),
        Group("day", ["day"], number, labels, number[:, None].astype(float)),
        Group("weekday", ["day"], np.asarray(days.day_of_week), weekdays),
    ]


def largest_counties(counties: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the largest county of each cell, in the order of cells."""
    largest = counties.sort_values("population", ascending=False, kind="stable")
    return largest.drop_duplicates(CELL).sort_values(CELL)


def every_day(cells: IntArray, n_days: int) -> IntArray:
    """Every day of every cell, day fastest; (C, 2) to (C · n_days, 3)."""
    days = np.tile(np.arange(n_days), len(cells))
    return np.column_stack([np.repeat(cells, n_days, axis=0), days])

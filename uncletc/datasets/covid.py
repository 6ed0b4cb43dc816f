"""COVID-19 by US county and day, as a latitude × longitude × day tensor."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array

from uncletc.common.validation import FloatArray, IntArray, check_choice
from uncletc.data.counts import CountTensor
from uncletc.datasets import covid_sources as sources
from uncletc.datasets.base import AttributeInfo, Dataset, Provenance
from uncletc.datasets.covid_attributes import RULES, CountyAttributes, read_attributes
from uncletc.datasets.covid_files import DAYS, CaseReports, read_own_file, read_reports
from uncletc.datasets.covid_groups import EFFECTS, covid_groups
from uncletc.datasets.covid_roles import COVID_ROLES
from uncletc.datasets.described import COVID_ATTRIBUTES, described
from uncletc.datasets.reading import every_day, scaled

SharedCells = Literal["sum", "largest"]
Negative = Literal["zero", "missing"]
Counties = Literal["all", "mobility", "complete"]
Exposure = Literal["population", "none"]

_SHARED_RULES = {
    "sum": (
        "The counts and the populations of counties that share a cell are summed; their other "
        "attributes are averaged, weighted by population."
    ),
    "largest": (
        "Of the counties that share a cell, the one with most people in the 2012–2016 survey "
        "(2019 where that lacks the county) stands for the cell with its counts and attributes."
    ),
}
_NEGATIVE_RULES = {
    "zero": "A negative correction of a county's new cases counts as 0 cases.",
    "missing": "A county's day with a negative correction is left out as if not reported.",
}
_COUNTY_RULES = {
    "all": "All counties of the 50 states and the District of Columbia are used.",
    "mobility": "Only counties whose own mobility was published are used.",
    "complete": "Only counties with their own published mobility and survey figures are used.",
}

_EXPOSURE_RULES = {
    "population": "The population of a cell is its exposure: true cases are modelled per person.",
    "none": "No exposure is used: true cases are modelled per cell, as in the paper.",
}
_COLUMNS = [
    "fips",
    "county",
    "state",
    "latitude",
    "longitude",
    "population",
    "latitude_index",
    "longitude_index",
    "cell",
    "counties_in_cell",
    "counted",
    "cases",
    "tests_per_1000",
]


def load_covid(
    *,
    shared_cells: SharedCells = "sum",
    negative: Negative = "zero",
    counties: Counties = "all",
    exposure: Exposure = "population",
    path: str | Path | None = None,
) -> Dataset:
    """Load daily new COVID-19 cases of US counties, 2021-01-01 to 2021-03-01.

    A county's coordinates, rounded to whole degrees, give its cell of the latitude × longitude
    grid; the grid holds the rounded values in use. Ω holds the cells and days with a report, Ξ
    every day of every cell that has a county.

    Parameters
    ----------
    shared_cells : {"sum", "largest"}
        Counties that share a cell: add them up, or let the largest stand for the cell.
    negative : {"zero", "missing"}
        A negative correction of the new cases: no cases, or no report.
    counties : {"all", "mobility", "complete"}
        All 3,118; the 2,650 with their own published mobility; or the 2,643 of these that are
        also in the file of the 2012–2016 community survey (none in Alaska).
    exposure : {"population", "none"}
        What true cases are proportional to, all else being equal: the population of a cell, or, as
        in the paper, nothing. Without it p absorbs the sizes of places; see `benchmarks/`.
    path : path, optional
        A county file of the University of Maryland's platform (csv: fips, date, field, value).
        Its "New COVID cases" and every field that matches an attribute replace the public ones;
        coordinates and other attributes stay public.

    Returns
    -------
    Dataset
        ``table`` has one row per county: ``fips`` (5 characters), ``county``, ``state``,
        ``latitude``, ``longitude`` (degrees), ``population`` (2019), ``latitude_index``,
        ``longitude_index`` (of the modes), ``cell``, ``counties_in_cell``, ``counted`` (False
        when another county stands for its cell), ``cases`` (sum over the days) and
        ``tests_per_1000`` (state's mean tests a day per 1000 people; NaN: unknown).
        ``mode_tables`` has the degrees of "latitude" and "longitude", and date and weekday of
        "day". ``provenance`` states the sources, licences and every rule applied.

    Raises
    ------
    DataUnavailableError
        If a public file is neither here nor available.
    ValueError
        If an argument or the user's file breaks a rule.

    Notes
    -----
    About 50 MB are downloaded once, then checked and read from the cache.
    """
    check_choice("shared_cells", shared_cells, get_args(SharedCells))
    check_choice("negative", negative, get_args(Negative))
    check_choice("counties", counties, get_args(Counties))
    check_choice("exposure", exposure, get_args(Exposure))
    reports = read_reports() if path is None else read_own_file(path)
    attributes = read_attributes(reports.counties, reports.fields)
    chosen = _chosen(attributes, counties)
    if not chosen.any():
        raise ValueError(f"counties={counties!r} leaves none of the {len(chosen)} counties")
    cases = _without_negatives(reports.new_cases[chosen], negative)
    table = _county_table(reports, attributes, chosen, shared_cells).assign(
        cases=np.nansum(cases, axis=1).astype(np.int64)
    )
    rules = (
        *_origin_rules(reports, path),
        "The cell of a county is its latitude and longitude rounded to whole degrees.",
        "Counties renumbered since a file was made have their old number's figures; Chugach and "
        "Copper River, one county until 2019, share its population equally.",
        _COUNTY_RULES[counties],
        _NEGATIVE_RULES[negative],
        _SHARED_RULES[shared_cells],
        _EXPOSURE_RULES[exposure],
        *RULES,
    )
    reported = (sources.REPORTED_CASES, sources.PINNED_COPY)
    counts, info = _tensor(table, cases, attributes, chosen, exposure)
    return Dataset(
        name="covid",
        roles=COVID_ROLES,
        effects=EFFECTS,
        title="COVID-19 in US counties",
        counts=counts.with_groups(*covid_groups(table, DAYS)),
        attribute_info=info,
        table=table[_COLUMNS],
        county_counts=cases,
        mode_tables=_mode_tables(table),
        provenance=Provenance(
            simulated=False,
            period=f"{DAYS[0]:%Y-%m-%d} to {DAYS[-1]:%Y-%m-%d}",
            sources=(
                *(() if path is None else (sources.OWN_FILE,)),
                *reported,
                *sources.ATTRIBUTES,
            ),
            rules=rules,
        ),
    )


def _origin_rules(reports: CaseReports, path: str | Path | None) -> list[str]:
    if path is None:
        return ["New cases are the day's confirmed total minus the day before's."]
    rules = [f"Your own file gives {', '.join(('new cases', *sorted(reports.fields)))}."]
    if reports.unplaced:
        rules.append(
            f"Counties of your file without known coordinates are left out: "
            f"{', '.join(reports.unplaced)}."
        )
    return rules


def _chosen(attributes: CountyAttributes, counties: Counties) -> NDArray[np.bool_]:
    if counties == "all":
        return np.ones(len(attributes.has_mobility), dtype=bool)
    if counties == "mobility":
        return attributes.has_mobility
    return attributes.has_mobility & ~np.isnan(attributes.surveyed_population)


def _without_negatives(new_cases: FloatArray, negative: Negative) -> FloatArray:
    return np.where(new_cases < 0, 0.0 if negative == "zero" else np.nan, new_cases)


def _county_table(
    reports: CaseReports,
    attributes: CountyAttributes,
    chosen: NDArray[np.bool_],
    shared_cells: SharedCells,
) -> pd.DataFrame:
    """One row per chosen county, with all columns except the cases."""
    table = reports.counties.rename_axis("fips").reset_index()[chosen].reset_index(drop=True)
    table["tests_per_1000"] = attributes.tests_per_1000[chosen]
    table["latitude_degrees"] = table["latitude"].round().astype(np.int64)
    table["longitude_degrees"] = table["longitude"].round().astype(np.int64)
    for mode in ("latitude", "longitude"):
        degrees = table[f"{mode}_degrees"]
        table[f"{mode}_index"] = np.searchsorted(np.unique(degrees), degrees)
    table["cell"] = [
        f"{latitude}°, {longitude}°"
        for latitude, longitude in zip(
            table["latitude_degrees"], table["longitude_degrees"], strict=True
        )
    ]
    cell = table.groupby("cell")
    table["counties_in_cell"] = cell["fips"].transform("size")
    table["counted"] = True
    if shared_cells == "largest":
        people = attributes.surveyed_population[chosen]
        table["people"] = np.where(np.isnan(people), table["population"], people)
        ranked = table.sort_values(["people", "fips"], ascending=[False, True])
        table["counted"] = ~ranked["cell"].duplicated()  # aligned by row label
    return table


def _tensor(
    table: pd.DataFrame,
    cases: FloatArray,
    attributes: CountyAttributes,
    chosen: NDArray[np.bool_],
    exposure: Exposure,
) -> tuple[CountTensor, dict[str, AttributeInfo]]:
    """The counts, and what their attributes are."""
    places = table[["latitude_index", "longitude_index"]].to_numpy()
    cells, cell_of = np.unique(places, axis=0, return_inverse=True)
    counted = table["counted"].to_numpy(dtype=np.float64)
    belongs = _by_cell(cell_of, counted)
    people = table["population"].to_numpy() * counted
    weights = _by_cell(cell_of, people / (belongs @ people)[cell_of])

    total = belongs @ np.nan_to_num(cases)  # (C, 60) for C cells
    reported = belongs @ (~np.isnan(cases)).astype(np.float64) > 0
    values = {
        # A cell's people add up; everything else is an average over them.
        name: (belongs if name == "population" else weights) @ of_counties[chosen]
        for name, of_counties in attributes.values.items()
    }
    values["weekend"] = np.round(values["weekend"])  # of two values, whatever means round to
    entries = every_day(cells, len(DAYS))
    degrees = [np.unique(table[f"{mode}_degrees"]) for mode in ("latitude", "longitude")]
    of_cells = np.zeros((len(degrees[0]), len(degrees[1]), 1))
    of_cells[cells[:, 0], cells[:, 1], 0] = belongs @ people
    tensor = CountTensor(
        (len(degrees[0]), len(degrees[1]), len(DAYS)),
        entries[reported.ravel()],
        total[reported].astype(np.int64),
        attributes=scaled(values),
        attribute_indices=entries,
        modes=("latitude", "longitude", "day"),
        labels=[degrees[0].tolist(), degrees[1].tolist(), DAYS.strftime("%Y-%m-%d").tolist()],
        attribute_names=tuple(values),
        exposure=of_cells if exposure == "population" else None,
    )
    return tensor, described(values, COVID_ATTRIBUTES)


def _by_cell(cell_of: IntArray, weights: FloatArray) -> csr_array:
    """Matrix, cells × counties, that adds up counties with the given weights."""
    n = len(cell_of)
    return csr_array((weights, (cell_of, np.arange(n))), shape=(int(cell_of.max()) + 1, n))


def _mode_tables(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    degrees = {
        mode: pd.DataFrame({"degrees": np.unique(table[f"{mode}_degrees"])})
        for mode in ("latitude", "longitude")
    }
    return degrees | {"day": pd.DataFrame({"date": DAYS, "weekday": DAYS.day_name()})}

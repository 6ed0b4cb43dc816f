"""Simulated COVID-19 cases and deaths by US county, with their truth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import random_table

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.roles import Roles
from uncletc.data.simulate import Truth
from uncletc.datasets.base import Dataset, Provenance, Source, simulated_info
from uncletc.datasets.covid_facts import ATTRIBUTES, COVID_ROLES, covid_groups
from uncletc.datasets.reading import every_day
from uncletc.datasets.twins import LEVELS, Arrays, detection_probability, read_twin

EFFECTS = {
    "apart(place)": "Each place has a level of its own, beyond what attributes tell.",
    "day": "A wave passes everywhere at once.",
    "smooth(place, 4) × smooth(day, 7)": "Waves pass through regions.",
    "reporting(state × weekday)": "Some states publish next to nothing on Sundays.",
    "reporting(state × day)": "States publish late, and then in bulk.",
}
"""Effects of modes that the counts were drawn with; distances in degrees and days."""

CENSUS = Source(
    name="US Census Bureau, cartographic boundary file of counties, 2016",
    url="https://www.census.gov/geographies/mapping-files/time-series/geo/carto-boundary-file.html",
    licence="public domain",
    used_for="names, FIPS codes, positions and land areas of counties; nothing else is real",
)


def load_covid_twin() -> Dataset:
    """Simulated reported cases by latitude, longitude and day, and deaths.

    The counties' names and positions are real; everything else is drawn. 41 × 81 × 60 entries,
    21 % observed, and 15 attributes for every day of every cell that has a county, including
    cells left out of Ω.

    Returns
    -------
    Dataset
        ``counts`` sums the counties whose position, rounded to whole degrees, is the same; their
        exposure is the people of a cell, their groups are those of real cases.
        ``table`` has one row per county of the 50 states and DC: fips, county, state, latitude,
        longitude, population, latitude_index, longitude_index, cell, counties_in_cell, counted
        (whether its cell is in Ω), cases (its simulated reports over the 60 days, also where its
        cell is left out), tests_per_1000 (a day; follows p, and is not an attribute).
        ``roles`` and ``effects`` are those that the counts were drawn with, ``deaths`` a second
        look. ``truth`` is NaN where no county lies, because no attributes exist there.

    Raises
    ------
    DataUnavailableError
        If the file is missing or damaged.
    """
    return covid_twin(*read_twin("covid_twin.npz"))


def covid_twin(header: Mapping[str, Any], arrays: Arrays) -> Dataset:
    """Build the data set from what its file holds."""
    cells = arrays["cells"].astype(np.int64)
    days = pd.date_range(header["first_day"], periods=header["n_days"])
    shape = (len(header["latitudes"]), len(header["longitudes"]), len(days))
    table = _county_table(header, arrays)
    state = _state_of_cells(arrays)

    z = covid_attributes(arrays)
    attributed = every_day(cells, len(days))
    counted = np.repeat(arrays["counted"], len(days))
    people = np.bincount(arrays["county_cell"], arrays["county_population"]).astype(np.float64)
    exposure = np.zeros((*shape[:2], 1))
    exposure[cells[:, 0], cells[:, 1], 0] = people
    counts = CountTensor(
        shape,
        attributed[counted],
        arrays["counts"].ravel()[counted],
        attributes=z,
        attribute_indices=attributed,
        modes=header["modes"],
        labels=(header["latitudes"], header["longitudes"], days.strftime("%Y-%m-%d").tolist()),
        attribute_names=header["attributes"],
        exposure=exposure,
        simulated=True,
    )

    def everywhere(values: FloatArray) -> FloatArray:
        dense = np.full(shape, np.nan)
        dense[tuple(attributed.T)] = values.ravel()
        return dense

    weekday, day = (arrays[f"reporting_{by}"].astype(np.float64) for by in ("weekday", "day"))
    calendar = weekday[:, np.asarray(days.day_of_week)] * day
    return Dataset(
        name="covid-twin",
        title="Simulated COVID-19 cases by US county",
        counts=counts.with_groups(*covid_groups(_with_degrees(table, header), days)),
        table=table,
        county_counts=_county_counts(arrays),
        mode_tables={
            "latitude": pd.DataFrame({"degrees": header["latitudes"]}),
            "longitude": pd.DataFrame({"degrees": header["longitudes"]}),
            "day": pd.DataFrame({"date": days, "weekday": days.day_name()}),
        },
        provenance=Provenance(
            simulated=True,
            period=f"{days[0]:%Y-%m-%d} to {days[-1]:%Y-%m-%d}, simulated",
            sources=(CENSUS,),
            rules=tuple(header["rules"]),
        ),
        truth=Truth(
            rate=everywhere(covid_rate(z, people, arrays)),
            detection=everywhere(detection_probability(z, arrays)),
            reporting=everywhere(calendar[state]),
        ),
        roles=Roles(role for role in COVID_ROLES if role.attribute in header["attributes"]),
        effects=EFFECTS,
        attribute_info=simulated_info(header["attributes"], ATTRIBUTES),
        deaths=_deaths(arrays),
    )


def covid_rate(z: FloatArray, people: FloatArray, arrays: Arrays) -> FloatArray:
    """Evaluate the true λ of every cell and day.

    people · exp(zᵀβ + level of the place + wave of the region) · Σ_f U_1 U_2 U_3

    Parameters
    ----------
    z : ndarray, shape (60 C, D)
        Attributes, 0 to 1, day fastest.
    people : ndarray, shape (C,)
    arrays : mapping of str to ndarray
        ``rate_slopes`` β of shape (D,), ``effect_place`` (C,), ``effect_region_day`` (C, 60),
        ``cells`` (C, 2), and the factors U, ``factor_latitude``, ``factor_longitude`` and
        ``factor_day``.

    Returns
    -------
    ndarray, shape (C, 60)
    """
    row, column = arrays["cells"].astype(np.int64).T
    waves = arrays["effect_region_day"].astype(np.float64)
    logs = (z @ arrays["rate_slopes"]).reshape(waves.shape) + waves
    logs += arrays["effect_place"].astype(np.float64)[:, None]
    u, v, w = (
        arrays[f"factor_{mode}"].astype(np.float64) for mode in ("latitude", "longitude", "day")
    )
    rate: FloatArray = people[:, None] * np.exp(logs) * ((u[row] * v[column]) @ w.T)
    return rate


def covid_attributes(arrays: Arrays) -> FloatArray:
    """Join the attributes that are fixed per cell, change daily, or are the same everywhere.

    Parameters
    ----------
    arrays : mapping of str to ndarray of uint8
        ``fixed_levels`` of shape (C, 10), ``daily_levels`` (C, 60, 4), ``calendar_levels`` (60, 1).

    Returns
    -------
    ndarray of float, shape (60 C, 15)
        z, 0 to 1, day fastest.
    """
    n_cells, n_days, _ = arrays["daily_levels"].shape
    levels = np.concatenate(
        [
            np.repeat(arrays["fixed_levels"], n_days, axis=0),
            arrays["daily_levels"].reshape(n_cells * n_days, -1),
            np.tile(arrays["calendar_levels"], (n_cells, 1)),
        ],
        axis=1,
    )
    z: FloatArray = levels / LEVELS
    return z


def _county_table(header: Mapping[str, Any], arrays: Arrays) -> pd.DataFrame:
    cell = arrays["county_cell"].astype(np.int64)
    row, column = arrays["cells"].astype(np.int64)[cell].T
    names = [
        f"{header['latitudes'][i]}°, {header['longitudes'][j]}°"
        for i, j in zip(row.tolist(), column.tolist(), strict=True)
    ]
    return pd.DataFrame(
        {
            "fips": arrays["county_fips"].astype(str),
            "county": arrays["county_name"].astype(str),
            "state": np.asarray(header["states"])[arrays["county_state"]],
            "latitude": arrays["county_latitude"],
            "longitude": arrays["county_longitude"],
            "population": arrays["county_population"].astype(np.int64),
            "latitude_index": row,
            "longitude_index": column,
            "cell": names,
            "counties_in_cell": np.bincount(cell)[cell],
            "counted": arrays["counted"][cell],
            "cases": arrays["county_cases"].astype(np.int64),
            "tests_per_1000": arrays["county_tests"].astype(np.float64),
        }
    )


def _county_counts(arrays: Arrays) -> FloatArray:
    """Divide the counts of cells by day among their counties at random; (counties, days).

    Totals of counties over the days, and of cells on each day, are those of the file.
    """
    rng = np.random.default_rng(0)
    cases, of_cells = arrays["county_cases"].astype(np.int64), arrays["counts"].astype(np.int64)
    divided = np.zeros((len(cases), of_cells.shape[1]))
    for cell, daily in enumerate(of_cells):
        counties = np.flatnonzero(arrays["county_cell"] == cell)
        divided[counties] = random_table(cases[counties], daily).rvs(
            method="boyett",  # the other one loses counts of tables with a single row
            random_state=rng,
        )
    return divided


def _with_degrees(table: pd.DataFrame, header: Mapping[str, Any]) -> pd.DataFrame:
    degrees = {
        f"{mode}_degrees": np.asarray(header[f"{mode}s"])[table[f"{mode}_index"]]
        for mode in ("latitude", "longitude")
    }
    return table.assign(**degrees)


def _state_of_cells(arrays: Arrays) -> IntArray:
    """State of each cell, that of its largest county; (C,)."""
    order = np.argsort(-arrays["county_population"], kind="stable")
    _, first = np.unique(arrays["county_cell"][order], return_index=True)
    return np.asarray(arrays["county_state"][order[first]], dtype=np.int64)


def _deaths(arrays: Arrays) -> pd.DataFrame:
    """Deaths of counted cells by day of report, with the stated fatality."""
    counted = arrays["counted"]
    cells, deaths = arrays["cells"][counted].astype(np.int64), arrays["deaths"][counted]
    n_days = deaths.shape[1]
    latitude, longitude, day = every_day(cells, n_days).T
    return pd.DataFrame(
        {
            "latitude_index": latitude,
            "longitude_index": longitude,
            "day": day,
            "deaths": deaths.ravel().astype(np.int64),
            "ifr": np.repeat(arrays["fatality"][counted].astype(np.float64), n_days),
        }
    )

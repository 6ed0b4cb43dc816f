"""Deaths by county and day, and the share of infections that end in death.

Deaths say how many were infected some days before, whoever was tested: infections are about deaths
over the infection fatality ratio (IFR). That is an outside estimate of detection, and may be a
second look at the same true cases.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from uncletc.common.validation import check_positive
from uncletc.data.observations import Look
from uncletc.datasets.base import Dataset
from uncletc.datasets.covid_files import DAYS, read_by_fips, read_daily

DEATHS_LAG = 16
"""Days from the report of a case to the report of a death of those infected at the same time."""

IFR_FILE = (
    "covidestim/covidestim/e2930ba0349475cee09f712f91ebabee50293830/data-raw/ifr-data/"
    "ifr_county_07-02-2021.csv"
)

CELL = ["latitude_index", "longitude_index"]
"""Columns of a county table that name its cell."""

_IFR_ERROR = 0.4  # of the national ratio: experts' estimates differ by a factor of about 1.5
_SIMULATED_ERROR = 0.1  # of that of simulated deaths, which was drawn with it
_IFR_AT_1 = 0.00416  # of a county whose odds ratio in the file is 1, the average of the nation


def read_deaths() -> pd.DataFrame:
    """Read new deaths by US county and day from the daily reports of JHU CSSE.

    Returns
    -------
    pandas.DataFrame
        Index ``fips`` (5 characters), one column per day of the data set, by day of report. Whole
        numbers, negative where a correction outweighed the day; NaN: no report.

    Raises
    ------
    DataUnavailableError
        If a file is neither here nor available.
    """
    counties, new = read_daily("Deaths")
    return pd.DataFrame(new, index=counties.index, columns=DAYS)


def read_ifr() -> pd.Series:
    """Read the infection fatality ratio of US counties, as covidestim states it.

    Returns
    -------
    pandas.Series
        Index ``fips`` (5 characters); deaths per infection, about .003 to .006, by the ages and
        illnesses of the county's people.

    Raises
    ------
    DataUnavailableError
        If the file is neither here nor available.
    """
    odds = read_by_fips(IFR_FILE, "fips", ("ifr_OR",), encoding="latin-1")["ifr_OR"]
    return (_IFR_AT_1 * odds).rename("ifr")


def deaths_by_cell(dataset: Dataset, *, lag: int = DEATHS_LAG) -> pd.DataFrame:
    """Return deaths of the cells of a COVID-19 data set, by the day of the cases they belong to.

    Parameters
    ----------
    dataset : Dataset
        As :func:`uncletc.datasets.load` returns it for "covid" or "covid-twin".
    lag : int
        Days by which deaths are reported later than the cases they belong to, 0 to 59.

    Returns
    -------
    pandas.DataFrame
        One row per cell and day of cases, the last `lag` days left out: ``latitude_index``,
        ``longitude_index`` and ``day`` (an entry of ``dataset.counts``), ``deaths`` (reported
        `lag` days later by the cell's counties, negative corrections counted as 0) and ``ifr``
        (the mean over their people). Only days and counties with a report.

    Raises
    ------
    DataUnavailableError
        If a file is neither here nor available.
    ValueError
        If `lag` is not allowed, or the data have no counties.
    """
    check_lag(lag)
    counties = counted(dataset)
    if dataset.deaths is not None:
        late = dataset.deaths[dataset.deaths["day"] >= lag]
        return late.assign(day=late["day"] - lag).reset_index(drop=True)
    deaths = read_deaths().clip(lower=0).reindex(counties["fips"]).to_numpy()[:, lag:]
    rows = pd.DataFrame(
        {
            **{name: counties[name].repeat(deaths.shape[1]) for name in CELL},
            "day": np.tile(np.arange(deaths.shape[1]), len(counties)),
            "deaths": deaths.ravel(),
        }
    ).dropna()
    summed = rows.groupby([*CELL, "day"], as_index=False)["deaths"].sum()
    summed["deaths"] = summed["deaths"].astype(np.int64)
    return pd.DataFrame(summed).join(ifr_of(counties, CELL), on=CELL)


def deaths_look(
    dataset: Dataset,
    *,
    lag: int = DEATHS_LAG,
    fatality: float = 1.0,
    without: Collection[str] = (),
) -> Look:
    """Return deaths as a second look at the cases of a COVID-19 data set.

    Parameters
    ----------
    dataset : Dataset
        As :func:`uncletc.datasets.load` returns it for "covid" or "covid-twin".
    lag : int
        Days by which deaths are reported later than the cases they belong to, 0 to 59.
    fatality : float
        > 0, by what the IFR of every county is multiplied: 2 says that twice as many of the
        infected die as covidestim states, and so that half as many were infected.
    without : collection of str
        States whose cells have no such look, to check the fit by their deaths. A cell belongs to
        the state of its largest county.

    Returns
    -------
    Look
        For ``dataset.counts.with_looks``: "deaths", whose p is the infection fatality ratio, known
        up to one common factor of about 1.4.

    Raises
    ------
    DataUnavailableError
        If a file is neither here nor available.
    ValueError
        If `lag` or `fatality` is not allowed, the data have no counties, or a state is not one of
        theirs.
    """
    check_positive("fatality", fatality)
    rows = deaths_by_cell(dataset, lag=lag)
    state = state_of_cells(counted(dataset))
    unknown = sorted(set(without) - set(state))
    if unknown:
        raise ValueError(f"without must name states of the data, got {unknown[0]!r}")
    left = rows[~rows.join(state, on=CELL)["state"].isin(list(without))]
    return Look(
        "deaths",
        left[[*CELL, "day"]].to_numpy(),
        left["deaths"].to_numpy(),
        known_detection=np.minimum(fatality * left["ifr"].to_numpy(), 1.0),
        known_error=_IFR_ERROR if dataset.deaths is None else _SIMULATED_ERROR,
    )


def with_deaths(dataset: Dataset, *, lag: int = DEATHS_LAG, fatality: float = 1.0) -> Dataset:
    """Return a COVID-19 data set with deaths as a second look; see :func:`deaths_look`."""
    return dataset.with_looks(deaths_look(dataset, lag=lag, fatality=fatality))


def state_of_cells(counties: pd.DataFrame) -> pd.Series:
    """Return the state of each cell, that of its largest county."""
    largest = counties.sort_values("population", ascending=False, kind="stable")
    return largest.drop_duplicates(CELL).set_index(CELL)["state"].sort_index()


def counted(dataset: Dataset) -> pd.DataFrame:
    """Return the rows of counties that the counts hold; reject other data than COVID-19."""
    if "fips" not in dataset.table:
        raise ValueError(f"dataset must be of US counties, got {dataset.name!r}")
    return dataset.table[dataset.table["counted"]]


def ifr_of(counties: pd.DataFrame, groups: list[str]) -> pd.Series:
    """Return the IFR of groups of counties, such as their cells, the mean over people."""
    ratio = read_ifr().reindex(counties["fips"]).to_numpy()
    people = counties["population"]
    sums = counties[groups].assign(died=ratio * people, people=people).groupby(groups).sum()
    return (sums["died"] / sums["people"]).rename("ifr")


def check_lag(lag: int) -> None:
    """Reject a lag that is no whole number of days inside the 60."""
    if not (isinstance(lag, int) and 0 <= lag < len(DAYS)):
        raise ValueError(f"lag must be a whole number of days from 0 to {len(DAYS) - 1}, got {lag}")

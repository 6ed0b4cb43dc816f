"""The public files about US counties: daily reports, attributes, and where they come from."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray
from uncletc.datasets import fetch
from uncletc.datasets.base import facts
from uncletc.datasets.fetch import read_columns

DAYS = pd.date_range("2021-01-01", "2021-03-01", freq="D")
"""The 60 days of the data set."""

EVE = DAYS[0] - pd.Timedelta(days=1)

Total = Literal["Confirmed", "Deaths"]

REPORTS = "patel999jay/covid-19/d70e1417f4fe57f35376bb1aac10b152bafe47c0/data"
GEOGRAPHY = "OpportunityInsights/EconomicTracker/cd7f8182e7313133c2944ffd00f1285b3ea2af57/data"

PREDECESSORS = {"02063": "02261", "02066": "02261", "02158": "02270", "46102": "46113"}
"""Counties founded or renumbered after some of the files were made, and the code they had."""

FACTS = facts("covid")
"""Sources, rules, attributes with their roles, and random effects."""

_PATHS = FACTS.paths
_PLACE = ("Admin2", "Province_State", "Country_Region")
_LAST_STATE = 56  # state codes run from 01 to 56, the District of Columbia included
_AGE_COLUMNS = tuple(
    f"Pop{sex}{age}2010" for age in ("60-64", "65-74", "75-84", ">84") for sex in ("Male", "Fmle")
)
_SURVEYED = {
    "median income": "median_hh_inc",
    "% African American": "black_pct",
    "% Hispanic": "hispanic_pct",
    "unemployment rate": "clf_unemploy_pct",
    "% rural": "rural_pct",
}
_MOST_MOBILE = 300.0  # percent; larger values come from places with almost no normal mobility
_WEEK = 7
_SATURDAY = 5  # weeks of claims end on it


def read_daily(column: Total) -> tuple[pd.DataFrame, FloatArray]:
    """Read how much a total of JHU's daily reports grew each day.

    Returns
    -------
    counties : pandas.DataFrame, n rows
        Index ``fips`` (5 characters); columns ``county``, ``state``, ``latitude``, ``longitude``.
    new : ndarray of float, shape (n, 60)
        Negative where a correction outweighed the day; NaN: no report.
    """
    reports = [_report(day, column) for day in (EVE, *DAYS)]
    totals = pd.concat([report[column] for report in reports], axis=1, join="outer")
    counties = pd.concat(reports).drop(columns=column)
    counties = counties[~counties.index.duplicated(keep="last")].loc[totals.index]
    return counties, np.diff(totals.to_numpy(dtype=np.float64), axis=1)


def read_totals(day: pd.Timestamp) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read the totals of cases and deaths up to the end of a day.

    Returns
    -------
    counties, states : pandas.DataFrame
        Columns ``Confirmed`` and ``Deaths``. Index of counties ``fips`` (5 characters). States, by
        name, have what they reported for no county or for a district as well.
    """
    totals = get_args(Total)
    states = _us_rows(day).groupby("Province_State")[[*totals]].sum()
    return _report(day, *totals)[[*totals]], states


def read_by_fips(
    path: str, key: str, columns: tuple[str, ...], *, encoding: str = "utf-8"
) -> pd.DataFrame:
    """Read numeric columns of a registered file with one row per county.

    Returns
    -------
    pandas.DataFrame
        Index ``fips`` (5 characters), the columns as float64 with NaN where missing. A county of
        `PREDECESSORS` that the file lacks has its predecessor's row.
    """
    table = read_columns(path, (key,), columns, encoding=encoding)
    # Longer than a state's code, and inside the states: the rest are states, cities, territories.
    table = table[table[key].str.fullmatch(r"0?[1-9]\d{3}|[1-4]\d{4}|5[0-6]\d{3}")]
    by_fips = table.set_index(table[key].str.zfill(5).rename("fips"))[list(columns)]
    heirs = {
        new: by_fips.loc[old]
        for new, old in PREDECESSORS.items()
        if new not in by_fips.index and old in by_fips.index
    }
    return pd.concat([by_fips, pd.DataFrame(heirs).T]) if heirs else by_fips


def _report(day: pd.Timestamp, *totals: Total) -> pd.DataFrame:
    """Counties of one daily report: totals, county, state, latitude and longitude by fips."""
    table = _us_rows(day)
    named = ~table["Admin2"].str.startswith(("Unassigned", "Out of"))
    table = table[named & table["FIPS"].between(1000, 1000 * (_LAST_STATE + 1) - 1)]
    codes = table["FIPS"].astype(np.int64).astype("str").str.zfill(5)
    names = {"Admin2": "county", "Province_State": "state", "Lat": "latitude", "Long_": "longitude"}
    table = table.rename(columns=names).set_index(codes.rename("fips"))
    return table[[*names.values(), *totals]].sort_index()


def _us_rows(day: pd.Timestamp) -> pd.DataFrame:
    """Rows of the United States of one daily report."""
    numeric = ("FIPS", "Lat", "Long_", *get_args(Total))
    table = read_columns(f"{REPORTS}/{day:%m-%d-%Y}.csv", _PLACE, numeric)
    return table[table["Country_Region"] == "US"]


def with_population(counties: pd.DataFrame) -> pd.DataFrame:
    """Return counties (n rows) with their people of 2019."""
    people = read_by_fips(_PATHS["people"], "countyfips", ("county_pop2019",))
    population = people["county_pop2019"].reindex(counties.index)
    halves = [fips for fips in counties.index if PREDECESSORS.get(fips) == "02261"]
    population[halves] /= 2
    return counties.assign(population=population.astype(np.int64))


def read_attributes(counties: pd.DataFrame) -> tuple[dict[str, FloatArray], FloatArray]:
    """Read the attributes of some counties on the 60 days.

    Parameters
    ----------
    counties : pandas.DataFrame, n rows
        Index ``fips`` (5 characters), column ``population`` (people).

    Returns
    -------
    values : dict of str to ndarray of float, shape (n, 60)
        Finite, unscaled, by attribute name.
    tests_per_1000 : ndarray of float, shape (n,)
        Mean daily tests per 1000 people of the state ≥ 0; NaN: unknown.
    """
    states = pd.Index(counties.index.str[:2])
    claims = _claims(_PATHS["claims"], "countyfips", 5).reindex(counties.index)
    state_claims = _claims(f"{GEOGRAPHY}/UI Claims - State - Weekly.csv", "statefips", 2)
    of_state = state_claims.reindex(states).set_axis(counties.index)
    testing_gap, tests_per_1000 = _testing()
    public = {
        **_settled(counties),
        "unemployment claims/1000": claims.fillna(of_state).to_numpy(),
        "testing gap": testing_gap.reindex(states).to_numpy(),
        **{name: visits.reindex(states).to_numpy() for name, visits in _visits().items()},
        "cumulative inflation": _prices(),
        "miles/person": _mobility().reindex(counties.index).to_numpy(),
        "weekend": (DAYS.day_of_week >= _SATURDAY).astype(np.float64),
    }
    shape = (len(counties), len(DAYS))
    values = {
        name: _filled(np.broadcast_to(array, shape), states) for name, array in public.items()
    }
    return values, tests_per_1000.reindex(states).to_numpy()


def _settled(counties: pd.DataFrame) -> dict[str, FloatArray]:
    """Attributes that do not change over the days, (n, 1) each."""
    survey = read_by_fips(_PATHS["survey"], "fips", tuple(_SURVEYED.values()))
    ages = read_by_fips(_PATHS["ages"], "countyFIPS", ("CensusPopulation2010", *_AGE_COLUMNS))
    older = ages[list(_AGE_COLUMNS)].sum(axis=1, skipna=False) / ages["CensusPopulation2010"]
    density = read_by_fips(_PATHS["density"], "county_fips", ("density_pop",), encoding="latin-1")
    commuting = read_by_fips(_PATHS["commuting"], "FIPS", ("pubtrans", "teleworkable"))
    beds = read_by_fips(_PATHS["beds"], "fips", ("beds_staffed",))
    columns = {
        "population": counties["population"].astype(np.float64),
        "% older than 60": 100 * older,
        **{name: survey[column] for name, column in _SURVEYED.items()},
        "population density": density["density_pop"],
        "transit mode share": commuting["pubtrans"],
        "working from home": commuting["teleworkable"],
        "hospital beds/1000": beds["beds_staffed"] / (counties["population"] / 1000),
    }
    return {
        name: column.reindex(counties.index).to_numpy()[:, np.newaxis]
        for name, column in columns.items()
    }


def _mobility() -> pd.DataFrame:
    """Percent of normal mobility, counties × 60 days, for counties that have any."""
    file = fetch.find(_PATHS["mobility"])
    header = pd.read_csv(file, nrows=0).columns
    days = [day for day in DAYS.strftime("%Y-%m-%d") if day in header]
    table = read_by_fips(_PATHS["mobility"], "fips", tuple(days)).dropna(how="all")
    by_day = table.set_axis(pd.DatetimeIndex(days), axis=1).reindex(columns=DAYS)
    return by_day.clip(upper=_MOST_MOBILE).interpolate(axis=1, limit_direction="both")


def _claims(path: str, key: str, width: int) -> pd.DataFrame:
    """Read initial claims per 1000 of the labour force, places × 60 days."""
    date = ("year", "month", "day_endofweek")
    table = read_columns(path, (*date, key), ("initclaims_rate_regular",))
    week = table.assign(
        day=pd.to_datetime(table[[*date]].set_axis(["year", "month", "day"], axis=1)),
        place=table[key].str.zfill(width),
        rate=10 * table.iloc[:, -1],
    )
    ends = DAYS + pd.to_timedelta((_SATURDAY - DAYS.day_of_week) % _WEEK, unit="D")
    return _by_day(week, ["rate"], ends)[0].set_axis(DAYS, axis=1)


def _by_day(
    table: pd.DataFrame, columns: Sequence[str], days: pd.DatetimeIndex
) -> list[pd.DataFrame]:
    """Columns of a table with a row for each place and day, places × days each."""
    every = table[table["day"].isin(days)].pivot(index="place", columns="day", values=[*columns])
    return [pd.DataFrame(every[column]).reindex(columns=days) for column in columns]


def _visits() -> dict[str, pd.DataFrame]:
    """Time spent at kinds of places against normal, states × 60 days."""
    places = "workplaces", "retail_and_recreation", "grocery_and_pharmacy", "residential"
    kinds = [f"gps_{place}" for place in places]
    date = ["year", "month", "day"]
    table = read_columns(_PATHS["visits"], [*date, "statefips"], kinds)
    table = table.assign(day=pd.to_datetime(table[date]), place=table["statefips"].str.zfill(2))
    work, leisure, grocery, home = _by_day(table, kinds, DAYS)
    return {"work trips": work, "non-work trips": (leisure + grocery) / 2, "% staying home": home}


def _testing() -> tuple[pd.DataFrame, pd.Series]:
    """Share of a week's tests that were positive, states × 60 days; tests a day per 1000 people."""
    columns = ["totalTestResultsIncrease", "positiveIncrease"]
    table = read_columns(_PATHS["tests"], ("date", "state"), columns)
    days = pd.date_range(DAYS[0] - pd.Timedelta(days=_WEEK - 1), DAYS[-1], freq="D")
    table = table.assign(day=pd.to_datetime(table["date"], format="ISO8601"))
    path = f"{GEOGRAPHY}/GeoIDs - State.csv"
    geo = read_columns(path, ("statefips", "stateabbrev"), ("state_pop2019",))
    people = geo["state_pop2019"].set_axis(geo["statefips"].str.zfill(2))
    names = dict(zip(geo["stateabbrev"], people.index, strict=True))
    table = table.assign(place=table["state"].map(names)).dropna(subset=["place"])
    both = [daily.clip(lower=0) for daily in _by_day(table, columns, days)]
    in_week, found = (daily.T.rolling(_WEEK, min_periods=1).sum().T[DAYS] for daily in both)
    gap = (found / in_week.where(in_week > 0)).clip(upper=1)
    return gap, 1000 * both[0][DAYS].mean(axis=1) / people.reindex(gap.index)


def _prices() -> FloatArray:
    table = read_columns(_PATHS["prices"], ("Date",), ("Index",))
    by_month = table.set_index(pd.to_datetime(table["Date"], format="ISO8601"))["Index"]
    return by_month.reindex(DAYS, method="ffill").to_numpy(dtype=np.float64)


def _filled(values: NDArray[np.generic], states: pd.Index) -> FloatArray:
    """Fill NaN by the state's median of the day, the nation's, or that of all days; (n, 60)."""
    table = pd.DataFrame(values.astype(np.float64))
    by_day = table.median()
    of_state = table.groupby(np.asarray(states)).transform("median")
    return table.fillna(of_state).fillna(by_day.fillna(by_day.median())).to_numpy()

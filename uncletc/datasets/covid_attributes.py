"""Attributes of US counties and days, from the public files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray
from uncletc.datasets import fetch
from uncletc.datasets.covid_files import DAYS, GEOGRAPHY, TESTS, TRACKER, read_by_fips
from uncletc.datasets.reading import read_table, with_numbers

DEMOGRAPHICS = (
    "jrstromme/county-demographics-covid-database/3e88e48a0c51d68fdecd33a2f82c1b548b41c4db"
)
SURVEY = f"{DEMOGRAPHICS}/MIT/raw/election-context-2018.csv"
AGES = (
    "nada-dallai/US-Health-Data-Data-Analysis-and-Statistical-Modeling/"
    "5c4cf4e63a64bcfdf3062bca10bf7f306ff9b65f/county_data_abridged.csv"
)
MOBILITY = "descarteslabs/DL-COVID-19/a5dd494ba08b220ed2cac5809a3d32b58f594302/DL-us-m50_index.csv"
TESTING = (
    "miqueasmd/Building_Your_Own_Database_Agent_DeepLearningAI/"
    "67f10e29b73ddc6bbcb40c36ba76564efdc1a5d9/data/all-states-history-full.csv"
)
PRICES = "datasets/cpi-us/a1f785a423e22924ef9a438f8996130b1d00374f/data/cpiai.csv"
CLAIMS = f"{TRACKER}/9affb506297c1598dcad4d3116e8f13a945a3398/data/UI Claims - County - Weekly.csv"

RULES = (
    "Share older than 60 is of the 2010 census; income, African American and Hispanic shares, "
    "unemployment rate and rural share are of the 2012–2016 community survey.",
    "Working from home is the share of jobs that can be done from home, a proxy.",
    "Hospital beds are staffed beds per 1000 people.",
    "Unemployment claims are the week's initial claims per 1000 of the labour force, of the state "
    "where the county's are not published.",
    "Testing gap is the share of tests that were positive in the state over the 7 days up to the "
    "day, negative daily numbers counted as 0, a proxy.",
    "Miles per person is the county's median distance from home in percent of its normal, at most "
    "300; absent days (January 8 to 14) are interpolated linearly in time.",
    "Work trips, non-work trips and the share staying home are the state's time at work places, "
    "its mean time at shops, leisure and groceries, and its time at home, against normal: proxies.",
    "Cumulative inflation is the national consumer price index of the month.",
    "Weekend is 1 on Saturdays and Sundays and 0 on other days.",
    "A missing attribute is the median of its state's counties on that day, else of the nation's, "
    "else of all days.",
    "Every attribute is min-max scaled to 0..1 over all cells and days.",
    "Tests per 1000 people, for display only, is the state's mean number of new tests a day over "
    "its 2019 population, negative daily numbers counted as 0.",
)

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


@dataclass(frozen=True, kw_only=True)
class CountyAttributes:
    """Attributes of n counties on the 60 days.

    Attributes
    ----------
    values : dict of str to ndarray of float, shape (n, 60)
        Finite, unscaled, by attribute name.
    tests_per_1000 : ndarray of float, shape (n,)
        Mean daily tests per 1000 people of the state ≥ 0; NaN: unknown.
    has_mobility : ndarray of bool, shape (n,)
        Whether the county's own mobility was published.
    surveyed_population : ndarray of float, shape (n,)
        People in the 2012–2016 survey; NaN: the survey's file lacks the county.
    """

    values: dict[str, FloatArray]
    tests_per_1000: FloatArray
    has_mobility: NDArray[np.bool_]
    surveyed_population: FloatArray


def read_attributes(
    counties: pd.DataFrame, given: Mapping[str, FloatArray] | None = None
) -> CountyAttributes:
    """Read the attributes of some counties.

    Parameters
    ----------
    counties : pandas.DataFrame, n rows
        Index ``fips`` (5 characters), column ``population`` (people).
    given : mapping of str to ndarray of float, shape (n, 60), optional
        Quantities that replace the public ones, by attribute name; NaN: missing.
    """
    replacements = dict(given or {})
    tests = replacements.pop(TESTS, None)
    states = pd.Index(counties.index.str[:2])
    survey = read_by_fips(SURVEY, "fips", ("total_population", *_SURVEYED.values()))
    survey = survey.reindex(counties.index)
    mobility = _mobility().reindex(counties.index)
    public = _settled(counties, survey) | _changing(counties, states)
    public["miles/person"] = mobility.to_numpy()
    public["weekend"] = (DAYS.day_of_week.to_numpy() >= _SATURDAY)[np.newaxis, :].astype(np.float64)
    values = {
        name: _filled(name, np.broadcast_to(array, mobility.shape), states)
        for name, array in (public | replacements).items()
    }
    per_state = _tests_per_1000().reindex(states).to_numpy()
    return CountyAttributes(
        values=values,
        tests_per_1000=per_state if tests is None else pd.DataFrame(tests).mean(axis=1).to_numpy(),
        has_mobility=mobility.notna().any(axis=1).to_numpy(),
        surveyed_population=survey["total_population"].to_numpy(),
    )


def _settled(counties: pd.DataFrame, survey: pd.DataFrame) -> dict[str, FloatArray]:
    """Attributes that do not change over the days, (n, 1) each."""
    ages = read_by_fips(AGES, "countyFIPS", ("CensusPopulation2010", *_AGE_COLUMNS))
    older = ages[list(_AGE_COLUMNS)].sum(axis=1, skipna=False) / ages["CensusPopulation2010"]
    density = read_by_fips(
        f"{DEMOGRAPHICS}/census/raw/density.csv",
        "county_fips",
        ("density_pop",),
        encoding="latin-1",
        clean=lambda table: table.replace(r"\(r\d+\)$", "", regex=True),  # revision notes
    )
    commuting = read_by_fips(
        f"{DEMOGRAPHICS}/ACS/veh_pub_telework.csv", "FIPS", ("pubtrans", "teleworkable")
    )
    beds = read_by_fips(
        f"{DEMOGRAPHICS}/hospital-beds/county_bed_availability.csv", "fips", ("beds_staffed",)
    )
    columns = {
        "population": counties["population"].astype(np.float64),
        "% older than 60": 100 * older,
        **{name: survey[column] for name, column in _SURVEYED.items()},
        "population density": density["density_pop"],
        "transit mode share": commuting["pubtrans"],
        "working from home": commuting["teleworkable"],
        "hospital beds/1000": beds["beds_staffed"].reindex(counties.index)
        / (counties["population"] / 1000),
    }
    return {
        name: column.reindex(counties.index).to_numpy()[:, np.newaxis]
        for name, column in columns.items()
    }


def _changing(counties: pd.DataFrame, states: pd.Index) -> dict[str, FloatArray]:
    """Attributes of counties or their states that change over the days, (n, 60) or (1, 60)."""
    claims = _claims(CLAIMS, "countyfips", 5).reindex(counties.index)
    state_claims = _claims(f"{GEOGRAPHY}/UI Claims - State - Weekly.csv", "statefips", 2)
    of_state = state_claims.reindex(states).set_axis(counties.index)
    visits = {name: table.reindex(states).to_numpy() for name, table in _visits().items()}
    return {
        "unemployment claims/1000": claims.fillna(of_state).to_numpy(),
        "testing gap": _testing_gap().reindex(states).to_numpy(),
        **visits,
        "cumulative inflation": _prices()[np.newaxis, :],
    }


def _mobility() -> pd.DataFrame:
    """Percent of normal mobility, counties × 60 days, for counties that have any."""
    file = fetch.find(MOBILITY)
    header = pd.read_csv(file, nrows=0).columns
    days = [day for day in DAYS.strftime("%Y-%m-%d") if day in header]
    table = read_by_fips(MOBILITY, "fips", tuple(days)).dropna(how="all")
    by_day = table.set_axis(pd.DatetimeIndex(days), axis=1).reindex(columns=DAYS)
    return by_day.clip(upper=_MOST_MOBILE).interpolate(axis=1, limit_direction="both")


def _claims(path: str, key: str, width: int) -> pd.DataFrame:
    """Read initial claims per 1000 of the labour force, places × 60 days."""
    file = fetch.find(path)
    date = ("year", "month", "day_endofweek")
    table = read_table(file, (*date, key, "initclaims_rate_regular"))
    table = with_numbers(table, ("initclaims_rate_regular",), file.name)
    week = table.assign(
        day=_dates(table, *date), place=table[key].str.zfill(width), rate=10 * table.iloc[:, -1]
    )
    by_week = week.pivot(index="place", columns="day", values="rate")
    ends = DAYS + pd.to_timedelta((_SATURDAY - DAYS.day_of_week) % _WEEK, unit="D")
    return by_week.reindex(columns=ends).set_axis(DAYS, axis=1)


def _visits() -> dict[str, pd.DataFrame]:
    """Time spent at kinds of places against normal, states × 60 days."""
    file = fetch.find(f"{GEOGRAPHY}/Google Mobility - State - Daily.csv")
    kinds = [
        "gps_workplaces",
        "gps_retail_and_recreation",
        "gps_grocery_and_pharmacy",
        "gps_residential",
    ]
    table = read_table(file, ("year", "month", "day", "statefips", *kinds))
    table = table.assign(day=_dates(table, "year", "month", "day"))
    table = with_numbers(table[table["day"].isin(DAYS)], kinds, file.name)
    table["place"] = table["statefips"].str.zfill(2)
    work, leisure, grocery, home = (
        table.pivot(index="place", columns="day", values=kind).reindex(columns=DAYS)
        for kind in kinds
    )
    return {"work trips": work, "non-work trips": (leisure + grocery) / 2, "% staying home": home}


def _tests() -> tuple[pd.DataFrame, pd.DataFrame, pd.Series]:
    """Read new tests and new positive tests, states × days from 6 days early; people per state."""
    file = fetch.find(TESTING)
    columns = ("totalTestResultsIncrease", "positiveIncrease")
    table = read_table(file, ("date", "state", *columns))
    days = pd.date_range(DAYS[0] - pd.Timedelta(days=_WEEK - 1), DAYS[-1], freq="D")
    table = table.assign(day=pd.to_datetime(table["date"], format="ISO8601"))
    table = with_numbers(table[table["day"].isin(days)], columns, file.name)
    geo_file = fetch.find(f"{GEOGRAPHY}/GeoIDs - State.csv")
    geo = read_table(geo_file, ("statefips", "stateabbrev", "state_pop2019"))
    geo = with_numbers(geo, ("state_pop2019",), geo_file.name)
    code = geo["statefips"].str.zfill(2)
    table["place"] = table["state"].map(dict(zip(geo["stateabbrev"], code, strict=True)))
    table = table.dropna(subset=["place"])
    tests, positive = (
        table.pivot(index="place", columns="day", values=column).reindex(columns=days).clip(lower=0)
        for column in columns
    )
    return tests, positive, geo["state_pop2019"].set_axis(code)


def _testing_gap() -> pd.DataFrame:
    tests, positive, _ = _tests()
    tests, positive = (
        daily.T.rolling(_WEEK, min_periods=1).sum().T[DAYS] for daily in (tests, positive)
    )
    return (positive / tests.where(tests > 0)).clip(upper=1)


def _tests_per_1000() -> pd.Series:
    tests, _, people = _tests()
    return 1000 * tests[DAYS].mean(axis=1) / people.reindex(tests.index)


def _prices() -> FloatArray:
    file = fetch.find(PRICES)
    table = with_numbers(read_table(file, ("Date", "Index")), ("Index",), file.name)
    by_month = table.set_index(pd.to_datetime(table["Date"], format="ISO8601"))["Index"]
    return by_month.reindex(DAYS, method="ffill").to_numpy(dtype=np.float64)


def _filled(name: str, values: NDArray[np.generic], states: pd.Index) -> FloatArray:
    """Fill NaN by the state's median of the day, the nation's, or that of all days; (n, 60)."""
    table = pd.DataFrame(values.astype(np.float64))
    if table.isna().all(axis=None):
        raise ValueError(f"attribute {name!r} must have a value for some county, and has none")
    by_day = table.median()
    of_state = table.groupby(np.asarray(states)).transform("median")
    return table.fillna(of_state).fillna(by_day.fillna(by_day.median())).to_numpy()


def _dates(table: pd.DataFrame, year: str, month: str, day: str) -> pd.Series:
    columns = {"year": table[year], "month": table[month], "day": table[day]}
    return pd.to_datetime(pd.DataFrame(columns))

"""New COVID-19 cases by US county and day: the public reports, or a file the user has."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd

from uncletc.common.validation import FloatArray
from uncletc.data.frames import numbers
from uncletc.datasets import fetch
from uncletc.datasets.reading import read_table, with_numbers

DAYS = pd.date_range("2021-01-01", "2021-03-01", freq="D")
"""The 60 days of the data set."""

EVE = DAYS[0] - pd.Timedelta(days=1)

Total = Literal["Confirmed", "Deaths"]

REPORTS = "patel999jay/covid-19/d70e1417f4fe57f35376bb1aac10b152bafe47c0/data"
TRACKER = "OpportunityInsights/EconomicTracker"
GEOGRAPHY = f"{TRACKER}/cd7f8182e7313133c2944ffd00f1285b3ea2af57/data"

PREDECESSORS = {"02063": "02261", "02066": "02261", "02158": "02270", "46102": "46113"}
"""Counties founded or renumbered after some of the files were made, and the code they had."""

TESTS = "tests done/1000"

_PLACE = ("FIPS", "Admin2", "Province_State", "Country_Region", "Lat", "Long_")
_LAST_STATE = 56  # state codes run from 01 to 56, the District of Columbia included
_FIELDS = {
    "newcovidcases": "new cases",
    "newcases": "new cases",
    "testsdone1000people": TESTS,
    "testsdone1000": TESTS,
    "population": "population",
    "totalpopulation": "population",
    "peopleolderthan60": "% older than 60",
    "medianincome": "median income",
    "africanamericans": "% African American",
    "hispanicamericans": "% Hispanic",
    "unemploymentrate": "unemployment rate",
    "populationdensity": "population density",
    "transitmodeshare": "transit mode share",
    "workingfromhome": "working from home",
    "hospitalbeds1000people": "hospital beds/1000",
    "unemploymentclaims1000people": "unemployment claims/1000",
    "testingcapacitygap": "testing gap",
    "milesperson": "miles/person",
    "worktripsperson": "work trips",
    "nonworktripsperson": "non-work trips",
    "stayinghome": "% staying home",
    "cumulativeinflationrate": "cumulative inflation",
    "socialdistancingindex": "social distancing index",
    "tripsperson": "trips/person",
    "outofcountytrips": "% out-of-county trips",
    "outofstatetrips": "% out-of-state trips",
    "covidexposure1000people": "COVID exposure/1000",
    "hotspots1000people": "hot spots/1000",
    "importedcovidcases": "imported COVID cases",
}


@dataclass(frozen=True, kw_only=True)
class CaseReports:
    """The reports of new cases.

    Attributes
    ----------
    counties : pandas.DataFrame, n rows
        Index ``fips`` (5 characters); columns ``county``, ``state`` (names), ``latitude``,
        ``longitude`` (degrees) and ``population`` (people, 2019).
    new_cases : ndarray of float, shape (n, 60)
        Whole numbers of new cases per county and day, negative where a correction outweighed
        them; NaN: no report.
    fields : dict of str to ndarray of float, shape (n, 60)
        Other quantities that the user's file holds, by attribute name; NaN: missing.
    unplaced : tuple of str
        Codes of counties in the user's file that have no coordinates and are left out.
    """

    counties: pd.DataFrame
    new_cases: FloatArray
    fields: dict[str, FloatArray]
    unplaced: tuple[str, ...] = ()


def read_reports() -> CaseReports:
    """Read the daily reports of JHU CSSE: new cases are each day's total minus the day before's."""
    counties, new_cases = read_daily("Confirmed")
    return CaseReports(counties=_with_population(counties), new_cases=new_cases, fields={})


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
    file, table = _us_rows(day)
    states = with_numbers(table, totals, file).groupby("Province_State")[[*totals]].sum()
    return _report(day, *totals)[[*totals]], states


def read_own_file(path: str | Path) -> CaseReports:
    """Read a county file of the University of Maryland's platform, with JHU's coordinates.

    Its columns are ``fips``, ``date``, ``field`` and ``value``. Field names are compared by their
    letters and digits alone, whatever the case; unknown fields are left out.

    Raises
    ------
    ValueError
        If a column is missing, a value is not a number, a date cannot be read, new cases are not
        whole, a county's day is given twice, or no new cases of the period are in it.
    """
    file = Path(path)
    table = read_table(file, ("fips", "date", "field", "value"))
    names = {name: _FIELDS.get(re.sub("[^a-z0-9]", "", name.lower())) for name in set(table.field)}
    table = table.assign(name=table["field"].map(names)).dropna(subset=["name"])
    table["day"] = pd.to_datetime(table["date"], errors="coerce", format="ISO8601")
    _reject(table["day"].isna(), table["date"], f"date of {file.name} must be like 2021-01-31")
    table = table[table["day"].isin(DAYS)]
    if not (table["name"] == "new cases").any():
        raise ValueError(
            f"field of {file.name} must include 'New COVID cases' between {DAYS[0]:%Y-%m-%d} and "
            f"{DAYS[-1]:%Y-%m-%d}; its fields are {', '.join(sorted(names))}"
        )
    table = with_numbers(table, ("fips", "value"), file.name).dropna(subset=["fips", "value"])
    table["fips"] = _codes(table["fips"])
    fractional = (table["name"] == "new cases") & (table["value"] % 1 != 0)
    _reject(fractional, table["value"], f"New cases of {file.name} must be whole numbers")
    twice = table.duplicated(["fips", "day", "name"])
    _reject(twice, table["fips"], f"{file.name} must give each fips, date and field once")

    counties = _with_population(_report(DAYS[0], "Confirmed"))
    unplaced = tuple(sorted(set(table["fips"]) - set(counties.index)))
    counties = counties[counties.index.isin(table["fips"])]
    if counties.empty:
        raise ValueError(f"fips of {file.name} must be codes of US counties, got {unplaced[0]!r}")
    fields = {
        str(name): group.pivot(index="fips", columns="day", values="value")
        .reindex(index=counties.index, columns=DAYS)
        .to_numpy(dtype=np.float64)
        for name, group in table.groupby("name")
    }
    new_cases = fields.pop("new cases")
    return CaseReports(counties=counties, new_cases=new_cases, fields=fields, unplaced=unplaced)


def read_by_fips(
    path: str,
    key: str,
    columns: tuple[str, ...],
    *,
    encoding: str = "utf-8",
    clean: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table,
) -> pd.DataFrame:
    """Read numeric columns of a registered file with one row per county.

    Returns
    -------
    pandas.DataFrame
        Index ``fips`` (5 characters), the columns as float64 with NaN where missing. A county of
        `PREDECESSORS` that the file lacks has its predecessor's row.
    """
    file = fetch.find(path)
    table = clean(read_table(file, (key, *columns), encoding=encoding))
    # Longer than a state's code, and inside the states: the rest are states, cities, territories.
    table = table[table[key].str.fullmatch(r"0?[1-9]\d{3}|[1-4]\d{4}|5[0-6]\d{3}")]
    table = with_numbers(table, columns, file.name)
    by_fips = table.set_index(table[key].str.zfill(5).rename("fips"))[list(columns)]
    if by_fips.index.has_duplicates:
        twice = by_fips.index[by_fips.index.duplicated()][0]
        raise ValueError(f"{key} of {file.name} must hold each county once; {twice} occurs again")
    heirs = {
        new: by_fips.loc[old]
        for new, old in PREDECESSORS.items()
        if new not in by_fips.index and old in by_fips.index
    }
    return pd.concat([by_fips, pd.DataFrame(heirs).T]) if heirs else by_fips


def _report(day: pd.Timestamp, *totals: Total) -> pd.DataFrame:
    """Counties of one daily report: totals, county, state, latitude and longitude by fips."""
    file, table = _us_rows(day)
    table = table[table["FIPS"] != ""]
    code = numbers(table, "FIPS", f"FIPS of {file}")
    named = ~table["Admin2"].str.startswith(("Unassigned", "Out of"))
    table = table[named & (code >= 1000) & (code < 1000 * (_LAST_STATE + 1))]
    table = with_numbers(table, ("FIPS", "Lat", "Long_", *totals), file)
    placed = table["Lat"].notna() & table["Long_"].notna()
    _reject(~placed, table["Admin2"], f"Every county of {file} must have Lat and Long_")
    twice = table["FIPS"].duplicated()
    _reject(twice, table["Admin2"], f"FIPS of {file} must hold each county once")
    names = {
        "Admin2": "county",
        "Province_State": "state",
        "Lat": "latitude",
        "Long_": "longitude",
    }
    table = table.rename(columns=names).set_index(_codes(table["FIPS"]).rename("fips"))
    return table[[*names.values(), *totals]].sort_index()


def _us_rows(day: pd.Timestamp) -> tuple[str, pd.DataFrame]:
    """Name of one daily report, and its rows of the United States as text."""
    file = fetch.find(f"{REPORTS}/{day:%m-%d-%Y}.csv")
    table = read_table(file, (*_PLACE, *get_args(Total)))
    return file.name, table[table["Country_Region"] == "US"]


def _with_population(counties: pd.DataFrame) -> pd.DataFrame:
    people = read_by_fips(f"{GEOGRAPHY}/GeoIDs - County.csv", "countyfips", ("county_pop2019",))
    population = people["county_pop2019"].reindex(counties.index)
    halves = [fips for fips in counties.index if PREDECESSORS.get(fips) == "02261"]
    population[halves] /= 2
    unknown = population.isna()
    _reject(unknown, counties["county"], "GeoIDs - County.csv must give every county's population")
    kept = ["county", "state", "latitude", "longitude"]
    return counties[kept].assign(population=population.astype(np.int64))


def _codes(fips: pd.Series) -> pd.Series:
    return fips.astype(np.int64).astype("str").str.zfill(5)


def _reject(wrong: pd.Series, shown: pd.Series, rule: str) -> None:
    if wrong.any():
        raise ValueError(f"{rule}, got {str(shown[wrong].iloc[0])!r}")

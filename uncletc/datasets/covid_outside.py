"""Outside estimates of how many COVID-19 cases were detected, to check a fit against.

No fit uses them. They disagree with one another: none is the truth, see :mod:`uncletc.checking`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from uncletc.datasets import fetch
from uncletc.datasets.base import Dataset, DataUnavailableError, Source
from uncletc.datasets.covid_deaths import (
    CELL,
    DEATHS_LAG,
    IFR_FILE,
    check_lag,
    counted,
    ifr_of,
    state_of_cells,
)
from uncletc.datasets.covid_files import DAYS, EVE, GEOGRAPHY, read_totals
from uncletc.datasets.covid_sources import PINNED_COPY, REPORTED_CASES, TESTS, on_github
from uncletc.datasets.reading import read_table, with_numbers

OUTSIDE = "covid-outside"
"""Name of the files of outside estimates, for :func:`available` and :func:`fetch_all`."""

SURVEYS = "UF-IDD/US_seroprevalence/0886bf173f847d00cfd95d51a05db9aeabbdc35b"

_FIRST_WEEK, _LAST_WEEK = "2021-01-02", "2021-02-27"  # ends of the weeks nearest to the 60 days
# Deaths to be expected of a cell's people; fewer have a relative error above 22 %, more leave fewer
# cells. To ask for the deaths themselves would leave of small cells only those where many died.
_LEAST_DEATHS = 20


@dataclass(frozen=True, kw_only=True)
class OutsideEstimate:
    """One outside estimate of detection.

    Attributes
    ----------
    name : str
        Its column in the tables of :class:`Outside`.
    meaning : str
        What the numbers are, in a sentence.
    sources : tuple of Source
    """

    name: str
    meaning: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Outside:
    """Outside estimates of detection by state and by cell.

    Attributes
    ----------
    states : pandas.DataFrame
        Index ``state`` (names); a column for each estimate, NaN where it is unknown.
    cells : pandas.DataFrame
        Index ``latitude_index``, ``longitude_index``; ``state`` (of the cell's largest county) and
        a column for each estimate. "deaths" is of the cell, NaN where at the nation's rate fewer
        than 20 of its people would have died; the others are those of the state.
    estimates : tuple of OutsideEstimate
        What the columns are.
    missing : dict of str to str
        Names of estimates that are not here, and why.
    """

    states: pd.DataFrame
    cells: pd.DataFrame
    estimates: tuple[OutsideEstimate, ...]
    missing: dict[str, str]


ESTIMATES = (
    OutsideEstimate(
        name="seroprevalence",
        meaning="Reported cases over new infections, by blood surveys: the share ever infected on "
        "February 27 less that on January 2, times people.",
        sources=(
            on_github(
                "US seroprevalence, University of Florida Infectious Disease Dynamics",
                f"{SURVEYS}/output/proportions_infected_estimates.csv",
                "none stated",
                "share of a state's people ever infected, by week",
            ),
        ),
    ),
    OutsideEstimate(
        name="deaths",
        meaning="Reported cases over infections, by deaths: later deaths over the share of "
        "infections that end in death, from ages and illnesses of a county.",
        sources=(
            on_github(
                "covidestim: infection fatality ratios",
                IFR_FILE,
                "none stated",
                "share of infections that end in death, by county",
            ),
            REPORTED_CASES,
            PINNED_COPY,
        ),
    ),
    OutsideEstimate(
        name="tests",
        meaning="Tests a day per 1000 people of the state. Not a share of infections: more tests "
        "should find more of them. Not wholly from outside: the attribute testing gap is the share "
        "of these tests that were positive.",
        sources=(TESTS,),
    ),
)


def load_outside(dataset: Dataset, *, lag: int = DEATHS_LAG) -> Outside:
    """Load the outside estimates of detection for a COVID-19 data set.

    Parameters
    ----------
    dataset : Dataset
        As :func:`uncletc.datasets.load` returns it for "covid".
    lag : int
        Days by which deaths are reported later than the cases they belong to, 0 to 59.

    Returns
    -------
    Outside
        With what is available: files that are not are named in ``missing``.

    Raises
    ------
    ValueError
        If `lag` is not allowed, the data are not of US counties, or they are simulated.
    """
    check_lag(lag)
    if dataset.provenance.simulated:
        raise ValueError(f"dataset must be of real counts, got {dataset.name!r}, simulated")
    counties = counted(dataset)
    states = pd.DataFrame(index=pd.Index(sorted(counties["state"].unique()), name="state"))
    cells = state_of_cells(counties).to_frame()
    readers: dict[str, Callable[[], tuple[pd.Series, pd.Series | None]]] = {
        "seroprevalence": lambda: (_by_surveys(), None),
        "deaths": lambda: _by_deaths(counties, lag),
        "tests": lambda: (counties.groupby("state")["tests_per_1000"].mean(), None),
    }
    here, missing = [], {}
    for estimate in ESTIMATES:
        try:
            of_states, of_cells = readers[estimate.name]()
        except DataUnavailableError as error:
            missing[estimate.name] = str(error)
            continue
        here.append(estimate)
        states[estimate.name] = of_states.reindex(states.index)
        if of_cells is None:
            cells[estimate.name] = cells["state"].map(states[estimate.name])
        else:
            cells[estimate.name] = of_cells.reindex(cells.index)
    return Outside(states=states, cells=cells, estimates=tuple(here), missing=missing)


def _by_surveys() -> pd.Series:
    """New cases over new infections by state, from seroprevalence surveys."""
    infected_file = fetch.find(f"{SURVEYS}/output/proportions_infected_estimates.csv")
    infected = read_table(infected_file, ("state", "week", "prop_infected"))
    infected = with_numbers(infected, ("prop_infected",), infected_file.name)
    case_file = fetch.find(f"{SURVEYS}/data/supporting_data.csv")
    numeric = ("cases_cumulative", "state_population")
    cases = read_table(case_file, ("state", "week", *numeric)).replace("NA", "")
    cases = with_numbers(cases.drop_duplicates(["state", "week"]), numeric, case_file.name)
    both = infected.merge(cases, on=["state", "week"]).set_index(["week", "state"])
    both["infected"] = both["prop_infected"] * both["state_population"]
    columns = ["cases_cumulative", "infected"]
    first, last = (both.loc[week, columns] for week in (_FIRST_WEEK, _LAST_WEEK))
    new = pd.DataFrame(last) - pd.DataFrame(first)
    codes = read_table(fetch.find(f"{GEOGRAPHY}/GeoIDs - State.csv"), ("stateabbrev", "statename"))
    names = dict(zip(codes["stateabbrev"], codes["statename"], strict=True))
    return _ratio(new["cases_cumulative"], new["infected"]).rename(index=names)


def _by_deaths(counties: pd.DataFrame, lag: int) -> tuple[pd.Series, pd.Series]:
    """Cases over deaths / IFR by state and by cell, of the days whose deaths are known.

    A state's totals hold what it reports for no single county: in Utah a third of the deaths.
    """
    ends = EVE, DAYS[-1 - lag], EVE + pd.Timedelta(days=lag), DAYS[-1]
    reports = [read_totals(day) for day in ends]
    new = []
    for level in (0, 1):
        (first, last), (eve, end) = (
            [reports[step][level][total] for step in steps]
            for total, steps in (("Confirmed", (0, 1)), ("Deaths", (2, 3)))
        )
        new.append(pd.DataFrame({"cases": last - first, "deaths": end - eve}))
    of_counties, of_states = new
    ratio = ifr_of(counties, ["state"])
    states = _ratio(of_states["cases"] * ratio, of_states["deaths"])
    cells = counties[["fips", "population", *CELL]].join(of_counties, on="fips").groupby(CELL)
    sums = cells[["cases", "deaths", "population"]].sum()
    expected = sums["population"] * (sums["deaths"].sum() / sums["population"].sum())
    of_cells = _ratio(sums["cases"] * ifr_of(counties, CELL), sums["deaths"])
    return states, of_cells.where(expected >= _LEAST_DEATHS)


def _ratio(above: pd.Series, below: pd.Series) -> pd.Series:
    """A ratio; NaN where it is not above 0 and finite."""
    ratio = above / below.where(below > 0)
    return ratio.where((ratio > 0) & np.isfinite(ratio))

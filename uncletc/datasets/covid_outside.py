"""Outside estimates of how many COVID-19 cases were detected, and deaths as observations.

Deaths say how many were infected some days before, whoever was tested: infections are about deaths
over the infection fatality ratio (IFR). Blood surveys and tests are for checking alone: no fit uses
them. The estimates disagree with one another: none is the truth, see :mod:`uncletc.checking`.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from uncletc.common.validation import check_positive
from uncletc.data.observations import Observations
from uncletc.datasets import covid_files
from uncletc.datasets.base import Dataset, DataUnavailableError, Source, facts
from uncletc.datasets.covid import CELL, largest_counties
from uncletc.datasets.covid_files import DAYS, EVE, FACTS, GEOGRAPHY
from uncletc.datasets.fetch import read_columns

OUTSIDE = "covid-outside"
"""Name of the files of outside estimates, for :func:`available` and :func:`fetch_all`."""

_FACTS = facts(OUTSIDE)
IFR_FILE = _FACTS.paths["ifr"]
SURVEYS = _FACTS.paths["seroprevalence"].removesuffix("/output/proportions_infected_estimates.csv")

_FIRST_WEEK, _LAST_WEEK = "2021-01-02", "2021-02-27"  # ends of the weeks nearest to the 60 days
# Deaths to be expected of a cell's people; fewer have a relative error above 22 %, more leave fewer
# cells. To ask for the deaths themselves would leave of small cells only those where many died.
_LEAST_DEATHS = 20

DEATHS_LAG = 16
"""Days from the report of a case to the report of a death of those infected at the same time."""

_IFR_ERROR = 0.4  # of the national ratio: experts' estimates differ by a factor of about 1.5
# Standard deviation of log IFR between places whose people are equally old and ill: of whom the
# virus reaches, of care, of what is certified as a death of COVID-19, of delays. A guess stated
# before any comparison with surveys or tests.
_LOCAL_IFR_ERROR = 0.3
_SIMULATED_ERROR = 0.1  # of that of simulated deaths, which was drawn with it
_A_DAY = pd.Timedelta(days=1)
_IFR_AT_1 = 0.00416  # of a county whose odds ratio in the file is 1, the average of the nation


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

    Examples
    --------
    >>> from uncletc import datasets
    >>> found = datasets.load_outside(datasets.load("covid"))  # doctest: +SKIP
    >>> [each.name for each in found.estimates]  # doctest: +SKIP
    ['seroprevalence', 'deaths', 'tests']
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

    Examples
    --------
    >>> from uncletc import datasets
    >>> found = datasets.load_outside(datasets.load("covid"))  # doctest: +SKIP
    >>> found.states["deaths"].nlargest(3)  # doctest: +SKIP
    """

    states: pd.DataFrame
    cells: pd.DataFrame
    estimates: tuple[OutsideEstimate, ...]
    missing: dict[str, str]


_SOURCES = {**FACTS.sources, **_FACTS.sources}
ESTIMATES = tuple(
    OutsideEstimate(
        name=name,
        meaning=about["meaning"],
        sources=tuple(_SOURCES[source] for source in about["sources"]),
    )
    for name, about in _FACTS.estimates.items()
)


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
        `lag` days later by the cell's counties, negative corrections counted as 0), ``ifr``
        (the mean over their people) and ``share`` (of its state's deaths that its counties report,
        over the same of cases; the state reports others for no county). Only days and counties with
        a report.

    Raises
    ------
    DataUnavailableError
        If a file is neither here nor available.
    ValueError
        If `lag` is not allowed, or the data have no counties.

    Examples
    --------
    >>> from uncletc import datasets
    >>> rows = deaths_by_cell(datasets.load("covid-twin"), lag=14)
    >>> list(rows.columns)
    ['latitude_index', 'longitude_index', 'day', 'deaths', 'ifr', 'share']
    """
    check_lag(lag)
    counties = counted(dataset)
    if dataset.deaths is not None:
        late = dataset.deaths[dataset.deaths["day"] >= lag]
        return late.assign(day=late["day"] - lag, share=1.0).reset_index(drop=True)
    places, new = covid_files.read_daily("Deaths")
    by_county = pd.DataFrame(new, index=places.index).clip(lower=0)  # less the corrections
    deaths = by_county.reindex(counties["fips"]).to_numpy()[:, lag:]
    cells = pd.MultiIndex.from_frame(counties[CELL])
    of_cells = pd.DataFrame(deaths, index=cells).groupby(level=CELL).sum(min_count=1)
    summed = of_cells.melt(var_name="day", value_name="deaths", ignore_index=False).dropna()
    summed = summed.astype(np.int64).reset_index().sort_values([*CELL, "day"], ignore_index=True)
    reported = counties.rename(columns={"cases": "Confirmed"})[["state", "Confirmed"]]
    reported["Deaths"] = np.nansum(deaths, axis=1)
    of_counties = reported.groupby("state").sum()
    eve, start, end = (
        covid_files.read_totals(day)[1] for day in (EVE, EVE + lag * _A_DAY, DAYS[-1])
    )
    died, cases = (
        _ratio(of_counties[total], (end - before)[total].reindex(of_counties.index)).fillna(1.0)
        for total, before in (("Deaths", start), ("Confirmed", eve))
    )
    rows = summed.join(ifr_of(counties, CELL), on=CELL)
    return rows.join(state_of_cells(counties).map(died / cases).rename("share"), on=CELL)


def deaths_observations(
    dataset: Dataset, *, lag: int = DEATHS_LAG, fatality: float = 1.0, without: Collection[str] = ()
) -> Observations:
    """Return deaths as a second observation process at the cases of a COVID-19 data set.

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
        States whose cells have no such observations, to check the fit by their deaths. A cell
        belongs to the state of its largest county.

    Returns
    -------
    Observations
        For ``dataset.counts.with_observations``: "deaths", whose p is the infection fatality ratio,
        known up to one common factor of about 1.4.

    Raises
    ------
    DataUnavailableError
        If a file is neither here nor available.
    ValueError
        If `lag` or `fatality` is not allowed, the data have no counties, or a state is not one of
        theirs.

    Examples
    --------
    >>> from uncletc import datasets
    >>> covid = datasets.load("covid-twin")
    >>> deaths = deaths_observations(covid, lag=14)
    >>> covid.counts.with_observations(deaths).observations[0].name
    'deaths'
    """
    check_positive("fatality", fatality)
    rows = deaths_by_cell(dataset, lag=lag)
    state = state_of_cells(counted(dataset))
    if unknown := set(without) - set(state):
        raise ValueError(f"without must name states of the data, got {min(unknown)!r}")
    left = rows[~rows.join(state, on=CELL)["state"].isin(list(without))]
    return Observations(
        "deaths",
        left[[*CELL, "day"]].to_numpy(),
        left["deaths"].to_numpy(),
        known_detection=np.minimum(fatality * (left["ifr"] * left["share"]).to_numpy(), 1.0),
        known_error=_IFR_ERROR if dataset.deaths is None else _SIMULATED_ERROR,
        local_error=_LOCAL_IFR_ERROR if dataset.deaths is None else 0.0,
    )


def with_deaths(dataset: Dataset, *, lag: int = DEATHS_LAG, fatality: float = 1.0) -> Dataset:
    """Return a COVID-19 data set with deaths observed too; see :func:`deaths_observations`."""
    return dataset.with_observations(deaths_observations(dataset, lag=lag, fatality=fatality))


def state_of_cells(counties: pd.DataFrame) -> pd.Series:
    """Return the state of each cell, that of its largest county."""
    return largest_counties(counties).set_index(CELL)["state"]


def counted(dataset: Dataset) -> pd.DataFrame:
    """Return the rows of counties that the counts hold; reject other data than COVID-19."""
    if "fips" not in dataset.table:
        raise ValueError(f"dataset must be of US counties, got {dataset.name!r}")
    return dataset.table[dataset.table["counted"]]


def ifr_of(counties: pd.DataFrame, groups: list[str]) -> pd.Series:
    """Return the IFR of groups of counties, such as their cells, the mean over people.

    Deaths per infection as covidestim states them, by ages and illnesses of a county's people.
    """
    odds = covid_files.read_by_fips(IFR_FILE, "fips", ("ifr_OR",), encoding="latin-1")["ifr_OR"]
    ratio = _IFR_AT_1 * odds.reindex(counties["fips"]).to_numpy()
    people = counties["population"]
    sums = counties[groups].assign(died=ratio * people, people=people).groupby(groups).sum()
    return (sums["died"] / sums["people"]).rename("ifr")


def check_lag(lag: int) -> None:
    """Reject a lag that is no whole number of days inside the 60."""
    if not (isinstance(lag, int) and 0 <= lag < len(DAYS)):
        raise ValueError(f"lag must be a whole number of days from 0 to {len(DAYS) - 1}, got {lag}")


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
    missing = dict[str, str]()
    for estimate in ESTIMATES:
        try:
            of_states, of_cells = readers[estimate.name]()
        except DataUnavailableError as error:
            missing[estimate.name] = str(error)
            continue
        states[estimate.name] = of_states.reindex(states.index)
        cells[estimate.name] = cells["state"].map(states[estimate.name])
        if of_cells is not None:
            cells[estimate.name] = of_cells.reindex(cells.index)
    here = tuple(each for each in ESTIMATES if each.name not in missing)
    return Outside(states=states, cells=cells, estimates=here, missing=missing)


def _by_surveys() -> pd.Series:
    """New cases over new infections by state, from seroprevalence surveys."""
    key = ["state", "week"]
    infected = read_columns(_FACTS.paths["seroprevalence"], key, ("prop_infected",))
    numeric = ("cases_cumulative", "state_population")
    cases = read_columns(f"{SURVEYS}/data/supporting_data.csv", key, numeric).drop_duplicates(key)
    both = infected.merge(cases, on=key).set_index(["week", "state"])
    both["infected"] = both["prop_infected"] * both["state_population"]
    first, last = (pd.DataFrame(both.loc[week]) for week in (_FIRST_WEEK, _LAST_WEEK))
    new = last - first
    codes = read_columns(f"{GEOGRAPHY}/GeoIDs - State.csv", ("stateabbrev", "statename"))
    names = dict(zip(codes["stateabbrev"], codes["statename"], strict=True))
    return _ratio(new["cases_cumulative"], new["infected"]).rename(index=names)


def _by_deaths(counties: pd.DataFrame, lag: int) -> tuple[pd.Series, pd.Series]:
    """Cases over deaths / IFR by state and by cell, of the days whose deaths are known.

    A state's totals hold what it reports for no single county: in Utah a third of the deaths.
    """
    ends = EVE, DAYS[-1 - lag], EVE + lag * _A_DAY, DAYS[-1]
    of_counties, of_states = (
        pd.DataFrame({"cases": (last - first)["Confirmed"], "deaths": (end - eve)["Deaths"]})
        for first, last, eve, end in zip(*map(covid_files.read_totals, ends), strict=True)
    )
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

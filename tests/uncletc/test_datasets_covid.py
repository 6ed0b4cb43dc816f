"""COVID-19, its deaths and outside estimates: real files, and their rules on a small world."""

import hashlib
import os
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

from uncletc import datasets
from uncletc.datasets import covid_files as files
from uncletc.datasets import fetch
from uncletc.datasets.covid_files import DAYS, GEOGRAPHY, REPORTS, read_daily, with_population
from uncletc.datasets.covid_outside import IFR_FILE, SURVEYS
from uncletc.datasets.fetch import PublicFile

realdata = [
    pytest.mark.realdata,
    pytest.mark.skipif(
        "UNCLETC_DATA_DIR" not in os.environ,
        reason="UNCLETC_DATA_DIR names no folder of public files",
    ),
]
PATHS = files.FACTS.paths
PAPER_GRID = 43 * 80 * 60


class TestRealData:
    pytestmark = realdata

    def test_all_counties_fill_806_cells(self, real_covid):
        assert real_covid.counts.shape == (42, 80, 60)
        assert len(real_covid.table) == 3118
        assert real_covid.table["cell"].nunique() == 806
        assert real_covid.counts.n_observed == 806 * 60
        assert f"{real_covid.counts.n_observed / PAPER_GRID:.1%}" == "23.4%"

    def test_attributes_cover_every_day_of_every_cell(self, real_covid):
        z = real_covid.counts.attributes
        assert z.shape == (806 * 60, 19)
        np.testing.assert_allclose(z.min(axis=0), 0)
        np.testing.assert_allclose(z.max(axis=0), 1)
        names = real_covid.counts.attribute_names
        assert not any("test" in name and "1000" in name for name in names)

    def test_every_state_and_cell_has_a_row(self, real_covid):
        outside = datasets.load_outside(real_covid)
        assert not outside.missing
        assert len(outside.states) == 51
        assert len(outside.cells) == 806
        known = {"seroprevalence": 49, "deaths": 51, "tests": 51}
        assert outside.states.notna().sum().to_dict() == known
        assert outside.cells["deaths"].notna().sum() == 495


COUNTIES = {  # fips: county, state, latitude, longitude, people
    "01001": ("Oak", "Alabama", 32.6, -86.6, 300),
    "01003": ("Elm", "Alabama", 33.4, -87.4, 100),
    "02013": ("Fir", "Alaska", 55.3, -161.9, 50),
}
TOTALS = {  # confirmed on the eve, then from each of the first days on
    "01001": [10, 12, 11, 15],
    "01003": [5, 6, 8, 8],
    "02013": [0, 0, 7, 7],
}
DEATHS = {"01001": 2, "01003": 0, "02013": 1}  # a day
FILES = {  # of few lines, with a space between them
    f"{GEOGRAPHY}/GeoIDs - State.csv": (
        "statefips,statename,stateabbrev,state_pop2019 1,Alabama,AL,4000 2,Alaska,AK,1000"
    ),
    IFR_FILE: "State,County,fips,ifr_OR AL,Oak,01001,1 AL,Elm,1003,2 AK,Fir,2013,1",
    f"{SURVEYS}/output/proportions_infected_estimates.csv": (  # of Alaska none
        "state,week,prop_infected AL,2021-01-02,.10 AL,2021-02-27,.15 "
        "AK,2021-01-02,.10 AK,2021-02-27,.09"
    ),
    f"{SURVEYS}/data/supporting_data.csv": (
        "state,week,cases_cumulative,state_population AL,2020-01-25,NA,10000 "
        "AL,2021-01-02,100,10000 AL,2021-02-27,300,10000 AL,2021-02-27,300,10000 "
        "AK,2021-01-02,100,10000 AK,2021-02-27,300,10000"
    ),
    PATHS["claims"]: (
        "year,month,day_endofweek,countyfips,initclaims_rate_regular "
        "2021,1,2,1001,.5 2021,1,9,1001,."
    ),
    PATHS["survey"]: (
        "fips,total_population,median_hh_inc,black_pct,hispanic_pct,clf_unemploy_pct,rural_pct "
        "1001,90,50,10,1,4,20 1003,110,30,NA,2,5,40"
    ),
    PATHS["ages"]: (
        f"countyFIPS,CensusPopulation2010,{','.join(files._AGE_COLUMNS)} "
        "01001,100,1,1,1,1,1,1,1,1 01003,200,1,1,1,1,1,1,1,1 City1,900,1,1,1,1,1,1,1,1"
    ),
    PATHS["density"]: "county_fips,density_pop 1,99 1001,40(r38264) 1003,20",
    PATHS["commuting"]: "FIPS,pubtrans,teleworkable 01001,.1,.4 01003,.2,.5",
    PATHS["beds"]: "fips,beds_staffed 1001,3",
    PATHS["mobility"]: "fips,2021-01-01,2021-01-03 01001,40,9000 01,50,50",
    PATHS["tests"]: (
        "date,state,totalTestResultsIncrease,positiveIncrease "
        "2021-01-01,AL,-40,1 2021-01-02,AL,80,20 2021-01-01,AK,0,0 2021-01-02,AK,10,20"
    ),
    PATHS["prices"]: "Date,Index 2021-01-01,260 2021-02-01,262 2021-03-01,264",
}


def public_file(folder, path, lines):
    """Write a file in place of a public one, and describe it."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    content = file.read_bytes()
    sha256 = hashlib.sha256(content).hexdigest()
    return PublicFile(path=path, size=len(content), sha256=sha256, urls=())


class World:
    """A folder with every file the loader reads, three counties large."""

    def __init__(self, folder):
        self.folder = folder
        self.registered = {}
        for step, day in enumerate([DAYS[0] - pd.Timedelta(days=1), *DAYS]):
            self.write_report(day, step)
        for path, lines in FILES.items():
            self.write(path, *lines.split())
        self.write(
            f"{GEOGRAPHY}/GeoIDs - County.csv",
            "countyfips,county_pop2019",
            *(f"{int(fips)},{row[-1]}" for fips, row in COUNTIES.items()),
        )
        weeks = pd.date_range("2021-01-02", "2021-03-06", freq="7D")
        self.write(
            f"{GEOGRAPHY}/UI Claims - State - Weekly.csv",
            "year,month,day_endofweek,statefips,initclaims_rate_regular",
            *(f"{end.year},{end.month},{end.day},{s},.{s}" for end in weeks for s in (1, 2)),
        )
        self.write(
            f"{GEOGRAPHY}/Google Mobility - State - Daily.csv",
            "year,month,day,statefips,gps_workplaces,gps_retail_and_recreation,"
            "gps_grocery_and_pharmacy,gps_residential",
            *(f"2021,{d.month},{d.day},{s},-.{s},0,.2,.1" for d in DAYS for s in (1, 2)),
        )

    def write(self, path, *lines):
        self.registered[path] = public_file(self.folder, path, lines)

    def write_report(self, day, step):
        rows = [
            f"{int(fips)}.0,{name},{state},US,{latitude},{longitude},"
            f"{TOTALS[fips][min(step, 3)]},{DEATHS[fips] * step}"
            for fips, (name, state, latitude, longitude, _) in COUNTIES.items()
        ]
        self.write(
            f"{REPORTS}/{day:%m-%d-%Y}.csv",
            "FIPS,Admin2,Province_State,Country_Region,Lat,Long_,Confirmed,Deaths",
            *rows,
            ",,Alberta,Canada,53,-116,900,9",
            "80001.0,Out of AL,Alabama,US,0,0,900,9",
            f"90001.0,Unassigned,Alabama,US,0,0,900,{step}",
            "72001.0,Adjuntas,Puerto Rico,US,18.2,-66.7,900,9",
        )


@contextmanager
def served(world):
    """Have its files in place of the public ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNCLETC_DATA_DIR", str(world.folder))
        patch.setattr(fetch, "registry", lambda: {"covid": world.registered})
        yield


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def few(world):
    """The data set of three counties."""
    with served(world):
        return datasets.load("covid")


def first_days(dataset, cell):
    """Counts of the first three days of a cell, by day."""
    where, y = dataset.counts.indices, dataset.counts.counts
    at = (where[:, :2] == cell).all(axis=1) & (where[:, 2] < 3)
    return dict(zip(where[at, 2].tolist(), y[at].tolist(), strict=True))


OAK, FIR = (0, 1), (1, 0)  # cells 33°, -87° and 55°, -162°


class TestRules:
    shared, alone = OAK, FIR

    def test_shared_cells_are_summed_and_corrections_count_as_zero(self, few):
        assert few.counts.shape == (2, 2, 60)
        assert first_days(few, self.shared) == {0: 2 + 1, 1: 0 + 2, 2: 4 + 0}
        assert first_days(few, self.alone) == {0: 0, 1: 7, 2: 0}
        assert few.table["cases"].tolist() == [6, 3, 7]
        assert few.table["counties_in_cell"].tolist() == [2, 2, 1]

    def test_exposure_is_the_people_of_a_cell(self, few):
        assert few.counts.exposure[..., 0].tolist() == [[0, 400], [50, 0]]

    def test_attributes_are_weighted_by_people_and_scaled(self, few):
        z = values(few)
        # 33°: people 400; income (300 · 50 + 100 · 30) / 400 = 45. 55°: people 50; the nation's 40.
        assert z["population"][self.shared] == 1
        assert z["population"][self.alone] == 0
        assert z["median income"][self.shared] == 1
        assert z["median income"][self.alone] == 0
        # Elm lacks the share and takes the state's median, Oak's; everything is equal: 0.
        assert z["% African American"] == {self.shared: 0, self.alone: 0}

    def test_unscaled_attributes_follow_the_stated_rules(self, world):
        with served(world):
            counties = with_population(read_daily("Confirmed")[0])
            read, tests_per_1000 = files.read_attributes(counties)
        oak, elm, fir = range(3)
        values = {name: array[:, :4] for name, array in read.items()}
        assert values["% older than 60"][:, 0].tolist() == [8, 4, 6]
        assert values["population density"][oak, 0] == 40
        assert values["hospital beds/1000"][:, 0].tolist() == [10, 10, 10]
        assert values["miles/person"][oak].tolist() == [40, 170, 300, 300]
        assert values["unemployment claims/1000"][:, [0, 3]].tolist() == [[5, 1], [1, 1], [2, 2]]
        assert values["testing gap"][oak, 1] == 21 / 80
        assert values["testing gap"][fir, 1] == 1  # more positive than done: at most all
        assert values["work trips"][:, 0].tolist() == [-0.1, -0.1, -0.2]
        assert values["non-work trips"][elm, 0] == 0.1
        assert values["weekend"][oak].tolist() == [0, 1, 1, 0]
        assert values["cumulative inflation"][oak, 0] == 260
        assert tests_per_1000.tolist() == [10, 10, 5]


@pytest.fixture
def here(world):
    with served(world):
        yield


@pytest.mark.usefixtures("here")
class TestOutside:
    def test_deaths_stand_at_the_day_of_their_cases_a_second_look_whose_p_is_the_ifr(self, few):
        rows = datasets.deaths_by_cell(few, lag=10)
        assert len(rows) == 2 * 50
        assert rows["day"].max() == 49
        oak = rows[(rows["latitude_index"] == OAK[0]) & (rows["longitude_index"] == OAK[1])]
        assert oak["deaths"].tolist() == [2] * 50
        # 300 people with .00416, 100 with twice that
        assert oak["ifr"].tolist() == pytest.approx([1.25 * 0.00416] * 50)
        process = datasets.deaths_observations(few, lag=10)
        assert process.name == "deaths"
        assert process.counts.tolist() == rows["deaths"].tolist()
        assert process.known_detection.tolist() == (rows["ifr"] * rows["share"]).tolist()
        # Counties report 2 of 3 deaths, and 9 cases for the state's 8: one was taken back.
        assert sorted(rows["share"].unique()) == pytest.approx([2 / 3 / (9 / 8), 1])
        assert few.counts.with_observations(process).observations[0].indices.tolist() == (
            rows[["latitude_index", "longitude_index", "day"]].to_numpy().tolist()
        )

    def test_states_may_be_left_out_of_it(self, few):
        process = datasets.deaths_observations(few, without=["Alabama"])
        assert {tuple(place) for place in process.indices[:, :2].tolist()} == {FIR}
        with pytest.raises(ValueError, match="without must name states of the data, got 'Texas'"):
            datasets.deaths_observations(few, without=["Texas"])

    def test_by_surveys_new_cases_are_divided_by_new_infections(self, few):
        states = datasets.load_outside(few).states
        assert states.loc["Alabama", "seroprevalence"] == pytest.approx(200 / (0.05 * 10_000))
        assert np.isnan(states.loc["Alaska", "seroprevalence"])  # fewer infected than before

    def test_by_deaths_a_states_unassigned_ones_count_too(self, few):
        outside = datasets.load_outside(few, lag=10)
        # Cases 15 + 8 of totals at the eve 10 + 5; deaths 2 + 1 a day on 50 days.
        cases, deaths = 15 + 8 - 15, 3 * 50
        expected = cases * 1.25 * 0.00416 / deaths
        assert outside.states.loc["Alabama", "deaths"] == pytest.approx(expected)
        assert outside.cells.loc[OAK, "deaths"] == pytest.approx(cases * 1.25 * 0.00416 / 100)

    def test_what_is_not_here_is_named_and_the_rest_is_read(self, world, few):
        ifr = world.folder / IFR_FILE
        gone = ifr.rename(ifr.with_suffix(".gone"))
        outside = datasets.load_outside(few)
        gone.rename(ifr)
        assert [estimate.name for estimate in outside.estimates] == ["seroprevalence", "tests"]
        assert list(outside.states) == ["seroprevalence", "tests"]
        assert list(outside.missing) == ["deaths"]
        assert "ifr_county_07-02-2021.csv is not in the folder" in outside.missing["deaths"]


def test_other_data_are_refused():
    with pytest.raises(ValueError, match=r"must be of US counties, got 'ppi-twin'"):
        datasets.deaths_by_cell(datasets.load("ppi-twin"))
    with pytest.raises(ValueError, match=r"must be of real counts, got 'covid-twin', simulated"):
        datasets.load_outside(datasets.load("covid-twin"))


def values(dataset, day=0):
    """Scaled attributes of each cell on one day, by name."""
    counts = dataset.counts
    on_day = counts.attribute_indices[:, 2] == day
    cells = [tuple(cell) for cell in counts.attribute_indices[on_day, :2].tolist()]
    return {
        name: dict(zip(cells, column.tolist(), strict=True))
        for name, column in zip(counts.attribute_names, counts.attributes[on_day].T, strict=True)
    }

"""Deaths, IFR and outside estimates: on the real files, and their rules on a small world."""

import numpy as np
import pytest

from tests.uncletc.test_datasets_covid import World, realdata, served
from uncletc import datasets
from uncletc.datasets.covid_files import GEOGRAPHY
from uncletc.datasets.covid_outside import IFR_FILE, SURVEYS


@pytest.fixture(scope="module")
def outside(real_covid):
    return datasets.load_outside(real_covid)


OAK, FIR = (0, 1), (1, 0)  # cells 33°, -87° and 55°, -162°


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two states: of Alabama all is known, of Alaska no survey."""
    made = World(tmp_path_factory.mktemp("files"))
    lines = {
        IFR_FILE: "State,County,fips,ifr_OR AL,Oak,01001,1 AL,Elm,1003,2 AK,Fir,2013,1",
        f"{GEOGRAPHY}/GeoIDs - State.csv": (
            "statefips,statename,stateabbrev,state_pop2019 1,Alabama,AL,4000 2,Alaska,AK,1000"
        ),
        f"{SURVEYS}/output/proportions_infected_estimates.csv": (
            "state,week,prop_infected AL,2021-01-02,.10 AL,2021-02-27,.15 "
            "AK,2021-01-02,.10 AK,2021-02-27,.09"
        ),
        f"{SURVEYS}/data/supporting_data.csv": (
            "state,week,cases_cumulative,state_population AL,2020-01-25,NA,10000 "
            "AL,2021-01-02,100,10000 AL,2021-02-27,300,10000 AL,2021-02-27,300,10000 "
            "AK,2021-01-02,100,10000 AK,2021-02-27,300,10000"
        ),
    }
    for path, text in lines.items():
        made.write(path, *text.split())
    return made


@pytest.fixture
def world(files):
    with served(files):
        yield files


@pytest.fixture(scope="module")
def few(files):
    """The data set of three counties."""
    with served(files):
        return datasets.load("covid")


@pytest.mark.usefixtures("world")
class TestRules:
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


class TestRealData:
    pytestmark = realdata

    def test_every_state_and_cell_has_a_row(self, outside):
        assert not outside.missing
        assert len(outside.states) == 51
        assert len(outside.cells) == 806
        known = {"seroprevalence": 49, "deaths": 51, "tests": 51}
        assert outside.states.notna().sum().to_dict() == known
        assert outside.cells["deaths"].notna().sum() == 495

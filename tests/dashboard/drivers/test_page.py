"""The Drivers page under Streamlit's own test runner, with a short fit."""

from dataclasses import replace

import pytest

from dashboard.shared.charts.places import place_table
from tests.dashboard.looking import PLAIN, charts, in_address, open_screen, ran
from uncletc import StopReason


@pytest.fixture
def open_page(show, covid_fit):
    show(replace(covid_fit, stop=StopReason.TOLERANCE))
    return lambda **address: open_screen("drivers", **PLAIN, **address)


def named(at):
    names = ("importance", "effect", "explanation", "surface")
    return dict(zip(names, charts(at), strict=False))


def test_importance_effect_and_contributions(open_page, covid_twin):
    at = open_page()
    drawn = named(at)
    bars = drawn["importance"]["data"][0]["y"]
    assert sorted(bars) == sorted(covid_twin.counts.attribute_names)
    assert at.selectbox(key="covid_attribute").value == bars[0]
    assert at.selectbox(key="county").value == place_table(covid_twin)["key"].iloc[0]
    assert drawn["explanation"]["data"][0]["y"][-1] == "here"
    assert "surface" not in drawn  # folded
    assert not at.query_params.get("covid_attribute")
    # Choices change their chart alone and stand in the address.
    before = drawn
    ran(at.selectbox(key="covid_attribute").set_value("% Hispanic"))
    after = named(at)
    assert "% Hispanic" in after["effect"]["layout"]["xaxis2"]["title"]["text"]
    assert after["explanation"] == before["explanation"]
    assert in_address(at, "covid_attribute") == "% Hispanic"

    county = at.selectbox(key="county")
    assert "covid-county" not in at.session_state  # nobody chose the first
    ran(county.select(county.options[5]))
    assert named(at)["explanation"] != before["explanation"]
    assert len(in_address(at, "county") or "") == 5


def test_a_link_opens_the_same_view_with_its_interaction(open_page, covid_twin):
    fips = place_table(covid_twin)["key"].iloc[17]
    chosen = {"covid_attribute": "weekend", "covid_first": "% rural", "covid_second": "weekend"}
    at = open_page(**chosen, county=fips)
    for key, value in (chosen | {"county": fips}).items():
        assert at.selectbox(key=key).value == value
    assert named(at)["surface"]["data"][0]["z"]

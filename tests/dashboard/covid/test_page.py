"""The COVID-19 page under Streamlit's own test runner, with a short fit made beforehand."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dashboard.countymap import component as map_component
from dashboard.countymap.picture import county_names
from tests.dashboard.looking import (
    PLAIN,
    charts,
    in_address,
    new_test,
    open_screen,
    ran,
    unpacked,
    words,
)
from uncletc import StopReason

BALTIMORE, COOK = "24510", "17031"


@pytest.fixture
def shown(show, covid_fit):
    """The fit that the page shows."""
    now = {"found": covid_fit}
    show(lambda: now["found"])
    return now


@pytest.fixture
def open_page(shown):  # noqa: ARG001, it is shown
    return lambda **address: open_screen("covid", **PLAIN, **address)


def sent(at):
    """What the page sends to its map, unpacked."""
    (data,) = [json.loads(component.proto.json) for component in at.get("bidi_component")]
    return data | {"picture": unpacked(data["picture"])}


def test_map_shows_every_county_and_says_that_counts_are_simulated(open_page):
    at = open_page()
    data = sent(at)
    picture = data["picture"]
    assert len([n for n in picture["numbers"] if n is not None]) == len(county_names())
    assert picture["title"] == "relative p (median entry = 1)"
    assert picture["remark"] == "Simulated counts."
    assert "two days" not in at.button_group(key="span").options
    assert "search box" in data["alt"]
    assert data["selected"] is None
    assert "Select a county" in words(at)
    ran(at.button_group(key="map_of").set_value("per_1000"))
    assert sent(at)["picture"]["missing"] == "no reports"  # of which there are no infections


def test_a_county_in_the_address_is_chosen_everywhere(open_page, covid_twin):
    at = open_page(county=BALTIMORE)
    assert sent(at)["selected"] == BALTIMORE
    assert "Baltimore city, MD" in [each.value for each in at.header]
    text = words(at)
    assert "17 counties combined" in text
    series = charts(at)[2]  # after both ends of the ranking
    titles = [note["text"] for note in series["layout"]["annotations"]]
    assert titles[0] == "reported cases per day, 17 counties combined"
    assert "Select a county" not in text
    assert len(series["data"][0]["x"]) == covid_twin.counts.shape[2]
    assert "".join(at.query_params["county"]) == BALTIMORE


def test_a_county_comes_along_from_another_page_and_the_way_back_has_none(shown):
    assert shown
    at = new_test("covid")
    at.session_state["covid-county"] = COOK
    at.query_params.update(PLAIN)
    assert in_address(ran(at), "county") == COOK
    del at.query_params["county"]  # as the browser does on the way back
    assert "Select a county" in words(ran(at))
    assert "county" not in at.query_params


@pytest.mark.parametrize(
    ("county", "area"), [("99999", "1,2,3"), ("", "a,b,c,d"), ("x", "9,9,1,1")]
)
def test_what_is_bad_in_the_address_is_dropped(open_page, county, area):
    at = open_page(county=county, area=area)
    assert "no county is used instead" in at.toast[0].value
    assert sent(at)["selected"] is None
    assert "county" not in at.query_params
    assert "no-area" not in [button.key for button in at.button]


def test_one_day_has_other_numbers_on_the_same_scale(open_page):
    at = open_page()
    mean = sent(at)["picture"]
    at.button_group(key="span").set_value("day").run()
    ran(at.select_slider(key="day").set_value("2021-01-11"))
    one = sent(at)["picture"]
    assert one["numbers"] != mean["numbers"]
    assert one["limits"] == mean["limits"]
    assert "**United States, 2021-01-11.**" in words(at)
    linked = open_page(span="one day", day="2021-01-11")
    assert sent(linked)["picture"] == one


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ({"chosen": {"fips": COOK, "at": 1}}, COOK),
        ({"chosen": {"fips": "99999"}}, None),
        ({"chosen": {"fips": ["a"]}}, None),
        ({"chosen": "a"}, None),
        ({}, None),
        ("a", None),
        (None, None),
    ],
)
def test_what_the_browser_sends_is_a_known_county_or_none(monkeypatch, sent, taken):
    """Only known counties are taken."""
    monkeypatch.setattr(map_component.st, "session_state", {"map": sent})
    assert map_component.chosen_in("map") == taken


def test_bars_are_drawn_whatever_the_uncertainty(open_page, shown, covid_twin, short_fit):
    found = short_fit(covid_twin.counts, 2, solver="joint", hidden=(5,))
    far = np.random.default_rng(1).normal(size=found.draws.coefficients.shape)
    draws = replace(found.draws, coefficients=far.astype(np.float32))  # every draw is far off
    found = replace(found, draws=draws, stop=StopReason.MAX_ITER)
    shown["found"] = found
    at = open_page(scale="Average detection is known", range="true")
    bars = charts(at)[:2]
    assert [len(figure["data"][0]["y"]) for figure in bars] == [10, 10]
    assert all("error_x" in figure["data"][0] for figure in bars)
    assert words(at).count("is not statistically distinguishable") == 1
    assert "to compare bars; those in the table include the uncertain level" in words(at)


def test_states_can_be_chosen_and_all_follows(open_page):
    at = open_page(states=["Texas", "Utah"])
    assert "**Texas, Utah, 2021-01-01 to " in words(at)
    assert sorted(at.dataframe[0].value["state"]) == ["Texas", "Utah"]
    drawn = [number for number in sent(at)["picture"]["numbers"] if number is not None]
    assert len(drawn) == 254 + 29
    assert "not chosen" in sent(at)["picture"]["missing"]


def test_a_box_drawn_on_the_map_is_in_the_address_and_may_be_left(open_page):
    at = open_page(area="5800,1400,6900,2400")
    assert "places, 2021-01-01 to " in words(at)
    assert "no count, or not chosen" in sent(at)["picture"]["missing"]
    assert any("places" in (trace.get("name") or "") for trace in charts(at)[2]["data"])
    at.button(key="no-area").click().run()
    assert "area" not in at.query_params


def test_places_are_compared_each_with_its_answer(open_page):
    at = open_page()
    labels = at.multiselect(key="compare").options
    ran(at.multiselect(key="compare").set_value([labels[0], labels[-1]]))
    labels = [labels[0], labels[-1].split(" (in ")[1].removesuffix(")")]  # the county's cell
    text = words(at)
    for label in labels[:2]:
        assert f"- **{label}**: So far: reported" in text or f"- **{label}**: Reported" in text
    assert {trace.get("name") for trace in charts(at)[2]["data"]} >= set(labels[:2])
    assert "Time series · 120 rows" in text
    counts = charts(at)[2]["data"][0]["y"]
    at.toggle(key="per_person").set_value(True).run()
    assert "per 1,000 people" in json.dumps(charts(at)[2]["layout"])
    assert charts(at)[2]["data"][0]["y"] != counts
    box = at.multiselect(key="compare").proto
    assert not box.select_all  # Enter takes one of the counties that a text finds

"""The COVID-19 page under Streamlit's own test runner, with a short fit made beforehand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.countymap import component as map_component
from dashboard.countymap.picture import county_names, unpack
from dashboard.shared.fit_status import running
from tests.dashboard.looking import PLAIN, open_screen, showing, words
from uncletc import Fit

BALTIMORE, COOK = "24510", "17031"


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, covid_fit: Fit) -> dict[str, Fit]:
    """The fit that the page shows; no fitting process runs."""
    now = {"found": covid_fit}
    monkeypatch.delenv("UNCLETC_DATA_DIR", raising=False)
    monkeypatch.setattr(running, "fit_or_stop", showing(lambda: now["found"]))
    return now


@pytest.fixture
def open_page(shown: dict[str, Fit]) -> Callable[..., AppTest]:  # noqa: ARG001, it is shown
    return lambda **address: open_screen("covid", **PLAIN, **address)


def sent(at: AppTest) -> dict[str, Any]:
    """What the page sends to its map, unpacked."""
    (data,) = [json.loads(component.proto.json) for component in at.get("bidi_component")]
    return data | {"picture": unpack(data["picture"])}


def test_map_shows_every_county_and_says_that_counts_are_simulated(open_page):
    at = open_page()
    data = sent(at)
    picture = data["picture"]
    assert len([n for n in picture["numbers"] if n is not None]) == len(county_names())
    assert picture["title"] == "relative p (median = 1)"
    assert picture["remark"] == "Simulated counts."
    assert "keys" in data["alt"]
    assert data["play"] is None
    assert data["selected"] is None
    assert "Choose a county" in words(at)


def test_a_county_in_the_address_is_chosen_everywhere(open_page, covid_twin):
    at = open_page(county=BALTIMORE)
    assert sent(at)["selected"] == BALTIMORE
    assert "Baltimore city, Maryland" in [each.value for each in at.header]
    text = words(at)
    assert "Cell of 17 counties" in text
    assert "Choose a county" not in text
    panel = next(json.loads(c.proto.spec) for c in at.get("plotly_chart"))
    assert len(panel["data"][0]["x"]) == covid_twin.counts.shape[2]
    assert "".join(at.query_params["county"]) == BALTIMORE


@pytest.mark.parametrize("value", ["99999", ""])
def test_a_bad_county_in_the_address_is_dropped(open_page, value):
    at = open_page(county=value)
    assert sent(at)["selected"] is None
    assert "county" not in at.query_params


def test_one_day_has_other_numbers_on_the_same_scale_and_may_be_played(open_page, covid_twin):
    at = open_page()
    mean = sent(at)["picture"]
    at.button_group(key="span").set_value("day").run()
    at.query_params["day"] = "2021-01-11"
    at.session_state["day"] = "2021-01-11"  # as the slider of the map says
    at.run()
    assert not at.exception
    data = sent(at)
    assert data["picture"]["numbers"] != mean["numbers"]
    assert data["picture"]["limits"] == mean["limits"]
    play = data["play"]
    assert play["now"] == 10
    assert play["labels"] == list(covid_twin.counts.labels[2])
    assert play["frames"] is None  # not before it plays


def test_uncertainty_needs_intervals(open_page, shown, covid_twin, short_fit):
    at = open_page(county=BALTIMORE)
    assert "Intervals come with the joint solver" in words(at)
    assert not sent(at)["picture"]["uncertain"]
    assert "Bands" not in words(at)
    shown["found"] = short_fit(covid_twin.counts, 2, solver="joint", hidden=(5,))
    at.run()
    assert not at.exception
    text = words(at)
    assert "Intervals come with the joint solver" not in text
    assert "Bands" in text
    assert "Whiskers" in text
    assert "4-fold" in sent(at)["picture"]["uncertainMeans"]


class TestWhatTheBrowserSays:
    """Only known counties and whole steps are believed."""

    @pytest.mark.parametrize(
        ("said", "believed"),
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
    def test_chosen_county(self, monkeypatch, said, believed):
        monkeypatch.setattr(map_component.st, "session_state", {"map": said})
        assert map_component.chosen_in("map") == believed

    @pytest.mark.parametrize(
        ("said", "steps"),
        [
            ({"on": False, "step": 3}, [3]),
            ({"on": True, "step": 3}, []),
            ({"on": False, "step": 60}, []),
            ({"on": False, "step": -1}, []),
            ({"on": False, "step": True}, []),
            ({"on": False, "step": "3"}, []),
            ("a", []),
        ],
    )
    def test_step_where_playing_stopped(self, monkeypatch, said, steps):
        monkeypatch.setattr(map_component.st, "session_state", {"map": {"play": said}})
        told: list[int] = []
        map_component._stopped("map", 60, told.append)
        assert told == steps
        assert map_component.playing("map") is (said == {"on": True, "step": 3})


def test_a_place_and_all_places_are_answered_in_words(open_page, shown, covid_twin, short_fit):
    at = open_page(county=COOK)
    text = words(at)
    assert "**All places together**" in text
    assert "relative λ" in text
    assert "true cases" not in text.replace("of 100 true cases", "")
    shown["found"] = short_fit(covid_twin.counts, 2, solver="joint", hidden=(5,))
    text = words(open_page(county=COOK, scale="known mean"))
    assert text.count("estimated true") == 2
    assert "% counted" in text
    assert "if mean detection is 25%" in text


def test_states_can_be_chosen_and_all_follows(open_page):
    at = open_page(states=["Texas", "Utah"])
    assert "**Texas, Utah**" in words(at)
    table = at.dataframe[0].value
    assert sorted(table["state"]) == ["Texas", "Utah"]
    drawn = [number for number in sent(at)["picture"]["numbers"] if number is not None]
    assert len(drawn) == 254 + 29
    assert "another state" in sent(at)["picture"]["noCount"]


def test_the_map_may_show_rates(open_page):
    at = open_page(scale="best is complete")
    at.button_group(key="map_of").set_value("per_1000").run()
    assert not at.exception
    picture = sent(at)["picture"]
    assert "per 1,000 people" in picture["title"]
    assert "λ" in picture["title"]
    assert picture["log"]
    relative = sent(open_page(map_of="relative λ in all"))["picture"]
    assert relative["title"].startswith("relative λ in 60 days")


def test_places_are_compared_each_with_its_answer(open_page):
    at = open_page()
    labels = at.multiselect(key="compare").options
    at.multiselect(key="compare").set_value(labels[:2]).run()
    assert not at.exception
    text = words(at)
    for label in labels[:2]:
        assert f"- **{label}**: So far: reported" in text or f"- **{label}**: Reported" in text
    specs = [json.loads(chart.proto.spec) for chart in at.get("plotly_chart")]
    names = [{trace.get("name") for trace in spec["data"]} for spec in specs]
    assert set(labels[:2]) in names
    assert "Days of the places compared · 120 rows" in text

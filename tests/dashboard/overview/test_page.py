"""The overview under Streamlit's own test runner."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.overview.parts import ALL_ATTRIBUTES
from tests.dashboard.looking import charts, open_screen, ran, words


@pytest.fixture
def open_page(monkeypatch, tmp_path) -> Callable[..., AppTest]:
    """Open the page with the given address, on simulated counts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("UNCLETC_DATA_DIR", raising=False)
    return lambda **address: open_screen(None, **address)


GRID = {"modes": "latitude × longitude"}


def named(at: AppTest) -> dict[str, dict]:
    """Charts by name; the map of counties is none."""
    found = charts(at)
    names = ("pattern", "steps", "attribute")[-len(found) :]
    return dict(zip(names, found, strict=True))


def links(at: AppTest) -> list[tuple[str, str]]:
    return [(each.proto.page, each.proto.query_string) for each in at.get("page_link")]


def test_first_insight_is_a_sentence_above_all_charts(open_page, covid_twin):
    at = open_page()
    assert at.header[0].value == covid_twin.title
    insight = next(block.value for block in at.markdown if "have no count" in block.value)
    assert "Of 49,140 combinations of place and day, **16% have no count**" in insight
    assert f"{covid_twin.counts.counts.max():,}" in insight
    assert "Simulated counts." in words(at)


def test_links_lead_on_with_the_same_counts(open_page):
    first, *others = links(open_page(data="Plant–pollinator"))
    assert first == ("ppi", "ppi_counts=simulated")
    assert {page for page, _ in others} == {"ppi", "whatif", "drivers", "lab"}
    assert links(open_page())[0] == ("covid", "covid_counts=simulated")


def test_a_map_comes_first_where_there_are_places(open_page):
    at = open_page()
    assert at.button_group(key="modes").options[0] == "map"
    assert "places have none at all" in words(at)
    assert "Counties of one cell share its value." in words(at)
    assert "map" not in open_page(data="Plant–pollinator").button_group(key="modes").options


class TestPattern:
    def test_one_day_at_a_time_on_the_same_colours(self, open_page):
        at = open_page(**GRID)
        ran(at.button_group(key="day_span").set_value("one"))
        first = named(at)
        ran(at.select_slider(key="one_day").set_value("2021-01-04"))
        fourth = named(at)
        (before,), (after,) = first["pattern"]["data"], fourth["pattern"]["data"]
        assert after["z"] != before["z"]
        assert (after["zmin"], after["zmax"]) == (before["zmin"], before["zmax"])
        colors = fourth["steps"]["data"][0]["marker"]["color"]
        assert [i for i, color in enumerate(colors) if color != colors[0]] == [3]

    def test_the_address_names_it(self, open_page):
        at = open_page(
            data="Plant–pollinator", modes="plant × visit", pollinator_span="one pollinator"
        )
        assert at.button_group(key="modes").value == "plant × visit"
        assert at.select_slider(key="one_pollinator").value == "bee 01"

    def test_bad_values_in_the_address_are_ignored(self, open_page):
        bad = dict.fromkeys(("data", "counts", "day_span", "attribute"), "imagined")
        usual = named(open_page())
        for modes in ("day × day", "plant × visit"):  # those of no data set, and of another
            assert named(open_page(**bad, modes=modes)) == usual
        day = {"day_span": "one day"}
        assert named(open_page(**day, one_day="2050-01-01")) == named(open_page(**day))


class TestAttributes:
    def test_the_table_of_all_waits_until_it_is_opened(self, open_page):
        at = open_page()
        assert not at.dataframe
        at.session_state[ALL_ATTRIBUTES] = True
        assert ran(at).dataframe

    def test_one_is_drawn_larger(self, open_page):
        at = open_page(attribute="weekend")
        chart = named(at)["attribute"]
        assert chart["layout"]["xaxis"]["title"]["text"] == "weekend, scaled to 0–1"
        ran(at.selectbox(key="attribute").set_value("% rural"))
        assert named(at)["attribute"]["data"] != chart["data"]


def test_provenance_card(open_page, covid_twin):
    text = words(open_page())
    assert "simulated" in text
    assert covid_twin.provenance.period in text
    for source in covid_twin.provenance.sources:
        assert f"[{source.name}]({source.url})" in text
        assert f"Licence: {source.licence}" in text
    for rule in covid_twin.provenance.rules:
        assert rule in text


def test_everything_may_be_taken_away(open_page):
    at = open_page(**GRID, day_span="one day", one_day="2021-01-02")
    names = [each.proto.label for each in at.get("download_button")]
    assert names.count("CSV") == names.count("Parquet") == 3
    assert "Fit (.npz)" not in names
    (script,) = [block.value for block in at.code if 'datasets.load("covid-twin")' in block.value]
    assert "pattern_table(dataset, (0, 1), step=1)" in script
    compile(script, "script", "exec")

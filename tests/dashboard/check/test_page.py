"""The Model check page under Streamlit's own test runner, with fits of a few iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic, sleep

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.check.view import held_mask
from dashboard.shared.sidebar import sidebar as state
from tests.dashboard.looking import (
    charts,
    ended,
    open_screen,
    own_cache,
    waiting,
    words,
)

PPI = "Plant–pollinator"
CHARTS = ("deciles", "pit", "quantiles", "groups", "lags", "objective")


@pytest.fixture(scope="module")
def quick(tmp_path_factory) -> Iterator[None]:
    """Fits of few iterations."""
    whole = state.sidebar

    def sidebar(family: state.Family, **options: bool) -> state.Choices:
        choices = whole(family, **options)
        few = {"rank": 2, "hidden": (), "members": 1, "max_iter": 12, "tol": 1e-3, "effects": ()}
        return replace(choices, settings=replace(choices.settings, **few))

    with own_cache(tmp_path_factory.mktemp("cache")) as patch:
        patch.setattr(state, "sidebar", sidebar)
        yield


@pytest.fixture
def open_page(quick) -> Callable[..., AppTest]:  # noqa: ARG001, it prepares the page
    return lambda **address: wait(open_screen("check", **address))


def wait(at: AppTest, *, n: int = len(CHARTS)) -> AppTest:
    """Run the page until no fit is under way and it has its charts."""
    return ended(at, lambda page: not waiting(page) and len(charts(page)) >= n)


def named(at: AppTest) -> dict[str, dict]:
    found = charts(at)
    names = CHARTS if len(found) == len(CHARTS) else (*CHARTS[:-1], "outside", CHARTS[-1])
    return dict(zip(names, found, strict=True))


def test_verdict_first_then_every_check(open_page, covid_twin):
    at = open_page()
    assert at.title[0].value == "Does the model fit the counts?"
    text = words(at)
    assert "Simulated counts." in text
    held = int(held_mask(covid_twin.counts, "entry").sum())
    assert f"{held:,} of the {covid_twin.counts.n_observed:,} counted entries" in text
    assert "Counts vary about" in text
    # Two patterns are too few for these counts, and the page must say so.
    assert "Misfit: read on before you rely on it" in text
    assert "Does p agree with the truth?" in text
    drawn = named(at)
    assert len(drawn["outside"]["data"]) == 1
    assert len(drawn["pit"]["data"]) == 2
    assert len(drawn["groups"]["data"][0]["y"]) == 20
    assert 'fitted = fit(seen_counts(dataset.counts, "entry"), FitSettings(' in at.code[0].value


def test_a_link_opens_the_same_view(open_page):
    at = open_page(data=PPI, ppi_held="interactions", ppi_by="guild")
    assert "interactions** with all their counts" in words(at)
    levels = named(at)["groups"]["data"][0]["y"]
    assert sorted(levels) == ["bee", "beetle", "butterfly", "fly", "wasp"]


def test_ranks_are_compared_on_demand(open_page):
    at = open_page(data=PPI)
    assert "Fits ranks 1, 2, 3, 4" in words(at)
    at.button(key="compare-ranks").click().run()
    wait(at, n=len(CHARTS) + 2)
    began = monotonic()
    while "So far:" in words(at):
        assert monotonic() - began < 120
        sleep(0.2)
        at.run()
    assert not at.exception
    assert "Of these 4 ranks, **rank" in words(at)
    assert not [button for button in at.button if button.key == "compare-ranks"]
    behind = charts(at)[5]["data"][0]
    assert behind["x"] == ["1", "2", "3", "4"]


def test_what_attributes_add_is_measured_on_demand_and_told_where_p_is_shown(open_page):
    at = open_page(data=PPI)
    assert at.button(key="measure-gain").label == "Measure what attributes add"
    assert "**Attributes " not in words(at)
    at.button(key="measure-gain").click().run()
    ended(at, lambda page: "**Attributes " in words(page))
    said = [each.value for each in at.markdown if each.value.startswith("**Attributes ")]
    assert len(said) == 1
    assert "5 folds" in said[0]
    assert "at its 95th percentile over the counted entries" in said[0]
    assert not [button for button in at.button if button.key == "measure-gain"]
    assert "What attributes add · 1 row" in words(at)

    plants = open_screen("ppi", data=PPI)
    ended(plants, lambda page: not waiting(page))
    sentence = said[0][2:].split("**")[0]
    assert sentence in words(plants)
    if "do not read the ranking" in sentence:
        none = "No ranking is claimed", "cannot be told apart by p"
        assert any(each in words(plants) for each in none)
    else:
        assert "No ranking is claimed" not in words(plants)

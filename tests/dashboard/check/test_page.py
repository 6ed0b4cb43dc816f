"""The Model check page under Streamlit's own test runner, with fits of a few iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.check.controls import SECTION
from dashboard.check.view import held_mask
from dashboard.shared.sidebar import sidebar as state
from tests.dashboard.looking import (
    charts,
    ended,
    open_screen,
    own_cache,
    press,
    ran,
    waiting,
    words,
)

PPI = "Plant–pollinator"
CHARTS = ("deciles", "quantiles", "groups")


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
    def run(**address: str) -> AppTest:
        at = open_screen("check", **address)
        return ended(at, lambda page: not waiting(page) and len(charts(page)) >= len(CHARTS))

    return run


def test_verdict_scores_and_every_check(open_page, covid_twin):
    at = open_page()
    text = words(at)
    assert "Simulated counts." in text
    held = int(held_mask(covid_twin.counts, "entry").sum())
    assert f"{held:,} of the {covid_twin.counts.n_observed:,} counts" in text
    # Two patterns are too few for these counts, and the page must say so.
    assert "Poor fit: interpret with caution" in text
    assert "The held-out log score is **" in text
    assert "Does p agree with the truth?" in text
    keys = {"residual-map", "outside-map"}
    assert keys <= {key for m in at.get("bidi_component") for key in keys if key in m.proto.json}
    code = 'fitted = fit(seen_counts(dataset.counts, "entry"), FitSettings('
    assert any(code in each.value for each in at.code)


def test_a_link_opens_the_same_view(open_page):
    at = open_page(data=PPI, ppi_held="interactions", ppi_by="guild")
    assert "interactions** with all their counts" in words(at)
    levels = dict(zip(CHARTS, charts(at), strict=True))["groups"]["data"][0]["y"]
    assert sorted(levels) == ["bee", "beetle", "butterfly", "fly", "wasp"]


def test_what_covariates_add_is_measured_on_demand(open_page):
    at = open_page(data=PPI)
    assert not [button for button in at.button if button.key == "measure-gain"]  # folded
    at.session_state["gain-fold"] = True
    assert SECTION in [box.label for box in ran(at).expander]
    press(at, "measure-gain")
    ended(at, lambda page: "5 folds" in words(page))
    (said,) = [each.value for each in at.markdown if "5 folds" in each.value]
    assert "at its 95th percentile over the counts" in said
    assert not [button for button in at.button if button.key == "measure-gain"]
    assert "What covariates add · 1 row" in words(at)

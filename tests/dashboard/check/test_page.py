"""The Model check page under Streamlit's own test runner, with short fits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.check.controls import SECTION
from dashboard.check.view import held_mask
from dashboard.shared.fit_status import running
from dashboard.shared.own_table import NAME
from dashboard.shared.sidebar import sidebar as state
from tests.dashboard.looking import (
    PLAIN,
    charts,
    ended,
    open_own,
    open_screen,
    press,
    ran,
    read_own,
    showing,
    words,
)
from uncletc import FitSettings, StopReason

CHARTS = ("deciles", "quantiles", "groups")


@pytest.fixture
def open_page(monkeypatch, covid_fit, ppi_fit) -> Callable[..., AppTest]:
    """Open the page with a fit made beforehand."""
    monkeypatch.delenv("UNCLETC_DATA_DIR", raising=False)

    def run(data: str = "COVID-19", **address: str) -> AppTest:
        found = covid_fit if data == "COVID-19" else ppi_fit
        ended = replace(found, stop=StopReason.TOLERANCE)
        monkeypatch.setattr(running, "fit_or_stop", showing(ended))
        return open_screen("check", data=data, **PLAIN, **address)

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


def test_a_link_opens_the_same_view(open_page):
    at = open_page("Plant–pollinator", ppi_held="interactions", ppi_by="guild")
    assert "interactions** with all their counts" in words(at)
    levels = dict(zip(CHARTS, charts(at), strict=True))["groups"]["data"][0]["y"]
    assert sorted(levels) == ["bee", "beetle", "butterfly", "fly", "wasp"]


@pytest.mark.slow  # the library's own test of it is quick
def test_what_covariates_add_is_measured_on_demand(monkeypatch):
    whole = state.sidebar

    def quick(family: state.Family, **options: bool) -> state.Choices:
        return replace(
            whole(family, **options), settings=FitSettings(rank=1, hidden=(), max_iter=5)
        )

    monkeypatch.setattr(state, "sidebar", quick)
    at = open_own("check", read_own(), data=NAME)
    ended(at, lambda page: len(charts(page)) >= len(CHARTS))
    assert not [button for button in at.button if button.key == "measure-gain"]  # folded
    at.session_state["gain-fold"] = True
    assert SECTION in [box.label for box in ran(at).expander]
    press(at, "measure-gain")
    ended(at, lambda page: "5 folds" in words(page))
    (said,) = [each.value for each in at.markdown if "5 folds" in each.value]
    assert "at its 95th percentile as at its 5th" in said
    assert not [button for button in at.button if button.key == "measure-gain"]
    assert "What covariates add · 1 row" in words(at)

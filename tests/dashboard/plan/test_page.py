"""The Plan page under Streamlit's own test runner, with fits of a few iterations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.fit_status import running
from dashboard.shared.own_table.own import NAME
from dashboard.shared.sidebar import sidebar as state
from tests.dashboard.looking import (
    active_jobs,
    charts,
    ended,
    open_own,
    open_screen,
    own_cache,
    press,
    ran,
    read_own,
    showing,
    until,
    waiting,
    words,
)
from uncletc import Fit, Joint, StopReason

PPI = "Plant–pollinator"
PLAIN = {"data": PPI, "ppi_twin_roles": "the paper's: all on detection", "ppi_plan_repeats": "1"}


@pytest.fixture(scope="module", autouse=True)
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Fits of few iterations."""
    whole = state.sidebar

    def sidebar(family: state.Family, **options: bool) -> state.Choices:
        choices = whole(family, **options)
        few = replace(
            choices.settings, rank=2, hidden=(), members=1, max_iter=12, solver=Joint(network=False)
        )
        return replace(choices, settings=few)

    with own_cache(tmp_path_factory.mktemp("cache")) as patch:
        patch.setattr(state, "sidebar", sidebar)
        yield


def opened(**address: str) -> AppTest:
    """Open the page and wait for its fit."""
    at = open_screen("plan", **PLAIN, **address)
    return ended(at, lambda page: not waiting(page) and page.get("button_group"))


def test_a_plan_is_made_on_demand_and_kept():
    at = opened(ppi_plan_surveys="5")
    assert at.title[0].value == "What would more counts tell?"
    assert "Simulated counts." in words(at)
    assert "fits in the background, about" in words(at)
    objective = len(charts(at))
    press(at, "make-plan")
    ended(at, lambda page: not waiting(page) and len(charts(page)) > objective)
    text = words(at)
    assert "Three times the visits would" in text
    assert "A survey that tells p at 5 plants (each ± 20 %) would" in text
    drawn = charts(at)[0]
    assert drawn["layout"]["xaxis"]["ticktext"] == ["as\u00a0now", "×\u00a02", "×\u00a03"]
    assert drawn["layout"]["xaxis2"]["ticktext"] == ["as\u00a0now", "5"]
    assert "Widths by design · " in text
    assert "planning.plan(dataset.counts, fitted, designs" in at.code[0].value
    assert not [button for button in at.button if button.key == "make-plan"]

    again = opened(ppi_plan_surveys="5")  # nothing is asked for again
    assert charts(again)[0] == drawn

    at = opened(ppi_plan_surveys="5", ppi_plan_measure="scale of p")
    assert "now nothing states it" in words(at)
    ran(at.number_input(key="ppi_plan_cost_survey").set_value(3.0))
    assert charts(at)[0]["layout"]["xaxis"]["title"]["text"] == "cost"
    ran(at.number_input(key="ppi_plan_wish").set_value(100.0))
    assert "is **survey of plants: 5**, at a cost of 15" in words(at)


def test_it_can_be_cancelled(monkeypatch):
    monkeypatch.setattr("dashboard.plan.running._LOOKED", 0.2)
    at = opened(ppi_plan_surveys="50")
    press(at, "make-plan")
    until(at, lambda page: "designs finished" in words(page) or not waiting(page))
    if waiting(at):
        press(at, "cancel-plan")
    ended(at, lambda page: not waiting(page))
    assert not active_jobs()


def test_nothing_to_add_and_no_intervals_are_said(monkeypatch, ppi_fit: Fit):
    at = opened()
    for key in ("ppi_plan_times", "ppi_plan_surveys"):
        at.button_group(key=key).set_value([])
    ran(at)
    assert "Choose above what to add." in words(at)
    assert not [button for button in at.button if button.key == "make-plan"]

    bare_fit = replace(ppi_fit, stop=StopReason.TOLERANCE)
    monkeypatch.setattr(running, "fit_or_stop", showing(bare_fit))
    bare = open_screen("plan", **PLAIN)
    assert "A plan compares intervals, and this fit has none" in words(bare)


def test_more_counties_cannot_be_added():
    at = ended(
        open_screen("plan", covid_twin_roles="the paper's: all on detection"),
        lambda page: not waiting(page) and page.get("button_group"),
    )
    assert "These counts have all county cells there are" in words(at)
    assert "More days" in [group.label for group in at.button_group]


def test_a_readers_own_table_in_its_own_words():
    at = open_own("plan", read_own(), data=NAME, own_plan_repeats="1")
    ended(at, lambda page: not waiting(page) and page.get("button_group"))
    labels = [group.label for group in at.button_group]
    assert {"More weeks", "More sites", "Survey of p at some sites"} <= set(labels)
    assert at.selectbox(key="own-plan-along").value == "week"
    before = len(charts(at))
    press(at, "make-plan")
    ended(at, lambda page: not waiting(page) and len(charts(page)) > before)
    assert "Three times the weeks would" in words(at)
    assert "at a typical place" in words(at)
    assert "planning.plan(dataset.counts, fitted, designs" in at.code[0].value
    assert "tables.read_file" in at.code[0].value
    address = " ".join(map(str, [*at.query_params, *at.query_params.values()]))
    assert not [word for word in ("site", "week", "species") if word in address]

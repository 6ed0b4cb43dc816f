"""The plant–pollinator page under Streamlit's own test runner, with a fit made beforehand."""

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from streamlit.testing.v1 import AppTest

from dashboard.ppi.view import pair_labels
from dashboard.shared.charts.bars import CHOSEN
from dashboard.shared.sidebar.model import PAPER
from tests.dashboard.looking import PLAIN, charts, open_screen, ran, words
from uncletc import StopReason

YEARS = ["2011", "2012", "2013"]


@pytest.fixture(scope="module")
def ended(ppi_fit):
    return replace(ppi_fit, stop=StopReason.TOLERANCE)


@pytest.fixture
def open_page(show, monkeypatch, tmp_path, ended):
    """Open the page with the given address and fit, on simulated counts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def run(found=ended, **address):
        show(found)
        return open_screen("ppi", **PLAIN, **address)

    return run


def named(at):
    """The figures by what they show; their order is that of the page."""
    names = ("bottom", "top", "visits", "matrix")
    figures = charts(at)
    if len(figures) < len(names):
        names = tuple(name for name in names if name != "visits")
    return dict(zip(names, figures, strict=True))


def chosen(at):
    return at.multiselect(key="interaction").value


def drawn(at):
    """Names in the legend of the visits."""
    return [trace["name"] for trace in named(at)["visits"]["data"] if trace.get("showlegend")]


def test_draws_bars_matrix_and_visits(open_page, ppi_twin):
    at = open_page()
    assert "Meadows" not in words(at)  # a control that changed no number
    shown = named(at)
    assert len(shown["top"]["data"][0]["y"]) == len(shown["bottom"]["data"][0]["y"]) == 10
    assert shown["top"]["layout"]["xaxis"]["range"] == shown["bottom"]["layout"]["xaxis"]["range"]
    assert shown["matrix"]["data"][0]["type"] == "heatmap"
    pairs = shown["matrix"]["data"][1]
    assert set(pairs["customdata"]) == set(pair_labels(ppi_twin))
    assert all(text.endswith(" seen") for text in pairs["text"])
    assert [each["text"] for each in shown["visits"]["layout"]["annotations"]] == YEARS


def test_a_box_on_the_matrix_has_a_joint_total_and_visits(open_page, ppi_twin):
    pairs = ppi_twin.table[ppi_twin.table["interactions"] > 0].head(3)
    levels = [sorted(set(pairs[name])) for name in ("plant_index", "pollinator_index")]
    block = "-".join(",".join(map(str, each)) for each in levels)
    at = open_page(block=block)
    n = sum(len(named(at)[end]["data"][0]["y"]) for end in ("top", "bottom"))
    assert f"{n} interactions together" in words(at)
    assert drawn(at)[0] == f"{n} interactions together"
    assert set(named(at)["matrix"]["data"][1]["customdata"]) <= set(pair_labels(ppi_twin))
    assert len(named(at)["matrix"]["data"][1]["customdata"]) == n
    at.button(key="no-block").click().run()
    assert "All interactions together" in words(at)
    assert "All interactions together" in words(open_page(block="7-x,999"))


def test_the_address_names_everything(open_page, ppi_twin):
    labels = list(pair_labels(ppi_twin)[7:9])
    at = open_page(interaction=labels, seasons=["2012"])
    assert chosen(at) == drawn(at) == labels
    assert "All interactions together, 2012." in words(at)
    shown = named(at)
    assert [each["text"] for each in shown["visits"]["layout"]["annotations"]] == ["2012"]
    outlines = shown["matrix"]["layout"]["shapes"]
    assert len([shape for shape in outlines if shape["line"]["color"] == CHOSEN]) == 2


def test_what_the_page_itself_draws_follows_fits(open_page, ppi_fit, ppi_twin, short_fit, show):
    at = open_page(ppi_fit)  # ended by a callback, as estimates so far are
    first = named(at)["visits"]["data"][0]["name"]
    assert words(at).count("So far: ") == 2  # the total, and what differs
    other = short_fit(ppi_twin.counts, 40, solver="joint", hidden=(5,))
    show(replace(other, stop=StopReason.TOLERANCE))
    ran(at)
    best = named(at)["top"]["data"][0]["y"][0]
    assert named(at)["visits"]["data"][0]["name"] == best != first
    assert chosen(at) == []  # a browser that is late would send an earlier one back
    assert at.multiselect(key="interaction").proto.placeholder.startswith(f"{best} ")
    assert "interaction" not in at.query_params


def test_without_a_difference_in_p_one_sentence_says_so_and_all_is_drawn(open_page, ended):
    flat = deepcopy(ended.network)
    with torch.no_grad():
        for parameter in flat.parameters():
            parameter.zero_()
    at = open_page(replace(ended, network=flat, stop=StopReason.MAX_ITER))
    shown = named(at)
    assert len(shown["top"]["data"][0]["y"]) == len(shown["bottom"]["data"][0]["y"]) == 10
    assert shown["matrix"]["data"][0]["type"] == "heatmap"
    assert "visits" in shown
    assert words(at).count("no difference in detection") == 1
    assert not at.warning


def offered():
    from types import SimpleNamespace

    import streamlit as st

    from dashboard.ppi.controls import offer_paper
    from dashboard.shared.sidebar.model import RECOMMENDED, ModelChoice

    model = st.session_state.get("ppi_model", RECOMMENDED)
    offer_paper(SimpleNamespace(alike=True), ModelChoice(model=model))


def test_the_model_of_the_paper_is_one_press_away():
    at = ran(AppTest.from_function(offered))
    ran(at.button(key="as-in-the-paper").click())
    assert at.session_state["ppi_model"] == PAPER
    assert not at.button

"""What every page owes its readers: help at its controls, words for its charts, colours to tell."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.lab.lessons import STEPS
from dashboard.shared.charts.style import COLORS, DARK_PAPER, luminance, on_dark
from dashboard.shared.fit_status import running
from dashboard.shared.sidebar.sidebar import Choices
from tests.dashboard.looking import PLAIN, open_screen, own_cache, showing
from uncletc import Fit
from uncletc.datasets import Dataset

HEADINGS = {"h1": 1, "h2": 2, "h3": 3}
PAGES = ["overview", "table", "covid", "ppi", "whatif", "drivers", "check", "methods"]
PAPERS = {"light": "#ffffff", "dark": DARK_PAPER}  # of Streamlit's themes


@pytest.fixture(scope="module", autouse=True)
def own_services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of their own."""
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch, covid_fit: Fit, ppi_fit: Fit) -> None:
    """Short fits where a page shows one."""

    def found(dataset: Dataset, choices: Choices) -> running.Shown:
        return showing(covid_fit if dataset.name.startswith("covid") else ppi_fit)(dataset, choices)

    monkeypatch.setattr(running, "fit_or_stop", found)


def parts(node: Any) -> Iterator[Any]:
    """The protocol buffers of all elements below a node of a page."""
    for child in getattr(node, "children", {}).values():
        yield from parts(child)
    if hasattr(node, "proto"):
        yield node.proto


def helpless(at: AppTest) -> list[str]:
    """Labels of the controls without help."""
    controls = [part for part in parts(at._tree) if hasattr(part, "help") and hasattr(part, "id")]
    assert controls
    return [control.label for control in controls if not control.help]


def nameless(at: AppTest) -> list[str]:
    """Beginnings of the charts that no words stand for."""
    return [chart.proto.spec[:80] for chart in at.get("plotly_chart") if not chart.proto.alt]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("fitted")
def test_every_control_has_help_and_every_chart_words(page):
    at = open_screen(page, **PLAIN)
    assert helpless(at) == []
    assert nameless(at) == []


def left_out(at: AppTest) -> list[str]:
    """Headings before which a level is left out."""
    found = [(HEADINGS[part.tag], part.body) for part in parts(at._tree) if hasattr(part, "tag")]
    assert found[0][0] == 1
    pairs = pairwise(found)
    return [title for (before, _), (level, title) in pairs if level > before + 1 or level == 1]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("fitted")
def test_headings_leave_no_level_out(page):
    assert left_out(open_screen(page, **PLAIN)) == []


@pytest.mark.parametrize("step", STEPS)
def test_every_step_of_the_lab_too(step):
    at = open_screen("lab", step=step)
    assert helpless(at) == []
    assert nameless(at) == []
    assert left_out(at) == []


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
@pytest.mark.parametrize("color", COLORS)
def test_lines_and_bars_stand_out_from_the_page(color, paper):
    low, high = sorted([luminance(color), luminance(paper)])
    assert (high + 0.05) / (low + 0.05) >= 3


@pytest.mark.parametrize("name", ["Cividis", "Viridis"])
def test_rising_scales_begin_above_a_dark_page(name):
    figure = go.Figure(go.Heatmap(z=[[0, 1]], colorscale=name))
    scale = on_dark(figure).data[0].colorscale
    light = [luminance(color) for _, color in scale]
    assert all(after >= before - 1e-3 for before, after in pairwise(light))
    assert (light[0] + 0.05) / (luminance(DARK_PAPER) + 0.05) >= 3
    assert (scale[0][0], scale[-1][0]) == (0, 1)
    assert light[-1] == pytest.approx(luminance(f"rgb{rgb(figure.data[0].colorscale[-1][1])}"))


def test_scales_that_part_in_the_middle_stay_on_a_dark_page():
    figure = go.Figure(go.Heatmap(z=[[0, 1]], colorscale="PuOr"))
    assert on_dark(figure).data[0].colorscale == figure.data[0].colorscale


@pytest.mark.parametrize(
    "scale",
    [
        [[0, "rgba(1,2,3,0.5)"], [1, "#ffffff"]],
        [[0, "#000000"], [0.5, "#000000"], [0.5, "#ffffff"], [1, "#ffffff"]],  # of kinds
        [[0, "rgba(0,0,0,0)"], [1, "rgba(0,0,0,0)"]],
    ],
)
def test_scales_of_other_kinds_stay_on_a_dark_page(scale):
    figure = go.Figure(go.Heatmap(z=[[0, 1]], colorscale=scale))
    assert on_dark(figure).data[0].colorscale == figure.data[0].colorscale


@pytest.mark.usefixtures("fitted")
@pytest.mark.parametrize("page", [*PAGES, "lab"])
def test_every_page_can_be_drawn_dark(monkeypatch, page):
    dark = property(lambda _: SimpleNamespace(type="dark"))
    monkeypatch.setattr(type(st.context), "theme", dark)
    step = {"step": "tensor", "hide": "questions"} if page == "lab" else {}
    open_screen(page, **PLAIN, **step)  # which fails where the page does


def rgb(color: str) -> tuple[int, ...]:
    return tuple(int(color[at : at + 2], 16) for at in (1, 3, 5))

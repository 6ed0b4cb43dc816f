"""Every page opens: help at controls, words for charts, headings in order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.colors import unlabel_rgb

from dashboard.lab.steps import STEPS
from dashboard.shared.charts.style import on_dark
from dashboard.shared.fit_status import running
from dashboard.shared.sidebar.sidebar import Choices
from tests.dashboard.looking import PLAIN, open_screen, own_cache, showing
from uncletc import Fit
from uncletc.datasets import Dataset

PAGES = ["home", "table", "covid", "ppi", "whatif", "drivers", "check", "methods"]
DARK = "rgb(23, 22, 20)"  # of Streamlit's dark theme


@pytest.fixture(scope="module", autouse=True)
def own_services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of their own."""
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


def parts(node: Any) -> Iterator[Any]:
    """The protocol buffers of all elements below a node of a page."""
    for child in getattr(node, "children", {}).values():
        yield from parts(child)
    if hasattr(node, "proto"):
        yield node.proto


@pytest.mark.parametrize(
    ("page", "address"),
    [*((page, PLAIN) for page in PAGES), *(("lab", {"step": step}) for step in STEPS)],
)
def test_is_drawn_with_help_words_and_headings(
    monkeypatch, covid_fit: Fit, ppi_fit: Fit, page, address
):
    def found(dataset: Dataset, choices: Choices) -> running.Shown:
        return showing(covid_fit if dataset.name.startswith("covid") else ppi_fit)(dataset, choices)

    monkeypatch.setattr(running, "fit_or_stop", found)
    at = open_screen(page, **address)
    controls = [part for part in parts(at._tree) if hasattr(part, "help") and hasattr(part, "id")]
    assert controls or page == "home"  # which has links alone
    assert [control.label for control in controls if not control.help] == []
    assert [chart.proto.spec[:80] for chart in at.get("plotly_chart") if not chart.proto.alt] == []
    levels = [int(part.tag[1]) for part in parts(at._tree) if hasattr(part, "tag")]
    assert levels[0] == 1
    assert all(1 < after <= before + 1 for before, after in pairwise(levels))


def contrast(color: str) -> float:
    """Of a colour with the dark page (WCAG 2.2)."""

    def luminance(each: str) -> float:
        share = np.array(unlabel_rgb(each)) / 255
        linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    return (luminance(color) + 0.05) / (luminance(DARK) + 0.05)


@pytest.mark.parametrize("name", ["Cividis", "Viridis"])
def test_rising_scales_begin_above_a_dark_page(name):
    figure = go.Figure(go.Heatmap(z=[[0, 1]], colorscale=name))
    light = [contrast(color) for _, color in on_dark(figure).data[0].colorscale]
    assert light[0] >= 3
    assert all(after >= before - 0.05 for before, after in pairwise(light))


@pytest.mark.parametrize(
    "scale", ["PuOr", [[0, "rgba(0,0,0,0)"], [1, "#ffffff"]], [[0, "#000000"], [1, "#ffffff"]]]
)
def test_other_scales_stay_on_a_dark_page(scale):
    figure = go.Figure(go.Heatmap(z=[[0, 1]], colorscale=scale))
    assert on_dark(figure).data[0].colorscale == figure.data[0].colorscale

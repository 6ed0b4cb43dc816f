"""What every page owes its readers: help at its controls, words for its charts, colours to tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.lab.lessons import STEPS
from dashboard.shared import running
from dashboard.shared.charts import COLORS
from dashboard.shared.sidebar import Choices
from tests.dashboard.looking import PLAIN, open_screen, own_cache, showing
from uncletc import Fit
from uncletc.datasets import Dataset

PAGES = ["overview", "table", "covid", "ppi", "whatif", "drivers", "plan", "check", "methods"]
PAPERS = {"light": "#ffffff", "dark": "#171614"}  # of Streamlit's themes


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


@pytest.mark.parametrize("step", STEPS)
def test_every_step_of_the_lab_too(step):
    at = open_screen("lab", step=step)
    assert helpless(at) == []
    assert nameless(at) == []


def luminance(color: str) -> float:
    """Relative luminance of "#rrggbb" as WCAG 2.2 defines it."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return sum(share * value for share, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("paper", PAPERS.values(), ids=list(PAPERS))
@pytest.mark.parametrize("color", COLORS)
def test_lines_and_bars_stand_out_from_the_page(color, paper):
    low, high = sorted([luminance(color), luminance(paper)])
    assert (high + 0.05) / (low + 0.05) >= 3

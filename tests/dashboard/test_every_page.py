"""Every page opens: help at controls, words for charts, headings in order.

What all pages say stands in ``strings.json``, to be read in one sitting (``make strings``).
"""

import json
import os
import re
from itertools import pairwise
from pathlib import Path

import plotly.graph_objects as go
import pytest

from dashboard.lab.steps import STEPS
from dashboard.shared.charts.style import BLUE, on_dark
from dashboard.shared.fit_status import running
from dashboard.work.engine import Service
from dashboard.work.orders import FitOrder
from dashboard.work.results import SHIPPED
from tests.dashboard.looking import DARK, PLAIN, contrast, open_screen, parts, showing, texts
from uncletc import Fit

pytestmark = pytest.mark.usefixtures("cache_of_the_file")

OPENED = {
    "Home": ("home", {}),
    "COVID-19": ("covid", {"county": "24510"}),
    "COVID-19, as in the paper": ("covid", PLAIN),
    "Plant–pollinator": ("ppi", {}),
    "Your table": ("table", {}),
    "What if": ("whatif", {}),
    "What if, plants": ("whatif", {"data": "Plant–pollinator"}),
    "Drivers": ("drivers", {}),
    "Drivers, plants": ("drivers", {"data": "Plant–pollinator"}),
    "Model check": ("check", {}),
    "Model check, plants": ("check", {"data": "Plant–pollinator"}),
    "Methods": ("methods", {}),
    "Methods, these counts": ("methods", {"section": "These counts"}),
    **{f"Lab, {step.title}": ("lab", {"step": name}) for name, step in STEPS.items()},
    **{
        f"Lab, {STEPS[name].title}, answered": ("lab", {"step": name, "hide": "questions"})
        for name in ("entry", "tensor", "scale")
    },
}
STRINGS = Path(__file__).with_name("strings.json")
# Digests of contents, keys of controls, configurations of tables, names of files.
_NOT_READ = re.compile(r"(?=.*#)[#a-f]{6,}|[a-z]+(_[a-z]+)+|\{.*\}|Saves \S+")
_NO_ELEMENTS = {"Html", "Code", "BidiComponent", "ArrowDataFrame", "Arrow", "PlotlyChart"}
_NO_WORDS = {"id", "form_id", "url", "icon", "page", "page_script_hash", "color", "raw_values"}
_MOST_OPTIONS = 12  # of a list; longer ones are names of places


@pytest.fixture(scope="module")
def fits():
    """The default fits of both simulated data sets, by their shapes."""
    return {fit.shape: fit for fit in map(Fit.load, SHIPPED.glob("*.npz"))}


@pytest.fixture
def at(monkeypatch, covid_fit, ppi_fit, fits, name):
    """Open a page with the default fit and, as in the paper, a short one."""
    plain = {fit.shape: fit for fit in (covid_fit, ppi_fit)}

    def found(counts, settings):
        return (fits if settings.effects else plain).get(counts.shape)

    def shown(dataset, choices):
        fit = found(dataset.counts, choices.settings)
        return showing(fit)(dataset, choices)

    def lookup(_, order):
        return found(order.counts, order.settings) if isinstance(order, FitOrder) else None

    monkeypatch.setattr(running, "fit_or_stop", shown)
    monkeypatch.setattr(Service, "lookup", lookup)
    page, address = OPENED[name]
    return lambda: open_screen(page, **address)


@pytest.mark.parametrize("name", OPENED)
def test_is_drawn_and_says_what_was_read(at, name):
    page = at()
    controls = [part for part in parts(page._tree) if hasattr(part, "help") and hasattr(part, "id")]
    assert [control.label for control in controls if not control.help] == []
    drawn = [chart.proto for chart in page.get("plotly_chart")]
    assert [chart.spec[:80] for chart in drawn if not chart.alt] == []
    dark = [on_dark(go.Figure(json.loads(chart.spec))) for chart in drawn]
    assert [figure.data for figure in dark if BLUE in str([*figure.data])] == []
    levels = [int(part.tag[1]) for part in parts(page._tree) if hasattr(part, "tag")]
    assert levels[0] == 1
    assert all(1 < after <= before + 1 for before, after in pairwise(levels))
    compare_strings(name, strings(parts(page._tree)))


def strings(messages):
    """Return all that a page says, each once, sorted, its numbers as #."""
    found = set()
    for message in messages:
        found.update(text for _, text in texts(message, _left_out))
        if type(message).__name__ == "PlotlyChart":
            found.update([message.alt, *_titles(json.loads(message.spec)["layout"])])
    plain = (re.sub(r"\d[\d,.]*(?<=\d)", "#", " ".join(text.split())) for text in found)
    words = {text for text in plain if re.search("[a-z]{2}", text)}
    no_words = {text for text in words if _NOT_READ.fullmatch(text)}
    return sorted(words - no_words, key=str.lower)


def _left_out(element, field, number):
    return element in _NO_ELEMENTS or field in _NO_WORDS or number > _MOST_OPTIONS


def _titles(layout):
    """Titles of axes in the layout of a figure."""
    for name, value in layout.items() if isinstance(layout, dict) else ():
        if name == "title" and isinstance(value, dict) and "text" in value:
            yield value["text"]
        yield from _titles(value)


def compare_strings(page, found):
    """Compare what a page says with the file that a reviewer has read, or write it there.

    The file has each text once, with the pages that show it.
    """
    known = json.loads(STRINGS.read_text(encoding="utf-8")) if STRINGS.exists() else {}
    if os.environ.get("UPDATE_STRINGS"):
        order = list(OPENED)
        for text in {*known, *found}:
            others = {name for name in known.get(text, []) if name in order and name != page}
            known[text] = sorted(others | ({page} if text in found else set()), key=order.index)
        kept = sorted((text for text in known if known[text]), key=str.lower)
        lines = [f"{json.dumps(t, ensure_ascii=False)}: {json.dumps(known[t])}" for t in kept]
        STRINGS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    before = {text for text, pages in known.items() if page in pages}
    assert (sorted(set(found) - before), sorted(before - set(found))) == ([], []), (
        "read the change aloud, then run `make strings`"
    )


@pytest.mark.parametrize("name", ["Cividis", "Viridis"])
def test_rising_scales_begin_above_a_dark_page(name):
    figure = go.Figure(go.Heatmap(z=[[0, 1]], colorscale=name))
    light = [contrast(color, DARK) for _, color in on_dark(figure).data[0].colorscale]
    assert light[0] >= 3
    assert all(after >= before - 0.05 for before, after in pairwise(light))


@pytest.mark.parametrize(
    "scale", ["PuOr", [[0, "rgba(0,0,0,0)"], [1, "#ffffff"]], [[0, "#000000"], [1, "#ffffff"]]]
)
def test_other_scales_stay_on_a_dark_page(scale):
    figure = go.Figure(go.Heatmap(z=[[0, 1]], colorscale=scale))
    assert on_dark(figure).data[0].colorscale == figure.data[0].colorscale

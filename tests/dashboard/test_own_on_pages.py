"""A reader's own table on every page that has the choice; its hostile names are no Markdown."""

import re

import numpy as np
import pandas as pd
import pytest

from dashboard.check.view import fibres_of
from dashboard.shared.data_section import DATA
from dashboard.shared.own_table import NAME, PREFIX
from tests.dashboard.looking import (
    charts,
    ended,
    open_own,
    open_screen,
    parts,
    press,
    ran,
    read_own,
    texts,
    waiting,
    words,
)

pytestmark = pytest.mark.usefixtures("cache_of_the_file")

PICTURE = "![p](http://127.0.0.1:9/pixel.png)"
SITE, WEEK, WIND = f"{PICTURE}site", "[w](http://127.0.0.1:9/l)eek", f"**k**{PICTURE}"
SIZES = {SITE: 9, "species": 7, WEEK: 6, "observer": 2}
SHORT = {"own_rank": "2", "a_rank": "2", "b_rank": "1"}
SHORT |= {f"{side}_layers": "0" for side in ("own", "a", "b")}
_PLAIN = {"spec", "id", "form_id", "url", "code_text", "alt", "raw_value"}  # not Markdown
_PLAIN_ELEMENTS = {"Html", "Code", "Text", "BidiComponent", "PlotlyChart", "ArrowDataFrame"}
_PLAIN_WIDGETS = {"Selectbox", "MultiSelect", "Slider", "TextInput"}


def own(*modes, attributes=(WIND,)):
    """Counts of some of the modes, with an attribute that moves p."""
    rng = np.random.default_rng(1)
    sizes = [SIZES[mode] * (4 if len(modes) == 2 else 1) for mode in modes]
    at = [index.ravel() for index in np.meshgrid(*map(np.arange, sizes), indexing="ij")]
    wind = rng.random(at[0].size)
    rate = 8 * np.exp(sum(rng.normal(scale=0.5, size=n)[i] for n, i in zip(sizes, at, strict=True)))
    columns = {
        mode: index + 1 if mode == WEEK else [f"{mode} {i + 1}" for i in index]
        for mode, index in zip(modes, at, strict=True)
    }
    columns |= {"seen": rng.poisson(rate * (0.9 - 0.7 * wind)), WIND: wind.round(3)}
    return read_own(pd.DataFrame(columns), modes=modes, count="seen", attributes=attributes)


@pytest.fixture(scope="module")
def table():
    return own(*SIZES)


def fitted(at):
    """Wait for a fit, and for what the page makes of it."""
    return ended(at, lambda page: not waiting(page) and page.expander)


def plain(element, field, _):
    """Whether texts of a field are never read as Markdown."""
    options = element in _PLAIN_WIDGETS and field in {"options", "default", "raw_values", "value"}
    return options or field in _PLAIN or element in _PLAIN_ELEMENTS


def no_markup(at):
    """Check that no text of a page has links or pictures of the table outside of code spans."""
    found = [
        f"{where}: {text}"
        for message in parts(at._tree)
        for where, text in texts(message, plain)
        if "](http://127" in re.sub(r"(`+).+?\1", "", text, flags=re.DOTALL)
    ]
    assert not found, "\n".join(found)
    return at


@pytest.mark.parametrize("page", ["table", "whatif", "drivers", "check", "methods"])
def test_without_a_table_each_page_says_where_to_bring_one(page):
    at = open_screen(page, section="These counts", part="What was missed", data=NAME)
    assert "There is no table of yours yet" in words(at)
    assert "table" in [link.proto.page for link in at.get("page_link")]


def test_drivers(table):
    at = no_markup(fitted(open_own("drivers", table, **SHORT)))
    assert NAME in at.query_params["data"]  # so that a reload speaks of the table
    assert "p is **" in words(at)
    here = at.selectbox(key=f"{PREFIX}at-here")
    assert len(here.options) > 3
    no_markup(ran(here.set_value(here.options[3])))
    assert here.options[3] not in str(dict(at.query_params))


def test_model_check(table):
    at = no_markup(fitted(open_own("check", table, data=NAME, **SHORT)))
    assert "Held out:" in words(at)
    no_markup(ran(at.button_group(key=f"{PREFIX}at-by").set_value(WEEK)))
    held = at.button_group(key=f"{PREFIX}at-held")
    fitted(ran(held.set_value(fibres_of(table.dataset)[1])))
    assert "with all their counts" in words(at)


def test_what_if(table):
    at = no_markup(open_own("whatif", table, data=NAME, **SHORT))
    no_markup(fitted(press(at, "compare")))
    assert "rank correlation" in words(at)
    assert len(charts(at)) >= 3


def test_results_and_methods():
    table = own(SITE, WEEK)
    at = open_own("table", table, part="What was missed", **SHORT)
    at.session_state[DATA] = True
    no_markup(ended(at, lambda page: not waiting(page) and len(page.get("plotly_chart")) > 2))
    for name in (SITE, WEEK, f"{SITE} × {WEEK}"):
        no_markup(ran(at.button_group(key=f"{PREFIX}modes").set_value(name)))
    no_markup(open_own("methods", table, section="These counts", data=NAME))


def test_a_table_without_attributes_works_too():
    table = own(SITE, WEEK, attributes=())
    at = fitted(open_own("drivers", table, data=NAME, **SHORT))
    assert "p is the same everywhere" in words(at)
    fitted(open_own("check", table, data=NAME, **SHORT))
    at = press(open_own("whatif", table, data=NAME, **SHORT), "compare")
    assert re.search(r"p is the same in all .* under A and under B", words(fitted(at)))
    assert not charts(at)

"""Names in a reader's own table are shown as they are: no page reads them as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.data_section.section import DATA
from dashboard.shared.own_table import PREFIX, OwnTable
from tests.dashboard.looking import ended, open_own, own_cache, press, ran, read_own, waiting

PICTURE = "![p](http://127.0.0.1:9/pixel.png)"
SITE, WEEK, ATTRIBUTE = f"{PICTURE}site", "[w](http://127.0.0.1:9/l)eek", f"**k**{PICTURE}"
SHORT = {"own_rank": "1", "a_rank": "1", "b_rank": "2", "own_layers": "0", "a_layers": "0"}
_PLAIN = {"spec", "id", "form_id", "url", "code_text", "alt", "raw_value"}  # not Markdown
_PLAIN_ELEMENTS = {"Html", "Code", "Text", "BidiComponent", "PlotlyChart", "ArrowDataFrame"}
_PLAIN_OPTIONS = {"Selectbox", "MultiSelect", "Slider", "TextInput"}


@pytest.fixture(scope="module", autouse=True)
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of their own."""
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture(scope="module")
def table() -> OwnTable:
    rng = np.random.default_rng(0)
    site, week = np.indices((12, 8)).reshape(2, -1)
    wind = rng.random(len(site)).round(2)
    frame = pd.DataFrame(
        {
            SITE: [f"{PICTURE}{i}" for i in site],
            WEEK: week + 1,
            "seen": rng.poisson(9 * (1 - 0.7 * wind)),
            ATTRIBUTE: wind,
        }
    )
    return read_own(frame, modes=(SITE, WEEK), count="seen", attributes=(ATTRIBUTE,))


def strings(message: Any) -> Iterator[tuple[str, str]]:
    """Every text of a protocol buffer that may be read as Markdown, with the name of its field."""
    kind = type(message).__name__
    if kind in _PLAIN_ELEMENTS:
        return
    for field, value in message.ListFields():
        plain = field.name in _PLAIN or (
            kind in _PLAIN_OPTIONS and field.name in ("options", "default", "raw_values", "value")
        )
        for each in value if field.is_repeated else [value]:
            if isinstance(each, str) and not plain:
                yield f"{kind}.{field.name}", each
            elif hasattr(each, "ListFields"):
                yield from strings(each)


def messages(node: Any) -> Iterator[Any]:
    if hasattr(node, "proto") and node.proto is not None:
        yield node.proto
    for child in getattr(node, "children", {}).values():
        yield from messages(child)


def read_as_markdown(at: AppTest) -> list[str]:
    """Texts of a page with links or pictures of the table outside of code spans."""
    found = []
    for message in messages(at._tree):
        for where, text in strings(message):
            shown = re.sub(r"(`+).+?\1", "", text, flags=re.DOTALL)
            if "](http://127" in shown:
                found.append(f"{where}: {text}")
    return sorted(set(found))


def fitted(at: AppTest) -> AppTest:
    return ended(at, lambda page: not waiting(page) and page.expander)


def results(table: OwnTable) -> Iterator[AppTest]:
    at = open_own("table", table, part="What was missed", **SHORT)
    at.session_state[DATA] = True
    yield ended(at, lambda page: not waiting(page) and len(page.get("plotly_chart")) > 2)
    yield ran(at.button_group(key="view").set_value("pairs"))
    yield ran(at.button_group(key="view").set_value("places"))


def drivers(table: OwnTable) -> Iterator[AppTest]:
    yield fitted(open_own("drivers", table, data="Your table", **SHORT))


def check(table: OwnTable) -> Iterator[AppTest]:
    at = fitted(open_own("check", table, data="Your table", **SHORT))
    yield at
    yield ran(at.button_group(key=f"{PREFIX}at-by").set_value(WEEK))


def what_if(table: OwnTable) -> Iterator[AppTest]:
    at = open_own("whatif", table, data="Your table", **SHORT)
    yield at
    yield fitted(press(at, "compare"))


def methods(table: OwnTable) -> Iterator[AppTest]:
    yield open_own("methods", table, section="These counts", data="Your table")


@pytest.mark.parametrize("page", [results, drivers, check, what_if, methods])
def test_no_page_reads_names_of_a_table_as_markdown(page, table):
    found = [text for at in page(table) for text in read_as_markdown(at)]
    assert not found, "\n".join(found)

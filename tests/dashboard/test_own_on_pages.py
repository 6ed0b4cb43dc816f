"""A reader's own table on every page that has the choice: two, three and four modes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.own_table import NAME, PREFIX, OwnTable
from tests.dashboard.looking import (
    charts,
    ended,
    go,
    open_own,
    open_screen,
    own_cache,
    press,
    ran,
    read_own,
    waiting,
    words,
)

PAGES = ["whatif", "drivers", "check", "methods"]
SIZES = {"site": 9, "species": 7, "week": 6, "observer": 2}
SHORT = {"own_rank": "2", "a_rank": "2", "b_rank": "1", "own_layers": "0", "a_layers": "0"}


@pytest.fixture(scope="module", autouse=True)
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of their own."""
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


def frame(*modes: str, seed: int = 1) -> pd.DataFrame:
    """Counts of some of the modes, with an attribute that moves p."""
    rng = np.random.default_rng(seed)
    sizes = [SIZES[mode] * (8 if len(modes) == 2 else 1) for mode in modes]
    at = [index.ravel() for index in np.meshgrid(*map(np.arange, sizes), indexing="ij")]
    wind = rng.random(at[0].size)
    rate = 8 * np.exp(sum(rng.normal(scale=0.5, size=n)[i] for n, i in zip(sizes, at, strict=True)))
    table = pd.DataFrame(
        {
            mode: index + 1 if mode == "week" else [f"{mode} {i + 1}" for i in index]
            for mode, index in zip(modes, at, strict=True)
        }
    )
    return table.assign(count=rng.poisson(rate * (0.9 - 0.7 * wind)), wind=wind.round(3))


def own(*modes: str, attributes: tuple[str, ...] = ("wind",)) -> OwnTable:
    return read_own(frame(*modes), modes=modes, count="count", attributes=attributes)


TABLES = {
    "two modes": ("site", "week"),
    "three modes": ("site", "species", "week"),
    "four modes": ("site", "species", "observer", "week"),
}


@pytest.fixture(scope="module", params=TABLES.values(), ids=list(TABLES))
def table(request: pytest.FixtureRequest) -> OwnTable:
    return own(*request.param)


@pytest.mark.parametrize("page", PAGES)
def test_without_a_table_each_page_says_where_to_bring_one(page):
    at = open_screen(page, section="These counts", data=NAME)
    assert "There is no table of yours yet" in words(at)
    assert "table" in [link.proto.page for link in at.get("page_link")]


def test_drivers(table):
    at = fitted(open_own("drivers", table, data=NAME, **SHORT))
    assert "p is **" in words(at)
    here = at.selectbox(key=f"{PREFIX}at-here")
    assert len(here.options) > 3
    ran(here.set_value(here.options[3]))
    assert here.options[3] not in str(dict(at.query_params))
    assert "tables.build" in "\n".join(block.value for block in at.code)


def test_model_check(table):
    at = fitted(open_own("check", table, data=NAME, **SHORT))
    assert "Held out:" in words(at)
    by = at.button_group(key=f"{PREFIX}at-by")
    for option in by.options:
        ran(at.button_group(key=f"{PREFIX}at-by").set_value(option))
    held = at.button_group(key=f"{PREFIX}at-held")
    fitted(ran(held.set_value(held.options[1])))
    assert "with all their counts" in words(at)


def test_what_if(table):
    at = open_own("whatif", table, data=NAME, **SHORT)
    press(at, "compare")
    fitted(at)
    assert "rank correlation" in words(at)
    assert len(charts(at)) >= 3


def test_a_table_without_attributes_works_too():
    table = own("site", "week", attributes=())
    assert "p is the same everywhere" in words(
        fitted(open_own("drivers", table, data=NAME, **SHORT))
    )
    fitted(open_own("check", table, data=NAME, **SHORT))
    at = press(open_own("whatif", table, data=NAME, **SHORT), "compare")
    assert "the same detection" in words(fitted(at))


def test_the_choice_goes_along_to_the_next_page():
    at = open_own("whatif", own("site", "week"), data=NAME)
    at.query_params.clear()
    at = go(at, "drivers")
    assert at.button_group(key="data").value == "own"
    ran(at.button_group(key="data").set_value("ppi"))
    assert at.button_group(key="data").value == "ppi"
    assert not at.session_state[f"{PREFIX}chosen"]


def fitted(at: AppTest) -> AppTest:
    """Wait for a fit, and for what the page makes of it."""
    return ended(at, lambda page: not waiting(page) and page.expander)

"""What was missed in tables of two and three modes, and with places."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.cache import MADE
from dashboard.shared.own_table import PREFIX
from dashboard.shared.sidebar.model import CUSTOM, PAPER
from tests.dashboard.looking import (
    charts,
    ended,
    go,
    in_address,
    open_own,
    press,
    ran,
    read_own,
    waiting,
    words,
)
from uncletc.tables import RawTable, build

pytestmark = pytest.mark.usefixtures("cache_of_the_file")

SHORT = {"own_rank": "1", "own_layers": "0"}


def open_results(table, **address):
    return open_own("table", table, part="What was missed", **SHORT, **address)


def opened(table):
    at = open_results(table)
    return ended(at, lambda page: "Still fitting" not in words(page) and len(charts(page)) > 2)


def test_pairs_come_first_where_there_are_three_modes():
    at = opened(read_own())
    assert "Over 120 pairs of site and species" in words(at)
    assert at.button_group(key=f"{PREFIX}modes").value == "site × species"
    assert len(charts(at)) == 4  # matrix, highest, lowest, over weeks
    for quantity in ("p", "λ", "counts"):
        ran(at.button_group(key="quantity").set_value(quantity))
        assert len(charts(at)) == 4
    ran(at.button_group(key=f"{PREFIX}modes").set_value("week"))
    assert "Over 12 levels of week" in words(at)
    assert in_address(at, f"{PREFIX}modes") is None
    assert "mine.csv" in "\n".join(block.value for block in at.code)
    key = f"{PREFIX}plan-survey"  # once the fit has intervals
    at.session_state[f"{PREFIX}plan"] = True
    ended(at, lambda page: any(each.key == key for each in page.number_input))
    assert "total of λ" not in set(at.dataframe[-1].value["interval of"])
    ran(at.number_input(key=key).set_value(10))
    assert "scale that all p share" in set(at.dataframe[-1].value["interval of"])


def test_a_problem_that_was_left_is_repeated_above_all_numbers():
    rows = [(f"s{i}", f"w{j}", 5 + i + j) for i in range(6) for j in range(5)]
    frame = pd.DataFrame(rows, columns=["site", "week", "count"])
    total = frame.groupby("week", as_index=False)["count"].sum().assign(site="Total")
    at = opened(read_own(pd.concat([frame, total]), modes=("site", "week")))
    problem = "Problem:** site 'Total' is the sum of other levels"
    assert problem in at.warning[0].value
    for screen in ("drivers", "whatif", "check"):
        assert problem in go(at, screen).warning[0].value
    assert not opened(read_own(frame, modes=("site", "week"))).warning


def test_the_first_rows_are_of_modes_along_which_p_differs():
    rows = [
        (f"s{i}", f"b{j}", f"w{k}", 5 + i + j + k, float(i * i)) for i, j, k in np.ndindex(6, 4, 3)
    ]
    frame = pd.DataFrame(rows, columns=["site", "鸟", "时间", "count", "size"])
    table = read_own(frame, modes=("site", "鸟", "时间"), attributes=("size",))
    at = open_results(table, own_model=PAPER)
    ended(at, lambda page: "levels of site" in words(page))
    by = at.button_group(key=f"{PREFIX}modes")
    assert by.value == by.options[0] == "site"
    assert len(by.options) == 6
    ended(at, lambda page: "mostly by site" in words(page))  # p rests on that
    assert "may come out too small" in words(at)  # without random effects
    ran(at.selectbox(key="own_model").set_value(CUSTOM))
    ended(at, lambda page: not waiting(page))
    assert "may come out too small" not in words(at)
    shown = {each.label: each.proto.query_param_key for each in at.checkbox}
    assert {"site", "鸟", "时间", "site × 鸟"} <= set(shown)
    assert not any(shown.values())  # in no address


def visits():
    """Counts of the same nests at three visits to each of eight sites."""
    rows = [(f"s{i}", k, n) for i in range(8) for k, n in enumerate(((i + 3), (i + 2), (i + 4)))]
    return pd.DataFrame(rows, columns=["site", "visit", "count"])


@pytest.mark.slow
def test_closed_visits_state_the_scale():
    closed, at = f"{MADE}-closed", opened(read_own(visits(), modes=("site", "visit")))
    assert "Does each visit count the same animals?" in at.info[0].value
    assert "Set by repeat visits" not in at.selectbox(key="scale").options
    press(at, "own_answer_same")
    assert at.selectbox(key=closed).value == "visit"
    ended(at, lambda page: not waiting(page))
    assert "Set by repeat visits" in at.selectbox(key="scale").options
    assert "closed visit" in words(at)
    assert in_address(at, closed) is None


def test_where_p_is_the_same_nothing_is_above_or_below_its_median():
    rows = [(f"t{i}", f"{25 * k}-{25 * k + 25}", (9, 6, 2)[k] + i % 3) for i, k in np.ndindex(6, 3)]
    frame = pd.DataFrame(rows, columns=["transect", "band", "count"])
    table = read_own(frame, modes=("transect", "band"))
    columns = replace(table.columns, protocol="line transect")
    dataset = build(RawTable.of(frame, "mine.csv"), columns)
    at = open_results(replace(table, dataset=dataset, columns=columns), quantity="p")
    ended(at, lambda page: "above or below" in words(page) and not waiting(page))
    ran(at.button_group(key=f"{PREFIX}modes").set_value("transect"))
    assert "at each transect." in words(at)
    assert "above or below" not in words(at)

"""The Lab's comparison of straight lines, curves and a network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl

import pandas as pd
import pytest

from dashboard.lab.lessons import LESSONS, QUESTIONS
from dashboard.lab.view import Setup
from dashboard.lab.ways import CURVES, LINES, NETWORK, ways_of, ways_table, ways_words
from dashboard.shared.sidebar.model import settings_of
from tests.dashboard.looking import ended, open_screen, own_cache, words


@pytest.fixture
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


SETUP = Setup(detection="interaction")


def errors(lines: float, curves: float, network: float) -> pd.DataFrame:
    results = dict(zip((LINES, CURVES, NETWORK), (lines, curves, network), strict=True))
    return ways_table(
        {way: {"curve": [[9, {"rate": 0.1, "detection": p}]]} for way, p in results.items()}
    )


@pytest.mark.parametrize("layers", [0, 1, 3])
def test_three_fits_of_the_same_counts(layers):
    orders = ways_of(SETUP, settings_of(layers=layers, rank=2))
    assert list(orders) == [LINES, CURVES, NETWORK]
    assert {str(order.simulation) for order in orders.values()} == {str(SETUP.arguments)}
    assert [len(order.settings.hidden) for order in orders.values()] == [
        0,
        layers or 3,
        layers or 3,
    ]
    assert [order.settings.solver.network for order in orders.values()] == [True, False, True]
    assert {order.settings.rank for order in orders.values()} == {2}


def test_table_has_the_errors_at_the_end_of_each_fit():
    table = ways_table(
        {LINES: {"curve": [[1, {"rate": 9, "detection": 8}], [5, {"rate": 2, "detection": 1}]]}}
    )
    assert table.to_dict("records") == [{"g": LINES, "rate": 2, "detection": 1}]


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (errors(0.6, 0.6, 0.1), "Only the network"),
        (errors(0.6, 0.1, 0.1), "Curves are enough"),
        (errors(0.1, 0.1, 0.1), "straight lines"),
        (errors(0.6, 0.1, 0.11), "hardly helps"),
    ],
)
def test_words_say_what_is_needed(table, says):
    assert says in ways_words(table)


def test_a_page_makes_the_three_fits_on_request(cache):  # noqa: ARG001, a process of its own
    right = QUESTIONS["fit"].right
    address = {"lab_layers": "0", "lab_gamma_omega": "0.1", "lab_events": "5"}
    at = open_screen("lab", step="fit", lab_guess_fit=right, **address)
    at.button(key="lab-fit").click().run()
    ended(at, lambda page: page.metric)
    assert not at.table
    at.button(key="lab-ways").click().run()
    ended(at, lambda page: page.table and len(page.table[0].value) == 3)
    table = at.table[0].value
    assert list(table.index) == [LINES, CURVES, NETWORK]
    assert table.loc[LINES, "error of p"] == at.metric[1].value
    assert re.search(r"no network was kept|Only the network|hardly helps", words(at))


@pytest.mark.slow
def test_the_size_of_the_network_changes_the_answer_where_one_is_needed(cache):  # noqa: ARG001
    lesson = dict(parse_qsl(LESSONS[2].query)) | {"lab_layers": "1"}
    at = open_screen("lab", **lesson, lab_guess_fit=QUESTIONS["fit"].right)
    found = []
    for layers in (1, 2):
        at.slider(key="lab_layers").set_value(layers).run()
        at.button(key="lab-fit").click().run()
        ended(at, lambda page: page.metric and "Changed since" not in words(page))
        assert f"network of {layers} × 20 units was kept" in words(at)
        found.append([float(metric.value) for metric in at.metric])
    assert found[0] != found[1]
    assert max(map(max, found)) < 0.15

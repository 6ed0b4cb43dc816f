"""Figures that are drawn once and kept by all that they are made of."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import streamlit as st

from dashboard.shared import figure_cache as kept
from dashboard.shared.figure_cache import Kept, Ready, contents, drawn
from dashboard.shared.own_table import own

DRAWN = []


def picture(table: pd.DataFrame, *, title: str = "p") -> go.Figure:
    DRAWN.append(title)
    return go.Figure(go.Bar(x=table["x"], y=table["y"]), {"title": {"text": title}})


def table(*values: float) -> pd.DataFrame:
    return pd.DataFrame({"x": list("abcdef")[: len(values)], "y": values})


@dataclass
class View:
    table: pd.DataFrame
    names: tuple[str, ...]


@pytest.fixture(autouse=True)
def _empty(monkeypatch):
    DRAWN.clear()
    monkeypatch.setattr(kept, "_shared", Kept(100_000))
    monkeypatch.setattr(st, "session_state", {})


class TestDrawn:
    def test_is_what_the_function_draws_with_gaps(self):
        shown = drawn(partial(picture, table(1, np.nan)))
        assert shown.to_dict()["data"][0]["x"] == ["a", "b"]
        assert shown.to_dict()["layout"]["title"]["text"] == "p"

    def test_the_same_numbers_are_drawn_once(self):
        first, second = (drawn(partial(picture, table(1, 2))) for _ in range(2))
        assert DRAWN == ["p"]
        assert second is first

    @pytest.mark.parametrize(
        "other", [partial(picture, table(1, 3)), partial(picture, table(1, 2), title="λ")]
    )
    def test_other_numbers_or_words_are_drawn_anew(self, other):
        before = drawn(partial(picture, table(1, 2)))
        assert drawn(other).to_dict() != before.to_dict()

    def test_light_and_dark_are_two_figures(self):
        light = drawn(partial(picture, table(1, 2)))
        assert drawn(partial(picture, table(1, 2)), dark=True) is not light

    def test_of_an_own_table_the_session_alone_keeps_it(self):
        own.look_at_own(True)
        first = drawn(partial(picture, table(1, 2)))
        assert len(kept._shared) == 0
        assert drawn(partial(picture, table(1, 2))) is first
        st.session_state.clear()  # another session
        own.look_at_own(True)
        assert drawn(partial(picture, table(1, 2))) is not first

    def test_what_cannot_be_read_is_drawn_each_time(self):
        thing = partial(picture, table(1, 2), title=object())
        with pytest.raises(ValueError, match="text"):  # Plotly's: it was called
            drawn(thing)

    def test_streamlit_takes_it_as_it_is(self):
        from plotly.tools import return_figure_from_figure_or_data

        shown = drawn(partial(picture, table(1, 2)))
        assert return_figure_from_figure_or_data(shown, validate_figure=True) is shown.to_dict()


def test_only_so_much_is_kept():
    figures = [Ready(picture(table(k))) for k in range(4)]
    box = Kept(2 * figures[0].size + 10)
    for k, figure in enumerate(figures):
        box.put(bytes([k]), figure)
    assert len(box) == 2
    assert box.get(bytes([0])) is None
    assert box.get(bytes([3])) is figures[3]
    box.put(bytes([3]), figures[3])
    assert len(box) == 2


class TestContents:
    @pytest.mark.parametrize(
        "make",
        [
            lambda: None,
            lambda: {"a": [1, 2.5, "x"], "b": (True, b"y")},
            lambda: np.arange(6.0).reshape(2, 3),
            lambda: np.array(["a", None], dtype=object),
            lambda: table(1, np.nan),
            lambda: pd.Series(["a", None, "b"], name="s"),
            lambda: pd.Series(pd.Categorical(["a", "b"])),
            lambda: pd.to_datetime(["2021-01-01", "2021-01-02"]),
            lambda: View(table(1, 2), ("a", "b")),
            lambda: np.float64(2.5),
        ],
    )
    def test_alike_for_equals(self, make):
        assert contents(make()) == contents(make())

    def test_different_for_what_differs(self):
        values = [
            1,
            1.0,
            True,
            "1",
            b"1",
            [1],
            (1,),
            ["1"],
            [[1], 2],
            [[1, 2]],
            {"a": 1},
            ["ab"],
            ["a", "b"],
            np.array([1]),
            np.array([1.0]),
            np.array([[1]]),
            table(1, 2),
            table(1, 2).rename(columns={"y": "z"}),
            table(1, 2).set_index("x"),
            table(1, 2)["y"],
            View(table(1), ("a",)),
            View(table(1), ("b",)),
        ]
        assert len({contents(value) for value in values}) == len(values)

    def test_something_else_is_named(self):
        with pytest.raises(TypeError, match=r"numbers, text and tables, got .*object"):
            contents({"a": object()})

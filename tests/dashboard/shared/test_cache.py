"""What is made of counts and fits is made once for all that decides it, and forgotten with them."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import streamlit as st
from plotly.tools import return_figure_from_figure_or_data

from dashboard.check.view import seen_dataset
from dashboard.shared import cache
from dashboard.shared.cache import FAMILY, cached, cached_for_counts, drawn, with_model
from dashboard.shared.sidebar.model import PAPER, model_of
from uncletc import StopReason

CALLS = []


@dataclass
class View:
    table: pd.DataFrame
    names: tuple[str, ...]


def build(dataset, *arguments):
    CALLS.append((dataset.name, *arguments))
    return object()


def build_again(dataset, *arguments):
    return build(dataset, *arguments)


def picture(table, *, title="p"):
    CALLS.append(title)
    return go.Figure(go.Bar(x=table["x"], y=table["y"]), {"title": {"text": str(title)}})


def table(*values):
    return pd.DataFrame({"x": list("abcdef")[: len(values)], "y": values})


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})
    CALLS.clear()
    cache._VALUES.made.clear()
    cache._FIGURES.made.clear()


class TestValues:
    def test_the_same_fit_and_choice_is_made_once(self, ppi_twin, ppi_fit):
        first = cached(build, ppi_twin, ppi_fit, 2020)
        assert cached(build, ppi_twin, ppi_fit, 2020) is first
        assert cached_for_counts(build, ppi_twin) is not first
        assert len(CALLS) == 2

    def test_another_builder_choice_or_state_of_the_fit_is_another(self, ppi_twin, ppi_fit):
        so_far = replace(ppi_fit, stop=StopReason.MAX_ITER)
        assert so_far.stop is not ppi_fit.stop
        asked = [(build, ppi_fit, 1), (build, ppi_fit, 2), (build, so_far, 1)]
        asked += [(build_again, ppi_fit, 1)]
        views = [cached(how, ppi_twin, fit, choice) for how, fit, choice in asked]
        assert len(set(map(id, views))) == len(CALLS) == 4

    def test_a_builder_knows_nothing_but_its_arguments(self, ppi_twin, ppi_fit):
        day = 3
        with pytest.raises(ValueError, match="must know nothing but its arguments"):
            cached(lambda *_: day, ppi_twin, ppi_fit)

    def test_of_an_own_table_the_session_alone_keeps_the_latest(self, ppi_twin):
        own = replace(ppi_twin, name="own")
        first = cached_for_counts(build, own, 0)
        assert cached_for_counts(build, own, 0) is first
        for k in range(1, cache._MOST_OWN + 1):
            cached_for_counts(build, own, k)
        assert cached_for_counts(build, own, 0) is not first
        st.session_state.clear()  # another session
        before = len(CALLS)
        cached_for_counts(build, own, 1)
        assert len(CALLS) == before + 1


class TestFigures:
    def test_is_what_the_function_draws_and_drawn_once(self):
        first, second = (drawn(partial(picture, table(1, np.nan))) for _ in range(2))
        assert second is first
        assert CALLS == ["p"]
        assert first.to_dict()["data"][0]["x"] == ["a", "b"]
        assert return_figure_from_figure_or_data(first, validate_figure=True) is first.to_dict()

    def test_whatever_differs_is_another_figure(self):
        titles = [1, 1.0, True, "1", (1,), [1], {"a": 1}, np.array([1]), np.array([1.0])]
        titles += [table(1), table(2), table(1).set_index("x"), View(table(1), ("a",))]
        titles += [View(table(1), ("b",))]
        for title in titles:
            drawn(partial(picture, table(1, 2), title=title))
        drawn(partial(picture, table(1, 3), title=1))
        drawn(partial(picture, table(1, 2), title=1), dark=True)
        assert len(CALLS) == len(titles) + 2

    def test_of_an_own_table_the_session_alone_keeps_it(self):
        st.session_state[FAMILY] = "own"
        first = drawn(partial(picture, table(1, 2)))
        assert drawn(partial(picture, table(1, 2))) is first
        st.session_state.clear()  # another session
        assert drawn(partial(picture, table(1, 2))) is not first


def test_a_model_is_applied_once(ppi_twin):
    model = replace(model_of(ppi_twin, PAPER), by=("plant",))
    assert with_model(ppi_twin, model) is with_model(ppi_twin, replace(model))
    assert with_model(ppi_twin, model_of(ppi_twin, PAPER)) is not with_model(ppi_twin, model)


def test_who_asks_meanwhile_waits():
    begun, go = Event(), Event()

    def slowly():
        begun.set()
        go.wait()
        return object()

    kept = cache._Kept(2)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(kept.find, "a", slowly)
        begun.wait()
        second = threads.submit(kept.find, "a", object)
        assert kept.find("b", lambda: 1) == 1  # another value does not wait
        go.set()
        assert first.result() is second.result()


def test_nothing_is_left_of_forgotten_counts(ppi_twin, small):
    own = replace(ppi_twin, name="own", counts=small.subset(np.arange(30)))
    cached_for_counts(seen_dataset, own, "entry")
    with_model(own, model_of(own, PAPER))
    gone = weakref.ref(own.counts)
    own = None
    gc.collect()
    assert gone() is not None
    st.session_state.clear()  # as `forget` does
    gc.collect()
    assert gone() is None

"""Closed visits of a reader's own table: what is asked, and what does not go with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.cache import MADE
from tests.dashboard.looking import in_address, ran, read_own, words
from uncletc import Look
from uncletc.datasets import Dataset

KEY = f"{MADE}-closed"


def page() -> None:
    import streamlit as st

    from dashboard.shared.sidebar.controls import choose_closed, reset_closed

    effects = st.session_state.get("effects", ())
    st.session_state["chosen"] = choose_closed(st.session_state["dataset"], effects=effects)
    st.button("Reset", on_click=reset_closed, key="reset")


def asked(dataset: Dataset | None, effects: tuple[str, ...] = ()) -> AppTest:
    at = AppTest.from_function(page)
    at.session_state["dataset"], at.session_state["effects"] = dataset, effects
    return ran(at)


@pytest.fixture(scope="module")
def nests() -> Dataset:
    sites, visits = np.indices((4, 3)).reshape(2, -1)
    frame = pd.DataFrame({"site": sites, "visit": visits, "count": sites + 1})
    return read_own(frame, modes=("site", "visit")).dataset


def test_a_mode_is_chosen_and_put_back(nests):
    at = asked(nests)
    assert at.session_state["chosen"] == ()
    assert at.selectbox(key=KEY).value == ""  # "no", not an empty box
    ran(at.selectbox(key=KEY).set_value("visit"))
    assert at.session_state["chosen"] == ("visit",)
    assert "λ is the same at each" in words(at)
    assert in_address(at, KEY) is None
    ran(at.button(key="reset").click())
    assert at.session_state["chosen"] == ()


def test_nothing_is_asked_of_counts_that_come_anew(ppi_twin):
    assert not asked(ppi_twin).selectbox
    assert not asked(None).selectbox


@pytest.mark.parametrize("with_looks", [True, False])
def test_what_does_not_go_with_it_is_said_in_a_sentence(nests, with_looks):
    y = nests.counts
    looks = [Look("look 2", y.indices, y.counts)] if with_looks else []
    data = replace(nests, counts=y.with_looks(*looks))
    at = asked(data, () if with_looks else ("site",))
    ran(at.selectbox(key=KEY).set_value("visit"))
    assert at.session_state["chosen"] == ()
    said = "rows kept as several looks" if with_looks else "effects of places and calendars"
    assert f"Closed visits do not go with {said}" in words(at)

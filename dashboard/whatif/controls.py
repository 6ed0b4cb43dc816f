"""Controls of the What-if page: both settings, and the buttons below them."""

from __future__ import annotations

import re
from typing import Literal

import streamlit as st

from dashboard.shared.charts.places import is_own
from dashboard.shared.own_table import PREFIX
from dashboard.shared.sidebar.choice import PAPER, RECOMMENDED, Model
from dashboard.shared.sidebar.model import ALWAYS, NEVER, Family
from dashboard.shared.sidebar.sidebar import choose_model, reset_controls
from dashboard.shared.text.words import escape_sentence
from dashboard.whatif.runs import Run
from uncletc.datasets import Dataset

Side = Literal["a", "b"]
FIRST: dict[Side, Model] = {"a": RECOMMENDED, "b": PAPER}
_OF_A = re.compile(f"({PREFIX}|)a([_-].*)")  # keys of widgets


def choose_run(side: Side, family: Family, dataset: Dataset, closed: tuple[str, ...]) -> Run:
    """Draw the controls of one setting and return what they say.

    Parameters
    ----------
    side : {"a", "b"}
    family : {"covid", "ppi", "own"}
    dataset : Dataset
    closed : tuple of str
        The mode along which visits are closed.
    """
    roles, settings = choose_model(
        dataset, side, family, first=FIRST[side], closed=closed, folded=True
    )
    return Run(settings=settings, roles=roles)


def as_markdown(dataset: Dataset, words: str) -> str:
    """Return a sentence for Markdown; words of a reader's own table in it are no markup."""
    return escape_sentence(words) if is_own(dataset) else words


def back_to_defaults() -> None:
    """Put both sides back to the defaults of the data set; for callbacks."""
    for side, first in FIRST.items():
        reset_controls(side, st.session_state["data"], first)


def _copy() -> None:
    """Put the values of the controls of A into those of B; for callbacks."""
    for key, value in dict(st.session_state).items():
        if found := _OF_A.fullmatch(str(key)):
            st.session_state[f"{found[1]}b{found[2]}"] = value


def _network_alone() -> None:
    """Make A and B differ in the network alone; for callbacks."""
    _copy()
    for side, trained in (("a", NEVER), ("b", ALWAYS)):
        for name in ("network", "network_always"):
            st.session_state[f"{side}_{name}"] = trained


def compare_buttons(*, same: bool) -> bool:
    """Draw the buttons below both settings, and return whether to compare."""
    with st.container(horizontal=True):
        pressed = st.button(
            "Compare",
            type="primary",
            key="compare",
            disabled=same,
            help="Fits what is not fitted yet: each setting once to all counts and once "
            "without a tenth of them, to see which predicts that tenth better.",
        )
        st.button(
            "Copy A to B",
            key="copy",
            on_click=_copy,
            help="Make B the same as A, to change one thing only.",
        )
        st.button(
            "Without and with a network",
            key="network-alone",
            on_click=_network_alone,
            help="Make B the same as A; A never trains a network, and B always does.",
        )
    return pressed

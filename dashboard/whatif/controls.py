"""Controls of the What-if page: both settings, and the buttons below them."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from dashboard.shared.charts.places import is_own
from dashboard.shared.sidebar.choice import PAPER, RECOMMENDED
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.sidebar import choose_model, set_controls
from dashboard.shared.text.words import escape_sentence
from dashboard.whatif.runs import Run
from uncletc.datasets import Dataset

Side = Literal["a", "b"]


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
    first = PAPER if side == "b" else RECOMMENDED
    roles, settings = choose_model(dataset, side, family, first=first, closed=closed, folded=True)
    return Run(settings=settings, roles=roles)


def as_markdown(dataset: Dataset, words: str) -> str:
    """Return a sentence for Markdown; words of a reader's own table in it are no markup."""
    return escape_sentence(words) if is_own(dataset) else words


def back_to_defaults() -> None:
    """Put both sides back to the defaults of the data set; for callbacks."""
    for side in ("a", "b"):
        set_controls(side, st.session_state["data"], "", None)


def _copy(name: str, run: Run) -> None:
    """Put a setting into the controls of B; for callbacks, before widgets are drawn."""
    set_controls("b", st.session_state["data"], name, run.roles, run.settings)


def compare_buttons(name: str, a: Run, *, same: bool) -> bool:
    """Draw the buttons below both settings of a data set, and return whether to compare."""
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
            args=(name, a),
            help="Make B the same as A, to change one thing only.",
        )
    return pressed

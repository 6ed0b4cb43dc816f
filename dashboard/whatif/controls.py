"""What the What-if page asks for: both settings, the buttons below them, and their fits."""

import re

import streamlit as st

from dashboard.shared.cache import cached_for_counts, state_key, with_model
from dashboard.shared.charts.places import is_own
from dashboard.shared.fit_status.service import batch_under_way, say_changed, service
from dashboard.shared.own_table import PREFIX
from dashboard.shared.sidebar.model import PAPER, RECOMMENDED, Model
from dashboard.shared.sidebar.sidebar import reset_controls
from dashboard.shared.text.words import escape_sentence
from dashboard.whatif.view import Run, without_held_out
from dashboard.work.orders import FitOrder
from uncletc import Fit
from uncletc.datasets import Dataset

FIRST: dict[str, Model] = {"A": RECOMMENDED, "B": PAPER}  # by side
_OF_A = re.compile(f"({PREFIX}|)a([_-].*)")  # keys of widgets


def as_markdown(dataset: Dataset, words: str) -> str:
    """Return a sentence for Markdown; words of a reader's own table in it are no markup."""
    return escape_sentence(words) if is_own(dataset) else words


def back_to_defaults() -> None:
    """Put both sides back to the defaults of the data set; for callbacks."""
    for side, first in FIRST.items():
        reset_controls(side.lower(), st.session_state["data"], first)


def _copy() -> None:
    """Put the values of the controls of A into those of B; for callbacks."""
    for key, value in dict(st.session_state).items():
        if found := _OF_A.fullmatch(str(key)):
            st.session_state[f"{found[1]}b{found[2]}"] = value


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
    return pressed


def order(dataset: Dataset, run: Run, *, held_out: bool = False) -> FitOrder:
    """Return the fit of a setting, or its second fit without the held-out entries."""
    given = with_model(dataset, run.roles)
    if held_out:
        given = cached_for_counts(without_held_out, given)
    return FitOrder(given.counts, run.settings)


def fits(dataset: Dataset, run: Run) -> tuple[Fit | None, Fit | None]:
    """Return the fit of a setting and its second one, each None where it has not finished."""
    first, second = (order(dataset, run, held_out=held) for held in (False, True))
    return service().lookup(first), service().lookup(second)


def pair_to_show(dataset: Dataset, a: Run, b: Run, *, pressed: bool) -> tuple[Run, Run] | None:
    """Return the settings whose fits can be shown, with progress or a note drawn above.

    Those requested once they have finished, until then those shown before; None without any.
    """
    both = (order(dataset, run, held_out=held) for held in (False, True) for run in (a, b))
    asked = list(dict.fromkeys(both))  # the fits to all counts first
    shown = state_key(dataset, "whatif-shown")
    before: tuple[Run, Run] | None = st.session_state.get(shown)
    if before is not None and None in (fits(dataset, run)[0] for run in before):
        before = None  # no longer in memory
    same = order(dataset, a) == order(dataset, b)
    # One box, empty or not: what follows keeps its place on the page, and so its state. A key
    # pressed on a control that moves as the progress goes would be lost.
    with st.container(key="compare-status"):
        words = "**Fitting**: {done} of {all} fits finished"
        under_way = not same and batch_under_way("compare", asked, pressed=pressed, words=words)
        if not same and all(fits(dataset, run)[0] is not None for run in (a, b)):
            st.session_state[shown] = (a, b)
            return a, b
        if under_way and before is not None:
            st.caption("Below: the previous comparison, until this one has finished.")
        elif before is not None:
            shown_now = " against ".join(f"*{as_markdown(dataset, run.words)}*" for run in before)
            say_changed(shown_now)
    return before

"""Fits of the What-if page: those shown, those under way, and those of a sweep."""

from __future__ import annotations

import streamlit as st

from dashboard.shared.fit_status.service import batch_under_way, say_changed, session
from dashboard.shared.own_table import state_key
from dashboard.whatif import runs
from dashboard.whatif.controls import as_markdown
from dashboard.whatif.runs import Run
from uncletc import CountTensor, Fit
from uncletc.datasets import Dataset


def fits(counts: CountTensor, run: Run, part: str = "compare") -> tuple[Fit | None, Fit | None]:
    """Return the fit of a setting and its second one, each None where it has not finished."""
    first, second = (runs.order(counts, run, held_out=held) for held in (False, True))
    return session(part).lookup(first), session(part).lookup(second)


def pair_to_show(dataset: Dataset, a: Run, b: Run, *, pressed: bool) -> tuple[Run, Run] | None:
    """Return the settings whose fits can be shown, with progress or a note drawn above.

    Those requested once they have finished, until then those shown before; None without any.
    """
    counts = dataset.counts
    orders = runs.orders(counts, (a, b))
    shown = state_key(dataset, "whatif-shown")
    before: tuple[Run, Run] | None = st.session_state.get(shown)
    if len(orders) == 2:  # the same fit twice
        return before
    # One box, empty or not: what follows keeps its place on the page, and so its state. A key
    # pressed on a control that moves as the progress goes would be lost.
    with st.container(key="compare-status"):
        under_way = batch_under_way(
            "compare",
            (dataset.name, a, b),
            orders,
            pressed=pressed,
            words="**Fitting**: {done} of {all} fits finished",
        )
        if all(fits(counts, run)[0] is not None for run in (a, b)):
            st.session_state[shown] = (a, b)
            if not under_way and session("compare").missing(orders):
                st.info("Press **Compare** to see which predicts held-out counts better.")
            return a, b
        if under_way and before is not None:
            st.caption("Below: the previous comparison, until this one has finished.")
        elif before is not None:
            shown_now = " against ".join(f"*{as_markdown(dataset, run.words)}*" for run in before)
            say_changed(shown_now, "Press **Compare** for the settings above.")
        elif not under_way:
            st.info("Press **Compare** to see what differs.")
    return before

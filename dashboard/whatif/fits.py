"""Fits of the What-if page: those shown, those under way, and those of a sweep."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.fit_status.service import batch_under_way, say_changed, session
from dashboard.shared.own_table import state_key
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from dashboard.whatif import runs
from dashboard.whatif.charts import sweep_chart
from dashboard.whatif.controls import as_markdown
from dashboard.whatif.runs import SWEEPS, Run
from dashboard.whatif.scores import sweep_insight, sweep_table
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
            st.info("Change A or B, then press **Compare**.")
    return before


def sweep_section(dataset: Dataset, base: Run) -> pd.DataFrame:
    """Draw the sweep of one setting of A, and return what is known of it."""
    parameter = segmented(
        "Setting",
        list(SWEEPS),
        key="sweep",
        help="What to vary; everything else stays as in A. Lower errors are better; a high rank "
        "correlation shows that the order of places hardly depends on the choice.",
    )
    swept = runs.sweep_runs(base, parameter)
    if not swept:
        st.info("A has no network, so its size cannot be varied.")
        return pd.DataFrame()
    orders = runs.orders(dataset.counts, swept.values())
    missing = len(session("sweep").missing(orders))
    values = f"{SWEEPS[parameter]} {', '.join(str(value) for value in swept)}"
    pressed = missing > 0 and st.button(
        "Fit these", key="run-sweep", help=f"Fits A with {values}, twice each."
    )
    batch_under_way(
        "sweep",
        (dataset.name, base, parameter),
        orders,
        pressed=pressed,
        words="{done} of {all} fits finished",
    )
    if missing:
        st.caption(f"{values}: {missing} of {len(orders)} fits to run.")
    pairs = {value: fits(dataset.counts, run, "sweep") for value, run in swept.items()}
    table = sweep_table(base.roles.apply(dataset), pairs, runs.value_of(base, parameter))
    if table["seconds"].count() > 1:  # one dot is no curve
        _draw_sweep(table, parameter, runs.value_of(base, parameter))
    return table.dropna(subset="seconds")


def _draw_sweep(table: pd.DataFrame, parameter: str, current: Any) -> None:
    st.markdown(sweep_insight(table, parameter))
    titles = {
        "deviance": "Poisson deviance of held-out counts",
        "like_a": "rank correlation of p with A",
    }
    of = {"parameter": SWEEPS[parameter], "current": current}
    for place, (column, title) in zip(st.columns(2), titles.items(), strict=True):
        show_chart(
            partial(sweep_chart, table, column, title=title, **of),
            key=f"sweep-{column}",
            alt=f"{title} by {SWEEPS[parameter]}",
            where=place,
        )

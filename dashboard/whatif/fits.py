"""Fits of the What-if page: those shown, those under way, and those of a sweep."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.shared.charts.style import objective_chart
from dashboard.shared.fit_status.service import (
    batch_under_way,
    fit_words,
    say_changed,
    say_failed,
    service,
    session,
)
from dashboard.shared.own_table import state_key
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from dashboard.whatif import runs
from dashboard.whatif.charts import sweep_chart
from dashboard.whatif.controls import as_markdown
from dashboard.whatif.runs import SWEEPS, Run
from dashboard.whatif.scores import sweep_insight, sweep_table
from dashboard.work.orders import FitOrder
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
    counts, last_mode = dataset.counts, dataset.counts.modes[-1]
    orders = runs.orders(counts, (a, b))
    shown = state_key(dataset, "whatif-shown")
    before: tuple[Run, Run] | None = st.session_state.get(shown)
    if len(orders) == 2:  # the same fit twice
        return before
    # One box, empty or not: what follows keeps its place on the page, and so its state. A key
    # pressed on a control that moves as the progress goes would be lost.
    with st.container(key="compare-status"):
        under_way = batch_under_way(  # before the observation process-up: see fit_or_stop
            "compare",
            (dataset.name, a, b),
            orders,
            pressed=pressed,
            words="**Fitting**: {done} of {all} fits finished",
            draw=partial(_sides, counts, a, b, len(session("compare").missing(orders))),
        )
        if all(fits(counts, run)[0] is not None for run in (a, b)):
            st.session_state[shown] = (a, b)
            if not under_way and session("compare").missing(orders):
                st.info("Press **Compare** to see which predicts held-out counts better.")
            return a, b
        if under_way and before is not None:
            st.caption("Below: the previous comparison, until this one has finished.")
        elif before is not None:
            shown_now = " against ".join(
                f"*{as_markdown(dataset, run.words(last_mode))}*" for run in before
            )
            say_changed(shown_now, "Press **Compare** for the settings above.")
        elif not under_way:
            st.info("Change A or B, then press **Compare** to fit both and see what differs.")
    return before


def _sides(counts: CountTensor, a: Run, b: Run, missing: int) -> None:
    """Draw how far the fits of both sides are; the page follows each one that finishes."""
    mine = session("compare")
    if len(mine.missing(runs.orders(counts, (a, b)))) != missing:
        st.rerun()
    say_failed(mine, runs.orders(counts, (a, b)))
    for column, side, run in zip(st.columns(2), "AB", (a, b), strict=True):
        with column:
            _one_side(side, runs.orders(counts, (run,)), missing)


def _one_side(side: str, pair: list[FitOrder], missing: int) -> None:
    """Draw the progress of the first of both fits of a side that has not finished."""
    left = session("compare").missing(pair)
    if not left:
        st.progress(1.0, text=f"**{side}**: fitted")
        return
    what = f"**{side}**" + (", without the held-out counts" if left[0] == pair[1] else "")
    job = service().job(left[0])
    if job is None or job.state != "running":
        st.progress(0.0, text=f"{what}: waiting for its turn …")
        return
    st.progress(job.share, text=fit_words(what, job))
    if job.objectives:
        show_chart(
            objective_chart({"": job.objectives}, height=170),
            key=f"live-{side}-{missing}",
            alt=f"Objective of {side} after each iteration so far",
        )


def sweep_section(dataset: Dataset, base: Run) -> pd.DataFrame:
    """Draw the sweep of one setting of A, and return what is known of it."""
    parameter = segmented(
        "Setting",
        list(SWEEPS),
        key="sweep",
        help="What to vary; everything else stays as in A.",
    )
    swept = runs.sweep_runs(base, parameter)
    if not swept:
        st.info("A trains no network, so its size cannot be varied.")
        return pd.DataFrame()
    orders = [
        runs.order(dataset.counts, run, held_out=held)
        for run in swept.values()
        for held in (False, True)
    ]
    missing = len(session("sweep").missing(orders))
    values = f"{SWEEPS[parameter]} {', '.join(str(value) for value in swept)}"
    pressed = missing > 0 and st.button(
        "Fit these",
        key="run-sweep",
        help=f"Fits A with {values}, twice each, one after the other.",
    )
    draw = partial(_draw_sweep, dataset, swept, runs.value_of(base, parameter), parameter)
    under_way = batch_under_way(
        "sweep",
        (dataset.name, base, parameter),
        orders,
        pressed=pressed,
        words="{done} of {all} fits finished",
        draw=draw,
    )
    if under_way:
        return pd.DataFrame()
    if missing:
        st.caption(f"{values}: {missing} of {len(orders)} fits to run.")
    return draw().dropna(subset="seconds")


def _draw_sweep(
    dataset: Dataset, swept: dict[Any, Run], current: Any, parameter: str
) -> pd.DataFrame:
    """Draw what is known of a sweep so far, and return it."""
    pairs = {value: fits(dataset.counts, run, "sweep") for value, run in swept.items()}
    roles = next(iter(swept.values())).roles  # the same for all
    table = sweep_table(roles.apply(dataset), pairs, current)
    if table["seconds"].count() < 2:  # one dot is no curve
        return table
    if (insight := sweep_insight(table, parameter)) is not None:
        st.markdown(insight)
    pictures = {
        "Poisson deviance": {"deviance": "Poisson deviance"},
        "rRMSE": {"rrmse": "rRMSE"},
        "rank correlation of p": {"like_a": "with A", "like_before": "with the value before"},
        "seconds to fit": {"seconds": "seconds to fit"},
    }
    columns = [*st.columns(2), *st.columns(2)]
    of = {"parameter": SWEEPS[parameter], "current": current}
    for column, (title, lines) in zip(columns, pictures.items(), strict=True):
        show_chart(
            partial(sweep_chart, table, lines, title=title, **of),
            key=f"sweep-{next(iter(lines))}",
            alt=f"{title} by {SWEEPS[parameter]}",
            where=column,
        )
    return table

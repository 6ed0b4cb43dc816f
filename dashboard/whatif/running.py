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
    progress_bar,
    say_changed,
    say_failed,
    session,
)
from dashboard.shared.own_table import state_key
from dashboard.shared.text.page import show_chart
from dashboard.whatif import runs as jobs
from dashboard.whatif.charts import sweep_chart
from dashboard.whatif.runs import SWEEPS, Run
from dashboard.whatif.scores import sweep_insight, sweep_table
from dashboard.work.jobs import Job
from dashboard.work.session import Session
from uncletc import CountTensor
from uncletc.datasets import Dataset


def compared() -> Session:
    """What this browser session asks of the service for A and B."""
    return session("compare")


def pair_to_show(dataset: Dataset, a: Run, b: Run, *, pressed: bool) -> tuple[Run, Run] | None:
    """Return the settings whose fits can be shown, with progress or a note drawn above.

    Those requested once they have finished, until then those shown before; None without any.
    """
    # One box, empty or not: what follows keeps its place on the page, and so its state. A key
    # pressed on a control that moves as the progress goes would be lost.
    with st.container(key="compare-status"):
        return _pair_to_show(dataset, a, b, pressed=pressed)


def _pair_to_show(dataset: Dataset, a: Run, b: Run, *, pressed: bool) -> tuple[Run, Run] | None:
    mine = compared()
    counts = dataset.counts
    orders = jobs.orders(counts, (a, b))
    if pressed:
        mine.submit(mine.missing(orders))
    under_way = mine.under_way(orders)  # before the look-up: see fit_or_stop
    missing = len(mine.missing(orders))
    shown = state_key(dataset, "whatif-shown")
    both_fitted = all(jobs.fits(mine, counts, run)[0] is not None for run in (a, b))
    if under_way:
        _progress(counts, a, b, missing)
    else:
        say_failed(mine, orders)
    if both_fitted:
        st.session_state[shown] = (a, b)
        if missing and not under_way:
            st.info("Press **Compare** to see which of the two predicts held-out counts better.")
        return a, b
    before = st.session_state.get(shown)
    if under_way:
        if before is not None:
            st.caption("Below: the previous comparison, until this one has finished.")
        return before
    if before is None:
        st.info("Change A or B, then press **Compare** to fit both and see what differs.")
    else:
        last_mode = counts.modes[-1]
        say_changed(
            " against ".join(f"*{jobs.describe_run(run, last_mode)}*" for run in before),
            "Press **Compare** for the settings above.",
        )
    return before


@st.fragment(run_every=0.7)
def _progress(counts: CountTensor, a: Run, b: Run, missing: int) -> None:
    mine = compared()
    orders = jobs.orders(counts, (a, b))
    if not mine.under_way(orders) or len(mine.missing(orders)) != missing:
        st.rerun()
    done = len(orders) - missing
    text = f"**Fitting**: {done} of {len(orders)} fits finished"
    share = done / len(orders)
    progress_bar(share, text, key="cancel-compare", on_cancel=mine.cancel, args=(orders,))
    for column, side, run in zip(st.columns(2), "AB", (a, b), strict=True):
        with column:
            pair = [mine.service.job(each) for each in jobs.orders(counts, (run,))]
            _one_side(side, pair, missing)


def _one_side(side: str, pair: list[Job | None], missing: int) -> None:
    """Draw the progress of the fit of one side that runs, or else waits, or ended last."""
    states = [None if job is None else job.state for job in pair]
    which = next((k for k in (0, 1) if states[k] == "running"), None)
    if which is None:
        which = next((k for k in (0, 1) if states[k] == "waiting"), 1)
    job = pair[which]
    what = f"**{side}**" + (", without the held-out counts" if which else "")
    if job is None or not job.active:
        st.progress(1.0, text=f"**{side}**: fitted")
        return
    running = job.state == "running"
    text = fit_words(what, job) if running else f"{what}: waiting for its turn …"
    st.progress(job.share, text=text)
    if job.objectives:
        show_chart(
            objective_chart({"": job.objectives}, height=170),
            key=f"live-{side}-{missing}",
            alt=f"Objective of {side} after each iteration so far",
        )


def sweep_section(dataset: Dataset, base: Run) -> pd.DataFrame:
    """Draw the sweep of one parameter of A, and return what is known of it."""
    counts = dataset.counts
    parameter = st.segmented_control(
        "Parameter",
        list(SWEEPS),
        default="rank",
        required=True,
        key="sweep",
        bind="query-params",
        help="What to vary; everything else stays as in A.",
    )
    runs = jobs.sweep_runs(base, parameter)
    if not runs:
        st.info("A has no hidden layer, so there are no units to vary. Add a layer first.")
        return pd.DataFrame()
    current = jobs.value_of(base, parameter)
    orders = jobs.sweep_orders(counts, runs.values())
    missing = len(session("sweep").missing(orders))
    values = f"{SWEEPS[parameter]} {', '.join(str(value) for value in runs)}"
    pressed = missing > 0 and st.button(
        "Sweep",
        key="run-sweep",
        help=f"Fits A with {values}, twice each, one after the other.",
    )
    under_way = batch_under_way(
        "sweep",
        (dataset.name, base, parameter),
        orders,
        pressed=pressed,
        words="Sweeping: {done} of {all} fits finished",
        draw=lambda: _draw_sweep(_sweep_table(dataset, runs, current), current, parameter),
    )
    table = _sweep_table(dataset, runs, current)
    if not under_way:
        if missing:
            st.caption(f"{values}: {missing} of {len(orders)} fits are still missing.")
        _draw_sweep(table, current, parameter)
    return table.dropna(subset="seconds")


def _sweep_table(dataset: Dataset, runs: dict[Any, Run], current: Any) -> pd.DataFrame:
    mine = session("sweep")
    fits = {value: jobs.fits(mine, dataset.counts, run) for value, run in runs.items()}
    roles = next(iter(runs.values()))  # the same for all
    return sweep_table(jobs.counts_of(dataset.counts, roles), fits, current)


def _draw_sweep(table: pd.DataFrame, current: Any, parameter: str) -> None:
    if table["seconds"].count() < 2:  # one dot is no curve
        return
    if (insight := sweep_insight(table, parameter)) is not None:
        st.markdown(insight)
    pictures = {
        "deviance": ("Poisson deviance", {"deviance": "Poisson deviance"}),
        "rrmse": ("rRMSE", {"rrmse": "rRMSE"}),
        "ranking": (
            "rank correlation of p",
            {"like_a": "with A", "like_before": "with the value before"},
        ),
        "seconds": ("seconds to fit", {"seconds": "seconds to fit"}),
    }
    columns = [*st.columns(2), *st.columns(2)]
    for column, (name, (title, lines)) in zip(columns, pictures.items(), strict=True):
        show_chart(
            partial(
                sweep_chart, table, lines, parameter=SWEEPS[parameter], title=title, current=current
            ),
            key=f"sweep-{name}",
            alt=f"{title} by {SWEEPS[parameter]}",
            where=column,
        )

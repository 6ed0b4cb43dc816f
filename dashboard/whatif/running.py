"""Fits of the What-if page: what is shown, what is on its way, what a sweep has found."""

from __future__ import annotations

from uuid import uuid4

import pandas as pd
import streamlit as st

from dashboard.shared.charts import objective_chart
from dashboard.shared.parts import chart_config
from dashboard.shared.running import fit_service
from dashboard.whatif import runs as jobs
from dashboard.whatif.charts import sweep_chart
from dashboard.whatif.runs import SWEEPS, Run
from dashboard.whatif.scores import sweep_insight, sweep_table
from dashboard.work.fit_orders import Orders, Task
from dashboard.work.service import Job
from uncletc import CountTensor
from uncletc.datasets import Dataset


def orders() -> Orders:
    """What this browser session asks of the service."""
    me: str = st.session_state.setdefault("whatif-me", uuid4().hex)
    return Orders(fit_service(), me)


def pair_to_show(dataset: Dataset, a: Run, b: Run, *, pressed: bool) -> tuple[Run, Run] | None:
    """Return the settings whose fits can be shown, with progress or a note drawn above.

    Those asked for where they are there, otherwise those shown before; None before there are any.
    """
    mine = orders()
    counts = dataset.counts
    wanted = jobs.tasks(counts, (a, b))
    if pressed:
        mine.submit_missing(wanted)
    under_way = mine.under_way(wanted)  # before the look-up: see fit_or_stop
    missing = mine.n_missing(wanted)
    shown = f"whatif-shown-{dataset.name}"
    known = all(jobs.fits(mine, counts, run)[0] is not None for run in (a, b))
    if under_way:
        _progress(counts, a, b, missing)
    elif (why := mine.trouble(wanted)) is not None:
        st.error(why)
    if known:
        st.session_state[shown] = (a, b)
        if missing and not under_way:
            st.info("Press **Compare** to see which of the two predicts held-out counts better.")
        return a, b
    before = st.session_state.get(shown)
    if under_way:
        if before is not None:
            st.caption("Below: the comparison from before, until this one is there.")
        return before
    if before is None:
        st.info("Change A or B, then press **Compare** to fit both and see what differs.")
    else:
        st.info(
            "**Changed since this result.** Below: "
            + " against ".join(f"*{_describe(run, counts)}*" for run in before)
            + ". Press **Compare** for the settings above.",
            icon=":material/history:",
        )
    return before


def _describe(run: Run, counts: CountTensor) -> str:
    return jobs.describe_run(run, counts.modes[-1])


@st.fragment(run_every=0.7)
def _progress(counts: CountTensor, a: Run, b: Run, missing: int) -> None:
    mine = orders()
    wanted = jobs.tasks(counts, (a, b))
    under_way = mine.under_way(wanted)
    if not under_way or mine.n_missing(wanted) != missing:
        st.rerun()
    done = len(wanted) - missing
    head, button = st.columns([5, 1], vertical_alignment="center")
    head.markdown(f"**Fitting**: {done} of {len(wanted)} fits are there")
    # A callback runs first: a click is not lost where this run ends in a new picture.
    button.button(
        "Cancel",
        key="cancel-compare",
        width="stretch",
        on_click=mine.cancel,
        args=(wanted,),
        help="Stop after the current iteration; fits that are there stay.",
    )
    for column, side, run in zip(st.columns(2), "AB", (a, b), strict=True):
        with column:
            _one_side(
                side, [mine.service.job(each.key) for each in jobs.tasks(counts, (run,))], missing
            )


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
    if not job.objectives:
        st.progress(0.0, text=f"{what}: waiting for its turn …")
        return
    total = job.settings.max_iter
    left = "" if job.seconds_left is None else f" · at most {job.seconds_left:.0f} s left"
    st.progress(
        min(job.iteration / max(total, 1), 1.0),
        text=f"{what}: iteration {job.iteration} of {total}{left}",
    )
    st.plotly_chart(
        objective_chart({"": job.objectives}, height=170),
        config=chart_config(),
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
        st.info("A has no hidden layer, so there are no units to vary. Give it one first.")
        return pd.DataFrame()
    own = jobs.value_of(base, parameter)
    wanted = jobs.sweep_tasks(counts, runs.values())
    mine = orders()
    spec = (dataset.name, base, parameter)
    missing = mine.n_missing(wanted)
    values = ", ".join(str(value) for value in runs)
    if missing and st.button(
        "Sweep",
        key="run-sweep",
        help=f"Fits A with {SWEEPS[parameter]} {values}, twice each, one after the other.",
    ):
        st.session_state["whatif-sweep"] = (spec, set())
    going, asked = st.session_state.get("whatif-sweep", (None, set()))
    if going == spec and mine.advance(wanted, asked):
        _sweep_progress(dataset, runs, own, parameter, asked)
    else:
        if (why := mine.trouble(wanted)) is not None:
            st.error(why)
        if missing:
            st.caption(
                f"{SWEEPS[parameter]} {values}: {missing} of {len(wanted)} fits are still to do."
            )
        _draw_sweep(dataset, runs, own, parameter)
    return _sweep_table(dataset, runs, own).dropna(subset="seconds")


def _sweep_table(dataset: Dataset, runs: dict[int, Run], own: int) -> pd.DataFrame:
    fits = {value: jobs.fits(orders(), dataset.counts, run) for value, run in runs.items()}
    return sweep_table(dataset.counts, fits, own)


@st.fragment(run_every=1.0)
def _sweep_progress(
    dataset: Dataset, runs: dict[int, Run], own: int, parameter: str, asked: set[str]
) -> None:
    mine = orders()
    wanted = jobs.sweep_tasks(dataset.counts, runs.values())
    if not mine.advance(wanted, asked):
        st.rerun()
    done = len(wanted) - mine.n_missing(wanted)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(done / len(wanted), text=f"Sweeping: {done} of {len(wanted)} fits are there")
    button.button(
        "Cancel",
        key="cancel-sweep",
        width="stretch",
        on_click=_stop_sweep,
        args=(wanted,),
        help="Stop after the current iteration; fits that are there stay.",
    )
    _draw_sweep(dataset, runs, own, parameter)


def _stop_sweep(wanted: list[Task]) -> None:
    st.session_state.pop("whatif-sweep", None)
    orders().cancel(wanted)


def _draw_sweep(dataset: Dataset, runs: dict[int, Run], own: int, parameter: str) -> None:
    table = _sweep_table(dataset, runs, own)
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
        column.plotly_chart(
            sweep_chart(table, lines, parameter=SWEEPS[parameter], title=title, own=own),
            config=chart_config(),
            key=f"sweep-{name}",
            alt=f"{title} by {SWEEPS[parameter]}",
        )

"""The service behind the page "Methods", and the progress of what it runs."""

from __future__ import annotations

from time import monotonic
from uuid import uuid4

import streamlit as st

from dashboard.methods.charts import running_chart
from dashboard.methods.scores import curve_frame
from dashboard.shared.parts import chart_config
from dashboard.work.method_service import Job, MethodService, Orders
from dashboard.work.orders import Cell, Evaluate, Order

_LOOKED = 0.5  # seconds between two looks
_LONG_WAIT = 6.0  # seconds; alone it has begun by then


@st.cache_resource(show_spinner=False)
def method_service() -> MethodService:
    """Return the one service that all sessions share."""
    return MethodService()


def orders() -> Orders:
    """What this browser session asks of the service."""
    me: str = st.session_state.setdefault("methods-me", uuid4().hex)
    return Orders(method_service(), me)


def progress_or_trouble(wanted: list[Order], references: dict[str, float] | None = None) -> bool:
    """Draw the progress of what is under way, or why something did not finish.

    Parameters
    ----------
    wanted : list of Order
    references : dict of str to float, optional
        Committed means to draw beside the errors of a cell.

    Returns
    -------
    bool
        Whether anything is under way.
    """
    mine = orders()
    if mine.under_way(wanted):
        _progress(wanted, len(mine.missing(wanted)), references or {})
        return True
    for job in mine.failed(wanted):
        st.error(f"{job.order.method} did not finish: {job.message}")
    return False


@st.fragment(run_every=_LOOKED)
def _progress(wanted: list[Order], missing: int, references: dict[str, float]) -> None:
    mine = orders()
    under_way = mine.under_way(wanted)
    if not under_way or len(mine.missing(wanted)) != missing:
        st.rerun()
    job = next((each for each in under_way if each.state == "running"), under_way[0])
    done = len(wanted) - len(under_way) + _share(job)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(done / len(wanted), 1.0), text=_text(job, len(under_way) - 1))
    # A callback runs first: a click is not lost where this run ends in a new picture.
    button.button(
        "Cancel",
        key="cancel-methods",
        width="stretch",
        on_click=mine.cancel,
        args=(wanted,),
        help="Stops after the current iteration; results that are there stay.",
    )
    if isinstance(job.order, Cell) and job.curve:
        st.plotly_chart(
            running_chart(curve_frame(list(job.curve)), references),
            config=chart_config(),
            key="live-cell",
            alt=f"Errors of {job.order.method} after each iteration so far",
        )


def _share(job: Job) -> float:
    """How much of a job is done, counting iterations up to the most there can be."""
    if isinstance(job.order, Evaluate):
        within = min(job.iteration / max(job.order.settings.max_iter, 1), 1.0)
        return min((job.trial + within) / job.order.trials, 1.0)
    return min(job.iteration / 300, 1.0)


def _text(job: Job, behind: int) -> str:
    more = f" · {behind} more to come" if behind else ""
    if job.state == "waiting":
        if monotonic() - job.asked > _LONG_WAIT:
            return f"{job.order.method}: waiting for another run to end …{more}"
        return f"{job.order.method}: getting ready …{more}"
    fold = ""
    if isinstance(job.order, Evaluate):
        fold = f"fold {min(job.trial + 1, job.order.trials)} of {job.order.trials}, "
    return f"{job.order.method}: {fold}iteration {job.iteration} · {job.seconds:.1f} s{more}"

"""The progress of what the page "Methods" runs."""

from __future__ import annotations

from time import monotonic

import streamlit as st

from dashboard.methods.charts import running_chart
from dashboard.methods.scores import curve_frame
from dashboard.shared.fit_status.service import progress_bar, session
from dashboard.shared.text.page import show_chart
from dashboard.work.jobs import Job
from dashboard.work.orders import Cell, Evaluate
from dashboard.work.session import Session

_LOOKED = 0.5  # seconds between two looks
_LONG_WAIT = 6.0  # seconds; alone it has begun by then

MethodOrders = list[Evaluate] | list[Cell]


def method_session() -> Session:
    """What this browser session asks of the service, its process for methods on the way."""
    mine = session("methods")
    mine.service.warm("long")  # torch is loaded while the reader chooses
    return mine


def progress_or_trouble(orders: MethodOrders, references: dict[str, float] | None = None) -> bool:
    """Draw the progress of what is under way, or why something did not finish.

    Parameters
    ----------
    orders : list of Evaluate or Cell
    references : dict of str to float, optional
        Committed means to draw beside the errors of a cell.

    Returns
    -------
    bool
        Whether anything is under way.
    """
    mine = session("methods")
    if mine.under_way(orders):
        _progress(orders, len(mine.missing(orders)), references or {})
        return True
    for job in mine.failed(orders):
        st.error(f"{job.order.method} did not finish: {job.message}")
    return False


@st.fragment(run_every=_LOOKED)
def _progress(orders: MethodOrders, missing: int, references: dict[str, float]) -> None:
    mine = session("methods")
    under_way = mine.under_way(orders)
    if not under_way or len(mine.missing(orders)) != missing:
        st.rerun()
    job = next((each for each in under_way if each.state == "running"), under_way[0])
    progress_bar(
        (len(orders) - len(under_way) + job.share) / len(orders),
        _text(job, len(under_way) - 1),
        key="cancel-methods",
        on_cancel=mine.cancel,
        args=(orders,),
    )
    if isinstance(job.order, Cell) and job.curve:
        show_chart(
            running_chart(curve_frame(list(job.curve)), references),
            key="live-cell",
            alt=f"Errors of {job.order.method} after each iteration so far",
        )


def _text(job: Job, behind: int) -> str:
    order = job.order
    more = f" · {behind} more to come" if behind else ""
    if job.state == "waiting":
        if monotonic() - job.asked > _LONG_WAIT:
            return f"{order.method}: waiting for another run to finish …{more}"
        return f"{order.method}: getting ready …{more}"
    fold = ""
    if isinstance(order, Evaluate):
        fold = f"fold {min(job.trial + 1, order.trials)} of {order.trials}, "
    return f"{order.method}: {fold}iteration {job.iteration} · {job.seconds:.1f} s{more}"

"""Seasons of the Plan page under way: asked for by a button, a few at a time, with progress."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import streamlit as st

from dashboard.plan.view import time_words
from dashboard.shared.fit_status.service import progress_bar, say_failed, session
from dashboard.shared.text.words import escape
from dashboard.work.jobs import Job
from dashboard.work.orders import TryDesign
from dashboard.work.session import Session

_LOOKED = 0.5  # seconds between two looks
_STATE = "own-plan-begun"  # what was begun, and which of its orders were queued

Orders = Sequence[TryDesign]


def planning() -> Session:
    """What this browser session asks of the service for plans."""
    return session("plan")


def under_way(orders: Orders, *, pressed: bool, seconds: float) -> bool:
    """Begin orders where that is asked, draw how far they are, and return whether they go on.

    Parameters
    ----------
    orders : sequence of TryDesign
    pressed : bool
    seconds : float
        About how long all of them take.
    """
    spec = tuple(order.key for order in orders)
    if pressed:
        st.session_state[_STATE] = (spec, set())
    begun, queued = st.session_state.get(_STATE, ((), set()))
    mine = planning()
    if begun == spec and mine.advance(orders, queued):
        _progress(orders, queued, len(mine.missing(orders)), seconds)
        return True
    say_failed(mine, orders, "A season")
    return False


@st.fragment(run_every=_LOOKED)
def _progress(orders: Orders, queued: set[str], missing: int, seconds: float) -> None:
    mine = planning()
    goes_on = mine.advance(orders, queued)
    if not goes_on or len(mine.missing(orders)) != missing:
        st.rerun()
    jobs = {job.order.key: job for job in mine.under_way(orders)}
    wanting = {order.key for order in mine.missing(orders)}
    parts = [
        1.0 if order.key not in wanting else jobs[order.key].share if order.key in jobs else 0.0
        for order in orders
    ]
    weights = [order.trials for order in orders]
    share = sum(p * w for p, w in zip(parts, weights, strict=True)) / sum(weights)
    progress_bar(
        share,
        _text(list(jobs.values()), len(orders) - missing, len(orders), (1 - share) * seconds),
        key="cancel-plan",
        on_cancel=_stop,
        args=(orders,),
    )


def _text(jobs: list[Job], done: int, whole: int, left: float) -> str:
    head = f"Planning: {done} of {whole} designs finished"
    running = next((job for job in jobs if job.state == "running"), None)
    if running is None:
        waits = any(monotonic() - job.asked > 6 for job in jobs)
        return f"{head}; {'waiting for another run to finish' if waits else 'getting ready'} …"
    number = min(running.trial + 1, running.order.trials)
    return (
        f"{head} · {escape(running.order.design.label)}: fit {number} of {running.order.trials} · "
        f"{time_words(left)} left"
    )


def _stop(orders: Orders) -> None:
    st.session_state.pop(_STATE, None)
    planning().cancel(orders)

"""The one service of fits and comparisons, one browser session's view of it, and its progress."""

from collections.abc import Callable
from time import monotonic
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.operator_settings import current
from dashboard.work.engine import Job, Orders, Service, Session

_LONG_WAIT = 2.0  # seconds; a fit alone has begun by then


@st.cache_resource(show_spinner=False)
def service() -> Service:
    """Return the one service that all sessions share, with its process for fits on the way."""
    shared = Service(limits=current(), alive=_is_open, scheduler=current().scheduler)
    shared.warm()
    return shared


def session(part: str) -> Session:
    """What one part of a page asks of the service in this browser session."""
    context = get_script_run_ctx()
    assert context is not None  # pages run in one
    return Session(service(), f"{context.session_id}-{part}")


def _is_open(name: str) -> bool:
    """Whether the browser of a session is connected, or it is this server's own, without a name."""
    return not name or not runtime.exists() or runtime.get_instance().is_active_session(name)


def progress_bar(
    share: float, text: str, *, key: str, on_cancel: Callable[..., None], args: tuple[Any, ...]
) -> None:
    """Draw how far something is, with a button that cancels it."""
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(share, 1.0), text=text)
    # A callback runs first: a click is not lost where this run ends in a new picture.
    button.button(
        "Cancel",
        key=key,
        width="stretch",
        on_click=on_cancel,
        args=args,
        help="Stops after the current iteration; finished results stay.",
    )


def fit_words(what: str, job: Job) -> str:
    """How far a fit is, after what it is."""
    if job.state == "waiting" and monotonic() - job.asked > _LONG_WAIT:
        return f"{what}: waiting for other fits …"
    if job.objective is None:
        return f"{what}: getting ready …"
    return f"{what}: {job.seconds:.0f}\u00a0s"


def say_changed(shown: str) -> None:
    """Say that settings have changed since the result below, and what made it."""
    st.info(f"**Changed since this result.** Below: {shown}.", icon=":material/history:")


def batch_under_way(part: str, orders: Orders, *, pressed: bool, words: str) -> bool:
    """Draw the progress of orders that a button begins, of which few are queued at a time.

    Parameters
    ----------
    part : str
        Of the page, as for :func:`session`.
    orders : sequence of Order
        The batch; one of other orders is not under way.
    pressed : bool
        Whether to begin.
    words : str
        Beside the bar: what is done, "{done}" and "{all}" among it. The page runs again for each
        result.

    Returns
    -------
    bool
        Whether the batch is under way; where it is not, why an order failed has been drawn.
    """
    state, keys = _state(part), [order.key for order in orders]
    if pressed:
        st.session_state[state] = (keys, set())
    begun, queued = st.session_state.get(state, (None, set()))
    mine = session(part)
    if begun == keys and mine.advance(orders, queued):
        _batch(part, orders, queued, len(mine.missing(orders)), words)
        return True
    for job in mine.failed(orders)[:1]:
        st.error(f"A fit did not finish: {job.message}")
    return False


@st.fragment(run_every=0.7)
def _batch(part: str, orders: Orders, queued: set[str], missing: int, words: str) -> None:
    mine = session(part)
    under_way, now = mine.advance(orders, queued), len(mine.missing(orders))
    if not under_way or now != missing:
        st.rerun()
    done = len(orders) - now
    share = sum(job.share for job in mine.under_way(orders))
    progress_bar(
        (done + share) / len(orders),
        words.format(done=done, all=len(orders)),
        key=f"cancel-{part}",
        on_cancel=_stop,
        args=(part, orders),
    )


def _stop(part: str, orders: Orders) -> None:
    st.session_state.pop(_state(part), None)
    session(part).cancel(orders)


def _state(part: str) -> str:
    return f"batch-{part}"

"""Closed visits of a reader's own table: along which mode counts are of the very same events."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from dashboard.shared.charts.places import is_own
from dashboard.shared.own_table.own import MADE
from dashboard.shared.text.words import escape
from uncletc.datasets import Dataset

NOT_CLOSED = "no: events come anew"
_KEY, _KEPT = f"{MADE}-closed", f"{MADE}-closed-kept"  # words of the table: not in the address
_HELP = (
    "Choose a mode, such as *visit*, if its counts are of **the very same events**: repeat visits "
    "to nests, at which nothing comes or goes. How far visits agree then tells how many there are, "
    "and λ and p are absolute with nothing stated. Not for events that come anew, such as each "
    "day's new cases or each watch's flower visits."
)
_CAPTION = (
    "λ is the same at each {mode}, and totals over several hold each event as many times. If "
    "animals come or go between, p comes out too small and λ too large."
)
_LOOKS = (
    "Closed visits do not go with rows kept as several looks: on *Your table*, make what tells "
    "these rows apart a mode of its own, or sum them. This fit has no closed visits."
)
_EFFECTS = (
    "Closed visits do not go with effects of places and calendars: set these to *none*. This fit "
    "has no closed visits."
)


def choose_closed(dataset: Dataset | None, *, effects: Sequence[str] = ()) -> tuple[str, ...]:
    """Ask along which mode true counts stay the same; () for none.

    Parameters
    ----------
    dataset : Dataset, optional
        Nothing is asked of any but a reader's own table: of real and simulated counts each has
        events that come anew.
    effects : sequence of str
        Those of the fit, which closed visits do not go with.
    """
    if dataset is None or not is_own(dataset):
        return ()
    modes = list(dataset.counts.modes)
    st.session_state.setdefault(_KEY, st.session_state.get(_KEPT))
    mode = st.selectbox(
        "Closed visits",
        [None, *modes],
        format_func=lambda mode: NOT_CLOSED if mode is None else f"the same at each {mode}",
        key=_KEY,
        help=_HELP,
    )
    st.session_state[_KEPT] = mode  # a widget's own value goes when another page is shown
    if mode is None:
        return ()
    if dataset.counts.looks or effects:
        st.warning(_LOOKS if dataset.counts.looks else _EFFECTS)
        return ()
    st.caption(_CAPTION.format(mode=escape(mode)))
    return (mode,)


def reset_closed() -> None:
    """Put it back to none; for callbacks."""
    st.session_state[_KEY] = st.session_state[_KEPT] = None

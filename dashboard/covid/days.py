"""Which days the COVID-19 page shows: all, or one that the map's own slider and player move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from dashboard.shared.sidebar.widgets import segmented

_DAY = "day"  # in the address, and in the session for the way back from another page


def choose_days(days: Sequence[str], where: Any = st) -> int | None:
    """Ask for all days or one; return the day's index, None for all."""
    span = segmented(
        "Show",
        ["mean", "day"],
        names={"mean": f"all {len(days)} days", "day": "one day"},
        key="span",
        where=where,
        help="One day can be chosen, or played through all days, with the slider above the map.",
    )
    if span != "day":
        return None
    requested = st.query_params.get(_DAY, st.session_state.get(_DAY))
    chosen = requested if requested in days else days[0]
    keep_day(chosen)
    return list(days).index(chosen)


def keep_day(day: str) -> None:
    """Keep a day in the address and the session."""
    st.session_state[_DAY] = day
    if st.query_params.get(_DAY) != day:
        st.query_params[_DAY] = day

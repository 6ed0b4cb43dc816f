"""Straight lines, curves, and curves with a network, fitted to the same simulated counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.lab.view import Setup
from dashboard.lab.view_fits import ERROR_NAMES, recovery
from dashboard.shared.fit_status.service import batch_under_way, session
from dashboard.shared.sidebar.model import SETTINGS, changed
from dashboard.shared.text.words import plural
from dashboard.work.orders import Recovery
from uncletc import FitSettings, Joint

LINES, CURVES, NETWORK = "straight lines", "curves", "curves and a network"
_CLEARLY = 0.8  # of another error, to be called smaller


def ways_of(setup: Setup, settings: FitSettings) -> dict[str, Recovery]:
    """Return the three fits of the same counts, by what g is made of."""
    largest = settings
    if not settings.hidden:
        largest = changed(settings, "layers", SETTINGS["layers"].default)
    return {
        LINES: recovery(setup, changed(settings, "layers", 0)),
        CURVES: recovery(setup, replace(largest, solver=Joint(network=False))),
        NETWORK: recovery(setup, largest),
    }


def ways_table(results: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    """The errors of the fits, of which some may be missing: g, rate (MAE_λ), detection (MAE_p).

    Parameters
    ----------
    results : mapping of str to mapping
        Results of the orders of :func:`ways_of`.
    """
    rows = [{"g": way} | result["curve"][-1][1] for way, result in results.items()]
    return pd.DataFrame(rows, columns=["g", "rate", "detection"])


def ways_words(table: pd.DataFrame) -> str:
    """What the three errors of p say of g.

    Parameters
    ----------
    table : DataFrame
        As :func:`ways_table` makes it, with all three ways.
    """
    errors = table.set_index("g")["detection"]
    # The same fit up to the network: equal errors say that none was kept.
    if errors[NETWORK] == errors[CURVES]:
        kept = "The counts show no sign that attributes act together, so no network was kept."
        if errors[CURVES] > _CLEARLY * errors[LINES]:
            return f"{kept} Here **straight lines** do about as well as curves."
        return f"**Curves are enough.** Straight lines miss how attributes bend p. {kept}"
    if errors[NETWORK] < _CLEARLY * min(errors[CURVES], errors[LINES]):
        return (
            "**Only the network finds it.** Attributes act together here: what one does to p "
            "depends on another. No sum of lines or curves of one attribute each can say that."
        )
    return "A network was kept, but it hardly helps here."


def compare_ways(setup: Setup, settings: FitSettings) -> pd.DataFrame | None:
    """Draw the comparison, on request; return its table once all three fits have finished."""
    st.markdown("**Straight lines, curves or a network?**")
    orders = ways_of(setup, settings)
    mine, asked = session("ways"), list(orders.values())
    missing = len(mine.missing(asked))
    pressed = missing > 0 and st.button(
        "Compare",
        key="lab-ways",
        help=f"Makes {plural(missing, 'fit')} of the same counts: with a straight line for each "
        "attribute, with a curve for each, and with a network beside the curves where counts that "
        "it has not seen ask for one.",
    )
    under_way = batch_under_way(
        "ways",
        (setup, settings),
        asked,
        pressed=pressed,
        words="{done} of {all} fits of the same counts finished",
        draw=lambda: _draw(orders),
    )
    if under_way:
        return None
    table = _draw(orders)
    if len(table) < len(orders):
        return None
    st.markdown(ways_words(table))
    return table


def _draw(orders: Mapping[str, Recovery]) -> pd.DataFrame:
    mine = session("ways")
    results = {way: mine.lookup(order) for way, order in orders.items()}
    table = ways_table({way: result for way, result in results.items() if result is not None})
    if len(table):
        shown = table.rename(columns={"g": "g is made of"} | ERROR_NAMES).set_index("g is made of")
        st.table(shown.map(lambda error: f"{error:.3f}"))
    return table

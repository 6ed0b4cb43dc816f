"""The runs of a browser session that the What-if page has compared, and the way back to them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.shared.cache import MADE
from dashboard.shared.charts.places import is_own
from dashboard.shared.sidebar.model import Family
from dashboard.whatif.controls import back_to_defaults, set_side
from dashboard.whatif.runs import Run, describe_run
from dashboard.whatif.scores import Score
from uncletc import Fit
from uncletc.datasets import Dataset

_KEPT = 12
_ALL, _OWN = "whatif-history", f"{MADE}-whatif-history"  # a reader's own can be forgotten


def remember(dataset: Dataset, family: Family, run: Run, *, fit: Fit, score: Score | None) -> None:
    """Put a finished run into the history of this browser session, or complete it.

    Parameters
    ----------
    dataset : Dataset
    family : {"covid", "ppi", "own"}
    run : Run
    fit : Fit
    score : Score, optional
        None where the second fit has not finished.
    """
    history = st.session_state.setdefault(_OWN if is_own(dataset) else _ALL, {})
    entry = history.setdefault(
        (family, dataset.name, run),
        {
            "data": dataset.name,
            "setting": describe_run(run, dataset.counts.modes[-1]),
            "seconds": fit.history[-1].seconds,
        },
    )
    if score is not None:
        entry |= {"deviance": score.deviance, "rrmse": score.rrmse}
    while len(history) > _KEPT:
        del history[next(iter(history))]


def history_section() -> None:
    """Draw the runs of this browser session, each with a button that brings it back as A."""
    history = st.session_state.get(_ALL, {}) | st.session_state.get(_OWN, {})
    if not history:
        st.caption("Nothing yet: runs appear here when they are compared.")
        return
    table = pd.DataFrame(list(history.values())).reindex(
        columns=["data", "setting", "deviance", "rrmse", "seconds"]
    )
    table.insert(0, "run", range(1, len(table) + 1))
    number = st.column_config.NumberColumn
    st.dataframe(
        table,
        hide_index=True,
        key="history",
        alt="Runs of this browser session with their held-out errors and times",
        column_config={
            "run": number(width="small"),
            "data": st.column_config.TextColumn("data set", width="small"),
            "setting": st.column_config.TextColumn(width="large"),
            "deviance": number("Poisson deviance", format="%.3g", help="Of held-out counts"),
            "rrmse": number("rRMSE", format="%.3g", help="Of held-out counts"),
            "seconds": number("seconds", format="%.1f", help="Time of the fit"),
        },
    )
    with st.container(horizontal=True):
        for k, (family, name, run) in enumerate(history, start=1):
            st.button(
                f"Run {k} → A",
                key=f"return-{k}",
                on_click=_bring_back,
                args=(family, name, run),
                help=f"Set A to: {history[family, name, run]['setting']} ({name})",
            )


def _bring_back(family: Family, name: str, run: Run) -> None:
    if st.session_state["data"] != family:
        st.session_state["data"] = family
        back_to_defaults()
    if family != "own":
        st.session_state[f"{family}_counts"] = "simulated" if name.endswith("-twin") else "real"
    set_side("a", name, run)

"""Controls of the What-if page: both settings, their buttons, and the session's earlier runs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Literal

import pandas as pd
import streamlit as st

from dashboard.shared.cache import MADE
from dashboard.shared.charts.places import is_own
from dashboard.shared.fit_status.running import order_of
from dashboard.shared.sidebar.choice import PAPER, RECOMMENDED
from dashboard.shared.sidebar.model import Family
from dashboard.shared.sidebar.sidebar import choose_model, reset_settings, set_model, values_for
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import escape, escape_sentence
from dashboard.whatif import runs
from dashboard.whatif.charts import shift_chart
from dashboard.whatif.runs import PARTS, Run
from dashboard.whatif.scores import Score
from dashboard.whatif.view import ENDS, WhatIfView, rank_shift
from uncletc import Fit
from uncletc.datasets import Dataset

Side = Literal["a", "b"]
_MOST_RUNS = 12
_ALL, _OWN = "whatif-history", f"{MADE}-whatif-history"  # a reader's own can be forgotten


def choose_run(side: Side, family: Family, dataset: Dataset, closed: tuple[str, ...]) -> Run:
    """Draw the controls of one setting and return what they say.

    Parameters
    ----------
    side : {"a", "b"}
    family : {"covid", "ppi", "own"}
    dataset : Dataset
    closed : tuple of str
        The mode along which visits are closed, where the setting can have one.
    """
    last_mode = dataset.counts.modes[-1]
    roles, settings = choose_model(
        dataset,
        side,
        family,
        first=PAPER if side == "b" else RECOMMENDED,
        closed=closed,
        solver=True,
    )
    part = segmented(
        "Counts used",
        PARTS,
        key=f"{side}_part",
        help=f"Fit to the counts of all {escape(last_mode)}s or of one half of them. If the "
        "halves give different results, trust neither.",
    )
    run = Run(settings=settings, part=part, roles=roles)
    asked = runs.order(dataset.counts, run)
    limited = order_of(asked.counts, settings, side=f"{side}_")  # where its reader continued it
    run = replace(run, settings=limited.settings)
    st.caption(as_markdown(dataset, run.words(last_mode)))
    return run


def as_markdown(dataset: Dataset, words: str) -> str:
    """Return a sentence for Markdown; words of a reader's own table in it are no markup."""
    return escape_sentence(words) if is_own(dataset) else words


def back_to_defaults() -> None:
    """Put both sides back to the defaults of the data set; for callbacks.

    The roles stay: real and simulated counts of each data set have their own.
    """
    family: Family = st.session_state["data"]
    for side in ("a", "b"):
        reset_settings(side, family)
        st.session_state[f"{side}_part"] = PARTS[0]


def _set_side(side: Side, name: str, run: Run) -> None:
    """Put a setting into the controls of one side; for callbacks, before widgets are drawn."""
    st.session_state[f"{side}_part"] = run.part
    set_model(side, name, run.roles, values_for(run.roles, run.settings))


def _swap(name: str, a: Run, b: Run) -> None:
    _set_side("a", name, b)
    _set_side("b", name, a)


def compare_buttons(name: str, a: Run, b: Run, *, same: bool) -> bool:
    """Draw the buttons below both settings of a data set, and return whether to compare."""
    with st.container(horizontal=True):
        pressed = st.button(
            "Compare",
            type="primary",
            key="compare",
            disabled=same,
            help="Fits what is not fitted yet: each setting once to all its counts and once "
            "without a tenth of them, to see which predicts that tenth better.",
        )
        st.button(
            "Swap A and B",
            key="swap",
            on_click=_swap,
            args=(name, a, b),
            help="Exchange the two settings.",
        )
        st.button(
            "Copy A to B",
            key="copy",
            on_click=_set_side,
            args=("b", name, a),
            help="Make B the same as A, to change one thing only.",
        )
    return pressed


def ranking(view: WhatIfView) -> None:
    """Draw where the first or last of one side's ranking are in the other's."""
    which, how_many = st.columns([2, 1])
    end = which.selectbox(
        "Follow",
        ENDS,
        key="end",
        bind="query-params",
        help="Whose extremes to follow into the other setting's ranking.",
    )
    n = how_many.slider(
        "How many",
        5,
        30,
        10,
        step=5,
        key="top",
        bind="query-params",
        help="Lines in the chart.",
    )
    side = end[-1]
    show_chart(
        partial(shift_chart, rank_shift(view.cells, end, n), n=n, names_on=side),
        key="shift",
        alt=f"Ranks under A and B of the {n} {view.of} with the {end}",
    )
    first = end.removesuffix(f" under {side}")
    st.caption(
        f"Numbers are ranks: 1 has the {first}. Below the dotted line: not among the first {n}."
    )


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
    words, seconds = run.words(dataset.counts.modes[-1]), fit.history[-1].seconds
    entry = history.setdefault(
        (family, dataset.name, run), {"data": dataset.name, "setting": words, "seconds": seconds}
    )
    if score is not None:
        entry |= {"deviance": score.deviance, "rrmse": score.rrmse}
    while len(history) > _MOST_RUNS:
        del history[next(iter(history))]


def history_section() -> None:
    """Draw the runs of this browser session, each with a button that puts it back as A."""
    history = st.session_state.get(_ALL, {}) | st.session_state.get(_OWN, {})
    if not history:
        st.caption("Nothing yet: runs appear here when they are compared.")
        return
    table = pd.DataFrame(list(history.values())).reindex(
        columns=["data", "setting", "deviance", "rrmse", "seconds"]
    )
    table.insert(0, "run", range(1, len(table) + 1))
    names = {"data": "data set", "deviance": "Poisson deviance", "rrmse": "rRMSE"}
    st.dataframe(
        table.rename(columns=names).round(3),
        hide_index=True,
        key="history",
        alt="Runs of this browser session with their held-out errors and times",
    )
    with st.container(horizontal=True):
        for k, (family, name, run) in enumerate(history, start=1):
            st.button(
                f"Run {k} → A",
                key=f"return-{k}",
                on_click=_back_to,
                args=(family, name, run),
                help=f"Set A to: {escape(history[family, name, run]['setting'])} ({name})",
            )


def _back_to(family: Family, name: str, run: Run) -> None:
    if st.session_state["data"] != family:
        st.session_state["data"] = family
        back_to_defaults()
    if family != "own":
        st.session_state[f"{family}_counts"] = "simulated" if name.endswith("-twin") else "real"
    _set_side("a", name, run)

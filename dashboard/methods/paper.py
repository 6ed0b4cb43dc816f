"""The section "The paper's tables" of the page "Methods"."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.methods import view
from dashboard.methods.charts import dots_chart, lines_chart
from dashboard.methods.view import (
    EXACT,
    REAL,
    PaperView,
    curve_finding,
    curve_script,
    curve_table,
    methods_of,
    metrics_of,
    overall_finding,
    paper_dataset,
    paper_script,
    paper_view,
    readings_of,
    titles,
)
from dashboard.methods.words import ABOUT, metric_of
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from uncletc import PAPER_METHODS
from uncletc.paper import tables

_ACROSS = 3  # charts side by side

committed = st.cache_data(ttl=60, show_spinner=False)(view.committed)
committed_rows = st.cache_data(ttl=60, show_spinner=False)(view.committed_rows)


def paper_section() -> None:
    """Draw one table or figure of the paper as charts, with the finding on top."""
    rows, curves = committed_rows(), committed("curves")
    names = titles(rows, curves)
    if not names:
        st.info(
            "The results of the paper's tables did not come with this copy of uncletc. "
            "`python -m benchmarks.paper` makes them in a checkout; *Your data* works without them."
        )
        return
    if words := overall_finding(rows):
        st.success(words, icon=":material/leaderboard:")
    table, metric = _choose_table(names, rows, curves)
    is_figure = table in tables.FIGURES
    st.caption(" ".join([ABOUT.get(table, ""), metric_of(metric).help]))
    if is_figure and curves is not None:
        _figure(curves, table, metric)
        return
    present = methods_of(rows, table)
    every = [*PAPER_METHODS, tables.PAPERS_OWN]
    methods = st.multiselect(
        "Methods",
        every,
        every,
        key="methods",
        bind="query-params",
        help="Which methods to show, where the table has them. The finding is about all of them.",
    )
    reading = EXACT
    if (readings := readings_of(rows, table)) != [EXACT]:
        reading = segmented(
            "Simulation setup",
            readings,
            key="reading",
            help="**exact**: the fractions of entries are those that the paper states. **As in the "
            "public code**: those that its code really gives, which observes more entries.",
        )
    shown = paper_view(rows, table=table, metric=metric, methods=methods, reading=reading)
    if shown.insight:
        st.markdown(shown.insight)
    if shown.rows.empty:
        st.info(f"None of the chosen methods has a result here; {', '.join(present)} do.")
        return
    _draw(shown, metric, table)
    st.table(shown.table)
    absent = [method for method in methods if method not in present]
    st.caption(
        "Here: mean ± standard deviation"
        + (" (the paper’s own figure)." if shown.printed else ".")
        + (f" Not in this table: {', '.join(absent)}." if absent else "")
    )
    take_away(
        f"methods-{table}",
        dataset=paper_dataset(real=table == REAL),
        fit=None,
        tables={"This table": shown.rows, "All tables": rows},
        code=paper_script(shown, table=table, metric=metric, reading=reading),
    )


def _choose_table(
    names: dict[str, str], rows: pd.DataFrame, curves: pd.DataFrame | None
) -> tuple[str, str]:
    """A table or figure of the paper, and what is compared in it."""
    left, right = st.columns([3, 2])
    table = left.selectbox(
        "Table",
        list(names),
        format_func=names.__getitem__,
        key="table",
        bind="query-params",
        help="All simulations of the paper run again, and its comparison on real data.",
    )
    is_figure = table in tables.FIGURES
    part = curves[curves["figure"] == table] if is_figure and curves is not None else rows
    metrics = list(part["metric"].unique()) if is_figure else metrics_of(rows, table)
    if st.session_state.get("metric", metrics[0]) not in metrics:
        del st.session_state["metric"]  # a choice that this table does not have
    metric = right.selectbox(
        "What is compared",
        metrics,
        format_func=lambda name: metric_of(name).axis,
        key="metric",
        bind="query-params",
        help="λ: expected true counts; p: detection. Lower is better for all errors.",
    )
    return table, metric


def _draw(view: PaperView, metric: str, table: str) -> None:
    columns = list(view.rows["column"].unique())
    folds = table == REAL
    legend = [f"● run here, mean ± sd over {view.trials} {'folds' if folds else 'trials'}"]
    if view.printed:
        legend.append("○ printed in the paper")
    if view.floors:
        legend.append("┊ oracle (p known)")
    if not folds:
        legend.append("simulated counts")
    st.caption(" · ".join(legend))
    across = 2 if len(columns) == 4 else min(len(columns), _ACROSS)
    places = [place for _ in range(0, len(columns), across) for place in st.columns(across)]
    axis, log = metric_of(metric).axis, metric_of(metric).better == "lower"
    for k, (place, column) in enumerate(zip(places, columns, strict=False)):
        part, floor = view.rows[view.rows["column"] == column], view.floors.get(column)
        with place:
            st.markdown(f"**{column}**")
            show_chart(
                partial(dots_chart, part, title=axis, limits=view.limits, floor=floor, log=log),
                key=f"paper-{k}",
                alt=f"{axis} of {len(part)} methods, {column}",
            )


def _figure(curves: pd.DataFrame, figure: str, metric: str) -> None:
    if words := curve_finding(curves, figure=figure, metric=metric):
        st.markdown(words)
    table, axis = curve_table(curves, figure=figure, metric=metric), metric_of(metric).axis
    limits = float(table["mean"].min()), float(table["mean"].max())
    for k, (setting, part) in enumerate(table.groupby("setting", sort=False)):
        st.markdown(f"**{setting}**")
        show_chart(
            partial(lines_chart, part, title=axis, limits=limits),
            key=f"curve-{k}",
            alt=f"{axis} over iterations, {setting}",
        )
    take_away(
        f"methods-{figure}",
        dataset=paper_dataset(real=False),
        fit=None,
        tables={"This figure": table},
        code=curve_script(figure, metric),
    )

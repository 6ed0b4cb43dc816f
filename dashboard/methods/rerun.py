"""The section "Re-run a cell" of the page "Methods"."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.methods.charts import running_chart
from dashboard.methods.paper import committed_rows
from dashboard.methods.running import method_session, progress_or_trouble
from dashboard.methods.scores import (
    cell_rows,
    cell_script,
    committed_cell,
    committed_words,
    curve_frame,
)
from dashboard.methods.view import paper_dataset
from dashboard.methods.words import metric_of, number
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.text.page import show_chart
from dashboard.work.orders import Cell
from uncletc.paper import tables


def rerun_section() -> None:
    """Let the reader run one trial of any cell, and see where it lies."""
    st.markdown(
        "Do not take the tables on trust: **run any cell here.** Counts are simulated with the "
        "seed you choose, fitted, and judged by the known truth."
    )
    mine = method_session()
    cell = _choose_cell()
    pressed = st.button(
        "Run this cell",
        type="primary",
        key="rerun",
        help="Runs in the background; most methods need a second or less, others up to a minute.",
    )
    rows = committed_rows()
    if pressed:
        mine.submit([cell])
    stored = committed_cell(rows, cell)
    references = {m: float(stored.loc[m, "mean"]) for m in ("MAE_λ", "MAE_p") if m in stored.index}
    going = progress_or_trouble([cell], references)  # before the look-up: see fit_or_stop
    result = mine.lookup(cell)
    if going:
        return
    if result is None:
        st.info("Press **Run this cell** to see its errors beside the stored ones.")
        return
    values = cell_rows(result, rows, cell)
    shown = values[values["metric"].isin(["MAE_λ", "MAE_p"])]
    shown = shown if len(shown) else values
    for place, row in zip(st.columns(max(len(shown), 2)), shown.itertuples(), strict=False):
        place.metric(metric_of(row.metric).words.capitalize(), number(row.value))
        place.caption(f"{committed_words(row)}. {row.verdict}")
    st.caption(
        f"One trial, seed {cell.seed}, {result['seconds']:.1f} s. Simulated counts. Dotted lines "
        "below: stored means."
    )
    curve = curve_frame(result["curve"])
    if curve["iteration"].nunique() > 1:
        show_chart(
            partial(running_chart, curve, references),
            key="cell-curve",
            alt=f"Errors of {cell.method} over its iterations",
        )
    with st.expander("All figures of this trial"):
        st.dataframe(values, width="stretch", hide_index=True)
    take_away(
        "methods-cell",
        dataset=paper_dataset(real=False),
        fit=None,
        tables={"This trial": values, "Errors over iterations": curve},
        code=cell_script(cell),
    )


def _choose_cell() -> Cell:
    first, second, third, fourth = st.columns([3, 2, 2, 1])
    table = first.selectbox(
        "Table",
        list(tables.TABLES),
        format_func=lambda key: tables.TABLES[key].title,
        key="cell_table",
        bind="query-params",
        help="One of the paper's tables of simulations.",
    )
    chosen = tables.TABLES[table]
    column = second.selectbox(
        "Column",
        [each.label for each in chosen.columns],
        key=f"cell_column_{table}",
        bind="query-params",
        help="The setting of the simulation.",
    )
    method = third.selectbox(
        "Method",
        list(chosen.methods),
        key=f"cell_method_{table}",
        bind="query-params",
        help="Who fits. “p known” is given every p: its error is the floor. “UncleTC, "
        "paper's algorithm” is the paper's own, slower way to fit the same model.",
    )
    seed = fourth.number_input(
        "Seed",
        0,
        9999,
        0,
        key="cell_seed",
        bind="query-params",
        help="Decides the counts and the fit. Stored trials start at seed 0.",
    )
    readings = list(chosen.column(column).readings)
    reading = readings[0]
    if len(readings) > 1:
        reading = st.segmented_control(
            "Reading",
            readings,
            default=readings[0],
            required=True,
            key="cell_reading",
            bind="query-params",
            help="**exact**: as many counts as the paper states. **As in the public code**: as "
            "many as its code really draws, which is more.",
        )
    return Cell(table=table, column=column, method=method, seed=int(seed), reading=reading)

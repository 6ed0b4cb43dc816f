"""The section "The paper's tables" of the page "Methods"."""

from __future__ import annotations

import streamlit as st

from dashboard.methods import view
from dashboard.methods.view import (
    EXACT,
    REAL,
    metrics_of,
    overall_finding,
    paper_dataset,
    paper_view,
    readings_of,
    titles,
)
from dashboard.methods.words import ABOUT, metric_of
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.sidebar.widgets import segmented, simulated_badge

committed_rows = st.cache_data(ttl=60, show_spinner=False)(view.committed_rows)


def paper_section() -> None:
    """Draw one table of the paper, ours beside the printed figures, with the finding on top."""
    rows = committed_rows()
    names = titles(rows)
    if not names:
        st.info(
            "The results of the paper's tables did not come with this copy of uncletc. "
            "`python -m benchmarks.paper` makes them in a checkout; *These counts* works without."
        )
        return
    if words := overall_finding(rows):
        st.success(words, icon=":material/leaderboard:")
    left, right = st.columns([3, 2])
    table = left.selectbox(
        "Table",
        list(names),
        format_func=names.__getitem__,
        key="table",
        bind="query-params",
        help="All simulations of the paper, run again here, and its comparison on real data.",
    )
    metrics = metrics_of(rows, table)
    if st.session_state.get("metric", metrics[0]) not in metrics:
        del st.session_state["metric"]  # a choice that this table does not have
    metric = right.selectbox(
        "Measure",
        metrics,
        format_func=lambda name: metric_of(name).axis,
        key="metric",
        bind="query-params",
        help="λ: expected true counts; p: detection. Lower is better for all errors.",
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
    dataset = paper_dataset(real=table == REAL)
    simulated_badge(dataset)
    shown = paper_view(rows, table=table, metric=metric, reading=reading)
    if shown.insight:
        st.markdown(shown.insight)
    with st.container(key="paper-table"):
        st.table(shown.table)
    over = f"mean ± standard deviation of {shown.trials} {'folds' if table == REAL else 'trials'}"
    st.caption(
        f"{metric_of(metric).axis}, {over}{', in brackets as printed' if shown.printed else ''}; "
        f"best in bold. {ABOUT.get(table, '')} {metric_of(metric).help}"
    )
    take_away(
        f"methods-{table}",
        dataset=dataset,
        fit=None,
        tables={"This table": shown.rows, "All tables": rows},
    )

"""Sections of the page "Methods": the paper's tables, and methods compared on these counts."""

from dataclasses import replace

import streamlit as st

from dashboard.methods import view
from dashboard.shared.cache import with_model
from dashboard.shared.charts.places import is_own
from dashboard.shared.fit_status.service import batch_under_way, session
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table import CLOSED
from dashboard.shared.sidebar import widgets
from dashboard.shared.sidebar.model import NO_DEATHS, RECOMMENDED, SETTINGS, Family, at_first
from dashboard.shared.sidebar.sidebar import choose_family, default_of
from dashboard.shared.text.words import read_words
from dashboard.work.orders import N_FOLDS, Evaluate, make_settings
from uncletc import METHODS, CountTensor, FitSettings, compare
from uncletc.datasets import Dataset
from uncletc.fitting.recipe import usual_detection_by

HELPS = read_words(__file__, "helps.toml")


def paper_section() -> None:
    """Draw one table of the paper, ours beside the printed figures, with the finding on top."""
    rows = view.paper_rows()
    names = view.titles(rows)
    if words := view.overall_finding(rows):
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
    metrics = view.values_in(rows, table, "metric", view.METRICS)
    if st.session_state.get("metric", metrics[0]) not in metrics:
        del st.session_state["metric"]  # a choice that this table does not have
    metric = right.selectbox(
        "Measure",
        metrics,
        format_func=lambda name: view.metric_of(name).axis,
        key="metric",
        bind="query-params",
        help="λ: expected true counts; p: detection. Lower is better for all errors.",
    )
    reading = widgets.segmented(
        "Simulation setup",
        view.values_in(rows, table, "reading"),
        key="reading",
        help=HELPS["reading"],
    )
    dataset = view.paper_dataset(real=table == view.REAL)
    widgets.simulated_badge(dataset)
    shown = view.paper_view(rows, table=table, metric=metric, reading=reading)
    with st.container(key="paper-table"):
        st.table(shown.table)
    tried = "folds" if table == view.REAL else "trials"
    over = f"mean ± standard deviation of {shown.trials} {tried}"
    printed = HELPS["printed"] if shown.rows["paper_mean"].notna().any() else ""
    st.caption(
        f"{view.metric_of(metric).axis}, {over}, best in bold. "
        f"{printed}{view.ABOUT.get(table, '')} {view.metric_of(metric).help}"
    )
    take_away(
        f"methods-{table}",
        dataset=dataset,
        fit=None,
        tables={"This table": shown.rows, "All tables": rows},
    )


_KINDS: dict[compare.FoldKind, str] = {"entry": "single counts", "fibre": "whole places or pairs"}


def compare_section() -> None:
    """Compare chosen methods on the chosen counts, in the background."""
    session("methods").service.warm("long")  # torch is loaded while the reader chooses
    family = choose_family()
    with st.sidebar:
        name = widgets.choose_dataset(family)
    dataset = widgets.dataset_or_stop(name)
    widgets.simulated_badge(dataset)
    chosen = _choose_orders(dataset, family)
    orders = list(chosen.values())
    if not orders:
        st.info("Choose at least one method.")
        return
    mine = session("methods")
    pressed = st.button(
        "Compare",
        type="primary",
        key="compare_run",
        disabled=not mine.missing(orders),
        help="Runs in the background, one method after the other; results appear when ready.",
    )
    words = "{done} of {all} methods finished"
    under_way = batch_under_way("methods", orders, pressed=pressed, words=words)
    found = {name: mine.service.lookup(order) for name, order in chosen.items()}
    results = {name: result for name, result in found.items() if result is not None}
    if len(results) < len(orders) and not under_way:
        st.info(f"Press **Compare** to run {len(orders) - len(results)} of {len(orders)} methods.")
    if not under_way and (words := view.comparison(results)):
        st.markdown("So far: " * (len(results) < len(orders)) + words)
    if results:
        _draw(dataset, results, orders[0].trials)


def _choose_orders(dataset: Dataset, family: Family) -> dict[str, Evaluate]:
    """Ask which methods to compare, in how many folds of which kind, and their rank."""
    methods = st.multiselect(
        "Methods to compare",
        [RECOMMENDED, *METHODS],
        view.DEFAULT_METHODS,
        key="compare",
        bind="query-params",
        help=HELPS["compare"],
    )
    left, middle, right = st.columns([4, 3, 3])
    kind = widgets.segmented("Hide", _KINDS, key="hide", where=left, help=HELPS["hide"])
    folds = middle.slider(
        "Folds", 1, N_FOLDS, 1, key="folds", bind="query-params", help=HELPS["folds"]
    )
    rank = right.slider("Rank", 1, 20, 5, key="rank", bind="query-params", help=HELPS["rank"])
    st.caption(f"Each fold hides {view.what_is_hidden(dataset.counts, kind)}. {HELPS['models']}")
    orders: dict[str, Evaluate] = {}
    for name in methods:
        method = name if name in METHODS else view.OURS
        counts, settings = dataset.counts, make_settings(method, rank, kind)
        if name == RECOMMENDED:
            counts, settings = _recommended(dataset, family)
        given = {"counts": counts, "method": method, "settings": settings}
        orders[name] = Evaluate(**given, kind=kind, trials=folds)
    return orders


def _recommended(dataset: Dataset, family: Family) -> tuple[CountTensor, FitSettings]:
    """The counts and settings that pages fit at first, without deaths, which no rival reads."""
    counts = dataset.counts
    choice, settings = at_first(dataset, family, NO_DEATHS)
    settings = replace(settings, rank=default_of(SETTINGS["rank"], family))
    mode = st.session_state.get(CLOSED, counts.closed_mode) if is_own(dataset) else None
    if mode and not counts.surveys:
        choice = replace(choice, effects=(), by=usual_detection_by(counts, (mode,)))
        settings = replace(choice.settings(settings), closed=(mode,))
    return with_model(dataset, choice).counts, settings


def _draw(dataset: Dataset, results: dict[str, dict], folds: int) -> None:
    table = view.scores_table(results)
    # Without ± of one fold.
    shown = view.rounded(table.dropna(axis="columns", how="all"))
    columns = ["method", *(c for name in view.FIELDS for c in (name, f"± {name}") if c in shown)]
    st.dataframe(
        shown[[*columns, "seconds"]],
        hide_index=True,
        key="scores",
        # It stays while the numbers scroll.
        column_config={"method": st.column_config.Column(pinned=True)},
        alt="Held-out scores by method, best first",
    )
    st.caption(view.METRICS[view.LOG_SCORE].help + " ±: standard error over folds." * (folds > 1))
    take_away("methods", dataset=dataset, fit=None, tables={"Held-out errors": table})

"""The section "Your data" of the page "Methods": methods compared on hidden counts."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dashboard.methods.charts import scores_chart
from dashboard.methods.scores import (
    FIELDS,
    beside_words,
    default_methods,
    evaluate_script,
    scores,
    settings_words,
    what_is_hidden,
)
from dashboard.methods.words import metric_of
from dashboard.shared.fit_status.service import batch_under_way, session
from dashboard.shared.fit_status.takeaway import take_away
from dashboard.shared.own_table import NAME as OWN
from dashboard.shared.own_table import keep_own, own_or_link, read_own_table
from dashboard.shared.sidebar.sidebar import choose_dataset
from dashboard.shared.sidebar.widgets import dataset_or_stop, segmented, simulated_badge
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.scripts import Code, load
from dashboard.work.orders import N_FOLDS, Evaluate, FoldKind, make_settings
from uncletc import METHODS, PAPER_METHODS
from uncletc.datasets import Dataset

_FAMILIES = {"COVID-19": "covid", "Plant–pollinator": "ppi"}
_KINDS: dict[str, FoldKind] = {"single counts": "entry", "whole places or pairs": "fibre"}


def compare_section() -> None:
    """Compare chosen methods on chosen counts, in the background."""
    session("methods").service.warm("long")  # torch is loaded while the reader chooses
    chosen = _choose_data()
    if chosen is not None:
        _compare(*chosen)


def _choose_data() -> tuple[Dataset, Code] | None:
    """The counts, and the code that loads them."""
    keep_own("counts_of", OWN)
    choice = segmented(
        "Data",
        [*_FAMILIES, OWN],
        key="counts_of",
        width="stretch",
        help="On which counts to compare.",
    )
    if choice == OWN:
        own = own_or_link()
        read_own_table(own is not None)
        return None if own is None else (own.dataset, own.code)
    read_own_table(False)
    name = choose_dataset(_FAMILIES[choice])
    dataset = dataset_or_stop(name)
    simulated_badge(dataset)
    return dataset, load(name)


def _compare(dataset: Dataset, loaded: Code) -> None:
    methods = st.multiselect(
        "Methods to compare",
        list(METHODS),
        default_methods(),
        key="compare",
        bind="query-params",
        help=f"The last {len(METHODS) - len(PAPER_METHODS)} are common baselines that the paper "
        "does not have. CoSTCo, POND and HaLRTC take much longer than the others.",
    )
    kind, folds, rank = _choose_folds()
    orders = [
        Evaluate(
            counts=dataset.counts,
            method=method,
            settings=make_settings(method, rank, 0, kind),
            kind=kind,
            trials=folds,
        )
        for method in methods
    ]
    st.caption(
        f"Hidden in each fold: {what_is_hidden(dataset.counts, kind)}. "
        + ("**One of five folds only: a quick look.** " if folds == 1 else "")
        + settings_words(methods, rank)
        + beside_words(methods)
    )
    if not orders:
        st.info("Choose at least one method.")
        return
    mine = session("methods")
    missing = mine.missing(orders)
    pressed = st.button(
        "Compare",
        type="primary",
        key="compare_run",
        disabled=not missing,
        help="Runs in the background, one method after the other; results appear when ready.",
    )
    going = batch_under_way(  # before the observation process-up: see fit_or_stop
        "methods",
        tuple(orders),
        orders,
        pressed=pressed,
        words="{done} of {all} methods finished",
        draw=partial(_running, orders, len(missing)),
    )
    results = {
        order.method: result for order in orders if (result := mine.lookup(order)) is not None
    }
    waiting = len(orders) - len(results)
    if waiting and not going:
        st.info(f"Press **Compare** to run {waiting} of {len(orders)} methods.")
    if results:
        _draw(dataset, loaded, results, orders, rank)


def _running(orders: list[Evaluate], missing: int) -> None:
    """Draw what runs; the page follows each method that finishes."""
    mine = session("methods")
    if len(mine.missing(orders)) < missing:
        st.rerun()
    for job in mine.under_way(orders):
        if job.state == "running":
            fold = f"fold {min(job.trial + 1, job.order.trials)} of {job.order.trials}"
            st.caption(
                f"{job.order.method}: {fold}, iteration {job.iteration} · {job.seconds:.1f} s"
            )


def _choose_folds() -> tuple[FoldKind, int, int]:
    """What to hide, in how many folds, and the rank of all methods."""
    left, middle, right = st.columns([4, 3, 3])
    hide = segmented(
        "Hide",
        list(_KINDS),
        key="hide",
        where=left,
        help="**Single counts**: how well are gaps filled? **Whole places or pairs**: what can be "
        "said where nothing was counted? The second is harder, and the honest test for places "
        "that nobody observed.",
    )
    folds = middle.slider(
        "Folds",
        1,
        N_FOLDS,
        1,
        key="folds",
        bind="query-params",
        help="Counts are divided into five parts. Each fold hides one part, chooses the number of "
        "iterations on another and fits the other three. 1 is a quick look; 5 show how much "
        "chance matters.",
    )
    rank = right.slider(
        "Rank",
        1,
        20,
        5,
        key="rank",
        bind="query-params",
        help="How many patterns each method may use; the same for all that have a rank.",
    )
    return _KINDS[hide], folds, rank


def _draw(
    dataset: Dataset, loaded: Code, results: dict[str, dict], orders: list[Evaluate], rank: int
) -> None:
    metric = st.selectbox(
        "Compared by",
        list(FIELDS),
        format_func=lambda name: metric_of(name).axis,
        key="by",
        bind="query-params",
        help="How predicted and hidden counts are compared.",
    )
    view = scores(results, metric)
    if view.insight:
        st.markdown(view.insight)
    several = orders[0].trials > 1
    show_chart(
        partial(scores_chart, view.bars, title=metric_of(metric).axis),
        key="scores",
        alt=f"{metric_of(metric).axis} of {len(results)} methods on hidden counts",
    )
    st.caption(
        metric_of(metric).help
        + (" ± is the standard deviation over folds." if several else "")
        + " Blue methods model missed events; amber ones take counts as complete."
    )
    shown = view.table.dropna(axis="columns", how="all").round(4)  # no ± of one fold
    pinned = {"method": st.column_config.Column(pinned=True)}  # while the others scroll
    st.dataframe(shown, width="stretch", hide_index=True, column_config=pinned)
    methods, how = [order.method for order in orders], orders[0]
    take_away(
        "methods",
        dataset=dataset,
        fit=None,
        tables={"Held-out errors": view.table},
        code=evaluate_script(loaded, methods, rank=rank, kind=how.kind, trials=how.trials),
    )

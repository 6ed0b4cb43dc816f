"""Parts of the plant–pollinator page: its choices, and what a click chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from dashboard.ppi.view import (
    MOST_CHOSEN,
    PICKS,
    PpiView,
    build_ppi_view,
    meadows_of,
    pair_labels,
    pair_sums,
    quick_pick,
    toggled,
)
from dashboard.shared.cache import cached, grids_of
from dashboard.shared.fit_status.running import unfinished
from uncletc import Anchor, Fit
from uncletc.datasets import Dataset


class Filters(NamedTuple):
    """What is averaged and compared; nothing chosen means everything."""

    years: tuple[int, ...]
    guilds: tuple[str, ...]
    meadows: tuple[str, ...]


def filters(dataset: Dataset) -> tuple[Filters, int]:
    """Ask for seasons, guilds, meadows and the number of bars."""
    tables, known_meadows = dataset.mode_tables, meadows_of(dataset)
    left, middle, right = st.columns([2, 3, 2])
    years = left.pills(
        "Seasons",
        sorted(tables["visit"]["year"].unique().tolist()),
        selection_mode="multi",
        key="seasons",
        bind="query-params",
        help="The years whose visits are averaged and drawn. None chosen: all.",
    )
    guilds = middle.multiselect(
        "Guilds of pollinators",
        sorted(tables["pollinator"]["guild"].unique()),
        key="guilds",
        bind="query-params",
        placeholder="all guilds",
        help="Only pollinators of these guilds are compared. None chosen: all.",
    )
    meadows: list[str] = []
    if known_meadows:  # simulated counts have none
        meadows = middle.multiselect(
            "Meadows",
            known_meadows,
            key="meadows",
            bind="query-params",
            placeholder="all meadows",
            help="Only interactions counted in any of these meadows are compared. None chosen: "
            "all. It changes no number: the counts of a visit are sums over its meadows, and so "
            "p is the same in all of them.",
        )
    n = right.slider(
        "Interactions to list",
        5,
        30,
        10,
        key="bars_n",
        bind="query-params",
        help="How many interactions with the highest and the lowest mean p to list.",
    )
    return Filters(tuple(years), tuple(guilds), tuple(meadows)), n


def ppi_view(dataset: Dataset, fit: Fit, anchor: Anchor, selected: Filters) -> PpiView:
    """Return the view of a fit and what is averaged and compared; for `cached`."""
    return build_ppi_view(
        dataset,
        fit,
        anchor,
        **selected._asdict(),
        grids=grids_of(dataset, fit, anchor),
        sums=cached("ppi sums", pair_sums, dataset, fit),
    )


def choose_interactions(dataset: Dataset, view: PpiView, fit: Fit) -> list[str]:
    """Draw quick picks and the list of interactions, and return what is chosen."""
    with st.container(horizontal=True):
        for pick, (*_, name) in PICKS.items():
            if st.button(name, key=f"pick-{pick}", help=f"Shows the one with the {pick} of p"):
                st.session_state["interaction"] = [quick_pick(view, pick)]
    labels = pair_labels(dataset)
    _keep_valid(labels, view, fit)
    return st.multiselect(
        "Interactions",
        labels,
        key="interaction",
        bind="query-params",
        max_selections=MOST_CHOSEN,
        placeholder="type a plant or a pollinator",
        help=f"Up to {MOST_CHOSEN} are drawn in one chart. Type part of a name to search. Click a "
        "bar or a square of the matrix to add an interaction or remove it.",
    )


def on_click(chart: str) -> None:
    """Add the interaction clicked on in a chart, or remove it."""
    for point in st.session_state[chart].selection.points:
        label = point["customdata"] if chart == "matrix" else point["y"]
        st.session_state["interaction"] = toggled(st.session_state.get("interaction", []), label)


def _keep_valid(labels: Sequence[str], view: PpiView, fit: Fit) -> None:
    """Choose the best-detected interaction where nothing fitting is chosen."""
    provisional = st.session_state.pop("picked-so-far", None)  # from estimates so far
    given = st.session_state.get("interaction")
    kept = [label for label in given or [] if label in labels]
    if given is None or kept == provisional or (given and not kept):
        kept = [quick_pick(view, next(iter(PICKS)))]
        if unfinished(fit):
            st.session_state["picked-so-far"] = kept
    if kept != given:
        st.session_state["interaction"] = kept

"""Parts of the plant–pollinator page: its choices, and the bars that choose, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st

from dashboard.ppi.answers import pair_sums
from dashboard.ppi.layout import Order, build_matrix
from dashboard.ppi.view import (
    MOST_CHOSEN,
    PICKS,
    Pick,
    PpiView,
    build_ppi_view,
    meadows_of,
    pair_labels,
    quick_pick,
    toggled,
)
from dashboard.shared.cache import cached, cached_for_counts, grids_of
from dashboard.shared.charts.bars import interaction_bars, log_range
from dashboard.shared.charts.places import Matrix
from dashboard.shared.charts.style import BAR_COLORS, axis_limit
from dashboard.shared.fit_status.running import unfinished
from dashboard.shared.text.page import show_chart
from uncletc import Anchor, Fit
from uncletc.datasets import Dataset

_BUTTONS: dict[Pick, str] = {
    "highest mean": "Highest mean",
    "lowest mean": "Lowest mean",
    "highest sd": "Varies most",
    "lowest sd": "Varies least",
}


@dataclass(frozen=True, kw_only=True)
class Filters:
    """What is averaged and compared; nothing chosen means everything.

    Attributes
    ----------
    years : tuple of int
    guilds : tuple of str
    meadows : tuple of str
    n : int
        Bars at each end.
    """

    years: tuple[int, ...]
    guilds: tuple[str, ...]
    meadows: tuple[str, ...]
    n: int


def filters(dataset: Dataset) -> Filters:
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
    return Filters(years=tuple(years), guilds=tuple(guilds), meadows=tuple(meadows), n=n)


def ppi_view(
    dataset: Dataset,
    fit: Fit,
    anchor: Anchor,
    years: tuple[int, ...],
    guilds: tuple[str, ...],
    meadows: tuple[str, ...],
) -> PpiView:
    """Return the view of a fit and what is averaged and compared; for `cached`."""
    grids = grids_of(dataset, fit, anchor)
    sums = cached("ppi sums", pair_sums, dataset, fit, years)
    return build_ppi_view(
        dataset, fit, anchor, years=years, guilds=guilds, meadows=meadows, grids=grids, sums=sums
    )


def matrix_of(
    dataset: Dataset,
    fit: Fit,
    anchor: Anchor,
    years: tuple[int, ...],
    guilds: tuple[str, ...],
    meadows: tuple[str, ...],
    order: Order,
) -> Matrix:
    """Return the matrix of the view, its rows and columns in an order; for `cached`."""
    view = cached("ppi", ppi_view, dataset, fit, anchor, years, guilds, meadows)
    return build_matrix(view, order)


def choose_interactions(dataset: Dataset, view: PpiView, fit: Fit) -> list[str]:
    """Draw quick picks and the list of interactions, and return what is chosen."""
    with st.container(horizontal=True):
        for pick, name in _BUTTONS.items():
            if st.button(name, key=f"pick-{pick}", help=f"Shows the one with the {pick} of p"):
                st.session_state["interaction"] = [quick_pick(view, pick)]
    labels = cached_for_counts("pairs", pair_labels, dataset)
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


def best_and_worst(view: PpiView, chosen: Sequence[str]) -> None:
    """Draw the interactions with the lowest and the highest mean p side by side, on one axis."""
    if not view.ranking:
        why = "The order of interactions by p says nothing here."
        if view.answers is not None:
            why = view.answers.apart.words or why
        st.header("Lowest and highest mean detection")
        st.info(f"{why} So none is listed first.", icon=":material/help:")
        return
    both = [view.bottom, view.top]
    limits = log_range(*both) if view.log else (0.0, axis_limit(*both))
    headings = {"bottom": "Lowest mean detection", "top": "Highest mean detection"}
    for column, (side, heading), bars in zip(st.columns(2), headings.items(), both, strict=True):
        with column:
            st.header(heading)
            show_chart(
                partial(
                    interaction_bars,
                    bars,
                    title=view.title,
                    color=BAR_COLORS[side],
                    limits=limits,
                    log=view.log,
                    chosen=[label for label in chosen if label in set(bars["label"])],
                ),
                key=f"bars-{side}",
                on_select=lambda key=f"bars-{side}": on_click(key),
                selection_mode="points",
                alt=f"{heading}: {len(bars)} interactions and their p",
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

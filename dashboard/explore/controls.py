"""Choices and parts of the page "Explore"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import county_map
from dashboard.countymap.states import by_county
from dashboard.explore.answers import ExploreAnswers, build_answers, level_sums
from dashboard.explore.charts import places_chart, shapes_chart
from dashboard.explore.shapes import Joined, join, key_columns
from dashboard.explore.view import (
    MOST_CHOSEN,
    QUANTITIES,
    ExploreView,
    Quantity,
    View,
    build_explore_view,
    mode_pairs,
    ordered_modes,
    views_of,
)
from dashboard.shared.cache import cached
from dashboard.shared.charts.bars import interaction_bars, log_range
from dashboard.shared.charts.places import located_mode
from dashboard.shared.charts.style import BAR_COLORS, axis_limit
from dashboard.shared.own_table import PREFIX
from dashboard.shared.sidebar.anchors import Anchor
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import capital
from dashboard.work.shapes import Shapes, read_shapes
from uncletc import Fit, Scale
from uncletc.datasets import Dataset

_ENDS = {"top": "Highest", "bottom": "Lowest"}
_MOST_LISTED = 30
_SHAPES = f"{PREFIX}shapes"


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a reader looks at.

    Attributes
    ----------
    view : {"places", "pairs", "any mode"}
    modes : tuple of int
        One or two.
    quantity : {"p", "λ", "counts"}
    n : int
        Bars at each end.
    """

    view: View
    modes: tuple[int, ...]
    quantity: Quantity
    n: int


def choose(dataset: Dataset) -> Shown:
    """Ask what to look at: which view, by which modes, and which number."""
    counts, views = dataset.counts, views_of(dataset)
    left, middle, right = st.columns([3, 3, 2], vertical_alignment="bottom")
    view: View = segmented(
        "View",
        views,
        key="view",
        where=left,
        help="**places**: a map, where levels of a mode lie somewhere. **pairs**: a matrix of two "
        "modes. **any mode**: the levels of one.",
    )
    moved = bool(counts.n_attributes)
    quantity: Quantity = segmented(
        "Show",
        QUANTITIES,
        names={"p": "p", "λ": "λ", "counts": "reported counts"},
        default="p" if moved else "λ",
        key="quantity",
        where=middle,
        help="**p**: the chance that an event is counted. **λ**: how many events to expect. "
        "**Reported counts**: as they are, without a model.",
    )
    n = right.slider(
        "How many to list",
        5,
        _MOST_LISTED,
        10,
        key="listed",
        bind="query-params",
        help="Bars with the highest and with the lowest values.",
    )
    return Shown(view=view, modes=_modes(dataset, view), quantity=quantity, n=n)


def _modes(dataset: Dataset, view: View) -> tuple[int, ...]:
    if view == "places":
        return (place_mode(dataset),)
    if view == "pairs":
        pairs = mode_pairs(dataset)
        if len(pairs) == 1:
            return next(iter(pairs.values()))
        return pairs[
            segmented(
                "Rows × columns",
                list(pairs),
                key=f"{PREFIX}rows-columns",
                wrap=True,
                help="Which two modes to look at; means are over all others.",
            )
        ]
    names = list(dataset.counts.modes)
    chosen = segmented(
        "By", names, key=f"{PREFIX}by-mode", wrap=True, help="Whose levels to compare."
    )
    return (names.index(chosen),)


def place_mode(dataset: Dataset) -> int:
    """The mode that is drawn as a map: one whose levels lie somewhere, or that shapes are of."""
    located, shapes = located_mode(dataset), st.session_state.get(_SHAPES)
    names = list(dataset.counts.modes)
    if shapes is None:
        return 0 if located is None else located
    first = 0 if located is None else located
    chosen = segmented(
        "Shapes are of",
        names,
        default=names[first],
        key=f"{PREFIX}shapes-of",
        wrap=True,
        help="The mode whose levels the shapes are.",
    )
    return names.index(chosen)


def choose_shapes(dataset: Dataset, mode: int) -> Joined | None:
    """Ask for shapes of the levels of a mode, and for the column that names them."""
    shapes: Shapes | None = st.session_state.get(_SHAPES)
    nowhere = shapes is None and mode != located_mode(dataset)
    with st.expander("Shapes of your own", expanded=nowhere, icon=":material/layers:"):
        st.markdown(
            "GeoJSON, a GeoPackage, or a shapefile with all its parts in one zip. One column must "
            "name the levels; the file stays in this session."
        )
        file = st.file_uploader(
            "Shapes",
            key=f"{PREFIX}shapes-file",
            max_upload_size=30,
            help="Up to 30 MB and 5,000 areas.",
        )
        if file is not None and (shapes is None or shapes.name != file.name):
            try:
                with st.spinner("Reading the shapes …"):
                    shapes = st.session_state[_SHAPES] = read_shapes(file.getvalue(), file.name)
            except ValueError as error:
                st.error(f"{error}.", icon=":material/error:")
                return None
            st.rerun()
        if shapes is None:
            return None
        levels = dataset.counts.labels[mode]
        columns = key_columns(shapes, levels)
        if not columns:
            st.error("This file names no shape: it needs a column beside the outlines.")
            return None
        column = st.selectbox(
            "Column with the names",
            columns,
            key=f"{PREFIX}shapes-column-{mode}",
            help="The one that names most levels comes first.",
        )
        joined = join(shapes, column, levels)
        st.text(" ".join([joined.sentence, *shapes.notes]))
    return joined if joined.rings else None


def explore_view(
    dataset: Dataset, fit: Fit, anchor: Anchor, modes: tuple[int, ...], quantity: Quantity
) -> ExploreView:
    """Return the view of a fit, for `cached`."""
    return build_explore_view(dataset, fit, anchor, modes, quantity)


def explore_answers(
    dataset: Dataset, fit: Fit, scale: Scale, modes: tuple[int, ...]
) -> ExploreAnswers:
    """Return answers of a fit by some modes, its sums kept."""
    with st.spinner("Adding up …"):
        found = cached("explore sums", level_sums, dataset, fit, modes)
    return build_answers(dataset, fit, scale, modes, found=found)


def places_map(dataset: Dataset, view: ExploreView) -> None:
    """Draw the values of places where they lie, or as the shapes that a reader brings."""
    (mode,) = view.modes
    here = st.container()
    joined = choose_shapes(dataset, mode)
    if joined is not None:
        show_chart(
            partial(
                shapes_chart,
                view.groups,
                joined.rings,
                title=view.title,
                limits=view.limits,
                log=view.log,
            ),
            key="explore-shapes",
            alt=f"Map of {len(joined.rings):,} levels of {view.names[0]} by {view.title}",
            where=here,
        )
        return
    if mode != located_mode(dataset):
        st.info("Nothing says where these levels lie. Bring their shapes to see a map.")
        return
    with here:
        _known_places(dataset, view, mode)


def _known_places(dataset: Dataset, view: ExploreView, mode: int) -> None:
    known = dataset.mode_tables[dataset.counts.modes[mode]].reset_index(drop=True)
    where = ["fips"] if "fips" in known else ["latitude", "longitude"]
    places = view.groups.join(known[where], on="index_0").dropna(subset=where)
    what = f"{len(places):,} levels of {view.names[0]} by {view.title}"
    if where == ["fips"]:
        _county_map(places, view, what)
        return
    show_chart(
        partial(places_chart, places, title=view.title, limits=view.limits, log=view.log),
        key="explore-places",
        alt=f"Map of {what}",
    )


def _county_map(places: pd.DataFrame, view: ExploreView, what: str) -> None:
    notes = [f"{row.label}: {row.counted:,} counted" for row in places.itertuples()]
    table = by_county(places.assign(note=notes))
    show_county_map(
        county_map(
            table,
            title=view.title,
            hover=("note",),
            limits=view.limits,
            log=view.log,
            missing="no value",
        ),
        key="explore-map",
        alt=f"Map of US counties, {what}",
    )


def highest_and_lowest(view: ExploreView, chosen: Sequence[str]) -> None:
    """Draw the levels or pairs with the highest and the lowest values, on one axis."""
    both = [view.top, view.bottom]
    limits = log_range(*both) if view.log else (0.0, axis_limit(*both))
    for column, side, bars in zip(st.columns(2), _ENDS, both, strict=True):
        with column:
            st.header(_ENDS[side])
            show_chart(
                partial(
                    interaction_bars,
                    bars,
                    title=view.title,
                    color=BAR_COLORS[side],
                    limits=limits,
                    log=view.log,
                    chosen=chosen,
                ),
                key=f"explore-{side}",
                alt=f"{_ENDS[side]} {view.title}: {len(bars)} of {len(view.ranked)}",
            )


def choose_lines(dataset: Dataset, view: ExploreView) -> tuple[int | None, tuple[str, ...]]:
    """Ask which levels or pairs to follow, along which ordered mode; None where there is none."""
    along = ordered_modes(dataset, view.modes)
    if not along:
        return None, ()
    names = [dataset.counts.modes[k] for k in along]
    name = names[0]
    if len(names) > 1:
        name = segmented("Along", names, key=f"{PREFIX}along", help="Over whose steps to follow.")
    by_size = view.groups.sort_values("counted", ascending=False)["label"].tolist()
    key = f"{PREFIX}lines-{'-'.join(map(str, view.modes))}"
    labels = st.multiselect(
        capital(" and ".join(view.names)),
        by_size,
        by_size[:1],
        key=key,
        max_selections=MOST_CHOSEN,
        help=f"Up to {MOST_CHOSEN} are drawn in one chart. Type part of a name to search.",
    )
    return along[names.index(name)], tuple(labels)

"""Parts of the overview page: what is missing, the attributes, and where the counts come from."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from dashboard.countymap.component import show_county_map
from dashboard.overview.charts import (
    along_chart,
    attribute_chart,
    county_picture,
    pattern_figure,
    points_chart,
)
from dashboard.overview.view import (
    OverviewView,
    along_mode,
    along_table,
    attribute_histogram,
    build_pattern,
    build_places,
    mode_pairs,
    pattern_table,
    place_modes,
)
from dashboard.shared.cache import cached_for_counts
from dashboard.shared.charts.places import is_own
from dashboard.shared.own_table import PREFIX
from dashboard.shared.sidebar.widgets import bound, segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.scripts import DATASET, Code, call
from dashboard.shared.text.words import capital, day_text, escape, escape_sentence
from uncletc.datasets import Dataset

Missing = tuple[dict[str, pd.DataFrame], Code]  # tables to download, and what makes the first
MAP = "map"
ALL_ATTRIBUTES = "all-attributes"  # key of a box, whose value says whether it is open


def choose_pattern(dataset: Dataset) -> tuple[tuple[int, ...] | None, int | None]:
    """Ask for two modes, or a map where there are places, and for all of the third or a step.

    Returns
    -------
    tuple of int, optional
        The modes of rows and columns; None: a map.
    int, optional
        Index along the mode of :func:`dashboard.overview.view.along_mode`.
    """
    counts = dataset.counts
    pairs: dict[str, tuple[int, ...]] = dict(mode_pairs(dataset))
    where = place_modes(dataset)
    named = ({MAP: where} if where else {}) | pairs
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    own = PREFIX if is_own(dataset) else ""  # whose words stay out of the address
    name = segmented(
        "Rows × columns",
        list(named),
        wrap=True,
        key=f"{own}modes",
        where=left,
        help="The counts form a block with one side for each mode. Choose the two to look at, or "
        "the map of places.",
    )
    shown = None if name == MAP else named[name]
    mode = along_mode(dataset, named[name])
    if mode is None:
        return shown, None
    third, steps = counts.modes[mode], counts.labels[mode]
    span = segmented(
        "Show",
        ["all", "one"],
        names={"all": f"all {len(steps)} {third}s", "one": f"one {third}"},
        key=f"{own}{third}_span",
        where=right,
        help=f"For how many {third}s there is a count, or the counts themselves at one {third}.",
    )
    if span == "all":
        return shown, None
    chosen = st.select_slider(
        capital(third),
        steps,
        steps[0],
        format_func=day_text,
        key=f"{own}one_{third}",
        **bound(own),
        help=f"The {third} whose counts are drawn. Arrow keys move it by one.",
    )
    return shown, steps.index(chosen)


def facts(view: OverviewView) -> None:
    """Draw the main numbers; they wrap on a narrow screen."""
    with st.container(horizontal=True, gap="medium"):
        for label, value, note in view.facts:
            st.metric(label, value, help=note, width="content")


def attributes(dataset: Dataset, view: OverviewView) -> None:
    """Draw how one attribute spreads, and a folded table of all, drawn once it is open."""
    key = f"{PREFIX}attribute-shown" if is_own(dataset) else "attribute"
    name = st.selectbox(
        "Attribute",
        view.attributes["attribute"],
        key=key,
        **bound(key),
        help="Where entries without a count have attributes too, their values are drawn beside: "
        "if the two differ, counts are missing where conditions are special.",
    )
    show_chart(
        partial(
            attribute_chart,
            cached_for_counts("histogram", attribute_histogram, dataset, name),
            name=name,
        ),
        key="attribute-chart",
        alt=f"Shares of entries over the values of {name}",
    )
    folded = st.expander(
        f"All {len(view.attributes)} attributes side by side", key=ALL_ATTRIBUTES, on_change="rerun"
    )
    with folded:
        if folded.open:
            _all_attributes(view)


def _all_attributes(view: OverviewView) -> None:
    spread = st.column_config.BarChartColumn(
        "spread from 0 to 1",
        y_min=0,
        help="Share of the entries in each of 20 equal steps from the smallest value to the "
        "largest.",
    )
    st.dataframe(
        view.attributes,
        hide_index=True,
        column_config={
            "attribute": st.column_config.TextColumn(pinned=True),
            "histogram": spread,
            **{
                column: st.column_config.NumberColumn(format="%.2f")
                for column in view.attributes.columns[2:]
            },
        },
    )


def provenance_card(dataset: Dataset) -> None:
    """Draw whether the counts are real, their dates, sources, licences and every rule applied."""
    provenance, own = dataset.provenance, is_own(dataset)
    real = "your counts" if own else "real counts"
    lines = [
        f"- {f'[{each.name}]({each.url})' if each.url else escape(each.name)}: {each.used_for}. "
        f"Licence: {each.licence}."
        for each in provenance.sources
    ]
    with st.container(border=True, key="provenance"):
        st.badge(
            "simulated" if provenance.simulated else real,
            icon=":material/science:" if provenance.simulated else ":material/fact_check:",
            color="orange" if provenance.simulated else "blue",
        )
        title = escape(dataset.title) if own else dataset.title
        st.markdown(f"**{title}** · {provenance.period}")
        st.markdown("\n".join(lines) or "No source: everything was drawn.")
        with st.expander("Rules applied on the way from the files to the counts"):
            shown = escape_sentence if own else str
            st.markdown("\n".join(f"- {shown(rule)}" for rule in provenance.rules))


def pattern_section(dataset: Dataset, pair: tuple[int, int], step: int | None) -> Missing:
    """Draw what was counted by two modes."""
    pattern = cached_for_counts("pattern", build_pattern, dataset, pair, step)
    row, column, third, others = (
        escape(word) if dataset.name == "own" else word
        for word in (pattern.row_mode, pattern.column_mode, pattern.third_mode, pattern.others)
    )
    if step is not None:
        what = f"Its colour is the count reported at this {third}, with the same colours for each."
    elif pattern.counted:
        what = "Its colour is the reported count."
    else:
        what = f"Its colour says for what share of {others} there is a count."
    blank = (
        "blank means that nobody counted, **not** that nothing happened"
        if pattern.counted
        else "0 % means that nobody counted, **not** that nothing happened, and blank that there "
        "is nothing to count"
    )
    st.markdown(f"One square is one {row} and {column}. {what} {blank[0].upper()}{blank[1:]}.")
    show_chart(
        partial(pattern_figure, pattern),
        key="pattern",
        alt=f"What was counted, by {pattern.row_mode} and {pattern.column_mode}",
    )
    return (
        {
            f"Counts by {pattern.row_mode} and {pattern.column_mode}": cached_for_counts(
                "pattern table", pattern_table, dataset, pair, step
            )
        }
        | _along(dataset, pair, step),
        call(pattern_table, DATASET, pair, step=step),
    )


def places_section(dataset: Dataset, step: int | None) -> Missing:
    """Draw what was counted at each place, where it lies."""
    places = cached_for_counts("counted places", build_places, dataset, step)
    st.markdown(escape(places.sentence) if dataset.name == "own" else places.sentence)
    if places.counties:
        show_county_map(
            cached_for_counts("map of places", county_picture, dataset, step),
            key="overview-map",
            alt=f"{len(places.table):,} counties by {places.title}",
            height=440,
        )
    else:
        show_chart(
            partial(points_chart, places.table, value=places.value, title=places.title),
            key="overview-points",
            alt=f"{len(places.table):,} places by {places.title}",
        )
    return (
        {"Counts by place": places.table} | _along(dataset, places.modes, step),
        call(build_places, DATASET, step=step, take=".table"),
    )


def _along(dataset: Dataset, shown: tuple[int, ...], step: int | None) -> dict[str, pd.DataFrame]:
    """Draw everything counted at each step of the mode along, if there is one."""
    mode = along_mode(dataset, shown)
    if mode is None:
        return {}
    third, steps = (
        dataset.counts.modes[mode],
        cached_for_counts("along", along_table, dataset, mode),
    )
    st.markdown(f"**Counts per {escape(third) if dataset.name == 'own' else third}**")
    show_chart(
        partial(along_chart, steps, of=third, step=step),
        key="steps",
        alt=f"Sum of reported counts per {third}",
    )
    return {f"Counts per {third}": steps}

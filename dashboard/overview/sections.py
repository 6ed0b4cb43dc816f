"""What is missing, on the overview page: a map, or two modes; and everything along a third."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import pandas as pd
import streamlit as st

from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import MapPicture
from dashboard.overview.charts import along_chart, pattern_figure, points_chart
from dashboard.overview.places import build_places, county_picture
from dashboard.overview.view import along_mode, along_table, build_pattern, pattern_table
from dashboard.shared.cache import cached_for_counts
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.scripts import DATASET, Code, call
from dashboard.shared.text.words import escape
from uncletc.datasets import Dataset


@dataclass(frozen=True, eq=False, kw_only=True)
class Missing:
    """What a section shows, to download.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        The main one first.
    code : Code
        What makes the main one.
    """

    tables: Mapping[str, pd.DataFrame]
    code: Code


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
    return Missing(
        tables={
            f"Counts by {pattern.row_mode} and {pattern.column_mode}": cached_for_counts(
                "pattern table", pattern_table, dataset, pair, step
            )
        }
        | _along(dataset, pair, step),
        code=call(pattern_table, DATASET, pair, step=step),
    )


def places_section(dataset: Dataset, step: int | None) -> Missing:
    """Draw what was counted at each place, where it lies."""
    places = cached_for_counts("counted places", build_places, dataset, step)
    st.markdown(escape(places.sentence) if dataset.name == "own" else places.sentence)
    if places.counties:
        show_county_map(
            cached_for_counts("map of places", _picture, dataset, step),
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
    return Missing(
        tables={"Counts by place": places.table} | _along(dataset, places.modes, step),
        code=call(build_places, DATASET, step=step, take=".table"),
    )


def _picture(dataset: Dataset, step: int | None) -> MapPicture:
    return county_picture(cached_for_counts("counted places", build_places, dataset, step))


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

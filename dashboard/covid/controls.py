"""Parts of the COVID-19 page: how days and a county are chosen, and what shows them."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dashboard.countymap.choice import choose_county
from dashboard.covid.charts import cell_bars, county_chart
from dashboard.covid.county import CountyView
from dashboard.covid.view import CovidView
from dashboard.shared.charts.answers import alike
from dashboard.shared.charts.style import BAR_COLORS, axis_limit
from dashboard.shared.text.page import show_chart
from uncletc.datasets import Dataset


def choose_states(dataset: Dataset, where: Any = st) -> tuple[str, ...]:
    """Ask for states; none chosen: all."""
    chosen = where.multiselect(
        "States",
        sorted(dataset.table["state"].unique()),
        key="states",
        bind="query-params",
        placeholder="all states",
        help="Map, numbers, bars and tables show the places of these states alone. None chosen: "
        "all.",
    )
    return tuple(chosen)


def choose_bars() -> int:
    """Ask how many bars to draw at each end."""
    return st.slider(
        "Places to list",
        5,
        30,
        10,
        key="covid_bars",
        bind="query-params",
        help="How many of the cells with the highest and the lowest p to list.",
    )


def county_panel(county: CountyView | None, *, day: str | None) -> None:
    """Draw the days of the chosen county, or how to choose one."""
    if county is None:
        st.info(
            "Choose a county on the map, in its search box or by a bar, to see its days.",
            icon=":material/ads_click:",
        )
        return
    st.header(county.name)
    st.markdown(" ".join(filter(None, (county.summary, county.shared))))
    show_chart(
        partial(
            county_chart,
            county.days,
            p_title=county.p_title,
            rate_title=county.rate_title,
            reported_title=county.reported_title,
            day=day,
        ),
        key="county-days",
        alt=f"Reported cases, expected true cases and p of {county.name} over the days",
    )
    st.caption(county.caption)


def cells_to_click(view: CovidView, county: CountyView | None) -> None:
    """Draw the cells with the lowest and the highest p; a click on a bar chooses its county."""
    if not view.ranking:
        st.header("Lowest and highest detection")
        why = view.answers.apart.words or "The order of places by p says nothing here."
        st.info(f"{why} So none is listed first.", icon=":material/help:")
        return
    limit = axis_limit(view.top, view.bottom)
    sides = zip(
        st.columns(2),
        ("bottom", "top"),
        (view.bottom, view.top),
        ("Lowest detection", "Highest detection"),
        strict=True,
    )
    for column, side, bars, heading in sides:
        with column:
            st.header(heading)
            show_chart(
                partial(
                    cell_bars,
                    bars,
                    title=view.title,
                    color=BAR_COLORS[side],
                    limit=limit,
                    # None where it is not among them: the same figure for all such counties.
                    chosen=county.cell if county and county.cell in set(bars["cell"]) else None,
                ),
                key=f"bars-{side}",
                on_select=partial(_on_bar, f"bars-{side}"),
                selection_mode="points",
                alt=f"{heading}: {len(bars)} cells and their p",
            )
            if alike(bars):
                st.caption(
                    f"**These {len(bars)} cannot be told apart from each other**: each might be "
                    "the first of them or the last."
                )


def _on_bar(chart: str) -> None:
    points = st.session_state[chart].selection.points
    if points:
        choose_county(points[0]["customdata"][-1])

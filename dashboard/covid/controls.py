"""Parts of the COVID-19 page: how days and a county are chosen, and what shows them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from dashboard.countymap.choice import choose_county
from dashboard.countymap.component import show_county_map
from dashboard.countymap.picture import MapPicture, county_map
from dashboard.countymap.play import Steps
from dashboard.covid.charts import cell_bars, county_chart
from dashboard.covid.county import CountyView
from dashboard.covid.view import (
    UNCERTAIN_MEANS,
    CovidView,
    build_covid_view,
)
from dashboard.shared.anchors import Anchor
from dashboard.shared.charts import BAR_COLORS, axis_limit
from dashboard.shared.days import day_text
from dashboard.shared.detection import DetectionGrids
from dashboard.shared.kept import cached, grids_of
from dashboard.shared.parts import show_chart
from dashboard.shared.widgets import segmented
from uncletc import Fit
from uncletc.datasets import Dataset


def choose_days(days: Sequence[str]) -> int | None:
    """Ask for the mean or one day; return the day's index, None for the mean."""
    left, right = st.columns([1, 2], vertical_alignment="bottom")
    span = segmented(
        "Show",
        ["mean", "day"],
        names={"mean": f"mean of {len(days)} days", "day": "one day"},
        key="span",
        where=left,
        help="One day can be played through all days with the button below the map.",
    )
    if span != "day":
        return None
    chosen = right.select_slider(
        "Day",
        days,
        format_func=day_text,
        key="day",
        bind="query-params",
        help="The day that map and bars show.",
    )
    return list(days).index(chosen)


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


def covid_view(dataset: Dataset, fit: Fit, anchor: Anchor, day: int | None) -> CovidView:
    """Return the view of a fit and a day; for `cached`."""
    return build_covid_view(dataset, fit, anchor, day=day, grids=grids_of(dataset, fit, anchor))


def the_map(
    dataset: Dataset, fit: Fit, anchor: Anchor, *, fips: str | None, day: int | None
) -> None:
    """Draw the map; a county chosen in it is chosen everywhere."""
    days = dataset.counts.labels[2]
    steps = None if day is None else day_steps(dataset, grids_of(dataset, fit, anchor), day)
    picture = cached("covid map", _picture, dataset, fit, anchor, day)
    show_county_map(
        picture,
        key="map",
        alt=f"Map of US counties coloured by {picture.title}",
        selected=fips,
        on_choose=choose_county,
        steps=steps,
        on_step=lambda step: st.session_state.update(day=days[step]),
    )


def day_steps(dataset: Dataset, grids: DetectionGrids, day: int) -> Steps:
    """Return p of every county on every day, for a map to play through."""
    cells = dataset.table[["latitude_index", "longitude_index"]].to_numpy()
    cells, places = np.unique(cells, axis=0, return_inverse=True)
    return Steps(
        labels=tuple(map(day_text, dataset.counts.labels[2])),
        now=day,
        fips=dataset.table["fips"],
        places=places.ravel(),
        numbers=grids.p[tuple(cells.T)],
    )


def _picture(dataset: Dataset, fit: Fit, anchor: Anchor, day: int | None) -> MapPicture:
    view = cached("covid", covid_view, dataset, fit, anchor, day)
    return county_map(
        view.counties,
        title=view.title,
        hover=("spread", "reported", "tests", "cell_note"),
        limits=view.limits,
        log=view.log,
        uncertain="uncertain",
        uncertain_means=UNCERTAIN_MEANS,
        remark="Simulated counts." if dataset.provenance.simulated else "",
    )


def county_panel(county: CountyView | None, *, day: str | None) -> None:
    """Draw the days of the chosen county, or how to choose one."""
    if county is None:
        st.info(
            "Choose a county on the map, in its search box or by a bar, to see its days.",
            icon=":material/ads_click:",
        )
        return
    st.subheader(county.name)
    st.markdown(" ".join(filter(None, (county.summary, county.shared))))
    show_chart(
        county_chart(county.days, p_title=county.p_title, rate_title=county.rate_title, day=day),
        key="county-days",
        alt=f"Reported cases, expected true cases and p of {county.name} over the days",
    )
    st.caption(county.caption)


def cells_to_click(view: CovidView, county: CountyView | None) -> None:
    """Draw the cells with the highest and the lowest p; a click on a bar chooses its county."""
    limit = axis_limit(view.top, view.bottom)
    sides = zip(
        st.columns(2),
        ("top", "bottom"),
        (view.top, view.bottom),
        ("Highest detection", "Lowest detection"),
        strict=True,
    )
    for column, side, bars, heading in sides:
        with column:
            st.subheader(heading)
            show_chart(
                cell_bars(
                    bars,
                    title=view.title,
                    color=BAR_COLORS[side],
                    limit=limit,
                    chosen=None if county is None else county.cell,
                ),
                key=f"bars-{side}",
                on_select=partial(_on_bar, f"bars-{side}"),
                selection_mode="points",
                alt=f"{heading}: {len(bars)} cells and their p",
            )


def _on_bar(chart: str) -> None:
    points = st.session_state[chart].selection.points
    if points:
        choose_county(points[0]["customdata"][-1])

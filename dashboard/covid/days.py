"""Days on the COVID-19 page: those of one county, and of several places over each other."""

from __future__ import annotations

from functools import partial
from typing import Literal

import pandas as pd
import streamlit as st

from dashboard.covid.charts import compare_chart, county_chart
from dashboard.covid.view import CountyView, CovidAnswers, build_county_view, rate_title
from dashboard.shared.charts.answers import DetectionGrids, answer, rank_words
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from uncletc import Fit
from uncletc.datasets import Dataset

MOST = 5  # places drawn over each other


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


def compare_places(
    dataset: Dataset, fit: Fit, grids: DetectionGrids, answers: CovidAnswers, *, p_title: str
) -> pd.DataFrame:
    """Ask for places, draw their days over each other, and return these to download."""
    st.header("Places beside each other")
    places = answers.all_places.set_index("place")
    chosen = st.multiselect(
        "Places",
        list(places.index),
        key="compare",
        bind="query-params",
        max_selections=MOST,
        placeholder="type the name of a county",
        help=f"Up to {MOST} cells, each named after its most populous county; +2 means that two "
        "more counties share it.",
    )
    if not chosen:
        return pd.DataFrame()
    quantity: Literal["reported", "rate", "p"] = segmented(
        "Show over the days",
        ["rate", "reported", "p"],
        names={"rate": "λ", "reported": "reported", "p": "p"},
        key="compare_what",
        help="**λ**: true cases as estimated. Bands: 90 % intervals.",
    )
    views = {
        place: build_county_view(
            dataset, fit, grids, str(places.loc[place, "fips"]), title=p_title, answers=answers
        )
        for place in chosen
    }
    days = pd.concat([view.days.assign(place=place) for place, view in views.items()])
    titles = {
        "reported": "reported cases per day",
        "rate": rate_title(grids.scale),
        "p": p_title,
    }
    show_chart(
        partial(compare_chart, days, chosen, quantity, title=titles[quantity]),
        key="compare-days",
        alt=f"{titles[quantity]} of {', '.join(chosen)} over the days",
    )
    for place in chosen:
        row = places.loc[place].to_dict()
        rank = rank_words(row, len(places)) if answers.apart.ranking else ""
        st.markdown(f"- **{place}**: {answer(row, answers.scale)} {rank}")
    return days

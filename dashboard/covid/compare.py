"""Several places of the COVID-19 page beside each other: a line each over the days."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard.covid.answers import CovidAnswers
from dashboard.covid.county import build_county_view, rate_title
from dashboard.shared.charts.answers import DetectionGrids, answer, rank_words
from dashboard.shared.charts.bars import LINES
from dashboard.shared.charts.style import below, faint, framed
from dashboard.shared.sidebar.widgets import segmented
from dashboard.shared.text.page import show_chart
from dashboard.shared.text.words import DAY_AXIS
from uncletc import Fit
from uncletc.datasets import Dataset

MOST = 5  # places drawn over each other
Shown = Literal["reported", "rate", "p"]
_WIDEST = 2.5  # times the highest estimate; bands that reach further are cut off


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
    quantity: Shown = segmented(
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


def compare_chart(
    days: pd.DataFrame, places: Sequence[str], quantity: Shown, *, title: str
) -> go.Figure:
    """One line per place, with a band where there are intervals.

    Parameters
    ----------
    days : DataFrame
        place, day and the quantity; its ends as "rate_low" and "rate_high" for example.
    places : sequence of str
        In the order of their colours.
    quantity : {"reported", "rate", "p"}
    title : str
        What it is.
    """
    figure, top = go.Figure(), float(days[quantity].max())
    low, high = f"{quantity}_low", f"{quantity}_high"
    for place, (color, dash, _) in zip(places, LINES, strict=False):
        rows = days[days["place"] == place]
        if low in rows:
            figure.add_scatter(
                x=[*rows["day"], *rows["day"][::-1]],
                y=[*rows[low], *rows[high][::-1]],
                fill="toself",
                fillcolor=faint(color, 0.15),
                line_width=0,
                mode="lines",
                hoverinfo="skip",
                showlegend=False,
                legendgroup=place,
            )
        figure.add_scatter(
            x=rows["day"],
            y=rows[quantity],
            name=place,
            legendgroup=place,
            mode="lines",
            line={"color": color, "dash": dash},
            hovertemplate=f"{place}: %{{y:,.3g}}<extra></extra>",
        )
    if low in days:
        top = min(float(days[high].max()), _WIDEST * top)
    return framed(
        figure,
        400,
        x=DAY_AXIS | {"nticks": 8},
        y={"title": title, "range": [0, 1.05 * top] if top > 0 else None},
        legend=below(-0.12),
        hovermode="x unified",
        dragmode=False,
    )

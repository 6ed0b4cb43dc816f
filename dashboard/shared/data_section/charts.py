"""Figures of the data behind a page. Tables in, Plotly figures out; no Streamlit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.countymap.picture import MapPicture, by_county, county_map
from dashboard.shared.charts.style import BAR_COLORS, below, framed, short_names, top_bar
from dashboard.shared.data_section.view import N_BINS, Coverage
from dashboard.shared.text.words import day_text

_ORIENTED = ("latitude",)  # modes whose first label belongs at the bottom


def coverage_chart(shown: Coverage, *, height: int = 420) -> go.Figure:
    """Heat map of coverage: shares from 0 to 1, or log(1 + count) of a table of two modes."""
    if shown.counts:
        largest = int(np.nanmax(shown.values, initial=1))
        marks = np.concatenate([[0], 10 ** np.arange(len(str(largest)))])
        colors = {
            "z": np.log1p(shown.values),
            "zmax": float(np.log1p(largest)),
            "customdata": shown.values,
            "colorbar": top_bar(
                "reported count", tickvals=np.log1p(marks), ticktext=[f"{m:,}" for m in marks]
            ),
        }
        value = "counted: %{customdata:,}"
    else:
        bar = top_bar(f"share of {shown.others} counted", tickformat=".0%")
        colors = {"z": shown.values, "zmax": 1, "colorbar": bar}
        value = f"%{{z:.0%}} of {shown.others} counted"
    figure = go.Figure(
        go.Heatmap(
            x=[day_text(label) for label in shown.columns],
            y=[day_text(label) for label in shown.rows],
            colorscale="Cividis",
            zmin=0,
            hovertemplate=f"{shown.modes[0]} %{{y}}, {shown.modes[1]} %{{x}}<br>{value}"
            "<extra></extra>",
            **colors,
        )
    )
    axis = {"type": "category", "nticks": 12, "showgrid": False}
    upwards = True if shown.modes[0] in _ORIENTED else "reversed"
    y = axis | {"title": shown.modes[0], "autorange": upwards}
    return framed(figure, height, x=axis | {"title": shown.modes[1]}, y=y)


def coverage_map(places: pd.DataFrame, *, others: str = "days") -> MapPicture:
    """County map of the share of days with a count, or where all are the same of the counts."""
    shares = bool(np.ptp(places["share"]) > 0)
    numbers = places["share"] if shares else places["counted"]
    notes = [
        f"{row.observed:,} of {row.existing:,} {others} counted; sum of counts {row.counted:,}"
        for row in places.itertuples()
    ]
    return county_map(
        by_county(places.assign(shown=numbers, note=notes)),
        title=f"share of {others} with a count" if shares else "sum of reported counts",
        color="shown",
        hover=["note"],
        limits=(0.0, 1.0) if shares else None,
        log=not shares,
        missing="not counted here",
        number_format=".0%" if shares else ".3g",
    )


def along_chart(steps: pd.DataFrame, *, of: str, height: int = 260) -> go.Figure:
    """Everything counted at each step of a mode.

    Parameters
    ----------
    steps : DataFrame
        As :func:`dashboard.shared.data_section.view.along_table` returns it.
    of : str
        The mode.
    """
    names = steps["step"].map(day_text)
    figure = go.Figure(
        go.Bar(
            x=short_names(names),
            y=steps["counted"],
            customdata=steps["observed"],
            hovertext=names,
            marker_color=BAR_COLORS["top"],
            hovertemplate=f"{of} %{{hovertext}}<br>counted: %{{y:,}}<br>"
            "from %{customdata:,} entries<extra></extra>",
        )
    )
    x = {"title": of, "type": "category", "nticks": 10}
    return framed(figure, height, x=x, y="sum of reported counts")


def covariate_chart(histogram: pd.DataFrame, *, name: str, height: int = 300) -> go.Figure:
    """How a covariate spreads over counted entries and, where there are any, over missing ones.

    Parameters
    ----------
    histogram : DataFrame
        middle, counted, missing.
    name : str
        Of the covariate.
    """
    figure = go.Figure()
    for kind, label, color in (
        ("counted", "entries with a count", BAR_COLORS["top"]),
        ("missing", "entries without a count", BAR_COLORS["bottom"]),
    ):
        if histogram[kind].notna().any():
            figure.add_bar(
                x=histogram["middle"],
                y=histogram[kind],
                name=label,
                marker={"color": color, "pattern_shape": "/" if kind == "missing" else ""},
                hovertemplate=f"{name} about %{{x:.2f}}<br>%{{y:.1%}} of {label}<extra></extra>",
            )
    half = 0.5 / N_BINS
    return framed(
        figure,
        height,
        x={"title": f"{name}, scaled to 0–1", "range": [-half, 1 + half]},
        y={"title": "share of entries", "tickformat": ".0%", "rangemode": "tozero"},
        bargap=0.05,
        bargroupgap=0,
        legend=below(-0.4),
        showlegend=len(figure.data) > 1,
    )

"""Figures of the overview page. Tables in, Plotly figures out; no Streamlit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from dashboard.countymap.picture import MapPicture, by_county, county_map
from dashboard.overview.view import N_BINS, Pattern, build_places
from dashboard.shared.charts.style import BAR_COLORS, GREY, below, framed, short_names, top_bar
from dashboard.shared.text.words import day_text
from uncletc.datasets import Dataset

_ORIENTED = ("latitude",)  # modes whose first label belongs at the bottom


def pattern_figure(pattern: Pattern, *, height: int = 460) -> go.Figure:
    """Heat map of what was counted; blank where nobody counted, or nothing is there to count.

    Shares run from 0 to 1. Counts are coloured by log(1 + count), from 0 to the largest of the
    whole data set, so that steps can be compared.
    """
    figure = go.Figure(
        go.Heatmap(
            x=[day_text(label) for label in pattern.column_labels],
            y=[day_text(label) for label in pattern.row_labels],
            colorscale="Cividis",
            **(_counts(pattern) if pattern.counted else _shares(pattern)),
        )
    )
    axis = {"type": "category", "nticks": 12, "showgrid": False}
    upwards = True if pattern.row_mode in _ORIENTED else "reversed"
    return framed(
        figure,
        height,
        x=axis | {"title": pattern.column_mode},
        y=axis | {"title": pattern.row_mode, "autorange": upwards},
    )


def along_chart(
    steps: pd.DataFrame, *, of: str, step: int | None = None, height: int = 260
) -> go.Figure:
    """Everything counted at each step of a mode; the step shown above stands out.

    Parameters
    ----------
    steps : DataFrame
        As :func:`dashboard.overview.view.along_table` returns it.
    of : str
        The mode.
    step : int, optional
        The row shown above.
    """
    steps = steps.assign(step=steps["step"].map(day_text))
    colors = np.full(len(steps), BAR_COLORS["top"], dtype=object)
    if step is not None:
        colors[step] = BAR_COLORS["bottom"]
    figure = go.Figure(
        go.Bar(
            x=short_names(steps["step"]),
            y=steps["counted"],
            customdata=steps["observed"],
            hovertext=steps["step"],
            marker_color=colors,
            hovertemplate=f"{of} %{{hovertext}}<br>counted: %{{y:,}}<br>"
            "from %{customdata:,} entries<extra></extra>",
        )
    )
    x = {"title": of, "type": "category", "nticks": 10}
    return framed(figure, height, x=x, y="sum of reported counts")


def attribute_chart(histogram: pd.DataFrame, *, name: str, height: int = 300) -> go.Figure:
    """How an attribute spreads over counted entries and, where there are any, over missing ones.

    Parameters
    ----------
    histogram : DataFrame
        middle, counted, missing.
    name : str
        Of the attribute.
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


def points_chart(places: pd.DataFrame, *, value: str, title: str, height: int = 460) -> go.Figure:
    """Places where they lie, coloured by one of their numbers.

    Parameters
    ----------
    places : DataFrame
        As in :class:`dashboard.overview.view.Places`, with latitude and longitude.
    value : {"share", "counted"}
    title : str
        What the number is.
    """
    shares = value == "share"
    numbers = places[value] if shares else np.log1p(places[value])
    marks = _marks(int(places["counted"].max()))
    ticks = (
        {"tickformat": ".0%"}
        if shares
        else {"tickvals": np.log1p(marks), "ticktext": [f"{mark:,}" for mark in marks]}
    )
    figure = go.Figure(
        go.Scatter(
            x=places["longitude"],
            y=places["latitude"],
            mode="markers",
            marker={
                "size": 11,
                "color": numbers,
                "colorscale": "Cividis",
                "cmin": 0,
                "cmax": 1 if shares else None,
                "line": {"color": GREY, "width": 1},
                "colorbar": top_bar(title, **ticks),
            },
            customdata=places[["name", "observed", "existing", "counted"]],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]:,} of %{customdata[2]:,} "
            "counted<br>sum of counts: %{customdata[3]:,}<extra></extra>",
        )
    )
    north = float(places["latitude"].mean())
    ratio = 1 / max(np.cos(np.deg2rad(north)), 0.1)  # a degree east is shorter than one north
    y = {"title": "latitude", "scaleanchor": "x", "scaleratio": ratio}
    return framed(figure, height, x={"title": "longitude"}, y=y)


def _shares(pattern: Pattern) -> dict[str, Any]:
    return {
        "z": pattern.values,
        "zmin": 0,
        "zmax": 1,
        "colorbar": top_bar(f"share of {pattern.others} counted", tickformat=".0%"),
        "hovertemplate": f"{pattern.row_mode} %{{y}}, {pattern.column_mode} %{{x}}<br>"
        f"%{{z:.0%}} of {pattern.others} counted<extra></extra>",
    }


def _counts(pattern: Pattern) -> dict[str, Any]:
    marks = _marks(pattern.largest)
    when = f"{pattern.third_mode} {day_text(pattern.step_label)}<br>" if pattern.step_label else ""
    return {
        "z": np.log1p(pattern.values),
        "zmin": 0,
        "zmax": float(np.log1p(max(pattern.largest, 1))),
        "customdata": pattern.values,
        "colorbar": top_bar(
            "reported count",
            tickvals=np.log1p(marks),
            ticktext=[f"{mark:,}" for mark in marks],
        ),
        "hovertemplate": f"{pattern.row_mode} %{{y}}, {pattern.column_mode} %{{x}}<br>"
        f"{when}counted: %{{customdata:,}}<extra></extra>",
    }


def _marks(largest: int) -> NDArray[np.int64]:
    """0 and the powers of ten up to the largest count, beginning with 1."""
    powers = 10 ** np.arange(len(str(max(largest, 1))))
    return np.concatenate([[0], powers]).astype(np.int64)


def county_picture(dataset: Dataset, step: int | None = None) -> MapPicture:
    """The county map of what was counted; arguments as for :func:`build_places`."""
    places = build_places(dataset, step)
    table, shares = places.table, places.value == "share"
    numbers = table["share"] if shares else table["counted"].where(table["observed"] > 0)
    notes = [
        f"{row.observed:,} of {row.existing:,} entries have a count; their sum is {row.counted:,}"
        for row in table.itertuples()
    ]
    return county_map(
        by_county(table.assign(shown=numbers, note=notes)),
        title=places.title,
        color="shown",
        hover=["note"],
        limits=(0.0, 1.0) if shares else None,
        log=not shares,
        missing="not counted here",
        number_format=".0%" if shares else ".3g",
    )

"""Bars and dots of places and pairs, ranked. Tables in, figures out; no Streamlit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts.style import (
    AMBER,
    BLUE,
    GREEN,
    GREY,
    PINK,
    VERMILION,
    bar_chart,
    framed,
    short_names,
    two_lines,
    whiskers,
)

# Okabe and Ito's colours, with a dash and a marker of their own: colour is never alone.
LINES = (
    (BLUE, "solid", "circle"),
    (AMBER, "dash", "square"),
    (GREEN, "dot", "diamond"),
    (PINK, "dashdot", "triangle-up"),
    (VERMILION, "longdash", "pentagon"),
)
CHOSEN = VERMILION  # outline of what is chosen
LONGEST_LINE = 28  # characters of a title
_BESIDE = 76  # pixels to the right of dots, for text


def short_pair(label: str, longest: int = 15) -> str:
    """Shorten both names of an interaction."""
    return " – ".join(short_names(label.split(" – "), longest))


def interaction_bars(
    bars: pd.DataFrame,
    *,
    title: str,
    color: str,
    limits: tuple[float, float],
    log: bool,
    chosen: Sequence[str] = (),
) -> go.Figure:
    """Mean p of interactions, the first row on top; dots in place of bars on a log axis.

    Parameters
    ----------
    bars : DataFrame
        label, value, inside; where there are low and high, whiskers reach from one to the other.
    title : str
        What the value is.
    color : str
    limits : tuple of float
        Ends of the axis; pass the same to charts that are compared. Bars begin at 0 whatever the
        first is.
    log : bool
    chosen : sequence of str
        Labels of interactions to outline.
    """
    draw = _dots if log else _bars
    figure = draw(bars, title=title, color=color, limits=limits)
    outlined = bars["label"].isin(list(chosen))
    figure.update_traces(
        selector=0,
        hovertext=bars["label"],
        marker_line={"color": CHOSEN if color != CHOSEN else GREY, "width": 3 * outlined},
    )
    figure.update_traces(unselected_marker_opacity=1)
    y = {
        "type": "category",
        "tickmode": "array",
        "tickvals": bars["label"],
        "ticktext": [short_pair(label, 14) for label in bars["label"]],
        "range": [len(bars) - 0.4, -0.6],
        "automargin": True,
    }
    return framed(
        figure,
        110 + 27 * len(bars),
        x=two_lines(title, LONGEST_LINE),
        y=y,
        right=_BESIDE if log else 8,
        showlegend=False,
    )


def log_range(*charts: pd.DataFrame) -> tuple[float, float]:
    """Ends of a log axis for dots: room for all of them, and for a part of their whiskers.

    Parameters
    ----------
    charts : DataFrame
        As for :func:`interaction_bars`.
    """
    values = pd.concat(charts)
    low, high = float(values["value"].min()), float(values["value"].max())
    room = max((high / low) ** 0.1, 1.5)
    return low / room, high * room


def _bars(bars: pd.DataFrame, *, title: str, color: str, limits: tuple[float, float]) -> go.Figure:
    figure = bar_chart(bars, title=title, color=color, limit=limits[1])
    template = figure.data[0].hovertemplate.replace("%{y}", "%{hovertext}")
    return figure.update_traces(selector=0, hovertemplate=template)


def _dots(bars: pd.DataFrame, *, title: str, color: str, limits: tuple[float, float]) -> go.Figure:
    """Dots with whiskers: the length of a bar means nothing on a log axis."""
    interval = "low" in bars
    note = "90 %: %{customdata[0]:.3g} to %{customdata[1]:.3g}<br>" if interval else ""
    figure = go.Figure(
        go.Scatter(
            x=bars["value"],
            y=bars["label"],
            mode="markers",
            marker={"size": 12, "color": color},
            customdata=bars[["low", "high"]] if interval else None,
            text=bars["inside"],
            showlegend=False,
            hovertemplate=f"<b>%{{hovertext}}</b><br>{title}: %{{x:.3g}}<br>{note}%{{text}}"
            "<extra></extra>",
            error_x=whiskers(bars["value"], bars["low"], bars["high"], width=3)
            if interval
            else None,
        )
    )
    figure.add_scatter(
        x=np.full(len(bars), limits[1]),
        y=bars["label"],
        mode="text",
        text="\u00a0" + bars["inside"],
        textposition="middle right",
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )
    figure.update_xaxes(type="log", range=list(np.log10(limits)), exponentformat="power")
    return figure

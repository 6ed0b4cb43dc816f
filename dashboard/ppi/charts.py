"""Bars and visits of the plant–pollinator page. Tables in, figures out; no Streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.shared.charts import (
    AMBER,
    BLUE,
    GREEN,
    GREY,
    PINK,
    VERMILION,
    bar_chart,
    below,
    faint,
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
_ROOM_FOR_BANDS = 1.35  # times the largest p; more would press the lines together
_HALF_BAND = 0.2  # visits that a band reaches beyond its first and last


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


def visits_chart(
    visits: pd.DataFrame, *, title: str, limits: tuple[float, float], log: bool
) -> go.Figure:
    """p over the visits, one panel per year on shared axes; lines break where nobody looked.

    Parameters
    ----------
    visits : DataFrame
        label, year, number, dates, p, observed, counted; a band where there are low and high.
    title : str
        What p is.
    limits : tuple of float
        Smallest and largest p that the axis has room for.
    log : bool
        Whether the axis of p is logarithmic.
    """
    years = sorted(visits["year"].unique())
    labels = list(visits["label"].unique())
    figure = make_subplots(
        rows=1,
        cols=len(years),
        shared_yaxes=True,
        column_titles=[str(year) for year in years],
        horizontal_spacing=0.02,
    )
    traces = []
    for i, year in enumerate(years):
        axis = str(i + 1) if i else ""
        for (color, dash, symbol), label in zip(LINES, labels, strict=False):
            rows = visits[(visits["year"] == year) & (visits["label"] == label)]
            common = {
                "legendgroup": label,
                "name": short_pair(label),
                "showlegend": False,
                "xaxis": f"x{axis}",
                "yaxis": f"y{axis}",
            }
            band, line, others = _of_year(rows, title=title, color=color, symbol=symbol)
            if band:
                traces.append(common | band)
            traces.append(common | line | {"line_dash": dash, "showlegend": i == 0})
            traces.append(common | others)
    figure.add_traces([go.Scatter(trace) for trace in traces])
    last = int(visits["number"].max())
    if log:
        low, high = np.log10(limits)
        room = 0.05 * (high - low)
        y = {"type": "log", "range": [low - room, high + room], "exponentformat": "power"}
    else:
        room = _ROOM_FOR_BANDS if "high" in visits else 1.05
        y = {"range": [0, room * limits[1]]}
    x = {"title": "visit", "dtick": 1, "range": [0.5, last + 0.5]}
    top = 58  # years below the toolbar
    framed(figure, 420 + 22 * len(labels), x=x, y=y, top=top, legend=below(-0.22))
    return figure.update_yaxes(title=title, col=1)


def _of_year(
    rows: pd.DataFrame, *, title: str, color: str, symbol: str
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Band, line and open markers of one interaction in one year; no band, without intervals."""
    # A row for every number, so that a visit that never took place breaks the line, too.
    rows = rows.set_index("number").reindex(range(1, int(rows["number"].max()) + 1))
    seen, others = rows["observed"].eq(True), rows["observed"].eq(False)
    hover = _hover(rows, title)
    band: dict[str, Any] = {}
    if "low" in rows:
        x, y = _band(rows[seen])
        band = {
            "x": x,
            "y": y,
            "mode": "lines",
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": faint(color, 0.15),
            "hoverinfo": "skip",
        }
    line = {
        "x": rows.index.tolist(),
        "y": rows["p"].where(seen).tolist(),
        "mode": "lines+markers",
        "connectgaps": False,
        "line_color": color,
        "marker": {"size": 9, "symbol": symbol},
        "text": hover.tolist(),
        "hovertemplate": "%{text}<extra></extra>",
    }
    unseen = {
        "x": rows.index[others].tolist(),
        "y": rows["p"][others].tolist(),
        "mode": "markers",
        "marker": {"size": 8, "symbol": f"{symbol}-open", "color": color},
        "text": hover[others].tolist(),
        "hovertemplate": "%{text}<extra></extra>",
    }
    return band, line, unseen


def _hover(rows: pd.DataFrame, title: str) -> pd.Series:
    def text(number: int, row: dict[str, Any]) -> str:
        if pd.isna(row["p"]):
            return ""
        dates = f" ({row['dates']})" if row["dates"] else ""
        counted = f"counted: {row['counted']:,.0f}" if row["observed"] else "not counted"
        interval = f" (90 %: {row['low']:.3g} to {row['high']:.3g})" if "low" in row else ""
        return (
            f"<b>{row['label']}</b><br>{row['year']:.0f}, visit {number}{dates}<br>"
            f"{title}: {row['p']:.3g}{interval}<br>{counted}"
        )

    records = zip(rows.index, rows.to_dict("records"), strict=True)
    return pd.Series([text(number, record) for number, record in records], rows.index)


def _band(rows: pd.DataFrame) -> tuple[list[float | None], list[float | None]]:
    """Outlines from low to high, one for each run of visits that follow each other."""
    x: list[float | None] = []
    y: list[float | None] = []
    numbers = rows.index.to_numpy()
    for _, run in rows.groupby(np.cumsum(np.diff(numbers, prepend=numbers[:1]) > 1)):
        at = [run.index[0] - _HALF_BAND, *run.index, run.index[-1] + _HALF_BAND]
        low, high = ([v.iloc[0], *v, v.iloc[-1]] for v in (run["low"], run["high"]))
        x += [*at, *at[::-1], at[0], None]
        y += [*low, *high[::-1], low[0], None]
    return x, y


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

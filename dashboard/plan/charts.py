"""Figures of the Plan page. Pure."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.shared.charts.style import ABOVE, COLORS, DOTTED, framed, log_axis, whiskers

_SYMBOLS = ("circle", "square", "diamond")
_ROOM = 0.12  # beyond the narrowest and the widest, as a share of what is between
_NEAR = 3.0  # between the widest and the narrowest: ticks are then evenly apart
_STEPS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)


def width_chart(points: pd.DataFrame, *, title: str, height: int = 340) -> go.Figure:
    """Widths by the size of a change, a panel for each kind of change.

    Parameters
    ----------
    points : DataFrame
        kind, name, size, width, low, high, held.
    title : str
        Whose intervals.
    """
    kinds = list(dict.fromkeys(points["kind"]))
    figure = make_subplots(cols=len(kinds), shared_yaxes=True, horizontal_spacing=0.06)
    for column, kind in enumerate(kinds, 1):
        mine = points[points["kind"] == kind]
        figure.add_trace(_line(mine, mine["size"], column - 1), row=1, col=column)
        figure.update_xaxes(
            title=kind,
            tickvals=mine["size"],
            ticktext=mine["name"].str.replace(" ", "\u00a0"),
            showgrid=False,
            col=column,
        )
    figure.update_yaxes(_widths(points))
    figure.update_yaxes(title=f"interval of {title}<br>(upper over lower end)", col=1)
    return framed(figure, height, showlegend=False)


def cost_chart(points: pd.DataFrame, *, title: str, wish: float | None = None) -> go.Figure:
    """Widths by cost, a line for each kind of change; dotted: the width that is wished."""
    figure = go.Figure()
    for k, kind in enumerate(dict.fromkeys(points["kind"])):
        mine = points[points["kind"] == kind]
        figure.add_trace(_line(mine, mine["cost"], k))
    if wish is not None:
        figure.add_hline(wish, line=DOTTED)
    y = _widths(points) | {"title": f"interval of {title}<br>(upper over lower end)"}
    return framed(figure, 360, x={"title": "cost", "rangemode": "tozero"}, y=y, legend=ABOVE)


def _line(points: pd.DataFrame, x: pd.Series, k: int) -> go.Scatter:
    color = COLORS[k % len(COLORS)]
    return go.Scatter(
        x=x,
        y=points["width"],
        name=points["kind"].iloc[0],
        mode="lines+markers",
        line={"color": color},
        marker={"size": 9, "symbol": _SYMBOLS[k % len(_SYMBOLS)]},
        error_y=whiskers(points["width"], points["low"], points["high"], width=4),
        customdata=np.column_stack([points["name"], points["cost"], 100 * points["held"]]),
        hovertemplate="<b>%{customdata[0]}</b><br>× %{y:.3g}<br>cost %{customdata[1]:,.0f}<br>"
        "true values within: %{customdata[2]:.0f} %<extra></extra>",
    )


def _widths(points: pd.DataFrame) -> dict[str, object]:
    ends = float(points["low"].min()), float(points["high"].max())
    room = max((ends[1] / ends[0]) ** _ROOM, 1.001)
    low, high = max(ends[0] / room, 1.0), ends[1] * room
    axis = log_axis(low, high, most=7)
    if high / low < _NEAR:  # round ratios are too far apart
        step = next(each for each in _STEPS if (high - low) / each <= 6)
        marks = np.arange(math.ceil(low / step), high / step) * step
        axis |= {"tickvals": marks, "ticktext": [f"{mark:.4g}" for mark in marks]}
    return axis | {"ticktext": [f"× {text}" for text in axis["ticktext"]]}

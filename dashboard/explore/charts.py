"""Figures of the page "Explore". Tables in, Plotly figures out; no Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from dashboard.shared.charts.bars import LINES, LONGEST_LINE
from dashboard.shared.charts.style import GREY, add_band, below, framed, top_bar, two_lines
from dashboard.shared.text.words import DAY_AXIS, day_text, is_day
from dashboard.work.shapes import Ring

_TICKS = 5
_STEPS = 24  # colours of shapes, one trace each


def lines_chart(
    lines: pd.DataFrame, *, title: str, along: str, log: bool, height: int = 400
) -> go.Figure:
    """A line for each level or pair over the steps of an ordered mode.

    Parameters
    ----------
    lines : DataFrame
        label, step, value, observed, counted; a band where there are low and high.
    title : str
        What the value is.
    along : str
        The mode.
    log : bool
        Whether the axis of values is logarithmic.
    """
    figure = go.Figure()
    days = bool(len(lines)) and all(map(is_day, lines["step"]))
    for (color, dash, symbol), label in zip(LINES, lines["label"].unique(), strict=False):
        rows = lines[lines["label"] == label]
        if "low" in rows:
            add_band(figure, rows["step"], rows["low"], rows["high"], color=color, name=label)
            figure.data[-1].update(showlegend=False, hoverinfo="skip")
        figure.add_scatter(
            x=rows["step"],
            y=rows["value"],
            name=label,
            mode="lines+markers",
            line={"color": color, "dash": dash},
            marker={
                "size": 7,
                "symbol": [symbol if n else f"{symbol}-open" for n in rows["observed"]],
            },
            customdata=np.column_stack([rows["step"].map(day_text), rows["counted"]]),
            hovertemplate=f"<b>%{{fullData.name}}</b><br>{along} %{{customdata[0]}}<br>{title}: "
            "%{y:.3g}<br>counted: %{customdata[1]:,}<extra></extra>",
        )
    order = lines.drop_duplicates("position").sort_values("position")["step"].tolist()
    x: dict[str, Any] = {"title": along, "type": "category", "nticks": 12}
    x |= {"categoryorder": "array", "categoryarray": order}
    y: dict[str, Any] = {"title": two_lines(title, LONGEST_LINE)}
    y |= {"type": "log"} if log else {"rangemode": "tozero"}
    return framed(
        figure, height, x=DAY_AXIS | {"title": along} if days else x, y=y, legend=below(-0.2)
    )


def places_chart(
    places: pd.DataFrame, *, title: str, limits: tuple[float, float], log: bool, height: int = 480
) -> go.Figure:
    """Places where they lie, coloured by their value.

    Parameters
    ----------
    places : DataFrame
        label, latitude, longitude (degrees), value, counted.
    title : str
        What the value is.
    limits : tuple of float
        Colour limits.
    log : bool
        Whether colours follow the logarithm.
    """
    figure = go.Figure(
        go.Scatter(
            x=places["longitude"],
            y=places["latitude"],
            mode="markers",
            marker={
                "size": 12,
                "color": np.log10(places["value"]) if log else places["value"],
                "line": {"color": GREY, "width": 1},
            }
            | _colors(title, limits, log=log),
            customdata=places[["label", "value", "counted"]],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]:.3g}<br>"
            "counted: %{customdata[2]:,}<extra></extra>",
        )
    )
    return _as_map(figure, float(places["latitude"].mean()), height)


def shapes_chart(
    places: pd.DataFrame,
    rings: Mapping[int, list[Ring]],
    *,
    title: str,
    limits: tuple[float, float],
    log: bool,
    height: int = 520,
) -> go.Figure:
    """Shapes coloured by the values of the levels that they are of.

    Parameters
    ----------
    places : DataFrame
        label, value, counted and index_0, the level.
    rings : mapping of int to list of ring
        Outer rings by level.
    title : str
        What the value is.
    limits : tuple of float
        Colour limits.
    log : bool
        Whether colours follow the logarithm.
    """
    figure = go.Figure()
    known = places[places["index_0"].isin(list(rings))]
    values = np.log10(known["value"]) if log else known["value"]
    low, high = np.log10(limits) if log else limits
    step = np.clip((values - low) / (high - low), 0, 1).mul(_STEPS - 1).round().astype(int)
    colors = sample_colorscale("Cividis", _STEPS)
    for k in sorted(step.unique()):
        x: list[float | None] = []
        y: list[float | None] = []
        for level in known.loc[step == k, "index_0"]:
            for ring in rings[level]:
                x += [*(point[0] for point in ring), None]
                y += [*(point[1] for point in ring), None]
        look = {"fill": "toself", "fillcolor": colors[k], "line": {"color": GREY, "width": 0.7}}
        figure.add_scatter(x=x, y=y, mode="lines", hoverinfo="skip", **look)
    middles = np.array([_middle(rings[level]) for level in known["index_0"]]).reshape(-1, 2)
    figure.add_scatter(
        x=middles[:, 0],
        y=middles[:, 1],
        mode="markers",
        marker={"size": 14, "opacity": 0, "color": values} | _colors(title, limits, log=log),
        customdata=known[["label", "value", "counted"]],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]:.3g}<br>"
        "counted: %{customdata[2]:,}<extra></extra>",
    )
    north = float(middles[:, 1].mean()) if len(middles) else 0.0
    return _as_map(figure, north if abs(north) <= 90 else 0.0, height)


def _middle(rings: list[Ring]) -> tuple[float, float]:
    """The middle of the box around the ring with most points."""
    points = np.array(max(rings, key=len))
    return tuple(((points.min(axis=0) + points.max(axis=0)) / 2).tolist())


def _colors(title: str, limits: tuple[float, float], *, log: bool) -> dict[str, Any]:
    low, high = np.log10(limits) if log else limits
    at = np.linspace(low, high, _TICKS)
    text = [f"{10**tick:.2g}" if log else f"{tick:.2g}" for tick in at]
    bar = top_bar(title, tickvals=at.tolist(), ticktext=text)
    return {"colorscale": "Cividis", "cmin": low, "cmax": high, "colorbar": bar}


def _as_map(figure: go.Figure, north: float, height: int) -> go.Figure:
    ratio = 1 / max(np.cos(np.deg2rad(north)), 0.1)  # a degree east is shorter than one north
    y = {"title": "latitude", "scaleanchor": "x", "scaleratio": ratio}
    return framed(figure, height, x={"title": "longitude"}, y=y, showlegend=False)

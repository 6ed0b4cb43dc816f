"""Figures of *Your table*. Tables in, Plotly figures out; no Streamlit."""

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
    """Return a line for each level or pair over the steps of an ordered mode.

    Parameters
    ----------
    lines : DataFrame
        label, step, position, value, counted; a band where there are low and high.
    title : str
        What the value is.
    along : str
        The mode.
    log : bool
        Whether the axis of values is logarithmic.
    """
    figure = go.Figure()
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
            marker={"size": 7, "symbol": symbol},
            customdata=np.column_stack([rows["step"].map(day_text), rows["counted"]]),
            hovertemplate=f"<b>%{{fullData.name}}</b><br>{along} %{{customdata[0]}}<br>{title}: "
            "%{y:.3g}<br>counted: %{customdata[1]:,}<extra></extra>",
        )
    steps = lines.drop_duplicates("position").sort_values("position")["step"].tolist()
    x: dict[str, Any] = {"type": "category", "nticks": 12, "categoryarray": steps}
    if steps and all(map(is_day, steps)):
        x = dict(DAY_AXIS)
    y: dict[str, Any] = {"title": two_lines(title, LONGEST_LINE)}
    y |= {"type": "log"} if log else {"rangemode": "tozero"}
    return framed(figure, height, x=x | {"title": along}, y=y, legend=below(-0.2))


def places_chart(
    places: pd.DataFrame,
    rings: Mapping[int, list[Ring]] | None = None,
    *,
    title: str,
    limits: tuple[float, float],
    log: bool,
    height: int = 500,
) -> go.Figure:
    """Return places coloured by their value: as marks where they lie, or as shapes.

    Parameters
    ----------
    places : DataFrame
        label, value, counted; latitude and longitude (degrees), or for shapes index_0, the level.
    rings : mapping of int to list of ring, optional
        Outer rings by level.
    title : str
        What the value is.
    limits : tuple of float
        Colour limits.
    log : bool
        Whether colours follow the logarithm.
    """
    figure, marker = go.Figure(), {"size": 12, "line": {"color": GREY, "width": 1}}
    low, high = np.log10(limits) if log else limits
    if rings is not None:
        places = places[places["index_0"].isin(list(rings))]
        middles = np.array([_middle(rings[level]) for level in places["index_0"]]).reshape(-1, 2)
        places = places.assign(longitude=middles[:, 0], latitude=middles[:, 1])
        marker = {"size": 14, "opacity": 0}  # unseen, to point at
    values = np.log10(places["value"]) if log else places["value"]
    if rings is not None:
        _add_shapes(figure, places["index_0"], rings, ((values - low) / (high - low)).clip(0, 1))
    ticks = np.linspace(low, high, _TICKS)
    text = [f"{10**tick:.2g}" if log else f"{tick:.2g}" for tick in ticks]
    figure.add_scatter(
        x=places["longitude"],
        y=places["latitude"],
        mode="markers",
        marker={
            "color": values,
            "colorscale": "Cividis",
            "cmin": low,
            "cmax": high,
            "colorbar": top_bar(title, tickvals=ticks.tolist(), ticktext=text),
            **marker,
        },
        customdata=places[["label", "value", "counted"]],
        hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]:.3g}<br>"
        "counted: %{customdata[2]:,}<extra></extra>",
    )
    north = float(places["latitude"].mean()) if len(places) else 0.0
    # A degree east is shorter than one north; shapes may lie in a plane without degrees.
    ratio = 1 / max(np.cos(np.deg2rad(north if abs(north) <= 90 else 0.0)), 0.1)
    y = {"title": "latitude", "scaleanchor": "x", "scaleratio": ratio}
    return framed(figure, height, x={"title": "longitude"}, y=y, showlegend=False)


def _add_shapes(
    figure: go.Figure, levels: pd.Series, rings: Mapping[int, list[Ring]], shares: pd.Series
) -> None:
    """Draw outlines filled by their place, 0 to 1, on the colour scale; one trace per colour."""
    steps = shares.mul(_STEPS - 1).round().astype(int)
    colors = sample_colorscale("Cividis", _STEPS)
    for k in sorted(steps.unique()):
        x: list[float | None] = []
        y: list[float | None] = []
        for ring in (ring for level in levels[steps == k] for ring in rings[level]):
            x += [*(point[0] for point in ring), None]
            y += [*(point[1] for point in ring), None]
        process = {"fill": "toself", "fillcolor": colors[k], "line": {"color": GREY, "width": 0.7}}
        figure.add_scatter(x=x, y=y, mode="lines", hoverinfo="skip", **process)


def _middle(rings: list[Ring]) -> tuple[float, float]:
    """The middle of the box around the ring with most points."""
    points = np.array(max(rings, key=len))
    return tuple(((points.min(axis=0) + points.max(axis=0)) / 2).tolist())

"""Figures of *Your table*. Tables in, Plotly figures out; no Streamlit."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts import style
from dashboard.shared.charts.bars import LINES, LONGEST_LINE, bar_limits
from dashboard.shared.text.words import DAY_AXIS, amount
from uncletc.tables import is_day

_TICKS = 5


def lines_chart(lines: pd.DataFrame, *, title: str, along: str, log: bool) -> go.Figure:
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
            style.add_band(figure, rows["step"], rows["low"], rows["high"], color=color)
        figure.add_scatter(
            x=rows["step"],
            y=rows["value"],
            name=label,
            mode="lines+markers",
            line={"color": color, "dash": dash},
            marker={"size": 7, "symbol": symbol},
            customdata=np.column_stack([rows["step"], rows["counted"]]),
            hovertemplate=f"<b>%{{fullData.name}}</b><br>{along} %{{customdata[0]}}<br>{title}: "
            "%{y:,.3~r}<br>counted: %{customdata[1]:,}<extra></extra>",
        )
    steps = lines.drop_duplicates("position").sort_values("position")["step"].tolist()
    x: dict[str, Any] = {"type": "category", "nticks": 12, "categoryarray": steps}
    if steps and all(map(is_day, steps)):
        x = dict(DAY_AXIS)
    x["title"] = along
    y: dict[str, Any] = {"title": style.two_lines(title, LONGEST_LINE)}
    drawn = pd.DataFrame({"value": lines.filter(["value", "low", "high"]).to_numpy().ravel()})
    limits = bar_limits(drawn[drawn["value"] > 0], log=log)
    y |= style.log_axis(*limits) if log else {"rangemode": "tozero"}
    several = lines["label"].nunique() > 1
    return style.framed(figure, 400, x=x, y=y, legend=style.below(-0.2), showlegend=several)


def places_chart(
    places: pd.DataFrame, *, title: str, limits: tuple[float, float], log: bool
) -> go.Figure:
    """Return places as marks where they lie, coloured by their value.

    Parameters
    ----------
    places : DataFrame
        label, value, counted; latitude and longitude (degrees).
    title : str
        What the value is.
    limits : tuple of float
        Colour limits.
    log : bool
        Whether colours follow the logarithm.
    """
    low, high = np.log10(limits) if log else limits
    ticks = np.linspace(low, high, _TICKS)
    text = [amount(10**tick if log else tick) for tick in ticks]
    figure = go.Figure(
        go.Scatter(
            x=places["longitude"],
            y=places["latitude"],
            mode="markers",
            marker={
                "size": 12,
                "line": {"color": style.GREY, "width": 1},
                "color": np.log10(places["value"]) if log else places["value"],
                "colorscale": "Cividis",
                "cmin": low,
                "cmax": high,
                "colorbar": style.top_bar(title, tickvals=ticks.tolist(), ticktext=text),
            },
            customdata=places[["label", "value", "counted"]],
            hovertemplate="<b>%{customdata[0]}</b><br>%{customdata[1]:,.3~r}<br>"
            "counted: %{customdata[2]:,}<extra></extra>",
        )
    )
    north = float(places["latitude"].mean()) if len(places) else 0.0
    ratio = 1 / max(np.cos(np.deg2rad(north)), 0.1)  # a degree east is shorter than one north
    y = {"title": "latitude", "scaleanchor": "x", "scaleratio": ratio}
    return style.framed(figure, 500, x={"title": "longitude"}, y=y, showlegend=False)

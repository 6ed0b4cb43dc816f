"""Figures of the page "Methods": tables in, Plotly figures out. Nothing here calls Streamlit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts.style import (
    AMBER,
    BLUE,
    COLORS,
    DOTTED,
    GREY,
    below,
    framed,
    log_axis,
    spread,
)
from uncletc import METHODS

_OURS, _OTHERS = BLUE, AMBER
_ROW = 27  # pixels a method takes
# Lines are distinguished by colour and, where colours repeat, by dashes.
LINES = {
    method: {"color": COLORS[k % 6], "dash": ("solid", "dash", "dot")[k // 6]}
    for k, method in enumerate(["UncleTC", *(m for m in METHODS if m != "UncleTC")])
}


def color_of(method: str) -> str:
    """Blue for methods that know of misses, amber for those that take counts as complete."""
    return _OURS if method.startswith("UncleTC") else _OTHERS


def line_of(method: str) -> dict[str, Any]:
    """How the line of a method looks, the same in every chart."""
    return LINES.get(method, {"color": GREY, "dash": "dot"})


def value_axis(limits: tuple[float, float], *, log: bool) -> dict[str, Any]:
    """An axis that holds values between the limits, with few round ticks."""
    low, high = limits
    if not log or low <= 0:
        room = 0.06 * (high - low) or 0.1
        return {"range": [low - room if low else 0, high + room]}
    return log_axis(low / 1.25, high * 1.25, most=5)


def dots_chart(
    rows: pd.DataFrame,
    *,
    title: str,
    limits: tuple[float, float],
    floor: float | None = None,
    log: bool = True,
) -> go.Figure:
    """One column of a table: a dot and its spread per method, the paper's figure hollow below it.

    Parameters
    ----------
    rows : DataFrame
        method, mean, sd, n, paper_mean, paper_sd; the first on top.
    title : str
        What the value is.
    limits : tuple of float
        Pass the same to charts that are compared.
    floor : float, optional
        Drawn as a dotted line.
    """
    at = np.arange(len(rows))
    axis = value_axis(limits, log=log)
    figure = go.Figure()
    sets = (
        ("here", "mean", "sd", "circle", -0.13, 10),
        ("printed in the paper", "paper_mean", "paper_sd", "circle-open", 0.2, 9),
    )
    for name, mean, sd, symbol, shift, size in sets:
        present = rows[mean].notna().to_numpy()
        part = rows[present]
        reach = part[sd].fillna(0).to_numpy(dtype=float)
        middle = part[mean].to_numpy(dtype=float)
        figure.add_scatter(
            x=middle,
            y=at[present] + shift,
            mode="markers",
            name=name,
            marker={
                "symbol": symbol,
                "size": size,
                "color": [color_of(method) for method in part["method"]],
                "line": {"width": 2 if symbol == "circle-open" else 0},
            },
            error_x=spread(
                reach,
                # No logarithm of what lies below zero: such a whisker ends at the axis.
                arrayminus=np.minimum(reach, middle - limits[0] / 1.2) if log else reach,
                width=3,
            ),
            text=part["method"],
            customdata=np.column_stack([part[sd], part["n"]]),
            hovertemplate=f"<b>%{{text}}</b><br>{name}: %{{x:.3f}} ± %{{customdata[0]:.3f}}"
            + ("<br>%{customdata[1]:.0f} trials" if mean == "mean" else "")
            + "<extra></extra>",
        )
    if floor is not None:
        figure.add_vline(x=floor, line=DOTTED | {"width": 2})
    y = {
        "tickvals": at,
        "ticktext": rows["method"],
        "range": [len(rows) - 0.4, -0.6],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "fixedrange": True,
    }
    x = axis | {"title": title, "fixedrange": True, "tickangle": 0}
    return framed(figure, _ROW * max(len(rows), 2) + 84, x=x, y=y, top=8, showlegend=False)


def lines_chart(
    rows: pd.DataFrame, *, title: str, limits: tuple[float, float], height: int = 320
) -> go.Figure:
    """Mean errors over iterations, one line per method.

    Parameters
    ----------
    rows : DataFrame
        method, iteration, mean, sd, n.
    limits : tuple of float
        Pass the same to charts that are compared.
    """
    figure = go.Figure()
    for method, part in rows.groupby("method", sort=False):
        figure.add_scatter(
            x=part["iteration"],
            y=part["mean"],
            mode="lines",
            name=method,
            line=line_of(str(method)) | {"width": 3 if method == "UncleTC" else 2},
            customdata=part[["sd", "n"]],
            hovertemplate=f"<b>{method}</b>, iteration %{{x}}<br>%{{y:.3f}}"
            " ± %{customdata[0]:.3f}<br>%{customdata[1]:.0f} trials<extra></extra>",
        )
    y = value_axis(limits, log=True) | {"title": title}
    return framed(figure, height, x="iteration", y=y, showlegend=True, legend=below(-0.25))


def scores_chart(bars: pd.DataFrame, *, title: str) -> go.Figure:
    """Held-out errors as horizontal bars with ± over folds, the first row on top.

    Parameters
    ----------
    bars : DataFrame
        method, value, sd (NaN: one fold), n, seconds.
    title : str
        What the value is.
    """
    most = float((bars["value"] + bars["sd"].fillna(0)).max()) if len(bars) else 1.0
    inside = bars["value"].map(lambda v: f"{v:.3g}") + bars["sd"].map(
        lambda v: "" if math.isnan(v) else f" ± {v:.2g}"
    )
    figure = go.Figure(
        go.Bar(
            x=bars["value"],
            y=bars["method"],
            orientation="h",
            marker_color=[color_of(method) for method in bars["method"]],
            error_x=spread(bars["sd"].fillna(0), width=4),
            customdata=np.column_stack([inside, bars["n"], bars["seconds"]]),
            hovertemplate="<b>%{y}</b><br>%{customdata[0]}<br>%{customdata[1]} of 5 folds, "
            "%{customdata[2]:.1f} s<extra></extra>",
        )
    )
    for row, text in zip(bars.itertuples(), inside, strict=True):
        end = row.value + (0.0 if math.isnan(row.sd) else row.sd)
        figure.add_annotation(
            x=end, y=row.method, text=text, showarrow=False, xanchor="left", xshift=6
        )
    height = 34 * max(len(bars), 1) + 92
    x = {"title": title, "range": [0, 1.38 * most], "fixedrange": True}
    y = {"autorange": "reversed", "automargin": True, "fixedrange": True}
    return framed(figure, height, x=x, y=y, showlegend=False, bargap=0.25)

"""Tables in, Plotly figures out. Nothing here calls Streamlit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

# Okabe and Ito's hues, told apart with any kind of colour vision; shifted in lightness until each
# stands out against the light and the dark page by 3 to 1.
YEAR_COLORS = ("#0068A8", "#C68600", "#009E73", "#CC79A7", "#3B9CDA", "#B83E00")
BAR_COLORS = {"top": YEAR_COLORS[0], "bottom": YEAR_COLORS[5]}
CHART_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg", "filename": "uncletc"},
}
_WHISKER = "rgb(128,128,128)"  # on white and on black
_LONGEST_WHISKER = 1.6  # times the longest bar; beyond, it would leave no room for the bars
_MARGIN = {"l": 8, "r": 8, "t": 32, "b": 8}  # room for the toolbar, shown always on touch
_LONGEST_NAME = 15  # characters of a species on an axis


def picture_config(picture: str) -> dict[str, Any]:
    """CHART_CONFIG with the camera saving "svg" or "png"."""
    options = CHART_CONFIG["toImageButtonOptions"] | {"format": picture}
    if picture == "png":
        options["scale"] = 2  # sharp in print
    return CHART_CONFIG | {"toImageButtonOptions": options}


def short_names(names: Sequence[str], longest: int = _LONGEST_NAME) -> list[str]:
    """Shorten names to `longest` characters with an ellipsis; they stay distinct.

    Species are often told apart by their end (sp 2, sp 23), so that both ends are kept. Names that
    would become equal are left as they are.
    """
    tail = longest // 3
    cut = [
        name if len(name) <= longest else f"{name[: longest - tail - 1].rstrip()}…{name[-tail:]}"
        for name in names
    ]
    return [
        short if cut.count(short) == 1 else name for short, name in zip(cut, names, strict=True)
    ]


def axis_limit(*charts: pd.DataFrame) -> float:
    """Right end of an axis that bars share: room for all bars, and for whiskers of usual length.

    Parameters
    ----------
    charts : DataFrame
        As for :func:`bar_chart`.
    """
    bars = pd.concat(charts)
    longest = float(bars["value"].max())
    if "high" in bars:
        longest = min(float(bars["high"].max()), _LONGEST_WHISKER * longest)
    return 1.05 * longest


def bar_chart(
    bars: pd.DataFrame, *, title: str, color: str, limit: float, height: int = 360
) -> go.Figure:
    """Horizontal bars, the first row on top, with text inside.

    Parameters
    ----------
    bars : DataFrame
        label, value, inside; where there are low and high, whiskers reach from one to the other.
    title : str
        What the value is.
    color : str
    limit : float
        Right end of the axis; pass the same to charts that are compared.
    """
    figure = go.Figure(
        go.Bar(
            x=bars["value"],
            y=bars["label"],
            orientation="h",
            text=bars["inside"],
            textposition=np.where(bars["value"] > 0.45 * limit, "inside", "outside"),
            insidetextanchor="start",
            cliponaxis=False,
            marker_color=color,
            hovertemplate=f"<b>%{{y}}</b><br>{title}: %{{x:.3g}}<br>%{{text}}<extra></extra>",
        )
    )
    figure.update_layout(height=height, margin=_MARGIN, showlegend=False, bargap=0.15)
    figure.update_xaxes(title=title, range=[0, limit])
    figure.update_yaxes(autorange="reversed", automargin=True, ticklabeloverflow="allow")
    if "high" in bars:
        _add_whiskers(figure, bars)
    return figure


def _add_whiskers(figure: go.Figure, bars: pd.DataFrame) -> None:
    """Draw whiskers below bars, so that the text on the bars stays readable."""
    figure.update_traces(
        offset=-0.45,
        width=0.65,
        customdata=bars[["low", "high"]],
        hovertemplate=figure.data[0].hovertemplate.replace(
            "%{text}", "90 %: %{customdata[0]:.3g} to %{customdata[1]:.3g}<br>%{text}"
        ),
    )
    figure.add_bar(
        x=bars["value"],
        y=bars["label"],
        orientation="h",
        offset=0.2,
        width=0.2,
        marker_color="rgba(0,0,0,0)",
        hoverinfo="skip",
        error_x={
            "type": "data",
            "array": bars["high"] - bars["value"],
            "arrayminus": bars["value"] - bars["low"],
            "color": _WHISKER,
            "thickness": 1.5,
            "width": 3,
        },
    )
    figure.update_layout(barmode="overlay", height=figure.layout.height + 100)


def objective_chart(objectives: Sequence[float], *, height: int = 220) -> go.Figure:
    """The objective after each iteration; the starting point is left out of the picture."""
    values = list(objectives)[1:]
    figure = go.Figure(
        go.Scatter(
            x=list(range(1, len(values) + 1)),
            y=values,
            mode="lines",
            line_color=BAR_COLORS["top"],
            hovertemplate="iteration %{x}: %{y:,.3f}<extra></extra>",
        )
    )
    figure.update_layout(height=height, margin=_MARGIN)
    figure.update_xaxes(title="iteration")
    figure.update_yaxes(title="objective per counted entry")
    return figure

"""How all figures look, and the parts that several are made of. Nothing here calls Streamlit.

Change a colour, a margin or a line here, and every page follows. The look is set on each figure
and not in a Plotly template, whose margins and axes Streamlit's own theme overwrites.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.colors import get_colorscale, sample_colorscale

from dashboard.countymap.picture import log_marks

# Okabe and Ito's hues, distinct with any kind of colour vision; shifted in lightness until each
# stands out against the light and the dark page by 3 to 1.
COLORS = ("#0068A8", "#C68600", "#009E73", "#CC79A7", "#3B9CDA", "#B83E00")
BLUE, AMBER, GREEN, PINK, SKY, VERMILION = COLORS
BAR_COLORS = {"top": BLUE, "bottom": VERMILION}
GREY = "rgb(128,128,128)"  # on white and on black
TEXT = "#000037"  # in its place Streamlit puts the theme's; other viewers see nearly black
CLEAR = "rgba(0,0,0,0)"
DASHED = {"color": GREY, "width": 1, "dash": "dash"}
DOTTED = {"color": GREY, "width": 1, "dash": "dot"}
ABOVE = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}  # place of a legend
ROWS = {"type": "category", "autorange": "reversed", "automargin": True}  # first on top
ROWS["ticklabeloverflow"] = "allow"
BESIDE = 64  # pixels at the right of rows, for their values
CHART_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "png", "scale": 3, "filename": "uncletc"},  # for print
}
_LONGEST_NAME = 15  # characters of a species on an axis


def framed(
    figure: go.Figure,
    height: int,
    *,
    x: str | Mapping[str, Any] = "",
    y: str | Mapping[str, Any] = "",
    top: int = 32,
    right: int = 8,
    **layout: Any,
) -> go.Figure:
    """Give a figure its height, its margins and its axes.

    Parameters
    ----------
    figure : Figure
    height : int
        In pixels.
    x, y : str or mapping
        Title of an axis, or its options.
    top, right : int
        Margins. At the top there is room for the toolbar, which touch screens always show.
    **layout
        What else the layout is to have.
    """
    figure.update_layout(height=height, margin={"l": 8, "r": right, "t": top, "b": 8}, **layout)
    figure.update_xaxes(**_axis(x))
    figure.update_yaxes(**{"separatethousands": True} | _axis(y))
    return figure


def _axis(options: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(options, str):
        options = {"title": options} if options else {}
    return {"exponentformat": "none", **options}  # 20,000, not 20k over an axis with 6,000


def log_axis(low: float, high: float, *, most: int = 7, sign: str = "") -> dict[str, Any]:
    """Options of a logarithmic axis: round numbers in full, `most` at most, each after a sign."""
    marks = log_marks(low, high, most=most)
    return {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "tickvals": marks,
        "ticktext": [f"{sign}{mark:,.10g}" for mark in marks],
    }


def below(y: float) -> dict[str, Any]:
    """A legend under the picture, its top at `y` times the picture's height."""
    return {"orientation": "h", "x": 0, "y": y, "yanchor": "top"}


def faint(color: str, opacity: float = 0.25) -> str:
    """One of `COLORS` for an area that lines and text stand out from."""
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"


def whiskers(middle: pd.Series, low: pd.Series, high: pd.Series, **process: Any) -> dict[str, Any]:
    """Error bars from low to high."""
    return spread(high - middle, arrayminus=middle - low, **process)


def spread(sd: ArrayLike, **process: Any) -> dict[str, Any]:
    """Error bars of a length, in the colour of text, which stands out from bars, too."""
    return {"type": "data", "array": sd, "color": TEXT, "thickness": 1.5} | process


def diagonal(low: float, high: float) -> go.Figure:
    """A figure with the dashed line on which both axes agree."""
    ends = [low, high]
    line = {"x": ends, "y": ends, "mode": "lines", "line": DASHED}
    return go.Figure(go.Scatter(line, hoverinfo="skip", showlegend=False))


def add_band(
    figure: go.Figure, x: pd.Series, low: pd.Series, high: pd.Series, *, color: str, **where: Any
) -> None:
    """Fill the area between low and high; `where`: row, column and group of the legend."""
    edge = {"x": x, "mode": "lines", "line_width": 0, "hoverinfo": "skip", "showlegend": False}
    figure.add_scatter(y=low, **edge, **where)
    figure.add_scatter(y=high, fill="tonexty", fillcolor=faint(color), **edge, **where)


def side_bar(title: str, **ticks: Any) -> dict[str, Any]:
    """A colour bar at the right of a heat map."""
    return {"title": {"text": title, "side": "right"}, "thickness": 12, **ticks}


def top_bar(title: str, **ticks: Any) -> dict[str, Any]:
    """A colour bar above a heat map."""
    place = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "thickness": 10}
    return {"title": {"text": title, "side": "top"}, **place, **ticks}


def beside(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Annotations at the right of rows, in `BESIDE` pixels."""
    place = {"x": 1, "xref": "paper", "xanchor": "left", "xshift": 4, "showarrow": False}
    # By number of the row: Plotly takes a label such as "27" for a place on the axis.
    return [{"y": k, "text": text} | place for k, text in enumerate(texts)]


def two_lines(title: str, longest: int) -> str:
    """Break a title of more than `longest` characters before its bracket, for narrow pages."""
    return title.replace(" (", "<br>(", 1) if len(title) > longest else title


def short_names(names: Sequence[str], longest: int = _LONGEST_NAME) -> list[str]:
    """Shorten names to `longest` characters with an ellipsis; they stay distinct.

    Species often differ in their end (sp 2, sp 23), so that both ends are kept. Names that
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


# Rising scales, and what stands out from Streamlit's dark page by 3 to 1 instead: the part of
# Cividis that does begins with greys alone.
_RISING = {tuple(it for _, it in get_colorscale(name)) for name in ("Cividis", "Viridis")}
_ON_DARK = sample_colorscale("Viridis", np.linspace(0.37, 1, 40))


def _lighter(part: Any) -> Any:
    """A part of a style with a lighter blue, whose colours may be one or those of each mark."""
    if isinstance(part, dict):
        return {name: _lighter(each) for name, each in part.items()}
    if np.ndim(part) and not np.issubdtype(np.asarray(part).dtype, np.number):
        return [_lighter(each) for each in part]
    return SKY if isinstance(part, str) and part == BLUE else part


def on_dark(figure: go.Figure) -> go.Figure:
    """Return the figure for a dark page: rising colour scales and blue stand out from it."""
    themed = go.Figure(figure)
    themed.update_traces({"fillcolor": faint(SKY, 0.4)}, selector={"fillcolor": faint(BLUE)})
    for trace in themed.data:
        for name in {"line", "marker", "error_x", "error_y"} & {*trace}:
            trace[name] = _lighter(trace[name].to_plotly_json())
        for holder in (trace, getattr(trace, "marker", None)):
            colors = tuple(color for _, color in getattr(holder, "colorscale", None) or ())
            if colors in _RISING:
                holder.colorscale = _ON_DARK
    return themed

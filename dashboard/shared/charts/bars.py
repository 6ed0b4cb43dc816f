"""Bars of places and pairs, ranked, and the matrix of pairs. Numbers in, figures out; pure."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts import style
from dashboard.shared.charts.places import Matrix
from dashboard.shared.text.words import amount

# Okabe and Ito's colours, with a dash and a marker of their own: colour is never alone.
LINES = (
    (style.BLUE, "solid", "circle"),
    (style.AMBER, "dash", "square"),
    (style.GREEN, "dot", "diamond"),
    (style.PINK, "dashdot", "triangle-up"),
    (style.VERMILION, "longdash", "pentagon"),
)
CHOSEN = style.VERMILION  # outline of what is chosen
LONGEST_LINE = 28  # characters of a title
_LONGEST_WHISKER = 10.0  # times the longest bar; one beyond leaves the chart without an end
_AROUND, _ROW = 90, 23  # pixels of a chart without bars, and of a bar, of 3 at least


def short_pair(label: str, longest: int = 15) -> str:
    """Shorten both names of an interaction, or one name of up to twice the length."""
    names = label.split(" – ")
    return " – ".join(style.short_names(names, longest if len(names) > 1 else 2 * longest))


def bar_limits(*charts: pd.DataFrame, log: bool = False) -> tuple[float, float]:
    """Return the ends of an axis that charts share: room for all values and usual whiskers.

    Parameters
    ----------
    *charts : DataFrame
        As for :func:`ranked_bars`.
    log : bool
        Whether the axis is logarithmic.
    """
    bars = pd.concat(charts)
    low, high = float(bars["value"].min()), float(bars["value"].max())
    if "high" in bars:
        low = max(float(bars["low"].min()), low / _LONGEST_WHISKER)
        high = min(float(bars["high"].max()), _LONGEST_WHISKER * high)
    room = max((high / low) ** 0.1, 1.5) if log else 1.05
    return low / room if log else 0.0, high * room


def ranked_bars(
    bars: pd.DataFrame,
    *,
    title: str,
    color: str,
    limits: tuple[float, float],
    interval: str = "90 % interval",
    log: bool = False,
    chosen: Sequence[str] = (),
) -> go.Figure:
    """Return horizontal bars, the first row on top; dots in their place on a log axis.

    Parameters
    ----------
    bars : DataFrame
        label, value, note (a line for the tooltip); where there are low and high, whiskers reach
        from one to the other.
    title : str
        What the value is.
    color : str
    limits : tuple of float
        Of :func:`bar_limits`; pass the same to charts that are compared.
    interval : str
        What the whiskers are.
    log : bool
    chosen : sequence of str
        Labels of bars to outline.

    Returns
    -------
    plotly.graph_objects.Figure
        Its first trace holds the values. The second fills each row and is what a click or a tap
        finds, so that short bars can be chosen, too: its customdata ends with the label.
    """
    marker: dict[str, Any] = {"color": color}
    outline = style.GREY if color == CHOSEN else CHOSEN
    marker["line"] = {"color": outline, "width": 3 * bars["label"].isin(list(chosen))}
    rows: dict[str, Any] = {"y": bars["label"], "x": bars["value"], "hoverinfo": "skip"}
    ends = [end for end in ("low", "high") if end in bars]
    if ends:
        rows["error_x"] = style.whiskers(bars["value"], bars["low"], bars["high"], width=3)
    figure = go.Figure()
    if log:
        figure.add_scatter(**rows, mode="markers", marker=marker | {"size": 12})
    else:
        figure.add_bar(**rows, orientation="h", marker=marker)
    spread = f"{interval}: %{{customdata[1]:,.3~r}} to %{{customdata[2]:,.3~r}}<br>" if ends else ""
    figure.add_bar(
        x=np.full(len(bars), limits[1] - limits[0]),
        base=limits[0],
        y=bars["label"],
        orientation="h",
        width=1,
        marker_color=style.CLEAR,
        hoverlabel={"align": "left", "font_color": style.TEXT},
        customdata=bars[["value", *ends, "note", "label"]],
        hovertemplate=f"<b>%{{customdata[{2 + len(ends)}]}}</b><br>{title}: "
        f"%{{customdata[0]:,.3~r}}<br>{spread}"
        f"%{{customdata[{1 + len(ends)}]}}<extra></extra>",
    )
    # Plotly fails on the second click where a trace says nothing of selected points, and fades all
    # others after the first.
    figure.update_traces(selected_marker_opacity=1, unselected_marker_opacity=1)
    values = [f"{value:#.2g}" if value < 9.95 else f"{value:,.0f}" for value in bars["value"]]
    axis: dict[str, Any] = {"title": style.two_lines(title, LONGEST_LINE), "range": list(limits)}
    axis["separatethousands"] = True
    if log:
        axis |= style.log_axis(*limits)
    names = {
        "tickmode": "array",
        "tickvals": list(range(len(bars))),
        "ticktext": [short_pair(label, 14) for label in bars["label"]],
    }
    return style.framed(
        figure,
        _AROUND + _ROW * max(len(bars), 3),
        x=axis,
        y=style.ROWS | names,
        right=style.BESIDE,
        showlegend=False,
        annotations=style.beside(values),
        barmode="overlay",
        bargap=0.25,
        dragmode=False,
    )


_MOST_NAMES = 30  # rows of a heat map that have their names beside them
_DIVERGING = "PuOr_r"  # as on maps; distinct with any kind of colour vision


def matrix_chart(
    matrix: Matrix,
    *,
    title: str,
    limits: tuple[float, float],
    log: bool,
    chosen: Sequence[str] = (),
    boxes: bool = False,
) -> go.Figure:
    """Heat map of mean p, blank where two levels were never counted together.

    Parameters
    ----------
    matrix : Matrix
    title : str
        What p is.
    limits : tuple of float
        Colour limits.
    log : bool
        Whether colours follow the logarithm of p.
    chosen : sequence of str
        Labels of pairs to outline.
    boxes : bool
        Whether dragging draws a box that chooses pairs.
    """
    p = matrix.p.to_numpy()
    rows, columns = style.short_names(matrix.p.index), style.short_names(matrix.p.columns)
    figure = go.Figure(
        go.Heatmap(
            z=(np.log10(p) if log else p).round(4),  # fewer bytes to send
            x=columns,
            y=rows,
            zmin=np.log10(limits[0]) if log else limits[0],
            zmax=np.log10(limits[1]) if log else limits[1],
            colorscale="Cividis",
            xgap=0.5,
            ygap=0.5,
            hoverinfo="skip",
            colorbar=style.top_bar(
                style.two_lines(f"mean {title}", LONGEST_LINE), **(_marks(limits) if log else {})
            ),
        )
    )
    row, column = np.nonzero(np.isfinite(p))
    # Heat maps cannot be clicked on in Streamlit; markers over them can.
    figure.add_scatter(
        x=np.array(columns)[column],
        y=np.array(rows)[row],
        mode="markers",
        marker={"size": 9, "symbol": "square", "color": style.CLEAR},
        selected_marker_opacity=1,
        unselected_marker_opacity=1,
        showlegend=False,
        customdata=[
            f"{first} – {second}"
            for first, second in zip(matrix.p.index[row], matrix.p.columns[column], strict=True)
        ],
        text=[
            f"{amount(p[i, j])}<br>{matrix.seen.iat[i, j]:,} seen"
            for i, j in zip(row, column, strict=True)
        ],
        hovertemplate=f"<b>%{{customdata}}</b><br>mean {title}: %{{text}}<extra></extra>",
    )
    for first, second in (label.split(" – ", 1) for label in chosen):
        if first in matrix.p.index and second in matrix.p.columns:
            i, j = matrix.p.index.get_loc(first), matrix.p.columns.get_loc(second)
            ends = {"x0": j - 0.5, "x1": j + 0.5, "y0": i - 0.5, "y1": i + 0.5}
            figure.add_shape(ends, line={"color": CHOSEN, "width": 3})
    axis = {"type": "category", "showgrid": False}
    return style.framed(
        figure,
        max(240 + 14 * min(len(rows), 10), 120 + 7 * len(rows)),  # each of a few rows is named
        x=axis
        | {
            "title": f"<br><br>{matrix.p.columns.name}",  # below labels, with a bar above the map
            "range": [-0.5, len(columns) - 0.5],
        },
        y=axis | {"title": matrix.p.index.name, "range": [len(rows) - 0.5, -0.5]},
        dragmode="select" if boxes else None,
    )


def heat_chart(
    values: pd.DataFrame,
    *,
    title: str,
    limits: tuple[float, float],
    log: bool = False,
    diverging: bool = False,
    height: int = 310,
) -> go.Figure:
    """Pairs of levels as a heat map; blank where there is no value.

    Parameters
    ----------
    values : DataFrame
        Its index and columns are named after their modes.
    title : str
        Of the colour bar.
    limits : tuple of float
        Pass the same to heat maps that are compared.
    log : bool
        Whether colours follow the logarithm.
    diverging : bool
        Colours that part at 0.
    height : int
        In pixels.
    """
    z = values.to_numpy(dtype=float)
    ends = np.log10(limits) if log else limits
    few = len(values) <= _MOST_NAMES
    figure = go.Figure(
        go.Heatmap(
            z=np.log10(z) if log else z,
            x=values.columns,
            y=values.index,
            customdata=z,
            zmin=ends[0],
            zmax=ends[1],
            colorscale=_DIVERGING if diverging else "Cividis",
            colorbar=style.side_bar(title, **(_marks(limits) if log else {})),
            hoverongaps=False,
            hovertemplate=f"<b>%{{y}} – %{{x}}</b><br>{title}: %{{customdata:,.3~r}}"
            "<extra></extra>",
        )
    )
    axis = {"type": "category", "showgrid": False, "showticklabels": few}
    x = axis | {"title": values.columns.name, "nticks": 5}
    y = axis | style.ROWS | {"title": values.index.name, "nticks": 8}
    return style.framed(figure, height, x=x, y=y)


def _marks(limits: tuple[float, float]) -> dict[str, Any]:
    """Marks of a colour bar of log10 p."""
    axis = style.log_axis(*limits)
    return {"tickvals": np.log10(axis["tickvals"]).tolist(), "ticktext": axis["ticktext"]}

"""The matrix of pairs, such as plants and pollinators. Tables in, a figure out; no Streamlit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go

from dashboard.shared.charts import style
from dashboard.shared.charts.bars import CHOSEN, LONGEST_LINE
from dashboard.shared.charts.places import Matrix

_MARKS = 7  # of a colour bar at most


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
            f"{p[i, j]:.3g}<br>{matrix.seen.iat[i, j]:,} seen"
            for i, j in zip(row, column, strict=True)
        ],
        hovertemplate=f"<b>%{{customdata}}</b><br>mean {title}: %{{text}}<extra></extra>",
    )
    for i, j in _cells(matrix, chosen):
        figure.add_shape(
            x0=j - 0.5, x1=j + 0.5, y0=i - 0.5, y1=i + 0.5, line={"color": CHOSEN, "width": 3}
        )
    axis = {"type": "category", "showgrid": False}
    return style.framed(
        figure,
        120 + 7 * max(len(rows), 20),
        x=axis
        | {
            "title": {"text": matrix.p.columns.name, "standoff": 12},  # below the longest label
            "range": [-0.5, len(columns) - 0.5],
        },
        y=axis | {"title": matrix.p.index.name, "range": [len(rows) - 0.5, -0.5]},
        dragmode="select" if boxes else None,
    )


def _cells(matrix: Matrix, labels: Sequence[str]) -> Iterator[tuple[int, int]]:
    for label in labels:
        first, second = label.split(" – ", 1)
        if first in matrix.p.index and second in matrix.p.columns:
            yield matrix.p.index.get_loc(first), matrix.p.columns.get_loc(second)


def _marks(limits: tuple[float, float]) -> dict[str, list[float] | list[str]]:
    """Marks of a colour bar of log10 p."""
    marks = style.log_marks(*limits, most=_MARKS)
    return {"tickvals": np.log10(marks).tolist(), "ticktext": [f"{mark:g}" for mark in marks]}

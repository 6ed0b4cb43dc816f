"""Figures of the What-if page: tables in, Plotly figures out. Nothing here calls Streamlit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts import YEAR_COLORS

SIDE_COLORS = {"A": YEAR_COLORS[0], "B": YEAR_COLORS[5]}
_MARGIN = {"l": 8, "r": 8, "t": 32, "b": 8}  # room for the toolbar, shown always on touch
_GREY = "rgb(128,128,128)"  # on white and on black
_DIVERGING = "PuOr_r"  # as on maps; told apart with any kind of colour vision
_LEGEND = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}


def scatter_chart(
    cells: pd.DataFrame, *, title: str, chosen: str | None = None, height: int = 420
) -> go.Figure:
    """p under B against p under A, with the diagonal on which nothing changes.

    Parameters
    ----------
    cells : DataFrame
        label, p_a, p_b, rank_a, rank_b.
    title : str
        What p is.
    chosen : str, optional
        Label of a cell to mark.
    """
    values = cells[["p_a", "p_b"]].to_numpy()
    low, high = (float(limit) for limit in (values.min() / 1.15, values.max() * 1.15))
    figure = go.Figure(
        go.Scatter(
            x=[low, high],
            y=[low, high],
            mode="lines",
            line={"color": _GREY, "width": 1, "dash": "dash"},
            hoverinfo="skip",
        )
    )
    figure.add_scatter(
        x=cells["p_a"],
        y=cells["p_b"],
        mode="markers",
        marker={"size": 6, "opacity": 0.55, "color": YEAR_COLORS[0]},
        text=cells["label"],
        customdata=cells[["rank_a", "rank_b"]],
        hovertemplate="<b>%{text}</b><br>A: %{x:.3g}, rank %{customdata[0]}<br>"
        "B: %{y:.3g}, rank %{customdata[1]}<extra></extra>",
    )
    for row in cells[cells["label"] == chosen].itertuples():
        figure.add_annotation(
            x=np.log10(row.p_a), y=np.log10(row.p_b), text=f"<b>{row.label}</b>", arrowhead=2
        )
    ticks = _log_axis(low, high)
    figure.update_layout(height=height, margin=_MARGIN, showlegend=False)
    figure.update_xaxes(title=f"A: {title}", **ticks)
    figure.update_yaxes(title=f"B: {title}", **ticks)
    return figure


def _log_axis(low: float, high: float) -> dict[str, Any]:
    """Options of a logarithmic axis with few round ticks."""
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for steps in ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,)):
        marks = [step * 10.0**power for power in powers for step in steps]
        inside = [mark for mark in marks if low <= mark <= high]
        if len(inside) <= 9:
            break
    return {
        "type": "log",
        "range": [np.log10(low), np.log10(high)],
        "tickvals": inside,
        "ticktext": [f"{mark:.3g}" for mark in inside],
    }


def shift_chart(shift: pd.DataFrame, *, n: int, names_on: str) -> go.Figure:
    """Ranks under A on the left, under B on the right, one line each.

    Parameters
    ----------
    shift : DataFrame
        label, rank_a, rank_b, at_a, at_b; see :func:`dashboard.whatif.view.rank_shift`.
    n : int
        Ranks beyond n are drawn below a dashed line, in their order.
    names_on : {"A", "B"}
        The side whose first n these are; names stand there.
    """
    gain = shift["rank_a"] - shift["rank_b"]
    groups = {
        "further up under B": (gain > 0, SIDE_COLORS["A"]),
        "further down under B": (gain < 0, SIDE_COLORS["B"]),
        "same rank": (gain == 0, _GREY),
    }
    figure = go.Figure()
    for name, (chosen, color) in groups.items():
        rows = shift[chosen]
        # One trace a group: pairs of points, cut by a missing third.
        figure.add_scatter(
            x=["A", "B", None] * len(rows),
            y=np.column_stack([rows["at_a"], rows["at_b"], np.full(len(rows), np.nan)]).ravel(),
            mode="lines+markers",
            name=name,
            line={"color": color, "width": 2},
            marker={"size": 8},
            text=np.repeat(rows["label"], 3),
            customdata=np.repeat(rows[["rank_a", "rank_b"]].to_numpy(), 3, axis=0),
            hovertemplate="<b>%{text}</b><br>rank %{customdata[0]} under A, "
            "%{customdata[1]} under B<extra></extra>",
        )
    for side, anchor, shift_x in (("A", "right", -8), ("B", "left", 8)):
        for row in shift.itertuples():
            rank = getattr(row, f"rank_{side.lower()}")
            name = row.label.replace(" – ", " –<br>") if side == names_on else ""
            text = f"{name}  {rank:,}" if side == "A" else f"{rank:,}  {name}"
            figure.add_annotation(
                x=side,
                y=getattr(row, f"at_{side.lower()}"),
                text=text.strip(),
                showarrow=False,
                xanchor=anchor,
                xshift=shift_x,
                align=anchor,
                font_size=12,
            )
    last = float(shift[["at_a", "at_b"]].to_numpy().max(initial=n))
    if last > n:
        figure.add_hline(y=n + 0.75, line={"color": _GREY, "width": 1, "dash": "dot"})
    wide, narrow = 1.9, 0.35  # room for names and for numbers, in units of the step from A to B
    room = [-wide, 1 + narrow] if names_on == "A" else [-narrow, 1 + wide]
    step = 34 if shift["label"].str.contains(" – ").any() else 24  # names of two lines
    legend = _LEGEND | {"y": 0, "yanchor": "top"}
    # The toolbar lies over the margin, and A and B must show below it.
    margin = _MARGIN | {"t": 60}
    figure.update_layout(height=130 + step * int(np.ceil(last)), margin=margin, legend=legend)
    figure.update_xaxes(range=room, side="top", showgrid=False, zeroline=False, fixedrange=True)
    figure.update_yaxes(range=[last + 0.6, 0.4], visible=False, fixedrange=True)
    return figure


def heat_chart(
    values: pd.DataFrame,
    *,
    title: str,
    limits: tuple[float, float],
    diverging: bool = False,
    height: int = 380,
) -> go.Figure:
    """Plants × pollinators as a heat map; blank where an interaction was never seen.

    Parameters
    ----------
    values : DataFrame
        Plants as rows, pollinators as columns; p > 0, or a log ratio where `diverging`.
    title : str
        Of the colour bar.
    limits : tuple of float
        Pass the same to heat maps that are compared.
    diverging : bool
        Colours that part at 0. Otherwise colours follow the logarithm of p.
    """
    z = values.to_numpy(dtype=float)
    low, high = limits if diverging else (np.log10(limits[0]), np.log10(limits[1]))
    bar = {"title": {"text": title, "side": "right"}, "thickness": 12}
    if not diverging:
        ticks = np.linspace(low, high, 5)
        bar |= {"tickvals": ticks, "ticktext": [f"{10**tick:.2g}" for tick in ticks]}
    figure = go.Figure(
        go.Heatmap(
            z=z if diverging else np.log10(z),
            x=values.columns,
            y=values.index,
            customdata=z,
            zmin=low,
            zmax=high,
            colorscale=_DIVERGING if diverging else "Cividis",
            colorbar=bar,
            hovertemplate="<b>%{y} – %{x}</b><br>%{customdata:.3g}<extra></extra>",
        )
    )
    figure.update_layout(height=height, margin=_MARGIN)
    figure.update_xaxes(title="pollinator", showticklabels=False, showgrid=False)
    figure.update_yaxes(title="plant", showticklabels=False, showgrid=False, autorange="reversed")
    return figure


def curves_chart(histories: Mapping[str, Sequence[float]], *, height: int = 240) -> go.Figure:
    """Objective after each iteration of A and of B; starting points are left out.

    Parameters
    ----------
    histories : mapping of str to sequence of float
        Objectives by side, the starting point first.
    """
    figure = go.Figure()
    for side, objectives in histories.items():
        values = list(objectives)[1:]
        figure.add_scatter(
            x=list(range(1, len(values) + 1)),
            y=values,
            mode="lines",
            name=side,
            line={"color": SIDE_COLORS[side], "dash": "solid" if side == "A" else "dash"},
            hovertemplate=f"{side}, iteration %{{x}}: %{{y:,.3f}}<extra></extra>",
        )
    figure.update_layout(height=height, margin=_MARGIN, legend=_LEGEND, showlegend=True)
    figure.update_xaxes(title="iteration")
    figure.update_yaxes(title="objective per counted entry")
    return figure


def sweep_chart(
    table: pd.DataFrame,
    lines: Mapping[str, str],
    *,
    parameter: str,
    title: str,
    own: int,
    height: int = 260,
) -> go.Figure:
    """Numbers of a sweep over the values of its parameter, equally spaced.

    Parameters
    ----------
    table : DataFrame
        value and the columns of `lines`; NaN where not known yet.
    lines : mapping of str to str
        Names by column.
    parameter, title : str
        Of the axes.
    own : int
        The value that A has; its marker is larger.
    """
    figure = go.Figure()
    for k, (column, name) in enumerate(lines.items()):
        figure.add_scatter(
            x=[str(value) for value in table["value"]],
            y=table[column],
            mode="lines+markers",
            name=name,
            connectgaps=True,
            line={"color": YEAR_COLORS[(0, 5)[k]], "dash": "solid" if k == 0 else "dash"},
            marker={"size": np.where(table["value"] == own, 13, 7)},
            hovertemplate=f"{parameter} %{{x}}<br>{name}: %{{y:.3g}}<extra></extra>",
        )
    figure.update_layout(
        height=height,
        margin=_MARGIN,
        legend=_LEGEND | {"y": -0.35, "yanchor": "top"},
        showlegend=len(lines) > 1,
    )
    order = [str(value) for value in table["value"]]
    figure.update_xaxes(title=parameter, type="category", categoryarray=order, showgrid=False)
    # All values keep their place while some are still missing.
    figure.update_xaxes(range=[-0.4, len(order) - 0.6])
    figure.update_yaxes(title=title, rangemode="tozero")
    return figure

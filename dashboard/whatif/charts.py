"""Figures of the What-if page: tables in, Plotly figures out. Nothing here calls Streamlit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts.style import (
    BLUE,
    DASHED,
    DOTTED,
    GREY,
    ROWS,
    VERMILION,
    below,
    diagonal,
    framed,
    log_axis,
    short_names,
    side_bar,
)

_SIDE_COLORS = {"A": BLUE, "B": VERMILION}
_DIVERGING = "PuOr_r"  # as on maps; distinct with any kind of colour vision


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
    figure = diagonal(low, high)
    figure.add_scatter(
        x=cells["p_a"],
        y=cells["p_b"],
        mode="markers",
        marker={"size": 6, "opacity": 0.55, "color": BLUE},
        text=cells["label"],
        customdata=cells[["rank_a", "rank_b"]],
        hovertemplate="<b>%{text}</b><br>A: %{x:.3g}, rank %{customdata[0]}<br>"
        "B: %{y:.3g}, rank %{customdata[1]}<extra></extra>",
    )
    for row in cells[cells["label"] == chosen].itertuples():
        figure.add_annotation(
            x=np.log10(row.p_a), y=np.log10(row.p_b), text=f"<b>{row.label}</b>", arrowhead=2
        )
    axis = log_axis(low, high, most=9)
    x, y = axis | {"title": f"A: {title}"}, axis | {"title": f"B: {title}"}
    return framed(figure, height, x=x, y=y, showlegend=False)


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
        "further up under B": (gain > 0, _SIDE_COLORS["A"]),
        "further down under B": (gain < 0, _SIDE_COLORS["B"]),
        "same rank": (gain == 0, GREY),
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
        figure.add_hline(y=n + 0.75, line=DOTTED)
    wide, narrow = 1.9, 0.35  # room for names and for numbers, in units of the step from A to B
    room = [-wide, 1 + narrow] if names_on == "A" else [-narrow, 1 + wide]
    step = 34 if shift["label"].str.contains(" – ").any() else 24  # names of two lines
    return framed(
        figure,
        130 + step * int(np.ceil(last)),
        x={"range": room, "side": "top", "showgrid": False, "zeroline": False, "fixedrange": True},
        y={"range": [last + 0.6, 0.4], "visible": False, "fixedrange": True},
        top=60,  # the toolbar lies over the margin, and A and B must show below it
        legend=below(0),
    )


def heat_chart(
    values: pd.DataFrame,
    *,
    title: str,
    limits: tuple[float, float],
    diverging: bool = False,
    height: int = 380,
) -> go.Figure:
    """Pairs of levels as a heat map; blank where a pair was never seen.

    Parameters
    ----------
    values : DataFrame
        Its index and columns are named after their modes; p > 0, or a log ratio where `diverging`.
    title : str
        Of the colour bar.
    limits : tuple of float
        Pass the same to heat maps that are compared.
    diverging : bool
        Colours that part at 0. Otherwise colours follow the logarithm of p.
    """
    z = values.to_numpy(dtype=float)
    low, high = limits if diverging else (np.log10(limits[0]), np.log10(limits[1]))
    ticks: dict[str, Any] = {}
    if not diverging:
        at = np.linspace(low, high, 5)
        ticks = {"tickvals": at, "ticktext": [f"{10**tick:.2g}" for tick in at]}
    figure = go.Figure(
        go.Heatmap(
            z=z if diverging else np.log10(z),
            x=values.columns,
            y=values.index,
            customdata=z,
            zmin=low,
            zmax=high,
            colorscale=_DIVERGING if diverging else "Cividis",
            colorbar=side_bar(title, **ticks),
            hovertemplate="<b>%{y} – %{x}</b><br>%{customdata:.3g}<extra></extra>",
        )
    )
    axis = {"showticklabels": False, "showgrid": False}
    y = axis | {"title": values.index.name, "autorange": "reversed"}
    return framed(figure, height, x=axis | {"title": values.columns.name}, y=y)


def level_chart(
    table: pd.DataFrame, *, name: str, column: str, title: str, diverging: bool = False
) -> go.Figure:
    """Levels of one mode as dots, the first on top.

    Parameters
    ----------
    table : DataFrame
    name, column : str
        Columns with the levels, and with p > 0 or, where `diverging`, a log ratio.
    title : str
        What it is.
    """
    values = table[column].dropna()
    figure = go.Figure(
        go.Scatter(
            x=values,
            y=short_names(table.loc[values.index, name].astype(str).tolist()),
            mode="markers",
            marker={"size": 9, "color": BLUE},
            hovertext=table.loc[values.index, name],
            hovertemplate="<b>%{hovertext}</b><br>%{x:.3g}<extra></extra>",
        )
    )
    if diverging:
        figure.add_vline(x=0, line=DASHED)
        x: dict[str, Any] = {"title": title}
    else:
        ends = values.min() / 1.15, values.max() * 1.15
        x = log_axis(*map(float, ends), most=6) | {"title": title}
    return framed(figure, 110 + 20 * len(values), x=x, y=ROWS | {"type": "category"})


def sweep_chart(
    table: pd.DataFrame,
    lines: Mapping[str, str],
    *,
    parameter: str,
    title: str,
    current: Any,
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
    current : int or str
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
            line={"color": (BLUE, VERMILION)[k], "dash": "solid" if k == 0 else "dash"},
            marker={"size": np.where(table["value"] == current, 13, 7)},
            hovertemplate=f"{parameter} %{{x}}<br>{name}: %{{y:.3g}}<extra></extra>",
        )
    order = [str(value) for value in table["value"]]
    x = {"title": parameter, "type": "category", "categoryarray": order, "showgrid": False}
    return framed(
        figure,
        height,
        # All values keep their place while some are still missing.
        x=x | {"range": [-0.4, len(order) - 0.6]},
        y={"title": title, "rangemode": "tozero"},
        legend=below(-0.35),
        showlegend=len(lines) > 1,
    )

"""Figures of the Lab: tables in, Plotly figures out. Nothing here calls Streamlit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.lab.view import ERROR_NAMES, KINDS
from dashboard.shared.charts.style import (
    AMBER,
    BLUE,
    GREY,
    SKY,
    VERMILION,
    diagonal,
    framed,
    side_bar,
)

_ERROR_COLORS = {"rate": BLUE, "detection": AMBER}
_KIND_COLORS = ("rgba(128,128,128,0.25)", SKY, AMBER, BLUE)
# At the bottom: at the top a phone's toolbar would cover it.
_LEGEND = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}
_ERROR_AXIS = {"title": "error (0 is perfect)", "rangemode": "tozero"}


def events_chart(events: pd.DataFrame, *, height: int = 300) -> go.Figure:
    """One dot per true event: filled where it was counted, open where it was missed.

    Parameters
    ----------
    events : DataFrame
        x, y, counted; ten dots a row, the first row on top.
    height : int
    """
    figure = go.Figure()
    for name, chosen, symbol in (
        ("counted", events["counted"], "circle"),
        ("missed", ~events["counted"], "circle-open"),
    ):
        figure.add_scatter(
            x=events.loc[chosen, "x"],
            y=events.loc[chosen, "y"],
            mode="markers",
            name=f"{name}: {int(chosen.sum())}",
            marker={"size": 14, "symbol": symbol, "color": BLUE, "line": {"width": 2}},
            hovertemplate=f"a true event, {name}<extra></extra>",
        )
    # As large for 20 events as for 40, so that two draws can be compared.
    rows = max(5.0, float(events["y"].max())) if len(events) else 5.0
    x = {"visible": False, "range": [-0.7, 9.7]}
    y = {"visible": False, "range": [rows + 0.7, -0.7]}
    return framed(figure, height, x=x, y=y, legend=_LEGEND, showlegend=True)


def draws_chart(
    draws: pd.DataFrame, *, rate: float, chance: float, counted: int, height: int = 300
) -> go.Figure:
    """Shares of many simulated counts, of two kinds of place, beside the formula.

    Parameters
    ----------
    draws : DataFrame
        count, share, twin, formula.
    rate, chance : float
        λ and p of the first kind of place; the other has 2λ and p/2.
    counted : int
        The count of the draw shown, to be marked.
    height : int
    """
    figure = go.Figure()
    for column, name, color in (
        ("share", f"λ = {rate:g}, p = {chance:g}", BLUE),
        ("twin", f"λ = {2 * rate:g}, p = {chance / 2:g}", AMBER),
    ):
        figure.add_bar(
            x=draws["count"],
            y=draws[column],
            name=name,
            marker_color=color,
            hovertemplate="count %{x}: %{y:.1%} of the draws<extra>" + name + "</extra>",
        )
    figure.add_scatter(
        x=draws["count"],
        y=draws["formula"],
        mode="lines",
        name=f"Poisson({rate * chance:g})",
        line={"color": GREY, "width": 2},
        hovertemplate="count %{x}: %{y:.1%} by the formula<extra></extra>",
    )
    figure.add_vline(x=counted, line={"dash": "dot", "color": GREY})
    y = {"title": "share of draws", "tickformat": ".0%"}
    return framed(figure, height, x="simulated count y", y=y, legend=_LEGEND, bargap=0.1)


def matrix_chart(
    matrix: pd.DataFrame,
    *,
    name: str,
    limits: tuple[float, float],
    colorscale: str = "Cividis",
    height: int = 300,
) -> go.Figure:
    """Heat map of one slice; blank where there is no value.

    Parameters
    ----------
    matrix : DataFrame
        Rows by columns of the tensor; NaN where there is no value.
    name : str
        What a colour is.
    limits : tuple of float
        Of the colours; pass the same to pictures that are compared.
    colorscale : str
    height : int
    """
    figure = go.Figure(
        go.Heatmap(
            z=matrix,
            x=matrix.columns,
            y=matrix.index,
            zmin=limits[0],
            zmax=limits[1],
            colorscale=colorscale,
            colorbar=side_bar(name),
            hoverongaps=False,
            hovertemplate=f"row %{{y}}, column %{{x}}<br>{name}: %{{z:.3g}}<extra></extra>",
        )
    )
    return _squared(figure, height)


def kinds_chart(kinds: pd.DataFrame, *, height: int = 300) -> go.Figure:
    """Which entries of a slice have a count, attributes, both or neither.

    Parameters
    ----------
    kinds : DataFrame
        Rows by columns of the tensor, each one of `KINDS`.
    height : int
    """
    codes = kinds.apply(lambda column: column.map(KINDS.index))
    edges = np.linspace(0, 1, len(KINDS) + 1)
    steps = zip(edges[:-1], edges[1:], _KIND_COLORS, strict=True)
    figure = go.Figure(
        go.Heatmap(
            z=codes,
            x=codes.columns,
            y=codes.index,
            zmin=-0.5,
            zmax=len(KINDS) - 0.5,
            colorscale=[
                pair for low, high, color in steps for pair in ((low, color), (high, color))
            ],
            colorbar={
                "thickness": 12,
                "tickvals": list(range(len(KINDS))),
                "ticktext": [
                    kind.replace(" and ", "<br>and ").replace(" only", "<br>only") for kind in KINDS
                ],
            },
            text=kinds,
            hovertemplate="row %{y}, column %{x}: %{text}<extra></extra>",
        )
    )
    return _squared(figure, height)


def truth_chart(points: pd.DataFrame, column: str, *, name: str, height: int = 340) -> go.Figure:
    """Estimate against truth, with the diagonal on which they agree.

    Parameters
    ----------
    points : DataFrame
        `column`, `column` with ``_hat``, counted (bool).
    column : {"rate", "p"}
    name : str
        What it is.
    height : int
    """
    most = 1.05 * float(points[[column, f"{column}_hat"]].to_numpy().max())
    figure = diagonal(0, most)
    for label, chosen, color, symbol in (
        ("not counted", ~points["counted"], AMBER, "circle-open"),
        ("counted", points["counted"], BLUE, "circle"),
    ):
        rows = points[chosen]
        figure.add_scatter(
            x=rows[column].round(4),
            y=rows[f"{column}_hat"].round(4),
            mode="markers",
            name=label,
            marker={"size": 6, "color": color, "symbol": symbol},
            hovertemplate=f"true {name}: %{{x:.3g}}<br>estimated: %{{y:.3g}}<extra>{label}</extra>",
        )
    x = {"title": f"true {name} (simulated)", "range": [0, most]}
    y = {"title": f"estimated {name}", "range": [0, most]}
    return framed(figure, height, x=x, y=y, legend=_LEGEND)


def curve_chart(curve: pd.DataFrame, *, height: int = 280) -> go.Figure:
    """Both errors over the iterations of a fit.

    Parameters
    ----------
    curve : DataFrame
        iteration (from 1), rate, detection.
    height : int
    """
    figure = go.Figure()
    for column, name in ERROR_NAMES.items():
        figure.add_scatter(
            x=curve["iteration"],
            y=curve[column],
            mode="lines+markers",
            name=name,
            line={"color": _ERROR_COLORS[column], "dash": "solid" if column == "rate" else "dash"},
            hovertemplate=f"iteration %{{x}}<br>{name}: %{{y:.3f}}<extra></extra>",
        )
    title = "iteration (each step right: ten times as many)"
    x = {"title": title, "type": "log", "dtick": 1}
    return framed(figure, height, x=x, y=_ERROR_AXIS, legend=_LEGEND)


def scale_chart(
    entries: pd.DataFrame, column: str, *, name: str, limit: float, height: int = 320
) -> go.Figure:
    """One quantity of some entries after the change of scale, and before it as open marks.

    Parameters
    ----------
    entries : DataFrame
        entry, rate, p, expected, rate_1, p_1.
    column : {"rate", "p", "expected"}
        p above 1 is drawn in another colour, and a line marks 1.
    name : str
        What an axis says.
    limit : float
        Right end of the axis.
    height : int
    """
    before = entries["rate_1"] * entries["p_1"] if column == "expected" else entries[f"{column}_1"]
    impossible = (entries[column] > 1) & (column == "p")
    figure = go.Figure(
        go.Bar(
            x=entries[column],
            y=entries["entry"],
            orientation="h",
            name="now",
            marker={
                "color": np.where(impossible, VERMILION, BLUE),
                "pattern": {"shape": np.where(impossible, "/", "")},
            },
            hovertemplate=f"entry %{{y}}<br>{name}: %{{x:.3g}}<extra>now</extra>",
        )
    )
    figure.add_scatter(
        x=before,
        y=entries["entry"],
        mode="markers",
        name="at c = 1",
        marker={"symbol": "line-ns-open", "size": 14, "color": GREY, "line": {"width": 3}},
        hovertemplate=f"entry %{{y}}<br>{name}: %{{x:.3g}}<extra>at c = 1</extra>",
    )
    if column == "p":
        figure.add_vline(x=1, line={"dash": "dash", "color": GREY})
    x = {"title": name, "range": [0, limit]}
    y = {"autorange": "reversed", "automargin": True, "type": "category"}
    return framed(figure, height, x=x, y=y, legend=_LEGEND, bargap=0.25)


def lever_chart(table: pd.DataFrame, *, label: str, height: int = 360) -> go.Figure:
    """Both errors of every small fit against the lever, with lines through the medians.

    Parameters
    ----------
    table : DataFrame
        value, seed, rate, detection.
    label : str
        What the lever is.
    height : int
    """
    medians = table.groupby("value")[list(ERROR_NAMES)].median()
    figure = go.Figure()
    for column, name in ERROR_NAMES.items():
        color = _ERROR_COLORS[column]
        figure.add_scatter(
            x=[f"{value:g}" for value in medians.index],
            y=medians[column],
            mode="lines",
            name=f"{name}, median",
            line={"color": color, "dash": "solid" if column == "rate" else "dash"},
            hoverinfo="skip",
        )
        figure.add_scatter(
            x=[f"{value:g}" for value in table["value"]],
            y=table[column],
            mode="markers",
            name=f"{name}, one fit",
            marker={
                "color": color,
                "size": 8,
                "symbol": "circle" if column == "rate" else "square",
            },
            customdata=table["seed"],
            hovertemplate=f"{label}: %{{x}}<br>{name}: %{{y:.3f}}<br>seed %{{customdata}}"
            "<extra></extra>",
        )
    x = {"title": label, "type": "category"}
    return framed(figure, height, x=x, y=_ERROR_AXIS, legend=_LEGEND)


def limits_of(*matrices: pd.DataFrame) -> tuple[float, float]:
    """Colour limits from 0 that pictures share: the largest value of all."""
    return 0.0, float(np.nanmax([np.nanmax(matrix.to_numpy()) for matrix in matrices]))


def _squared(figure: go.Figure, height: int) -> go.Figure:
    axis = {"showgrid": False, "nticks": 5}
    return framed(
        figure,
        height,
        x=axis | {"title": "column", "constrain": "domain"},
        y=axis | {"title": "row", "autorange": "reversed"},
    )

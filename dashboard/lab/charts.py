"""Figures of the Lab: tables in, Plotly figures out. Nothing here calls Streamlit."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.lab.view import ERROR_NAMES
from dashboard.shared.charts.style import AMBER, BLUE, GREY, VERMILION, diagonal, framed, whiskers

_ERROR_COLORS = {"rate": BLUE, "detection": AMBER}
# At the bottom: at the top a phone's toolbar would cover it.
_LEGEND = {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0}
_HEIGHT = 310  # pixels of each figure
MOST_POINTS = 400  # of a scatter plot: what a page can send and an eye can use


def events_chart(events: pd.DataFrame) -> go.Figure:
    """One dot per event that is there: filled where it is counted.

    Parameters
    ----------
    events : DataFrame
        x, y, counted; ten dots a row, the first row on top.
    """
    figure = go.Figure(
        go.Scatter(
            x=events["x"],
            y=events["y"],
            mode="markers",
            marker={
                "size": 14,
                "symbol": np.where(events["counted"], "circle", "circle-open"),
                "color": BLUE,
                "line": {"width": 2},
            },
            text=np.where(events["counted"], "is counted", "is not counted"),
            hovertemplate="is there, %{text}<extra></extra>",
        )
    )
    # As large for 20 events as for 40, so that two draws can be compared.
    rows = max(5.0, float(events["y"].max())) if len(events) else 5.0
    x = {"visible": False, "range": [-0.7, 9.7]}
    y = {"visible": False, "range": [rows + 0.7, -0.7]}
    return framed(figure, _HEIGHT, x=x, y=y)


def draws_chart(draws: pd.DataFrame, *, rate: float, chance: float) -> go.Figure:
    """Shares of many simulated counts, of two kinds of place, beside the formula.

    Parameters
    ----------
    draws : DataFrame
        count, share, twin, formula.
    rate, chance : float
        λ and p of the first kind of place; the other has 2λ and p/2.
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
    y = {"title": "share of draws", "tickformat": ".0%"}
    return framed(figure, _HEIGHT, x="simulated count y", y=y, legend=_LEGEND, bargap=0.1)


def truth_chart(points: pd.DataFrame, column: str, *, name: str) -> go.Figure:
    """Estimate against truth, with the diagonal on which they agree.

    Parameters
    ----------
    points : DataFrame
        `column`, `column` with ``_hat``, counted (y, or NaN).
    column : {"rate", "p"}
    name : str
        What it is.
    """
    most = 1.05 * float(points[[column, f"{column}_hat"]].to_numpy().max())
    figure = diagonal(0, most)
    for label, chosen, color, symbol in (
        ("not counted", points["counted"].isna(), AMBER, "circle-open"),
        ("counted", points["counted"].notna(), BLUE, "circle"),
    ):
        rows = points[chosen]
        figure.add_scatter(
            x=rows[column].round(4),
            y=rows[f"{column}_hat"].round(4),
            mode="markers",
            name=label,
            marker={"size": 6, "color": color, "symbol": symbol},
            hovertemplate=f"true {name}: %{{x:,.3~r}}<br>estimated: %{{y:,.3~r}}"
            f"<extra>{label}</extra>",
        )
    x = {"title": f"true {name} (simulated)", "range": [0, most]}
    y = {"title": f"estimated {name}", "range": [0, most]}
    return framed(figure, _HEIGHT, x=x, y=y, legend=_LEGEND)


def scale_chart(entries: pd.DataFrame, column: str, *, name: str, limit: float) -> go.Figure:
    """One quantity of some places after the change of scale, and before it as open marks.

    Parameters
    ----------
    entries : DataFrame
        place, rate, p, expected, rate_1, p_1.
    column : {"rate", "p", "expected"}
        p above 1 is drawn in another colour, and a line marks 1.
    name : str
        What an axis says.
    limit : float
        Right end of the axis.
    """
    before = entries["rate_1"] * entries["p_1"] if column == "expected" else entries[f"{column}_1"]
    impossible = (entries[column] > 1) & (column == "p")
    figure = go.Figure(
        go.Bar(
            x=entries[column],
            y=entries["place"],
            orientation="h",
            name="now",
            marker={
                "color": np.where(impossible, VERMILION, BLUE),
                "pattern": {"shape": np.where(impossible, "/", "")},
            },
            hovertemplate=f"%{{y}}<br>{name}: %{{x:,.3~r}}<extra>now</extra>",
        )
    )
    figure.add_scatter(
        x=before,
        y=entries["place"],
        mode="markers",
        name="at c = 1",
        marker={"symbol": "line-ns-open", "size": 14, "color": GREY, "line": {"width": 3}},
        hovertemplate=f"%{{y}}<br>{name}: %{{x:,.3~r}}<extra>at c = 1</extra>",
    )
    if column == "p":
        figure.add_vline(x=1, line={"dash": "dash", "color": GREY})
    x = {"title": name + " (dashed: 1, the most possible)" * (column == "p"), "range": [0, limit]}
    y = {"autorange": "reversed", "automargin": True, "type": "category"}
    return framed(figure, _HEIGHT, x=x, y=y, legend=_LEGEND, bargap=0.25)


def lever_chart(table: pd.DataFrame, *, label: str) -> go.Figure:
    """Median of both errors against the lever, with whiskers from the least to the largest.

    Parameters
    ----------
    table : DataFrame
        value, seed, rate, detection.
    label : str
        What the lever is.
    """
    by_value = table.groupby("value")
    figure = go.Figure()
    for column, name in ERROR_NAMES.items():
        median = by_value[column].median()
        figure.add_scatter(
            x=[f"{value:g}" for value in median.index],
            y=median,
            mode="lines+markers",
            name=name,
            line={"color": _ERROR_COLORS[column], "dash": "solid" if column == "rate" else "dash"},
            marker={"size": 8, "symbol": "circle" if column == "rate" else "square"},
            error_y=whiskers(median, by_value[column].min(), by_value[column].max()),
            hovertemplate=f"{label}: %{{x}}<br>{name}: %{{y:.3f}}<extra></extra>",
        )
    x = {"title": label, "type": "category"}
    y = {"title": "error (0 is perfect)", "rangemode": "tozero"}
    return framed(figure, _HEIGHT, x=x, y=y, legend=_LEGEND)


def limits_of(*matrices: pd.DataFrame) -> tuple[float, float]:
    """Colour limits from 0 that pictures share: the largest value of all."""
    return 0.0, float(np.nanmax([np.nanmax(matrix.to_numpy()) for matrix in matrices]))

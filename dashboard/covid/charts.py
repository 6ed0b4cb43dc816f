"""Charts of the COVID-19 page: tables in, Plotly figures out. Nothing here calls Streamlit."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.shared.charts.bars import LINES
from dashboard.shared.charts.style import (
    AMBER,
    BLUE,
    CLEAR,
    GREEN,
    add_band,
    bar_chart,
    below,
    framed,
    two_lines,
)
from dashboard.shared.text.words import DAY_AXIS

_COUNTED = "#999999"
_LONGEST_LINE = 45  # characters of a title
_FAINT = 0.35  # opacity of the bars that are not chosen, where one is
_MOST = 2.5  # times the highest estimate; what reaches further is cut off


def cell_bars(
    bars: pd.DataFrame, *, title: str, color: str, limit: float, chosen: Sequence[str] = ()
) -> go.Figure:
    """Horizontal bars that can be clicked on; the chosen ones stand out.

    Parameters
    ----------
    bars : DataFrame
        As for :func:`dashboard.shared.charts.style.bar_chart`, and fips and cell.
    title : str
        What the value is.
    color : str
    limit : float
        Right end of the axis; pass the same to charts that are compared.
    chosen : sequence of str
        Labels of bars.

    Returns
    -------
    plotly.graph_objects.Figure
        The last item of a bar's customdata is its FIPS code.
    """
    figure = bar_chart(bars, title=title, color=color, limit=limit, height=90 + 27 * len(bars))
    main, *whiskers = figure.data
    ends = [end for end in ("low", "high") if end in bars]
    main.customdata = bars[[*ends, "fips"]]
    main.unselected.marker.opacity = 1  # what is chosen is drawn below, wherever it was chosen
    is_chosen = bars["label"].isin(list(chosen))
    if is_chosen.any():
        main.marker.opacity = is_chosen.map({True: 1, False: _FAINT})
    interval = "90 %: %{customdata[1]:.3g} to %{customdata[2]:.3g}<br>" if ends else ""
    figure.add_bar(  # unseen, so that a click or a tap finds short bars too
        x=[limit] * len(bars),
        y=bars["label"],
        orientation="h",
        offset=-0.5,
        width=1,
        marker_color=CLEAR,
        unselected_marker_opacity=1,
        customdata=bars[["value", *ends, "inside", "fips"]],
        hovertemplate=f"<b>%{{y}}</b><br>{title}: %{{customdata[0]:.3g}}<br>{interval}"
        f"%{{customdata[{1 + len(ends)}]}}<extra></extra>",
    )
    *_, rows = figure.data
    figure.data = (main, rows, *whiskers)
    figure.update_layout(barmode="overlay", dragmode=False)
    return figure


def county_chart(
    days: pd.DataFrame,
    *,
    p_title: str,
    rate_title: str,
    reported_title: str = "reported cases per day",
    day: str | None = None,
) -> go.Figure:
    """Counts, λ and p of one cell, one above the other on one axis of days.

    Parameters
    ----------
    days : DataFrame
        As in :class:`dashboard.covid.view.CountyView`.
    p_title, rate_title, reported_title : str
        What p, λ and counts are.
    day : str, optional
        A day to mark.
    """
    titles = (two_lines(title, _LONGEST_LINE) for title in (reported_title, rate_title, p_title))
    figure = make_subplots(
        rows=3,
        shared_xaxes=True,
        vertical_spacing=0.09,
        subplot_titles=tuple(titles),
    )
    figure.add_bar(
        x=days["day"],
        y=days["reported"],
        name="reported",
        marker_color=_COUNTED,
        hovertemplate="reported: %{y:,}<extra></extra>",
        row=1,
        col=1,
    )
    late = "reporting" in days
    reporting = " (reporting × %{customdata[0]:.2g})" if late else ""
    figure.add_scatter(
        x=days["day"],
        y=days["predicted"],
        name="predicted, ŷ = λp × reporting" if late else "predicted, ŷ = λp",
        mode="lines",
        line_color=BLUE,
        customdata=days[["reporting"]] if late else None,
        hovertemplate=f"predicted: %{{y:,.3g}}{reporting}<extra></extra>",
        row=1,
        col=1,
    )
    for row, column, color, name in ((2, "rate", AMBER, "λ"), (3, "p", GREEN, "p")):
        _add_estimate(figure, days, column, color=color, name=name, row=row)
    if day is not None:
        for row in (1, 2, 3):
            figure.add_vline(x=day, line={"dash": "dot", "width": 1.5, "color": "gray"}, row=row)
    figure.update_annotations(x=0, xanchor="left", font_size=13, align="left")
    return framed(
        figure,
        520,
        x=DAY_AXIS | {"nticks": 8},
        top=48,
        hovermode="x unified",
        legend=below(-0.08),
        bargap=0.1,
        dragmode=False,
    )


def compare_chart(
    days: pd.DataFrame, places: Sequence[str], quantity: str, *, title: str
) -> go.Figure:
    """One line per place, with a band where there are intervals.

    Parameters
    ----------
    days : DataFrame
        place, day and the quantity; its ends as "rate_low" and "rate_high" for example.
    places : sequence of str
        In the order of their colours.
    quantity : {"reported", "rate", "p"}
    title : str
        What it is.
    """
    figure, top = go.Figure(), float(days[quantity].max())
    low, high = f"{quantity}_low", f"{quantity}_high"
    for place, (color, dash, _) in zip(places, LINES, strict=False):
        rows = days[days["place"] == place]
        if low in rows:
            process = {"legendgroup": place, "showlegend": False, "hoverinfo": "skip"}
            add_band(figure, rows["day"], rows[low], rows[high], color=color, **process)
        figure.add_scatter(
            x=rows["day"],
            y=rows[quantity],
            name=place,
            legendgroup=place,
            mode="lines",
            line={"color": color, "dash": dash},
            hovertemplate=f"{place}: %{{y:,.3g}}<extra></extra>",
        )
    if low in days:
        top = min(float(days[high].max()), _MOST * top)
    return framed(
        figure,
        400,
        x=DAY_AXIS | {"nticks": 8},
        y={"title": title, "range": [0, 1.05 * top] if top > 0 else None},
        legend=below(-0.12),
        hovermode="x unified",
        dragmode=False,
    )


def _add_estimate(
    figure: go.Figure, days: pd.DataFrame, column: str, *, color: str, name: str, row: int
) -> None:
    """Draw a line, with a band between the ends of its intervals where there are any."""
    top = float(days[column].max())
    line = {
        "x": days["day"],
        "y": days[column],
        "name": name,
        "mode": "lines",
        "line_color": color,
        "showlegend": False,
        "hovertemplate": f"{name}: %{{y:,.3g}}<extra></extra>",
    }
    low, high = f"{column}_low", f"{column}_high"
    if low in days:
        legend = {"legendgroup": "interval", "name": "90 % interval", "showlegend": row == 2}
        ends = (days["day"], days[low], days[high])
        add_band(figure, *ends, color=color, row=row, col=1, **legend)
        top = min(float(days[high].max()), _MOST * top)
        line["customdata"] = days[[low, high]]
        line["hovertemplate"] = (
            f"{name}: %{{y:,.3g}} (90 %: %{{customdata[0]:,.3g}} to %{{customdata[1]:,.3g}})"
            "<extra></extra>"
        )
    figure.add_scatter(**line, row=row, col=1)
    figure.update_yaxes(range=[0, 1.05 * top] if top > 0 else None, row=row)

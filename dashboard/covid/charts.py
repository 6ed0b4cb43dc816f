"""Charts of the COVID-19 page: tables in, Plotly figures out. Nothing here calls Streamlit."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.shared.charts import YEAR_COLORS, bar_chart

_COUNTED, _LINE, _RATE, _P = "#999999", *YEAR_COLORS[:3]
_FAINT = 0.35  # opacity of the bars that are not chosen, where one is
_MOST = 2.5  # times the highest estimate; what reaches further is cut off


def cell_bars(
    bars: pd.DataFrame, *, title: str, color: str, limit: float, chosen: str | None
) -> go.Figure:
    """Horizontal bars that can be clicked on; the chosen cell's stands out.

    Parameters
    ----------
    bars : DataFrame
        As for :func:`dashboard.shared.charts.bar_chart`, and fips and cell.
    title : str
        What the value is.
    color : str
    limit : float
        Right end of the axis; pass the same to charts that are compared.
    chosen : str, optional
        A cell.

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
    is_chosen = bars["cell"] == chosen
    if is_chosen.any():
        main.marker.opacity = is_chosen.map({True: 1, False: _FAINT})
    interval = "90 %: %{customdata[1]:.3g} to %{customdata[2]:.3g}<br>" if ends else ""
    figure.add_bar(  # unseen, so that a click or a tap finds short bars too
        x=[limit] * len(bars),
        y=bars["label"],
        orientation="h",
        offset=-0.5,
        width=1,
        marker_color="rgba(0,0,0,0)",
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
    days: pd.DataFrame, *, p_title: str, rate_title: str, day: str | None = None
) -> go.Figure:
    """Counts, λ and p of one cell, one above the other on one axis of days.

    Parameters
    ----------
    days : DataFrame
        As in :class:`dashboard.covid.county.CountyView`.
    p_title, rate_title : str
        What p and λ are.
    day : str, optional
        A day to mark.
    """
    figure = make_subplots(
        rows=3,
        shared_xaxes=True,
        vertical_spacing=0.09,
        subplot_titles=("reported cases a day", _two_lines(rate_title), _two_lines(p_title)),
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
    figure.add_scatter(
        x=days["day"],
        y=days["predicted"],
        name="predicted, ŷ = λp",
        mode="lines",
        line_color=_LINE,
        hovertemplate="predicted: %{y:,.3g}<extra></extra>",
        row=1,
        col=1,
    )
    for row, column, color, name in ((2, "rate", _RATE, "λ"), (3, "p", _P, "p")):
        _add_estimate(figure, days, column, color=color, name=name, row=row)
    if day is not None:
        for row in (1, 2, 3):
            figure.add_vline(x=day, line={"dash": "dot", "width": 1.5, "color": "gray"}, row=row)
    figure.update_annotations(x=0, xanchor="left", font_size=13, align="left")
    figure.update_layout(
        height=520,
        margin={"l": 8, "r": 8, "t": 48, "b": 8},
        hovermode="x unified",
        legend={"orientation": "h", "x": 0, "y": -0.08, "yanchor": "top"},
        bargap=0.1,
        dragmode=False,
    )
    figure.update_xaxes(type="date", tickformat="%-d %b", nticks=8)
    return figure


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
        around = {"x": days["day"], "mode": "lines", "line_width": 0, "hoverinfo": "skip"}
        around |= {"legendgroup": "interval", "showlegend": False}
        figure.add_scatter(y=days[low], **around, row=row, col=1)
        around |= {"name": "90 % interval", "showlegend": row == 2}
        fill = {"fill": "tonexty", "fillcolor": _pale(color)}
        figure.add_scatter(y=days[high], **(around | fill), row=row, col=1)
        top = min(float(days[high].max()), _MOST * top)
        line["customdata"] = days[[low, high]]
        line["hovertemplate"] = (
            f"{name}: %{{y:,.3g}} (90 %: %{{customdata[0]:,.3g}} to %{{customdata[1]:,.3g}})"
            "<extra></extra>"
        )
    figure.add_scatter(**line, row=row, col=1)
    figure.update_yaxes(range=[0, 1.05 * top] if top > 0 else None, row=row)


def _pale(color: str) -> str:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.25)"


def _two_lines(title: str) -> str:
    """Break a long title before its bracket, for narrow pages."""
    return title.replace(" (", "<br>(", 1) if len(title) > 45 else title

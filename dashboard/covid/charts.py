"""Charts of the COVID-19 page: tables in, Plotly figures out. Nothing here calls Streamlit."""

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.shared.charts.bars import LINES
from dashboard.shared.charts.style import AMBER, GREY, add_band, below, framed, two_lines
from dashboard.shared.text.words import DAY_AXIS

_LONGEST_LINE = 45  # characters of a title
_MOST = 2.5  # times the highest estimate; what reaches further is cut off


def series_chart(
    days: pd.DataFrame,
    *,
    p_title: str,
    rate_title: str,
    count_title: str = "reported cases per day",
    day: str | None = None,
) -> go.Figure:
    """Return counts, λ and p of places, one above the other on one axis of days.

    Parameters
    ----------
    days : DataFrame
        ``days`` of :class:`dashboard.covid.view.CountyView`, of one place or several. Of one place
        alone the predicted counts are drawn over the reported ones.
    p_title, rate_title, count_title : str
        What p, λ and the counts are.
    day : str, optional
        A day to mark.
    """
    places = days["place"].unique().tolist()
    titles = (count_title, rate_title, p_title)
    figure = make_subplots(
        rows=3,
        shared_xaxes=True,
        vertical_spacing=0.09,
        subplot_titles=[two_lines(title, _LONGEST_LINE) for title in titles],
    )
    for (color, dash, _), place in zip(LINES, places, strict=False):
        own = days[days["place"] == place]
        line = {"color": color, "dash": dash}
        named = {"name": place, "legendgroup": place}
        if len(places) == 1:
            _add_counts(figure, own)
        else:
            _add_line(figure, own, "reported", line, row=1, **named, showlegend=True)
        for row, column in ((2, "rate"), (3, "p")):
            _add_line(figure, own, column, line, row=row, **named, showlegend=False)
    for row, column in ((2, "rate"), (3, "p")):
        top = float(days[column].max())
        if f"{column}_high" in days:
            top = min(float(days[f"{column}_high"].max()), _MOST * top)
        figure.update_yaxes(range=[0, 1.05 * top] if top > 0 else None, row=row)
    if day is not None:
        figure.add_vline(x=day, line={"dash": "dot", "width": 1.5, "color": GREY})
    figure.update_annotations(x=0, xanchor="left", font_size=13, align="left")
    return framed(
        figure,
        500,
        x=DAY_AXIS | {"nticks": 8},
        top=48,
        hovermode="x unified",
        legend=below(-0.08),
        bargap=0.1,
        dragmode=False,
    )


def _add_counts(figure: go.Figure, days: pd.DataFrame) -> None:
    """Draw reported counts as bars, and those predicted as a line over them."""
    figure.add_bar(
        x=days["day"],
        y=days["reported"],
        name="reported",
        marker_color=GREY,
        hovertemplate="reported: %{y:,.4~g}<extra></extra>",
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
        line_color=AMBER,
        customdata=days[["reporting"]] if late else None,
        hovertemplate=f"predicted: %{{y:,.3~r}}{reporting}<extra></extra>",
        row=1,
        col=1,
    )


def _add_line(
    figure: go.Figure, days: pd.DataFrame, column: str, line: dict[str, str], **where: object
) -> None:
    """Draw a line, with a band between the ends of its intervals where there are any."""
    low, high = f"{column}_low", f"{column}_high"
    spread, ends = "", None
    if low in days:
        band = {"row": where["row"], "col": 1, "legendgroup": where["legendgroup"]}
        add_band(figure, days["day"], days[low], days[high], color=line["color"], **band)
        ends = days[[low, high]]
        spread = " (90 %: %{customdata[0]:,.3~r} to %{customdata[1]:,.3~r})"
    figure.add_scatter(
        x=days["day"],
        y=days[column],
        mode="lines",
        line=line,
        customdata=ends,
        hovertemplate=f"{where['name']}: %{{y:,.3~r}}{spread}<extra></extra>",
        col=1,
        **where,
    )

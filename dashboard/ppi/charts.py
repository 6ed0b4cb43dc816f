"""Bars and visits of the plant–pollinator page. Tables in, figures out; no Streamlit."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.shared.charts.bars import LINES, short_pair
from dashboard.shared.charts.style import below, faint, framed, log_axis

_ROOM_FOR_BANDS = 1.35  # times the largest p; bands that reach further have a logarithmic axis
_FURTHEST = 10.0  # times p, or p over it: bands that reach further leave the picture
_HALF_BAND = 0.2  # visits that a band reaches beyond its first and last


def visits_chart(visits: pd.DataFrame, *, title: str, log: bool) -> go.Figure:
    """p over the visits, one panel per year on shared axes; lines break at visits without a count.

    Parameters
    ----------
    visits : DataFrame
        label, year, number, dates, p, observed, counted; a band where there are low and high.
    title : str
        What p is.
    log : bool
        Whether the axis of p is logarithmic.
    """
    years = sorted(visits["year"].unique())
    labels = list(visits["label"].unique())
    figure = make_subplots(
        rows=1,
        cols=len(years),
        shared_yaxes=True,
        column_titles=[str(year) for year in years],
        horizontal_spacing=0.02,
    )
    for i, year in enumerate(years):
        for (color, dash, symbol), label in zip(LINES, labels, strict=False):
            rows = visits[(visits["year"] == year) & (visits["label"] == label)]
            common = {"legendgroup": label, "name": short_pair(label), "showlegend": False}
            own = _of_year(rows, title=title, color=color, dash=dash, symbol=symbol, named=not i)
            figure.add_traces([go.Scatter(common | trace) for trace in own], rows=1, cols=i + 1)
    last = int(visits["number"].max())
    counted = visits[visits["observed"]]
    limits = visits["p"].min(), visits["p"].max()
    if "low" in visits and len(counted):
        log = log or bool(counted["high"].max() > _ROOM_FOR_BANDS * limits[1])
        low = max(counted["low"].min(), limits[0] / _FURTHEST)
        high = min(counted["high"].max(), limits[1] * _FURTHEST)
        limits = min(limits[0], low), max(limits[1], high)
    if log:
        room = (limits[1] / limits[0]) ** 0.05
        y = log_axis(limits[0] / room, limits[1] * room)
    else:
        y = {"range": [0, 1.05 * limits[1]]}
    x = {"title": "visit", "dtick": 1, "range": [0.5, last + 0.5]}
    top = 58  # years below the toolbar
    height, several = 220 + 22 * len(labels), len(labels) > 1
    framed(figure, height, x=x, y=y, top=top, legend=below(-0.4), showlegend=several)
    return figure.update_yaxes(title=title, col=1)


def _of_year(
    rows: pd.DataFrame, *, title: str, color: str, dash: str, symbol: str, named: bool
) -> list[dict[str, Any]]:
    """Band, line (`named` in the legend) and open markers of one interaction in one year.

    No band where there are no intervals.
    """
    # A row for every number, so that a visit that never took place breaks the line, too.
    rows = rows.set_index("number").reindex(range(1, int(rows["number"].max()) + 1))
    seen, others = rows["observed"].eq(True), rows["observed"].eq(False)
    hover = _hover(rows, title)
    template = {"hovertemplate": "%{text}<extra></extra>"}
    line = template | {
        "x": rows.index.tolist(),
        "y": rows["p"].where(seen).tolist(),
        "mode": "lines+markers",
        "showlegend": named,
        "connectgaps": False,
        "line": {"color": color, "dash": dash},
        "marker": {"size": 9, "symbol": symbol},
        "text": hover.tolist(),
    }
    unseen = template | {
        "x": rows.index[others].tolist(),
        "y": rows["p"][others].tolist(),
        "mode": "markers",
        "marker": {"size": 8, "symbol": f"{symbol}-open", "color": color},
        "text": hover[others].tolist(),
    }
    if "low" not in rows:
        return [line, unseen]
    x, y = _band(rows[seen])
    area = {"mode": "lines", "line": {"width": 0}, "fill": "toself", "fillcolor": faint(color)}
    return [{"x": x, "y": y, "hoverinfo": "skip"} | area, line, unseen]


def _hover(rows: pd.DataFrame, title: str) -> pd.Series:
    def text(number: int, row: dict[str, Any]) -> str:
        if pd.isna(row["p"]):
            return ""
        dates = f" ({row['dates']})" if row["dates"] else ""
        counted = f"counted: {row['counted']:,.0f}" if row["observed"] else "not counted"
        interval = f" (90 %: {row['low']:.3g} to {row['high']:.3g})" if "low" in row else ""
        return (
            f"<b>{row['label']}</b><br>{row['year']:.0f}, visit {number}{dates}<br>"
            f"{title}: {row['p']:.3g}{interval}<br>{counted}"
        )

    records = zip(rows.index, rows.to_dict("records"), strict=True)
    return pd.Series([text(number, record) for number, record in records], rows.index)


def _band(rows: pd.DataFrame) -> tuple[list[float | None], list[float | None]]:
    """Outlines from low to high, one for each run of visits that follow each other."""
    x: list[float | None] = []
    y: list[float | None] = []
    numbers = rows.index.to_numpy()
    for _, run in rows.groupby(np.cumsum(np.diff(numbers, prepend=numbers[:1]) > 1)):
        at = [run.index[0] - _HALF_BAND, *run.index, run.index[-1] + _HALF_BAND]
        low, high = ([v.iloc[0], *v, v.iloc[-1]] for v in (run["low"], run["high"]))
        x += [*at, *at[::-1], at[0], None]
        y += [*low, *high[::-1], low[0], None]
    return x, y

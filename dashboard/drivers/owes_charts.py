"""Figures of what λ and reporting owe to places and calendars. Nothing here calls Streamlit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.colors
import plotly.graph_objects as go

from dashboard.drivers.charts import ratio_axis, ratio_ticks
from dashboard.drivers.owes import ends, in_time
from dashboard.shared.charts.style import (
    BLUE,
    DOTTED,
    GREY,
    ROWS,
    VERMILION,
    framed,
    short_names,
    top_bar,
    whiskers,
)

_COLORS = {"λ": BLUE, "reporting": VERMILION}
_MOST_DRAWN = 12.0  # a whisker may leave the picture; a dot may not
_WIDEST = 5.0  # factors beyond × 5 and × 0.2 have the same colours
_ROW = 16  # pixels of a state
_LONGEST = 24  # characters of a level


def sizes_chart(sizes: pd.DataFrame) -> go.Figure:
    """Dots: the typical factor of each effect, grey where it is shrunk to nothing.

    Parameters
    ----------
    sizes : DataFrame
        As in :class:`dashboard.drivers.owes.OwesView`.
    """
    figure = go.Figure()
    for what, color in _COLORS.items():
        rows = sizes[sizes["acts_on"] == what]
        if rows.empty:
            continue
        figure.add_scatter(
            x=rows["factor"],
            y=rows["effect"],
            mode="markers",
            name=f"on {what}",
            marker={"color": np.where(rows["nothing"], GREY, color), "size": 11},
            error_x=whiskers(rows["factor"], rows["low"], rows["high"]),
            customdata=np.column_stack(
                [np.where(rows["nothing"], "shrunk to nothing", f"on {what}"), _range(rows)]
            ),
            hovertemplate="<b>%{y}</b>: typically × %{x:.3g} (%{customdata[1]})"
            "<br>%{customdata[0]}<extra></extra>",
            showlegend=False,
        )
    figure.add_vline(x=1, line=DOTTED)
    most = max(float(sizes["factor"].max()), min(float(sizes["high"].max()), _MOST_DRAWN), 1.5)
    marks = [mark for mark in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 7, 10) if mark <= 1.1 * most]
    x = {
        "title": "typical factor (up or down)",
        "type": "log",
        "range": [np.log10(0.97), np.log10(1.1 * most)],
        "tickvals": marks,
        "ticktext": [f"× {mark:g}" for mark in marks],
    }
    y = ROWS | {"categoryorder": "array", "categoryarray": list(sizes["effect"])}
    return framed(figure, 100 + 28 * len(sizes), x=x, y=y)


def _range(rows: pd.DataFrame) -> list[str]:
    """The range of each typical factor, in words."""
    return [f"90 %: × {row.low:.3g} to × {row.high:.3g}" for row in rows.itertuples()]


def weekday_chart(weekdays: pd.DataFrame) -> go.Figure:
    """Heat map of reporting factors, state by weekday; colours part at × 1, on a log scale.

    Parameters
    ----------
    weekdays : DataFrame
        As in :class:`dashboard.drivers.owes.OwesView`.
    """
    factors = weekdays.to_numpy(dtype=float)
    marks, texts = ratio_ticks(_WIDEST)
    texts = [f"≤ {texts[0]}", *texts[1:-1], f"≥ {texts[-1]}"]
    end = np.log(_WIDEST)
    figure = go.Figure(
        go.Heatmap(
            z=np.log(factors),
            x=[day[:3] for day in weekdays.columns],
            y=list(weekdays.index),
            zmin=-end,
            zmax=end,
            colorscale=list(reversed(plotly.colors.diverging.PuOr)),
            customdata=np.dstack([factors, np.tile(weekdays.columns, (len(weekdays), 1))]),
            colorbar=top_bar(
                "reporting over its weekly mean", tickvals=np.log(marks), ticktext=texts
            ),
            xgap=1,
            ygap=1,
            hovertemplate="<b>%{y}</b>, %{customdata[1]}: × %{customdata[0]:.2g}<extra></extra>",
        )
    )
    return framed(
        figure,
        150 + _ROW * len(weekdays),
        x={"showgrid": False, "side": "bottom", "fixedrange": True},
        y=ROWS | {"showgrid": False, "dtick": 1, "tickfont": {"size": 11}, "fixedrange": True},
        top=92,
        dragmode=False,
    )


def levels_chart(levels: pd.DataFrame, *, of: str) -> go.Figure:
    """Factors of λ by level: over time where levels lie in time, else the ends of the order.

    Parameters
    ----------
    levels : DataFrame
        One of the tables of :class:`dashboard.drivers.owes.OwesView`.
    of : str
        What the levels are.
    """
    along = in_time(levels)
    shown = levels.sort_values("order", kind="stable") if along else ends(levels)
    logs = np.log(shown["factor"].to_numpy())
    names = list(shown["level"]) if along else short_names(list(shown["level"]), _LONGEST)
    values = {"base": 1.0, "marker_color": np.where(logs < 0, VERMILION, BLUE)}
    reach = shown["factor"] - 1
    hover = {"customdata": shown[["level", "factor"]]}
    hover["hovertemplate"] = "<b>%{customdata[0]}</b>: λ × %{customdata[1]:.3g}<extra></extra>"
    axis = ratio_axis(shown["factor"]) | {"title": "factor of λ"}
    if along:
        figure = go.Figure(go.Bar(x=names, y=reach, **values, **hover))
        figure.add_hline(y=1, line=DOTTED)
        return framed(figure, 300, x={"title": of, "type": "category", "nticks": 8}, y=axis)
    figure = go.Figure(go.Bar(x=reach, y=names, orientation="h", **values, **hover))
    figure.add_vline(x=1, line=DOTTED)
    return framed(figure, 110 + 24 * len(shown), x=axis, y=ROWS, bargap=0.2)

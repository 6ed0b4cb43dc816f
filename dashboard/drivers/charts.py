"""Figures of the Drivers page: tables in, Plotly figures out. Nothing here calls Streamlit."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import ArrayLike
from plotly.subplots import make_subplots

from dashboard.drivers.view import EffectView, explanation_bars, ratio_text
from dashboard.shared.charts import style
from dashboard.shared.charts.bars import heat_chart

RATIO = "p over its average"
RANGE = "90 %: × %{customdata[0]:.3g} to × %{customdata[1]:.3g}"
_HIGH, _LOW = style.BAR_COLORS["top"], style.BAR_COLORS["bottom"]
_ON_COLORS = {"λ": style.BLUE, "p": style.AMBER, "reporting": style.VERMILION}
_MOST_DRAWN = 12.0  # a whisker may leave the picture; a dot may not
_LEAST_LIMIT = 2.0  # small effects look small,
_LEAST_REACH = 1.6  # also in a waterfall


def ratio_limit(ratios: ArrayLike) -> float:
    """The end of an axis of ratios, from 1/limit to limit: the widest of them, at least 2."""
    values = np.ravel(np.asarray(ratios, dtype=np.float64))
    logs = np.abs(np.log(values[np.isfinite(values) & (values > 0)]))
    return float(np.exp(logs.max(initial=np.log(_LEAST_LIMIT))))


def ratio_axis(low: float, high: float) -> dict[str, Any]:
    """Options of a logarithmic axis of ratios, with ticks such as "× 0.5", "× 1" and "× 2"."""
    return style.log_axis(low, high, most=9, sign="× ")


def around_one(table: pd.DataFrame, ratio: str) -> dict[str, Any]:
    """Options of a logarithmic axis that holds all ratios, as far below 1 as above."""
    limit = 1.05 * ratio_limit(table[[name for name in (ratio, "low", "high") if name in table]])
    return ratio_axis(1 / limit, limit)


def importance_chart(bars: pd.DataFrame, *, chosen: str) -> go.Figure:
    """One bar per covariate, most important first, the chosen one darker.

    Parameters
    ----------
    bars : DataFrame
        covariate, rise, sd.
    chosen : str
    """
    figure = go.Figure(
        go.Bar(
            x=bars["rise"],
            y=bars["covariate"],
            orientation="h",
            marker={
                "color": np.where(bars["covariate"] == chosen, _HIGH, style.faint(_HIGH, 0.45)),
                "line": {"color": _HIGH, "width": 1},  # faint bars alone do not stand out
            },
            error_x=style.spread(bars["sd"]),
            customdata=bars["sd"],
            hovertemplate="<b>%{y}</b><br>deviance + %{x:.2~%} (± %{customdata:.2~%})"
            "<br>Click to see its effect on p<extra></extra>",
            # Plotly fades the bars that were not clicked; the colour already says which was.
            selected_marker_opacity=1,
            unselected_marker_opacity=1,
        )
    )
    x = {"title": "increase in deviance", "tickformat": ".2~%", "rangemode": "tozero", "nticks": 5}
    return style.framed(figure, max(90 + 24 * len(bars), 300), x=x, y=style.ROWS, bargap=0.2)


def effect_chart(view: EffectView) -> go.Figure:
    """p over one covariate with its interval, above where the entries lie; dots of levels."""
    curve, spread = view.curve, view.spread
    if view.levels:
        levels = curve.assign(entries=spread["entries"])
        hover = "<b>%{y}</b>: × %{x:.3g}<br>%{customdata[0]:,} counts<extra></extra>"
        axis = around_one(levels, "ratio") | {"title": RATIO}
        return dots_chart(levels, "value", "ratio", ["entries"], hover, axis)
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.8, 0.2], vertical_spacing=0.04
    )
    line = {"x": curve["value"], "y": curve["ratio"], "line": {"color": _HIGH, "width": 3}}
    hover = f"{view.axis}: %{{x:,.3~r}}: × %{{y:.3g}}"
    if "low" in curve:
        style.add_band(
            figure, curve["value"], curve["low"], curve["high"], color=_HIGH, row=1, col=1
        )
        line["customdata"] = curve[["low", "high"]]
        hover += f"<br>{RANGE}"
    figure.add_scatter(mode="lines", **line, hovertemplate=f"{hover}<extra></extra>", row=1, col=1)
    figure.add_hline(y=1, line=style.DOTTED, row=1, col=1)
    figure.add_bar(
        x=(spread["left"] + spread["right"]) / 2,
        y=spread["entries"],
        width=spread["right"] - spread["left"],
        marker_color=style.GREY,
        customdata=spread[["left", "right"]],
        hovertemplate="%{customdata[0]:,.3~r} to %{customdata[1]:,.3~r}: %{y:,} counts"
        "<extra></extra>",
        row=2,
        col=1,
    )
    style.framed(figure, 380, showlegend=False)
    figure.update_xaxes(title=view.axis, row=2, col=1)
    figure.update_yaxes(**around_one(curve, "ratio"), title=RATIO, row=1, col=1)
    figure.update_yaxes(title="counts", showticklabels=False, showgrid=False, row=2, col=1)
    return figure


def rates_chart(bars: pd.DataFrame) -> go.Figure:
    """The factor by which λ changes with each covariate, with its interval.

    Parameters
    ----------
    bars : DataFrame
        covariate, factor, low, high.
    """
    hover = f"<b>%{{y}}</b>: λ × %{{x:.3g}}<br>{RANGE}<extra></extra>"
    axis = around_one(bars, "factor") | {"title": "factor of λ per standard deviation"}
    return dots_chart(bars, "covariate", "factor", ["low", "high"], hover, axis)


def dots_chart(
    table: pd.DataFrame,
    names: str,
    ratio: str,
    shown: list[str],
    hover: str,
    axis: dict[str, Any],
    color: Any = _HIGH,
) -> go.Figure:
    """One dot per row on an axis of ratios, with whiskers where there are intervals.

    Parameters
    ----------
    table : DataFrame
        With low and high where there are intervals.
    names, ratio : str
        Columns of names and of ratios.
    shown : list of str
        Columns that `hover` names as customdata.
    hover : str
    axis : dict
        As :func:`ratio_axis` returns it.
    color : str, or array of str
    """
    figure = go.Figure(
        go.Scatter(
            x=table[ratio],
            y=table[names],
            mode="markers",
            marker={"color": color, "size": 11},
            error_x=style.whiskers(table[ratio], table["low"], table["high"])
            if "low" in table
            else None,
            customdata=table[shown],
            hovertemplate=hover,
        )
    )
    figure.add_vline(x=1, line=style.DOTTED)
    return style.framed(figure, 120 + 24 * len(table), x=axis, y=style.ROWS)


def sizes_chart(sizes: pd.DataFrame) -> go.Figure:
    """Dots: the typical factor of each effect, grey where it is negligible.

    Parameters
    ----------
    sizes : DataFrame
        As in :class:`dashboard.drivers.view.RandomEffectsView`.
    """
    on = np.where(sizes["negligible"], "negligible", "on " + sizes["acts_on"])
    colors = np.where(sizes["negligible"], style.GREY, sizes["acts_on"].map(_ON_COLORS))
    hover = f"<b>%{{y}}</b>: typically × %{{x:.3g}} ({RANGE})<br>%{{customdata[2]}}<extra></extra>"
    most = max(float(sizes["factor"].max()), min(float(sizes["high"].max()), _MOST_DRAWN), 1.5)
    axis = ratio_axis(0.97, 1.1 * most) | {"title": "typical factor (up or down)"}
    table, shown = sizes.assign(on=on), ["low", "high", "on"]
    return dots_chart(table, "effect", "factor", shown, hover, axis, colors)


def surface_chart(ratios: pd.DataFrame) -> go.Figure:
    """Heat map of p over two covariates; blank where no count lies.

    Parameters
    ----------
    ratios : DataFrame
        As :func:`dashboard.drivers.view.surface` returns them.
    """
    limit, title = ratio_limit(ratios), "p over that without interaction"
    ends, height = (1 / limit, limit), max(420, 160 + 22 * len(ratios))
    return heat_chart(
        ratios.iloc[::-1], title=title, limits=ends, log=True, diverging=True, height=height
    )


def explanation_chart(parts: pd.DataFrame) -> go.Figure:
    """Waterfall from a typical entry (× 1) over the contributions to this one.

    Parameters
    ----------
    parts : DataFrame
        As :func:`dashboard.drivers.view.explanation` returns it.
    """
    bars = explanation_bars(parts)
    factors = bars["factor"].to_numpy()
    ends = np.cumprod(factors)
    labels = ["a typical entry", *bars["label"], "here"]
    starts = np.array([1.0, *(ends / factors), 1.0])
    texts = [ratio_text(float(each)) for each in (1.0, *factors, ends[-1])]
    colors = [style.GREY, *np.where(factors < 1, _LOW, _HIGH), style.GREY]
    figure = go.Figure(
        go.Bar(
            x=np.array([1.0, *ends, ends[-1]]) - starts,
            y=labels,
            base=starts,
            orientation="h",
            marker_color=np.where(np.array(texts) == "× 1.00", style.GREY, colors),
            customdata=texts,
            hovertemplate="<b>%{y}</b>: %{customdata}<extra></extra>",
        )
    )
    figure.add_vline(x=1, line=style.DOTTED)
    low, high = min(ends.min(), 1 / _LEAST_REACH), max(ends.max(), _LEAST_REACH)
    pad = (high / low) ** 0.05
    title = "p over that of a typical entry<br>(blue raises p, red lowers it)"
    x = ratio_axis(low / pad, high * pad) | {"title": title}
    rows = {"y": style.ROWS, "annotations": style.beside(texts), "right": style.BESIDE}
    return style.framed(figure, 110 + 30 * len(labels), x=x, **rows, showlegend=False)

"""Figures of the Drivers page: tables in, Plotly figures out. Nothing here calls Streamlit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dashboard.drivers.view import EffectView, ExplanationView, SurfaceView, ratio_text
from dashboard.shared.charts.style import (
    BAR_COLORS,
    DOTTED,
    GREY,
    ROWS,
    add_band,
    faint,
    framed,
    side_bar,
    spread,
    whiskers,
)

RATIO = "p relative to its average (ratio)"
_HIGH, _LOW = BAR_COLORS["top"], BAR_COLORS["bottom"]
_LOW_TO_HIGH = [[0, _LOW], [0.5, "#F2F2F2"], [1, _HIGH]]  # as in all bars of p
_NOBODY = "rgba(128,128,128,0.55)"
_FEW_POINTS = 12  # marked one by one
_TICKS = 9  # at most, on an axis of ratios
_FEWEST_TICKS = 3
_FINE = (1, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 2, 3, 5, 7, 8, 9, 9.5, 9.8)
_LEAST_LIMIT = 2.0  # small effects look small


def ratio_limit(ratios: Iterable[float]) -> float:
    """The end of an axis of ratios, from 1/limit to limit: one of 2, 5, 10, 20, 50 and so on."""
    values = np.array([ratio for ratio in ratios if np.isfinite(ratio) and ratio > 0])
    widest = float(np.exp(np.abs(np.log(values)).max())) if values.size else 1.0
    limit = _LEAST_LIMIT
    for limit in (m * 10.0**k for k in range(12) for m in (1, 2, 5)):
        if limit >= max(widest * (1 - 1e-9), _LEAST_LIMIT):
            break
    return limit


def ratio_ticks(limit: float) -> tuple[list[float], list[str]]:
    """Places of an axis from 1/limit to limit, and what stands there: "× 0.5", "× 1", "× 2"."""
    decades = int(np.ceil(np.log10(limit)))
    if decades <= 1:
        above = [m for m in (2.0, 5.0, 10.0) if m <= limit]
    else:
        step = int(np.ceil(decades / (_TICKS // 2)))
        above = [10.0**k for k in range(step, decades + 1, step) if 10.0**k <= limit]
    values = [*(1 / value for value in reversed(above)), 1.0, *above]
    return values, [_tick(value) for value in values]


def ticks_between(low: float, high: float) -> list[float]:
    """Round ratios from low to high, 1 among them: three or more, and no more than nine.

    Parameters
    ----------
    low, high : float
        0 < low < 1 < high.
    """
    for steps in ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), _FINE):
        powers = range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 1)
        above = {step * 10.0**power for power in powers for step in steps}
        inside = sorted(each for each in above | {1.0} if low <= each <= high)
        if len(inside) >= _FEWEST_TICKS:
            break
    step = int(np.ceil(len(inside) / _TICKS))
    return inside[inside.index(1.0) % step :: step]


def _tick(value: float) -> str:
    power = round(np.log10(value))
    return f"× 10<sup>{power}</sup>" if abs(power) >= 4 else f"× {value:,.3g}"


def importance_chart(bars: pd.DataFrame, *, chosen: str) -> go.Figure:
    """One bar per attribute, most important first, the chosen one darker.

    Parameters
    ----------
    bars : DataFrame
        attribute, rise, sd, share.
    chosen : str
    """
    figure = go.Figure(
        go.Bar(
            x=bars["rise"],
            y=bars["attribute"],
            orientation="h",
            marker={
                "color": np.where(bars["attribute"] == chosen, _HIGH, faint(_HIGH, 0.45)),
                "line": {"color": _HIGH, "width": 1},  # faint bars alone do not stand out
            },
            error_x=spread(bars["sd"]),
            customdata=bars[["sd", "share"]],
            hovertemplate="<b>%{y}</b><br>misfit rises by %{x:.3g} (± %{customdata[0]:.2g}), "
            "%{customdata[1]:.1%} of it<br>Click to see its effect on p<extra></extra>",
            # Plotly fades the bars that were not clicked; the colour already says which was.
            selected_marker_opacity=1,
            unselected_marker_opacity=1,
        )
    )
    x = {"title": "rise of the misfit when shuffled", "rangemode": "tozero"}
    return framed(figure, 90 + 24 * len(bars), x=x, y=ROWS, bargap=0.2)


def effect_chart(view: EffectView) -> go.Figure:
    """p over one attribute, with its interval, above where the entries lie."""
    return _levels_chart(view) if view.levels else _curve_chart(view)


def _curve_chart(view: EffectView) -> go.Figure:
    curve, spread = view.curve, view.spread
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[0.8, 0.2], vertical_spacing=0.04
    )
    hover = "%{x:,.3~r}: × %{y:.3g}"
    if "low" in curve:
        ends = (curve["value"], curve["low"], curve["high"])
        add_band(figure, *ends, color=_HIGH, row=1, col=1)
        hover += "<br>90 %: × %{customdata[0]:.3g} to × %{customdata[1]:.3g}"
    figure.add_scatter(
        x=curve["value"],
        y=curve["ratio"],
        mode="lines+markers" if len(curve) <= _FEW_POINTS else "lines",
        line={"color": _HIGH, "width": 3},
        customdata=curve[["low", "high"]] if "low" in curve else None,
        hovertemplate=f"{view.axis}: {hover}<extra></extra>",
        row=1,
        col=1,
    )
    figure.add_hline(y=1, line=DOTTED, row=1, col=1)
    figure.add_bar(
        x=(spread["left"] + spread["right"]) / 2,
        y=spread["entries"],
        width=spread["right"] - spread["left"],
        marker_color=GREY,
        customdata=spread[["left", "right"]],
        hovertemplate="%{customdata[0]:,.3~r} to %{customdata[1]:,.3~r}: %{y:,} counts"
        "<extra></extra>",
        row=2,
        col=1,
    )
    ends = float(spread["left"].iloc[0]), float(spread["right"].iloc[-1])
    margin = 0.02 * (ends[1] - ends[0])
    framed(figure, 440, x={"range": [ends[0] - margin, ends[1] + margin]}, showlegend=False)
    figure.update_xaxes(title=view.axis, row=2, col=1)
    figure.update_yaxes(**ratio_axis(_ratios(curve)), title=RATIO, row=1, col=1)
    figure.update_yaxes(title="counts", showticklabels=False, showgrid=False, row=2, col=1)
    return figure


def _levels_chart(view: EffectView) -> go.Figure:
    levels = view.curve.assign(entries=view.spread["entries"])
    hover = "<b>%{y}</b>: × %{x:.3g}<br>%{customdata[0]:,} counts<extra></extra>"
    return _dots(levels, "value", "ratio", ["entries"], hover, title=RATIO)


def rates_chart(bars: pd.DataFrame) -> go.Figure:
    """The factor by which λ changes with each attribute, with its interval.

    Parameters
    ----------
    bars : DataFrame
        attribute, factor, low, high.
    """
    hover = (
        "<b>%{y}</b>: λ × %{x:.3g}<br>90 %: × %{customdata[0]:.3g} to × %{customdata[1]:.3g}"
        "<extra></extra>"
    )
    title = "factor of λ per standard deviation"
    return _dots(bars, "attribute", "factor", ["low", "high"], hover, title=title)


def _dots(
    table: pd.DataFrame, names: str, ratio: str, shown: list[str], hover: str, *, title: str
) -> go.Figure:
    """One dot per row on an axis of ratios, with whiskers where there are intervals."""
    interval = None
    if "low" in table:
        interval = whiskers(table[ratio], table["low"], table["high"])
    figure = go.Figure(
        go.Scatter(
            x=table[ratio],
            y=table[names],
            mode="markers",
            marker={"color": _HIGH, "size": 11},
            error_x=interval,
            customdata=table[shown],
            hovertemplate=hover,
        )
    )
    figure.add_vline(x=1, line=DOTTED)
    x = ratio_axis(_ratios(table, ratio)) | {"title": title}
    return framed(figure, 120 + 24 * len(table), x=x, y=ROWS)


def surface_chart(view: SurfaceView, *, first: str, second: str) -> go.Figure:
    """Heat map of p over two attributes; grey where no count lies."""
    limit = ratio_limit(np.exp(view.log_ratio).ravel())
    values, texts = ratio_ticks(limit)
    figure = go.Figure(
        go.Heatmap(
            z=view.log_ratio,
            x=list(view.columns),
            y=list(view.rows),
            zmin=-np.log(limit),
            zmax=np.log(limit),
            colorscale=_LOW_TO_HIGH,
            customdata=np.dstack([np.exp(view.log_ratio), view.entries]),
            colorbar=side_bar("p relative to its average", tickvals=np.log(values), ticktext=texts),
            hoverongaps=False,
            hovertemplate=f"{first} %{{y}}<br>{second} %{{x}}<br>× %{{customdata[0]:.3g}} "
            "(%{customdata[1]:,} counts)<extra></extra>",
        )
    )
    figure.add_heatmap(
        z=np.where(view.entries > 0, np.nan, 0.0),
        x=list(view.columns),
        y=list(view.rows),
        colorscale=[[0, _NOBODY], [1, _NOBODY]],
        showscale=False,
        hoverongaps=False,
        hovertemplate=f"{first} %{{y}}<br>{second} %{{x}}<br>no count here<extra></extra>",
    )
    axis = {"type": "category", "showgrid": False}
    return framed(
        figure,
        max(420, 160 + 22 * len(view.rows)),
        x=axis | {"title": view.titles[1]},
        y=axis | {"title": view.titles[0], "automargin": True},
    )


def explanation_chart(view: ExplanationView) -> go.Figure:
    """Waterfall from a typical entry (× 1) over the contributions to this one."""
    logs = np.log(view.bars["factor"].to_numpy())
    ends = np.cumsum(logs)
    total = float(ends[-1])
    labels = ["a typical entry", *view.bars["label"], "here"]
    bases = np.array([0.0, *(ends - logs), 0.0])
    lengths = np.array([0.0, *logs, total])
    left, right = min(ends.min(), 0.0), max(ends.max(), 0.0)
    pad = 0.16 * max(right - left, 0.3)
    values = ticks_between(np.exp(left - pad), np.exp(right + pad))
    figure = go.Figure(
        go.Bar(
            x=lengths,
            y=labels,
            base=bases,
            orientation="h",
            marker_color=[GREY, *np.where(logs < 0, _LOW, _HIGH), GREY],
            text=[ratio_text(float(np.exp(length))) for length in lengths],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="<b>%{y}</b>: %{text}<extra></extra>",
        )
    )
    figure.add_vline(x=0, line=DOTTED)
    x = {
        "title": "p relative to a typical entry (ratio)",
        "range": [left - pad, right + pad],
        "tickvals": np.log(values),
        "ticktext": [_tick(value) for value in values],
    }
    return framed(figure, 90 + 30 * len(labels), x=x, y=ROWS, showlegend=False)


def _ratios(table: pd.DataFrame, ratio: str = "ratio") -> list[float]:
    return [each for name in (ratio, "low", "high") if name in table for each in table[name]]


def ratio_axis(ratios: Iterable[float]) -> dict[str, object]:
    """Options of a logarithmic axis of ratios, as far below 1 as above."""
    limit = ratio_limit(ratios)
    values, texts = ratio_ticks(limit)
    end = 1.05 * np.log10(limit)
    return {"type": "log", "range": [-end, end], "tickvals": values, "ticktext": texts}

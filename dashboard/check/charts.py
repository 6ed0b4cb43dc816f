"""Figures of the Model check page: tables in, Plotly figures out. Nothing here calls Streamlit."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.shared.charts import style
from dashboard.shared.text.words import DAY_AXIS
from uncletc.tables import is_day

AT_EITHER_END = 10  # groups drawn, where there are many
ALL_GROUPS = 24
_FURTHEST = 8  # residual


def quantile_chart(quantiles: pd.DataFrame) -> go.Figure:
    """Quantiles of residuals against those of a normal distribution.

    Parameters
    ----------
    quantiles : DataFrame
        normal, poisson, negative_binomial.
    """
    end = 1.05 * float(quantiles["normal"].abs().max())
    figure = style.diagonal(-end, end)
    for name, column, color, symbol in (
        ("Poisson", "poisson", style.VERMILION, "x"),
        ("negative binomial", "negative_binomial", style.BLUE, "circle"),
    ):
        figure.add_scatter(
            x=quantiles["normal"],
            y=quantiles[column],
            mode="markers",
            name=name,
            marker={"color": color, "size": 6, "symbol": symbol},
            hovertemplate=f"{name}<br>expected %{{x:.2f}}, observed %{{y:.2f}}<extra></extra>",
        )
    beyond = quantiles[["poisson", "negative_binomial"]].abs().max().max() > 0.99 * _FURTHEST
    title = "residual quantile" + f" (cut at ± {_FURTHEST})" * bool(beyond)
    y = {"title": title, "range": [-1.05 * _FURTHEST, 1.05 * _FURTHEST]}
    # The legend stands below the toolbar.
    return style.framed(figure, 290, x="expected normal quantile", y=y, legend=style.ABOVE, top=64)


def decile_chart(deciles: pd.DataFrame) -> go.Figure:
    """Mean observed against mean predicted counts by tenth of ŷ; logarithmic axes.

    A tenth without any observed event has no logarithm: an open triangle at the bottom.

    Parameters
    ----------
    deciles : DataFrame
        n, predicted, observed, low, high.
    """
    positive = deciles[["predicted", "observed"]].to_numpy()
    positive = positive[positive > 0]
    low, high = float(positive.min(initial=1.0)) / 2, float(positive.max(initial=1.0)) * 2
    drawn = deciles.clip(lower=low, upper=high)
    figure = style.diagonal(low, high)
    figure.add_scatter(
        x=drawn["predicted"],
        y=drawn["observed"],
        mode="markers",
        cliponaxis=False,  # one at the bottom is drawn in full
        error_y=style.whiskers(drawn["observed"], drawn["low"], drawn["high"]),
        marker={
            "color": style.BLUE,
            "size": 10,
            "symbol": np.where(deciles["observed"] > 0, "circle", "triangle-down-open"),
        },
        customdata=deciles[["n", "predicted", "observed", "low", "high"]],
        hovertemplate="%{customdata[0]:,} counts<br>predicted %{customdata[1]:,.3~r}"
        "<br>observed %{customdata[2]:,.3~r} (95 %: %{customdata[3]:,.3~r} to "
        "%{customdata[4]:,.3~r})<extra></extra>",
    )
    ticks = style.log_axis(low, high)
    return style.framed(
        figure,
        290,
        x={"title": "predicted count (mean of ŷ)", **ticks},
        y={"title": "observed count (mean of y)", **ticks},
        showlegend=False,
    )


def not_all(groups: pd.DataFrame, *, ordered: bool) -> bool:
    """Whether :func:`group_chart` draws only the groups that are furthest off."""
    return not ordered and len(groups) > ALL_GROUPS


def group_chart(groups: pd.DataFrame, *, by: str, ordered: bool) -> go.Figure:
    """Mean residuals of groups with their intervals, around 0.

    Parameters
    ----------
    groups : DataFrame
        group, n, observed, predicted, mean, low, high, far.
    by : str
        What the groups are.
    ordered : bool
        Whether to draw them from left to right in their order; else from top to bottom, and of
        many only those that are most clearly off, either way.
    """
    if not_all(groups, ordered=ordered):
        order = np.argsort(-groups["mean"] * np.sqrt(groups["n"]), kind="stable")
        groups = groups.iloc[[*order[:AT_EITHER_END], *order[-AT_EITHER_END:]]]
    reach = groups[["mean", "low", "high"]].abs()
    limit = float(max(np.ceil(reach[np.isfinite(reach)].max().max() + 0.2), 1.0))
    ends = groups["mean"], groups["low"], groups["high"]
    interval = style.whiskers(*ends, thickness=1, width=2)
    dots: dict[str, Any] = {
        "marker": {
            "color": np.where(groups["far"], style.VERMILION, style.BLUE),
            "symbol": np.where(groups["far"], "diamond", "circle"),
            "size": np.where(groups["far"], 11, 7),
        },
        "text": groups["group"],
        "customdata": groups[["n", "observed", "predicted", "mean", "low", "high"]],
        "hovertemplate": "<b>%{text}</b><br>mean residual %{customdata[3]:.2f} "
        "(95 %: %{customdata[4]:.2f} to %{customdata[5]:.2f})<br>%{customdata[0]:,} held-out "
        "counts, mean %{customdata[1]:,.3~r}, predicted %{customdata[2]:,.3~r}<extra></extra>",
    }
    figure = go.Figure()
    if ordered:
        figure.add_scatter(
            x=groups["group"],
            y=groups["mean"],
            mode="lines+markers",
            error_y=interval,
            line={"color": style.BLUE, "width": 1},
            **dots,
        )
        figure.add_hline(y=0, line=style.DASHED)
        numbers = groups["group"].str.fullmatch(r"-?\d+").all()
        axis = DAY_AXIS if all(map(is_day, groups["group"])) else {"type": "category"}
        x = ({"type": "linear"} if numbers else axis) | {"title": by, "nticks": 12}
        y = {"title": "mean residual (SD)", "range": [-limit, limit]}
        return style.framed(figure, 320, x=x, y=y, showlegend=False)
    names = groups["group"].str.replace(" – ", " –<br>")
    figure.add_scatter(x=groups["mean"], y=names, mode="markers", error_x=interval, **dots)
    figure.add_vline(x=0, line=style.DASHED)
    step = 34 if names.str.contains("<br>").any() else 22
    x = {"title": "mean residual (standard deviations)", "range": [-limit, limit]}
    return style.framed(figure, 110 + step * len(groups), x=x, y=style.ROWS, showlegend=False)


def agreement_dots(dots: pd.DataFrame) -> go.Figure:
    """Rank correlations as dots with intervals, a block per group, the first on top.

    Parameters
    ----------
    dots : DataFrame
        As in :class:`dashboard.check.outside.OutsideView`.
    """
    figure = go.Figure()
    for (group, rows), color in zip(
        dots.groupby("group", sort=False), (style.BLUE, style.GREY), strict=False
    ):
        middle, low, high = rows["estimate"], rows["low"], rows["high"]
        figure.add_scatter(
            name=group,
            x=middle,
            y=rows["label"].str.replace(" – ", " –<br>"),
            mode="markers",
            marker={"color": color, "size": 11},
            error_x=style.whiskers(middle, low, high, color=color, width=0),
            customdata=rows[["label", "low", "high", "n"]],
            hovertemplate="<b>%{customdata[0]}</b><br>%{x:+.2f} (90 %: %{customdata[1]:+.2f} to "
            "%{customdata[2]:+.2f}), %{customdata[3]} states<extra></extra>",
        )
    figure.add_vline(x=0, line=style.DASHED)
    x = {"title": "rank correlation over states", "range": [-1.05, 1.05], "dtick": 0.5}
    picture = {"y": style.ROWS, "legend": style.ABOVE, "top": 72, "dragmode": False}
    return style.framed(figure, 160 + 38 * len(dots), x=x, **picture)

"""Drivers page: place, time and reporting effects, as tables, sentences and figures. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.colors
import plotly.graph_objects as go

from dashboard.drivers.charts import RANGE, around_one, dots_chart, ratio_axis
from dashboard.shared.charts.places import cells, is_covid
from dashboard.shared.charts.style import (
    BLUE,
    DOTTED,
    GREY,
    ROWS,
    VERMILION,
    framed,
    short_names,
    top_bar,
)
from dashboard.shared.sidebar.roles import acts_on, effect_name, effects_of
from uncletc import Effect, Fit
from uncletc.datasets import Dataset
from uncletc.solvers.effects.random_effects import MOST_OF_REPORTING

NOTHING = 1.02  # factor below which an effect is as good as negligible
_BY_WEEKDAY = Effect(("state", "weekday"), (0.0, 0.0), reporting=True)
_LITTLE = 0.5  # of its mean: a weekday on which a state reports little
_NAMED = 3  # states that a sentence names
_CASES = 0  # the first observation process
_EACH = 10  # levels drawn at each end
_COLORS = {"λ": BLUE, "reporting": VERMILION}
_MOST_DRAWN = 12.0  # a whisker may leave the picture; a dot may not
_WIDEST = 5.0  # factors beyond × 5 and × 0.2 have the same colours
_LONGEST = 24  # characters of a level


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomEffectsView:
    """How λ and reporting differ between places and times.

    Attributes
    ----------
    of : str
        What they are effects of: "places and calendars".
    sizes : DataFrame
        One row per effect, the largest first: effect, acts_on, factor (exp σ: what λ or reporting
        is typically multiplied with, or divided by), low and high (its 90 % range), nothing
        (whether it is negligible).
    weekdays : DataFrame
        Factors of reporting of cases, one row per state, the most uneven first, one column per
        weekday; the mean over weekdays is 1. Empty where the fit has no such effect.
    levels : dict of str to DataFrame
        By the name of each effect of one mode on λ, one row per level: level, factor, order (its
        place in time, NaN where levels have none); the largest factor first.
    """

    of: str
    sizes: pd.DataFrame
    weekdays: pd.DataFrame
    levels: dict[str, pd.DataFrame]

    @property
    def title(self) -> str:
        """What the section is called."""
        reporting = (self.sizes["acts_on"] == "reporting").any()
        return f"Effects of {self.of} on λ{' and reporting' if reporting else ''}"

    @property
    def note(self) -> str:
        """How to read the sizes."""
        bound, reporting = np.exp(MOST_OF_REPORTING), self.sizes["acts_on"] == "reporting"
        at_bound = (self.sizes.loc[reporting, "factor"] > 0.999 * bound).any()
        return (
            "Dot: about two levels of three differ from × 1 by this factor at most, up or down "
            "(exp of the standard deviation σ). Whiskers: 90 % range, since σ is an estimate. × 1: "
            "negligible."
            + (f" An effect on reporting is bounded at × {bound:.2g}." if at_bound else "")
            + " In brackets: the distance over which near ones are alike. These effects come on "
            "top of the patterns that λ is a sum of. No cause is claimed."
        )

    @property
    def long_weekdays(self) -> pd.DataFrame:
        """state, weekday and factor, one row for each pair, to download."""
        return self.weekdays.melt(
            ignore_index=False, var_name="weekday", value_name="factor"
        ).reset_index(names="state")


def random_effects_view(dataset: Dataset, fit: Fit) -> RandomEffectsView:
    """Return the sizes of effects, and the factors of those that can be drawn.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
        With random effects; of several members those of the likeliest.

    Raises
    ------
    ValueError
        If the fit has none.
    """
    found = fit.mode_effects
    if found is None:
        raise ValueError("fit must have effects of modes, got none")
    texts = [str(effect) for effect in found.effects]
    sizes = pd.DataFrame(
        {
            "effect": [effect_name(text) for text in texts],
            "acts_on": [acts_on(text) for text in texts],
            "factor": np.exp(found.deviations),
        }
    )
    sizes[["low", "high"]] = np.exp(found.deviation_ranges())
    sizes = sizes.assign(nothing=sizes["factor"] < NOTHING)
    weekdays = pd.DataFrame()
    if _BY_WEEKDAY in found.effects:
        i = found.effects.index(_BY_WEEKDAY)
        states, days = (list(group.labels) for group in found.groups[i])
        weekdays = pd.DataFrame(np.exp(found.tables[i][_CASES]), index=states, columns=days)
        weekdays = weekdays.loc[weekdays.min(axis=1).sort_values(kind="stable").index]
    return RandomEffectsView(
        of=effects_of(dataset).of,
        sizes=sizes.sort_values("factor", ascending=False, kind="stable", ignore_index=True),
        weekdays=weekdays,
        levels=dict(_levels(dataset, fit)),
    )


def _levels(dataset: Dataset, fit: Fit) -> Iterator[tuple[str, pd.DataFrame]]:
    """Factors of λ by level, of each effect of one mode or group that is not smooth."""
    found, names = fit.mode_effects, {}
    assert found is not None
    if is_covid(dataset):  # a cell is named after its most populous county
        named = cells(dataset.table)
        names["place"] = dict(zip(named["cell"], named["label"], strict=True))
    for effect, groups, logs in zip(found.effects, found.groups, found.tables, strict=True):
        if effect.reporting or effect.lengths != (0.0,):
            continue
        (group,) = groups
        when, known = group.positions, names.get(group.name, {})
        table = pd.DataFrame(
            {
                "level": [known.get(label, label) for label in group.labels],
                "factor": np.exp(logs),
                "order": np.nan if when is None or when.shape[1] > 1 else when[:, 0],
            }
        )
        table = table.sort_values("factor", ascending=False, kind="stable", ignore_index=True)
        yield effect_name(str(effect)), table


def size_words(sizes: pd.DataFrame) -> str:
    """With which effects λ and reporting vary most, and which are negligible."""
    names = sizes["effect"].str.removeprefix("reporting: ")
    parts = []
    for what in _COLORS:
        rows = sizes[(sizes["acts_on"] == what) & ~sizes["nothing"]].head(2)
        if len(rows):
            named = [f"**{names[i]}** (typically × {f:.2g})" for i, f in rows["factor"].items()]
            parts.append(f"{what} varies most with {' and '.join(named)}")
    text = f"In this fit {'; '.join(parts)}." if parts else "In this fit none changes anything."
    if sizes["nothing"].any():
        text += f" Estimated as negligible: {', '.join(names[sizes['nothing']])}."
    return text


def weekday_words(weekdays: pd.DataFrame) -> str:
    """Which states report least, and on which day.

    Parameters
    ----------
    weekdays : DataFrame
        As in :class:`RandomEffectsView`, not empty.
    """
    weakest, day = weekdays.min(axis=1), weekdays.idxmin(axis=1)
    least = weakest.nsmallest(_NAMED)
    said = [
        f"**{state}** reports {short(value)} of its mean on {day[state]}s"
        for state, value in least[least < _LITTLE].items()
    ]
    head = f"{'; '.join(said)}." if said else "No state reports much less on one weekday."
    median = short(float(weakest.median()))
    return f"{head} In the median state the weakest weekday has {median} of the mean."


def levels_words(name: str, levels: pd.DataFrame) -> str:
    """How to read the chart of the factors of one effect."""
    part = not in_time(levels) and len(levels) > 2 * _EACH
    return (
        f"{f'Shown are the {_EACH} highest and the {_EACH} lowest. ' if part else ''}The factor of "
        f"λ by {name} alone, shrunk towards × 1; patterns of λ and effects of pairs come on top."
    )


def in_time(levels: pd.DataFrame) -> bool:
    """Whether levels lie in time."""
    return bool(levels["order"].notna().all())


def ends(levels: pd.DataFrame) -> pd.DataFrame:
    """The highest and the lowest levels; all of them where they are few."""
    if len(levels) <= 2 * _EACH:
        return levels
    return pd.concat([levels.head(_EACH), levels.tail(_EACH)])


def short(value: float) -> str:
    """A factor in a sentence: "1.3", "0.04", "0.30", "less than 0.01"."""
    if value < 0.01:
        return "less than 0.01"
    return f"{value:.2f}" if value < 1 else f"{value:.2g}"


def sizes_chart(sizes: pd.DataFrame) -> go.Figure:
    """Dots: the typical factor of each effect, grey where it is negligible.

    Parameters
    ----------
    sizes : DataFrame
        As in :class:`RandomEffectsView`.
    """
    on = np.where(sizes["nothing"], "negligible", "on " + sizes["acts_on"])
    colors = np.where(sizes["nothing"], GREY, sizes["acts_on"].map(_COLORS))
    hover = f"<b>%{{y}}</b>: typically × %{{x:.3g}} ({RANGE})<br>%{{customdata[2]}}<extra></extra>"
    most = max(float(sizes["factor"].max()), min(float(sizes["high"].max()), _MOST_DRAWN), 1.5)
    axis = ratio_axis(0.97, 1.1 * most) | {"title": "typical factor (up or down)"}
    table, shown = sizes.assign(on=on), ["low", "high", "on"]
    return dots_chart(table, "effect", "factor", shown, hover, axis, colors)


def weekday_chart(weekdays: pd.DataFrame) -> go.Figure:
    """Heat map of reporting factors, state by weekday; colours part at × 1, on a log scale.

    Parameters
    ----------
    weekdays : DataFrame
        As in :class:`RandomEffectsView`.
    """
    factors = weekdays.to_numpy(dtype=float)
    marks = [1 / _WIDEST, 0.5, 1, 2, _WIDEST]
    texts = ["≤ × 0.2", "× 0.5", "× 1", "× 2", "≥ × 5"]
    figure = go.Figure(
        go.Heatmap(
            z=np.log(factors),
            x=[day[:3] for day in weekdays.columns],
            y=list(weekdays.index),
            zmin=-np.log(_WIDEST),
            zmax=np.log(_WIDEST),
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
        150 + 16 * len(weekdays),
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
        One of the tables of :class:`RandomEffectsView`.
    of : str
        What the levels are.
    """
    along = in_time(levels)
    shown = levels.sort_values("order", kind="stable") if along else ends(levels)
    names = list(shown["level"]) if along else short_names(list(shown["level"]), _LONGEST)
    reach = shown["factor"] - 1
    bar = {
        "base": 1.0,
        "marker_color": np.where(reach < 0, VERMILION, BLUE),
        "customdata": shown[["level", "factor"]],
        "hovertemplate": "<b>%{customdata[0]}</b>: λ × %{customdata[1]:.3g}<extra></extra>",
    }
    axis = around_one(shown["factor"]) | {"title": "factor of λ"}
    if along:
        figure = go.Figure(go.Bar(x=names, y=reach, **bar))
        figure.add_hline(y=1, line=DOTTED)
        return framed(figure, 300, x={"title": of, "type": "category", "nticks": 8}, y=axis)
    figure = go.Figure(go.Bar(x=reach, y=names, orientation="h", **bar))
    figure.add_vline(x=1, line=DOTTED)
    return framed(figure, 110 + 24 * len(shown), x=axis, y=ROWS, bargap=0.2)

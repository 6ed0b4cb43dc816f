"""Drivers page: place, time and reporting effects, as tables, sentences and figures. Pure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard.drivers.charts import RANGE, dots_chart, ratio_axis
from dashboard.shared.charts.style import AMBER, BLUE, GREY, VERMILION
from dashboard.shared.sidebar.choice import acts_on, effect_name
from uncletc import Effect, Fit

NEGLIGIBLE = 1.02  # factor below which an effect is called negligible
_BY_WEEKDAY = Effect(("state", "weekday"), (0.0, 0.0), reporting=True)
_LITTLE = 0.5  # of its mean: a weekday on which a state reports little
_CASES = 0  # the first observation process
NOTE = "Typical factor, up or down: exp σ, with 90 % intervals; in brackets: the range of likeness."
_COLORS = {"λ": BLUE, "p": AMBER, "reporting": VERMILION}
_MOST_DRAWN = 12.0  # a whisker may leave the picture; a dot may not


@dataclass(frozen=True, eq=False, kw_only=True)
class RandomEffectsView:
    """How λ, p and reporting differ between places and times.

    Attributes
    ----------
    sizes : DataFrame
        One row per effect, the largest first: effect, acts_on, factor (exp σ: what λ, p or
        reporting is typically multiplied with, or divided by), low and high (its 90 % interval),
        negligible.
    weekdays : DataFrame
        Factors of reporting of cases, one row per state, the most uneven first, one column per
        weekday; the mean over weekdays is 1. Empty where the fit has no such effect.
    """

    sizes: pd.DataFrame
    weekdays: pd.DataFrame

    @property
    def insight(self) -> str:
        """With which effects λ, p and reporting vary most, and which are negligible."""
        names = self.sizes["effect"].str.replace("^(reporting|detection): ", "", regex=True)
        parts = []
        for what in _COLORS:
            rows = self.sizes[(self.sizes["acts_on"] == what) & ~self.sizes["negligible"]].head(2)
            if len(rows):
                named = [f"**{names[i]}** (typically × {f:.3g})" for i, f in rows["factor"].items()]
                parts.append(f"{what} varies most with {' and '.join(named)}")
        text = f"{'; '.join(parts)}." if parts else "None changes anything."
        if self.sizes["negligible"].any():
            text += f" Estimated as negligible: {', '.join(names[self.sizes['negligible']])}."
        return text

    @property
    def long_weekdays(self) -> pd.DataFrame:
        """state, weekday and factor, one row for each pair, to download."""
        return self.weekdays.melt(
            ignore_index=False, var_name="weekday", value_name="factor"
        ).reset_index(names="state")


def random_effects_view(fit: Fit) -> RandomEffectsView:
    """Return the sizes of the random effects of a fit, and its weekday reporting pattern.

    Raises
    ------
    ValueError
        If the fit has none.
    """
    found = fit.mode_effects
    if found is None:
        raise ValueError("fit must have random effects, got none")
    texts = [str(effect) for effect in found.effects]
    sizes = pd.DataFrame(
        {
            "effect": [effect_name(text) for text in texts],
            "acts_on": [acts_on(text) for text in texts],
            "factor": np.exp(found.deviations),
        }
    )
    sizes[["low", "high"]] = np.exp(found.deviation_ranges())
    sizes = sizes.assign(negligible=sizes["factor"] < NEGLIGIBLE)
    weekdays = pd.DataFrame()
    if _BY_WEEKDAY in found.effects:
        i = found.effects.index(_BY_WEEKDAY)
        states, days = (list(group.labels) for group in found.groups[i])
        weekdays = pd.DataFrame(np.exp(found.tables[i][_CASES]), index=states, columns=days)
        weekdays = weekdays.loc[weekdays.min(axis=1).sort_values(kind="stable").index]
    return RandomEffectsView(
        sizes=sizes.sort_values("factor", ascending=False, kind="stable", ignore_index=True),
        weekdays=weekdays,
    )


def weekday_words(weekdays: pd.DataFrame) -> str:
    """Which state reports least on one weekday, and on which.

    Parameters
    ----------
    weekdays : DataFrame
        As in :class:`RandomEffectsView`, not empty: the most uneven state first.
    """
    state, factors = weekdays.index[0], weekdays.iloc[0]
    if factors.min() >= _LITTLE:
        return "No state reports much less on one weekday."
    share, day = percent(float(factors.min())), factors.idxmin()
    return f"**{state}** reports {share} of its daily average on {day}s."


def percent(share: float) -> str:
    """A share in a sentence: "30 %", "less than 1 %"."""
    return "less than 1 %" if share < 0.01 else f"{100 * share:.0f} %"


def sizes_chart(sizes: pd.DataFrame) -> go.Figure:
    """Dots: the typical factor of each effect, grey where it is negligible.

    Parameters
    ----------
    sizes : DataFrame
        As in :class:`RandomEffectsView`.
    """
    on = np.where(sizes["negligible"], "negligible", "on " + sizes["acts_on"])
    colors = np.where(sizes["negligible"], GREY, sizes["acts_on"].map(_COLORS))
    hover = f"<b>%{{y}}</b>: typically × %{{x:.3g}} ({RANGE})<br>%{{customdata[2]}}<extra></extra>"
    most = max(float(sizes["factor"].max()), min(float(sizes["high"].max()), _MOST_DRAWN), 1.5)
    axis = ratio_axis(0.97, 1.1 * most) | {"title": "typical factor (up or down)"}
    table, shown = sizes.assign(on=on), ["low", "high", "on"]
    return dots_chart(table, "effect", "factor", shown, hover, axis, colors)

"""Drivers page: what λ and reporting owe to places and calendars. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dashboard.shared.charts.places import cells, is_covid
from dashboard.shared.sidebar.roles import acts_on, effect_name, effects_of
from uncletc import Effect, Fit, Group, ModeEffects
from uncletc.datasets import Dataset
from uncletc.solvers.effects.random_effects import MOST_OF_REPORTING

NOTHING = 1.02  # factor below which an effect is as good as shrunk to nothing
_BY_WEEKDAY = Effect(("state", "weekday"), (0.0, 0.0), reporting=True)
_LITTLE = 0.5  # of its mean: a weekday on which a state reports little
_NAMED = 3  # states that a sentence names
_CASES = 0  # the first look
_EACH = 10  # levels drawn at each end
_ENDS = "the ten highest and the ten lowest"


@dataclass(frozen=True, eq=False, kw_only=True)
class OwesView:
    """What λ and reporting owe to places and calendars.

    Attributes
    ----------
    of : str
        What they are effects of: "places and calendars".
    sizes : DataFrame
        One row per effect, the largest first: effect, acts_on, factor (exp σ: what λ or reporting
        is typically multiplied with, or divided by), low and high (its 90 % range), nothing
        (whether it is shrunk to that).
    weekdays : DataFrame
        Factors of reporting of cases, one row per state, the most uneven first, one column per
        weekday; the mean over weekdays is 1. Empty where the fit has no such effect.
    levels : dict of str to DataFrame
        By the name of each effect of one mode on λ, one row per level: level, factor, order (its
        place in time, NaN where levels have none); the largest factor first.
    insight : str
        The main finding.
    note : str
        How to read the sizes.
    reporting : str
        Which states report least, and when; empty without weekdays.
    """

    of: str
    sizes: pd.DataFrame
    weekdays: pd.DataFrame
    levels: dict[str, pd.DataFrame] = field(default_factory=dict)
    insight: str
    note: str
    reporting: str

    @property
    def title(self) -> str:
        """What the section is called."""
        reporting = (self.sizes["acts_on"] == "reporting").any()
        return f"What λ {'and reporting owe' if reporting else 'owes'} to {self.of}"

    @property
    def long_weekdays(self) -> pd.DataFrame:
        """state, weekday and factor, one row for each pair, to download."""
        return self.weekdays.melt(
            ignore_index=False, var_name="weekday", value_name="factor"
        ).reset_index(names="state")


def owes_view(dataset: Dataset, fit: Fit) -> OwesView:
    """Return the sizes of effects, and the factors of those that can be drawn.

    Parameters
    ----------
    dataset : Dataset
    fit : Fit
        With effects of modes; of several members the likeliest is told of.

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
    sizes = sizes.sort_values("factor", ascending=False, kind="stable", ignore_index=True)
    weekdays = pd.DataFrame()
    if _BY_WEEKDAY in found.effects:
        i = found.effects.index(_BY_WEEKDAY)
        weekdays = _weekdays(found.groups[i], found.tables[i][_CASES])
    of = effects_of(dataset).of
    return OwesView(
        of=of,
        sizes=sizes,
        weekdays=weekdays,
        levels=dict(_levels(found, _names(dataset))),
        insight=size_words(sizes),
        note=_note(sizes, of),
        reporting=weekday_words(weekdays),
    )


def size_words(sizes: pd.DataFrame) -> str:
    """What λ and reporting owe most to, and which effects are shrunk to nothing."""
    parts = []
    for what in ("λ", "reporting"):
        rows = sizes[(sizes["acts_on"] == what) & ~sizes["nothing"]]
        named = [
            f"**{_plain(row.effect)}** (typically × {row.factor:.2g})" for row in rows.itertuples()
        ]
        if named:
            owes = "owes most to" if len(rows) > 1 else "owes something to"
            parts.append(f"{what} {owes} {' and '.join(named[:2])}")
    said = f"In this fit {'; '.join(parts)}." if parts else "In this fit none changes anything."
    gone = [_plain(name) for name in sizes.loc[sizes["nothing"], "effect"]]
    if gone:
        verb = "is" if len(gone) == 1 else "are"
        said += f" Shrunk to nothing {verb} {', '.join(gone)}: the counts do not ask for it."
    return said


def weekday_words(weekdays: pd.DataFrame) -> str:
    """Which states report least, and on which day; empty for an empty table.

    Parameters
    ----------
    weekdays : DataFrame
        As in :class:`OwesView`.
    """
    if weekdays.empty:
        return ""
    weakest, day = weekdays.min(axis=1), weekdays.idxmin(axis=1)
    median = (
        f"In the median state the weakest weekday has {short(float(weakest.median()))} of the mean."
    )
    least = weakest.nsmallest(_NAMED)
    least = least[least < _LITTLE]
    if least.empty:
        return f"No state reports much less on one weekday than on others. {median}"
    first, *others = [
        f"{short(value)} of its mean on {day[state]}s" for state, value in least.items()
    ]
    names = list(least.index)
    said = [f"**{names[0]}** reports {first}"]
    said += [f"**{name}** {each}" for name, each in zip(names[1:], others, strict=True)]
    return f"{_and(said)}. {median}"


def levels_words(name: str, levels: pd.DataFrame) -> str:
    """How to read the chart of the factors of one effect."""
    shown = "" if in_time(levels) or len(levels) <= 2 * _EACH else f"Shown are {_ENDS}. "
    return (
        f"{shown}The factor of λ by {name} alone, shrunk towards × 1; the patterns of λ and "
        "effects of pairs come on top."
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
    """A factor in a sentence: "1.3", ".04", ".30", "less than .01"."""
    if value < 0.01:
        return "less than .01"
    text = f"{value:.2f}" if value < 1 else f"{value:.2g}"
    return text.removeprefix("0") if value < 1 else text


def _weekdays(groups: tuple[Group, ...], logs: NDArray[np.float64]) -> pd.DataFrame:
    states, days = groups
    table = pd.DataFrame(np.exp(logs), index=list(states.labels), columns=list(days.labels))
    return table.loc[table.min(axis=1).sort_values(kind="stable").index]


def _levels(
    found: ModeEffects, names: Mapping[str, Mapping[str, str]]
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Factors of λ by level, of each effect of one mode or group that is not smooth."""
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


def _names(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Names of levels for readers, by group: a cell is named after its most populous county."""
    if not is_covid(dataset):
        return {}
    named = cells(dataset.table)
    return {"place": dict(zip(named["cell"], named["label"], strict=True))}


def _note(sizes: pd.DataFrame, of: str) -> str:
    held = ""
    reporting = sizes.loc[sizes["acts_on"] == "reporting", "factor"]
    if (reporting > 0.999 * np.exp(MOST_OF_REPORTING)).any():
        most = f"{np.exp(MOST_OF_REPORTING):.2g}"
        held = (
            f" No effect on reporting may be larger than × {most}; one that is may be held there."
        )
    return (
        "Dot: the factor by which about two levels out of three lie apart from × 1 at most, up or "
        "down (exp of the standard deviation σ). Whiskers: σ is an estimate itself, and so many "
        "levels tell it within about this range, 9 times out of 10. "
        f"× 1: shrunk to nothing.{held} In brackets: "
        f"the distance over which near ones are alike. Effects of {of} come on top of the patterns "
        "that λ is a sum of, which may hold some of the same. No cause is claimed."
    )


def _plain(name: str) -> str:
    return name.removeprefix("reporting: ")


def _and(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"

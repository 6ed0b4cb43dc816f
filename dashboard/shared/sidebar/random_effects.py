"""Effects of places and calendars as a reader chooses them, and what is said of them. Pure.

Three choices: the effects that a data set states, with reasons; none, as in the paper; and the
reader's own, each of those stated on or off.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from dashboard.shared.charts.places import is_covid
from dashboard.shared.text.words import plural
from uncletc import Effect, Fit
from uncletc.datasets import Dataset

# What a reader sees, and what the address says.
EffectPreset = Literal["stated", "none", "my own"]
STATED_EFFECTS: EffectPreset = "stated"
NO_EFFECTS: EffectPreset = "none"
OWN_EFFECTS: EffectPreset = "my own"
_UNITS = {"place": "°", "day": " days", "visit": " visits"}  # of distances, by their group
_MOST_NAMED = 2  # effects that a description spells out


@dataclass(frozen=True)
class EffectChoice:
    """Which effects of places and calendars a fit has.

    Attributes
    ----------
    preset : str
        What was chosen: `STATED_EFFECTS`, `NO_EFFECTS` or `OWN_EFFECTS`.
    stated : tuple of (effect, reason)
        Those of the data set; empty where it states none, and nothing is asked.
    now : tuple of str
        Those that are chosen, in the order of `stated`.
    of : str
        What they are effects of: "places and calendars".
    """

    preset: EffectPreset = NO_EFFECTS
    stated: tuple[tuple[str, str], ...] = ()
    now: tuple[str, ...] = ()
    of: str = "places and calendars"

    @property
    def title(self) -> str:
        """What may owe something to them: λ alone, or reporting too."""
        reporting = any(acts_on(text) == "reporting" for text, _ in self.stated)
        return f"What λ {'and reporting ' if reporting else ''}may owe to {self.of}, and why"

    @property
    def words(self) -> str:
        """What a description of a fit says; empty for what is usual."""
        return "" if self._usual else self.in_words

    @property
    def in_words(self) -> str:
        """What is chosen; empty where a data set states no effects."""
        if not self.stated:
            return ""
        if not self.now:
            return "no effects"
        if self.preset != OWN_EFFECTS:
            return f"{self.preset} effects"
        out = [effect_name(text) for text, _ in self.stated if text not in self.now]
        more = len(out) - _MOST_NAMED
        named = [*out[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
        return f"own effects ({'without ' + '; '.join(named) if named else 'all'})"

    @property
    def stem(self) -> str:
        """The same as a part of a file's name."""
        if self._usual:
            return ""
        return "own-effects" if self.now else "no-effects"

    @property
    def _usual(self) -> bool:
        return not self.stated or self.preset == STATED_EFFECTS

    @property
    def table(self) -> pd.DataFrame:
        """One row per stated effect: effect, acts on, used, why."""
        return pd.DataFrame(
            {
                "effect": [effect_name(text) for text, _ in self.stated],
                "acts on": [acts_on(text) for text, _ in self.stated],
                "used": ["yes" if text in self.now else "no" for text, _ in self.stated],
                "why": [reason for _, reason in self.stated],
            }
        )


def effects_of(
    dataset: Dataset,
    preset: EffectPreset | None = None,
    own: Mapping[str, bool] | None = None,
) -> EffectChoice:
    """Return the effects that a choice gives to a fit of a data set.

    Parameters
    ----------
    dataset : Dataset
    preset : str, optional
        None: the stated ones where there are any.
    own : mapping of str to bool, optional
        For `OWN_EFFECTS`: whether to have each effect; those not named are had.
    """
    stated = tuple(dataset.effects.items())
    chosen = preset or (STATED_EFFECTS if stated else NO_EFFECTS)
    now = () if chosen == NO_EFFECTS else tuple(text for text, _ in stated)
    if chosen == OWN_EFFECTS and own:
        now = tuple(text for text in now if own.get(text, True))
    of = "places and calendars" if is_covid(dataset) else "species and visits"
    return EffectChoice(chosen, stated, now, of)


def effect_name(text: str) -> str:
    """An effect as pages call it; in brackets the distance over which near levels are alike.

    Examples
    --------
    >>> effect_name("reporting(state × smooth(day, 7))")
    'reporting: state × day (7 days)'
    """
    effect = Effect.parse(text)
    parts = [
        name + _over(name, length) for name, length in zip(effect.of, effect.lengths, strict=True)
    ]
    before = "reporting: " if effect.reporting else ""
    return f"{before}{' × '.join(parts)}{' beyond attributes' if effect.apart else ''}"


def effects_in_fit(fit: Fit) -> str:
    """What effects a fit has, in one sentence; empty without any."""
    if fit.mode_effects is None:
        return ""
    own, late = (
        sum(each.reporting == on for each in fit.mode_effects.effects) for on in (False, True)
    )
    followed = f"λ follows {plural(own, 'effect')} of modes" if own else "λ follows no mode"
    if not late:
        return f"{followed} beside its patterns."
    return (
        f"{followed} beside its patterns; {plural(late, 'more acts', 'more act')} on reporting, "
        "which says when counts are published and is no part of λ or p."
    )


def effect_code(text: str) -> str:
    """An effect as an address calls it.

    Examples
    --------
    >>> effect_code("reporting(state × smooth(day, 7))")
    'reporting_state_x_smooth_day_7'
    """
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace("×", "x")).strip("_")


def acts_on(text: str) -> str:
    """What an effect changes: "λ" or "reporting"."""
    return "reporting" if Effect.parse(text).reporting else "λ"


def _over(name: str, length: float) -> str:
    if length == 0:
        return ""
    return " (smooth)" if math.isnan(length) else f" ({length:g}{_UNITS.get(name, '')})"

"""Roles of attributes, deaths and random effects as a reader chooses them. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import pandas as pd

from dashboard.shared.charts.places import is_covid
from dashboard.shared.memory import remembered
from dashboard.shared.text.words import escape, plural
from uncletc import CountTensor, Effect, Fit, FitSettings, Observations, Role, Roles, datasets
from uncletc.data.roles import ActsOn
from uncletc.datasets import DEATHS_LAG, Dataset
from uncletc.effects import attribute_groups

DEATHS = "deaths"
ALONE = "none: cases alone"


@dataclass(frozen=True)
class ObservationsChoice:
    """Which further observation processes a fit has.

    Attributes
    ----------
    deaths : bool
    lag : int
        Days by which deaths are reported later than the cases they belong to.
    fatality : float
        By what the share of infections that end in death is multiplied.
    usual : bool
        Whether pages use deaths at first: where they are here, with the stated roles.
    observations : tuple of Observations
        What is added to the counts.
    """

    deaths: bool = False
    lag: int = DEATHS_LAG
    fatality: float = 1.0
    usual: bool = False
    observations: tuple[Observations, ...] = ()

    @property
    def words(self) -> str:
        """What a description of a fit says; empty for what is usual."""
        if not self.deaths:
            return "cases alone" if self.usual else ""
        if (self.lag, self.fatality) == (DEATHS_LAG, 1.0):
            return "" if self.usual else "deaths as a second observation process"
        return f"deaths {self.lag} days later, fatality × {self.fatality:g}"

    @property
    def stem(self) -> str:
        """The same as a part of a file's name."""
        if not self.deaths:
            return "cases-alone" if self.usual else ""
        return f"deaths{self.lag}x{self.fatality:g}" if self.words else ""


def may_have_deaths(dataset: Dataset) -> bool:
    """Whether a data set has deaths: simulated cases do, real ones where their files are here."""
    if dataset.deaths is not None:
        return True
    return dataset.name == "covid" and datasets.available(datasets.OUTSIDE)


def observations_of(
    dataset: Dataset, *, deaths: bool, lag: int = DEATHS_LAG, fatality: float = 1.0
) -> ObservationsChoice:
    """Return the observation processes that a choice gives to a data set that may have deaths."""
    observations = (_deaths(_Held(dataset), lag, fatality),) if deaths else ()
    return ObservationsChoice(deaths, lag, fatality, True, observations)


class _Held:
    """A data set that is the same key as another of its name and rules."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._key = (dataset.name, dataset.provenance.rules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


@lru_cache(maxsize=8)  # reads 60 files; the very object for the same choice
def _deaths(held: _Held, lag: int, fatality: float) -> Observations:
    return datasets.deaths_observations(held.dataset, lag=lag, fatality=fatality)


# What a reader sees, and what the address says.
EffectPreset = Literal["stated", "none", "my own"]
STATED_EFFECTS: EffectPreset = "stated"
NO_EFFECTS: EffectPreset = "none"
OWN_EFFECTS: EffectPreset = "my own"
_UNITS = {"place": "°", "day": " days", "visit": " visits"}  # of distances, by their group


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
        return f"own effects ({'without ' + _first_of(out, 2) if out else 'all'})"

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


def slug(*parts: str) -> str:
    """Return words as the address has them, in a key of a widget.

    Examples
    --------
    >>> slug("", "covid", "effect", "reporting(state × smooth(day, 7))")
    'covid_effect_reporting_state_x_smooth_day_7'
    """
    return re.sub(r"[^a-z0-9]+", "_", " ".join(parts).lower().replace("×", "x")).strip("_")


def acts_on(text: str) -> str:
    """What an effect changes: "λ" or "reporting"."""
    return "reporting" if Effect.parse(text).reporting else "λ"


def _over(name: str, length: float) -> str:
    if length == 0:
        return ""
    return " (smooth)" if math.isnan(length) else f" ({length:g}{_UNITS.get(name, '')})"


# What a reader sees, and what the address says.
Preset = Literal["stated roles", "the paper's: all on detection", "my own"]
STATED: Preset = "stated roles"
PAPER: Preset = "the paper's: all on detection"
OWN: Preset = "my own"
OPTIONS: dict[str, tuple[ActsOn, int]] = {
    "detection, rises": ("detection", 1),
    "detection, falls": ("detection", -1),
    "detection, free": ("detection", 0),
    "true rate": ("rate", 0),
    "both, p rises": ("both", 1),
    "both, p falls": ("both", -1),
    "both, p free": ("both", 0),
    "left out": ("neither", 0),
}
_NAMES = {value: option for option, value in OPTIONS.items()}

NO_ROLES_YET = (
    "These counts have no stated roles, so all attributes act on detection here, as in the paper."
)
NONE_ON_DETECTION = (
    "**No attribute acts on detection here, so p is the same everywhere**: 1, unless a second "
    "observation process "
    "or a statement says otherwise. Ranks and ratios of p say nothing then."
)
# Real counts: benchmarks/results/outside.md; simulated: tests/uncletc/test_twins_recovered.py.
_PAPERS = (
    "**The paper's choice: every attribute may move p either way, and none moves λ.** Whatever a "
    "place is known for can then pass for detection."
)
_TURNS_THE_MAP = (
    " Here that turns the map over: p by state then runs **against** {truth} (rank correlation "
    "{wrong}), and agrees with {them} with the stated roles ({right})."
)
_AGAINST = {
    True: {"truth": "the truth", "them": "it", "wrong": "−0.5", "right": "above +0.9"},
    False: {
        "truth": "blood surveys that the fit has not seen",
        "them": "them",
        "wrong": "−0.26",
        "right": "+0.33",
    },
}


@dataclass(frozen=True)
class AttributeRole:
    """An attribute, and what it may change.

    Attributes
    ----------
    name : str
        Of a category the name without its levels.
    columns : tuple of str
        Its names in the counts: its levels, or itself.
    stated : Role
        What a data set states, with its reason, or else the paper's.
    now : Role
        What is chosen.
    """

    name: str
    columns: tuple[str, ...]
    stated: Role
    now: Role

    @property
    def options(self) -> tuple[str, ...]:
        """What may be chosen for it; levels of a category have no order to rise with."""
        several = len(self.columns) > 1
        return tuple(option for option, (_, sign) in OPTIONS.items() if not (several and sign))


@dataclass(frozen=True)
class RoleChoice:
    """The roles that all attributes of a data set have.

    Attributes
    ----------
    preset : str
        What was chosen: `STATED`, `PAPER` or `OWN`.
    usual : str
        What pages choose for this data set at first.
    attributes : tuple of AttributeRole
        Empty where the counts are not here.
    observations : ObservationsChoice
        Further observation processes, which the paper's choice has none of.
    effects : EffectChoice
        Effects of places and calendars, which the paper's choice has none of.
    """

    preset: Preset = PAPER
    usual: Preset = PAPER
    attributes: tuple[AttributeRole, ...] = ()
    observations: ObservationsChoice = field(default_factory=ObservationsChoice)
    effects: EffectChoice = field(default_factory=EffectChoice)

    @property
    def roles(self) -> Roles:
        """Roles of the columns of the counts; without those that are the paper's."""
        return Roles(
            replace(each.now, attribute=column, reason="")
            for each in self.attributes
            for column in each.columns
            if (each.now.acts_on, each.now.sign) != ("detection", 0)
        )

    def apply(self, dataset: Dataset) -> Dataset:
        """Return the data set with these roles; the same counts for the same counts."""
        return replace(dataset, counts=self.of(dataset.counts))

    def settings(self, settings: FitSettings) -> FitSettings:
        """Return settings with the signs of these roles, and with the effects."""
        return replace(settings, signs=self.roles.signs, effects=self.effects.now)

    def of(self, counts: CountTensor) -> CountTensor:
        """Return counts with these roles and observations; the same object for the same counts."""
        return applied(counts, self.roles, self.observations.observations)

    @property
    def words(self) -> str:
        """What a description of a fit says; empty for what is usual."""
        return ", ".join(filter(None, (self.without_effects, self.effects.words)))

    @property
    def without_effects(self) -> str:
        """The same without what it says of effects."""
        return ", ".join(filter(None, (self._words_of_roles, self.observations.words)))

    @property
    def _words_of_roles(self) -> str:
        if self.preset == self.usual:
            return ""
        if self.preset != OWN:
            return "the paper's roles" if self.preset == PAPER else "stated roles"
        return f"own roles ({_first_of(self.changes, 3) or 'as at first'})"

    @property
    def stem(self) -> str:
        """The same as a part of a file's name."""
        names = {STATED: "stated-roles", PAPER: "papers-roles", OWN: "own-roles"}
        own = "" if self.preset == self.usual else names[self.preset]
        return "-".join(filter(None, (own, self.observations.stem, self.effects.stem)))

    @property
    def changes(self) -> list[str]:
        """Attributes whose role is not the one at first, with what they have now."""
        return [
            f"{each.name}: {option_of(each.now)}"
            for each in self.attributes
            if option_of(each.now) != option_of(each.stated)
        ]

    @property
    def on_detection(self) -> str:
        """Names of the attributes that act on p, in a row; empty for none."""
        return ", ".join(escape(each.name) for each in self.attributes if each.now.on_detection)

    @property
    def table(self) -> pd.DataFrame:
        """One row per attribute: attribute, may change, and where they are stated stated, why."""
        table = pd.DataFrame(
            {
                "attribute": [each.name for each in self.attributes],
                "may change": [in_words(each.now) for each in self.attributes],
            }
        )
        if self.usual != STATED:
            return table
        if self.preset != STATED:
            table["stated"] = [in_words(each.stated) for each in self.attributes]
        return table.assign(why=[each.stated.reason for each in self.attributes])

    def sign_words(self, attribute: str) -> str:
        """Which way p may go with an attribute; empty where it does not act on p."""
        for each in self.attributes:
            if each.name == attribute and each.now.on_detection:
                way = {1: "only rise", -1: "only fall", 0: "rise and fall"}[each.now.sign]
                also = " It may change λ, too." if each.now.on_rate else ""
                return f"By its role p may {way} with {escape(attribute)}.{also}"
        return ""


NOBODYS = RoleChoice()  # as of counts that are not here


def roles_of(
    dataset: Dataset, preset: Preset | None = None, own: Mapping[str, str] | None = None
) -> RoleChoice:
    """Return the roles that a choice gives to the attributes of a data set.

    Parameters
    ----------
    dataset : Dataset
        As it was loaded: all attributes act on detection.
    preset : str, optional
        None: the usual one.
    own : mapping of str to str, optional
        For `OWN`: options by attribute; those not named are as stated.
    """
    usual = usual_preset(dataset)
    chosen = usual if preset is None else preset
    attributes = []
    for name, columns in columns_of(dataset.counts).items():
        stated = replace(dataset.roles.of(columns[0]), attribute=name)
        now = Role(name) if chosen == PAPER else stated
        if chosen == OWN and own and name in own:
            now = Role(name, *OPTIONS[own[name]])
        attributes.append(AttributeRole(name, columns, stated, now))
    papers = chosen == PAPER != usual
    effects = effects_of(dataset, NO_EFFECTS if papers else None)
    return RoleChoice(chosen, usual, tuple(attributes), effects=effects)


def usual_preset(dataset: Dataset) -> Preset:
    """What pages choose for a data set at first: the stated roles where there are any."""
    return STATED if dataset.roles.roles else PAPER


def presets_of(dataset: Dataset) -> tuple[Preset, ...]:
    """What may be chosen for a data set."""
    return (STATED, PAPER, OWN) if dataset.roles.roles else (PAPER, OWN)


def option_of(role: Role) -> str:
    """What a reader chooses for this role."""
    return _NAMES[role.acts_on, role.sign]


def in_words(role: Role) -> str:
    """Return what an attribute with this role may change, for a table."""
    if role.acts_on == "neither":
        return "nothing: left out"
    way = {1: "upwards only", -1: "downwards only", 0: ""}[role.sign]
    if role.acts_on == "both":
        return f"p ({way}) and λ" if way else "p and λ"
    return "λ" if role.acts_on == "rate" else f"p, {way}" if way else "p"


def _first_of(names: list[str], most: int) -> str:
    """Return the first names in a row, and how many more there are."""
    more = len(names) - most
    return "; ".join([*names[:most], *([f"{more} more"] if more > 0 else [])])


def remark(roles: RoleChoice, dataset: Dataset) -> str:
    """Return what a reader should know of the roles of a fit, where that is something; else ""."""
    if roles.attributes and not roles.on_detection:
        return NONE_ON_DETECTION
    if not roles.preset == PAPER != roles.usual:
        return ""
    against = _AGAINST[dataset.provenance.simulated]
    return _PAPERS + (_TURNS_THE_MAP.format(**against) if is_covid(dataset) else "")


@remembered(8)  # looks at every entry; a data set is loaded once
def columns_of(counts: CountTensor) -> dict[str, tuple[str, ...]]:
    """Columns of each attribute by its name; levels of one category count as one attribute."""
    names = counts.attribute_names
    return {
        attribute: tuple(names[j] for j in columns)
        for attribute, columns in attribute_groups(counts).items()
    }


@remembered(16)  # copies of the attributes, some MB each
def applied(
    counts: CountTensor, roles: Roles, observations: tuple[Observations, ...] = ()
) -> CountTensor:
    """Return counts with roles and observations, the very object where it was made before."""
    given = roles.apply(counts) if roles.roles else counts
    return given.with_observations(*observations) if observations else given

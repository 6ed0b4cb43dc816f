"""The model that a reader chooses: the numbers of a fit, and what covariates affect. Pure.

The sidebar, both sides of What if and the Lab draw the controls that are declared here, each once;
descriptions, names of files, differences and Reset follow from it. One more slider for the fit is
one more item of `MODEL`. Controls that cannot act say why, and settings that lead to the same fit
are equal. Three models are ready-made, and *Custom* begins with the recommended one. What is chosen
is a :class:`ModelChoice`: it goes into settings, roles and observation processes, and all that
pages say of a model follows from it.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, get_args

import pandas as pd

from dashboard.shared.charts.places import is_covid
from dashboard.shared.text.words import escape, read_words
from dashboard.work.orders import limits_before
from uncletc import CountTensor, Deaths, Effect, Fit, FitSettings, Joint, Observations, Role, Roles
from uncletc import datasets as sources
from uncletc.data.roles import ActsOn
from uncletc.datasets import Dataset
from uncletc.effects import attribute_groups

Family = Literal["covid", "ppi", "own"]
FROM_COUNTS = "estimated"  # of μ, as a reader sees it and the address says it
NETWORK: dict[str, Literal["always", "supported", "never"]] = {
    "if counts support it": "supported",
    "always": "always",
    "never": "never",
}
SUPPORTED, ALWAYS, NEVER = NETWORK
NO_RANK = "no_rank"  # likewise: why λ has no patterns and starts do not differ
NO_NETWORK = "no_network"  # among values of controls: why none can be trained; "" if one can
_DEFAULT_HIDDEN = (20, 20, 20)


@dataclass(frozen=True, kw_only=True)
class Control:
    """A slider, or a choice where there are options.

    Attributes
    ----------
    label, help : str
    default : Any
    limits : tuple of (least, most, step), optional
        Of a slider.
    options : sequence, optional
        What a reader sees, and the address says: Streamlit ties the two together.
    typed : bool
        Whether the value is typed into a box instead of drawn along a slider.
    """

    label: str
    help: str
    default: Any
    limits: tuple[Any, Any, Any] | None = None
    options: Sequence[Any] = ()
    typed: bool = False

    def allows(self, given: Any) -> bool:
        """Whether an address or settings may give this value."""
        if self.limits is None:
            return str(given) in map(str, self.options)
        least, most, _ = self.limits
        try:
            return bool(least <= type(self.default)(given) <= most)
        except (TypeError, ValueError):
            return False

    def read(self, given: Any) -> Any:
        """The value that an address or settings give; the default where none that is allowed."""
        if not self.allows(given):
            return self.default
        if self.limits is None:
            return next(each for each in self.options if str(each) == str(given))
        return type(self.default)(given)


@dataclass(frozen=True, kw_only=True)
class Setting(Control):
    """A control of the model, and what its value means for `FitSettings`.

    Attributes
    ----------
    name : str
        In addresses, after the page's own prefix.
    by_family : mapping of str to value
        Defaults of a data set, where they are others.
    group : {"model", "network", "rest"}
        With what it is drawn: the last folded.
    lab : mapping, optional
        What is different in the Lab; None: it is not there.
    off : callable
        Why it cannot act beside the values chosen so far; "" where it can.
    of : callable, optional
        Its value in settings, None where they have none; by default the field of its name.
    into : callable, optional
        The fields of settings that it decides, from all values; by default the one of its name.
    words : callable
        What one line about settings, or about a fit with them, says of it; empty for nothing.
    """

    name: str
    words: Callable[[FitSettings, Fit | None], str] = lambda *_: ""
    by_family: Mapping[Family, Any] | None = None
    group: Literal["model", "network", "rest"] = "rest"
    lab: Mapping[str, Any] | None = None
    off: Callable[[Mapping[str, Any]], str] = lambda _: ""
    of: Callable[[FitSettings], Any] | None = None
    into: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None

    def default_for(self, family: Family) -> Any:
        """The default for a data set."""
        return (self.by_family or {}).get(family, self.default)

    def value(self, settings: FitSettings) -> Any:
        """What settings say; None where it means nothing for them."""
        return getattr(settings, self.name) if self.of is None else self.of(settings)

    def fields(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of `FitSettings` that it decides."""
        return {self.name: values[self.name]} if self.into is None else self.into(values)


def _why_not(values: Mapping[str, Any]) -> str:
    """Why no network is trained with these values; empty where one may be."""
    never = "*Network* is set to *never*." if values["network"] == NEVER else ""
    return str(values.get(NO_NETWORK, "")) or never


def _hidden(values: Mapping[str, Any]) -> dict[str, Any]:
    if values["layers"] and _why_not(values):
        return {"hidden": _DEFAULT_HIDDEN}  # curves, whatever the size
    return {"hidden": (values["units"],) * values["layers"]}


def _solver(values: Mapping[str, Any]) -> dict[str, Any]:
    if not values["layers"]:
        return {"solver": Joint()}  # straight lines alone
    return {"solver": Joint(network="never" if _why_not(values) else NETWORK[values["network"]])}


def _network_of(settings: FitSettings) -> str | None:
    if not isinstance(settings.solver, Joint) or not settings.hidden:
        return None
    return next(text for text, name in NETWORK.items() if name == settings.solver.network)


def may_train(settings: FitSettings) -> bool:
    """Whether a fit with these settings may train a network."""
    never = isinstance(settings.solver, Joint) and settings.solver.network == "never"
    return bool(settings.hidden) and not settings.closed and not never


def size_words(units: Sequence[int]) -> str:
    """A network's size on one line, whose layers are alike: "3 × 20 units"."""
    return f"{len(units)}\u00a0×\u00a0{units[0]}\u00a0units"


def _network_words(settings: FitSettings, fit: Fit | None) -> str:
    if not settings.hidden:
        return "linear g"
    units = settings.hidden if fit is None else fit.network_trained
    if not units or not may_train(settings):
        return "no network"
    unsure = fit is None and _network_of(settings) == SUPPORTED
    return f"network {size_words(units)}{' if supported' if unsure else ''}"


def _mu(settings: FitSettings) -> int | str:
    return FROM_COUNTS if settings.mu is None else int(settings.mu)


_GIVEN: dict[str, dict[str, Any]] = read_words(__file__, "model.toml")
_SAYS = _GIVEN["what models say"]
# The defaults predict held-out real counts well: enough patterns that λ, not g, carries the size
# of places.
MODEL = (
    Setting(
        name="rank",
        **_GIVEN["rank"],
        by_family={"covid": 15, "ppi": 5},
        group="model",
        off=lambda values: str(values.get(NO_RANK, "")),
        words=lambda settings, _: f"rank {settings.rank}",
    ),
    Setting(
        name="mu",
        **_GIVEN["mu"],
        default=FROM_COUNTS,
        options=(FROM_COUNTS, 2, 10, 50, 100, 200, 500, 1000, 2000, 3000, 5000, 10000),
        group="model",
        lab={},
        of=_mu,
        into=lambda values: {"mu": None if values["mu"] == FROM_COUNTS else float(values["mu"])},
        words=lambda settings, _: f"μ {_mu(settings)}",
    ),
    Setting(
        name="layers",
        **_GIVEN["layers"],
        group="network",
        lab={},
        off=lambda values: _why_not(values) if values.get("layers", 1) else "",
        of=lambda settings: (
            len(settings.hidden) if may_train(settings) or not settings.hidden else None
        ),
        into=_hidden,
        words=_network_words,
    ),
    Setting(
        name="units",
        **_GIVEN["units"],
        group="network",
        off=lambda values: _why_not(values) or ("" if values["layers"] else "No hidden layers."),
        of=lambda settings: settings.hidden[0] if may_train(settings) else None,
        into=_hidden,  # its words are those of the layers
    ),
    Setting(
        name="network",
        **_GIVEN["network"],
        default=SUPPORTED,
        options=tuple(NETWORK),
        off=lambda values: (
            values.get(NO_NETWORK) or ("" if values["layers"] else "No hidden layers.")
        ),
        of=_network_of,
        into=_solver,
    ),
    Setting(
        name="members",
        **_GIVEN["members"],
        off=lambda values: str(values.get(NO_RANK, "")),
        words=lambda settings, _: f"{settings.members} restarts" if settings.members > 1 else "",
    ),
    Setting(
        name="seed", **_GIVEN["seed"], typed=True, words=lambda settings, _: f"seed {settings.seed}"
    ),
    Setting(
        name="max_iter",
        **_GIVEN["max_iter"],
        options=(300, 600, 1200, 2400, 4800),
        words=lambda settings, _: (
            f"up to {settings.max_iter:,} iterations" if limits_before(settings) else ""
        ),
    ),
)
SETTINGS = {setting.name: setting for setting in MODEL}


def settings_of(**values: Any) -> FitSettings:
    """The settings that values of controls stand for; the default of each that is not given."""
    given: dict[str, Any] = {}
    for setting in MODEL:
        given |= setting.fields(_defaults() | values)
    return FitSettings(**given)


def values_of(settings: FitSettings) -> dict[str, Any]:
    """The value of each control that stands for settings, without those that mean nothing."""
    values = {setting.name: setting.value(settings) for setting in MODEL}
    return {name: value for name, value in values.items() if value is not None}


def changed(settings: FitSettings, name: str, value: Any) -> FitSettings:
    """Return settings with another value of one control, all else as it was."""
    values = _defaults() | values_of(settings) | {name: value}
    fields = SETTINGS[name].fields(values)
    if name in ("layers", "network"):  # together: what is trained
        fields |= _hidden(values) | _solver(values)
    return replace(settings, **fields)


def describe(settings: FitSettings, model: str = "", *, fit: Fit | None = None) -> str:
    """The settings that a reader needs to recognise a result, and an unusual model, in one line.

    Parameters
    ----------
    settings : FitSettings
    model : str
        What is unusual of the model.
    fit : Fit, optional
        With these settings, where it has finished: a network is then named only if it was trained.
    """
    closed = [f"closed {name}" for name in settings.closed]
    words = (each.words(settings, fit) for each in MODEL)
    return ", ".join(filter(None, (*words, *closed, model)))


def _defaults() -> dict[str, Any]:
    return {setting.name: setting.default for setting in MODEL}


Model = Literal["UncleTC, as in the paper", "UncleTC with covariate roles", "Recommended", "Custom"]
PAPER, WITH_ROLES, RECOMMENDED, CUSTOM = get_args(Model)
SENTENCES: dict[Model, str] = {model: _SAYS[model] for model in get_args(Model)}
NO_DEATHS = Deaths(used=False)
OPTIONS: dict[str, tuple[ActsOn, int]] = {
    "p, increasing": ("detection", 1),
    "p, decreasing": ("detection", -1),
    "p": ("detection", 0),
    "λ": ("rate", 0),
    "λ and p, increasing": ("both", 1),
    "λ and p, decreasing": ("both", -1),
    "λ and p": ("both", 0),
    "nothing": ("neither", 0),
}
_NAMED = 3  # changes of a model in a description of a fit
_UNITS = {"place": "°", "day": " days", "visit": " visits"}  # of distances, by their group
_OPTION_OF = {value: option for option, value in OPTIONS.items()}

NONE_ON_DETECTION = _SAYS["none on detection"]


@dataclass(frozen=True)
class AttributeRole:
    """A covariate, and what it may affect.

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
        """What may be chosen for it; levels of a category have no order to increase with."""
        several = len(self.columns) > 1
        return tuple(option for option, (_, sign) in OPTIONS.items() if not (several and sign))


@dataclass(frozen=True)
class ModelChoice:
    """A model of a data set.

    Attributes
    ----------
    model : str
        Its name.
    attributes : tuple of AttributeRole
        Empty where the counts are not here.
    deaths : Deaths
        Whether deaths are a second observation process, and with which lag and fatality.
    observations : tuple of Observations
        These deaths.
    effects : tuple of str
        Random effects.
    stated_effects : tuple of (effect, reason)
        Those of the recommended model.
    by : tuple of str
        Modes each level of which has a p of its own.
    """

    model: Model = RECOMMENDED
    attributes: tuple[AttributeRole, ...] = ()
    deaths: Deaths = NO_DEATHS
    observations: tuple[Observations, ...] = ()
    effects: tuple[str, ...] = ()
    stated_effects: tuple[tuple[str, str], ...] = ()
    may_have_deaths: bool = False
    by: tuple[str, ...] = ()

    @property
    def network(self) -> str:
        """When a network is trained, unless the reader chooses otherwise."""
        return ALWAYS if self.model in (PAPER, WITH_ROLES) else SUPPORTED

    @property
    def roles(self) -> Roles:
        """Roles of the columns of the counts, without those that are the paper's."""
        return Roles(
            replace(each.now, attribute=column, reason="")
            for each in self.attributes
            for column in each.columns
            if (each.now.acts_on, each.now.sign) != ("detection", 0)
        )

    @property
    def roles_as_stated(self) -> bool:
        """Whether each covariate has the role that the data set states."""
        return all(option_of(each.now) == option_of(each.stated) for each in self.attributes)

    def apply(self, dataset: Dataset) -> Dataset:
        """Return the data set with these roles and observations; pages use `with_model`."""
        counts, roles = dataset.counts, self.roles
        given = roles.apply(counts) if roles.roles or counts.rate_attribute_names else counts
        given = given.with_detection_by(*self.by) if self.by else given
        given = given.with_observations(*self.observations) if self.observations else given
        return replace(dataset, counts=given)

    def settings(self, settings: FitSettings) -> FitSettings:
        """Return settings with the signs of these roles, and with the random effects."""
        return replace(settings, signs=self.roles.signs, effects=self.effects)

    def why_no_network(self, *, closed: bool = False) -> str:
        """Why the joint solver trains no network for this model; empty where it may."""
        if not self.on_detection:
            return "No covariate affects p."
        if closed:
            return "Closed-population repeat visits have no network."
        return ""

    @property
    def words(self) -> str:
        """What a description of a fit says; empty for the recommended model."""
        if self.model == CUSTOM:
            first, more = self.changes[:_NAMED], len(self.changes) - _NAMED
            first += [f"{more} more"] if more > 0 else []
            return f"custom ({'; '.join(first) or 'as recommended'})"
        return {PAPER: "as in the paper", WITH_ROLES: "with covariate roles"}.get(self.model, "")

    @property
    def changes(self) -> list[str]:
        """What differs from the recommended model."""
        changed = [
            f"{each.name}: {option_of(each.now)}"
            for each in self.attributes
            if option_of(each.now) != option_of(each.stated)
        ]
        if self.may_have_deaths and not self.deaths.used:
            changed.append("without deaths")
        elif self.deaths.used and self.deaths != Deaths():
            changed.append(f"deaths {self.deaths.lag} days later, IFR × {self.deaths.fatality:g}")
        left_out = [text for text, _ in self.stated_effects if text not in self.effects]
        return changed + [f"without effect of {effect_name(text)}" for text in left_out]

    @property
    def on_detection(self) -> str:
        """Names of what affects p, covariates and modes, in a row; empty for none."""
        names = [each.name for each in self.attributes if each.now.on_detection]
        return ", ".join(map(escape, [*names, *self.by]))

    @property
    def table(self) -> pd.DataFrame:
        """One row per covariate: covariate, affects, and where roles are stated recommended, why.

        Examples
        --------
        >>> list(ModelChoice().table)
        ['covariate', 'affects']
        """
        table = pd.DataFrame(
            {
                "covariate": [each.name for each in self.attributes],
                "affects": [option_of(each.now) for each in self.attributes],
            }
        )
        if not any(each.stated.reason for each in self.attributes):
            return table
        if not self.roles_as_stated:
            table["recommended"] = [option_of(each.stated) for each in self.attributes]
        return table.assign(why=[each.stated.reason for each in self.attributes])

    @property
    def effect_table(self) -> pd.DataFrame:
        """One row per random effect of the model: effect, acts on, why."""
        rows = [
            (effect_name(text), acts_on(text), reason)
            for text, reason in self.stated_effects
            if text in self.effects
        ]
        return pd.DataFrame(rows, columns=["effect", "acts on", "why"])

    def sign_words(self, attribute: str) -> str:
        """Which way p may go with a covariate; empty where it does not affect p."""
        for each in self.attributes:
            if each.name == attribute and each.now.on_detection:
                way = {1: "only rise", -1: "only fall", 0: "rise or fall"}[each.now.sign]
                also = " It may also affect λ." if each.now.on_rate else ""
                return f"By its role, p may {way} with {escape(attribute)}.{also}"
        return ""


NO_MODEL = ModelChoice()  # of counts that are not here


def models_of(dataset: Dataset) -> tuple[Model, ...]:
    """The models that differ on a data set."""
    roles = bool(dataset.roles.roles)
    return tuple(model for model in SENTENCES if roles or model != WITH_ROLES)


def model_of(
    dataset: Dataset,
    model: Model = RECOMMENDED,
    roles: Iterable[tuple[str, str]] = (),
    deaths: Deaths | None = None,
    without: Sequence[str] = (),
) -> ModelChoice:
    """Return a model of a data set.

    Parameters
    ----------
    dataset : Dataset
        As it was loaded: all covariates affect detection.
    model : str
    roles : iterable of (covariate, option)
        For `CUSTOM`; those not named are as stated.
    deaths : Deaths, optional
        Other than those of the model.
    without : sequence of str
        Random effects to leave out, for `CUSTOM`.

    Raises
    ------
    DataUnavailableError
        If the model has deaths, and their files cannot be read.
    """
    attributes, chosen = [], dict(roles)
    for name, columns in columns_of(dataset.counts).items():
        stated = replace(dataset.roles.of(columns[0]), attribute=name)
        now = Role(name) if model == PAPER and not in_bands(dataset.counts) else stated
        if name in chosen:
            now = Role(name, *OPTIONS[chosen[name]])
        attributes.append(AttributeRole(name, columns, stated, now))
    possible = may_have_deaths(dataset)
    used = deaths or Deaths(used=possible and model != PAPER)
    has_effects = model in (RECOMMENDED, CUSTOM)
    return ModelChoice(
        model=model,
        attributes=tuple(attributes),
        deaths=used,
        observations=(_deaths(dataset, used),) if used.used else (),
        effects=tuple(text for text in dataset.effects if has_effects and text not in without),
        stated_effects=tuple(dataset.effects.items()),
        may_have_deaths=possible,
    )


def at_first(
    dataset: Dataset, family: Family, deaths: Deaths | None = None
) -> tuple[ModelChoice, FitSettings]:
    """Return the recommended model, and the settings with which pages fit it at first."""
    choice = model_of(dataset, deaths=deaths)
    values = {setting.name: setting.default_for(family) for setting in MODEL}
    values |= {"network": choice.network, NO_NETWORK: choice.why_no_network()}
    return choice, choice.settings(settings_of(**values))


def may_have_deaths(dataset: Dataset) -> bool:
    """Whether a data set has deaths: simulated cases do, real ones where their files are here."""
    if dataset.deaths is not None:
        return True
    return dataset.name == "covid" and sources.available(sources.OUTSIDE)


@lru_cache(maxsize=8)  # reads 60 files; the very object for the same choice
def _deaths(dataset: Dataset, deaths: Deaths) -> Observations:
    return sources.deaths_observations(dataset, lag=deaths.lag, fatality=deaths.fatality)


def option_of(role: Role) -> str:
    """What a covariate with this role affects."""
    return _OPTION_OF[role.acts_on, role.sign]


def effect_name(stated: str | Effect) -> str:
    """A random effect as pages call it, with distances over which near levels are alike.

    Examples
    --------
    >>> effect_name("reporting(state × smooth(day, 7))")
    'reporting: state × day (7 days)'
    """
    effect = Effect.parse(stated) if isinstance(stated, str) else stated
    parts = []
    for name, length in zip(effect.of, effect.lengths, strict=True):
        size = "smooth" if math.isnan(length) else f"{length:g}{_UNITS.get(name, '')}"
        parts.append(f"{escape(name)} ({size})" if length else escape(name))
    before = "" if effect.acts_on == "rate" else f"{effect.acts_on}: "
    return f"{before}{' × '.join(parts)}{' beyond covariates' if effect.orthogonal else ''}"


def acts_on(stated: str | Effect) -> str:
    """What a random effect changes: "λ", "p" or "reporting"."""
    effect = Effect.parse(stated) if isinstance(stated, str) else stated
    return {"rate": "λ", "detection": "p"}.get(effect.acts_on, "reporting")


def remark(choice: ModelChoice, dataset: Dataset) -> str:
    """What a reader should know of a model beside its fit, where that is something; else empty."""
    if choice.attributes and not choice.on_detection:
        return NONE_ON_DETECTION
    if choice.model != PAPER or not dataset.roles.roles:
        return ""
    kind = "simulated" if dataset.provenance.simulated else "real"
    return _SAYS["all"] + (_SAYS[f"reversed, {kind}"] if is_covid(dataset) else "")


def differing(counts: CountTensor, closed: Sequence[str]) -> str:
    """Names of the covariates of λ that differ along closed modes, where λ is the same."""
    rest = [k for k, mode in enumerate(counts.modes) if mode not in closed]
    x = pd.DataFrame(counts.rate_attributes, columns=counts.rate_attribute_names)
    levels = x.groupby(list(counts.attribute_indices[:, rest].T)).nunique().max()
    return ", ".join(map(escape, levels.index[levels > 1]))


def in_bands(counts: CountTensor) -> bool:
    """Whether p is of bands of distance, so that no covariate may affect it."""
    return "transect" in counts.protocol


def columns_of(counts: CountTensor) -> dict[str, tuple[str, ...]]:
    """Columns of each covariate by its name; levels of one category count as one covariate."""
    names = counts.all_attribute_names  # some may affect λ already, as a table states them
    groups = attribute_groups(counts.with_roles(detection=names))
    return {name: tuple(names[j] for j in columns) for name, columns in groups.items()}

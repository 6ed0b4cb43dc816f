"""The numbers that a reader chooses for a fit, each control declared once. Pure.

The sidebar, both sides of What if and the Lab draw what is declared here; descriptions, names of
files, differences and Reset follow from it. One more slider for the fit is one more item
of `MODEL`. Controls that cannot act say why, and settings that lead to the same fit are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from dashboard.work.orders import limits_before
from uncletc import Fit, FitSettings, Joint

Family = Literal["covid", "ppi", "own"]
FROM_COUNTS = "estimated"  # of μ, as a reader sees it and the address says it
NETWORK: dict[str, Literal["always", "supported", "never"]] = {
    "if held-out counts support it": "supported",
    "always": "always",
    "never": "never",
}
SUPPORTED, ALWAYS, NEVER = NETWORK
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

    def read(self, given: Any) -> Any:
        """The value that an address or settings give; the default where none that is allowed."""
        if self.limits is None:
            return next((each for each in self.options if str(each) == str(given)), self.default)
        least, most, _ = self.limits
        try:
            value = type(self.default)(given)
        except (TypeError, ValueError):
            return self.default
        return value if least <= value <= most else self.default


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
    words: Callable[[FitSettings, Fit | None], str]
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
    """A network's size: "3 × 20 units"."""
    if len(set(units)) == 1:
        return f"{len(units)} × {units[0]} units"
    return f"{', '.join(map(str, units))} units"


def _network_words(settings: FitSettings, fit: Fit | None) -> str:
    if not settings.hidden:
        return "linear g"
    units = settings.hidden if fit is None else fit.network_trained
    if not units or not may_train(settings):
        return "no network"
    unsure = fit is None and _network_of(settings) == SUPPORTED
    return f"network {size_words(units)}{' if supported' if unsure else ''}"


def _mu(settings: FitSettings) -> int | float | str:
    if settings.mu is None:
        return FROM_COUNTS
    return int(settings.mu) if settings.mu == int(settings.mu) else settings.mu


# The defaults predict held-out real counts well: enough patterns that λ, not g, carries the size
# of places.
MODEL = (
    Setting(
        name="rank",
        label="Rank",
        help="How many patterns λ is built from. More follow counts more closely, and need more.",
        default=5,
        limits=(1, 20, 1),
        by_family={"covid": 15, "ppi": 5},
        group="model",
        lab={
            "label": "Rank assumed",
            "help": "How many patterns the fit builds λ from. It need not be the true rank.",
            "default": 3,
            "limits": (1, 8, 1),
        },
        words=lambda settings, _: f"rank {settings.rank}",
    ),
    Setting(
        name="mu",
        label="Dispersion μ",
        help="Detection of an entry is g(z) times a deviation with mean 1 and variance 1/μ. "
        f"*{FROM_COUNTS.capitalize()}*: the likeliest μ, which the page names.",
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
        label="Hidden layers",
        help="Of the network that g(z) may have beside one curve per covariate. 0: straight lines, "
        "no curves and no network.",
        default=3,
        limits=(0, 5, 1),
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
        label="Units per layer",
        help="Hidden units in each layer of that network.",
        default=20,
        limits=(5, 50, 5),
        group="network",
        off=lambda values: _why_not(values) or ("" if values["layers"] else "No hidden layers."),
        of=lambda settings: settings.hidden[0] if may_train(settings) else None,
        into=_hidden,
        words=lambda *_: "",  # beside the layers
    ),
    Setting(
        name="network",
        label="Network",
        help="**Always**: it is trained whatever held-out counts say. **If held-out counts support "
        "it**: only if it predicts them better. **Never**: one curve per covariate.",
        default=SUPPORTED,
        options=tuple(NETWORK),
        off=lambda values: (
            values.get(NO_NETWORK) or ("" if values["layers"] else "No hidden layers.")
        ),
        of=_network_of,
        into=_solver,
        words=lambda *_: "",
    ),
    Setting(
        name="members",
        label="Random restarts",
        help="From how many starts to fit. Those about as likely as the best are combined; small "
        "data sets take several in any case.",
        default=1,
        limits=(1, 8, 1),
        lab={"limits": (1, 5, 1)},
        words=lambda settings, _: f"{settings.members} restarts" if settings.members > 1 else "",
    ),
    Setting(
        name="seed",
        label="Seed",
        help="Decides every random start. If two seeds give different results, trust neither.",
        default=0,
        limits=(0, 9999, 1),
        typed=True,
        words=lambda settings, _: f"seed {settings.seed}",
    ),
    Setting(
        name="max_iter",
        label="Iterations at most",
        help="Where a fit stops, settled or not. A higher limit continues the fit that stopped.",
        default=300,
        options=(300, 600, 1200, 2400, 4800),
        words=lambda settings, _: (
            f"up to {settings.max_iter:,} iterations" if limits_before(settings) else ""
        ),
    ),
)
SETTINGS = {setting.name: setting for setting in MODEL}


def settings_of(**values: Any) -> FitSettings:
    """The settings that values of controls stand for; the default of each that is not given."""
    return FitSettings(**_fields(_defaults() | values))


def _fields(values: Mapping[str, Any]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for setting in MODEL:
        given |= setting.fields(values)
    return given


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

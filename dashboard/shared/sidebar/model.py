"""What a reader may choose of a fit, each control declared once. Pure.

The sidebar, both sides of What if and the Lab draw what is declared here; descriptions, names of
files, sweeps, differences and Reset follow from it. One more slider for the fit is one more item
of `MODEL`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from uncletc import FitSettings

Family = Literal["covid", "ppi", "own"]
FROM_COUNTS = "from the counts"  # of μ, as a reader sees it and the address says it
_BCD_ITERATIONS = 100  # the paper's rule


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

    def read(self, text: str | None) -> Any:
        """The value that an address gives; the default where it gives none that is allowed."""
        if text is None:
            return self.default
        if self.limits is None:
            return next((value for value in self.options if str(value) == text), self.default)
        least, most, _ = self.limits
        try:
            value = type(self.default)(text)
        except ValueError:
            return self.default
        return value if least <= value <= most else self.default


@dataclass(frozen=True, kw_only=True)
class Setting(Control):
    """A control of the model, and what its value means for `FitSettings`.

    Attributes
    ----------
    name : str
        In addresses, after the page's own prefix.
    symbol : str
        In sentences, file names and the choice of a sweep, where the name is not.
    by_family : mapping of str to value
        Defaults of a data set, where they are others.
    group : {"model", "network", "rest"}
        With what it is drawn.
    in_sidebar : bool
    lab : mapping, optional
        What is different in the Lab; None: it is not there.
    sweep : tuple
        Values that What if tries; empty: it does not.
    off : callable
        Whether the values chosen so far leave it without effect.
    of : callable, optional
        Its value in settings, None where they have none; by default the field of its name.
    into : callable, optional
        The fields of settings that it decides, from all values; by default the one of its name.
    words, stem : callable, optional
        What a description and a file's name say of settings; by default its value where that is
        not the usual one.
    """

    name: str
    symbol: str = ""
    by_family: Mapping[Family, Any] | None = None
    group: Literal["model", "network", "rest"] = "rest"
    in_sidebar: bool = True
    lab: Mapping[str, Any] | None = None
    sweep: tuple[int | str, ...] = ()
    off: Callable[[Mapping[str, Any]], bool] = lambda _: False
    of: Callable[[FitSettings], Any] | None = None
    into: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    words: Callable[[FitSettings], str] | None = None
    stem: Callable[[FitSettings], str] | None = None

    @property
    def word(self) -> str:
        """What a sentence calls it."""
        return self.symbol or self.name

    def default_for(self, family: Family) -> Any:
        """The default for a data set."""
        return (self.by_family or {}).get(family, self.default)

    def value(self, settings: FitSettings) -> Any:
        """What settings say; None where it means nothing for them."""
        return getattr(settings, self.name) if self.of is None else self.of(settings)

    def fields(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of `FitSettings` that it decides."""
        return {self.name: values[self.name]} if self.into is None else self.into(values)

    def description(self, settings: FitSettings) -> str:
        """What one line about settings says of it; empty for nothing."""
        return self.words(settings) if self.words else self._unusual(settings, f"{self.word} ")

    def part_of_stem(self, settings: FitSettings) -> str:
        """What a file's name says of it; empty for nothing."""
        return self.stem(settings) if self.stem else self._unusual(settings, self.name)

    def _unusual(self, settings: FitSettings, before: str) -> str:
        value = self.value(settings)
        return "" if value == self.default else f"{before}{value}"


def _hidden(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"hidden": (values["units"],) * values["layers"]}


def _network(settings: FitSettings) -> str:
    hidden = settings.hidden
    return f"{len(hidden)} × {hidden[0]} units" if hidden else "linear g"


def _mu(settings: FitSettings) -> int | float | str:
    if settings.mu is None:
        return FROM_COUNTS
    return int(settings.mu) if settings.mu == int(settings.mu) else settings.mu


def _is_bcd(values: Mapping[str, Any]) -> bool:
    return bool(values.get("solver") == "bcd")


def _solver(values: Mapping[str, Any]) -> dict[str, Any]:
    iterations = {"max_iter": _BCD_ITERATIONS} if _is_bcd(values) else {}
    return {"solver": values["solver"]} | iterations


# The defaults predict held-out real counts well: enough patterns that λ, not g, carries the size
# of places.
MODEL = (
    Setting(
        name="rank",
        label="Rank",
        help="How many patterns the expected true counts λ are built from. More patterns follow "
        "the counts more closely, but need more counts.",
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
        sweep=(2, 5, 10, 15, 20),
        words=lambda settings: f"rank {settings.rank}",
        stem=lambda settings: f"rank{settings.rank}",
    ),
    Setting(
        name="mu",
        symbol="μ",
        label="μ",
        help="How closely each entry's detection follows its attributes. It is g(z) times a "
        "deviation of this entry, with mean 1 and variance 1/μ: the larger μ, the closer to g(z). "
        f"*{FROM_COUNTS.capitalize()}* takes the likeliest μ, and the page says which it is.",
        default=FROM_COUNTS,
        options=(FROM_COUNTS, 2, 10, 50, 100, 200, 500, 1000, 2000, 3000, 5000, 10000),
        group="model",
        lab={},
        sweep=(FROM_COUNTS, 2, 10, 100, 2000),
        of=_mu,
        into=lambda values: {"mu": None if values["mu"] == FROM_COUNTS else float(values["mu"])},
        words=lambda settings: f"μ {_mu(settings)}",
        stem=lambda settings: "" if settings.mu is None else f"mu{_mu(settings)}",
    ),
    Setting(
        name="layers",
        label="Hidden layers",
        help="Of the network that g(z) may have beside one curve per attribute. It is trained on "
        "the counts, and kept only where held-out counts show that attributes act together; it is "
        "not tried on more than 20,000 counts. 0: straight lines, no curves and no network.",
        default=3,
        limits=(0, 5, 1),
        group="network",
        lab={},
        sweep=(0, 1, 2, 3, 5),
        of=lambda settings: len(settings.hidden),
        into=_hidden,
        words=_network,
        stem=lambda settings: "x".join(map(str, settings.hidden)) or "linear",
    ),
    Setting(
        name="units",
        label="Units per layer",
        help="Hidden units in each layer of that network.",
        default=20,
        limits=(5, 50, 5),
        group="network",
        sweep=(5, 10, 20, 35, 50),
        off=lambda values: values["layers"] == 0,
        of=lambda settings: settings.hidden[0] if settings.hidden else None,
        into=_hidden,
        words=lambda _: "",  # beside the layers
        stem=lambda _: "",
    ),
    Setting(
        name="solver",
        label="Solver",
        help="How the estimates are found. **joint**: all at once, the default. **bcd**: "
        "block coordinate descent, the paper's algorithm; slower, one member, and its μ is on a "
        "scale of its own, 2000 unless chosen.",
        default="joint",
        options=("joint", "bcd"),
        in_sidebar=False,
        of=lambda settings: settings.solver.name,
        into=_solver,
        words=lambda settings: "block coordinate descent" if settings.solver.name == "bcd" else "",
        stem=lambda settings: "" if settings.solver.name == "joint" else settings.solver.name,
    ),
    Setting(
        name="members",
        label="Members",
        help="From how many starts to fit. Those that end about as likely as the best are combined "
        "(geometric mean). More take longer, and help where fits end in different places. Small "
        "data sets take several in any case.",
        default=1,
        limits=(1, 8, 1),
        lab={"limits": (1, 5, 1)},
        off=_is_bcd,
        into=lambda values: {"members": 1 if _is_bcd(values) else values["members"]},
        words=lambda settings: f"{settings.members} members" if settings.members > 1 else "",
    ),
    Setting(
        name="seed",
        label="Seed",
        help="Decides every random start. If two seeds tell different stories, trust neither.",
        default=0,
        limits=(0, 9999, 1),
        typed=True,
        words=lambda settings: f"seed {settings.seed}",
        stem=lambda settings: f"seed{settings.seed}",
    ),
)
SETTINGS = {setting.name: setting for setting in MODEL}


def settings_of(**values: Any) -> FitSettings:
    """The settings that values of controls stand for; the default of each that is not given."""
    chosen = _defaults() | values
    given: dict[str, Any] = {}
    for setting in MODEL:
        given |= setting.fields(chosen)
    return FitSettings(**given)


def default_settings(family: Family) -> FitSettings:
    """What pages fit a data set with at first."""
    return settings_of(**{setting.name: setting.default_for(family) for setting in MODEL})


def values_of(settings: FitSettings) -> dict[str, Any]:
    """The value of each control that stands for settings, without those that mean nothing."""
    values = {setting.name: setting.value(settings) for setting in MODEL}
    return {name: value for name, value in values.items() if value is not None}


def changed(settings: FitSettings, name: str, value: Any) -> FitSettings:
    """Return settings with another value of one control, all else as it was."""
    values = _defaults() | values_of(settings) | {name: value}
    return replace(settings, **SETTINGS[name].fields(values))


def describe(settings: FitSettings, roles: str = "") -> str:
    """The settings that a reader needs to recognise a result, and unusual roles, in one line."""
    closed = [f"closed {name}" for name in settings.closed]
    said = (each.description(settings) for each in MODEL)
    return ", ".join(filter(None, (*said, *closed, roles)))


def stem_of(settings: FitSettings, roles: str = "") -> str:
    """The settings, and unusual roles, as a part of a file's name."""
    closed = ["closed"] if settings.closed else []
    said = (each.part_of_stem(settings) for each in MODEL)
    return "-".join(filter(None, (*said, *closed, roles)))


def _defaults() -> dict[str, Any]:
    return {setting.name: setting.default for setting in MODEL}

"""What can be ordered from the service: fits, comparisons, trials with known truth. Pure.

An order is known by its key: the digest of what its message says, its counts, the program's
version and :data:`uncletc.RESULTS`. Equal keys mean equal results.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from uncletc import METHODS, RESULTS, CountTensor, Fit, FitSettings, checking
from uncletc.checking import Gain

Lane = Literal["quick", "long"]
Result = TypeVar("Result")
Numbers = dict[str, Any]  # what JSON can hold

LANES: tuple[Lane, ...] = ("quick", "long")
FoldKind = Literal["entry", "fibre"]
N_FOLDS = 5
_LIMITS = {"joint": 300, "bcd": 100}  # of iterations, where nobody asked for more


@cache
def program() -> str:
    """The program's version and :data:`uncletc.RESULTS`."""
    return f"{version('uncletc')} {RESULTS}"  # reads files


class Order(Generic[Result]):
    """What all orders have in common.

    Attributes
    ----------
    lane : {"quick", "long"}
        Orders of one lane are worked on one after the other; lanes do not wait for each other.
    suffix : str
        Of the file of its result.
    counts : CountTensor, optional
        None: it simulates them.
    trials, max_iter : int
        How many fits it makes, and how many iterations of each at most.
    settings : object
        Of the fits, where the order does not leave them to the program.
    """

    lane: ClassVar[Lane] = "quick"
    suffix: ClassVar[str] = ".json"
    counts: CountTensor | None = None
    trials: int = 1
    settings: Any

    @property
    def counts_digest(self) -> str:
        """Digest of its counts; empty for an order that simulates them."""
        return "" if self.counts is None else self.counts.digest

    @cached_property
    def key(self) -> str:
        """Digest of everything that decides the result."""
        message = json.dumps(self.message(), sort_keys=True)
        return hashlib.sha256(f"{message}\n{self.counts_digest}\n{program()}".encode()).hexdigest()

    @property
    def begins_with(self) -> Order[Any] | None:
        """An order whose result this one begins with, where there is such a result already."""
        return None

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of results that contain this one, that of the order first."""
        return (self.key,)

    @property
    def max_iter(self) -> int:
        """See the class."""
        return int(self.settings.max_iter)

    def message(self) -> dict[str, Any]:
        """What the worker is sent besides the counts; see :func:`order_from`."""
        values = {each.name: getattr(self, each.name) for each in sent_fields(type(self))}
        if "settings" in values:
            values["settings"] = values["settings"].to_json()
        return {"order": type(self).__name__} | values

    def part_of(self, result: Result) -> Result:
        """What this order asked for of a result under one of its keys."""
        return result

    def owns(self, result: Any) -> bool:
        """Whether something read from its file can be its result."""
        return isinstance(result, dict)

    @staticmethod
    def save(result: Any, path: Path) -> None:
        """Write a result."""
        path.write_text(json.dumps(result), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Any:
        """Read a result back; a ValueError says that the file is damaged."""
        return json.loads(path.read_text(encoding="utf-8"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Order) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def sent_fields(kind: Any) -> list[Any]:
    """Fields of a kind of order that its message has."""
    return [each for each in fields(kind) if each.name != "counts"]


def limits_before(settings: FitSettings) -> tuple[int, ...]:
    """Limits of iterations at which fits stop that a fit with these settings goes on from.

    A fit with more than the usual iterations goes on from one with half of them, so that what is
    there is not done twice; :func:`uncletc.continue_fit` gives the same.

    Examples
    --------
    >>> limits_before(FitSettings(rank=2)), limits_before(FitSettings(rank=2, max_iter=1200))
    ((), (300, 600))
    """
    limits = []
    limit = _LIMITS[settings.solver.name]
    while limit < settings.max_iter:
        limits.append(limit)
        limit *= 2
    return tuple(limits)


@dataclass(frozen=True, eq=False)
class FitOrder(Order[Fit]):
    """Fit these counts.

    Attributes
    ----------
    counts : CountTensor
    settings : FitSettings
    """

    suffix: ClassVar[str] = ".npz"

    counts: CountTensor = field(repr=False)
    settings: FitSettings

    def owns(self, result: Any) -> bool:
        """Whether it is a fit of these counts with these settings."""
        return (
            isinstance(result, Fit)
            and result.settings == self.settings
            and result.counts_digest == self.counts_digest
        )

    @property
    def begins_with(self) -> FitOrder | None:
        """The fit that this one goes on from; None: it begins by itself."""
        limits = limits_before(self.settings)
        if not limits:
            return None
        return replace(self, settings=replace(self.settings, max_iter=limits[-1]))

    @staticmethod
    def save(result: Fit, path: Path) -> None:
        """Write a fit."""
        result.save(path)

    @staticmethod
    def load(path: Path) -> Fit:
        """Read a fit back."""
        return Fit.load(path)


@dataclass(frozen=True, eq=False, kw_only=True)
class Recovery(Order[Numbers]):
    """Simulate counts, fit them, and measure the errors on the way to the estimates.

    The result has a "curve": pairs of an iteration (from 1) and the errors then, "rate" (MAE_λ)
    and "detection" (MAE_p), both over all entries. Its last pair is the finished fit.

    Attributes
    ----------
    simulation : mapping of str to JSON values
        Arguments of :func:`uncletc.simulate`.
    settings : FitSettings
    """

    simulation: Mapping[str, Any]
    settings: FitSettings


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluate(Order[Numbers]):
    """Cross-validate one method.

    The result has "method" and "trials", for each fold judged its scores by name.

    Attributes
    ----------
    counts : CountTensor
    method : str
        A key of :data:`uncletc.METHODS`.
    settings : object
        Of that method.
    kind : {"entry", "fibre"}
        See :func:`uncletc.compare.make_folds`; fibres run along the last mode.
    trials : int
        How many of the five folds are judged, 1 to 5.
    seed : int
        Decides the folds.
    """

    lane: ClassVar[Lane] = "long"

    counts: CountTensor = field(repr=False)
    method: str
    settings: Any
    kind: FoldKind = "entry"
    trials: int = 1
    seed: int = 0

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Its own key, then those of more folds."""
        more = (replace(self, trials=n).key for n in range(self.trials + 1, N_FOLDS + 1))
        return (self.key, *more)

    def owns(self, result: Any) -> bool:
        """Whether it has trials of this method."""
        right = isinstance(result, dict) and result.get("method") == self.method
        return right and isinstance(result.get("trials"), list)

    def part_of(self, result: Numbers) -> Numbers:
        """The trials asked for, also where more are known."""
        return result | {"trials": result["trials"][: self.trials]}


@dataclass(frozen=True, eq=False, kw_only=True)
class AttributeGain(Order[Gain]):
    """Measure what attributes of detection add; see :func:`uncletc.checking.gain_of_attributes`.

    Attributes
    ----------
    counts : CountTensor
    settings : FitSettings
    kind : {"entry", "fibre"}
    seed : int
        Decides the folds.
    """

    lane: ClassVar[Lane] = "long"
    trials = checking.fits_of_gain(N_FOLDS)

    counts: CountTensor = field(repr=False)
    settings: FitSettings
    kind: FoldKind = "entry"
    seed: int = 0

    def owns(self, result: Any) -> bool:
        """Whether it is a gain."""
        return isinstance(result, Gain)

    @staticmethod
    def save(result: Gain, path: Path) -> None:
        """Write a gain."""
        Order.save(asdict(result), path)

    @staticmethod
    def load(path: Path) -> Gain:
        """Read a gain back."""
        try:
            return Gain(**Order.load(path))
        except TypeError as error:
            raise ValueError(f"a gain must have its own fields: {error}") from error


_KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (FitOrder, Recovery, Evaluate, AttributeGain)
}


def order_from(message: Mapping[str, Any], counts: CountTensor | None = None) -> Order[Any]:
    """Return the order that a message is of.

    Parameters
    ----------
    message : mapping
        See :meth:`Order.message`.
    counts : CountTensor, optional
        The order's counts, where it has any.
    """
    kind = _KINDS[message["order"]]
    values = {each.name: message[each.name] for each in sent_fields(kind)}
    if "settings" in values:
        read = METHODS[values["method"]].settings if "method" in values else FitSettings
        values["settings"] = read.from_json(values["settings"])
    return kind(**values) if counts is None else kind(counts=counts, **values)


def make_settings(method: str, rank: int, seed: int, kind: FoldKind = "entry") -> Any:
    """Settings of a method: its defaults except for the seed, and the rank where it has one.

    A method that sets counts aside to choose something sets aside what the folds hide.
    """
    entry = METHODS[method]
    known = {each.name for each in fields(entry.settings)}
    chosen = {"rank": rank, "seed": seed, "held": kind}
    return entry.settings(**{name: value for name, value in chosen.items() if name in known})

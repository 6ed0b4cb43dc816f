"""What can be ordered from the service: fits, comparisons, trials with known truth.

An order is known by its key: the digest of what its message says, its counts, the program's
version and :data:`uncletc.RESULTS`. Equal keys mean equal results. The processes of the service
call :meth:`Order.work`.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property
from importlib.metadata import version
from time import monotonic
from typing import Any, ClassVar, Literal

import uncletc
from dashboard.work.wire import as_bytes
from uncletc import METHODS, RESULTS, CountTensor, Fit, FitSettings, Iteration, Truth, compare

Lane = Literal["quick", "long"]
Numbers = dict[str, Any]  # what JSON can hold

LANES: tuple[Lane, ...] = ("quick", "long")
N_FOLDS = 5
_LIMITS = {"joint": 300, "bcd": 100}  # of iterations, where nobody asked for more
_FIRST_ESTIMATE = 11  # iterations before estimates so far are sent, when λ has gone first;
_PATIENCE = 0.45  # or seconds, where iterations are slow
_PAUSE = 0.5  # seconds at least between two estimates so far, and
_PAUSE_PER_COST = 4.0  # times what the last ones took, so that a fit is not much slower
_ROWS_COMPARED = 500
_MANY = 20_000  # counts; p of 13,000 plants was no closer after a round than after six from nothing


@cache
def program() -> str:
    """The program's version and :data:`uncletc.RESULTS`."""
    return f"{version('uncletc')} {RESULTS}"  # reads files


Report = Callable[..., None]
"""Takes numbers by name, or bytes and what they are; ends the work where nobody waits for it."""


class Order:
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
        Of the fits.
    """

    lane: ClassVar[Lane] = "quick"
    suffix: ClassVar[str] = ".json"
    counts: CountTensor | None = None
    trials: int = 1
    settings: Any

    @cached_property
    def key(self) -> str:
        """Digest of everything that decides the result."""
        counts = "" if self.counts is None else self.counts.digest
        message = json.dumps(self.message(), sort_keys=True)
        return hashlib.sha256(f"{message}\n{counts}\n{program()}".encode()).hexdigest()

    @property
    def begins_with(self) -> FitOrder | None:
        """An order whose result this one begins with, where there is such a result already."""
        return None

    @property
    def max_iter(self) -> int:
        """See the class."""
        return int(self.settings.max_iter)

    def message(self) -> dict[str, Any]:
        """What a process is sent besides the counts; see :func:`order_from`."""
        values = {name: getattr(self, name) for name in _sent(type(self))}
        values["settings"] = values["settings"].to_json()
        return {"order": type(self).__name__} | values

    def work(self, report: Report) -> Any:
        """Return the result."""
        raise NotImplementedError

    @staticmethod
    def encode(result: Any) -> bytes:
        """Return a result as the bytes of a file."""
        return json.dumps(result).encode()

    @staticmethod
    def decode(data: bytes) -> Any:
        """Return the result of which :meth:`encode` gave the bytes; a ValueError: damaged."""
        result = json.loads(data)
        if not isinstance(result, dict):
            raise ValueError("a result must be a JSON object")
        return result

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Order) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def _sent(kind: Any) -> list[str]:
    """Names of the fields of a kind of order that its message has."""
    return [each.name for each in fields(kind) if each.name not in ("counts", "near")]


def limits_before(settings: FitSettings) -> tuple[int, ...]:
    """Limits of iterations at which fits stop that a fit with these settings continues.

    A fit with more than the usual iterations continues one with half of them, so that what is
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


class _FirstRoundEnded(Exception):  # noqa: N818, nothing went wrong
    """Ends a fit of which one round was wanted."""


@dataclass(frozen=True, eq=False)
class FitOrder(Order):
    """Fit these counts.

    Attributes
    ----------
    counts : CountTensor
    settings : FitSettings
    near : FitOrder, optional
        Whose result, with another rank, gives the first estimates so far, and nothing else.
    """

    suffix: ClassVar[str] = ".npz"

    counts: CountTensor = field(repr=False)
    settings: FitSettings
    near: FitOrder | None = field(default=None, repr=False)

    @property
    def begins_with(self) -> FitOrder | None:
        """The fit that this one continues, or that is near it; None: it begins by itself."""
        limits, near = limits_before(self.settings), self.near
        if limits:
            return replace(self, settings=replace(self.settings, max_iter=limits[-1]), near=None)
        # With random effects one round from it is close; other fits, and those of few, are quick.
        many = self.settings.effects and self.counts.n_observed >= _MANY
        if near is None or near.counts is not self.counts or not many:
            return None
        return near if replace(near.settings, rank=self.settings.rank) == self.settings else None

    def work(self, report: Report, before: Fit | None = None) -> Fit:
        """Fit, from the fit before where it is known; report iterations, and estimates so far."""
        step = max(len(self.counts.attributes) // _ROWS_COMPARED, 1)
        sample, following = self.counts.attributes[::step], 0.0
        least = 6 if self.settings.effects else 1  # before, beside random effects, λ alone moves

        def first_round(record: Iteration) -> None:
            report(iteration=0, objective=record.objective)
            if record.iteration:
                report(self.encode(record.current()), estimate=True)
                raise _FirstRoundEnded

        def follow(record: Iteration) -> None:
            nonlocal following
            report(iteration=record.iteration, seconds=record.seconds, objective=record.objective)
            began = monotonic()
            early = record.iteration < _FIRST_ESTIMATE and record.seconds < _PATIENCE
            if record.iteration < least or early or began < following:
                return
            estimate = record.current()
            p = estimate.detection(sample)
            varies = bool(p.max(initial=0.0) > 1.001 * p.min(initial=1.0))
            if varies:  # else it shows nothing yet
                report(self.encode(estimate), estimate=True)
            cost = monotonic() - began
            following = began + cost + (max(_PAUSE, _PAUSE_PER_COST * cost) if varies else cost)

        if before is not None and before.settings.rank != self.settings.rank:
            with suppress(_FirstRoundEnded, uncletc.FitError):
                uncletc.fit(self.counts, self.settings, start=before, callback=first_round)
            before, following = None, math.inf  # others are worse until the fit has nearly ended
        given = self.counts, self.settings, limits_before(self.settings)
        return uncletc.continue_fit(*given, start=before, callback=follow)

    @staticmethod
    def encode(result: Fit) -> bytes:
        """Return a fit as the bytes of a file; compressed, COVID-19's took a tenth of its time."""
        return as_bytes(result.save, compressed=False)

    @staticmethod
    def decode(data: bytes) -> Fit:
        """Return the fit of which :meth:`encode` gave the bytes."""
        return Fit.load(io.BytesIO(data))


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedFit(Order):
    """Simulate counts, fit them, and measure the errors of the estimates.

    The result has the errors over all entries, "rate" (MAE_λ) and "detection" (MAE_p).

    Attributes
    ----------
    simulation : mapping of str to JSON values
        Arguments of :func:`uncletc.simulate`.
    settings : FitSettings
    """

    simulation: Mapping[str, Any]
    settings: FitSettings

    def work(self, report: Report) -> Numbers:
        """Return the errors."""
        counts, truth = uncletc.simulate(**self.simulation)

        def follow(record: Iteration) -> None:
            report(iteration=record.iteration, seconds=record.seconds)

        return recovery_errors(uncletc.fit(counts, self.settings, callback=follow), truth)


def recovery_errors(estimate: Fit, truth: Truth) -> dict[str, float]:
    """MAE_λ and MAE_p of a fit over all entries; see :mod:`uncletc.compare.metrics`."""
    p = estimate.detection(truth.attributes.reshape(-1, truth.attributes.shape[-1]))
    return {
        "rate": compare.metrics.mae_rate(estimate.rate_tensor(), truth.rate),
        "detection": compare.metrics.mae_detection(p, truth.detection.ravel()),
    }


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluate(Order):
    """Cross-validate one method.

    The result has "trials", for each fold judged its scores by name.

    Attributes
    ----------
    counts : CountTensor
    method : str
        A key of :data:`uncletc.METHODS`, which has the settings.
    settings : object
        Of the fits.
    kind : {"entry", "fibre"}
        See :func:`uncletc.compare.make_folds`; fibres run along the last mode.
    trials : int
        How many of the five folds are judged, 1 to 5.
    """

    lane: ClassVar[Lane] = "long"

    counts: CountTensor = field(repr=False)
    method: str
    settings: Any
    kind: compare.FoldKind = "entry"
    trials: int = 1

    def work(self, report: Report) -> Numbers:
        """Return the scores of each trial."""

        def follow(trial: int, record: Iteration) -> bool:
            report(trial=trial, iteration=record.iteration, seconds=record.seconds)
            return trial >= self.trials  # a quick comparison needs no more

        whole = compare.evaluate(
            self.counts,
            METHODS[self.method],
            self.settings,
            n_folds=N_FOLDS,
            kind=self.kind,
            callback=follow,
        )
        return {
            "trials": [
                asdict(each.test) | {"seconds": each.seconds, "coverage": each.coverage}
                for each in whole.trials
            ]
        }


_KINDS: Any = {kind.__name__: kind for kind in (FitOrder, SimulatedFit, Evaluate)}


def order_from(message: Mapping[str, Any], counts: CountTensor | None = None) -> Order:
    """Return the order that a message is of.

    Parameters
    ----------
    message : mapping
        See :meth:`Order.message`.
    counts : CountTensor, optional
        The order's counts, where it has any.
    """
    kind = _KINDS[message["order"]]
    values = {name: message[name] for name in _sent(kind)}
    read = METHODS[values["method"]].settings if "method" in values else FitSettings
    values["settings"] = read.from_json(values["settings"])
    return kind(**values) if counts is None else kind(counts=counts, **values)


def make_settings(method: str, rank: int, kind: compare.FoldKind = "entry") -> Any:
    """Settings of a method: its defaults, and the rank where it has one.

    A method that sets counts aside to choose something sets aside what the folds hide.
    """
    entry = METHODS[method]
    known = {each.name for each in fields(entry.settings)}
    chosen = {"rank": rank, "held": kind}
    return entry.settings(**{name: value for name, value in chosen.items() if name in known})

"""What the methods share: settings, progress, predictions, and the rules of a fit."""

from __future__ import annotations

import hashlib
import json
import math
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from uncletc.counts import CountTensor, flat_index
from uncletc.model import ConvergenceWarning, FitError, StopReason
from uncletc.solvers.blocks import TINY
from uncletc.threads import one_thread
from uncletc.validation import FloatArray, IntArray, check_indices, check_real, check_whole

DENSE_LIMIT = 2**24  # entries of a tensor that dense methods accept: 128 MiB an array
_ROWS = 65_536  # entries predicted at once


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings that every method has.

    Parameters
    ----------
    max_iter : int
        Iterations at most, ≥ 0.
    tol : float
        Stop when the objective changes by less than this, relative to its size; ≥ 0. With 0 all
        iterations run, and running out of them is no reason for a warning.
    seed : int
        Decides everything random, ≥ 0.

    Raises
    ------
    ValueError, TypeError
        Naming the setting, the value and the rule.
    """

    max_iter: int = 500
    tol: float = 1e-6
    seed: int = 0

    def __post_init__(self) -> None:
        self._whole("max_iter", 0)
        self._whole("seed", 0)
        if self.seed >= 2**63:
            raise ValueError(f"seed must be below 2**63, got {self.seed}")
        self._real("tol", 0.0)

    def to_json(self) -> str:
        """Text that :meth:`from_json` reads back, with the keys in order."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read settings from JSON text, checking every value."""
        values = json.loads(text)
        if not isinstance(values, Mapping):
            raise TypeError(f"settings must be a JSON object, got {type(values).__name__}")
        unknown = sorted(set(values) - {one.name for one in fields(cls)})
        if unknown:
            raise ValueError(f"settings must not hold unknown names, got {unknown[0]!r}")
        return cls(**values)

    @property
    def digest(self) -> str:
        """SHA-256 of all settings."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def _whole(self, name: str, least: int) -> None:
        object.__setattr__(self, name, check_whole(name, getattr(self, name), least))

    def _real(self, name: str, least: float, *, above: bool = False) -> None:
        value = check_real(name, getattr(self, name))
        if not (math.isfinite(value) and (value > least if above else value >= least)):
            rule = "above" if above else "at least"
            raise ValueError(f"{name} must be finite and {rule} {least:g}, got {value}")
        object.__setattr__(self, name, value)


@dataclass(frozen=True, kw_only=True)
class RankSettings(Settings):
    """Settings of a method with components.

    Parameters
    ----------
    rank : int
        F ≥ 1, the number of components, or of columns of each mode's factor or embedding.
    max_iter, tol, seed
        See :class:`Settings`.
    """

    rank: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole("rank", 1)


@dataclass(frozen=True, kw_only=True)
class Progress:
    """What a method reports after each iteration; like :class:`uncletc.Iteration`.

    Attributes
    ----------
    iteration : int
        0 for the starting point.
    objective : float
        Value of the method's own objective, per observed entry; lower is better.
    seconds : float
        Time since the fit began.
    current : callable, optional
        Returns the estimates so far as a :class:`Prediction`, while the callback runs; None for
        records kept in a history.
    """

    iteration: int
    objective: float
    seconds: float
    current: Callable[[], Prediction] | None = field(default=None, compare=False, repr=False)


Callback = Callable[[Progress], bool | None]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Prediction(ABC):
    """What a method found: predicts λ and the reported count of any entry.

    Attributes
    ----------
    shape : tuple of int
        I_k of each mode.
    n_attributes : int
        D that :meth:`expected` takes; 0 for a method, or data, without attributes.
    history : tuple of Progress
        The starting point first.
    stop : StopReason
    settings : object
        The method's settings.
    counts_digest : str
        :attr:`uncletc.CountTensor.digest` of the data fitted.
    """

    shape: tuple[int, ...]
    history: tuple[Progress, ...]
    stop: StopReason
    settings: Any
    counts_digest: str
    n_attributes: int = 0

    def __repr__(self) -> str:
        size, last = " × ".join(str(n) for n in self.shape), self.history[-1]
        return (
            f"{type(self).__name__}({size}, {last.iteration} iterations, "
            f"objective {last.objective:.6g}, stopped: {self.stop.value})"
        )

    def rate(self, indices: ArrayLike) -> FloatArray:
        """λ of the given entries, on the method's own scale.

        A method that knows no detection takes every event as counted: its λ is its expected
        count, and one that uses attributes gives it at attributes unknown.

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
            Any entries, observed or not; repeats are allowed.

        Returns
        -------
        ndarray, shape (n,)
            λ ≥ 0.
        """
        wanted = check_indices(indices, self.shape, "indices")
        return _in_parts(self._rate, wanted)

    def expected(self, indices: ArrayLike, attributes: ArrayLike | None = None) -> FloatArray:
        """ŷ, the predicted reported count, of the given entries.

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
            Any entries, observed or not; repeats are allowed.
        attributes : array_like of float, shape (n, D), optional
            z of the same entries; NaN where an entry has none. None: unknown for all. Methods
            without attributes ignore them.

        Returns
        -------
        ndarray, shape (n,)
            ŷ ≥ 0.

        Raises
        ------
        ValueError
            If an entry lies outside the shape, or the attributes have another size.
        """
        wanted = check_indices(indices, self.shape, "indices")
        if not self.n_attributes:
            return _in_parts(self._rate, wanted)
        if attributes is None:
            z = np.full((len(wanted), self.n_attributes), np.nan)
        else:
            z = np.asarray(attributes, dtype=np.float64)
        if z.shape != (len(wanted), self.n_attributes):
            raise ValueError(
                f"attributes must have shape {(len(wanted), self.n_attributes)}, one row per row "
                f"of indices and the columns of the fit, got {z.shape}"
            )
        return _in_parts(self._expected, wanted, z)

    @abstractmethod
    def _rate(self, indices: IntArray) -> FloatArray:
        """λ of valid entries (n, K); (n,)."""

    def _expected(self, indices: IntArray, attributes: FloatArray) -> FloatArray:  # noqa: ARG002
        """ŷ of valid entries (n, K) with attributes (n, D), NaN where unknown; (n,)."""
        return self._rate(indices)


class Run:
    """Keeps the history, asks the callback, and says when to stop.

    Parameters
    ----------
    settings : Settings
    callback : callable, optional
    result : callable
        Makes a :class:`Prediction` of the present state, given why it ended.
    least : float
        Changes of the objective are judged relative to its size, or to this where that is less.
    """

    def __init__(
        self,
        settings: Settings,
        callback: Callback | None,
        result: Callable[[StopReason], Prediction],
        least: float = TINY,
    ) -> None:
        self.history: list[Progress] = []
        self._settings, self._callback, self._result = settings, callback, result
        self._least = max(least, TINY)
        self._began = time.perf_counter()

    def record(self, objective: float, *, settled: bool | None = None) -> StopReason | None:
        """Record an objective, the starting point's first; a reason to stop, or None.

        `settled` is for methods with a rule of their own for when to stop; None: by ``tol``.
        """
        n, settings = len(self.history), self._settings
        if not math.isfinite(objective):
            raise FitError(f"the objective became {objective} at iteration {n}")
        seconds = time.perf_counter() - self._began
        now = Progress(iteration=n, objective=float(objective), seconds=seconds)
        self.history.append(now)
        if self._callback is not None and self._callback(
            replace(now, current=lambda: self._result(StopReason.CALLBACK))
        ):
            return StopReason.CALLBACK
        if settled is None and n:
            before = self.history[-2].objective
            settled = abs(before - objective) < settings.tol * max(abs(before), self._least)
        if settled:
            return StopReason.TOLERANCE
        return StopReason.MAX_ITER if n >= settings.max_iter else None

    def finish(self, stop: StopReason) -> Prediction:
        """Return the result; warn the caller of ``fit`` where iterations ran out."""
        if stop is StopReason.MAX_ITER and self._settings.max_iter and self._settings.tol:
            warnings.warn(stop.value, ConvergenceWarning, stacklevel=3)
        return self._result(stop)


@contextmanager
def fitting(counts: CountTensor, settings: Any, kind: type) -> Iterator[CountTensor]:
    """Check the arguments of ``fit``, and yield the counts in a fixed order, on one thread.

    The order makes results the same, to the last bit, however the data were presented.
    """
    if not isinstance(settings, kind):
        raise TypeError(f"settings must be {kind.__name__}, got {type(settings).__name__}")
    if counts.n_observed == 0:
        raise ValueError("counts must hold at least 1 observed entry, got 0")
    with one_thread():
        yield in_order(counts)


def in_order(counts: CountTensor) -> CountTensor:
    """Sort Ω and Ξ by entry; the same object where they are sorted."""
    observed = flat_index(counts.indices, counts.shape)
    attributed = flat_index(counts.attribute_indices, counts.shape)
    if (np.diff(observed) > 0).all() and (np.diff(attributed) > 0).all():
        return counts
    rows, known = np.argsort(observed), np.argsort(attributed)
    return CountTensor(
        counts.shape,
        counts.indices[rows],
        counts.counts[rows],
        attributes=counts.attributes[known],
        attribute_indices=counts.attribute_indices[known],
        modes=counts.modes,
        labels=counts.labels,
        attribute_names=counts.attribute_names,
        exposure=counts.exposure,
        simulated=counts.simulated,
    )


def known_attributes(counts: CountTensor, indices: ArrayLike) -> FloatArray:
    """Attributes of the given entries as :meth:`Prediction.expected` takes them.

    Parameters
    ----------
    counts : CountTensor
    indices : array_like of int, shape (n, K)

    Returns
    -------
    ndarray, shape (n, D)
        NaN in the rows of entries outside Ξ.
    """
    wanted = check_indices(indices, counts.shape, "indices")
    rows = counts.rows_of(wanted)
    z = np.full((len(wanted), counts.n_attributes), np.nan)
    z[rows >= 0] = counts.attributes[rows[rows >= 0]]
    return z


def check_dense(counts: CountTensor, method: str) -> None:
    """Refuse a tensor that a method would have to hold whole and that is too large for it."""
    n = math.prod(counts.shape)
    if n > DENSE_LIMIT:
        raise ValueError(
            f"{method} holds every entry of the tensor and takes at most {DENSE_LIMIT:,}; "
            f"shape {counts.shape} has {n:,}"
        )


def _in_parts(predict: Callable[..., FloatArray], *columns: Any) -> FloatArray:
    """Predict some entries at a time, and join."""
    n = len(columns[0])
    parts = [
        np.asarray(predict(*(column[i : i + _ROWS] for column in columns)), dtype=np.float64)
        for i in range(0, n, _ROWS)
    ]
    return np.concatenate(parts) if parts else np.empty(0)

"""The common part of all methods: settings, predictions, and the loop of a fit."""

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from uncletc.common.serialization import Jsonable
from uncletc.common.validation import (
    FloatArray,
    IntArray,
    check_choice,
    check_indices,
    check_kind,
    check_positive,
    check_real,
    check_seed,
    check_whole,
)
from uncletc.data.counts import CountTensor
from uncletc.fitting.fit import one_thread
from uncletc.fitting.history import ConvergenceWarning, FitError, History, Iteration, StopReason
from uncletc.solvers.poisson import TINY

DENSE_LIMIT = 2**24  # entries of a tensor that dense methods accept: 128 MiB an array
_ROWS = 65_536  # entries predicted at once


def whole(default: Any = MISSING, *, least: int) -> Any:
    """A setting that is a whole number of at least `least`."""
    return field(default=default, metadata={"check": partial(check_whole, least=least)})


def real(default: float, *, least: float | None = None) -> Any:
    """A setting that is a finite number of at least `least`, or else above 0."""
    check = check_positive if least is None else partial(check_real, least=least)
    return field(default=default, metadata={"check": check})


def choice(*options: Any) -> Any:
    """A setting that is one of some options, the first by default."""

    def check(name: str, value: Any) -> Any:
        if isinstance(options[0], bool) and not isinstance(value, bool):
            raise TypeError(f"{name} must be True or False, got {value!r}")
        check_choice(name, value, options)
        return value

    return field(default=options[0], metadata={"check": check})


@dataclass(frozen=True, kw_only=True)
class Settings(Jsonable):
    """Settings common to all methods.

    Parameters
    ----------
    max_iter : int
        Iterations at most, ≥ 0.
    tol : float
        Stop when the objective changes by less than this, relative to its size; ≥ 0. With 0 all
        iterations run, and reaching the last causes no warning.
    seed : int
        Seed of everything random, ≥ 0.

    Raises
    ------
    ValueError, TypeError
        Naming the setting, the value and the rule.

    Examples
    --------
    >>> from uncletc import METHODS
    >>> METHODS["Main effects"].settings(max_iter=50)
    MainEffectsSettings(max_iter=50, tol=1e-05, seed=0, fibres=True)
    """

    max_iter: int = whole(500, least=0)
    tol: float = real(1e-6, least=0.0)
    seed: int = field(default=0, metadata={"check": lambda _, seed: check_seed(seed)})

    def __post_init__(self) -> None:
        for each in fields(self):
            value = each.metadata["check"](each.name, getattr(self, each.name))
            object.__setattr__(self, each.name, value)


@dataclass(frozen=True, kw_only=True)
class RankSettings(Settings):
    """Settings of a method with components.

    Parameters
    ----------
    rank : int
        F ≥ 1, the number of components, or of columns of each mode's factor or embedding.
    max_iter, tol, seed
        See :class:`Settings`.

    Examples
    --------
    >>> from uncletc import METHODS
    >>> [name for name, method in METHODS.items() if issubclass(method.settings, RankSettings)][:3]
    ['NTF-CPD-KL', 'BPTF', 'NTF-CPD-LS']
    """

    rank: int = whole(least=1)


Callback = Callable[["Iteration[Prediction]"], bool | None]


class Prediction(Protocol):
    """The estimates of any method: λ and the reported count of any entry.

    A :class:`uncletc.Fit` is one; the other methods return an :class:`Estimate`.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> for name in ("Main effects", "HaLRTC"):
    ...     method = METHODS[name]
    ...     found = method.fit(y, method.settings(max_iter=5, tol=0.0))
    ...     print(name, found.expected([[0, 0, 0], [5, 4, 3]]).shape)
    Main effects (2,)
    HaLRTC (2,)
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """I_k of each mode."""

    @property
    def n_attributes(self) -> int:
        """D that :meth:`expected` takes; 0 for a method, or data, without attributes."""

    @property
    def history(self) -> tuple[Iteration[Any], ...]:
        """All iterations, the starting point first."""

    @property
    def stop(self) -> StopReason:
        """Why the fit ended."""

    @property
    def settings(self) -> Any:
        """Those of the method."""

    @property
    def counts_digest(self) -> str:
        """:attr:`uncletc.CountTensor.digest` of the data fitted."""

    def rate(self, indices: ArrayLike) -> FloatArray:
        """λ of the given entries, on the method's own scale.

        A method without detection assumes that every event is counted: its λ is its expected
        count, with attributes unknown if it uses them.

        Parameters
        ----------
        indices : array_like of int, shape (n, K)
            Any entries, observed or not; repeats are allowed.

        Returns
        -------
        ndarray, shape (n,)
            λ ≥ 0.
        """

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


Predictor = Callable[[IntArray, FloatArray], FloatArray]
"""ŷ (n,) of valid entries (n, K) with attributes (n, D), NaN where unknown."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Estimate:
    """The :class:`Prediction` of a method other than UncleTC; `predictor` is its ŷ.

    Examples
    --------
    >>> from uncletc import METHODS, simulate
    >>> y, _ = simulate((6, 5, 4), rank=1, observed=0.8, seed=1)
    >>> method = METHODS["NTF-CPD-KL"]
    >>> found = method.fit(y, method.settings(rank=1, max_iter=5, tol=0.0))
    >>> len(found.history), found.stop.name
    (6, 'MAX_ITER')
    """

    shape: tuple[int, ...]
    history: tuple[Iteration[Any], ...]
    stop: StopReason
    settings: Any
    counts_digest: str
    predictor: Predictor
    n_attributes: int = 0

    def __repr__(self) -> str:
        size, last = " × ".join(str(n) for n in self.shape), self.history[-1]
        return (
            f"{type(self).__name__}({size}, {last.iteration} iterations, "
            f"objective {last.objective:.6g}, stopped: {self.stop.value})"
        )

    def rate(self, indices: ArrayLike) -> FloatArray:
        """λ of the given entries; see :class:`Prediction`."""
        return self.expected(indices)

    def expected(self, indices: ArrayLike, attributes: ArrayLike | None = None) -> FloatArray:
        """ŷ of the given entries; see :class:`Prediction`."""
        entries = check_indices(indices, self.shape, "indices")
        size = (len(entries), self.n_attributes)
        z = np.full(size, np.nan)
        if attributes is not None and self.n_attributes:
            z = np.asarray(attributes, np.float64)
        if z.shape != size:
            raise ValueError(
                f"attributes must have shape {size}, one row per row of indices and the columns "
                f"of the fit, got {z.shape}"
            )
        predicted = np.empty(len(entries))
        for i in range(0, len(entries), _ROWS):
            part = slice(i, i + _ROWS)
            predicted[part] = self.predictor(entries[part], z[part])
        return predicted


class Algorithm(ABC):
    """The state of one run of a method; a new one is at iteration 0.

    Parameters
    ----------
    data : CountTensor
        In order, with at least one observed entry.
    settings : Settings
        Those of the method.

    Attributes
    ----------
    n_attributes : int
        D that its predictor takes.
    settled : bool, optional
        Set by a method with its own stopping rule; None: stop by ``tol``.
    least : float
        Changes of the objective are relative to its size, or to this if that is smaller.
    """

    n_attributes: int = 0
    settled: bool | None = None
    least: float = TINY

    @abstractmethod
    def __init__(self, data: CountTensor, settings: Any) -> None: ...

    @abstractmethod
    def objective(self) -> float:
        """The method's own objective, per observed entry; lower is better."""

    @abstractmethod
    def step(self) -> None:
        """Take one iteration."""

    @abstractmethod
    def predictor(self) -> Predictor:
        """ŷ as of now: further steps leave it as it is."""


def run(
    algorithm: Callable[[CountTensor, Any], Algorithm],
    kind: type[Settings],
    counts: CountTensor,
    settings: Settings,
    *,
    callback: Callback | None = None,
) -> Estimate:
    """Fit a method: iterate until it settles, runs out of iterations or is asked to stop.

    The entries are sorted first, and everything runs on one thread, so that results do not depend,
    to the last bit, on the order of the data.

    Parameters
    ----------
    algorithm : callable
        Makes the state of a run: usually a class.
    kind : type
        Of its settings.
    counts : CountTensor
        At least one observed entry.
    settings : Settings
        Of that kind.
    callback : callable, optional
        Called with each :class:`uncletc.Iteration`, the starting point first; return True to stop.
    """
    check_kind("settings", settings, kind)
    if counts.n_observed == 0:
        raise ValueError("counts must hold at least 1 observed entry, got 0")
    history = History(callback)

    def result(stop: StopReason) -> Estimate:
        return Estimate(
            shape=counts.shape,
            history=tuple(history.records),
            stop=stop,
            settings=settings,
            counts_digest=counts.digest,
            predictor=state.predictor(),
            n_attributes=state.n_attributes,
        )

    def record() -> StopReason | None:
        value, n = float(state.objective()), len(history.records)
        if not math.isfinite(value):
            raise FitError(f"the objective became {value} at iteration {n}")
        if history.add(value, result):
            return StopReason.CALLBACK
        settled = state.settled
        if settled is None:
            settled = history.settled(settings.tol, max(state.least, TINY))
        if settled:
            return StopReason.TOLERANCE
        return StopReason.MAX_ITER if n >= settings.max_iter else None

    with one_thread():
        state = algorithm(counts.in_order(), settings)
        while (stop := record()) is None:
            state.step()
    if stop is StopReason.MAX_ITER and settings.max_iter and settings.tol:
        warnings.warn(stop.value, ConvergenceWarning, stacklevel=2)
    return result(stop)


def check_dense(counts: CountTensor, method: str) -> None:
    """Refuse a tensor that is too large for a method that holds it whole."""
    n = math.prod(counts.shape)
    if n > DENSE_LIMIT:
        raise ValueError(
            f"{method} holds every entry of the tensor and takes at most {DENSE_LIMIT:,}; "
            f"shape {counts.shape} has {n:,}"
        )

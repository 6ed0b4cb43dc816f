"""Reports of a fit while it runs and when it ends: iterations, reasons, errors and warnings."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import Generic, TypeVar

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


class FitWarning(UserWarning):
    """What a fit warns of: that it had not settled, or that counts disagree with it.

    Examples
    --------
    >>> issubclass(ConvergenceWarning, FitWarning), issubclass(MisfitWarning, FitWarning)
    (True, True)
    """


class ConvergenceWarning(FitWarning):
    """A fit ran out of iterations before its objective settled.

    Examples
    --------
    >>> import warnings
    >>> from uncletc import fit, simulate
    >>> y, _ = simulate((6, 6), rank=1, observed=0.5)
    >>> with warnings.catch_warnings(action="error", category=ConvergenceWarning):
    ...     fit(y, rank=1, max_iter=1)
    Traceback (most recent call last):
    uncletc.fitting.history.ConvergenceWarning: max_iter was reached; raise it or loosen tol
    """


class MisfitWarning(FitWarning):
    """A fit ended where counts scatter far more about it than the model allows, or differ from it.

    Examples
    --------
    >>> import warnings
    >>> from uncletc import CountTensor, fit
    >>> y = CountTensor.from_dense([[0, 900, 0], [900, 0, 900], [0, 900, 900]])
    >>> with warnings.catch_warnings(action="error", category=MisfitWarning):
    ...     fit(y, rank=1, mu=10_000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    uncletc.fitting.history.MisfitWarning: counts scatter ... times as much about the fit ...
    """


class FitError(RuntimeError):
    """A fit failed; the message gives the reason.

    Examples
    --------
    >>> from uncletc import fit, simulate
    >>> y, _ = simulate((6, 6), rank=1, observed=0.5)
    >>> fit(y, rank=1, solver="bcd", learning_rate=1e300, hidden=(5, 5))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    uncletc.fitting.history.FitError: the objective became nan at iteration 1; lower ...
    """


class UnreadableFitError(ValueError):
    """A file is not a fit written by :meth:`Fit.save`, or is damaged.

    Examples
    --------
    >>> import io
    >>> from uncletc import Fit
    >>> Fit.load(io.BytesIO(b"text"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    uncletc.fitting.history.UnreadableFitError: path must be a file written by Fit.save; ...
    """


class StopReason(Enum):
    """Why a fit ended, as a sentence.

    Examples
    --------
    >>> StopReason.MAX_ITER.name
    'MAX_ITER'
    """

    TOLERANCE = "the objective changed by less than tol"
    MAX_ITER = "max_iter was reached; raise it or loosen tol"
    CALLBACK = "the callback asked to stop"


@dataclass(frozen=True, kw_only=True)
class Iteration(Generic[_T_co]):
    """The report of a fit, by a solver of this library or a baseline, after each iteration.

    Attributes
    ----------
    iteration : int
        0 for the starting point.
    objective : float
        Value of the method's own objective, per observed entry; lower is better.
    seconds : float
        Time since the fit began.
    current : callable, optional
        Returns the estimates so far, a :class:`Fit` or a baseline's prediction, while the
        callback runs; None for records kept in a history.

    Examples
    --------
    >>> from uncletc import fit, simulate
    >>> y, _ = simulate((12, 12, 12), rank=2, observed=0.3, seed=1)
    >>> [record.iteration for record in fit(y, rank=2).history[:3]]
    [0, 1, 2]
    """

    iteration: int
    objective: float
    seconds: float
    current: Callable[[], _T_co] | None = field(default=None, compare=False, repr=False)


class History(Generic[_T]):
    """The iterations of a fit, each reported to a callback as it is added.

    Attributes
    ----------
    records : list of Iteration
        So far, the starting point first.
    """

    def __init__(self, callback: Callable[[Iteration[_T]], bool | None] | None) -> None:
        self.records: list[Iteration[_T]] = []
        self._callback, self._began = callback, time.perf_counter()

    def add(self, objective: float, result: Callable[[StopReason], _T]) -> bool:
        """Add an iteration with the estimates of `result`; return whether the callback stops."""
        now: Iteration[_T] = Iteration(
            iteration=len(self.records),
            objective=objective,
            seconds=time.perf_counter() - self._began,
        )
        self.records.append(now)
        current = partial(result, StopReason.CALLBACK)
        return self._callback is not None and bool(self._callback(replace(now, current=current)))

    def settled(self, tol: float, least: float) -> bool:
        """Whether the last change was below `tol`, relative to the value before, or to `least`."""
        if len(self.records) < 2:
            return False
        before, now = (record.objective for record in self.records[-2:])
        return abs(before - now) < tol * max(abs(before), least)

"""What work on an order tells on the way, and how often."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from dashboard.work.files import atomic
from uncletc import CountTensor, Iteration

_FIRST_ESTIMATE = 11  # iterations before estimates so far are looked at, when λ has gone first;
_PATIENCE = 0.6  # or seconds, where iterations are slow
_PAUSE = 0.5  # seconds at least between two of them, and
_PAUSE_PER_COST = 4.0  # times what the last one took, so that a fit is not much slower
_PAUSE_PER_LOOK = 2.0  # times what a look took that showed nothing yet
_ROWS_COMPARED = 500
_REPORT_PAUSE = 0.1  # seconds at least between two reports of a method, and
_REPORT_PAUSE_PER_COST = 3.0  # times what the last one took


class SoFar:
    """Estimates of an unfinished fit, written now and then.

    Attributes
    ----------
    written : int
        How many there were.
    """

    def __init__(self, path: Path, counts: CountTensor) -> None:
        self._path = path
        step = max(len(counts.attributes) // _ROWS_COMPARED, 1)
        self._sample = counts.attributes[::step]
        self._next = 0.0
        self.written = 0

    def due(self, record: Iteration) -> bool:
        """Whether it is time for the next ones."""
        early = record.iteration < _FIRST_ESTIMATE and record.seconds < _PATIENCE
        return record.iteration > 0 and not early and monotonic() >= self._next

    def write(self, record: Iteration) -> bool:
        """Write the estimates so far; not while p is one everywhere, which shows nothing."""
        began = monotonic()
        assert record.current is not None
        estimate = record.current()
        p = estimate.detection(self._sample)
        telling = bool(p.max(initial=0.0) > 1.001 * p.min(initial=1.0))
        if telling:
            try:
                with atomic(self._path) as partial:
                    estimate.save(partial)
                self.written += 1
            except OSError:  # no room: the fit goes on, and its result says it
                telling = False
        cost = monotonic() - began
        pause = max(_PAUSE, _PAUSE_PER_COST * cost) if telling else _PAUSE_PER_LOOK * cost
        self._next = monotonic() + pause
        return telling


class Slowly:
    """Reports where a method is, not too often."""

    def __init__(self, report: Any) -> None:
        self._report = report
        self._next = 0.0

    def __call__(
        self,
        trial: int,
        record: Iteration,
        look: Callable[[], dict[str, float]] | None = None,
    ) -> None:
        """Report an iteration, with the errors that `look` finds."""
        self._report.check()
        began = monotonic()
        if began < self._next:
            return
        values = {} if look is None else look()
        self._report(trial=trial, iteration=record.iteration, seconds=record.seconds, values=values)
        cost = monotonic() - began
        self._next = monotonic() + max(_REPORT_PAUSE, _REPORT_PAUSE_PER_COST * cost)

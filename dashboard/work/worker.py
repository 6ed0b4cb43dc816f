"""The process that fits; see :mod:`dashboard.work.serving` for how it is spoken to.

::

    in   {"run": id, "counts": path, "settings": {...}, "result": path, "so_far": path}
    out  {"id": id, "iteration": t, "objective": v, "seconds": s}
    out  {"id": id, "estimate": n}

An estimate is the n-th fit written to `so_far`, which is there as long as the job runs.
"""

from __future__ import annotations

import json
import os
import warnings
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

from dashboard.work.serving import Reports, serve
from uncletc import ConvergenceWarning, CountTensor, Fit, FitSettings, Iteration, fit

_FIRST_ESTIMATE = 11  # iterations before estimates so far are looked at, when λ has gone first;
_PATIENCE = 0.6  # or seconds, where iterations are slow
_PAUSE = 0.5  # seconds at least between two of them, and
_PAUSE_PER_COST = 4.0  # times what the last one took, so that a fit is not much slower
_PAUSE_PER_LOOK = 2.0  # times what a look took that showed nothing yet
_ROWS_COMPARED = 500


def main() -> None:
    """Run jobs one after another until standard input closes."""
    if hasattr(os, "nice"):
        os.nice(5)  # whoever draws the estimates comes first where processors are few
    serve(_run)


def _run(job: dict[str, Any], report: Reports) -> dict[str, Any]:
    counts = _counts(job["counts"])
    so_far = _SoFar(Path(job["so_far"]), counts)

    def tell(record: Iteration) -> None:
        report(iteration=record.iteration, objective=record.objective, seconds=record.seconds)
        if so_far.due(record) and so_far.write(record):
            report(estimate=so_far.written)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the page shows the stop reason
            found = fit(counts, FitSettings.from_json(json.dumps(job["settings"])), callback=tell)
    finally:
        Path(job["so_far"]).unlink(missing_ok=True)
    _save(found, Path(job["result"]))
    return {"message": found.stop.value}


@lru_cache(maxsize=2)
def _counts(path: str) -> CountTensor:
    """Read counts once: most fits are of the same ones as the fit before."""
    return CountTensor.load(path)


class _SoFar:
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
        early = record.iteration < _FIRST_ESTIMATE and record.seconds < _PATIENCE
        return record.iteration > 0 and not early and monotonic() >= self._next

    def write(self, record: Iteration) -> bool:
        """Write the estimates so far; not while p is one everywhere, which shows nothing."""
        began = monotonic()
        assert record.current is not None
        found = record.current()
        p = found.detection(self._sample)
        telling = bool(p.max(initial=0.0) > 1.001 * p.min(initial=1.0))
        if telling:
            _save(found, self._path)
            self.written += 1
        cost = monotonic() - began
        pause = max(_PAUSE, _PAUSE_PER_COST * cost) if telling else _PAUSE_PER_LOOK * cost
        self._next = monotonic() + pause
        return telling


def _save(found: Fit, path: Path) -> None:
    partial = path.with_name(path.name + ".partial")
    found.save(partial)
    partial.replace(path)


if __name__ == "__main__":
    main()

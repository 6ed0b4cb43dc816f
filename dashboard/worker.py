"""The process that fits: reads jobs from standard input, reports on standard output.

One JSON object per line, both ways::

    in   {"run": id, "counts": path, "settings": {...}, "result": path, "so_far": path}
    in   {"cancel": id}
    out  {"id": id, "iteration": t, "objective": v, "seconds": s}
    out  {"id": id, "estimate": n}
    out  {"id": id, "end": "done" | "cancelled" | "failed", "message": sentence}

An estimate is the n-th fit written to `so_far`, which is there as long as the job runs. The
process stays alive between jobs so that no fit waits for torch to load, and ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any, TextIO

from uncletc import ConvergenceWarning, CountTensor, Fit, FitSettings, Iteration, fit

_FIRST_ESTIMATE = 11  # iterations before estimates so far are looked at, when λ has gone first;
_PATIENCE = 0.6  # or seconds, where iterations are slow
_PAUSE = 0.5  # seconds at least between two of them, and
_PAUSE_PER_COST = 4.0  # times what the last one took, so that a fit is not much slower
_PAUSE_PER_LOOK = 2.0  # times what a look took that showed nothing yet
_ROWS_COMPARED = 500


class _Cancelled(Exception):  # noqa: N818, nothing went wrong
    """Ends a fit at once: it saves what a fit stopped by its callback would still work out."""


def main() -> None:
    """Run jobs one after another until standard input closes."""
    if hasattr(os, "nice"):
        os.nice(5)  # whoever draws the estimates comes first where processors are few
    reports, sys.stdout = sys.stdout, sys.stderr
    jobs: SimpleQueue[dict[str, Any]] = SimpleQueue()
    cancelled: set[str] = set()
    threading.Thread(target=_listen, args=(jobs, cancelled), daemon=True).start()
    while True:
        job = jobs.get()
        try:
            if job["run"] in cancelled:
                raise _Cancelled
            end, message = _run(job, cancelled, reports)
        except _Cancelled:
            end, message = "cancelled", "It was cancelled."
        except Exception as error:  # the page shows the sentence; this process must live on
            end, message = "failed", f"{type(error).__name__}: {error}"
        cancelled.discard(job["run"])
        Path(job["so_far"]).unlink(missing_ok=True)
        _report(reports, {"id": job["run"], "end": end, "message": message})


def _listen(jobs: SimpleQueue[dict[str, Any]], cancelled: set[str]) -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if "cancel" in order:
            cancelled.add(order["cancel"])
        else:
            jobs.put(order)
    os._exit(0)


def _run(job: dict[str, Any], cancelled: set[str], reports: TextIO) -> tuple[str, str]:
    name = job["run"]
    counts = _counts(job["counts"])
    so_far = _SoFar(Path(job["so_far"]), counts)

    def tell(record: Iteration) -> None:
        _report(
            reports,
            {
                "id": name,
                "iteration": record.iteration,
                "objective": record.objective,
                "seconds": record.seconds,
            },
        )
        if name in cancelled:
            raise _Cancelled
        if so_far.due(record) and so_far.write(record):
            _report(reports, {"id": name, "estimate": so_far.written})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the page shows the stop reason
        found = fit(
            counts,
            FitSettings.from_json(json.dumps(job["settings"])),
            callback=tell,
        )
    _save(found, Path(job["result"]))
    return "done", found.stop.value


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


def _report(reports: TextIO, message: dict[str, Any]) -> None:
    reports.write(json.dumps(message) + "\n")
    reports.flush()


if __name__ == "__main__":
    main()

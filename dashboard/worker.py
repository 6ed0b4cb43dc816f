"""The process that fits: reads jobs from standard input, reports on standard output.

One JSON object per line, both ways::

    in   {"run": id, "counts": path, "settings": {...}, "result": path}
    in   {"cancel": id}
    out  {"id": id, "iteration": t, "objective": v, "seconds": s}
    out  {"id": id, "end": "done" | "cancelled" | "failed", "message": sentence}

It stays alive between jobs so that no fit waits for torch to load, and ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

from uncletc import ConvergenceWarning, CountTensor, FitSettings, Iteration, StopReason, fit


def main() -> None:
    """Run jobs one after another until standard input closes."""
    reports, sys.stdout = sys.stdout, sys.stderr
    jobs: SimpleQueue[dict[str, Any]] = SimpleQueue()
    cancelled: set[str] = set()
    threading.Thread(target=_listen, args=(jobs, cancelled), daemon=True).start()
    while True:
        job = jobs.get()
        try:
            end, message = _run(job, cancelled, reports)
        except Exception as error:  # the page shows the sentence; this process must live on
            end, message = "failed", f"{type(error).__name__}: {error}"
        _report(reports, {"id": job["run"], "end": end, "message": message})


def _listen(jobs: SimpleQueue[dict[str, Any]], cancelled: set[str]) -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if "cancel" in order:
            cancelled.add(order["cancel"])
        else:
            cancelled.discard(order["run"])  # asked for again after it was cancelled
            jobs.put(order)
    os._exit(0)


def _run(job: dict[str, Any], cancelled: set[str], reports: TextIO) -> tuple[str, str]:
    name = job["run"]

    def tell(record: Iteration) -> bool:
        _report(
            reports,
            {
                "id": name,
                "iteration": record.iteration,
                "objective": record.objective,
                "seconds": record.seconds,
            },
        )
        return name in cancelled

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the page shows the stop reason
        found = fit(
            CountTensor.load(job["counts"]),
            FitSettings.from_json(json.dumps(job["settings"])),
            callback=tell,
        )
    if found.stop is StopReason.CALLBACK:
        return "cancelled", found.stop.value
    partial = Path(job["result"] + ".partial")
    found.save(partial)
    partial.replace(job["result"])
    return "done", found.stop.value


def _report(reports: TextIO, message: dict[str, Any]) -> None:
    reports.write(json.dumps(message) + "\n")
    reports.flush()


if __name__ == "__main__":
    main()

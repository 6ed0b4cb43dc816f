"""The process that runs methods: reads orders from standard input, reports on standard output.

One JSON object per line, both ways::

    in   {"run": id, "task": "evaluate", "counts": path, "method": name, "settings": JSON text,
          "kind": "entry" | "fibre", "trials": n, "n_folds": 5, "seed": s}
    in   {"run": id, "task": "cell", "table": …, "column": …, "method": …, "seed": s, "reading": …}
    in   {"cancel": id}
    out  {"id": id, "trial": k, "iteration": t, "seconds": s}            and, of a cell, "errors"
    out  {"id": id, "end": "done" | "cancelled" | "failed", "message": sentence, "result": {…}}

The process stays alive between orders and ends with its input. Methods keep to one thread.
"""

from __future__ import annotations

import json
import math
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from queue import SimpleQueue
from time import monotonic, perf_counter
from typing import Any, TextIO

import numpy as np

from uncletc import METHODS, CountTensor, Truth, evaluation, rate_tensor, simulate, tables
from uncletc.baselines import Prediction, Progress
from uncletc.metrics import mae_detection, mae_rate

_PAUSE = 0.1  # seconds at least between two reports, and between two looks at errors
_PAUSE_PER_COST = 3.0  # times what the last look took, so that a fit is not much slower


class _Cancelled(Exception):  # noqa: N818, nothing went wrong
    """Ends a fit at once."""


def main() -> None:
    """Run orders one after another until standard input closes."""
    reports, sys.stdout = sys.stdout, sys.stderr
    orders: SimpleQueue[dict[str, Any]] = SimpleQueue()
    cancelled: set[str] = set()
    threading.Thread(target=_listen, args=(orders, cancelled), daemon=True).start()
    while True:
        order = orders.get()
        name, ended = order["run"], {"message": ""}
        teller = _Teller(name, cancelled, reports)
        try:
            teller.check()
            run = run_evaluation if order["task"] == "evaluate" else run_cell
            ended |= {"end": "done", "result": run(order, teller)}
        except _Cancelled:
            ended = {"end": "cancelled", "message": "It was cancelled."}
        except Exception as error:  # the page shows the sentence; this process must live on
            ended = {"end": "failed", "message": str(error) or type(error).__name__}
        cancelled.discard(name)
        _write(reports, {"id": name} | ended)


def _listen(orders: SimpleQueue[dict[str, Any]], cancelled: set[str]) -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if "cancel" in order:
            cancelled.add(order["cancel"])
        else:
            orders.put(order)
    os._exit(0)


class _Teller:
    """Reports where an order is, not too often, and ends it where it was cancelled."""

    def __init__(self, name: str, cancelled: set[str], reports: TextIO) -> None:
        self._name, self._cancelled, self._reports = name, cancelled, reports
        self._next = 0.0

    def check(self) -> None:
        if self._name in self._cancelled:
            raise _Cancelled

    def __call__(
        self,
        trial: int,
        record: Progress,
        look: Callable[[], dict[str, float]] | None = None,
    ) -> None:
        """Report an iteration, with the errors that `look` finds."""
        self.check()
        began = monotonic()
        if began < self._next:
            return
        report = {"trial": trial, "iteration": record.iteration, "seconds": record.seconds}
        errors = {"errors": look()} if look is not None else {}
        _write(self._reports, {"id": self._name} | report | errors)
        self._next = monotonic() + max(_PAUSE, _PAUSE_PER_COST * (monotonic() - began))


def run_evaluation(order: dict[str, Any], tell: Callable[[int, Progress], None]) -> dict[str, Any]:
    """Cross-validate, and return each trial as plain numbers."""
    method = METHODS[order["method"]]
    wanted = order["trials"]

    def follow(trial: int, record: Progress) -> bool:
        tell(trial, record)
        return trial >= wanted  # a quick look needs no more

    found = evaluation.evaluate(
        _counts(order["counts"]),
        method,
        method.settings.from_json(order["settings"]),
        n_folds=order["n_folds"],
        kind=order["kind"],
        seed=order["seed"],
        callback=follow,
    )
    trials = [
        asdict(each.test)
        | {
            "iteration": each.iteration,
            "seconds": each.seconds,
            "coverage": each.coverage[0.9],
            "phi": each.phi,
        }
        for each in found.trials
    ]
    return {"method": method.name, "trials": trials}


@lru_cache(maxsize=1)
def _counts(path: str) -> CountTensor:
    """Read counts once; their name is their digest, and their file may go once it was read."""
    return CountTensor.load(path)


def run_cell(
    order: dict[str, Any],
    tell: Callable[[int, Progress, Callable[[], dict[str, float]] | None], None],
) -> dict[str, Any]:
    """Run one trial of a cell; the values by metric, the errors on the way, and seconds."""
    table, column, reading = order["table"], order["column"], order["reading"]
    arguments = tables.TABLES[table].column(column).arguments(reading)
    counts, truth = simulate(**arguments, seed=order["seed"])
    curve: list[tuple[int, dict[str, float]]] = []

    def follow(record: Progress) -> None:
        def look() -> dict[str, float]:
            assert record.current is not None
            found = cell_errors(record.current(), counts, truth, order["method"])
            curve.append((record.iteration, found))
            return found

        tell(0, record, look if record.iteration and record.current else None)

    began = perf_counter()
    values = tables.run_cell(
        table, column, order["method"], order["seed"], reading=reading, callback=follow
    )
    return {"values": values, "curve": curve, "seconds": perf_counter() - began}


def cell_errors(
    found: Prediction, counts: CountTensor, truth: Truth, method: str
) -> dict[str, float]:
    """MAE_λ over all entries and, where the method has a p, MAE_p of g over Ξ; NaN at no mean."""
    if method == tables.KNOWN:
        rate = rate_tensor(found.fit.factors)
    else:
        everywhere = np.argwhere(np.ones(counts.shape, dtype=bool))
        rate = found.rate(everywhere).reshape(counts.shape)
    values = {"MAE_λ": _or_nan(mae_rate, rate, truth.rate)}
    if hasattr(found, "detection") and found.n_attributes and method != tables.KNOWN:
        true_p = truth.detection[tuple(counts.attribute_indices.T)]
        values["MAE_p"] = _or_nan(mae_detection, found.detection(counts.attributes), true_p)
    return values


def _or_nan(measure: Callable[[Any, Any], float], estimate: Any, truth: Any) -> float:
    try:
        return measure(estimate, truth)
    except ValueError:  # an unfinished fit may be zero everywhere
        return math.nan


def _write(reports: TextIO, message: dict[str, Any]) -> None:
    reports.write(json.dumps(message) + "\n")
    reports.flush()


if __name__ == "__main__":
    main()

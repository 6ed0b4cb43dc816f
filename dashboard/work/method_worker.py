"""The process that runs methods; see :mod:`dashboard.work.serving` for how it is spoken to.

::

    in   {"run": id, "task": "evaluate", "counts": path, "method": name, "settings": JSON text,
          "kind": "entry" | "fibre", "trials": n, "n_folds": 5, "seed": s}
    in   {"run": id, "task": "cell", "table": …, "column": …, "method": …, "seed": s, "reading": …}
    out  {"id": id, "trial": k, "iteration": t, "seconds": s}            and, of a cell, "errors"
    out  {"id": id, "end": …, "result": {…}}

Methods keep to one thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from dashboard.work.serving import Reports, serve
from uncletc import METHODS, CountTensor, Truth, evaluation, rate_tensor, simulate, tables
from uncletc.baselines import Prediction, Progress
from uncletc.metrics import mae_detection, mae_rate

_PAUSE = 0.1  # seconds at least between two reports, and between two looks at errors
_PAUSE_PER_COST = 3.0  # times what the last look took, so that a fit is not much slower


def main() -> None:
    """Run orders one after another until standard input closes."""
    serve(_run)


def _run(order: dict[str, Any], report: Reports) -> dict[str, Any]:
    run = run_evaluation if order["task"] == "evaluate" else run_cell
    return {"result": run(order, _Teller(report))}


class _Teller:
    """Reports where an order is, not too often."""

    def __init__(self, report: Reports) -> None:
        self._report = report
        self._next = 0.0

    def __call__(
        self,
        trial: int,
        record: Progress,
        look: Callable[[], dict[str, float]] | None = None,
    ) -> None:
        """Report an iteration, with the errors that `look` finds."""
        self._report.check()
        began = monotonic()
        if began < self._next:
            return
        errors = {"errors": look()} if look is not None else {}
        where = {"trial": trial, "iteration": record.iteration, "seconds": record.seconds}
        self._report(**where, **errors)
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


if __name__ == "__main__":
    main()

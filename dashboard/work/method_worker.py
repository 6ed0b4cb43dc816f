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

from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from time import monotonic, perf_counter
from typing import Any

from dashboard.work.serving import Reports, serve
from uncletc import METHODS, CountTensor, Iteration, evaluation, simulate, tables

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
        record: Iteration,
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


def run_evaluation(order: dict[str, Any], tell: Callable[[int, Iteration], None]) -> dict[str, Any]:
    """Cross-validate, and return each trial as plain numbers."""
    method = METHODS[order["method"]]
    wanted = order["trials"]

    def follow(trial: int, record: Iteration) -> bool:
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
    return {"method": method.name, "trials": plain_numbers(found)}


def plain_numbers(found: evaluation.Evaluation) -> list[dict[str, Any]]:
    """Each trial of an evaluation as numbers by name."""
    return [
        asdict(each.test)
        | {
            "iteration": each.iteration,
            "seconds": each.seconds,
            "coverage": each.coverage[0.9],
            "phi": each.phi,
        }
        for each in found.trials
    ]


@lru_cache(maxsize=1)
def _counts(path: str) -> CountTensor:
    """Read counts once; their name is their digest, and their file may go once it was read."""
    return CountTensor.load(path)


def run_cell(
    order: dict[str, Any],
    tell: Callable[[int, Iteration, Callable[[], dict[str, float]] | None], None],
) -> dict[str, Any]:
    """Run one trial of a cell; the values by metric, the errors on the way, and seconds."""
    table, column, reading = order["table"], order["column"], order["reading"]
    arguments = tables.TABLES[table].column(column).arguments(reading)
    counts, truth = simulate(**arguments, seed=order["seed"])
    curve: list[tuple[int, dict[str, float]]] = []

    def follow(record: Iteration) -> None:
        def look() -> dict[str, float]:
            assert record.current is not None
            errors = tables.errors(record.current(), counts, truth, order["method"])
            found = {name: errors[name] for name in ("MAE_λ", "MAE_p") if name in errors}
            curve.append((record.iteration, found))
            return found

        tell(0, record, look if record.iteration and record.current else None)

    began = perf_counter()
    values = tables.run_cell(
        table, column, order["method"], order["seed"], reading=reading, callback=follow
    )
    return {"values": values, "curve": curve, "seconds": perf_counter() - began}


if __name__ == "__main__":
    main()

"""The process that works on orders; see :mod:`dashboard.work.serving` for how it is spoken to.

::

    in   {"run": id, "order": kind, …, "counts": path, "result": path, "so_far": path,
          "begins_with": path, "program": version}
    out  {"id": id, "iteration": t, "seconds": s, "trial": k, "values": {name: number}}
    out  {"id": id, "estimate": n}

An order is read by :func:`dashboard.work.orders.order_from`. Its result is written to `result`. An
estimate is the n-th unfinished fit written to `so_far`, which is there as long as the order runs.
`begins_with`, where an order has it, is the result of another, if that was ever made; `program` is
that of a server elsewhere, whose results must be this one's.
"""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dashboard.work.files import atomic, remove, trouble
from dashboard.work.iterations import limits_before
from dashboard.work.order import Numbers, program
from dashboard.work.orders import (
    N_FOLDS,
    AttributeGain,
    Evaluate,
    FitOrder,
    Recovery,
    order_from,
)
from dashboard.work.recovery import recover
from dashboard.work.reports import Slowly, SoFar
from dashboard.work.serving import serve
from uncletc import (
    METHODS,
    ConvergenceWarning,
    CountTensor,
    Fit,
    Iteration,
    MisfitWarning,
    checking,
    compare,
    fit_on,
)

Report = Callable[..., None]

_COUNTS_KEPT = 2  # most orders are of the same counts as the order before


def main() -> None:
    """Work on orders, one after another, until standard input closes."""
    if hasattr(os, "nice"):
        os.nice(5)  # whoever draws the estimates comes first where processors are few
    counts: OrderedDict[str, CountTensor] = OrderedDict()

    def read(path: str) -> CountTensor:
        if path not in counts:
            try:
                counts[path] = CountTensor.load(path)
            except OSError as error:
                raise RuntimeError(f"its counts could not be read: {trouble(error)}.") from error
        counts.move_to_end(path)
        while len(counts) > _COUNTS_KEPT:
            counts.popitem(last=False)
        return counts[path]

    def work(message: dict[str, Any], report: Report) -> None:
        if (theirs := message.get("program", program())) != program():
            raise RuntimeError(
                f"its Dask worker has uncletc {program()} and this server {theirs} (version and "
                "results): install the same at both."
            )
        order = order_from(message, read(message["counts"]) if "counts" in message else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the page shows the stop reason
            warnings.simplefilter("ignore", MisfitWarning)  # and the misfit
            if isinstance(order, FitOrder):
                result = run_fit(order, report, Path(message["so_far"]), _before(message))
            else:
                result = _RUNS[type(order)](order, report)
        try:
            with atomic(Path(message["result"])) as partial:
                order.save(result, partial)
        except OSError as error:
            raise RuntimeError(f"its result could not be kept: {trouble(error)}.") from error

    serve(work, lambda path: counts.pop(path, None))


def _before(message: dict[str, Any]) -> Fit | None:
    """The fit that an order goes on from, where it is still kept."""
    try:
        return FitOrder.load(Path(message["begins_with"]))
    except (KeyError, FileNotFoundError, ValueError):
        return None


def run_fit(order: FitOrder, report: Report, so_far: Path, before: Fit | None = None) -> Fit:
    """Fit, from the fit before where it is kept; report iterations, and estimates so far."""
    estimates = SoFar(so_far, order.counts)

    def follow(record: Iteration) -> None:
        values = {"objective": record.objective}
        report(iteration=record.iteration, seconds=record.seconds, values=values)
        if estimates.due(record) and estimates.write(record):
            report(estimate=estimates.written)

    try:
        limits = limits_before(order.settings)
        return fit_on(order.counts, order.settings, limits, start=before, callback=follow)
    finally:
        remove(so_far)


def run_evaluation(order: Evaluate, report: Any) -> Numbers:
    """Cross-validate, and return each trial as plain numbers."""
    slowly = Slowly(report)

    def follow(trial: int, record: Iteration) -> bool:
        slowly(trial, record)
        return trial >= order.trials  # a quick look needs no more

    whole = compare.evaluate(
        order.counts,
        METHODS[order.method],
        order.settings,
        n_folds=N_FOLDS,
        kind=order.kind,
        seed=order.seed,
        callback=follow,
    )
    return {"method": order.method, "trials": plain_numbers(whole)}


def run_gain(order: AttributeGain, report: Any) -> checking.Gain:
    """Measure what attributes of detection add."""
    return checking.gain_of_attributes(
        order.counts,
        order.settings,
        n_folds=N_FOLDS,
        kind=order.kind,
        seed=order.seed,
        callback=Slowly(report),
    )


def plain_numbers(whole: compare.Evaluation) -> list[Numbers]:
    """Each trial of an evaluation as numbers by name."""
    return [
        asdict(each.test)
        | {
            "iteration": each.iteration,
            "seconds": each.seconds,
            "coverage": each.coverage[0.9],
            "phi": each.phi,
            "mu": each.law.mu,
            "power": each.law.power,
        }
        for each in whole.trials
    ]


_RUNS: dict[type, Callable[[Any, Any], Any]] = {
    Recovery: recover,
    Evaluate: run_evaluation,
    AttributeGain: run_gain,
}

if __name__ == "__main__":
    main()

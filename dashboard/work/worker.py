"""The process that works on orders; see :mod:`dashboard.work.serving` for how it is spoken to.

::

    in   {"run": id, "order": kind, …, "counts": path, "result": path, "so_far": path,
          "begins_with": path}
    out  {"id": id, "iteration": t, "seconds": s, "trial": k, "values": {name: number}}
    out  {"id": id, "estimate": n}

An order is read by :func:`dashboard.work.orders.order_from`. Its result is written to `result`. An
estimate is the n-th unfinished fit written to `so_far`, which is there as long as the order runs.
`begins_with`, where an order has it, is the result of another, if that was ever made.
"""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

from dashboard.work.files import atomic, trouble
from dashboard.work.iterations import limits_before
from dashboard.work.order import Numbers
from dashboard.work.orders import (
    N_FOLDS,
    AttributeGain,
    Cell,
    Evaluate,
    FitOrder,
    Recovery,
    TryDesign,
    order_from,
)
from dashboard.work.recovery import recover
from dashboard.work.serving import serve
from uncletc import (
    METHODS,
    ConvergenceWarning,
    CountTensor,
    Fit,
    Iteration,
    MisfitWarning,
    checking,
    evaluation,
    fit_on,
    planning,
    simulate,
)
from uncletc.paper import tables

Report = Callable[..., None]

_FIRST_ESTIMATE = 11  # iterations before estimates so far are looked at, when λ has gone first;
_PATIENCE = 0.6  # or seconds, where iterations are slow
_PAUSE = 0.5  # seconds at least between two of them, and
_PAUSE_PER_COST = 4.0  # times what the last one took, so that a fit is not much slower
_PAUSE_PER_LOOK = 2.0  # times what a look took that showed nothing yet
_ROWS_COMPARED = 500
_REPORT_PAUSE = 0.1  # seconds at least between two reports of a method, and
_REPORT_PAUSE_PER_COST = 3.0  # times what the last one took
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
        order = order_from(message, read(message["counts"]) if "counts" in message else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the page shows the stop reason
            warnings.simplefilter("ignore", MisfitWarning)  # and the misfit
            if isinstance(order, FitOrder):
                result = run_fit(order, report, Path(message["so_far"]), _before(message))
            elif isinstance(order, TryDesign):
                result = run_design(order, report, Path(message["begins_with"]))
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
    estimates = _SoFar(so_far, order.counts)

    def follow(record: Iteration) -> None:
        values = {"objective": record.objective}
        report(iteration=record.iteration, seconds=record.seconds, values=values)
        if estimates.due(record) and estimates.write(record):
            report(estimate=estimates.written)

    try:
        limits = limits_before(order.settings)
        return fit_on(order.counts, order.settings, limits, start=before, callback=follow)
    finally:
        so_far.unlink(missing_ok=True)


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


class _Slowly:
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


def run_evaluation(order: Evaluate, report: Any) -> Numbers:
    """Cross-validate, and return each trial as plain numbers."""
    slowly = _Slowly(report)

    def follow(trial: int, record: Iteration) -> bool:
        slowly(trial, record)
        return trial >= order.trials  # a quick look needs no more

    whole = evaluation.evaluate(
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
        callback=_Slowly(report),
    )


def run_design(order: TryDesign, report: Any, fitted: Path) -> Numbers:
    """Simulate a design and refit it, from the fit that was made before, where there is one."""
    slowly, along = _Slowly(report), order.along or None
    try:
        estimate = FitOrder.load(fitted)
    except (OSError, ValueError):
        limits = limits_before(order.settings)
        estimate = fit_on(
            order.counts, order.settings, limits, callback=lambda record: slowly(0, record)
        )
    rows = planning.try_design(
        order.counts,
        estimate,
        order.design,
        repeats=order.repeats,
        seed=order.seed,
        along=along,
        callback=slowly,
    )
    return {"rows": rows, "fitted": planning.widths_of_fit(estimate, order.counts, along)}


def plain_numbers(whole: evaluation.Evaluation) -> list[Numbers]:
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


def run_cell(order: Cell, report: Any) -> Numbers:
    """Run one trial of a cell, and look at its errors on the way."""
    column = tables.TABLES[order.table].column(order.column)
    counts, truth = simulate(**column.arguments(order.reading), seed=order.seed)
    slowly = _Slowly(report)
    curve: list[tuple[int, dict[str, float]]] = []

    def follow(record: Iteration) -> None:
        def look() -> dict[str, float]:
            assert record.current is not None
            errors = tables.errors(record.current(), counts, truth, order.method)
            values = {name: errors[name] for name in ("MAE_λ", "MAE_p") if name in errors}
            curve.append((record.iteration, values))
            return values

        slowly(0, record, look if record.iteration and record.current else None)

    began = perf_counter()
    values = tables.run_cell(
        order.table,
        order.column,
        order.method,
        order.seed,
        reading=order.reading,
        callback=follow,
    )
    return {"values": values, "curve": curve, "seconds": perf_counter() - began}


_RUNS: dict[type, Callable[[Any, Any], Any]] = {
    Recovery: recover,
    Evaluate: run_evaluation,
    AttributeGain: run_gain,
    Cell: run_cell,
}

if __name__ == "__main__":
    main()

"""The process that works on orders, and how it is spoken to.

Messages come on standard input and reports leave on what was standard output, one JSON object per
line::

    in   {"run": id, "order": kind, …, "counts": path, "result": path, "so_far": path,
          "begins_with": path, "program": version}
    in   {"cancel": id}
    in   {"forget": folder}      of counts that no order will be of any more
    out  {"id": id, "iteration": t, "seconds": s, "trial": k, "values": {name: number}}
    out  {"id": id, "estimate": n}
    out  {"id": id, "end": "done" | "cancelled" | "failed", "message": sentence}

An order is read by :func:`dashboard.work.orders.order_from`. Its result is written to `result`. An
estimate is the n-th unfinished fit written to `so_far`, which is there as long as the order runs.
`begins_with`, where an order has it, is the result of another, if that was ever made; `program` is
that of the server, whose results must be this one's.

The process works on one order after another, stays alive between them, so that none waits for torch
to load, and ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any, Protocol, TextIO

import numpy as np

from dashboard.work.orders import (
    N_FOLDS,
    AttributeGain,
    Evaluate,
    FitOrder,
    Numbers,
    Recovery,
    limits_before,
    order_from,
    program,
)
from dashboard.work.results import atomic, remove, trouble
from uncletc import (
    METHODS,
    ConvergenceWarning,
    CountTensor,
    Fit,
    Iteration,
    MisfitWarning,
    Truth,
    checking,
    compare,
    continue_fit,
    fit,
    metrics,
    simulate,
)

_COUNTS_KEPT = 2  # most orders are of the same counts as the order before
_FIRST_ESTIMATE = 11  # iterations before estimates so far are looked at, when λ has gone first;
_PATIENCE = 0.6  # or seconds, where iterations are slow
_PAUSE = 0.5  # seconds at least between two of them, and
_PAUSE_PER_COST = 4.0  # times what the last one took, so that a fit is not much slower
_PAUSE_PER_LOOK = 2.0  # times what an observation process took that showed nothing yet
_ROWS_COMPARED = 500
_REPORT_PAUSE = 0.1  # seconds at least between two reports of a method, and
_REPORT_PAUSE_PER_COST = 3.0  # times what the last one took
_N_MOMENTS = 25  # of a curve of errors


class Cancelled(Exception):  # noqa: N818, nothing went wrong
    """Ends work on an order at once."""


class Report(Protocol):
    """What work on an order is given to report with."""

    def __call__(self, **report: Any) -> None:
        """Send a report, or raise `Cancelled` where nobody waits for the order any more."""

    def check(self) -> None:
        """Raise `Cancelled` where nobody waits for the order any more."""


class _Reports:
    def __init__(self, run: str, cancelled: set[str], file: TextIO) -> None:
        self._run, self._cancelled, self._file = run, cancelled, file

    def __call__(self, **report: Any) -> None:
        self.check()
        _write(self._file, {"id": self._run} | report)

    def check(self) -> None:
        if self._run in self._cancelled:
            raise Cancelled


def main() -> None:
    """Work on orders, one after another, until standard input closes."""
    if hasattr(os, "nice"):
        os.nice(5)  # whoever draws the estimates comes first where processors are few
    sys.stdout.flush()
    # Standard output is for reports; what anyone prints, native code too, goes to errors.
    file = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    messages: SimpleQueue[dict[str, Any]] = SimpleQueue()
    cancelled: set[str] = set()
    threading.Thread(target=_listen, args=(messages, cancelled), daemon=True).start()
    counts: OrderedDict[str, CountTensor] = OrderedDict()
    while True:
        message = messages.get()
        if "forget" in message:
            for path in [path for path in counts if Path(path).parent == Path(message["forget"])]:
                del counts[path]
            continue
        run = message["run"]
        end = perform(message, _Reports(run, cancelled, file), counts)
        cancelled.discard(run)
        _write(file, {"id": run} | end)


def _listen(messages: SimpleQueue[dict[str, Any]], cancelled: set[str]) -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "cancel" in message:
            cancelled.add(message["cancel"])
        else:
            messages.put(message)
    os._exit(0)


def _write(file: TextIO, report: dict[str, Any]) -> None:
    file.write(json.dumps(report) + "\n")
    file.flush()


def perform(
    message: dict[str, Any], report: Report, counts: OrderedDict[str, CountTensor] | None = None
) -> dict[str, str]:
    """Work on an order, write its result, and return how it ended and, in a sentence, why.

    Parameters
    ----------
    message : dict
    report : Report
    counts : OrderedDict of str to CountTensor, optional
        Counts of orders before, by their path; grows.
    """
    try:
        report.check()
        if (theirs := message.get("program", program())) != program():
            raise RuntimeError(
                f"its Dask worker has uncletc {program()} and this server {theirs} (version and "
                "results): install the same at both."
            )
        path = message.get("counts")
        order = order_from(message, None if path is None else _counts(path, counts))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the page shows the stop reason
            warnings.simplefilter("ignore", MisfitWarning)  # and the misfit
            if isinstance(order, FitOrder):
                result: Any = run_fit(order, report, Path(message["so_far"]), _before(message))
            else:
                result = _RUNS[type(order)](order, report)
        try:
            with atomic(Path(message["result"])) as partial:
                order.save(result, partial)
        except OSError as error:
            raise RuntimeError(f"its result could not be kept: {trouble(error)}.") from error
    except Cancelled:
        return {"end": "cancelled", "message": "It was cancelled."}
    except OSError as error:  # its own words name paths
        return {"end": "failed", "message": f"{trouble(error)}."}
    except Exception as error:  # the page shows the sentence; this process must live on
        return {"end": "failed", "message": str(error) or type(error).__name__}
    return {"end": "done", "message": ""}


def _counts(path: str, known: OrderedDict[str, CountTensor] | None) -> CountTensor:
    known = OrderedDict() if known is None else known
    if path not in known:
        try:
            known[path] = CountTensor.load(path)
        except OSError as error:
            raise RuntimeError(f"its counts could not be read: {trouble(error)}.") from error
    known.move_to_end(path)
    while len(known) > _COUNTS_KEPT:
        known.popitem(last=False)
    return known[path]


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
        return continue_fit(order.counts, order.settings, limits, start=before, callback=follow)
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
            "coverage": each.coverage,
            "phi": each.phi,
            "mu": each.law.mu,
            "power": each.law.power,
        }
        for each in whole.trials
    ]


def recover(order: Recovery, report: Callable[..., None] = lambda **_: None) -> Numbers:
    """Simulate, fit, and measure errors at some iterations, evenly spread on a log scale.

    Parameters
    ----------
    order : Recovery
    report : callable, optional
        Takes iteration, seconds and values, by name.
    """
    counts, truth = simulate(**order.simulation)
    last = max(order.settings.max_iter, 1)
    moments = set(np.geomspace(1, last, _N_MOMENTS).round().astype(int).tolist())
    curve: list[tuple[int, dict[str, float]]] = []

    def follow(record: Iteration) -> None:
        values: dict[str, float] = {}
        if record.iteration in moments and record.current is not None:
            values = recovery_errors(record.current(), truth)
            curve.append((record.iteration, values))
        report(iteration=record.iteration, seconds=record.seconds, values=values)

    estimate = fit(counts, order.settings, callback=follow)
    end = estimate.history[-1].iteration
    finished = (end, recovery_errors(estimate, truth))
    return {"curve": [*(pair for pair in curve if pair[0] < end), finished]}


def recovery_errors(estimate: Fit, truth: Truth) -> dict[str, float]:
    """MAE_λ and MAE_p of a fit over all entries; see :mod:`uncletc.compare.metrics`."""
    assert truth.attributes is not None
    p = estimate.detection(truth.attributes.reshape(-1, truth.attributes.shape[-1]))
    return {
        "rate": metrics.mae_rate(estimate.rate_tensor(), truth.rate),
        "detection": metrics.mae_detection(p, truth.detection.ravel()),
    }


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
        process: Callable[[], dict[str, float]] | None = None,
    ) -> None:
        """Report an iteration, with the errors that `process` finds."""
        self._report.check()
        began = monotonic()
        if began < self._next:
            return
        values = {} if process is None else process()
        self._report(trial=trial, iteration=record.iteration, seconds=record.seconds, values=values)
        cost = monotonic() - began
        self._next = monotonic() + max(_REPORT_PAUSE, _REPORT_PAUSE_PER_COST * cost)


_RUNS: dict[type, Callable[[Any, Any], Any]] = {
    Recovery: recover,
    Evaluate: run_evaluation,
    AttributeGain: run_gain,
}

if __name__ == "__main__":
    main()

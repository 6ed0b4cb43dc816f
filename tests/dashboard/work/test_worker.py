"""The numbers that the worker makes are those of the library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dashboard.work import worker
from dashboard.work.orders import AttributeGain, Recovery
from dashboard.work.worker import recover, recovery_errors
from uncletc import METHODS, FitSettings, Joint, checking, compare, fit, simulate

WORK = """
import os
from time import sleep
from dashboard.work import worker

class Order:
    def __init__(self, message, counts):
        self.do = message["do"]

    def save(self, result, path):
        path.write_text(result)

def run(order, report):
    print("noise")
    os.write(1, b"noise from native code\\n")
    report(step=1)
    if order.do == "fail":
        raise ValueError("the sentence")
    if order.do == "fail without words":
        raise KeyError
    while order.do == "wait":
        sleep(0.01)
        report.check()
    return "done"

worker.order_from, worker._RUNS[Order] = Order, run
worker.main()
"""


class Heard(list[dict[str, Any]]):
    """Reports, as a worker sends them."""

    def __call__(self, **report: Any) -> None:
        self.append(report)

    def check(self) -> None:
        """Nobody cancels."""


@pytest.fixture
def every_report(monkeypatch):
    monkeypatch.setattr(worker, "_REPORT_PAUSE", 0)
    monkeypatch.setattr(worker, "_REPORT_PAUSE_PER_COST", 0)
    return Heard()


def test_an_evaluation_has_the_scores_of_the_library(small, comparison, every_report):
    order = comparison(trials=2, kind="fibre", seed=4)
    result = worker.run_evaluation(order, every_report)
    whole = compare.evaluate(small, METHODS[order.method], order.settings, kind="fibre", seed=4)
    assert result["method"] == "NTF-CPD-KL"
    assert len(result["trials"]) == 2
    for mine, theirs in zip(result["trials"], whole.trials, strict=False):
        for name in ("rrmse", "deviance", "mae", "auroc", "auprc", "n"):
            assert mine[name] == pytest.approx(getattr(theirs.test, name), nan_ok=True)
        assert mine["coverage"] == theirs.coverage[0.9]
        assert mine["iteration"] == theirs.iteration
    trials = [report["trial"] for report in every_report]
    assert set(trials) == {0, 1, 2}  # the third is left at its start
    assert trials.count(2) == 1


@pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
def test_a_gain_is_that_of_the_library_and_each_fit_is_reported(small, every_report):
    settings = FitSettings(rank=2, hidden=(), max_iter=5)
    order = AttributeGain(counts=small, settings=settings, kind="fibre", seed=1)
    found = worker.run_gain(order, every_report)
    assert found == checking.gain_of_attributes(small, settings, kind="fibre", seed=1)
    assert {report["trial"] for report in every_report} == set(range(order.trials))


@pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
def test_the_curve_of_a_recovery_ends_at_the_fit():
    simulation = {"shape": (8, 7, 6), "rank": 2, "observed": 0.5, "attributed": 0.4, "seed": 3}
    settings = FitSettings(rank=2, solver=Joint(network=False))
    heard = Heard()
    curve = recover(Recovery(simulation=simulation, settings=settings), heard)["curve"]
    counts, truth = simulate(**simulation)
    estimate = fit(counts, settings)
    iterations = [iteration for iteration, _ in curve]
    assert iterations[0] == 1
    assert iterations == sorted(set(iterations))
    assert curve[-1] == (estimate.history[-1].iteration, recovery_errors(estimate, truth))
    assert curve[0][1]["rate"] > curve[-1][1]["rate"]
    assert len(heard) == len(estimate.history)


@pytest.fixture
def process():
    with subprocess.Popen(
        [sys.executable, "-c", WORK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(worker.__file__).parents[2],
    ) as started:
        yield started
        started.kill()


def ask(process, **order: Any) -> None:
    process.stdin.write(json.dumps(order) + "\n")
    process.stdin.flush()


def test_reports_errors_and_cancelling_on_the_pipe_and_nothing_printed_between(process, tmp_path):
    def heard() -> dict[str, Any]:
        return json.loads(process.stdout.readline())

    ask(process, run="a", do="this", result=str(tmp_path / "a"))
    ask(process, run="b", do="fail")
    ask(process, run="c", do="fail without words")
    ends = {"a": "done", "b": "failed", "c": "failed"}
    for (run, end), message in zip(ends.items(), ("", "the sentence", "KeyError"), strict=True):
        assert heard() == {"id": run, "step": 1}
        assert heard() == {"id": run, "end": end, "message": message}
    ask(process, run="d", do="wait")
    ask(process, run="e", do="this")
    assert heard() == {"id": "d", "step": 1}
    ask(process, cancel="e")
    ask(process, cancel="d")
    for run in "de":
        assert heard() == {"id": run, "end": "cancelled", "message": "It was cancelled."}
    ask(process, run="f", do="wait")
    assert heard()["step"] == 1
    process.stdin.close()
    assert process.wait(timeout=10) == 0  # it ends with its input

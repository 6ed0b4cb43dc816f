"""The numbers that orders give are those of the library, and how a process is spoken to."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboard.work import orders, worker
from dashboard.work.orders import FitOrder
from dashboard.work.wire import receive, send
from uncletc import METHODS, FitSettings, compare

WORK = """
import os
from time import sleep
from dashboard.work import worker

class Order:
    def __init__(self, message):
        self.do = message["do"]

    def encode(self, result):
        return result

    def work(self, report):
        print("noise")
        os.write(1, b"noise from native code\\n")
        report(b"data", step=1)
        if self.do == "fail":
            raise ValueError("the sentence")
        if self.do == "fail without words":
            raise KeyError
        while self.do == "wait":
            sleep(0.01)
            report()
        return b"the result"

worker.order_from = lambda message, counts: Order(message)
worker.program = lambda: "1"
worker.main()
"""


class Heard(list[dict[str, Any]]):
    """Reports, as a worker sends them."""

    def __call__(self, data=b"", **report):
        self.append(report | ({"data": data} if data else {}))


def test_an_evaluation_has_the_scores_of_the_library(small, comparison):
    every_report = Heard()
    order = comparison(trials=2, kind="fibre")
    result = order.work(every_report)
    whole = compare.evaluate(small, METHODS[order.method], order.settings, kind="fibre")
    assert len(result["trials"]) == 2
    for mine, theirs in zip(result["trials"], whole.trials, strict=False):
        for name in ("rrmse", "deviance", "mae", "auroc", "n"):
            assert mine[name] == pytest.approx(getattr(theirs.test, name), nan_ok=True)
        assert mine["coverage"] == theirs.coverage
    trials = [report["trial"] for report in every_report]
    assert set(trials) == {0, 1, 2}  # the third is left at its start
    assert trials.count(2) == 1


@pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
def test_a_fit_sends_estimates_once_p_differs(small, monkeypatch):
    monkeypatch.setattr(orders, "_PAUSE", 0)
    monkeypatch.setattr(orders, "_PATIENCE", 600)  # in which the first iterations are made
    heard = Heard()
    found = FitOrder(small, FitSettings(rank=2, hidden=(5,), max_iter=40)).work(heard)
    sent = [FitOrder.decode(each["data"]) for each in heard if "estimate" in each]
    assert sent
    assert sent[0].history[-1].iteration >= 11
    assert len([each for each in heard if "iteration" in each]) == len(found.history)


@pytest.mark.filterwarnings("ignore::uncletc.FitWarning")
def test_a_fit_of_another_rank_gives_first_estimates_and_nothing_else(small, monkeypatch):
    monkeypatch.setattr(orders, "_PAUSE", 0)  # others would follow
    monkeypatch.setattr(orders, "_PATIENCE", 0)
    few = FitOrder(small, FitSettings(rank=2, effects=("mode 1",)))
    assert replace(few, settings=replace(few.settings, rank=3), near=few).begins_with is None
    monkeypatch.setattr(orders, "_MANY", 0)
    order = FitOrder(small, FitSettings(rank=2, effects=("mode 1",), max_iter=12))
    more = replace(order, settings=replace(order.settings, rank=3), near=order)
    others = {"mu": 2.0, "effects": (), "seed": 1}
    unlike = [replace(more, settings=replace(more.settings, **{k: v})) for k, v in others.items()]
    assert [each.begins_with for each in (order, more, *unlike)] == [None, order, *[None] * 3]
    assert more == replace(more, near=None)
    heard = Heard()
    found = more.work(heard, order.work(Heard()))
    (first,) = (FitOrder.decode(each["data"]) for each in heard if "estimate" in each)
    assert (first.settings.rank, first.history[-1].iteration) == (3, 1)
    alone = more.work(alone_heard := Heard())
    assert any("estimate" in each for each in alone_heard)
    np.testing.assert_array_equal(found.rate(small.indices), alone.rate(small.indices))


@pytest.fixture
def process():
    with subprocess.Popen(
        [sys.executable, "-c", WORK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(worker.__file__).parents[2],
    ) as started:
        yield started
        started.kill()


def test_reports_errors_and_cancelling_on_the_pipe_and_nothing_printed_between(process):
    def ask(run, do):
        send(process.stdin, {"run": run, "do": do, "program": "1"}, b"", b"")

    def heard():
        return receive(process.stdout)

    ask("a", "this")
    ask("b", "fail")
    ask("c", "fail without words")
    for end, message in (("done", ""), ("failed", "the sentence"), ("failed", "KeyError")):
        assert heard() == ({}, [b""])  # it has begun
        assert heard() == ({"step": 1}, [b"data"])
        result = b"the result" if end == "done" else b""
        assert heard() == ({"end": end, "message": message}, [result])
    ask("d", "wait")
    ask("e", "this")
    assert [heard()[0] for _ in range(2)] == [{}, {"step": 1}]
    send(process.stdin, {"cancel": "e"})
    send(process.stdin, {"cancel": "d"})
    for _ in "de":
        while "end" not in (end := heard()[0]):
            assert end == {}
        assert end == {"end": "cancelled", "message": "It was cancelled."}
    ask("f", "wait")
    assert heard()[0] == {}
    process.stdin.close()
    assert process.wait(timeout=10) == 0  # it ends with its input

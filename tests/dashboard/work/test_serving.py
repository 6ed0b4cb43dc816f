"""The process beside the server, spoken to as the server does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dashboard.work import serving

WORK = """
import os
from time import sleep
from dashboard.work.serving import serve

def work(order, report):
    print("noise")
    os.write(1, b"noise from native code\\n")
    report(step=1)
    if order["do"] == "fail":
        raise ValueError("the sentence")
    if order["do"] == "fail without words":
        raise KeyError
    while order["do"] == "wait":
        sleep(0.01)
        report.check()
    report(did=order["do"], forgotten=forgotten)

forgotten = []
serve(work, forgotten.append)
"""


@pytest.fixture
def process() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", WORK],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=Path(serving.__file__).parents[2],
    ) as started:
        yield started
        started.kill()


@pytest.fixture
def ask(process: subprocess.Popen[str]) -> Callable[..., None]:
    def send(**order: Any) -> None:
        assert process.stdin is not None
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()

    return send


@pytest.fixture
def told(process: subprocess.Popen[str]) -> Callable[[], dict[str, Any]]:
    def read() -> dict[str, Any]:
        assert process.stdout is not None
        report: dict[str, Any] = json.loads(process.stdout.readline())
        return report

    return read


def test_reports_and_nothing_printed_between(ask, told):
    ask(run="a", do="this")
    ask(forget="counts")
    ask(run="b", do="that")
    for run, did, forgotten in (("a", "this", []), ("b", "that", ["counts"])):
        assert told() == {"id": run, "step": 1}
        assert told() == {"id": run, "did": did, "forgotten": forgotten}
        assert told() == {"id": run, "end": "done", "message": ""}


@pytest.mark.parametrize(
    ("do", "message"), [("fail", "the sentence"), ("fail without words", "KeyError")]
)
def test_an_error_is_told_and_the_next_order_is_worked_on(ask, told, do, message):
    ask(run="a", do=do)
    assert told()["step"] == 1
    assert told() == {"id": "a", "end": "failed", "message": message}
    ask(run="b", do="this")
    assert told()["id"] == "b"


def test_orders_are_cancelled_at_work_and_in_the_queue(ask, told):
    ask(run="a", do="wait")
    ask(run="b", do="this")
    assert told() == {"id": "a", "step": 1}
    ask(cancel="b")
    ask(cancel="a")
    for run in "ab":
        assert told() == {"id": run, "end": "cancelled", "message": "It was cancelled."}


def test_it_ends_with_its_input(process, ask, told):
    ask(run="a", do="wait")
    assert told()["step"] == 1
    process.stdin.close()
    assert process.wait(timeout=10) == 0

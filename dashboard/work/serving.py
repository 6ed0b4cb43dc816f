"""A process that works on orders beside the server, from its own side.

Messages come on standard input and reports leave on what was standard output, one JSON object per
line::

    in   {"run": id, …}          an order
    in   {"cancel": id}
    in   {"forget": path}        counts that no order will be of any more
    out  {"id": id, …}           where an order is
    out  {"id": id, "end": "done" | "cancelled" | "failed", "message": sentence}

The process works on one order after another, stays alive between them, so that none waits for
torch to load, and ends with its input.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TextIO

from dashboard.work.files import trouble


class Cancelled(Exception):  # noqa: N818, nothing went wrong
    """Ends work on an order at once."""


class Reports:
    """What work on an order is given to report with."""

    def __init__(self, name: str, cancelled: set[str], file: TextIO) -> None:
        self._name, self._cancelled, self._file = name, cancelled, file

    def __call__(self, **report: Any) -> None:
        """Send a report, or raise `Cancelled` where nobody waits for the order any more."""
        self.check()
        _write(self._file, {"id": self._name} | report)

    def check(self) -> None:
        """Raise `Cancelled` where nobody waits for the order any more."""
        if self._name in self._cancelled:
            raise Cancelled


def serve(
    work: Callable[[dict[str, Any], Reports], None], forget: Callable[[str], None] = lambda _: None
) -> None:
    """Work on orders until standard input closes.

    Parameters
    ----------
    work : callable
        Takes an order and what to report with.
    forget : callable
        Takes the path of counts; called after the orders that came before.
    """
    file = _reports_alone()
    orders: SimpleQueue[dict[str, Any]] = SimpleQueue()
    cancelled: set[str] = set()
    threading.Thread(target=_listen, args=(orders, cancelled), daemon=True).start()
    while True:
        order = orders.get()
        if "forget" in order:
            forget(order["forget"])
            continue
        reports = Reports(order["run"], cancelled, file)
        try:
            reports.check()
            work(order, reports)
            last = {"end": "done", "message": ""}
        except Cancelled:
            last = {"end": "cancelled", "message": "It was cancelled."}
        except OSError as error:  # its own words name paths
            last = {"end": "failed", "message": f"{trouble(error)}."}
        except Exception as error:  # the page shows the sentence; this process must live on
            last = {"end": "failed", "message": str(error) or type(error).__name__}
        cancelled.discard(order["run"])
        _write(file, {"id": order["run"]} | last)


def _reports_alone() -> TextIO:
    """Take standard output for the reports; what anyone prints, native code too, goes to errors."""
    sys.stdout.flush()
    file = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return file


def _listen(orders: SimpleQueue[dict[str, Any]], cancelled: set[str]) -> None:
    for line in sys.stdin:
        order = json.loads(line)
        if "cancel" in order:
            cancelled.add(order["cancel"])
        else:
            orders.put(order)
    os._exit(0)


def _write(file: TextIO, report: dict[str, Any]) -> None:
    file.write(json.dumps(report) + "\n")
    file.flush()

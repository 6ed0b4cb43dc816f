"""The process that works on orders, one after another, and how it is spoken to.

Messages come on standard input and reports leave on what was standard output, both as
:func:`dashboard.work.wire.send` writes them::

    in   {"run": id, "order": kind, …, "program": version}  counts, the fit that it begins with
    in   {"cancel": id}
    out  {}                                                 it has begun
    out  {"iteration": t, "seconds": s, "trial": k, "objective": o}
    out  {"estimate": true}                                 an unfinished fit
    out  {"end": "done" | "cancelled" | "failed", "message": sentence}  the result

Orders are worked on as they came, so that a report is of the first one that has not ended. The
process stays alive between orders, so that none waits for torch to load, and ends with its input.
Nothing of an order is written to a disk.
"""

import io
import os
import sys
import threading
import warnings
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from time import monotonic
from typing import Any

from dashboard.work.orders import FitOrder, Report, order_from, program
from dashboard.work.results import trouble
from dashboard.work.wire import receive, send
from uncletc import CountTensor, FitWarning

_PAUSE = 0.1  # seconds at least between two reports without objective, and
_PAUSE_PER_COST = 3.0  # times what the last one took


class Cancelled(Exception):  # noqa: N818, nothing went wrong
    """Ends work on an order at once."""


class Reports:
    """Sends reports of an order; raises `Cancelled` where nobody waits for it any more.

    Those without estimates or objective go out now and then, so that they take little of the time.

    Parameters
    ----------
    send : callable
        Takes a report and bytes that belong to it.
    is_cancelled : callable
    """

    def __init__(
        self, send: Callable[[dict[str, Any], bytes], None], is_cancelled: Callable[[], bool]
    ) -> None:
        self._send, self._is_cancelled, self._next = send, is_cancelled, 0.0

    def __call__(self, data: bytes = b"", **report: Any) -> None:
        """Send a report."""
        if self._is_cancelled():
            raise Cancelled
        began = monotonic()
        if data or "objective" in report or began >= self._next:
            self._send(report, data)
            now = monotonic()
            self._next = now + max(_PAUSE, _PAUSE_PER_COST * (now - began))


def main() -> None:
    """Work on orders, one after another, until standard input closes."""
    if hasattr(os, "nice"):
        os.nice(5)  # whoever draws the estimates comes first where processors are few
    sys.stdout.flush()
    # Standard output is for reports; what anyone prints, native code too, goes to errors.
    file = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    orders: SimpleQueue[tuple[dict[str, Any], list[bytes]]] = SimpleQueue()
    cancelled: set[str] = set()
    threading.Thread(target=_listen, args=(orders, cancelled), daemon=True).start()
    while True:
        message, data = orders.get()
        run = message["run"]

        reports = Reports(partial(send, file), partial(cancelled.__contains__, run))
        end, result = perform(message, data, reports)
        cancelled.discard(run)
        send(file, end, result)
        del message, data, result


def _listen(orders: SimpleQueue[tuple[dict[str, Any], list[bytes]]], cancelled: set[str]) -> None:
    try:
        while True:
            message, data = receive(sys.stdin.buffer)
            if "cancel" in message:
                cancelled.add(message["cancel"])
            else:
                orders.put((message, data))
    finally:
        os._exit(0)


def perform(
    message: dict[str, Any], data: list[bytes], report: Report
) -> tuple[dict[str, str], bytes]:
    """Work on an order; return how it ended and, in a sentence, why, and its encoded result.

    Parameters
    ----------
    message : dict
        See :meth:`dashboard.work.orders.Order.message`; "program" is that of the server.
    data : list of bytes
        Counts, and the fit that it begins with; empty: none.
    report : Report
    """
    try:
        report()  # it has begun, unless it was cancelled while it waited
        if message["program"] != program():
            raise RuntimeError(
                f"its Dask worker has uncletc {program()} and this server {message['program']} "
                "(version and results): install the same at both."
            )
        counts, before = data
        order = order_from(message, CountTensor.load(io.BytesIO(counts)) if counts else None)
        with warnings.catch_warnings(action="ignore", category=FitWarning):  # the page shows it
            result = order.work(report, *([FitOrder.decode(before)] if before else []))
        return {"end": "done", "message": ""}, order.encode(result)
    except Cancelled:
        return {"end": "cancelled", "message": "It was cancelled."}, b""
    except OSError as error:  # its own words name paths
        return {"end": "failed", "message": f"{trouble(error)}."}, b""
    except Exception as error:  # the page shows the sentence; this process must live on
        return {"end": "failed", "message": str(error) or type(error).__name__}, b""


if __name__ == "__main__":
    main()

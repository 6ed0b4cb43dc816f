"""Work on one order at a worker of a Dask cluster, from that worker's side.

An order is worked on by a process that the Dask worker keeps, the very one that a server keeps at
home: it is cancelled and limited in the same way, and what it finds is the same. Its files come and
go as bytes and lie here only meanwhile. Reports leave as events under the server's topic, besides
those of :mod:`dashboard.work.serving`::

    {"id": run, "begun": address}     where it is worked on; a second one says that it began again
    {"id": run, "memory": bytes}

This module imports little: a Dask worker loads neither torch nor pages.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from dashboard.work.files import trouble
from dashboard.work.processes import Worker

_LOOKED_AFTER = 0.2  # seconds between two looks at whether anyone still waits
_MEMORY = 1.0  # seconds between two reports of memory
_PATIENCE = 2.0  # seconds from the cancelling of an order to the end of its process
_TRIM = "MALLOC_TRIM_THRESHOLD_"
"""Dask has its workers give memory back at once, which fits ask for again in the next iteration."""

_ENDING = frozenset({"closing", "closed", "failed"})  # of a Dask worker

_lock = threading.Lock()
_idle: list[_Hand] = []
_so_far: dict[str, Path] = {}  # by run: where its estimates so far lie


class _Hand:
    """A process for orders, and what it says."""

    def __init__(self) -> None:
        self.said: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self.worker = Worker(
            hear=self.said.put,
            lost=lambda process: self.said.put({"id": "", "lost": process}),
            without=(_TRIM,),
        )


def work_on(topic: str, text: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Work on an order until its end; runs as a task of Dask.

    Parameters
    ----------
    topic : str
        Of the reports.
    text : str
        The order, as JSON; see :meth:`dashboard.work.shelf.Shelf.message`.
    files : mapping of str to bytes
        What lies in the files that the order names: "counts", "begins_with".

    Returns
    -------
    dict
        "end" ("done", "cancelled", "failed", or "lost" where its process ended), "message", and
        "result" (bytes) of what is done.
    """
    from distributed import get_worker

    here: Any = get_worker()  # type: ignore[no-untyped-call]
    message = json.loads(text)
    run, key = message["run"], here.get_current_task()
    here.log_event(topic, {"id": run, "begun": here.address})
    try:
        with tempfile.TemporaryDirectory(prefix="uncletc-", dir=here.local_directory) as name:
            folder = Path(name)
            for each in ("counts", "begins_with"):
                if each in message:
                    message[each] = str(folder / each)
                if each in files:
                    (folder / each).write_bytes(files[each])
            result = folder / "result"
            message |= {"result": str(result), "so_far": str(folder / "so_far")}
            with _lock:
                _so_far[run] = folder / "so_far"
                hand = _idle.pop() if _idle else _Hand()
            try:
                end = _follow(here, key, hand, message, topic)
            finally:
                hand.worker.tell({"forget": str(folder / "counts")})
                with _lock:
                    del _so_far[run]
                    _idle.append(hand)
            return end | ({"result": result.read_bytes()} if end["end"] == "done" else {})
    except OSError as error:
        return {"end": "failed", "message": f"at its worker {trouble(error)}."}


def read_so_far(run: str) -> bytes | None:
    """The estimates so far of an order that is worked on here; None where there are none."""
    path = _so_far.get(run)
    if path is None:
        return None
    with suppress(OSError):
        return path.read_bytes()
    return None


def _follow(
    here: Any, key: str, hand: _Hand, message: dict[str, Any], topic: str
) -> dict[str, Any]:
    """Hand over an order, and report where it is until its end."""
    run = message["run"]
    process = hand.worker.send(message)
    left_at: float | None = None  # when nobody waited any more
    looked = told = 0.0
    while True:
        try:
            said = hand.said.get(timeout=_LOOKED_AFTER)
        except Empty:
            said = {"id": ""}
        if said.get("lost") is process:
            return {"end": "lost", "message": ""}
        if said["id"] == run and "end" in said:
            return {"end": said["end"], "message": said["message"]}
        if said["id"] == run:
            here.log_event(topic, said)
        now = monotonic()
        if now - looked < _LOOKED_AFTER:
            continue
        looked = now
        if left_at is None and not _wanted(here, key):
            left_at = now
            hand.worker.tell({"cancel": run}, process)
        if left_at is not None and now - left_at > _PATIENCE:
            process.kill()
        if now - told > _MEMORY:
            told = now
            here.log_event(topic, {"id": run, "memory": process.memory})


def _wanted(here: Any, key: str) -> bool:
    """Whether the scheduler still asks for a task."""
    task = here.state.tasks.get(key)
    return task is not None and task.state != "cancelled" and here.status.name not in _ENDING

"""Orders worked on by a Dask cluster, in place of processes of this server.

It stands where :class:`dashboard.work.crew.Crew` does. A worker of the cluster does what
:mod:`dashboard.work.relay` says; counts go there as bytes, results and estimates so far come back
as bytes and are kept here, so no folder is shared. What a worker had that was lost is handed over
anew. Where the scheduler is away, orders fail with a sentence, and it is tried again every few
seconds.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from dashboard.work import relay
from dashboard.work.connection import Connection
from dashboard.work.files import ClusterError, atomic, remove, trouble
from dashboard.work.jobs import Job
from dashboard.work.order import Lane, program

_RESULT = 60.0  # seconds that a result may be on its way
_AT_ONCE = 4  # orders and results on their way

_MISSING = "its Dask worker has no uncletc: the same version must be installed there."

log = logging.getLogger(__name__)


class Sent:
    """An order that the cluster has; it stands where at home its process stands.

    Attributes
    ----------
    name : str
        What the cluster calls it.
    order : dict
        What a process at home would be told.
    waits : bool
        Whether no worker has begun with it.
    memory : int
        Bytes that the process of the worker holds, as of its last report.
    address : str
        Of that worker.
    future : Future, optional
        Dask's.
    ended : bool
    """

    def __init__(self, name: str, order: dict[str, Any], drop: Callable[[Sent], None]) -> None:
        self.name, self.order = name, order
        self.waits, self.memory, self.address = True, 0, ""
        self.future: Any = None
        self.ended = False
        self._drop = drop

    @property
    def run(self) -> str:
        """What it is called here."""
        return str(self.order["run"])

    def poll(self) -> int | None:
        """None while it is under way, as for a process."""
        return 0 if self.ended else None

    def kill(self) -> None:
        """Take it back from the cluster."""
        self._drop(self)


class Slot:
    """Room for an order of a lane; used as a :class:`dashboard.work.processes.Worker` is."""

    def __init__(self, lane: Lane, send: Callable[[Slot, dict[str, Any]], Sent]) -> None:
        self.lane, self.run = lane, ""
        self._send = send

    def send(self, order: dict[str, Any]) -> Sent:
        """Hand over an order."""
        return self._send(self, order)


class Cluster:
    """A Dask cluster; half of its threads, or one, are for long orders, the others for fits.

    Parameters
    ----------
    scheduler : str
        Its address, as "tcp://10.0.0.4:8786".
    hear, lost : callable
        See :class:`dashboard.work.processes.Worker`.
    changed : callable
        Called when orders may find room that did not before, or will not find any.
    """

    def __init__(
        self,
        scheduler: str,
        *,
        hear: Callable[[dict[str, Any]], None],
        lost: Callable[[Any], None],
        changed: Callable[[], None],
    ) -> None:
        self._hear, self._lost = hear, lost
        self._slots: list[Slot] = []  # that have an order
        self._sent: dict[str, Sent] = {}
        self._numbers = count()
        self._lock = threading.Lock()  # of what is sent; nobody is called under it
        self._events: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._hands = ThreadPoolExecutor(_AT_ONCE, "cluster")
        self._looks = ThreadPoolExecutor(1, "estimates")
        self._connection = Connection(
            scheduler, hear=self._events.put, gone=self._gone, changed=changed
        )
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def trouble(self) -> str:
        """Why no order is taken, as a part of a sentence; empty where it is."""
        return self._connection.trouble

    @property
    def processes(self) -> list[Sent]:
        """Orders that the cluster has."""
        with self._lock:
            return list(self._sent.values())

    def warm(self, lane: Lane) -> None:
        """Do nothing: the workers are there already."""

    def idle(self, lane: Lane) -> Slot | None:
        """Room for an order, None where there is none now; in trouble one that says so."""
        threads = self._connection.threads
        room = {"long": max(threads // 2, 1), "quick": (threads + 1) // 2}[lane]
        busy = sum(slot.lane == lane for slot in self._slots)
        if not self._connection.trouble and (not threads or busy >= room):
            return None
        return Slot(lane, self._send)

    def free(self, run: str) -> None:
        """Note that the cluster does not have this order any more."""
        self._slots = [slot for slot in self._slots if slot.run != run]

    def tell(self, message: dict[str, Any], job: Job | None = None) -> None:
        """Take back an order that is cancelled. Nothing needs forgetting: nothing stays there."""
        if job is not None and isinstance(job.process, Sent) and "cancel" in message:
            outcome = {"end": "cancelled", "message": "It was cancelled."}
            self._later(self._take_back, job.process, outcome)

    def close(self) -> None:
        """Let go of the cluster, which ends what it works on for this server."""
        self._events.put(None)
        for sent in self.processes:
            self._end(sent)
        self._hands.shutdown(wait=False, cancel_futures=True)
        self._looks.shutdown(wait=False, cancel_futures=True)
        self._connection.close()

    def _send(self, slot: Slot, order: dict[str, Any]) -> Sent:
        if self._connection.trouble:
            raise ClusterError(self._connection.trouble)
        name = f"{order['run']}-{next(self._numbers)}"  # another one when it is tried again
        sent = Sent(name, order, lambda sent: self._later(self._take_back, sent))
        slot.run = order["run"]
        self._slots.append(slot)
        with self._lock:
            self._sent[name] = sent
        self._later(self._hand_over, sent, slot.lane)
        return sent

    def _later(self, do: Callable[..., None], *words: Any) -> None:
        """Do something that takes a while, and never under the lock of the service."""
        with suppress(RuntimeError):  # closed
            self._hands.submit(_logged, do, *words)

    def _hand_over(self, sent: Sent, lane: Lane) -> None:
        order = sent.order
        paths = {name: Path(order[name]) for name in ("counts", "begins_with") if name in order}
        try:
            files = {name: path.read_bytes() for name, path in paths.items() if path.exists()}
        except OSError as error:
            words = f"its counts could not be read: {trouble(error)}."
            self._end(sent, {"end": "failed", "message": words})
            return
        try:
            future = self._connection.submit(
                relay.work_on,
                self._connection.topic,
                json.dumps(order | {"run": sent.name, "program": program()}),
                files,
                key=f"{self._connection.topic}-{sent.name}",
                pure=False,
                priority=int(lane == "quick"),
            )
        except Exception:  # the connection ended just now; Dask has many errors for it
            self._end(sent)
            return
        sent.future = future
        if sent.ended:
            future.cancel()
        else:
            future.add_done_callback(lambda _: self._later(self._receive, sent))

    def _receive(self, sent: Sent) -> None:
        """Keep what came of an order."""
        if sent.ended:
            return
        try:
            outcome = sent.future.result(timeout=_RESULT)
        except ImportError:
            outcome = {"end": "failed", "message": _MISSING}
        except Exception:  # a worker or the scheduler was lost on the way
            self._end(sent)
            return
        if "result" in outcome:
            try:
                with atomic(Path(sent.order["result"])) as partial:
                    partial.write_bytes(outcome.pop("result"))
            except OSError as error:
                words = f"its result could not be kept: {trouble(error)}."
                outcome = {"end": "failed", "message": words}
        self._end(sent, None if outcome["end"] == "lost" else outcome)

    def _take_back(self, sent: Sent, outcome: dict[str, Any] | None = None) -> None:
        self._end(sent, outcome)
        if sent.future is not None:
            sent.future.cancel()

    def _end(self, sent: Sent, outcome: dict[str, Any] | None = None) -> None:
        """Say how an order ended, once; without an outcome it was lost."""
        with self._lock:
            if sent.ended:
                return
            sent.ended = True
            self._sent.pop(sent.name, None)
        if outcome is None:
            self._lost(sent)
        else:
            self._hear({"id": sent.run} | outcome)

    def _listen(self) -> None:
        """Hear what workers report, one after the other."""
        while (event := self._events.get()) is not None:
            sent = self._sent.get(event["id"])
            if sent is None:  # it has ended here
                continue
            event["id"] = sent.run
            if "memory" in event:
                sent.memory = event["memory"]
            elif "estimate" in event:
                with suppress(RuntimeError):  # closed
                    self._looks.submit(_logged, self._fetch, sent, event)
            elif "begun" not in event:
                self._hear(event)
            elif sent.waits:
                sent.address, sent.waits = event["begun"], False
                self._hear(event)
            else:  # its worker was lost, and Dask has begun again
                self._later(self._take_back, sent)

    def _fetch(self, sent: Sent, event: dict[str, Any]) -> None:
        """Bring estimates so far here."""
        data = self._connection.ask(sent.address, relay.read_so_far, sent.name)
        if not isinstance(data, bytes):
            return
        path = Path(sent.order["so_far"])
        try:
            with atomic(path) as partial:
                partial.write_bytes(data)
        except OSError:  # no room: the fit goes on, and its result says it
            return
        if sent.ended:
            remove(path)
        else:
            self._hear(event)

    def _gone(self) -> None:
        """Hand over anew what a cluster had that is gone."""
        for sent in self.processes:
            self._take_back(sent)


def _logged(do: Callable[..., None], *words: Any) -> None:
    try:
        do(*words)
    except Exception:
        log.exception("an order at the cluster")

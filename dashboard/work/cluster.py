"""Orders worked on by a Dask cluster, in place of processes of this server.

It stands where :class:`dashboard.work.pool.Worker` does, and the cluster has as many orders at once
as this server would have processes; restarts and limits of memory are Dask's. Counts go there as
bytes, and results and estimates so far come back as bytes, so no folder is shared. Reports leave as
events under a topic that nobody can guess, ``{"id": name, "begun": address}`` first. The workers
import this module: it loads neither torch nor pages.
"""

from __future__ import annotations

import ctypes
import json
import logging
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any
from uuid import uuid4

from dashboard.work.results import atomic, trouble

_CONNECT = 5.0  # seconds to wait for the scheduler
_LOOKED_AFTER = 0.2  # seconds between two looks at whether anyone still waits
_TRIM, _USUAL_TRIM = -1, 128 << 20  # M_TRIM_THRESHOLD of mallopt, in bytes
_AWAY = "the Dask cluster that works for this server does not answer. Ask again in a minute."
_EMPTY = "the Dask cluster that works for this server has no workers. Ask again in a minute."
_MISSING = "its Dask worker has no uncletc: the same version must be installed there."

log = logging.getLogger(__name__)

_so_far: dict[str, Path] = {}  # at a worker, by name: where estimates so far lie


class Refused(Exception):  # noqa: N818, a sentence for the page
    """The cluster takes no order."""


class Cluster:
    """A connection to a Dask scheduler, made when an order needs it, and again when it is lost.

    Parameters
    ----------
    scheduler : str
        Its address, as "tcp://10.0.0.4:8786".

    Attributes
    ----------
    away : bool
        Whether it did not answer, or had no workers, when it was last asked.
    topic : str
        Of reports to this server.
    sent : dict of str to Sent
        Orders that it has, by name.
    """

    def __init__(self, scheduler: str) -> None:
        self._scheduler, self._client, self._lock = scheduler, None, threading.Lock()
        self.away, self.topic = False, f"uncletc-{uuid4().hex}"
        self.sent: dict[str, Sent] = {}

    def client(self) -> Any:
        """Return Dask's client; `Refused` has a sentence that says why there is none."""
        import dask
        from distributed import Client

        # Counts go with their order, so that a worker which is lost takes none along.
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
        with self._lock:
            client: Any = self._client
            try:
                if client is None or client.status != "running":
                    client = Client(self._scheduler, timeout=_CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
                    client.subscribe_topic(self.topic, self._on_event)
                    self._client = client
                workers = client.ncores()
            except Exception:  # Dask has many errors for it
                self.away = True
                raise Refused(_AWAY) from None
            self.away = not workers
            if not workers:
                raise Refused(_EMPTY)
            return client

    def close(self) -> None:
        """Let go of the cluster, which ends what it works on for this server."""
        if self._client is not None:
            with suppress(Exception):
                self._client.close(timeout=_CONNECT)

    def _on_event(self, event: tuple[float, dict[str, Any]]) -> None:
        if (sent := self.sent.get(event[1]["id"])) is not None:
            sent.events.put(event[1])


class Sent:
    """An order at the cluster; it stands where at home its process stands.

    Attributes
    ----------
    waits, ended : bool
        Whether no worker has begun with it; whether it is not under way any more.
    address : str
        Of its worker.
    """

    memory = 0  # Dask limits it

    def __init__(self, task: dict[str, Any]) -> None:
        self.task, self.name = task, f"{task['run']}-{uuid4().hex}"  # another one when tried again
        self.waits, self.ended, self.cancelled, self.address = True, False, False, ""
        self.events: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self.dropped = threading.Event()

    def poll(self) -> int | None:
        """Return None while it is under way, as for a process."""
        return 0 if self.ended else None

    def kill(self) -> None:
        """Take it back from the cluster."""
        self.dropped.set()


class RemoteWorker:
    """A place for an order at a cluster; used as a :class:`dashboard.work.pool.Worker` is.

    Parameters
    ----------
    cluster : Cluster
    priority : int
        Higher ones go first.
    on_message, on_exit : callable
        See :class:`dashboard.work.pool.Worker`.
    """

    def __init__(
        self,
        cluster: Cluster,
        priority: int,
        *,
        on_message: Callable[[dict[str, Any]], None],
        on_exit: Callable[[Any], None],
    ) -> None:
        self._cluster, self._priority = cluster, priority
        self._on_message, self._on_exit = on_message, on_exit
        self.process: Sent | None = None
        self.run = ""

    def start(self) -> None:
        """Do nothing: the workers are there already."""

    def send(self, task: dict[str, Any]) -> Sent:
        """Send an order."""
        self.process = Sent(task)
        threading.Thread(target=self._follow, args=(self.process,), daemon=True).start()
        return self.process

    def send_control(self, message: dict[str, Any]) -> None:
        """Take back an order that is cancelled. Nothing needs forgetting: nothing stays there."""
        if "cancel" in message and self.process is not None:
            self.process.cancelled = True
            self.process.kill()

    def close(self) -> None:
        """Take back the order."""
        if self.process is not None:
            self.process.kill()

    def _follow(self, sent: Sent) -> None:
        outcome: dict[str, Any] | None = None
        try:
            outcome = self._work(sent)
        except Refused as error:
            outcome = {"end": "failed", "message": str(error)}
        except ImportError:
            outcome = {"end": "failed", "message": _MISSING}
        except OSError as error:
            outcome = {"end": "failed", "message": f"its files are not there: {trouble(error)}."}
        except BaseException as error:  # a worker or the scheduler was lost, in one of many ways
            log.info("an order came back", extra={"error": type(error).__name__})
        finally:
            self._cluster.sent.pop(sent.name, None)
            sent.ended = True
        if sent.cancelled:
            outcome = {"end": "cancelled", "message": "It was cancelled."}
        if outcome is None:
            self._on_exit(sent)
        else:
            self._on_message({"id": sent.task["run"]} | outcome)

    def _work(self, sent: Sent) -> dict[str, Any]:
        """Have the order worked on, and return how it ended; its result lies where it belongs."""
        paths = {name: Path(sent.task.get(name, "")) for name in ("counts", "begins_with")}
        files = {name: path.read_bytes() for name, path in paths.items() if path.is_file()}
        client = self._cluster.client()
        self._cluster.sent[sent.name] = sent
        future = client.submit(
            work_on,
            self._cluster.topic,
            json.dumps(sent.task | {"id": sent.name}),
            files,
            key=f"uncletc-{sent.name}",
            pure=False,
            priority=self._priority,
        )
        asked = monotonic()
        while not future.done():
            lost = sent.dropped.is_set() or client.status != "running"
            if not lost and monotonic() - asked > _CONNECT:
                asked, lost = monotonic(), not client.ncores()  # Dask would wait for a worker
            if lost:
                future.cancel()
                raise CancelledError
            with suppress(Empty):
                self._take(sent, sent.events.get(timeout=_LOOKED_AFTER), client)
        outcome: dict[str, Any] = future.result()
        if outcome["end"] == "done":
            with atomic(Path(sent.task["result"])) as partial:
                partial.write_bytes(outcome.pop("result"))
        return outcome

    def _take(self, sent: Sent, event: dict[str, Any], client: Any) -> None:
        """Pass on where the order is, and bring estimates so far here."""
        if "begun" in event:
            if not sent.waits:  # its worker was lost, and Dask has begun again
                raise CancelledError
            sent.address, sent.waits = event["begun"], False
        if "estimate" in event:
            found = client.run(read_so_far, sent.name, workers=[sent.address], on_error="return")
            if not isinstance(data := found.get(sent.address), bytes):
                return
            with suppress(OSError), atomic(Path(sent.task["so_far"])) as partial:
                partial.write_bytes(data)
        self._on_message(event | {"id": sent.task["run"]})


def work_on(topic: str, text: str, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Work on an order, at a worker of the cluster.

    Parameters
    ----------
    topic : str
        Of the reports.
    text : str
        The task, as JSON; see :meth:`dashboard.work.results.Results.task`.
    files : mapping of str to bytes
        What lies in the files that the order names: "counts", "begins_with".

    Returns
    -------
    dict
        "end", "message", and "result" (bytes) of what is done.
    """
    from distributed import get_worker

    from dashboard.work.worker import Cancelled, perform

    with suppress(AttributeError, OSError):
        # Dask has memory given back at once, which fits ask for again in the next iteration.
        ctypes.CDLL(None).mallopt(_TRIM, _USUAL_TRIM)
    here: Any = get_worker()  # type: ignore[no-untyped-call]
    task, key = json.loads(text), here.get_current_task()
    name = task["id"]

    class Reports:
        def __call__(self, **report: Any) -> None:
            self.check()
            here.log_event(topic, report | {"id": name})

        def check(self) -> None:
            known = here.state.tasks.get(key)
            if known is None or known.state == "cancelled" or here.status.name != "running":
                raise Cancelled

    here.log_event(topic, {"id": name, "begun": here.address})
    with tempfile.TemporaryDirectory(prefix="uncletc-", dir=here.local_directory) as folder:
        paths = {each: Path(folder) / each for each in ("result", "so_far", *files)}
        for each, data in files.items():
            paths[each].write_bytes(data)
        _so_far[name] = paths["so_far"]
        try:
            end = perform(task | {k: str(path) for k, path in paths.items()}, Reports())
        finally:
            del _so_far[name]
        return end | ({"result": paths["result"].read_bytes()} if end["end"] == "done" else {})


def read_so_far(name: str) -> bytes:
    """Return the estimates so far of an order that is worked on here."""
    return _so_far[name].read_bytes()

"""Orders worked on by a Dask cluster, in place of processes of this server.

It stands where :class:`dashboard.work.pool.Worker` does, and the cluster has as many orders at once
as this server would have processes; limits of memory are Dask's. An order goes there as to a
process here, and its result comes back as bytes, so no folder is shared. Reports leave as events
under a topic that nobody can guess; estimates so far are not sent.
The workers import this module: it loads neither torch nor pages.
"""

from __future__ import annotations

import ctypes
import logging
import threading
from contextlib import suppress
from time import monotonic
from typing import Any
from uuid import uuid4

from dashboard.work.pool import Lost, OnReport

_CONNECT = 5.0  # seconds to wait for the scheduler
_PAUSE = 0.2  # seconds between two checks of whether anyone still waits
_TRIM, _USUAL_TRIM = -1, 128 << 20  # M_TRIM_THRESHOLD of mallopt, in bytes
_AWAY = "the Dask cluster that works for this server does not answer. Ask again in a minute."
_EMPTY = "the Dask cluster that works for this server has no workers. Ask again in a minute."
_MISSING = "its Dask worker has no uncletc: the same version must be installed there."

log = logging.getLogger(__name__)


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
    """

    def __init__(self, scheduler: str) -> None:
        self._scheduler, self._client, self._lock = scheduler, None, threading.Lock()
        self.away = False

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


class RemoteWorker:
    """A place for an order at a cluster; used as a :class:`dashboard.work.pool.Worker` is.

    Parameters
    ----------
    cluster : Cluster
    lane : str
        Quick orders go first.
    """

    memory = 0  # Dask limits it

    def __init__(self, cluster: Cluster, lane: str) -> None:
        self._cluster, self._priority = cluster, int(lane == "quick")
        self._stopped, self.alive = threading.Event(), False

    def start(self) -> None:
        """Do nothing: the workers are there already."""

    def run(
        self, message: dict[str, Any], data: list[bytes], on_report: OnReport
    ) -> tuple[dict[str, Any], bytes]:
        """Have an order worked on; see :meth:`dashboard.work.pool.Worker.run`."""
        self._stopped.clear()
        self.alive = True
        try:
            return self._run(message, data, on_report)
        except Refused as error:
            return {"end": "failed", "message": str(error)}, b""
        except ImportError:
            return {"end": "failed", "message": _MISSING}, b""
        except Exception as error:  # workers or the scheduler were lost, in one of many ways
            log.info("an order came back", extra={"error": type(error).__name__})
            raise Lost from None
        finally:
            self.alive = False

    def kill(self) -> None:
        """Take the order back; it counts as lost."""
        self._stopped.set()

    close = kill

    def cancel(self, _run: str) -> None:
        """Take the order back."""
        self.kill()

    def _run(
        self, message: dict[str, Any], data: list[bytes], on_report: OnReport
    ) -> tuple[dict[str, Any], bytes]:
        client, topic, begun = self._cluster.client(), f"uncletc-{uuid4().hex}", []

        def on_event(event: tuple[float, dict[str, Any]]) -> None:
            report = event[1]
            if "iteration" in report:
                on_report(report, b"")
                return
            begun.append(event)
            if len(begun) > 1:  # its worker was lost, and Dask has begun again
                self._stopped.set()

        client.subscribe_topic(topic, on_event)
        future = client.submit(
            work_on, topic, message, data, key=f"work-{topic}", priority=self._priority
        )
        try:
            asked = monotonic()
            while not future.done():
                if self._stopped.wait(_PAUSE) or client.status != "running":
                    raise Lost
                if monotonic() - asked > _CONNECT:
                    asked = monotonic()
                    if not client.ncores():  # Dask would wait for a worker
                        raise Lost
            end: tuple[dict[str, Any], bytes] = future.result()
            return end
        finally:
            with suppress(Exception):
                future.cancel()
                client.unsubscribe_topic(topic)


def work_on(topic: str, message: dict[str, Any], data: list[bytes]) -> tuple[dict[str, Any], bytes]:
    """Work on an order, at a worker of the cluster; return as `perform` does.

    Parameters
    ----------
    topic : str
        Of the reports.
    message, data
        See :func:`dashboard.work.worker.perform`.
    """
    from distributed import get_worker

    from dashboard.work.worker import Reports, perform

    with suppress(AttributeError, OSError):
        # Dask has memory given back at once, which fits ask for again in the next iteration.
        ctypes.CDLL(None).mallopt(_TRIM, _USUAL_TRIM)
    here: Any = get_worker()  # type: ignore[no-untyped-call]
    key = here.get_current_task()

    def send(report: dict[str, Any], found: bytes) -> None:
        if not found:  # events remain at the scheduler: estimates so far are not for it
            here.log_event(topic, report)

    def is_cancelled() -> bool:
        known = here.state.tasks.get(key)
        return known is None or known.state == "cancelled" or here.status.name != "running"

    return perform(message, data, Reports(send, is_cancelled))

"""Orders worked on by a Dask cluster, in place of processes of this server.

An order goes there as to a process here, and its result comes back as bytes, so no folder is
shared. Dask limits memory and starts an order again where its worker is lost. Reports leave as
events under a topic that nobody can guess; estimates so far are not sent.
The workers import this module: it loads neither torch nor pages.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from typing import Any
from uuid import uuid4

from dashboard.work.pool import Lost, OnReport

_CONNECT = 5.0  # seconds to wait for the scheduler
_PAUSE = 0.2  # seconds between two checks of whether anyone still waits
_AWAY = "the Dask cluster of this server does not answer or has no workers. Ask again in a minute."
_MISSING = "its Dask worker has no uncletc: the same version must be installed there."

log = logging.getLogger(__name__)


class RemoteWorker:
    """A place for one order at a time at a cluster; used as `dashboard.work.pool.Worker` is.

    Parameters
    ----------
    scheduler : str
        Its address, as "tcp://10.0.0.4:8786". The connection is made when an order needs it, and
        again when it is lost.
    lane : str
        Quick orders go first.

    Attributes
    ----------
    away : bool
        Whether the cluster did not answer, or had no workers, when it was last asked.
    """

    memory = 0  # Dask limits it

    def __init__(self, scheduler: str, lane: str) -> None:
        self._scheduler, self._priority = scheduler, int(lane == "quick")
        self._client: Any = None
        self._stopped, self.alive, self.away = threading.Event(), False, False

    def start(self) -> None:
        """Do nothing: the workers are there already."""

    def run(
        self, message: dict[str, Any], data: list[bytes], on_report: OnReport
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Have an order worked on; see :meth:`dashboard.work.pool.Worker.run`."""
        self._stopped.clear()
        try:
            client = self._connected()
            self.away = not client.ncores()
        except Exception:  # Dask has many errors for it
            self.away = True
        if self.away:
            return {"end": "failed", "message": _AWAY}, [b""]
        self.alive, topic, future = True, f"uncletc-{uuid4().hex}", None
        try:
            client.subscribe_topic(topic, lambda event: on_report(event[1], b""))
            future = client.submit(
                work_on, topic, message, data, key=f"work-{topic}", priority=self._priority
            )
            while not future.done():
                if self._stopped.wait(_PAUSE) or client.status != "running":
                    raise Lost
            end, result = future.result()
        except ImportError:
            return {"end": "failed", "message": _MISSING}, [b""]
        except Exception as error:  # workers or the scheduler were lost, in one of many ways
            log.info("an order came back", extra={"error": type(error).__name__})
            raise Lost from None
        else:
            return end, [result]
        finally:
            self.alive = False
            with suppress(Exception):
                future.cancel()
                client.unsubscribe_topic(topic)

    def kill(self) -> None:
        """Take the order back; it counts as lost."""
        self._stopped.set()

    def cancel(self, _run: str) -> None:
        """Take the order back."""
        self.kill()

    def close(self) -> None:
        """Take the order back, and end the connection."""
        self.kill()
        if self._client is not None:
            with suppress(Exception):
                self._client.close(timeout=_CONNECT)

    def _connected(self) -> Any:
        import dask
        from distributed import Client

        if self._client is None or self._client.status != "running":
            # Counts go with their order, so that a worker which is lost takes none along.
            dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
            self._client = Client(self._scheduler, timeout=_CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
        return self._client


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

    here: Any = get_worker()  # type: ignore[no-untyped-call]
    key = here.get_current_task()

    def send(report: dict[str, Any], found: bytes) -> None:
        if not found:  # events remain at the scheduler: estimates so far are not for it
            here.log_event(topic, report)

    def is_cancelled() -> bool:
        known = here.state.tasks.get(key)
        return known is None or known.state == "cancelled" or here.status.name != "running"

    return perform(message, data, Reports(send, is_cancelled))

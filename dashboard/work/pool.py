"""Where orders are worked on: processes beside the server, or a Dask cluster in their place.

The other side of a process is :mod:`dashboard.work.worker`. An order goes to a cluster as to a
process here, and its result comes back as bytes, so no folder is shared. Dask limits memory and
starts an order again where its worker is lost. Reports leave as events under a topic that nobody
can guess; estimates so far are not sent. This module loads neither torch nor pages.
"""

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any
from uuid import uuid4

from dashboard.work.wire import receive, send

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

_WORKER = ("-m", "dashboard.work.worker")

OnReport = Callable[[dict[str, Any], bytes], None]


class Lost(Exception):  # noqa: N818, an event
    """Whoever worked on an order is gone."""


class Worker:
    """A process for orders: started when it is needed, and again when it has ended.

    Parameters
    ----------
    *command : str
        What Python runs there.
    errors : int, optional
        Where its standard error goes, as for ``subprocess.Popen``.

    Attributes
    ----------
    process : Popen, optional
        None: not started yet.
    """

    def __init__(self, *command: str, errors: int | None = None) -> None:
        self._command, self._errors = command or _WORKER, errors
        self.process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()  # of starts and ends
        self._retired = False
        self._outbox: SimpleQueue[tuple[Any, ...] | None] = SimpleQueue()

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def memory(self) -> int:
        """Bytes of memory that it holds; 0 where the system does not say, or it has ended."""
        if self.process is None:
            return 0
        try:
            pages = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        except (OSError, IndexError):
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def start(self) -> None:
        """Start the process where none runs; :class:`Lost` where none may run any more."""
        with self._lock:
            if self._retired:
                raise Lost
            if not self.alive:
                self.process = subprocess.Popen(
                    [sys.executable, *self._command],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    cwd=Path(__file__).resolve().parents[2],  # of this program
                    env=os.environ | _ONE_THREAD,
                )
                self._outbox = SimpleQueue()
                arguments = (self.process.stdin, self._outbox)
                threading.Thread(target=_write_all, args=arguments, daemon=True).start()

    def run(
        self, message: dict[str, Any], data: list[bytes], on_report: OnReport
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Have an order worked on; return how it ended, and the files of its result.

        Raises
        ------
        Lost
            If the process ends before.
        """
        self.start()
        self._outbox.put((message, *data))
        while True:
            try:
                report, found = receive(self.process.stdout)
            except (EOFError, OSError, ValueError):
                self.process.kill()
                self.process.wait()
                self.process.stdout.close()
                self._outbox.put(None)
                raise Lost from None
            if "end" in report:
                return report, found
            on_report(report, *found)

    def cancel(self, run: str) -> None:
        """Ask the process to stop a run soon."""
        self._outbox.put(({"cancel": run},))

    def kill(self, *, for_good: bool = False) -> None:
        """End the process at once; what it works on is lost. For good: none is started again."""
        with self._lock:
            self._retired |= for_good
            if self.process is not None:
                self.process.kill()

    def close(self) -> None:
        """End the process, which may take a second; what it works on is lost."""
        if self.process is None:
            return
        self._outbox.put(None)
        try:
            self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:  # it may still be loading torch
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def _write_all(file: IO[bytes], outbox: SimpleQueue[tuple[Any, ...] | None]) -> None:
    """Write messages to a process until there are no more: whoever sends one does not wait."""
    with suppress(OSError), file:  # it has ended
        while (message := outbox.get()) is not None:
            send(file, *message)
            del message  # it may be somebody's own counts


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
            return end, [result]
        except ImportError:
            return {"end": "failed", "message": _MISSING}, [b""]
        except Exception as error:  # workers or the scheduler were lost, in one of many ways
            log.info("an order came back", extra={"error": type(error).__name__})
            raise Lost from None
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

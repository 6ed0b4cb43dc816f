"""A process that works on orders beside the server, and how the two speak.

Its other side is :mod:`dashboard.work.worker`. A message is one line of JSON and the bytes that
belong to it. This module imports little: the workers of a Dask cluster use it, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

_WORKER = ("-m", "dashboard.work.worker")

OnReport = Callable[[dict[str, Any], bytes], None]


class Lost(Exception):  # noqa: N818, an event
    """Whoever worked on an order is gone."""


def send(file: IO[bytes], message: dict[str, Any], *data: bytes) -> None:
    """Write a message."""
    sizes = [len(each) for each in data]
    file.write(json.dumps(message | {"bytes": sizes}).encode() + b"\n")
    for each in data:
        file.write(each)
    file.flush()


def receive(file: IO[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """Read the next message; an EOFError where there is none."""
    line = file.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    message: dict[str, Any] = json.loads(line)
    return message, [file.read(size) for size in message.pop("bytes")]


def _started(*command: str, errors: int | None) -> subprocess.Popen[bytes]:
    """Start Python with these arguments, in the folder of this program, to speak with."""
    return subprocess.Popen(
        [sys.executable, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ | _ONE_THREAD,
    )


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
                self.process = _started(*self._command, errors=self._errors)
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
        assert self.process is not None
        assert self.process.stdout is not None
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

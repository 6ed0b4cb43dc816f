"""A process that works on orders beside the server, from the server's side.

Its other side is :mod:`dashboard.work.worker`. This module imports little: the workers of a Dask
cluster use it too, and load neither torch nor pages.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class Process(Protocol):
    """What has an order: a process here, or a place at a Dask cluster."""

    @property
    def memory(self) -> int:
        """Bytes of memory that it holds; 0 where that is not known."""
        ...

    @property
    def waits(self) -> bool:
        """Whether the order that it was sent is not worked on yet, as at a busy cluster."""
        ...

    def poll(self) -> int | None:
        """Return None while it is there."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...


class LocalProcess(subprocess.Popen[str]):
    """A process of this machine."""

    waits = False

    @property
    def memory(self) -> int:
        """Bytes of memory that it holds; 0 where the system does not say, or it has ended."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1])
        except (OSError, ValueError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")


class Worker:
    """A process for orders: started when it is needed, and again when it has died.

    Parameters
    ----------
    on_message : callable
        Called with each of its reports, on a separate thread.
    on_exit : callable
        Called with the process when it has ended, after its last report.
    without : sequence of str
        Variables of the environment that the process is not to have.

    Attributes
    ----------
    process : LocalProcess, optional
        None: not started yet.
    run : str
        The order that it works on; empty: none.
    """

    def __init__(
        self,
        *,
        on_message: Callable[[dict[str, Any]], None],
        on_exit: Callable[[LocalProcess], None],
        without: Sequence[str] = (),
    ) -> None:
        self._on_message, self._on_exit, self._without = on_message, on_exit, without
        self.process: LocalProcess | None = None
        self.run = ""

    def start(self) -> LocalProcess:
        """Start the process where none runs, and return it."""
        if self.process is None or self.process.poll() is not None:
            self.process = LocalProcess(
                [sys.executable, "-m", "dashboard.work.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                cwd=Path(__file__).resolve().parents[2],
                env={k: v for k, v in os.environ.items() if k not in self._without} | _ONE_THREAD,
            )
            threading.Thread(target=self._follow, args=(self.process,), daemon=True).start()
        return self.process

    def send(self, order: dict[str, Any]) -> LocalProcess:
        """Send an order; return the process that has it."""
        process = self.start()
        try:
            _write(process, order)
        except OSError:  # it died just now
            process.wait()
            process = self.start()
            _write(process, order)
        return process

    def send_control(self, message: dict[str, Any]) -> None:
        """Send what is no order to the running process; nothing where it is gone."""
        if self.process is not None:
            with suppress(OSError):
                _write(self.process, message)

    def close(self) -> None:
        """End the process; its orders are lost."""
        if self.process is None or self.process.stdin is None:
            return
        with suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=1)
        except subprocess.TimeoutExpired:  # it may still be loading torch
            self.process.kill()
            self.process.wait()

    def _follow(self, process: LocalProcess) -> None:
        assert process.stdout is not None
        with process.stdout as reports:
            for line in reports:
                self._on_message(json.loads(line))
        process.wait()
        if process.stdin is not None:
            with suppress(OSError):  # what it never read
                process.stdin.close()
        self._on_exit(process)


def _write(process: LocalProcess, message: dict[str, Any]) -> None:
    if process.stdin is None or process.stdin.closed:
        raise BrokenPipeError("the process takes no orders any more")
    process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()

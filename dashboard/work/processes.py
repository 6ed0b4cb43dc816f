"""A process that works on orders beside the server, from the server's side.

Its other side is :mod:`dashboard.work.serving`.
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
from typing import IO, Any

_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


class Process(subprocess.Popen[str]):
    """A process for orders.

    Attributes
    ----------
    waits : bool
        Whether an order that was handed over is not worked on yet, as at a busy cluster.
    """

    waits = False

    @property
    def memory(self) -> int:
        """Bytes of memory that it holds; 0 where the system does not tell, or it has ended."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1])
        except (OSError, ValueError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE")


class Worker:
    """A process for orders: started when it is needed, and again when it has died.

    Parameters
    ----------
    hear : callable
        Called with each of its reports, on a separate thread.
    lost : callable
        Called with the process when it has ended, after its last report.
    without : sequence of str
        Variables of the environment that the process is not to have.

    Attributes
    ----------
    process : Popen, optional
        None: not started yet.
    run : str
        The order that it works on; empty: none.
    """

    def __init__(
        self,
        *,
        hear: Callable[[dict[str, Any]], None],
        lost: Callable[[Process], None],
        without: Sequence[str] = (),
    ) -> None:
        self._hear, self._lost, self._without = hear, lost, without
        self.process: Process | None = None
        self.run = ""

    def ready(self) -> Process:
        """Start the process where none runs, and return it."""
        if self.process is None or self.process.poll() is not None:
            self.process = Process(
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

    def send(self, order: dict[str, Any]) -> Process:
        """Hand over an order; return the process that has it."""
        for last in (False, True):
            process = self.ready()
            try:
                _write(process, order)
                break
            except OSError:  # it died just now
                process.wait()
                if last:
                    raise
        return process

    def tell(self, message: dict[str, Any], process: Process | None = None) -> None:
        """Say something to the running process; nothing where it, or the one named, is gone."""
        if self.process is not None and process in (None, self.process):
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

    def _follow(self, process: Process) -> None:
        assert process.stdout is not None
        with process.stdout as reports:
            for line in reports:
                self._hear(json.loads(line))
        process.wait()
        if process.stdin is not None:
            with suppress(OSError):  # what it never read
                process.stdin.close()
        self._lost(process)


def _write(process: Process, message: dict[str, Any]) -> None:
    orders: IO[str] | None = process.stdin
    if orders is None or orders.closed:
        raise BrokenPipeError("the process takes no orders any more")
    orders.write(json.dumps(message) + "\n")
    orders.flush()

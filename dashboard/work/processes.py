"""A process that works on orders beside the server, from the server's side.

Its other side is :mod:`dashboard.work.serving`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Literal

State = Literal["waiting", "running", "done", "cancelled", "failed"]
Process = subprocess.Popen[str]


class Worker:
    """A process for orders: started when it is needed, and anew when it has died.

    Parameters
    ----------
    module : str
        What runs in it; see :func:`dashboard.work.serving.serve`.
    hear : callable
        Called with each of its reports, on a thread of its own.
    lost : callable
        Called with the process when it has ended, after its last report.
    environment : mapping of str to str
        Variables to set for it.
    """

    def __init__(
        self,
        module: str,
        *,
        hear: Callable[[dict[str, Any]], None],
        lost: Callable[[Process], None],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._module, self._hear, self._lost = module, hear, lost
        self._environment = os.environ | dict(environment or {})
        self.process: Process | None = None

    def ready(self) -> IO[str]:
        """Start the process where none runs; return where it reads its orders."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", self._module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                cwd=Path(__file__).resolve().parents[2],
                env=self._environment,
            )
            threading.Thread(target=self._follow, args=(self.process,), daemon=True).start()
        assert self.process.stdin is not None
        return self.process.stdin

    def send(self, order: dict[str, Any]) -> Process:
        """Hand over an order; return the process that has it."""
        for last in (False, True):
            orders = self.ready()
            assert self.process is not None
            try:
                orders.write(json.dumps(order) + "\n")
                orders.flush()
                break
            except OSError:  # it died just now
                self.process.wait()
                if last:
                    raise
        return self.process

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


def writable(folder: Path) -> Path:
    """Return the folder, made where it was missing; a temporary one where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return Path(tempfile.mkdtemp(prefix=f"uncletc-{folder.name}-"))

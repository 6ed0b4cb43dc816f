"""Work on files that people bring, in processes with limits on their time and memory.

A large or hostile file then takes neither the server's memory nor its time. Each process does one
task, which a module gives to :func:`answer`, and ends.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from io import BytesIO
from subprocess import DEVNULL, Popen, TimeoutExpired
from time import monotonic
from typing import Any

from dashboard.work.pool import receive, send, start_process

MOST_MEMORY = 3 << 30
"""Bytes that such a process may use."""
MOST_SECONDS = 180.0

_AT_ONCE = threading.BoundedSemaphore(2)  # such processes of a server; others wait
_LOOKED_AFTER = 0.2  # seconds between two checks of whether it is still wanted, while it waits
_LONGEST = 100  # characters of a name

Answer = tuple[dict[str, Any], list[bytes]]


class Task:
    """A task under way in a process of its own.

    Parameters
    ----------
    command : tuple of str
        Of Python, such as ``("-m", "dashboard.work.tables", "read")``.
    name : str
        What the sentences of :meth:`result` begin with.
    message, *data
        What :func:`answer` gives the function there.
    hint : str
        What to do where it takes too much.
    """

    def __init__(
        self,
        command: tuple[str, ...],
        name: str,
        message: dict[str, Any],
        *data: bytes,
        hint: str = "leave out columns, or sum rows first",
    ) -> None:
        self._command, self._name, self._hint, self._turns = command, name, hint, _AT_ONCE
        self._began, self._cancelled = monotonic(), threading.Event()
        self._answer: Future[Answer] = Future()
        self._process: Popen[bytes] | None = None
        sent = BytesIO()
        send(sent, message, *data)
        threading.Thread(target=self._follow, args=(sent.getvalue(),), daemon=True).start()

    @property
    def seconds(self) -> float:
        """How long it has taken so far."""
        return monotonic() - self._began

    @property
    def ended(self) -> bool:
        """Whether there is an answer, or none will come."""
        return self._answer.done()

    def cancel(self) -> None:
        """End it; there will be no answer."""
        self._cancelled.set()
        if self._process is not None:
            self._process.kill()

    def result(self) -> Answer:
        """Wait for the answer; a ValueError has a sentence that says why there is none."""
        return self._answer.result()

    def _follow(self, sent: bytes) -> None:
        try:
            while not self._turns.acquire(timeout=_LOOKED_AFTER):
                self._raise_if_cancelled()
            try:
                self._answer.set_result(self._run(sent))
            finally:
                self._turns.release()
        except Exception as error:
            self._answer.set_exception(error)

    def _run(self, sent: bytes) -> Answer:
        with start_process(*self._command, errors=DEVNULL) as process:
            self._process = process
            try:
                self._raise_if_cancelled()  # just now
                said, _ = process.communicate(sent, timeout=MOST_SECONDS)
            except TimeoutExpired:
                most = f"{MOST_SECONDS / 60:.0f} minutes"
                raise ValueError(f"{self._name} takes more than {most}: {self._hint}") from None
            finally:
                process.kill()
        self._raise_if_cancelled()
        try:
            message, found = receive(BytesIO(said))
        except (EOFError, ValueError):
            raise ValueError(
                f"{self._name} needs more than {MOST_MEMORY >> 30} GB of memory: {self._hint}"
            ) from None
        if "error" in message:
            raise ValueError(message["error"])
        return message, found

    def _raise_if_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise ValueError(f"{self._name} was not read: it was stopped")


def answer(function: Callable[..., Answer]) -> None:
    """Call a function with what the server sent to this process, and send back what it returns.

    A ValueError of the function becomes one of :meth:`Task.result`.
    """
    _limit_memory()
    message, data = receive(sys.stdin.buffer)
    try:
        found, files = function(message, *data)
    except ValueError as error:
        found, files = {"error": str(error)}, []
    send(sys.stdout.buffer, found, *files)


def plain_name(name: str) -> str:
    r"""The name of a file as it may be shown and handed to a process: short, and printable.

    Examples
    --------
    >>> plain_name("../../counts\x00.csv")
    'counts�.csv'
    """
    last = name.replace("\\", "/").rpartition("/")[2]
    return "".join(each if each.isprintable() else "�" for each in last)[-_LONGEST:] or "the file"


def _limit_memory() -> None:
    """Bound the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:  # not on Windows
        return
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))

"""The connection of a server to the scheduler of a Dask cluster, made again when it is lost."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any
from uuid import uuid4

_CONNECT = 5.0  # seconds to wait for the scheduler, also when the connection was lost
_LOOKED_AFTER = 0.5  # seconds between two looks at it
_AGAIN = 3.0  # seconds until it is tried again
_NO_WORKERS = 15.0  # seconds without any before that is said

_AWAY = "the Dask cluster that works for this server does not answer"
_EMPTY = "the Dask cluster that works for this server has no workers"

log = logging.getLogger(__name__)


class Connection:
    """A connection to a scheduler, looked after by a thread.

    Parameters
    ----------
    scheduler : str
        Its address, as "tcp://10.0.0.4:8786".
    hear : callable
        Called with each event of the topic, in the order in which they come; must be quick.
    gone : callable
        Called when what the cluster had is lost.
    changed : callable
        Called when orders may find room that did not before, or will not find any.

    Attributes
    ----------
    topic : str
        Of events for this server; nobody can guess it.
    trouble : str
        Why nothing can be handed over, as a part of a sentence; empty where it can, or may soon.
    """

    def __init__(
        self,
        scheduler: str,
        *,
        hear: Callable[[dict[str, Any]], None],
        gone: Callable[[], None],
        changed: Callable[[], None],
    ) -> None:
        self.topic = f"uncletc-{uuid4().hex}"
        self.trouble = ""
        self._threads = 0
        self._scheduler = scheduler
        self._hear, self._gone, self._changed = hear, gone, changed
        self._client: Any = None
        self._last_seen = monotonic()  # of workers
        self._closed = threading.Event()
        threading.Thread(target=self._stay, daemon=True).start()

    @property
    def threads(self) -> int:
        """Those of all workers; 0 also while there is no connection."""
        client = self._client
        return 0 if client is None or client.status != "running" else self._threads

    def submit(self, *words: Any, **how: Any) -> Any:
        """Hand over a task; see ``Client.submit``. Without a connection a ConnectionError."""
        client = self._client
        if client is None:
            raise ConnectionError(_AWAY)
        return client.submit(*words, **how)

    def ask(self, address: str, function: Callable[..., Any], *words: Any) -> Any:
        """Call a function at a worker at once; return what it returns, or an error."""
        client = self._client
        if client is None:
            return None
        return client.run(function, *words, workers=[address], on_error="return").get(address)

    def close(self) -> None:
        """Let go of the cluster, which ends what it works on for this server."""
        self._closed.set()
        _close(self._client)

    def _stay(self) -> None:
        while not self._closed.is_set():
            if self._client is None:
                self._connect()
            else:
                self._look()
            self._closed.wait(_AGAIN if self._client is None else _LOOKED_AFTER)

    def _connect(self) -> None:
        import dask
        from distributed import Client

        # Counts go with their order, so that a worker which is lost takes none along.
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
        try:
            client: Any = Client(  # type: ignore[no-untyped-call]
                self._scheduler, timeout=_CONNECT, set_as_default=False
            )
            client.subscribe_topic(self.topic, lambda event: self._hear(event[1]))
        except Exception as error:  # Dask has many errors for it
            self._note(0, _AWAY, type(error).__name__)
            return
        self._client, self._last_seen = client, monotonic()
        if self._closed.is_set():
            _close(client)

    def _look(self) -> None:
        """Count the cluster's threads; let go of a scheduler that is gone."""
        client = self._client
        try:
            if client.status != "running":
                raise ConnectionError(_AWAY)
            threads = sum(client.sync(client.scheduler.ncores, callback_timeout=_CONNECT).values())
        except Exception:  # Dask has many errors for it
            self._client = None
            self._note(0, "")
            self._gone()
            _close(client)
            return
        if threads:
            self._last_seen = monotonic()
        empty = monotonic() - self._last_seen > _NO_WORKERS
        self._note(threads, _EMPTY if empty else "")
        if empty:
            self._gone()

    def _note(self, threads: int, words: str, error: str = "") -> None:
        """Note what there is, and have orders handed over where that changes something."""
        changed = (threads, words) != (self._threads, self.trouble)
        if words and words != self.trouble:
            log.warning(words, extra={"scheduler": self._scheduler, "error": error})
        self._threads, self.trouble = threads, words
        if changed and not self._closed.is_set():
            self._changed()


def _close(client: Any) -> None:
    if client is not None:
        with suppress(Exception):
            client.close(timeout=_CONNECT)

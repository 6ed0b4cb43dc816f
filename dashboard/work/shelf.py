"""The files of a server: results, counts that orders are of, and whose they are."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import platformdirs

from dashboard.work.files import remove, writable
from dashboard.work.jobs import Job
from dashboard.work.order import Order
from dashboard.work.owned import Own, Owned
from dashboard.work.private import Private, sweep
from dashboard.work.store import Store


class Shelf:
    """Where everything of a server lies.

    Parameters
    ----------
    folder : Path, optional
        Of results; see :class:`dashboard.work.service.Service`.
    most_bytes : float
        What results may hold together.
    lock : RLock
        Of the service; held while it is noted whose counts are.

    Attributes
    ----------
    folder : Path
    private : Private
        The folder of this server alone.
    store : Store
    owned : Owned
    """

    def __init__(self, folder: Path | None, most_bytes: float, lock: threading.RLock) -> None:
        usual = Path(platformdirs.user_cache_dir("uncletc")) / "results"
        self.folder = writable(folder or usual)
        sweep(self.folder)
        self.private, self.owned = Private(self.folder), Owned()
        self.store = Store(self.folder, most_bytes, elsewhere=self._elsewhere)
        self._lock = lock

    def message(self, job: Job) -> dict[str, Any]:
        """What a process is told of an order: what it is, and where its files lie."""
        order = job.order
        message = {
            "run": job.run,
            "result": str(self.store.path(order.key, order)),
            "so_far": str(self.private.so_far(job.run)),
        }
        if order.counts_digest:
            message["counts"] = str(self.private.counts(order.counts_digest))
        if (first := order.begins_with) is not None:
            message["begins_with"] = str(self.store.path(first.key, first))
        return message | order.message()

    def release(self, job: Job, runs: Iterable[Job]) -> None:
        """Drop what only an ended job needed."""
        if self.owned.of(job.order) is None:  # forgotten while it ran
            mine = self.private.folder / f"{job.order.key}{job.order.suffix}"
            remove(mine)
        self.private.release(job, runs)

    def forget(self, own: Own, runs: Collection[Job]) -> list[Path]:
        """Remove what was made of counts that are nobody's any more; return where these were."""
        self.store.forget(own.results)
        for digest in own.digests:
            self.private.forget(digest, runs)
        return [self.private.counts(digest) for digest in own.digests]

    def _elsewhere(self, order: Order[Any]) -> Own | None:
        with self._lock:
            own = self.owned.of(order)
            if own is not None:
                own.folder = self.private.folder
                own.digests.add(order.counts_digest)
            return own

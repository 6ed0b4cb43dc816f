"""The folder of one server: counts that orders are of, and estimates so far."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Any

from dashboard.work.files import PARTIAL, atomic, remove
from dashboard.work.jobs import Job
from dashboard.work.order import Order

_COUNTS_ON_DISK = 8  # that no order is of at the moment
_LEFT_BEHIND = 86_400  # seconds after which unfinished files and counts belong to no server


class Private:
    """Files that no other server sees, and that go with this one.

    Parameters
    ----------
    within : Path
        The folder it is made in.
    """

    def __init__(self, within: Path) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="counts-", dir=within, ignore_cleanup_errors=True
        )
        self._writing = threading.Lock()  # of counts, which takes a while
        self._kept: OrderedDict[str, None] = OrderedDict()  # digests of counts to keep

    @property
    def folder(self) -> Path:
        """Where it is."""
        return Path(self._folder.name)

    def counts(self, digest: str) -> Path:
        """Where counts lie, or will."""
        return self.folder / f"{digest}.npz"

    def so_far(self, run: str) -> Path:
        """Where the estimates so far of a run lie."""
        return self.folder / f"{run}.part"

    def keep(self, order: Order[Any]) -> None:
        """Keep the counts of an order for the next one, where that is likely of them too."""
        if order.keeps_counts:
            self._kept[order.counts_digest] = None
            self._kept.move_to_end(order.counts_digest)

    def write(self, order: Order[Any]) -> None:
        """Write the counts of an order, where it has any that are not there yet."""
        counts = getattr(order, "counts", None)
        if counts is None:
            return
        path = self.counts(counts.digest)
        with self._writing:
            if not path.exists():
                path.parent.mkdir(exist_ok=True)
                with atomic(path) as partial:
                    counts.save(partial)
            os.utime(path.parent)  # for other servers: it is not left behind

    def release(self, job: Job, runs: Iterable[Job]) -> None:
        """Drop what only an ended job needed."""
        remove(self.so_far(job.run))
        self._drop(job.order.counts_digest, runs)

    def forget(self, digest: str, runs: Iterable[Job]) -> None:
        """Keep counts no longer than runs need them."""
        self._kept.pop(digest, None)
        self._drop(digest, runs)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()

    def _drop(self, digest: str, runs: Iterable[Job]) -> None:
        """Remove counts that no run needs: these, unless kept, and the oldest of those kept."""
        needed = {job.order.counts_digest for job in runs}
        idle = [each for each in self._kept if each not in needed]
        unkept = {digest} - self._kept.keys() - needed
        for each in (*idle[:-_COUNTS_ON_DISK], *unkept):
            self._kept.pop(each, None)
            remove(self.counts(each))


def sweep(folder: Path) -> None:
    """Remove what a server left behind in a folder of results when it was killed."""
    for left in (*folder.glob("counts-*"), *folder.glob(f".*{PARTIAL}")):
        with suppress(OSError):
            if time() - left.stat().st_mtime > _LEFT_BEHIND:
                shutil.rmtree(left) if left.is_dir() else left.unlink()

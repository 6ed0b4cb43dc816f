"""Work beside the pages: queues, progress, cancelling, shared results.

Results stay in memory and in the user's cache folder, so an order made once shows at once, also
after a restart. Sessions that ask for one order share one job, and it is stopped when the last of
them leaves it. Counts lie in a folder of this server alone, which goes with it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
from collections import OrderedDict
from contextlib import suppress
from itertools import count
from pathlib import Path
from time import time
from typing import Any

import platformdirs

from dashboard.work.files import PARTIAL, atomic, writable
from dashboard.work.jobs import Job, State
from dashboard.work.orders import LANES, FitOrder, Lane, Order, Result
from dashboard.work.processes import Process, Worker
from uncletc import CountTensor, Fit

_IN_MEMORY = 64  # results
_ON_DISK = {".npz": 200, ".json": 2000}  # results, fits being the larger ones
_COUNTS_ON_DISK = 8  # that no order is of at the moment
_ENDED_JOBS = 200  # that were cancelled or failed
_LEFT_BEHIND = 86_400  # seconds after which unfinished files and counts belong to no server


class Service:
    """Works on orders in processes of their own, one per lane, and remembers the results.

    Parameters
    ----------
    folder : Path, optional
        Where results are kept. None: ``results`` in the user's cache folder; a temporary folder
        when that cannot be written.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = writable(folder or Path(platformdirs.user_cache_dir("uncletc")) / "results")
        _sweep(self._folder)
        self._private = tempfile.TemporaryDirectory(prefix="counts-", dir=self._folder)
        self._lock = threading.RLock()  # of everything below; nothing slow is done under it
        self._writing = threading.Lock()  # of counts, which takes a while
        self._results: OrderedDict[str, Any] = OrderedDict()
        self._jobs: OrderedDict[str, Job] = OrderedDict()  # by key: those under way or without end
        self._runs: dict[str, Job] = {}  # those that a process has, or will have at once
        self._kept: OrderedDict[str, None] = OrderedDict()  # digests of counts to keep on disk
        self._numbers = count()
        self._workers = {lane: Worker(hear=self._hear, lost=self._lost) for lane in LANES}

    def warm(self, lane: Lane = "quick") -> None:
        """Start a lane's process now, so that its first order need not wait for torch to load."""
        with self._lock:
            self._workers[lane].ready()

    def lookup(self, order: Order[Result]) -> Result | None:
        """The result of an order, or None. An unreadable file counts as none."""
        for key in order.keys:
            result = self._result(key, order)
            if result is not None:
                return order.part_of(result)
        return None

    def job(self, order: Order[Any]) -> Job | None:
        """The job of this order, or None: it was never asked for, or it has its result."""
        with self._lock:
            return self._jobs.get(order.key)

    def latest(self, job: Job) -> Fit | None:
        """The estimates so far of a fit under way, or None where there are none yet."""
        if not (job.active and job.estimates):
            return None
        try:
            return FitOrder.load(self._so_far(job))
        except (FileNotFoundError, ValueError):
            return None

    def submit(self, order: Order[Any], watcher: str = "") -> Job:
        """Queue an order and return its job; one already under way is shared.

        Parameters
        ----------
        order : Order
        watcher : str
            Who asks, for :meth:`cancel`.
        """
        with self._lock:
            job = self._jobs.get(order.key)
            if job is not None and job.active:
                job.watchers.add(watcher)
                return job
            job = Job(order, run=f"{order.key}-{next(self._numbers)}", watchers={watcher})
            self._jobs[order.key] = self._runs[job.run] = job
            self._jobs.move_to_end(order.key)
            if order.keeps_counts:
                self._kept[order.counts_digest] = None
                self._kept.move_to_end(order.counts_digest)
        message = {
            "run": job.run,
            "result": str(self._path(order.key, order)),
            "so_far": str(self._so_far(job)),
        } | order.message()
        try:
            if (counts := getattr(order, "counts", None)) is not None:
                message["counts"] = str(self._written(counts))
            with self._lock:
                if job.active:
                    job.process = self._workers[order.lane].send(message)
                else:  # cancelled while its counts were written
                    self._release(job)
        except OSError as error:
            self._end(job, "failed", f"it could not be handed over: {error}.")
        return job

    def cancel(self, job: Job, watcher: str = "") -> None:
        """Leave a job; when nobody waits for it any more it stops after its current iteration.

        It counts as cancelled at once. A finished one stays as it is.
        """
        with self._lock:
            job.watchers.discard(watcher)
            if not job.active or job.watchers:
                return
            job.message, job.state = "It was cancelled.", "cancelled"
            if job.process is not None:
                self._workers[job.order.lane].tell({"cancel": job.run}, job.process)

    def forget(self, digest: str, watcher: str = "") -> None:
        """Leave all jobs of these counts, and keep nothing of them but results.

        What others wait for too is finished first; its counts go with it.

        Parameters
        ----------
        digest : str
            ``CountTensor.digest``.
        watcher : str
            Who asks.
        """
        with self._lock:
            for job in [job for job in self._jobs.values() if job.order.counts_digest == digest]:
                self.cancel(job, watcher)
                if not job.active:
                    del self._jobs[job.order.key]
            self._kept.pop(digest, None)
            self._drop_counts(digest)
            for worker in self._workers.values():
                worker.tell({"forget": str(self._counts_path(digest))})

    def close(self) -> None:
        """End the processes; jobs under way are lost."""
        with self._lock:
            for worker in self._workers.values():
                worker.close()
            self._private.cleanup()

    def _result(self, key: str, order: Order[Result]) -> Result | None:
        path = self._path(key, order)
        with self._lock:
            result: Result | None = self._results.get(key)
        if result is None:
            try:
                result = order.load(path)
            except FileNotFoundError:
                return None
            except (OSError, ValueError):
                path.unlink(missing_ok=True)
                return None
        with suppress(OSError):
            os.utime(path)  # what was looked at last is pruned last
        self._remember(key, result)
        return result

    def _remember(self, key: str, result: Any) -> None:
        with self._lock:
            self._results[key] = result
            self._results.move_to_end(key)
            while len(self._results) > _IN_MEMORY:
                self._results.popitem(last=False)

    def _path(self, key: str, order: Order[Any]) -> Path:
        return self._folder / f"{key}{order.suffix}"

    def _counts_path(self, digest: str) -> Path:
        return Path(self._private.name) / f"{digest}.npz"

    def _so_far(self, job: Job) -> Path:
        return Path(self._private.name) / f"{job.run}.part"

    def _written(self, counts: CountTensor) -> Path:
        path = self._counts_path(counts.digest)
        with self._writing:
            if not path.exists():
                path.parent.mkdir(exist_ok=True)
                with atomic(path) as partial:
                    counts.save(partial)
            os.utime(path.parent)  # for other servers: it is not left behind
        return path

    def _drop_counts(self, digest: str) -> None:
        """Remove counts that no run needs: these, unless kept, and the oldest of those kept."""
        needed = {job.order.counts_digest for job in self._runs.values()}
        idle = [each for each in self._kept if each not in needed]
        unkept = {digest} - self._kept.keys() - needed
        for each in (*idle[:-_COUNTS_ON_DISK], *unkept):
            self._kept.pop(each, None)
            self._counts_path(each).unlink(missing_ok=True)

    def _release(self, job: Job) -> None:
        """Drop a run that has ended, and what only it needed."""
        del self._runs[job.run]
        self._so_far(job).unlink(missing_ok=True)
        self._drop_counts(job.order.counts_digest)

    def _end(self, job: Job, state: State, message: str) -> None:
        with self._lock:
            self._release(job)
            if not job.active:  # cancelled before
                return
            job.message, job.state = message, state
            if state == "done":  # the result stands for it
                del self._jobs[job.order.key]
            ended = [key for key, each in self._jobs.items() if not each.active]
            for key in ended[:-_ENDED_JOBS]:
                del self._jobs[key]

    def _lost(self, process: Process) -> None:
        with self._lock:
            for job in [job for job in self._runs.values() if job.process is process]:
                self._end(job, "failed", "its process ended unexpectedly. Ask for it again.")

    def _hear(self, report: dict[str, Any]) -> None:
        with self._lock:
            job = self._runs[report["id"]]
            if "end" in report:
                self._end(job, report["end"], report["message"])
            elif job.active:  # a cancelled one runs until its next report
                job.hear(report)
        if job.state == "done":
            self._prune(job.order.suffix)

    def _prune(self, suffix: str) -> None:
        """Remove the results that were not looked at for longest."""
        used: list[tuple[float, Path]] = []
        for path in self._folder.glob(f"*{suffix}"):
            with suppress(FileNotFoundError):  # another server was faster
                used.append((path.stat().st_mtime, path))
        for _, path in sorted(used, reverse=True)[_ON_DISK[suffix] :]:
            path.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what a server left behind when it was killed."""
    for left in (*folder.glob("counts-*"), *folder.glob(f".*{PARTIAL}")):
        with suppress(OSError):
            if time() - left.stat().st_mtime > _LEFT_BEHIND:
                shutil.rmtree(left) if left.is_dir() else left.unlink()

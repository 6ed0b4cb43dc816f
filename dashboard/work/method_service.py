"""Comparisons of methods, and cells of the paper's tables, outside the page's thread.

The same idea as :mod:`dashboard.work.service`: an order is known by a key, the digest of
everything that decides it; results stay in memory and, as a few numbers, in the user's cache
folder; sessions that ask for one order share it. Counts are on disk only while a comparison of
them waits or runs.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic, time
from typing import Any

import platformdirs

from dashboard.work.orders import Evaluate, Order
from dashboard.work.processes import Process, State, Worker, writable
from uncletc import CountTensor

_KEPT_IN_MEMORY = 500
_KEPT_ON_DISK = 2000
_LEFT_BEHIND = 86_400  # seconds after which counts on disk belong to no run
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


@dataclass
class Job:
    """An order on its way; the worker's reports fill it in.

    Attributes
    ----------
    order : Evaluate or Cell
    run : str
        What the worker calls it; an order asked for again after it was cancelled runs anew.
    state : str
        "waiting", "running", "done", "cancelled" or "failed".
    trial, iteration : int
        Where it is.
    seconds : float
        How long the present fit has run.
    curve : list of (int, dict of str to float)
        Errors by metric at some iterations, of a cell.
    message : str
        Why it failed, as a sentence.
    watchers : set of str
        Who waits for it.
    """

    order: Order
    run: str
    state: State = "waiting"
    trial: int = 0
    iteration: int = 0
    seconds: float = 0.0
    curve: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    message: str = ""
    watchers: set[str] = field(default_factory=set)
    asked: float = field(default_factory=monotonic)
    process: Process | None = field(default=None, repr=False)

    @property
    def active(self) -> bool:
        """Whether it still waits or runs."""
        return self.state in ("waiting", "running")


class MethodService:
    """Runs orders one at a time in a process of its own, and remembers their results.

    Parameters
    ----------
    folder : Path, optional
        Where results are kept. None: ``methods`` in the user's cache folder; a temporary folder
        when that cannot be written.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = writable(folder or Path(platformdirs.user_cache_dir("uncletc")) / "methods")
        self._lock = threading.RLock()
        self._results: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._jobs: dict[str, Job] = {}
        self._runs: dict[str, Job] = {}
        self._numbers = count()
        self._worker = Worker(
            "dashboard.work.method_worker",
            hear=self._hear,
            lost=self._lost,
            environment=_ONE_THREAD,
        )
        _sweep(self._folder)
        self._private = tempfile.TemporaryDirectory(prefix="counts-", dir=self._folder)

    def warm(self) -> None:
        """Start the process now, so that the first order need not wait for torch to load."""
        with self._lock:
            self._worker.ready()

    def lookup(self, order: Order) -> dict[str, Any] | None:
        """The result of an order, as the worker states it, or None.

        Of a comparison the trials asked for, also where more are known.
        """
        for key in order.keys:
            found = self._result(key)
            if found is not None:
                if isinstance(order, Evaluate):
                    return found | {"trials": found["trials"][: order.trials]}
                return found
        return None

    def job(self, order: Order) -> Job | None:
        """The last job of this order, or None."""
        with self._lock:
            return self._jobs.get(order.key)

    def submit(self, order: Order, watcher: str = "") -> Job:
        """Queue an order and return its job; one already under way is shared."""
        with self._lock:
            job = self._jobs.get(order.key)
            if job is None or not job.active:
                job = Job(order, run=f"{order.key}-{next(self._numbers)}")
                message = {"run": job.run} | order.message()
                if isinstance(order, Evaluate):
                    message["counts"] = str(self._written(order.counts))
                job.process = self._worker.send(message)
                self._jobs[order.key] = self._runs[job.run] = job
            job.watchers.add(watcher)
            return job

    def cancel(self, job: Job, watcher: str = "") -> None:
        """Leave a job; when nobody waits for it any more it stops after its current iteration."""
        with self._lock:
            job.watchers.discard(watcher)
            if not job.active or job.watchers:
                return
            job.message, job.state = "It was cancelled.", "cancelled"
            if job.process is self._worker.process:
                self._worker.send({"cancel": job.run})

    def close(self) -> None:
        """End the process; jobs under way are lost."""
        with self._lock:
            self._worker.close()
            self._private.cleanup()

    def _result(self, key: str) -> dict[str, Any] | None:
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
        try:
            found = json.loads(self._path(key).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            self._path(key).unlink(missing_ok=True)
            return None
        self._remember(key, found)
        return found

    def _path(self, key: str) -> Path:
        return self._folder / f"result-{key}.json"

    def _remember(self, key: str, found: dict[str, Any]) -> None:
        with self._lock:
            self._results[key] = found
            while len(self._results) > _KEPT_IN_MEMORY:
                self._results.popitem(last=False)

    def _keep(self, key: str, found: dict[str, Any]) -> None:
        self._remember(key, found)
        partial = self._path(key).with_suffix(".partial")
        with suppress(OSError):  # a full disk costs the result only its second life
            partial.write_text(json.dumps(found), encoding="utf-8")
            partial.replace(self._path(key))
        kept = sorted(self._folder.glob("result-*.json"), key=lambda path: -path.stat().st_mtime)
        for path in kept[_KEPT_ON_DISK:]:
            path.unlink(missing_ok=True)

    def _counts_path(self, counts: CountTensor) -> Path:
        return Path(self._private.name) / f"{counts.digest}.npz"

    def _written(self, counts: CountTensor) -> Path:
        path = self._counts_path(counts)
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            partial = path.with_suffix(".partial")
            counts.save(partial)
            partial.replace(path)
        return path

    def _forget(self, job: Job) -> None:
        """Drop a run that has ended, and the counts where no other run needs them."""
        del self._runs[job.run]
        if isinstance(job.order, Evaluate):
            path = self._counts_path(job.order.counts)
            others = (each.order for each in self._runs.values())
            if not any(
                isinstance(o, Evaluate) and self._counts_path(o.counts) == path for o in others
            ):
                path.unlink(missing_ok=True)

    def _lost(self, process: Process) -> None:
        with self._lock:
            for job in [job for job in self._runs.values() if job.process is process]:
                if job.active:
                    job.message = "its process ended unexpectedly. Press the button to try again."
                    job.state = "failed"
                self._forget(job)

    def _hear(self, report: dict[str, Any]) -> None:
        with self._lock:
            job = self._runs[report["id"]]
            if "end" in report:
                self._forget(job)
            if not job.active:  # cancelled, and it goes on to its next report
                return
            if "end" in report:
                if report["end"] == "done":
                    self._keep(job.order.key, report["result"])
                job.message, job.state = report["message"], report["end"]
                return
            job.state = "running"
            job.trial, job.iteration = report["trial"], report["iteration"]
            job.seconds = report["seconds"]
            if "errors" in report:
                job.curve.append((report["iteration"], report["errors"]))


class Orders:
    """What one session asks of the service, several orders at a time.

    Parameters
    ----------
    service : MethodService
    me : str
        What the service calls this session.
    """

    def __init__(self, service: MethodService, me: str) -> None:
        self.service, self._me = service, me

    def missing(self, wanted: list[Order]) -> list[Order]:
        """Those without a result."""
        return [order for order in wanted if self.service.lookup(order) is None]

    def submit(self, wanted: list[Order]) -> None:
        """Ask for these, in this order, also where there is a result."""
        for order in wanted:
            self.service.submit(order, self._me)

    def under_way(self, wanted: list[Order]) -> list[Job]:
        """Jobs that this session waits for."""
        return [job for job in self._jobs(wanted) if job.active and self._me in job.watchers]

    def cancel(self, wanted: list[Order]) -> None:
        """Leave all that still wait or run, those in the queue first."""
        for job in reversed(self._jobs(wanted)):
            self.service.cancel(job, self._me)

    def failed(self, wanted: list[Order]) -> list[Job]:
        """Jobs that ended with an error."""
        return [job for job in self._jobs(wanted) if job.state == "failed"]

    def _jobs(self, wanted: list[Order]) -> list[Job]:
        found = [self.service.job(order) for order in wanted]
        return [job for job in found if job is not None]


def _sweep(folder: Path) -> None:
    """Remove counts that a server left behind when it was killed."""
    for left in folder.glob("counts-*"):
        with suppress(OSError):
            if time() - left.stat().st_mtime > _LEFT_BEHIND:
                shutil.rmtree(left)

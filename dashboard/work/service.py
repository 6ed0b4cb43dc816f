"""Fits outside the page's thread: queue, progress, cancel, shared results.

A fit is known by a key, the digest of its data and settings. Finished fits stay in memory and
in the user's cache folder, so settings fitted once show at once, also after a restart. Two
pages that ask for one key share one job, and it is stopped when the last of them leaves it.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import platformdirs

from dashboard.work.processes import Process, State, Worker, writable
from uncletc import CountTensor, Fit, FitSettings, UnreadableFitError

_KEPT_IN_MEMORY = 32
_KEPT_ON_DISK = 200


def fit_key(counts: CountTensor, settings: FitSettings) -> str:
    """Digest of everything that decides a fit: the data, the settings, the library's version."""
    parts = (counts.digest, settings.digest, _version())
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _version() -> str:
    return version("uncletc")  # reads files


@dataclass
class Job:
    """A fit on its way; the worker's reports fill it in.

    Attributes
    ----------
    key : str
        See :func:`fit_key`.
    settings : FitSettings
    run : str
        What the worker calls it; a key asked for again after it was cancelled runs anew.
    state : str
        "waiting", "running", "done", "cancelled" or "failed".
    objectives : list of float
        Of each iteration so far, the starting point first.
    seconds : float
        How long the last report says the fit has run.
    estimates : int
        How many times it has written its estimates so far; see :meth:`FitService.latest`.
    message : str
        Why it ended, as a sentence; empty before.
    watchers : set of str
        Who waits for it.
    """

    key: str
    settings: FitSettings
    run: str = ""
    state: State = "waiting"
    objectives: list[float] = field(default_factory=list)
    seconds: float = 0.0
    estimates: int = 0
    message: str = ""
    watchers: set[str] = field(default_factory=set)
    asked: float = field(default_factory=monotonic)
    process: Process | None = field(default=None, repr=False)

    @property
    def active(self) -> bool:
        """Whether it still waits or runs."""
        return self.state in ("waiting", "running")

    @property
    def iteration(self) -> int:
        """Iterations finished."""
        return max(len(self.objectives) - 1, 0)

    @property
    def seconds_left(self) -> float | None:
        """Time to ``max_iter`` at the pace so far, an upper bound; None before the first pace."""
        if self.iteration == 0:
            return None
        return self.seconds / self.iteration * (self.settings.max_iter - self.iteration)


class FitService:
    """Runs fits one at a time in a process of its own, and remembers their results.

    Parameters
    ----------
    folder : Path, optional
        Where finished fits are kept. None: ``fits`` in the user's cache folder; a temporary
        folder when that cannot be written.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = writable(folder or Path(platformdirs.user_cache_dir("uncletc")) / "fits")
        self._lock = threading.RLock()
        self._fits: OrderedDict[str, Fit] = OrderedDict()
        self._jobs: dict[str, Job] = {}
        self._runs: dict[str, Job] = {}
        self._numbers = count()
        self._worker = Worker("dashboard.work.worker", hear=self._hear, lost=self._lost)
        self._written: set[str] = set()

    def warm(self) -> None:
        """Start the process now, so that the first fit need not wait for torch to load."""
        with self._lock:
            self._worker.ready()

    def lookup(self, key: str) -> Fit | None:
        """The finished fit of this key, or None. An unreadable file counts as none."""
        with self._lock:
            if key in self._fits:
                self._fits.move_to_end(key)
                return self._fits[key]
        try:
            found = Fit.load(self._path(key))
        except FileNotFoundError:
            return None
        except UnreadableFitError:
            self._path(key).unlink(missing_ok=True)
            return None
        self._remember(key, found)
        return found

    def job(self, key: str) -> Job | None:
        """The last job asked for under this key, or None."""
        with self._lock:
            return self._jobs.get(key)

    def latest(self, job: Job) -> Fit | None:
        """The estimates so far of a job under way, or None where there are none yet."""
        if not (job.active and job.estimates):
            return None
        try:
            return Fit.load(self._so_far(job))
        except (FileNotFoundError, UnreadableFitError):
            return None

    def submit(self, counts: CountTensor, settings: FitSettings, watcher: str = "") -> Job:
        """Queue a fit and return its job; one already under way is shared.

        Parameters
        ----------
        counts : CountTensor
        settings : FitSettings
        watcher : str
            Who asks, for :meth:`cancel`.
        """
        key = fit_key(counts, settings)
        with self._lock:
            job = self._jobs.get(key)
            if job is None or not job.active:
                source = self._written_counts(counts)
                job = Job(key, settings, run=f"{key}-{next(self._numbers)}")
                job.process = self._worker.send(
                    {
                        "run": job.run,
                        "counts": str(source),
                        "settings": json.loads(settings.to_json()),
                        "result": str(self._path(key)),
                        "so_far": str(self._so_far(job)),
                    }
                )
                self._jobs[key] = self._runs[job.run] = job
            job.watchers.add(watcher)
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
            if job.process is self._worker.process:
                self._worker.send({"cancel": job.run})

    def close(self) -> None:
        """End the process; jobs under way are lost."""
        with self._lock:
            self._worker.close()

    def _path(self, key: str) -> Path:
        return self._folder / f"fit-{key}.npz"

    def _so_far(self, job: Job) -> Path:
        return self._folder / f"fit-{job.run}.part.npz"

    def _written_counts(self, counts: CountTensor) -> Path:
        path = self._folder / f"counts-{counts.digest}.npz"
        # Written anew once per service: a file from an earlier one may be damaged.
        if counts.digest not in self._written or not path.exists():
            partial = path.with_suffix(".partial")
            counts.save(partial)
            partial.replace(path)
            self._written.add(counts.digest)
        return path

    def _remember(self, key: str, found: Fit) -> None:
        with self._lock:
            self._fits[key] = found
            while len(self._fits) > _KEPT_IN_MEMORY:
                self._fits.popitem(last=False)

    def _lost(self, process: Process) -> None:
        with self._lock:
            for job in [job for job in self._runs.values() if job.process is process]:
                if job.active:
                    job.message = "The fitting process ended unexpectedly. Ask for the fit again."
                    job.state = "failed"
                self._so_far(job).unlink(missing_ok=True)
                del self._runs[job.run]

    def _hear(self, report: dict[str, Any]) -> None:
        with self._lock:
            job = self._runs[report["id"]]
            if "end" in report:
                del self._runs[job.run]
            if not job.active:  # cancelled, and it goes on to its next report
                return
            if "estimate" in report:
                job.estimates = report["estimate"]
            elif "end" in report:
                job.message = report["message"]
                job.state = report["end"]
            else:
                job.objectives.append(report["objective"])
                job.seconds = report["seconds"]
                job.state = "running"
        if job.state == "done":
            self._prune()

    def _prune(self) -> None:
        kept = sorted(self._folder.glob("*.npz"), key=lambda path: -path.stat().st_mtime)
        for path in kept[_KEPT_ON_DISK:]:
            path.unlink(missing_ok=True)

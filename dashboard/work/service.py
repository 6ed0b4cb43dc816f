"""Work beside the pages: queues, progress, cancelling, shared results.

Results stay in memory and in the user's cache folder, so an order made once shows at once, also
after a restart. Sessions that ask for one order share one job, and it is stopped when the last of
them leaves it, or is gone. Counts lie in a folder of this server alone, which goes with it, and so
do results of counts that are someone's own, until they are forgotten.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

from dashboard.work.cluster import Cluster
from dashboard.work.crew import Crew
from dashboard.work.files import refused, remove, trouble
from dashboard.work.jobs import Job, State, session_of
from dashboard.work.limits import Limits
from dashboard.work.order import LANES, Lane, Order, Result
from dashboard.work.orders import FitOrder
from dashboard.work.owned import names_of, names_of_order
from dashboard.work.processes import Process
from dashboard.work.register import Register
from dashboard.work.shelf import Shelf
from dashboard.work.watch import Presence, must_end
from uncletc import CountTensor, Fit

_LOOKED_AFTER = 0.5  # seconds between two looks at what runs
_TRIES = 2  # processes that work on an order, one after another
_TWICE = "its process ended unexpectedly, and so did a second one. Ask for it again."


class Service:
    """Works on orders in processes of their own, some for each lane, and remembers the results.

    Parameters
    ----------
    folder : Path, optional
        Where results are kept. None: ``results`` in the user's cache folder; a temporary folder
        when that cannot be written.
    limits : Limits, optional
        None: what the environment says.
    alive : callable, optional
        Tells of a session, the part of a watcher before "-", whether it still is. None: all are.
    scheduler : str
        Address of a Dask scheduler whose cluster does the work; empty: processes of this server.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        limits: Limits | None = None,
        alive: Callable[[str], bool] | None = None,
        scheduler: str = "",
    ) -> None:
        self.limits = limits or Limits()
        self._presence = Presence(alive or (lambda _: True))
        self._lock = threading.RLock()  # of everything below; nothing slow is done under it
        self._shelf = Shelf(folder, self.limits.disk_gb * 1e9, self._lock)
        self._register = Register()
        self._closed = threading.Event()
        with self._lock:  # a cluster may have room at once
            talk = {"hear": self._hear, "lost": self._lost}
            self._crew: Crew | Cluster = Crew(self.limits, **talk)
            if scheduler:
                self._crew = Cluster(scheduler, **talk, changed=self._dispatch_all)
        threading.Thread(target=self._look_after_all, daemon=True).start()

    @property
    def away(self) -> bool:
        """Whether a cluster does the work, and takes none now."""
        return bool(self._crew.trouble)

    def warm(self, lane: Lane = "quick") -> None:
        """Start a lane's first process now: its first order need not wait for torch to load."""
        with self._lock:
            self._crew.warm(lane)

    def lookup(self, order: Order[Result]) -> Result | None:
        """The result of an order, or None. An unreadable file counts as none."""
        return self._shelf.store.find(order)

    def job(self, order: Order[Any]) -> Job | None:
        """The job of this order, or None: it was never asked for, or it has its result."""
        with self._lock:
            return self._register.jobs.get(order.key)

    def latest(self, job: Job) -> Fit | None:
        """The estimates so far of a fit under way, or None where there are none yet."""
        if not (job.active and job.estimates):
            return None
        try:
            return FitOrder.load(self._shelf.private.so_far(job.run))
        except (FileNotFoundError, ValueError):
            return None

    def place(self, job: Job) -> int:
        """See :meth:`dashboard.work.register.Register.place`."""
        with self._lock:
            return self._register.place(job)

    def submit(self, order: Order[Any], watcher: str = "") -> Job:
        """Queue an order and return its job; one already under way is shared.

        An order beyond the limits is a job that failed, with a message that says why.

        Parameters
        ----------
        order : Order
        watcher : str
            Who asks, for :meth:`cancel`.
        """
        with self._lock:
            job = self._register.jobs.get(order.key)
            if job is not None and job.active:
                job.watchers.add(watcher)
                return job
            held, mine = len(self._register.active), self._register.of_session(watcher)
            refusal = self.limits.refusal(order, of_session=mine, of_all=held)
            job = self._register.add(order, watcher)
            if refusal:
                self._end(job, "failed", refusal)
                return job
            self._shelf.private.keep(order)
        try:
            self._shelf.private.write(order)
        except OSError as error:
            self._end(job, "failed", f"its counts could not be handed over: {trouble(error)}.")
        with self._lock:
            if job.run not in self._register.runs:
                return job
            job.ready = True
            if job.active:
                self._dispatch(order.lane)
            else:  # cancelled while its counts were written
                self._release(job)
        return job

    def cancel(self, job: Job, watcher: str = "") -> None:
        """Leave a job; when nobody waits for it any more it stops after its current iteration.

        It counts as cancelled at once. A finished one stays as it is.
        """
        with self._lock:
            job.watchers.discard(watcher)
            if not job.active or job.watchers:
                return
            self._register.cancel(job)
            if job.process is not None:
                self._crew.tell({"cancel": job.run}, job)
            elif job.ready:
                self._release(job)

    def own(self, counts: CountTensor, owner: str) -> None:
        """Keep what is made of these counts, and of any with the same labels, to this server.

        Parameters
        ----------
        counts : CountTensor
        owner : str
            Who may :meth:`forget` them.
        """
        with self._lock:
            self._shelf.owned.add(counts, owner)

    def forget(self, counts: CountTensor, owner: str) -> None:
        """Leave all jobs of someone's own counts, and keep nothing that was made of them.

        Counts with the same labels are meant too, such as those with other roles or without what
        is held out. Where others own the same, theirs stays; what others wait for is finished.

        Parameters
        ----------
        counts : CountTensor
            As given to :meth:`own`.
        owner : str
            Who forgets them; the session of the watchers whose jobs are left.
        """
        names = names_of(counts)
        with self._lock:
            own = self._shelf.owned.leave(counts, owner)
            jobs = self._register.jobs
            for job in [each for each in jobs.values() if names_of_order(each.order) == names]:
                mine = [each for each in job.watchers if session_of(each) == owner]
                for watcher in mine:
                    self.cancel(job, watcher)
                if not job.active and (mine or not own.owners):
                    del jobs[job.order.key]
            if not own.owners:
                for path in self._shelf.forget(own, self._register.runs.values()):
                    self._crew.tell({"forget": str(path)})

    def numbers(self) -> dict[str, float]:
        """What an operator watches, by name; nothing of it tells who asked for what.

        Returns
        -------
        dict of str to float
            ``done``, ``failed``, ``cancelled``, ``lost`` (processes), ``seconds`` worked,
            ``waiting_quick``, ``waiting_long``, ``running``, ``workers``, ``memory_bytes`` of the
            workers, ``hits_memory``, ``hits_disk``, ``disk_bytes``, ``sessions`` that wait.
        """
        with self._lock:
            workers = [each for each in self._crew.processes if each.poll() is None]
            values = self._register.numbers() | {"workers": len(workers)}
        values["memory_bytes"] = sum(each.memory for each in workers)
        values |= {f"hits_{where}": n for where, n in self._shelf.store.hits.items()}
        return values | {"disk_bytes": self._shelf.store.bytes_on_disk}

    def close(self) -> None:
        """End the processes; jobs under way are lost."""
        self._closed.set()
        with self._lock:
            self._crew.close()
            self._shelf.private.close()

    def _dispatch_all(self) -> None:
        for lane in LANES:
            self._dispatch(lane)

    def _dispatch(self, lane: Lane) -> None:
        """Give idle processes what is next."""
        with self._lock:
            if self._closed.is_set():
                return
            while (worker := self._crew.idle(lane)) is not None:
                waiting = self._register.waiting(lane)
                if not waiting:
                    return
                job = waiting[0]
                try:
                    process = worker.send(self._shelf.message(job))
                except OSError as error:
                    self._end(job, "failed", refused(error))
                    continue
                worker.run = job.run
                job.start(process)

    def _release(self, job: Job) -> None:
        """Drop a run that has ended, and what only it needed."""
        self._register.runs.pop(job.run, None)
        self._shelf.release(job, self._register.runs.values())

    def _end(self, job: Job, state: State, message: str) -> None:
        with self._lock:
            self._release(job)
            self._register.end(job, state, message)

    def _lost(self, process: Process) -> None:
        """Give orders of a process that has ended to another one, once."""
        with self._lock:
            self._register.ended["lost"] += not self._closed.is_set()
            for job in self._register.of_process(process):
                self._crew.free(job.run)
                if self._closed.is_set():
                    self._end(job, "failed", "the server was closed.")
                elif job.stopped:
                    self._end(job, "failed", job.stopped)
                elif not job.active or job.lost + 1 >= _TRIES:
                    self._end(job, "failed", _TWICE)
                else:
                    remove(self._shelf.private.so_far(job.run))
                    job.start_over()
            self._dispatch_all()

    def _hear(self, report: dict[str, Any]) -> None:
        with self._lock:
            job = self._register.runs.get(report["id"])
            if job is None:
                return
            if "end" in report:
                self._end(job, report["end"], report["message"])
                self._crew.free(job.run)
                self._dispatch(job.order.lane)
            elif job.active:  # a cancelled one runs until its next report
                job.hear(report)
        if job.state == "done":
            self._shelf.store.prune()

    def _look_after_all(self) -> None:
        while not self._closed.wait(_LOOKED_AFTER):
            self._look_after()

    def _look_after(self) -> None:
        """Leave what closed sessions waited for, and end what runs beyond the limits."""
        now = monotonic()
        with self._lock:
            active = self._register.active
            gone = self._presence.gone(set().union(*(job.sessions for job in active)), now)
            for job in active:
                for watcher in [each for each in job.watchers if session_of(each) in gone]:
                    self.cancel(job, watcher)
            for job in list(self._register.runs.values()):
                if must_end(job, self.limits, now) and job.process is not None:
                    job.process.kill()

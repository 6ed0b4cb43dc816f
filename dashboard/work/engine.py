"""Work beside the pages: a queue of orders, processes that work on them, shared results.

Results stay in memory and in the user's cache folder, so an order made once shows at once, also
after a restart. Sessions that ask for one order share one job, and it is stopped when the last of
them leaves it, or is gone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from dashboard.work.cluster import Cluster, RemoteWorker
from dashboard.work.jobs import Job, Queue, State, session_of
from dashboard.work.limits import Limits
from dashboard.work.orders import LANES, FitOrder, Lane, Order, Result, program
from dashboard.work.pool import Process, Worker
from dashboard.work.results import Claim, Results, names_of, remove, trouble
from uncletc import CountTensor, Fit

_LOOKED_AFTER = 0.5  # seconds between two looks at what runs
_TRIES = 2  # processes that work on an order, one after another
_TWICE = "its process ended unexpectedly, and so did a second one. Ask for it again."
_CANCELLED = 20.0  # seconds after its last report after which a cancelled order is ended
_GONE = 30.0  # seconds without a session after which it counts as closed; a reload takes less
_AT_ONCE = 2  # orders of a batch in the queue, so that others need not wait for all of them

Orders = Sequence[Order[Any]]


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
        Whether a session, the part of a watcher before "-", is still open. None: all are.
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
        self._alive = alive or (lambda _: True)
        self._seen: dict[str, float] = {}  # when sessions that wait were last there
        self._lock = threading.RLock()  # of everything below; nothing slow is done under it
        self._results = Results(folder, self.limits.disk_gb * 1e9)
        self._queue = Queue()
        self._to_forget: SimpleQueue[Claim] = SimpleQueue()
        self._closed = threading.Event()
        talk = {"on_message": self._on_message, "on_exit": self._on_exit}
        self._cluster = Cluster(scheduler) if scheduler else None
        self._workers: dict[Lane, Sequence[Worker | RemoteWorker]] = {
            lane: [
                Worker(**talk)
                if self._cluster is None
                else RemoteWorker(self._cluster, int(lane == "quick"), **talk)
                for _ in range(self.limits.workers(lane))
            ]
            for lane in LANES
        }
        threading.Thread(target=self._look_after_all, daemon=True).start()

    @property
    def away(self) -> bool:
        """Whether a cluster does the work, and takes none now."""
        return self._cluster is not None and self._cluster.away

    def warm(self, lane: Lane = "quick") -> None:
        """Start a lane's first process now: its first order need not wait for torch to load."""
        with self._lock:
            self._workers[lane][0].start()

    def lookup(self, order: Order[Result]) -> Result | None:
        """Return the result of an order, or None. An unreadable file counts as none."""
        return self._results.find(order)

    def job(self, order: Order[Any]) -> Job | None:
        """Return the job of this order, or None: it was never asked for, or it has its result."""
        with self._lock:
            return self._queue.jobs.get(order.key)

    def latest(self, job: Job) -> Fit | None:
        """Return the estimates so far of a fit under way, or None where there are none yet."""
        if not (job.active and job.estimates):
            return None
        try:
            return FitOrder.load(self._results.so_far(job.run))
        except (FileNotFoundError, ValueError):
            return None

    def place(self, job: Job) -> int:
        """Return how many orders are worked on before this one; 0 for one that runs or ended."""
        with self._lock:
            return self._queue.place(job)

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
            job = self._queue.jobs.get(order.key)
            if job is not None and job.active:
                job.watchers.add(watcher)
                return job
            active = self._queue.active
            mine = sum(session_of(watcher) in each.sessions for each in active)
            refusal = self.limits.refusal(order, of_session=mine, of_all=len(active))
            job = self._queue.add(order, watcher, self._results.path(order))
            if refusal:
                self._end(job, "failed", refusal)
                return job
        try:
            task = self._results.task(job.run, order, job.result)
        except OSError as error:
            self._end(job, "failed", f"its counts could not be handed over: {trouble(error)}.")
            return job
        with self._lock:
            job.task = task | {"program": program()}
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
            self._queue.cancel(job)
            if job.process is not None:
                for worker in self._everyone:
                    if worker.run == job.run:
                        worker.send_control({"cancel": job.run})
            elif job.task:
                self._release(job)

    def own(self, counts: CountTensor, owner: str) -> Claim:
        """Keep what is made of these counts, and of any with the same labels, to this server.

        Parameters
        ----------
        counts : CountTensor
        owner : str
            The session of the watchers whose jobs are left at the end.

        Returns
        -------
        Claim
            Holds until it is given to :meth:`forget`.
        """
        with self._lock:
            return self._results.own(counts, owner)

    def forget_later(self, claim: Claim) -> None:
        """Have someone's own counts forgotten soon.

        It takes no lock, so the garbage collector may call it at any moment, from any thread.
        """
        self._to_forget.put(claim)

    def forget_pending(self) -> None:
        """Forget what :meth:`forget_later` was given."""
        while True:
            try:
                claim = self._to_forget.get_nowait()
            except Empty:
                return
            self.forget(claim)

    def forget(self, claim: Claim) -> None:
        """Leave all jobs of someone's own counts, and keep nothing that was made of them.

        Counts with the same labels are meant too, such as those with other roles or without what
        is held out. Where another claim to them holds, theirs stays; what others wait for is
        finished. A claim is forgotten once, whoever comes first.
        """
        with self._lock:
            if not self._results.holds(claim):
                return
            gone = self._results.forget(claim)
            for job in list(self._queue.jobs.values()):
                if job.order.counts is None or names_of(job.order.counts) != claim.names:
                    continue
                mine = [each for each in job.watchers if session_of(each) == claim.owner]
                for watcher in mine:
                    self.cancel(job, watcher)
                if not job.active and (mine or gone):
                    del self._queue.jobs[job.order.key]
            if gone is not None:
                self._results.release(None, self._queue.runs.values())
                for worker in self._everyone:
                    worker.send_control({"forget": str(gone)})

    def numbers(self) -> dict[str, float]:
        """What an operator watches, by name; nothing of it says who asked for what.

        Returns
        -------
        dict of str to float
            ``done``, ``failed``, ``cancelled``, ``lost`` (processes), ``seconds`` worked,
            ``waiting_quick``, ``waiting_long``, ``running``, ``workers``, ``memory_bytes`` of the
            workers, ``hits_memory``, ``hits_disk``, ``disk_bytes``, ``sessions`` that wait.
        """
        with self._lock:
            started = [each.process for each in self._everyone if each.process is not None]
            alive = [each for each in started if each.poll() is None]
            values = self._queue.numbers() | {"workers": len(alive)}
        values["memory_bytes"] = sum(each.memory for each in alive)
        values |= {f"hits_{where}": n for where, n in self._results.hits.items()}
        return values | {"disk_bytes": self._results.bytes_on_disk}

    def close(self) -> None:
        """End the processes; jobs under way are lost."""
        self._closed.set()
        with self._lock:
            for worker in self._everyone:
                worker.close()
            if self._cluster is not None:
                self._cluster.close()
            self._results.close()

    @property
    def _everyone(self) -> list[Worker | RemoteWorker]:
        return [worker for workers in self._workers.values() for worker in workers]

    def _dispatch(self, lane: Lane) -> None:
        """Give idle processes what is next."""
        with self._lock:
            if self._closed.is_set():
                return
            for worker in self._workers[lane]:
                while not worker.run and (waiting := self._queue.waiting(lane)):
                    job = waiting[0]
                    try:
                        job.start(worker.send(job.task))
                    except OSError as error:
                        self._end(job, "failed", f"no process took it: {trouble(error)}.")
                    else:
                        worker.run = job.run

    def _free(self, run: str) -> None:
        for worker in self._everyone:
            if worker.run == run:
                worker.run = ""

    def _release(self, job: Job) -> None:
        """Drop a run that has ended, and what only it needed."""
        self._queue.runs.pop(job.run, None)
        self._results.release(job, self._queue.runs.values())

    def _end(self, job: Job, state: State, message: str) -> None:
        with self._lock:
            self._release(job)
            self._queue.end(job, state, message)

    def _on_exit(self, process: Process) -> None:
        """Give the order of a process that has ended to another one, once."""
        with self._lock:
            self._queue.ended["lost"] += not self._closed.is_set()
            for job in [each for each in self._queue.runs.values() if each.process is process]:
                self._free(job.run)
                if self._closed.is_set():
                    self._end(job, "failed", "the server was closed.")
                elif job.stopped:
                    self._end(job, "failed", job.stopped)
                elif not job.active or job.lost + 1 >= _TRIES:
                    self._end(job, "failed", _TWICE)
                else:
                    remove(self._results.so_far(job.run))
                    job.start_over()
            for lane in LANES:
                self._dispatch(lane)

    def _on_message(self, report: dict[str, Any]) -> None:
        with self._lock:
            job = self._queue.runs.get(report["id"])
            if job is None:
                return
            if "end" in report:
                self._end(job, report["end"], report["message"])
                self._free(job.run)
                self._dispatch(job.order.lane)
            elif job.active:  # a cancelled one runs until its next report
                job.on_message(report)
        if job.state == "done":
            self._results.prune()

    def _look_after_all(self) -> None:
        while not self._closed.wait(_LOOKED_AFTER):
            self.forget_pending()
            self._look_after(monotonic())

    def _look_after(self, now: float) -> None:
        """Leave what closed sessions waited for, and end what runs beyond the limits."""
        with self._lock:
            active = self._queue.active
            sessions = set().union(*(job.sessions for job in active))
            self._seen = {each: self._seen.get(each, now) for each in sessions}
            self._seen |= {each: now for each in sessions if self._alive(each)}
            gone = {each for each, when in self._seen.items() if now - when > _GONE}
            for job in active:
                for watcher in [each for each in job.watchers if session_of(each) in gone]:
                    self.cancel(job, watcher)
            for job in list(self._queue.runs.values()):
                if job.process is not None and not job.process.waits:
                    self._end_beyond_limits(job, job.process, now)

    def _end_beyond_limits(self, job: Job, process: Process, now: float) -> None:
        """End a process that takes too long or too much; a silent one is hung, and tried again."""
        if now - job.began > self.limits.seconds:
            job.stopped = self.limits.too_long
        elif process.memory > self.limits.memory_gb * 1e9:
            job.stopped = self.limits.too_large
        silent = self.limits.silent_seconds if job.active else _CANCELLED
        if job.stopped or now - job.heard > silent:
            process.kill()


@dataclass(frozen=True)
class Session:
    """One session's view of the service.

    Attributes
    ----------
    service : Service
    watcher : str
        Names the session: what others wait for as well is not stopped with it.
    """

    service: Service
    watcher: str

    def lookup(self, order: Order[Result]) -> Result | None:
        """Return the result of an order, or None."""
        return self.service.lookup(order)

    def missing(self, orders: Orders) -> list[Order[Any]]:
        """Return those without a result."""
        return [order for order in orders if self.service.lookup(order) is None]

    def submit(self, orders: Orders) -> None:
        """Ask for these, in this order, also where there is a result."""
        for order in orders:
            self.service.submit(order, self.watcher)

    def under_way(self, orders: Orders) -> list[Job]:
        """Return jobs that this session waits for."""
        return [job for job in self._jobs(orders) if job.active and self.watcher in job.watchers]

    def cancel(self, orders: Orders) -> None:
        """Leave what waits or runs, the last in the queue first: nothing starts in between."""
        for job in reversed(self._jobs(orders)):
            self.service.cancel(job, self.watcher)

    def failed(self, orders: Orders) -> list[Job]:
        """Return jobs that ended with an error."""
        return [job for job in self._jobs(orders) if job.state == "failed"]

    def advance(self, orders: Orders, queued: set[str]) -> bool:
        """Queue the next orders of a batch, and return whether anything is left to wait for.

        Parameters
        ----------
        orders : sequence of Order
        queued : set of str
            Keys queued for this batch so far; grows. One that failed or was cancelled since is
            not tried again.
        """
        free = _AT_ONCE - len(self.under_way(orders))
        left = [order for order in self.missing(orders) if order.key not in queued]
        for order in left[: max(free, 0)]:
            queued.add(order.key)
            self.submit([order])
        return bool(self.under_way(orders)) or len(left) > free

    def _jobs(self, orders: Orders) -> list[Job]:
        jobs = (self.service.job(order) for order in orders)
        return [job for job in jobs if job is not None]

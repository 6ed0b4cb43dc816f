"""Work beside the pages: a queue of orders, processes that work on them, shared results.

Results stay in memory and in the user's cache folder, so an order made once shows at once, also
after a restart. Sessions that ask for one order share one job, and it is stopped when the last of
them leaves it, or is gone.
"""

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from time import monotonic
from typing import Any, Literal
from uuid import uuid4

from dashboard.work.limits import Limits
from dashboard.work.orders import LANES, FitOrder, Lane, Order, program
from dashboard.work.pool import Lost, RemoteWorker, Worker
from dashboard.work.results import Names, Results, trouble
from dashboard.work.wire import as_bytes
from uncletc import CountTensor, Fit

State = Literal["waiting", "running", "done", "cancelled", "failed"]
Orders = Sequence[Order]

_ENFORCED = 0.5  # seconds between two checks of what runs
_TWICE = "its process ended unexpectedly, and so did a second one. Ask for it again."
_CANCELLED = 20.0  # seconds after which the process of a cancelled order is ended
_GONE = 30.0  # seconds without a session after which it counts as closed; a reload takes less
_AT_ONCE = 2  # orders of a batch in the queue, so that others need not wait for all of them
_ENDED_JOBS = 200  # that were cancelled or failed, and are still known

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Job:
    """An order on its way; the reports of its process fill it in.

    Attributes
    ----------
    order : Order
    run : str
        What the process calls it; an order made again after it was cancelled runs again.
    watchers : set of str
        Who waits for it: a session and what part of a page, as "session-part".
    private : hashable, optional
        What its counts are called, where they were someone's own when it was asked for.
    state : str
        "waiting", "running", "done", "cancelled" or "failed".
    message : str
        Why it ended, as a sentence; empty before, and where it has a result.
    trial, iteration : int
        Where it is.
    seconds : float
        How long the present fit has run, as of the last report.
    objective : float, optional
        Of the last iteration of a fit, the starting point before the first.
    estimates : int
        How many estimates so far it has sent, of which the last are for ``Service.latest``.
    asked, began, ended : float
        When it was asked for, when a process got it, when it ended.
    lost : int
        How many processes ended while they worked on it.
    stopped : str
        Why it was ended from here, as the end of a sentence; empty where it was not.
    """

    order: Order
    run: str = field(default_factory=lambda: uuid4().hex)
    watchers: set[str] = field(default_factory=set)
    private: Names | None = field(default=None, repr=False)
    state: State = "waiting"
    message: str = ""
    trial: int = 0
    iteration: int = 0
    seconds: float = 0.0
    objective: float | None = None
    estimates: int = 0
    latest: bytes = field(default=b"", repr=False)
    asked: float = field(default_factory=monotonic)
    began: float = 0.0
    ended: float = 0.0
    lost: int = 0
    stopped: str = ""

    @property
    def active(self) -> bool:
        """Whether it still waits or runs."""
        return self.state in ("waiting", "running")

    @property
    def sessions(self) -> set[str]:
        """Sessions that wait for it."""
        return {session_of(watcher) for watcher in self.watchers}

    @property
    def share(self) -> float:
        """How much of it is done, counting iterations up to the most there can be."""
        within = min(self.iteration / max(self.order.max_iter, 1), 1.0)
        return min((self.trial + within) / self.order.trials, 1.0)


def session_of(watcher: str) -> str:
    """Return the session that a watcher belongs to; its name may have dashes."""
    return watcher.rpartition("-")[0] or watcher


@dataclass(eq=False)
class _Place:
    """A place for one order at a time: a lane's process, or one at a cluster."""

    lane: Lane
    worker: Worker | RemoteWorker
    job: Job | None = None


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
        self._results = Results(folder, self.limits.disk_gb * 1e9)
        self._changed = threading.Condition()  # and lock of all below; nothing slow is done with it
        self._jobs: OrderedDict[str, Job] = OrderedDict()  # the last of each order, unless done
        self._ended: Counter[str] = Counter(done=0, failed=0, cancelled=0)
        self._seen: dict[str, float] = {}  # when sessions that wait were last there,
        self._served: dict[str, float] = {}  # and when a place last took an order of theirs
        self._to_forget: SimpleQueue[Names] = SimpleQueue()
        self._closed = threading.Event()
        self._places = [
            _Place(lane, RemoteWorker(scheduler, lane) if scheduler else Worker())
            for lane, n in zip(
                LANES, (self.limits.quick_workers, self.limits.long_workers), strict=True
            )
            for _ in range(n)
        ]
        for place in self._places:
            threading.Thread(target=self._work, args=(place,), daemon=True).start()
        threading.Thread(target=self._enforce_always, daemon=True).start()

    @property
    def away(self) -> bool:
        """Whether a cluster does the work, and takes none now."""
        return any(isinstance(p.worker, RemoteWorker) and p.worker.away for p in self._places)

    def warm(self, lane: Lane = "quick") -> None:
        """Start a lane's first process now: its first order need not wait for torch to load."""
        next(each for each in self._places if each.lane == lane).worker.start()

    def lookup(self, order: Order) -> Any:
        """Return the result of an order, or None."""
        return self._results.find(order)

    def job(self, order: Order) -> Job | None:
        """Return the job of this order, or None: it was never asked for, or it has its result."""
        with self._changed:
            return self._jobs.get(order.key)

    def latest(self, job: Job) -> Fit | None:
        """Return the estimates so far of a fit under way, or None where there are none yet."""
        data = job.latest
        return FitOrder.decode(data) if data and job.active else None

    def submit(self, order: Order, watcher: str = "") -> Job:
        """Queue an order and return its job; one already under way is shared.

        An order beyond the limits is a job that failed, with a message that says why.

        Parameters
        ----------
        order : Order
        watcher : str
            Who asks, for :meth:`cancel`.
        """
        with self._changed:
            job = self._jobs.get(order.key)
            if job is not None and job.active:
                job.watchers.add(watcher)
                return job
            active = self.active
            mine = sum(session_of(watcher) in each.sessions for each in active)
            refusal = self.limits.refusal(of_session=mine, of_all=len(active))
            private = self._results.private(order.counts)
            job = self._jobs[order.key] = Job(order, watchers={watcher}, private=private)
            self._jobs.move_to_end(order.key)
            if refusal:
                self._end(job, "failed", refusal)
            self._changed.notify_all()
            return job

    def cancel(self, job: Job, watcher: str = "") -> None:
        """Leave a job; when nobody waits for it any more it stops after its current iteration.

        It counts as cancelled at once. A finished one stays as it is.
        """
        with self._changed:
            job.watchers.discard(watcher)
            if not job.active or job.watchers:
                return
            self._end(job, "cancelled", "It was cancelled.")
            for place in self._places:
                if place.job is job:
                    place.worker.cancel(job.run)

    @property
    def active(self) -> list[Job]:
        """Jobs that wait or run."""
        with self._changed:
            return [job for job in self._jobs.values() if job.active]

    def own(self, counts: CountTensor) -> Names:
        """Keep what is made of these counts, and of any with the same labels, to this server.

        Returns
        -------
        hashable
            What they are called, for one call of :meth:`forget`, until which this holds.
        """
        return self._results.own(counts)

    def publish(self, counts: CountTensor) -> None:
        """Note that counts are those of a public data set, and so nobody's own."""
        self._results.publish(counts)

    def forget_later(self, names: Names) -> None:
        """Have someone's own counts forgotten soon.

        It takes no lock, so the garbage collector may call it at any moment, from any thread.
        """
        self._to_forget.put(names)

    def forget(self, names: Names) -> None:
        """Stop all jobs of someone's own counts, and keep nothing that was made of them.

        Counts with the same labels are meant too, such as those with other roles or without what
        is held out. Where somebody else has such counts, all stays.
        """
        with self._changed:
            if not self._results.forget(names):
                return
            for job in list(self._jobs.values()):
                if job.private == names:
                    for watcher in list(job.watchers):
                        self.cancel(job, watcher)
                    self._jobs.pop(job.order.key, None)  # old ones go when one ends

    def numbers(self) -> dict[str, float]:
        """What an operator watches, by name; nothing of it says who asked for what."""
        with self._changed:
            active = self.active
            alive = [each.worker for each in self._places if each.worker.alive]
            waiting = Counter(job.order.lane for job in active if job.state == "waiting")
            values = {f"orders_waiting_{lane}": float(waiting[lane]) for lane in LANES}
            values |= {f"orders_{state}": n for state, n in self._ended.items()}
            values |= {"orders_running": len(active) - waiting.total(), "workers": len(alive)}
        values["workers_memory_bytes"] = sum(each.memory for each in alive)
        return values | {"results_bytes": self._results.bytes_on_disk}

    def close(self) -> None:
        """End the processes; jobs under way are lost."""
        self._closed.set()
        with self._changed:
            for job in self.active:
                self._end(job, "failed", "the server was closed.")
            self._changed.notify_all()
        for place in self._places:
            place.worker.close()

    def _work(self, place: _Place) -> None:
        """Have orders of this place's lane worked on, one after another."""
        while not self._closed.is_set():
            with self._changed:
                if (job := self._next(place.lane)) is None:
                    self._changed.wait()
                    continue
                place.job, job.state, job.began = job, "running", monotonic()
                self._served |= dict.fromkeys(job.sessions, job.began)
            try:
                state, message, data = self._outcome(place, job)
                if state == "done" and job.active:
                    self._results.put(job.order, data, job.private)
            except OSError as error:
                state, message = "failed", f"no process took it: {trouble(error)}."
            except Exception as error:  # this place must live on
                log.exception("an order could not be worked on")
                state, message = "failed", f"it could not be worked on ({type(error).__name__})."
            with self._changed:
                place.job = None
                self._end(job, state, message)

    def _next(self, lane: Lane) -> Job | None:
        """Return the next order of a lane; the session that was served longest ago comes first."""
        if self._closed.is_set():
            return None
        waiting = [job for job in self.active if job.state == "waiting" and job.order.lane == lane]

        def turn(job: Job) -> tuple[float, float]:
            return min(self._served.get(each, 0.0) for each in job.sessions), job.asked

        return min(waiting, key=turn, default=None)

    def _outcome(self, place: _Place, job: Job) -> tuple[State, str, bytes]:
        """Have an order worked on, and once more where its process is lost."""
        order = job.order
        before = None if order.begins_with is None else self._results.find(order.begins_with)
        if before is not None and before.settings.rank != order.settings.rank:
            # A cluster sends no estimates so far; none needs draws.
            away = isinstance(place.worker, RemoteWorker)
            before = None if away else replace(before, draws=None)
        counts = b"" if order.counts is None else as_bytes(order.counts.save, compressed=False)
        data = [counts, b"" if before is None else FitOrder.encode(before)]
        message = order.message() | {"run": job.run, "program": program()}
        while True:
            try:
                end, (result,) = place.worker.run(message, data, partial(self._on_report, job))
                return end["end"], end["message"], result
            except Lost:
                with self._changed:
                    if self._closed.is_set() or job.stopped or job.lost or not job.active:
                        return "failed", job.stopped or _TWICE, b""
                    job.lost, job.began = job.lost + 1, monotonic()  # another one begins with it
                    job.trial, job.iteration, job.seconds = 0, 0, 0.0
                    job.estimates, job.latest, job.objective = 0, b"", None

    def _on_report(self, job: Job, report: dict[str, Any], data: bytes) -> None:
        """Note where a job is; a cancelled one runs until its next report."""
        with self._changed:
            if "estimate" in report and job.active:
                job.estimates, job.latest = job.estimates + 1, data
            elif job.active:
                job.trial, job.iteration = report.get("trial", 0), report.get("iteration", 0)
                job.seconds, job.objective = report.get("seconds", 0.0), report.get("objective")

    def _end(self, job: Job, state: State, message: str) -> None:
        """Note how a job ended, and log it without the message, which may quote data."""
        if not job.active:  # it was cancelled before
            return
        job.state, job.message, job.latest, job.ended = state, message, b"", monotonic()
        self._ended[state] += 1
        if state == "done" and self._jobs.get(job.order.key) is job:  # its result is there
            del self._jobs[job.order.key]
        ended = [key for key, each in self._jobs.items() if not each.active]
        for key in ended[:-_ENDED_JOBS]:
            del self._jobs[key]
        began = job.began or job.ended
        log.info(
            "an order ended",
            extra={
                "order": type(job.order).__name__,
                "state": state,
                "seconds": round(job.ended - began, 3),
                "waited": round(began - job.asked, 3),
                "lost": job.lost,
            },
        )

    def _enforce_always(self) -> None:
        while not self._closed.wait(_ENFORCED):
            try:
                self._enforce_limits(monotonic())
            except Exception:  # limits must be kept all the same
                log.exception("limits could not be enforced")

    def _enforce_limits(self, now: float) -> None:
        """Leave what closed sessions waited for, and end what runs beyond the limits."""
        while not self._to_forget.empty():
            self.forget(self._to_forget.get_nowait())
        with self._changed:
            sessions = set().union(*(job.sessions for job in self.active))
            self._served = {each: t for each, t in self._served.items() if each in sessions}
            self._seen = {each: self._seen.get(each, now) for each in sessions}
            self._seen |= {each: now for each in sessions if self._alive(each)}
            gone = {each for each, when in self._seen.items() if now - when > _GONE}
            for job in self.active:
                for watcher in [each for each in job.watchers if session_of(each) in gone]:
                    self.cancel(job, watcher)
            for place in self._places:
                if (job := place.job) is not None:
                    job.stopped = self.limits.excess(now - job.began, place.worker.memory)
                    # Or it does not stop when it is asked to.
                    if job.stopped or (not job.active and now - job.ended > _CANCELLED):
                        place.worker.kill()


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

    def missing(self, orders: Orders) -> list[Order]:
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

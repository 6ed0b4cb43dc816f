"""Orders on their way: how far each is, which is next, and how many have ended."""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any, Literal

from dashboard.work.orders import LANES, Lane, Order
from dashboard.work.pool import Process

State = Literal["waiting", "running", "done", "cancelled", "failed"]

_ENDED_JOBS = 200  # that were cancelled or failed, and are still known

log = logging.getLogger(__name__)


@dataclass(eq=False)
class Job:
    """An order on its way; the worker's reports fill it in.

    Attributes
    ----------
    order : Order
    run : str
        What the worker calls it; an order made again after it was cancelled runs again.
    result : Path
        Where its result will lie.
    state : str
        "waiting", "running", "done", "cancelled" or "failed".
    trial, iteration : int
        Where it is.
    seconds : float
        How long the present fit has run, as of the last report.
    curve : list of (int, dict of str to float)
        Numbers by name at some iterations: the objective of a fit, errors where truth is known.
    estimates : int
        How many times it has written its estimates so far, for ``Service.latest``.
    message : str
        Why it ended, as a sentence; empty before, and where it has a result.
    watchers : set of str
        Who waits for it: a session and what part of a page, as "session-part".
    asked : float
        When it was asked for; of no meaning but its order.
    task : dict
        The message for its worker; empty until its counts are where a process can read them.
    process : Process, optional
        The one that works on it, or did before the order ended.
    began, heard : float
        When that process got it, and when it last reported.
    lost : int
        How many processes ended while they worked on it.
    stopped : str
        Why it was ended from here, as the end of a sentence; empty where it was not.
    """

    order: Order[Any]
    run: str = ""
    result: Path = Path()
    state: State = "waiting"
    trial: int = 0
    iteration: int = 0
    seconds: float = 0.0
    curve: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    estimates: int = 0
    message: str = ""
    watchers: set[str] = field(default_factory=set)
    asked: float = field(default_factory=monotonic)
    task: dict[str, Any] = field(default_factory=dict, repr=False)
    process: Process | None = field(default=None, repr=False)
    began: float = 0.0
    heard: float = 0.0
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
    def objectives(self) -> list[float]:
        """Of each iteration of a fit so far, the starting point first."""
        return [values["objective"] for _, values in self.curve if "objective" in values]

    @property
    def share(self) -> float:
        """How much of it is done, counting iterations up to the most there can be."""
        within = min(self.iteration / max(self.order.max_iter, 1), 1.0)
        return min((self.trial + within) / self.order.trials, 1.0)

    @property
    def seconds_left(self) -> float | None:
        """Time to ``max_iter`` at the pace so far, an upper bound; None before the first pace."""
        if self.iteration == 0:
            return None
        return self.seconds / self.iteration * (self.order.max_iter - self.iteration)

    def start(self, process: Process) -> None:
        """Note that a process has it."""
        self.process, self.began = process, monotonic()
        self.heard = self.began

    def start_over(self) -> None:
        """Note that its process is gone, and that it waits for another one."""
        self.process, self.state, self.lost = None, "waiting", self.lost + 1
        self.trial, self.iteration, self.seconds, self.estimates = 0, 0, 0.0, 0
        self.curve.clear()

    def on_message(self, report: dict[str, Any]) -> None:
        """Note where it is."""
        self.heard = monotonic()
        if "begun" in report:  # it waited at the cluster until now
            self.began = self.heard
            return
        if "estimate" in report:
            self.estimates = report["estimate"]
            return
        self.state = "running"
        self.trial = report.get("trial", 0)
        self.iteration, self.seconds = report["iteration"], report["seconds"]
        if report["values"]:
            self.curve.append((report["iteration"], report["values"]))


def session_of(watcher: str) -> str:
    """Return the session that a watcher belongs to."""
    return watcher.partition("-")[0]


def in_turn(waiting: Iterable[Job], running: Iterable[Job] = ()) -> list[Job]:
    """Return jobs that wait in the order in which they will be worked on, fair among sessions.

    The n-th order of one session comes after everybody's first to (n − 1)-th; among equals the one
    asked for first. An order that several sessions wait for has the best of their places. One that
    lost its process comes first.

    Parameters
    ----------
    waiting, running : iterable of Job
        Of one lane.
    """
    taken = Counter(session for job in running for session in job.sessions)
    placed = []
    for job in sorted(waiting, key=lambda job: job.asked):
        sessions = job.sessions or {""}
        turn = -1 if job.lost else min(taken[session] for session in sessions)
        placed.append((turn, job.asked, job))
        taken.update(sessions)
    return [job for *_, job in sorted(placed, key=lambda each: each[:2])]


class Queue:
    """Jobs of one server; whoever uses it holds the lock of the service.

    Attributes
    ----------
    jobs : OrderedDict of str to Job
        By the key of their order: those under way, and those that ended without a result.
    runs : dict of str to Job
        By what workers call them: those that wait, or that a process has.
    ended : Counter of str
        How many orders were "done", "failed" or "cancelled", and processes "lost".
    """

    def __init__(self) -> None:
        self.jobs: OrderedDict[str, Job] = OrderedDict()
        self.runs: dict[str, Job] = {}
        self.ended: Counter[str] = Counter()
        self._numbers = count()
        self._seconds = 0.0

    @property
    def active(self) -> list[Job]:
        """Those that wait or run."""
        return [job for job in self.runs.values() if job.active]

    def add(self, order: Order[Any], watcher: str, result: Path = Path()) -> Job:
        """Note a new job; it is the one of its order from now on."""
        run = f"{order.key}-{next(self._numbers)}"
        job = Job(order, run=run, result=result, watchers={watcher})
        self.jobs[order.key] = self.runs[job.run] = job
        self.jobs.move_to_end(order.key)
        return job

    def waiting(self, lane: Lane) -> list[Job]:
        """Those of a lane that no process has, the next one first."""
        mine = [job for job in self.active if job.order.lane == lane]
        waiting = [job for job in mine if job.task and job.process is None]
        return in_turn(waiting, [job for job in mine if job.process is not None])

    def place(self, job: Job) -> int:
        """How many orders are worked on before this one; 0 for one that runs or has ended."""
        if not job.active or job.process is not None:
            return 0
        waiting = self.waiting(job.order.lane)
        return waiting.index(job) + 1 if job in waiting else len(waiting) + 1

    def end(self, job: Job, state: State, message: str) -> None:
        """Note how a job ended; one that was cancelled before stays so."""
        self.runs.pop(job.run, None)
        if job.process is not None:
            self._seconds += monotonic() - job.began
        if not job.active:
            return
        self._note(job, state, message)
        if state == "done":  # its result is there
            del self.jobs[job.order.key]
        ended = [key for key, each in self.jobs.items() if not each.active]
        for key in ended[:-_ENDED_JOBS]:
            del self.jobs[key]

    def cancel(self, job: Job) -> None:
        """Note that nobody waits for a job; its run stays until its process has let go of it."""
        self._note(job, "cancelled", "It was cancelled.")

    def _note(self, job: Job, state: State, message: str) -> None:
        """Note how a job ended, and log it without the message, which may quote data."""
        job.message, job.state = message, state
        self.ended[state] += 1
        now = monotonic()
        began = now if job.process is None else job.began
        log.info(
            "an order ended",
            extra={
                "order": type(job.order).__name__,
                "state": state,
                "seconds": round(now - began, 3),
                "waited": round(began - job.asked, 3),
                "lost": job.lost,
            },
        )

    def numbers(self) -> dict[str, float]:
        """What an operator watches of it, by name."""
        values: dict[str, float] = {
            name: self.ended[name] for name in ("done", "failed", "cancelled", "lost")
        }
        values |= {f"waiting_{lane}": len(self.waiting(lane)) for lane in LANES}
        return values | {
            "seconds": self._seconds,
            "running": sum(job.process is not None for job in self.active),
            "sessions": len(set().union(*(job.sessions for job in self.active))),
        }

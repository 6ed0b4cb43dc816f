"""The jobs of a server: which wait, which are worked on, and how many have ended.

Whoever uses it holds the lock of the service.
"""

from __future__ import annotations

import logging
from collections import Counter, OrderedDict
from collections.abc import Sequence
from itertools import count
from time import monotonic
from typing import Any

from dashboard.work.jobs import Job, State, session_of
from dashboard.work.order import LANES, Lane, Order
from dashboard.work.processes import Process
from dashboard.work.turns import in_turn

_ENDED_JOBS = 200  # that were cancelled or failed, and are still known

log = logging.getLogger(__name__)


class Register:
    """Jobs of one server.

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

    def of_session(self, watcher: str) -> int:
        """How many of them the session of a watcher waits for."""
        return sum(session_of(watcher) in job.sessions for job in self.active)

    def of_process(self, process: Process) -> list[Job]:
        """Those that a process has."""
        return [job for job in self.runs.values() if job.process is process]

    def add(self, order: Order[Any], watcher: str) -> Job:
        """Note a new job; it is the one of its order from now on."""
        job = Job(order, run=f"{order.key}-{next(self._numbers)}", watchers={watcher})
        self.jobs[order.key] = self.runs[job.run] = job
        self.jobs.move_to_end(order.key)
        return job

    def waiting(self, lane: Lane) -> list[Job]:
        """Those of a lane that no process has, the next one first."""
        mine = [job for job in self.active if job.order.lane == lane]
        waiting = [job for job in mine if job.ready and job.process is None]
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
        if state == "done":  # the result stands for it
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
        said = {
            "order": type(job.order).__name__,
            "state": state,
            "seconds": round(now - began, 3),
            "waited": round(began - job.asked, 3),
            "lost": job.lost,
        }
        log.info("an order ended", extra=said)

    def numbers(self) -> dict[str, float]:
        """What an operator watches of it, by name."""
        jobs: Sequence[Job] = self.active
        values: dict[str, float] = {
            name: self.ended[name] for name in ("done", "failed", "cancelled", "lost")
        }
        values["seconds"] = self._seconds
        values |= {f"waiting_{lane}": len(self.waiting(lane)) for lane in LANES}
        values["running"] = sum(job.process is not None for job in jobs)
        values["sessions"] = len(set().union(*(job.sessions for job in jobs)))
        return values

"""An order on its way, and how far it is. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from dashboard.work.order import Order
from dashboard.work.processes import Process

State = Literal["waiting", "running", "done", "cancelled", "failed"]


@dataclass(eq=False)
class Job:
    """An order on its way; the worker's reports fill it in.

    Attributes
    ----------
    order : Order
    run : str
        What the worker calls it; an order made again after it was cancelled runs again.
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
    ready : bool
        Whether its counts are where a process can read them.
    process : Popen, optional
        The one that works on it, or did before the order ended.
    began, heard : float
        When that process got it, and when it last said something.
    lost : int
        How many processes ended while they worked on it.
    stopped : str
        Why it was ended from here, as the end of a sentence; empty where it was not.
    """

    order: Order[Any]
    run: str = ""
    state: State = "waiting"
    trial: int = 0
    iteration: int = 0
    seconds: float = 0.0
    curve: list[tuple[int, dict[str, float]]] = field(default_factory=list)
    estimates: int = 0
    message: str = ""
    watchers: set[str] = field(default_factory=set)
    asked: float = field(default_factory=monotonic)
    ready: bool = False
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

    def hear(self, report: dict[str, Any]) -> None:
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
    """The session that a watcher belongs to."""
    return watcher.partition("-")[0]

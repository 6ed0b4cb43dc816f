"""An order on its way, and how far it is. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal

from dashboard.work.orders import Order
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
        Who waits for it.
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
    process: Process | None = field(default=None, repr=False)

    @property
    def active(self) -> bool:
        """Whether it still waits or runs."""
        return self.state in ("waiting", "running")

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

    def hear(self, report: dict[str, Any]) -> None:
        """Note where it is."""
        if "estimate" in report:
            self.estimates = report["estimate"]
            return
        self.state = "running"
        self.trial = report.get("trial", 0)
        self.iteration, self.seconds = report["iteration"], report["seconds"]
        if report["values"]:
            self.curve.append((report["iteration"], report["values"]))

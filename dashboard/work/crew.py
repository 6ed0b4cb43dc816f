"""The processes of a server, some for each lane; each has one order at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dashboard.work.jobs import Job
from dashboard.work.limits import Limits
from dashboard.work.order import LANES, Lane
from dashboard.work.processes import Process, Worker


class Crew:
    """All processes; whoever uses it holds the lock of the service.

    Parameters
    ----------
    limits : Limits
    hear, lost : callable
        See :class:`dashboard.work.processes.Worker`.

    Attributes
    ----------
    trouble : str
        Why none takes an order, as a part of a sentence: these always may.
    """

    trouble = ""

    def __init__(
        self,
        limits: Limits,
        *,
        hear: Callable[[dict[str, Any]], None],
        lost: Callable[[Process], None],
    ) -> None:
        self._lanes = {
            lane: [Worker(hear=hear, lost=lost) for _ in range(limits.workers(lane))]
            for lane in LANES
        }

    def of(self, lane: Lane) -> list[Worker]:
        """The processes of a lane, the first one first."""
        return self._lanes[lane]

    def warm(self, lane: Lane) -> None:
        """Start a lane's first process now."""
        self._lanes[lane][0].ready()

    @property
    def everyone(self) -> list[Worker]:
        """All of them."""
        return [worker for workers in self._lanes.values() for worker in workers]

    @property
    def processes(self) -> list[Process]:
        """Those that were started."""
        return [worker.process for worker in self.everyone if worker.process is not None]

    def idle(self, lane: Lane) -> Worker | None:
        """One without an order, None where all have one."""
        return next((worker for worker in self._lanes[lane] if not worker.run), None)

    def free(self, run: str) -> None:
        """Note that nobody has this order any more."""
        for worker in self.everyone:
            if worker.run == run:
                worker.run = ""

    def tell(self, message: dict[str, Any], job: Job | None = None) -> None:
        """Say something to the process that has an order; to all without one."""
        for worker in self.everyone:
            if job is None or worker.run == job.run:
                worker.tell(message, None if job is None else job.process)

    def close(self) -> None:
        """End all processes."""
        for worker in self.everyone:
            worker.close()

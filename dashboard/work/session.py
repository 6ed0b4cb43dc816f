"""What one session asks of the service that all sessions share, several orders at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dashboard.work.jobs import Job
from dashboard.work.order import Order, Result
from dashboard.work.service import Service

_AT_ONCE = 2  # orders of a batch in the queue, so that others need not wait for all of them

Orders = Sequence[Order[Any]]


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
        """The result of an order, or None."""
        return self.service.lookup(order)

    def missing(self, orders: Orders) -> list[Order[Any]]:
        """Those without a result."""
        return [order for order in orders if self.service.lookup(order) is None]

    def submit(self, orders: Orders) -> None:
        """Ask for these, in this order, also where there is a result."""
        for order in orders:
            self.service.submit(order, self.watcher)

    def under_way(self, orders: Orders) -> list[Job]:
        """Jobs that this session waits for."""
        return [job for job in self._jobs(orders) if job.active and self.watcher in job.watchers]

    def cancel(self, orders: Orders) -> None:
        """Leave what waits or runs, the last in the queue first: nothing starts in between."""
        for job in reversed(self._jobs(orders)):
            self.service.cancel(job, self.watcher)

    def failed(self, orders: Orders) -> list[Job]:
        """Jobs that ended with an error."""
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

"""Whether the server can do what it is for: it fits a tiny tensor, as a page would have it fitted.

A server that is busy is ready: its tiny fit waits for its turn among the others.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable
from time import monotonic

from dashboard.work.orders import Recovery
from dashboard.work.service import Service
from uncletc import FitSettings

_AGAIN = 600.0  # seconds until another tiny fit is made
_WATCHER = "readiness"
_TINY = {"shape": [4, 4, 4], "rank": 1, "n_attributes": 1}
_STEPS = 20

log = logging.getLogger(__name__)


class Readiness:
    """Has a tiny tensor fitted now and then.

    Parameters
    ----------
    service : callable
        Returns the service of fits.
    clock : callable, optional
        Seconds, for tests.
    """

    def __init__(
        self, service: Callable[[], Service], clock: Callable[[], float] = monotonic
    ) -> None:
        self._service, self._clock = service, clock
        self._first = secrets.randbelow(10**6)  # so that the first one is not found on disk
        self._began = clock()
        self._ready = False
        self._found = -1  # the last tiny fit that was

    def look(self) -> str:
        """Return why the server is not ready, as a sentence; empty where it is."""
        past = int((self._clock() - self._began) // _AGAIN)
        if past == self._found:
            return ""
        order, service = self._order(past), self._service()
        if service.lookup(order) is not None:
            self._ready, self._found = True, past
            return ""
        if service.away:  # for all replicas alike: pages that say so are better than none
            return ""
        job = service.job(order)
        if job is not None and job.state == "failed":
            log.error("the tiny fit failed")
            self._ready = False
            service.submit(order, _WATCHER)
            return "A tiny fit failed."
        if (job is None or not job.active) and not _full(service):
            service.submit(order, _WATCHER)
        return "" if self._ready else "The first tiny fit has not finished yet."

    def _order(self, past: int) -> Recovery:
        settings = FitSettings(rank=1, max_iter=_STEPS, seed=0)
        simulation = _TINY | {"seed": self._first + past}
        return Recovery(simulation=simulation, settings=settings)


def _full(service: Service) -> bool:
    numbers = service.numbers()
    held = sum(numbers[name] for name in ("running", "waiting_quick", "waiting_long"))
    return held >= service.limits.queue

"""Whether the server does its work, for a proxy, and how much of it, for Prometheus."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Protocol

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from streamlit import runtime

from dashboard.work.engine import Service
from dashboard.work.orders import Recovery
from uncletc import FitSettings

_COUNTERS = {"orders_done", "orders_failed", "orders_cancelled", "work_seconds", "workers_lost"}
_SESSIONS = "active_sessions"  # Streamlit's name of browsers connected
_AGAIN = 600.0  # seconds until another tiny fit is made
_WATCHER = "readiness"
_TINY = {"shape": [4, 4, 4], "rank": 1, "n_attributes": 1}
_STEPS = 20

log = logging.getLogger(__name__)


class Counted(Protocol):
    """Something that counts what it does, as the service of fits."""

    def numbers(self) -> dict[str, float]:
        """Return what it has counted, by name."""
        ...


class Work:
    """Turns what a service has counted into metrics.

    Parameters
    ----------
    service : Counted
    """

    def __init__(self, service: Counted) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of now."""
        for name, value in self._service.numbers().items():
            family = CounterMetricFamily if name in _COUNTERS else GaugeMetricFamily
            yield family(f"uncletc_{name}", name.replace("_", " "), value=value)
        if (connected := sessions()) is not None:
            yield GaugeMetricFamily("uncletc_sessions", "browsers connected", value=connected)


def sessions() -> int | None:
    """Return how many browsers are connected; None where that is not known."""
    if not runtime.exists():
        return None
    stats = runtime.get_instance().stats_mgr.get_stats([_SESSIONS]).get(_SESSIONS, [])
    values = [stat.value for stat in stats if hasattr(stat, "value")]
    return int(sum(values)) if values else None


@contextmanager
def metrics_served(service: Counted, port: int | None, host: str) -> Iterator[None]:
    """Serve metrics on a port of their own while the context lasts; nowhere without a port."""
    if port is None:
        yield
        return
    registry = CollectorRegistry()
    registry.register(Work(service))
    ProcessCollector(registry=registry)
    server, thread = start_http_server(port, host, registry)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Readiness:
    """Whether the server can do what it is for: it fits a tiny tensor now and then.

    A server that is busy is ready: its tiny fit waits for its turn among the others.

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

    def problem(self) -> str:
        """Return why the server is not ready, as a sentence; empty where it is."""
        past = int((self._clock() - self._began) // _AGAIN)
        if past == self._found:
            return ""
        settings = FitSettings(rank=1, max_iter=_STEPS, seed=0)
        order = Recovery(simulation=_TINY | {"seed": self._first + past}, settings=settings)
        service = self._service()
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
        if (job is None or not job.active) and len(service.active) < service.limits.queue:
            service.submit(order, _WATCHER)
        return "" if self._ready else "The first tiny fit has not finished yet."

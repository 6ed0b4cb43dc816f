"""Whether the server does its work, for a proxy, and how much of it, for Prometheus."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from streamlit import runtime

from dashboard.work.engine import Service
from dashboard.work.orders import SimulatedFit
from uncletc import FitSettings

_COUNTERS = {"orders_done", "orders_failed", "orders_cancelled"}
_SESSIONS = "active_sessions"  # Streamlit's name of browsers connected
_WATCHER = "readiness"
_TINY = {"shape": [4, 4, 4], "rank": 1, "n_attributes": 1}
_STEPS = 20

log = logging.getLogger(__name__)


class Work:
    """Turns what a service has counted into metrics.

    Parameters
    ----------
    service : Service
    """

    def __init__(self, service: Service) -> None:
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
def metrics_served(service: Service, port: int | None, host: str) -> Iterator[None]:
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
    """Whether the server can do what it is for: it has fitted a tiny tensor since it started.

    A server that is busy is ready: its tiny fit waits for its turn among the others.

    Parameters
    ----------
    service : callable
        Returns the service of fits.
    """

    def __init__(self, service: Callable[[], Service]) -> None:
        self._service = service
        simulation = _TINY | {"seed": secrets.randbelow(10**6)}  # none that is found on disk
        settings = FitSettings(rank=1, max_iter=_STEPS, seed=0)
        self._order = SimulatedFit(simulation=simulation, settings=settings)

    def problem(self) -> str:
        """Return why the server is not ready, as a sentence; empty where it is."""
        service, order = self._service(), self._order
        # A cluster is away for all replicas alike: pages that say so are better than none.
        if service.away or service.lookup(order) is not None:
            return ""
        job = service.job(order)
        if (job is None or not job.active) and len(service.active) < service.limits.queue:
            service.submit(order, _WATCHER)
        if job is not None and job.state == "failed":
            log.error("the tiny fit failed")
            return "A tiny fit failed."
        return "The first tiny fit has not finished yet."

"""Metrics for Prometheus, on a port of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from dashboard.server import counted, meanings


class Work:
    """Turns what a service has counted into metrics, each ``uncletc_`` and its name.

    Parameters
    ----------
    service : Counted
    """

    def __init__(self, service: meanings.Counted) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of now."""
        for name, value in self._service.numbers().items():
            meaning = meanings.meaning(name)
            family = CounterMetricFamily if meaning.kind == "counter" else GaugeMetricFamily
            yield family(f"uncletc_{meaning.metric}", f"{meaning.words}.", value=value)
        if (sessions := counted.sessions()) is not None:
            yield GaugeMetricFamily("uncletc_sessions", "browsers connected.", value=sessions)


@contextmanager
def served(service: meanings.Counted, port: int | None, host: str) -> Iterator[None]:
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

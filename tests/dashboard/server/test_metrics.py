"""Metrics: what the service counts, under names for Prometheus."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from dashboard.server import counted, meanings, metrics
from dashboard.work.service import Service

NUMBERS = {
    "done": 3.0,
    "failed": 1.0,
    "waiting_quick": 2.0,
    "hits_disk": 5.0,
    "seconds": 12.5,
    "workers": 2.0,
    "memory_bytes": 1e6,
    "disk_bytes": 4096.0,
    "sessions": 1.0,
    "unheard_of": 7.0,
}


class Fake:
    def numbers(self) -> dict[str, float]:
        return NUMBERS


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_names_kinds_and_values() -> None:
    found = {metric.name: metric for metric in metrics.Work(Fake()).collect()}
    assert len(found) == len(NUMBERS)
    assert found["uncletc_orders_done"].type == "counter"
    assert found["uncletc_work_seconds"].type == "counter"
    assert found["uncletc_orders_waiting_quick"].type == "gauge"
    assert found["uncletc_workers"].type == "gauge"
    assert found["uncletc_results_bytes"].samples[0].value == 4096
    assert found["uncletc_work_unheard_of"].samples[0].value == 7


def test_all_that_the_service_counts_has_a_meaning(tmp_path: Path) -> None:
    service = Service(folder=tmp_path)
    try:
        assert set(service.numbers()) == set(meanings.MEANINGS)
    finally:
        service.close()


def test_served_on_a_port_of_their_own_while_wanted() -> None:
    port = free_port()
    with metrics.served(Fake(), port, "127.0.0.1"):
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        assert "uncletc_orders_done_total 3.0" in text
        assert "uncletc_orders_waiting_quick 2.0" in text
        assert "process_resident_memory_bytes" in text
    with pytest.raises(URLError):
        urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5)


def test_nothing_is_served_without_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "start_http_server", None)
    with metrics.served(Fake(), None, "127.0.0.1"):
        pass


def test_no_server_knows_no_sessions() -> None:
    assert counted.sessions() is None


def test_memory_is_weighed_where_linux_tells() -> None:
    held = counted.memory()
    assert held is None or held > 1e6

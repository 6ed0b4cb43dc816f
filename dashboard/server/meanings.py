"""Names that metrics and the operator's page give to what the service of fits counts. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Kind = Literal["counter", "gauge"]


class Counted(Protocol):
    """Something that counts what it does, as the service of fits."""

    def numbers(self) -> dict[str, float]:
        """Return what it has counted, by name."""
        ...


@dataclass(frozen=True)
class Meaning:
    """What a number means.

    Attributes
    ----------
    words : str
        On the operator's page.
    metric : str
        For Prometheus, after ``uncletc_``.
    kind : {"counter", "gauge"}
        Whether it only grows.
    """

    words: str
    metric: str
    kind: Kind = "gauge"


MEANINGS = {
    "running": Meaning("orders at work", "orders_running"),
    "waiting_quick": Meaning("fits that wait", "orders_waiting_quick"),
    "waiting_long": Meaning("comparisons that wait", "orders_waiting_long"),
    "sessions": Meaning("browsers that wait", "sessions_waiting"),
    "done": Meaning("orders done", "orders_done", "counter"),
    "failed": Meaning("orders failed", "orders_failed", "counter"),
    "cancelled": Meaning("orders cancelled", "orders_cancelled", "counter"),
    "seconds": Meaning("time worked", "work_seconds", "counter"),
    "hits_memory": Meaning("results found in memory", "hits_memory", "counter"),
    "hits_disk": Meaning("results found on disk", "hits_disk", "counter"),
    "workers": Meaning("workers alive", "workers"),
    "lost": Meaning("workers lost", "workers_lost", "counter"),
    "memory_bytes": Meaning("memory of the workers", "workers_memory_bytes"),
    "disk_bytes": Meaning("results on disk", "results_bytes"),
}


def meaning(name: str) -> Meaning:
    """Return what a number means; of an unknown one no more than its name."""
    return MEANINGS.get(name, Meaning(name.replace("_", " "), f"work_{name}"))


def in_order(numbers: dict[str, float]) -> dict[str, float]:
    """Return numbers with those that are known first, as they are listed here."""
    known = {name: numbers[name] for name in MEANINGS if name in numbers}
    return known | numbers

"""How much the server works on at once, and for whom. Pure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from dashboard.work.order import Lane, Order

_PREFIX = "UNCLETC_"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of one server; each can be set by a variable of the environment.

    Attributes
    ----------
    quick_workers, long_workers : int
        Processes for single fits, and for comparisons and other long orders.
    session_orders : int
        Orders that one browser session may have waiting or running at once.
    queue : int
        Orders that may wait or run at once, of all sessions.
    seconds : float
        How long one order may run.
    silent_seconds : float
        How long an order may run without a word; then its process counts as hung.
    memory_gb : float
        Memory of one process, 10⁹ bytes; watched where the system tells, as Linux does.
    looks : int
        Counts of one order, those of all looks.
    components : int
        Rank times members of one fit.
    disk_gb : float
        Results kept on disk, 10⁹ bytes.
    table_days : float
        How long a reader's own table is kept on this machine after it was last opened.
    """

    quick_workers: int = 1
    long_workers: int = 1
    session_orders: int = 24
    queue: int = 200
    seconds: float = 1800.0
    silent_seconds: float = 300.0
    memory_gb: float = 4.0
    looks: int = 20_000_000
    components: int = 400
    disk_gb: float = 4.0
    table_days: float = 90.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not value > 0:
                raise ValueError(f"{_PREFIX}{each.name.upper()} must be above 0, got {value}")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Limits:
        """Return what variables such as ``UNCLETC_QUICK_WORKERS`` say; the defaults else.

        Without a word on it there is one process for single fits on two processors, and one more
        for every two further ones, up to eight.

        Raises
        ------
        ValueError
            Naming the variable and its value.
        """
        given = os.environ if environment is None else environment
        values: dict[str, Any] = {"quick_workers": min(max((os.cpu_count() or 2) // 2, 1), 8)}
        for each in fields(cls):
            name = f"{_PREFIX}{each.name.upper()}"
            if name not in given:
                continue
            kind = int if isinstance(each.default, int) else float
            try:
                values[each.name] = kind(given[name])
            except ValueError:
                what = "a whole number" if kind is int else "a number"
                raise ValueError(f"{name} must be {what}, got {given[name]!r}") from None
        return cls(**values)

    def workers(self, lane: Lane) -> int:
        """How many processes a lane has."""
        return self.quick_workers if lane == "quick" else self.long_workers

    def refusal(self, order: Order[Any], *, of_session: int, of_all: int) -> str:
        """Why an order is not taken, as a part of a sentence; empty where it is.

        Parameters
        ----------
        order : Order
        of_session, of_all : int
            Orders that wait or run already, of who asks and of everybody.
        """
        if of_session >= self.session_orders:
            return (
                f"you already wait for {of_session} results, the most that one session may. Let "
                "some finish, or cancel them."
            )
        if of_all >= self.queue:
            return f"{of_all} orders are waiting, the most that this server holds. Try again later."
        counts = getattr(order, "counts", None)
        looks = 0 if counts is None else counts.n_observed
        if looks > self.looks:
            return f"it has {looks:,} counts, and this server takes at most {self.looks:,}."
        settings = getattr(order, "settings", None)
        components = getattr(settings, "rank", 1) * getattr(settings, "members", 1)
        if components > self.components:
            return (
                f"rank times members is {components:,}, and this server takes at most "
                f"{self.components:,}."
            )
        return ""

    @property
    def too_long(self) -> str:
        """What is said of an order that ran too long."""
        return (
            f"it took longer than {_duration(self.seconds)}, the most that this server allows. A "
            "lower rank, fewer members or fewer folds take less."
        )

    @property
    def too_large(self) -> str:
        """What is said of an order that needed too much memory."""
        return (
            f"it needed more than {self.memory_gb:g} GB of memory, the most that this server "
            "allows. A lower rank, or counts by week instead of by day, need less."
        )


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:g} seconds"

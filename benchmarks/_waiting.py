"""How long is waited for something before it counts as hung."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

LONG = 120.0  # seconds


def until(holds: Callable[[], object], trouble: str) -> None:
    """Wait until something holds."""
    began = monotonic()
    while not holds():
        assert monotonic() - began < LONG, trouble
        sleep(0.01)

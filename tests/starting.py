"""How long block coordinate descent prepares its start: nearly all the time of a short fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from uncletc.solvers import bcd

WHOLE = bcd.START_STEPS
QUICK = WHOLE // 30


@contextmanager
def start_of(steps: int) -> Iterator[None]:
    """Prepare starts with so many steps of Adam."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bcd, "START_STEPS", steps)
        yield

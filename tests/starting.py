"""How much of a fit is left out: what takes most of the time of a small one."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from uncletc.solvers import bcd
from uncletc.solvers.uncertainty import calibration

WHOLE = bcd.START_STEPS
QUICK = WHOLE // 30
_CHEAP = calibration._CHEAP


@contextmanager
def start_of(steps: int) -> Iterator[None]:
    """Prepare block descent with so many steps of Adam; fewer than all: no intervals by refits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bcd, "START_STEPS", steps)
        patch.setattr(calibration, "_CHEAP", _CHEAP if steps == WHOLE else 0)
        yield

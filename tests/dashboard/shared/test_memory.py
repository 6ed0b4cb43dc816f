"""What was made of counts goes with them."""

from __future__ import annotations

import gc
import weakref

import numpy as np

from dashboard.check.view import seen_counts
from dashboard.shared.fit_status.memory import forget_all
from dashboard.shared.sidebar.roles import applied
from dashboard.whatif.runs import visible
from uncletc import Role, Roles


def test_nothing_is_left_of_forgotten_counts(small):
    counts = small.subset(np.arange(30))
    made = applied(counts, Roles([Role(counts.attribute_names[0], "rate")]))
    assert applied(counts, Roles([Role(counts.attribute_names[0], "rate")])) is made
    seen_counts(counts, "entry")
    visible(counts, "first half")
    gone = weakref.ref(counts)
    counts = made = None
    gc.collect()
    assert gone() is not None
    forget_all()
    gc.collect()
    assert gone() is None

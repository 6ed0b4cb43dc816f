"""Limits of colour scales of p."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.shared.charts.answers import color_limits


def test_colours_hold_all_but_the_ends():
    assert color_limits(np.linspace(0, 1, 101)) == pytest.approx((0.02, 0.98))


@pytest.mark.parametrize("p", [[0.5, 0.5], [0.5, 0.505]])
def test_what_is_alike_looks_alike(p):
    low, high = color_limits(p)
    assert low < 0.46
    assert high > 0.54

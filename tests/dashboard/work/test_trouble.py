"""The quick part of ``python -m benchmarks.trouble``: killed processes, bad files, full disks."""

from __future__ import annotations

import random

import pytest

from benchmarks.trouble import PARTS


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(each, marks=[pytest.mark.slow] * (each in {"dask", "read-only"}))
        for each in PARTS
    ],
)
def test_nothing_is_lost_hangs_or_is_left_behind(part):
    words = PARTS[part](1, random.Random(7))
    assert words.startswith("1 ") or "left out" in words

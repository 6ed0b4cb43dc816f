"""Groups of entries."""

import numpy as np
import pytest

from uncletc import CountTensor, Group


def state():
    return Group("state", ["north", "east"], [[0, 1], [-1, 0]], ["A", "B"])


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"codes": [0, 1]}, "one axis for each of 2 modes"),
        ({"codes": [[0, 2], [0, 0]]}, "between -1 and 1"),
        ({"modes": ["north"], "codes": [0.5]}, "whole numbers"),
        ({"positions": [[0.0]]}, "one row for each of 2 labels"),
    ],
)
def test_wrong_values_of_a_group_are_named(change, rule):
    values = {"name": "state", "modes": ["north", "east"], "codes": [[0, 1], [-1, 0]]}
    with pytest.raises((ValueError, TypeError), match=rule):
        Group(**values | {"labels": ["A", "B"]} | change)


class TestWithin:
    def counts(self, *groups, **changes):
        return CountTensor((2, 2), [[0, 0]], [1], modes=("north", "east"), groups=groups, **changes)

    def test_tensor_keeps_them(self, reloaded):
        counts = self.counts(state())
        loaded = reloaded(counts)
        assert loaded.digest == counts.digest
        assert np.array_equal(loaded.groups[0].codes, state().codes)
        assert counts.digest != self.counts().digest
        assert counts.subset([0]).groups[0].name == "state"

    @pytest.mark.parametrize(
        ("groups", "rule"),
        [
            ([Group("weekday", ["day"], [0, 0], ["Monday"])], "got 'day'"),
            ([Group("state", ["north", "east"], [[0, 0]], ["A"])], r"\(2, 2\), got \(1, 2\)"),
            ([state(), state()], "'state' occurs twice"),
            ([Group("north", ["east"], [0, 1], ["a", "b"])], "so it must be that mode"),
        ],
    )
    def test_wrong_ones_are_named(self, groups, rule):
        with pytest.raises(ValueError, match=rule):
            self.counts(*groups)

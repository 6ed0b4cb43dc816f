"""Groups of entries."""

import numpy as np
import pytest

from uncletc import CountTensor, Group


def state():
    return Group("state", ["north", "east"], [[0, 1], [-1, 0]], ["A", "B"])


class TestGroup:
    def test_levels_of_entries(self):
        found = state().at(np.array([[0, 1, 5], [1, 0, 5]]), ("north", "east", "day"))
        assert found.tolist() == [1, -1]

    @pytest.mark.parametrize(
        ("change", "rule"),
        [
            ({"codes": [0, 1]}, "one axis for each of 2 modes"),
            ({"codes": [[0, 2], [0, 0]]}, "between -1 and 1"),
            ({"positions": [[0.0]]}, "one row for each of 2 labels"),
        ],
    )
    def test_wrong_values_are_named(self, change, rule):
        values = {"name": "state", "modes": ["north", "east"], "codes": [[0, 1], [-1, 0]]}
        with pytest.raises(ValueError, match=rule):
            Group(**values | {"labels": ["A", "B"]} | change)

    def test_codes_are_whole_numbers(self):
        with pytest.raises(TypeError, match="whole numbers"):
            Group("state", ["north"], [0.5], ["A"])


class TestWithin:
    def counts(self, *groups, **changes):
        return CountTensor((2, 2), [[0, 0]], [1], modes=("north", "east"), groups=groups, **changes)

    def test_tensor_keeps_them(self, tmp_path):
        counts = self.counts(state())
        counts.save(tmp_path / "counts.npz")
        loaded = CountTensor.load(tmp_path / "counts.npz")
        assert loaded.digest == counts.digest
        assert np.array_equal(loaded.groups[0].codes, state().codes)
        assert counts.digest != self.counts().digest

    def test_modes_must_be_the_tensors(self):
        with pytest.raises(ValueError, match="got 'day'"):
            self.counts(Group("weekday", ["day"], [0, 0], ["Monday"]))

    def test_codes_must_have_its_shape(self):
        with pytest.raises(ValueError, match=r"\(2, 2\), got \(1, 2\)"):
            self.counts(Group("state", ["north", "east"], [[0, 0]], ["A"]))

    def test_names_are_distinct(self):
        with pytest.raises(ValueError, match="'state' occurs twice"):
            self.counts(state(), state())

    def test_name_of_a_mode_is_that_mode(self):
        with pytest.raises(ValueError, match="so it must be that mode"):
            self.counts(Group("north", ["east"], [0, 1], ["a", "b"]))

    def test_subsets_keep_them(self):
        assert self.counts(state()).subset([0]).groups[0].name == "state"

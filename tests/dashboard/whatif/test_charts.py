"""The What-if figures hold the numbers of the tables they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.whatif.charts import heat_chart, shift_chart


class TestShift:
    shift = pd.DataFrame(
        {
            "label": ["x", "y", "z"],
            "rank_a": [1, 2, 3],
            "rank_b": [1200, 1, 3],
            "at_a": [1.0, 2.0, 3.0],
            "at_b": [4.5, 1.0, 3.0],
        }
    )

    def test_a_line_from_a_to_b_for_each_kind_of_change(self):
        up, down, same = shift_chart(self.shift, n=3, names_on="A").data
        assert (list(up.x[:2]), list(up.y[:2])) == (["A", "B"], [2, 1])
        assert (list(down.y[:2]), list(same.y[:2])) == ([1, 4.5], [3, 3])
        assert len({trace.line.color for trace in (up, down, same)}) == 3

    @pytest.mark.parametrize(("side", "words"), [("A", "x  1"), ("B", "1,200  x")])
    def test_names_are_on_one_side_and_ranks_on_both(self, side, words):
        notes = shift_chart(self.shift, n=3, names_on=side).layout.annotations
        assert len(notes) == 6
        assert words in [note.text for note in notes if note.x == side]
        assert sum(any(letter in note.text for letter in "xyz") for note in notes) == 3


def test_heat_maps_colour_p_by_its_logarithm_and_differences_about_zero():
    values = pd.DataFrame([[0.1, np.nan], [10.0, 1.0]], index=["p", "q"], columns=["b", "c"])
    (trace,) = heat_chart(values, title="p", limits=(0.1, 10)).data
    np.testing.assert_allclose(trace.z, [[-1, np.nan], [1, 0]])
    assert (trace.zmin, trace.zmax) == pytest.approx((-1, 1))
    (trace,) = heat_chart(values, title="d", limits=(-3, 3), diverging=True).data
    np.testing.assert_array_equal(trace.z, values)
    assert (trace.zmin, trace.zmax) == (-3, 3)

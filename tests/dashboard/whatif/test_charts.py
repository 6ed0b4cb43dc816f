"""The What-if figures hold the numbers of the tables they are given."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from dashboard.whatif.charts import (
    heat_chart,
    scatter_chart,
    shift_chart,
    sweep_chart,
)


class TestScatter:
    cells = pd.DataFrame(
        {
            "label": ["x", "y"],
            "p_a": [0.5, 2.0],
            "p_b": [0.25, 4.0],
            "rank_a": [2, 1],
            "rank_b": [2, 1],
        }
    )

    def test_diagonal_and_dots_on_equal_axes(self):
        figure = scatter_chart(self.cells, title="relative p")
        diagonal, dots = figure.data
        assert list(diagonal.x) == list(diagonal.y)
        assert (list(dots.x), list(dots.y), list(dots.text)) == ([0.5, 2], [0.25, 4], ["x", "y"])
        assert figure.layout.xaxis.range == figure.layout.yaxis.range
        low, high = figure.layout.xaxis.range
        assert 10**low < 0.25
        assert 10**high > 4
        assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
        assert figure.layout.xaxis.title.text == "A: relative p"

    def test_the_chosen_one_is_named(self):
        assert not scatter_chart(self.cells, title="p").layout.annotations
        (note,) = scatter_chart(self.cells, title="p", chosen="y").layout.annotations
        assert "y" in note.text
        assert (note.x, note.y) == pytest.approx((math.log10(2), math.log10(4)))

    @pytest.mark.parametrize("spread", [1.05, 3, 300, 1e9])
    def test_few_round_ticks_at_any_spread(self, spread):
        cells = self.cells.assign(p_b=[1.0, spread], p_a=[1.0, spread])
        axis = scatter_chart(cells, title="p").layout.xaxis
        assert 1 <= len(axis.tickvals) <= 14
        assert [float(text) for text in axis.ticktext] == pytest.approx(list(axis.tickvals))


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

    def test_a_line_from_a_to_b_in_the_group_it_belongs_to(self):
        up, down, same = shift_chart(self.shift, n=3, names_on="A").data
        assert (list(up.x[:2]), list(up.y[:2])) == (["A", "B"], [2, 1])
        assert list(down.y[:2]) == [1, 4.5]
        assert list(same.y[:2]) == [3, 3]
        assert down.customdata[0].tolist() == [1, 1200]
        assert len({trace.line.color for trace in (up, down, same)}) == 3

    @pytest.mark.parametrize(("side", "words"), [("A", "x  1"), ("B", "1,200  x")])
    def test_names_stand_on_one_side_and_ranks_on_both(self, side, words):
        notes = shift_chart(self.shift, n=3, names_on=side).layout.annotations
        assert len(notes) == 6
        assert words in [note.text for note in notes if note.x == side]
        assert sum(any(letter in note.text for letter in "xyz") for note in notes) == 3

    def test_rank_one_is_on_top_and_a_line_ends_the_first_n(self):
        figure = shift_chart(self.shift, n=3, names_on="A")
        low, high = figure.layout.yaxis.range
        assert low > high
        (line,) = figure.layout.shapes
        assert 3 < line.y0 < 4.5
        assert not shift_chart(self.shift.iloc[1:], n=3, names_on="A").layout.shapes


class TestHeat:
    values = pd.DataFrame([[0.1, np.nan], [10.0, 1.0]], index=["p", "q"], columns=["b", "c"])

    def test_p_is_coloured_by_its_logarithm_between_the_limits(self):
        (trace,) = heat_chart(self.values, title="p", limits=(0.1, 10)).data
        np.testing.assert_allclose(trace.z, [[-1, np.nan], [1, 0]])
        assert (trace.zmin, trace.zmax) == pytest.approx((-1, 1))
        assert trace.colorbar.ticktext[0] == "0.1"
        np.testing.assert_array_equal(trace.customdata, self.values)

    def test_differences_part_at_zero(self):
        (trace,) = heat_chart(self.values, title="d", limits=(-3, 3), diverging=True).data
        np.testing.assert_array_equal(trace.z, self.values)
        assert (trace.zmin, trace.zmax) == (-3, 3)


def test_sweep_keeps_the_place_of_values_not_known_yet():
    table = pd.DataFrame({"value": [2, 5, 10], "like_a": [0.5, 1, np.nan], "before": [np.nan] * 3})
    figure = sweep_chart(
        table, {"like_a": "with A", "before": "before"}, parameter="rank", title="t", current=5
    )
    first, second = figure.data
    assert list(first.x) == ["2", "5", "10"]
    np.testing.assert_array_equal(first.y, [0.5, 1, np.nan])
    assert list(first.marker.size)[1] > max(first.marker.size[0], first.marker.size[2])
    assert [first.name, second.name] == ["with A", "before"]
    assert tuple(figure.layout.xaxis.range) == (-0.4, 2.4)
    assert figure.layout.showlegend

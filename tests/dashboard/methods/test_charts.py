"""The figures of Methods hold the numbers of the tables they are given."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from dashboard.methods.charts import (
    LINES,
    color_of,
    dots_chart,
    lines_chart,
    running_chart,
    scores_chart,
    trials_chart,
    value_axis,
)
from uncletc import METHODS

NAN = float("nan")


class TestDots:
    rows = pd.DataFrame(
        {
            "method": ["UncleTC", "POND"],
            "mean": [0.02, 0.5],
            "sd": [0.03, 0.1],
            "n": [20, 5],
            "paper_mean": [0.04, NAN],
            "paper_sd": [0.01, NAN],
        }
    )

    def figure(self, **options):
        return dots_chart(self.rows, title="MAE of λ", limits=(0.01, 0.6), **options)

    def test_ours_are_filled_and_the_papers_hollow(self):
        ours, papers = self.figure().data
        assert (list(ours.x), list(ours.text)) == ([0.02, 0.5], ["UncleTC", "POND"])
        assert (list(papers.x), list(papers.text)) == ([0.04], ["UncleTC"])
        assert (ours.marker.symbol, papers.marker.symbol) == ("circle", "circle-open")
        assert list(ours.marker.color) == [color_of("UncleTC"), color_of("POND")]
        assert len(set(ours.marker.color)) == 2

    def test_both_of_a_method_lie_in_its_row(self):
        figure = self.figure()
        ours, papers = figure.data
        assert list(figure.layout.yaxis.ticktext) == ["UncleTC", "POND"]
        for place, y in ((0, ours.y[0]), (1, ours.y[1]), (0, papers.y[0])):
            assert abs(y - figure.layout.yaxis.tickvals[place]) < 0.5
        low, high = figure.layout.yaxis.range
        assert low > high  # the first on top

    def test_whiskers_are_the_spread_and_end_at_a_logarithmic_axis(self):
        ours = self.figure().data[0]
        assert list(ours.error_x.array) == [0.03, 0.1]
        assert ours.error_x.arrayminus[1] == pytest.approx(0.1)
        left = 10 ** self.figure().layout.xaxis.range[0]
        assert left < ours.x[0] - ours.error_x.arrayminus[0] < ours.x[0]
        assert list(self.figure(log=False).data[0].error_x.arrayminus) == [0.03, 0.1]

    def test_floor_is_a_line(self):
        assert not self.figure().layout.shapes
        (line,) = self.figure(floor=0.012).layout.shapes
        assert line.x0 == line.x1 == 0.012

    def test_without_rows(self):
        empty = self.rows.iloc[:0]
        assert [len(trace.x) for trace in dots_chart(empty, title="x", limits=(0, 1)).data] == [
            0,
            0,
        ]


class TestAxis:
    @pytest.mark.parametrize("limits", [(0.01, 0.02), (0.012, 1.2), (1e-3, 80), (3.0, 3.0)])
    def test_a_logarithmic_one_holds_the_limits_with_few_ticks(self, limits):
        axis = value_axis(limits, log=True)
        low, high = (10**end for end in axis["range"])
        assert low < limits[0]
        assert limits[1] < high
        assert 1 <= len(axis["tickvals"]) <= 6
        assert all(low <= tick <= high for tick in axis["tickvals"])

    def test_a_linear_one(self):
        low, high = value_axis((0.5, 0.9), log=False)["range"]
        assert low < 0.5
        assert high > 0.9
        assert value_axis((0.0, 0.9), log=True)["range"][0] == 0  # no logarithm of 0


class TestLines:
    def test_one_line_per_method_told_apart(self):
        rows = pd.DataFrame(
            {
                "method": ["UncleTC", "UncleTC", "BPTF", "BPTF"],
                "iteration": [1, 2, 1, 2],
                "mean": [0.9, 0.1, 0.5, 0.4],
                "sd": 0.1,
                "n": 20,
            }
        )
        first, second = lines_chart(rows, title="MAE of λ", limits=(0.1, 0.9)).data
        assert (first.name, list(first.y)) == ("UncleTC", [0.9, 0.1])
        assert (second.name, list(second.x)) == ("BPTF", [1, 2])

    def test_no_two_methods_look_alike(self):
        looks = {(line["color"], line["dash"]) for line in LINES.values()}
        assert len(looks) == len(LINES) == len(METHODS)


class TestRunning:
    rows = pd.DataFrame(
        {
            "iteration": [1, 1, 2, 2],
            "metric": ["MAE_λ", "MAE_p"] * 2,
            "value": [0.9, 0.8, 0.3, NAN],
        }
    )

    def test_errors_with_committed_means_as_lines(self):
        figure = running_chart(self.rows, {"MAE_λ": 0.02})
        rate, p = figure.data
        assert (list(rate.x), list(rate.y)) == ([1, 2], [0.9, 0.3])
        assert (list(p.x), list(p.y)) == ([1], [0.8])
        (line,) = figure.layout.shapes
        assert line.y0 == line.y1 == 0.02
        assert figure.layout.yaxis.range[0] < math.log10(0.02)

    def test_without_anything_yet(self):
        assert not running_chart(self.rows.iloc[:0], {"MAE_λ": 0.02}).data


class TestScores:
    def test_bars_and_spread(self):
        bars = pd.DataFrame(
            {
                "method": ["UncleTC", "BPTF"],
                "value": [1.25, 2.5],
                "sd": [0.25, NAN],
                "n": [5, 1],
                "seconds": [9.0, 1.0],
            }
        )
        figure = scores_chart(bars, title="rRMSE")
        (trace,) = figure.data
        assert list(trace.x) == [1.25, 2.5]
        assert list(trace.y) == ["UncleTC", "BPTF"]
        assert list(trace.error_x.array) == [0.25, 0]
        assert [note.text for note in figure.layout.annotations] == ["1.25 ± 0.25", "2.5"]
        assert figure.layout.annotations[0].x == 1.5
        assert figure.layout.xaxis.range[0] == 0
        assert figure.layout.xaxis.range[1] > 2.5


def test_trials_of_a_search_with_the_best_marked():
    frame = pd.DataFrame(
        {"number": [0, 1, 2], "value": [0.9, 0.4, NAN], "rank": [5, 10, 15], "state": "complete"}
    )
    (dots,) = trials_chart(frame, setting="rank").data
    assert (list(dots.x), list(dots.y)) == ([5, 10], [0.9, 0.4])
    assert np.argmax(dots.marker.size) == 1

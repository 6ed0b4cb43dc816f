"""The figures of Methods hold the numbers of the tables they are given."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.methods.charts import (
    LINES,
    color_of,
    dots_chart,
    lines_chart,
    scores_chart,
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

    def test_whiskers_are_the_spread_and_end_at_a_logarithmic_axis(self):
        ours = self.figure().data[0]
        assert list(ours.error_x.array) == [0.03, 0.1]
        assert ours.error_x.arrayminus[1] == pytest.approx(0.1)
        left = 10 ** self.figure().layout.xaxis.range[0]
        assert left < ours.x[0] - ours.error_x.arrayminus[0] < ours.x[0]
        assert list(self.figure(log=False).data[0].error_x.arrayminus) == [0.03, 0.1]
        (line,) = self.figure(floor=0.012).layout.shapes
        assert line.x0 == line.x1 == 0.012


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
        observations = {(line["color"], line["dash"]) for line in LINES.values()}
        assert len(observations) == len(LINES) == len(METHODS)


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
        assert (list(trace.x), list(trace.y)) == ([1.25, 2.5], ["UncleTC", "BPTF"])
        assert list(trace.error_x.array) == [0.25, 0]
        assert [note.text for note in figure.layout.annotations] == ["1.25 ± 0.25", "2.5"]
        assert figure.layout.annotations[0].x == 1.5
        assert figure.layout.xaxis.range[1] > 2.5

"""Figures of the overview hold the numbers of the tables they are given."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from dashboard.overview.charts import (
    along_chart,
    attribute_chart,
    pattern_figure,
    points_chart,
)
from dashboard.overview.view import Pattern

NAN = math.nan


def pattern(**changes):
    values = {
        "values": np.array([[NAN, 0.5], [1.0, 0.25]]),
        "row_labels": ("1", "2"),
        "column_labels": ("a", "b"),
        "row_mode": "row",
        "column_mode": "column",
        "third_mode": "day",
        "others": "days",
        "counted": False,
        "step_label": "",
        "largest": 1200,
    }
    return Pattern(**(values | changes))


STEPS = pd.DataFrame({"step": ["d1", "d2"], "counted": [1, 1300], "observed": [2, 1]})


def at_a_step():
    counts = np.array([[NAN, 0.0], [1200.0, 9.0]])
    return pattern(values=counts, counted=True, step_label="d2")


class TestPattern:
    def test_counts_of_a_step_have_colours_that_all_steps_share(self):
        (trace,) = pattern_figure(at_a_step()).data
        np.testing.assert_allclose(trace.z, np.log1p([[NAN, 0], [1200, 9]]))
        assert (trace.zmin, trace.zmax) == (0, pytest.approx(np.log(1201)))
        np.testing.assert_array_equal(trace.customdata, [[NAN, 0], [1200, 9]])
        assert "d2" in trace.hovertemplate

    @pytest.mark.parametrize(("mode", "turned"), [("latitude", True), ("plant", "reversed")])
    def test_latitudes_rise_upwards(self, mode, turned):
        assert pattern_figure(pattern(row_mode=mode)).layout.yaxis.autorange == turned


class TestAlong:
    def test_sums(self):
        (trace,) = along_chart(STEPS, of="day").data
        assert list(trace.x) == ["d1", "d2"]
        assert list(trace.y) == [1, 1300]
        assert list(trace.customdata) == [2, 1]
        assert list(trace.hovertext) == ["d1", "d2"]
        assert len(set(trace.marker.color)) == 1

    def test_the_step_shown_stands_out(self):
        first, second = along_chart(STEPS, of="day", step=1).data[0].marker.color
        assert first != second


class TestPoints:
    PLACES = pd.DataFrame(
        {
            "name": ["meadow", "forest"],
            "latitude": [44.1, 44.3],
            "longitude": [-122.2, -122.4],
            "existing": [4, 4],
            "observed": [4, 1],
            "counted": [99, 0],
            "share": [1.0, 0.25],
        }
    )

    def test_counts_are_coloured_by_their_logarithm(self):
        (trace,) = points_chart(self.PLACES, value="counted", title="sum").data
        assert list(trace.marker.color) == pytest.approx([np.log(100), 0])
        assert "100" not in trace.marker.colorbar.ticktext
        assert list(trace.marker.colorbar.ticktext) == ["0", "1", "10"]


class TestAttribute:
    @pytest.fixture
    def histogram(self):
        return pd.DataFrame({"middle": [0.25, 0.75], "counted": [0.9, 0.1], "missing": [0.4, 0.6]})

    def test_counted_beside_missing(self, histogram):
        figure = attribute_chart(histogram, name="wind")
        counted, missing = figure.data
        assert list(counted.y) == [0.9, 0.1]
        assert list(missing.y) == [0.4, 0.6]
        assert counted.marker.color != missing.marker.color
        assert counted.marker.pattern.shape != missing.marker.pattern.shape
        assert figure.layout.showlegend
        assert figure.layout.xaxis.title.text == "wind, scaled to 0–1"

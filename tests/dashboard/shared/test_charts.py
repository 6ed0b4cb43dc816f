"""The figures hold the numbers of the tables they are given."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.charts.style import (
    BAR_COLORS,
    COLORS,
    axis_limit,
    bar_chart,
    log_axis,
    objective_chart,
)


class TestBars:
    @pytest.fixture
    def figure(self):
        bars = pd.DataFrame(
            {"label": ["b", "a", "c"], "value": [3.0, 2.0, 1.0], "inside": ["x", "y", "z"]}
        )
        return bar_chart(bars, title="relative p", color="#123456", limit=4)

    def test_values_labels_and_text(self, figure):
        (trace,) = figure.data
        assert list(trace.x) == [3, 2, 1]
        assert list(trace.y) == ["b", "a", "c"]
        assert list(trace.text) == ["x", "y", "z"]
        assert trace.orientation == "h"
        assert trace.marker.color == "#123456"

    def test_text_of_short_bars_stands_outside(self):
        # Plotly drops the text of a bar too short to see, unless it is told to put it outside.
        bars = pd.DataFrame({"label": ["a", "b"], "value": [3.0, 1e-6], "inside": ["x", "y"]})
        (trace,) = bar_chart(bars, title="p", color="#123456", limit=4).data
        assert list(trace.textposition) == ["inside", "outside"]


class TestWhiskers:
    @pytest.fixture
    def bars(self):
        return pd.DataFrame(
            {
                "label": ["b", "a"],
                "value": [3.0, 2.0],
                "inside": ["x", "y"],
                "low": [1.0, 1.5],
                "high": [4.0, 2.25],
            }
        )

    def test_reach_from_low_to_high(self, bars):
        drawn, whiskers = bar_chart(bars, title="p", color="#123456", limit=4).data
        assert list(drawn.x) == list(whiskers.x) == [3, 2]
        assert list(whiskers.error_x.array) == [1, 0.25]
        assert list(whiskers.error_x.arrayminus) == [2, 0.5]
        assert drawn.customdata.tolist() == [[1, 4], [1.5, 2.25]]

    def test_the_axis_has_room_for_them_but_not_for_very_long_ones(self, bars):
        assert axis_limit(bars) == pytest.approx(1.05 * 4)
        assert axis_limit(bars.assign(high=1e9)) < 2 * 3
        assert axis_limit(bars.drop(columns=["low", "high"]), bars.head(1)[["value"]]) == (
            pytest.approx(1.05 * 3)
        )


def test_objectives_of_two_fits_are_told_apart():
    figure = objective_chart({"A": [9.0, 3.0, 2.0], "B": [8.0, 1.0]})
    a, b = figure.data
    assert (a.name, list(a.x), list(a.y)) == ("A", [1, 2], [3, 2])
    assert (b.name, list(b.y)) == ("B", [1])
    assert [a.line.color, b.line.color] == list(BAR_COLORS.values())
    assert a.line.dash != b.line.dash
    assert figure.layout.showlegend


class TestLogAxis:
    @pytest.mark.parametrize("limits", [(0.9, 1.1), (0.02, 30), (1e-3, 1e3), (1, 2)])
    def test_ticks_are_few_and_between_the_limits(self, limits):
        axis = log_axis(*limits, most=9)
        assert axis["range"] == pytest.approx(np.log10(limits))
        assert 0 < len(axis["tickvals"]) <= 9
        assert all(limits[0] <= tick <= limits[1] for tick in axis["tickvals"])


def linear(color: str) -> np.ndarray:
    """Red, green and blue light of a colour (IEC 61966-2-1)."""
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    """CIELAB of light under D65: equal distances look about equally different."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = np.cbrt(to_xyz @ light.clip(0, 1) / (0.9505, 1, 1.089))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


# Full protanopia and deuteranopia, as Machado, Oliveira and Fernandes (2009) model them.
VISIONS = {
    "full": np.eye(3),
    "without red": np.array(
        [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]
    ),
    "without green": np.array(
        [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]
    ),
}


class TestColors:
    @pytest.mark.parametrize("background", ["#ffffff", "#171614"])
    @pytest.mark.parametrize("color", [*COLORS, *BAR_COLORS.values()])
    def test_stand_out_in_both_themes(self, color, background):
        weights = [0.2126, 0.7152, 0.0722]
        low, high = sorted(linear(each) @ weights for each in (color, background))
        assert (high + 0.05) / (low + 0.05) >= 3  # WCAG 2.1, 1.4.11

    @pytest.mark.parametrize("vision", VISIONS)
    def test_are_told_apart_with_any_colour_vision(self, vision):
        seen = [lab(VISIONS[vision] @ linear(color)) for color in COLORS]
        distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]
        assert min(distances) > 15

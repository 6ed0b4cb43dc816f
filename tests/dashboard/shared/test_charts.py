"""The figures hold the numbers of the tables they are given."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.charts.style import (
    BAR_COLORS,
    CHART_CONFIG,
    COLORS,
    axis_limit,
    bar_chart,
    faint,
    log_axis,
    objective_chart,
    picture_config,
    two_lines,
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

    def test_first_row_is_on_top(self, figure):
        assert figure.layout.yaxis.autorange == "reversed"

    def test_text_of_short_bars_stands_outside(self):
        # Plotly drops the text of a bar too short to see, unless it is told to put it outside.
        bars = pd.DataFrame({"label": ["a", "b"], "value": [3.0, 1e-6], "inside": ["x", "y"]})
        (trace,) = bar_chart(bars, title="p", color="#123456", limit=4).data
        assert list(trace.textposition) == ["inside", "outside"]

    def test_axis_starts_at_zero_and_ends_where_asked(self, figure):
        assert tuple(figure.layout.xaxis.range) == (0, 4)
        assert figure.layout.xaxis.title.text == "relative p"


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


def test_objective_leaves_the_starting_point_out():
    (trace,) = objective_chart({"": [9.0, 3.0, 2.0]}).data
    assert list(trace.x) == [1, 2]
    assert list(trace.y) == [3, 2]


def test_objective_of_a_fit_without_iterations_is_empty():
    (trace,) = objective_chart({"": [9.0]}).data
    assert list(trace.x) == []


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


def test_a_faint_colour_is_the_same_colour():
    assert faint("#0068A8", 0.5) == "rgba(0,104,168,0.5)"


def test_a_long_title_breaks_before_its_bracket():
    title = "p (anchored: mean 25 %)"
    assert two_lines(title, 40) == title
    assert two_lines(title, 20) == "p<br>(anchored: mean 25 %)"


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


@pytest.mark.parametrize("picture", ["svg", "png"])
def test_camera_saves_what_was_chosen_and_all_else_stays(picture):
    config = picture_config(picture)
    assert config["toImageButtonOptions"]["format"] == picture
    rest = {name: value for name, value in CHART_CONFIG.items() if name != "toImageButtonOptions"}
    assert {name: config[name] for name in rest} == rest
    assert CHART_CONFIG["toImageButtonOptions"]["format"] == "svg"


def test_nothing_is_asked_of_another_host():
    assert "://" not in str(CHART_CONFIG)

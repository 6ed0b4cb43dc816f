"""The figures of the Drivers page hold the numbers of the tables they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.drivers.charts import (
    effect_chart,
    explanation_chart,
    importance_chart,
    ratio_limit,
    ratio_ticks,
    surface_chart,
    ticks_between,
)
from dashboard.drivers.view import EffectView, ExplanationView, SurfaceView


class TestAxesOfRatios:
    @pytest.mark.parametrize(
        ("ratios", "limit"),
        [
            ([1.0, 1.1], 2),
            ([0.5], 2),
            ([0.49], 5),
            ([3.0, 0.9], 5),
            ([7.0], 10),
            ([1 / 30], 50),
            ([3e6], 5e6),
            ([np.nan, 0.0], 2),
            ([], 2),
        ],
    )
    def test_limit_holds_all_ratios(self, ratios, limit):
        assert ratio_limit(ratios) == limit

    @pytest.mark.parametrize("limit", [2.0, 5.0, 10.0, 50.0, 1e3, 5e6, 1e10])
    def test_ticks_are_few_and_even_about_one(self, limit):
        values, texts = ratio_ticks(limit)
        assert len(values) == len(set(texts)) <= 9
        assert len(values) >= 3
        assert max(values) <= limit
        np.testing.assert_allclose(np.log(values), -np.log(values[::-1]), atol=1e-12)
        assert texts[len(values) // 2] == "× 1"

    def test_words_of_ticks(self):
        assert ratio_ticks(2.0)[1] == ["× 0.5", "× 1", "× 2"]
        assert "× 10<sup>4</sup>" in ratio_ticks(1e4)[1]


class TestImportance:
    @pytest.fixture
    def figure(self):
        bars = pd.DataFrame(
            {"attribute": ["b", "a"], "rise": [2.0, 0.5], "sd": [0.1, 0.2], "share": [1.0, 0.25]}
        )
        return importance_chart(bars, chosen="a")

    def test_bars_and_whiskers(self, figure):
        (trace,) = figure.data
        assert list(trace.x) == [2, 0.5]
        assert list(trace.y) == ["b", "a"]
        assert list(trace.error_x.array) == [0.1, 0.2]
        assert figure.layout.yaxis.autorange == "reversed"

    def test_chosen_one_stands_out(self, figure):
        first, second = figure.data[0].marker.color
        assert first != second


def effect(curve: dict, spread: dict, *, levels: bool) -> EffectView:
    return EffectView(
        curve=pd.DataFrame(curve),
        spread=pd.DataFrame(spread),
        axis="wind (m/s)",
        levels=levels,
        method="ALE",
        strength="",
    )


SPREAD = {"left": [0.0, 0.5], "right": [0.5, 1.0], "entries": [30, 10]}


class TestEffects:
    def test_curve_over_a_histogram(self):
        view = effect({"value": [0.0, 1.0], "ratio": [0.8, 1.5]}, SPREAD, levels=False)
        line, bars = effect_chart(view).data
        assert (list(line.x), list(line.y)) == ([0, 1], [0.8, 1.5])
        assert list(bars.y) == [30, 10]
        assert list(bars.x) == [0.25, 0.75]

    def test_axis_is_logarithmic_with_room_for_the_band(self):
        curve = {"value": [0.0, 1.0], "ratio": [0.8, 1.5], "low": [0.1, 1.2], "high": [1.0, 2.0]}
        figure = effect_chart(effect(curve, SPREAD, levels=False))
        axis = figure.layout.yaxis
        assert axis.type == "log"
        assert axis.range[0] <= -1
        assert axis.range[1] == -axis.range[0]
        low, high, line, _ = figure.data
        assert (list(high.y), list(low.y)) == ([1, 2], [0.1, 1.2])
        assert high.fill == "tonexty"
        assert np.asarray(line.customdata).tolist() == [[0.1, 1.0], [1.2, 2.0]]
        assert figure.layout.xaxis2.title.text == "wind (m/s)"

    def test_levels(self):
        curve = {"value": ["bee", "fly"], "ratio": [2.0, 0.5], "low": [1.5, 0.4], "high": [3, 0.6]}
        view = effect(curve, {"value": ["bee", "fly"], "entries": [9, 4]}, levels=True)
        (dots,) = effect_chart(view).data
        assert (list(dots.x), list(dots.y)) == ([2, 0.5], ["bee", "fly"])
        np.testing.assert_allclose(dots.error_x.array, [1, 0.1])
        np.testing.assert_allclose(dots.error_x.arrayminus, [0.5, 0.1])


def test_surface_is_centred_on_one_and_grey_without_counts():
    log_ratio = np.array([[np.log(4), 0.0], [np.nan, -0.1]])
    view = SurfaceView(
        cells=pd.DataFrame(),
        log_ratio=log_ratio,
        entries=np.array([[5, 6], [0, 7]]),
        rows=("0.1", "0.9"),
        columns=("bee", "fly"),
        titles=("wind (m/s)", "guild"),
    )
    figure = surface_chart(view, first="wind", second="guild")
    cells, empty = figure.data
    np.testing.assert_array_equal(cells.z, log_ratio)
    assert cells.zmax == -cells.zmin == pytest.approx(np.log(5))
    assert (list(cells.x), list(cells.y)) == (["bee", "fly"], ["0.1", "0.9"])
    np.testing.assert_array_equal(np.isnan(empty.z), [[True, True], [False, True]])
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == (
        "guild",
        "wind (m/s)",
    )
    assert cells.colorbar.ticktext[len(cells.colorbar.ticktext) // 2] == "× 1"


def test_waterfall_goes_from_typical_to_here():
    parts = {"attribute": ["wind", "cloud"], "here": ["high", "low"], "factor": [0.5, 1.2]}
    view = ExplanationView(parts=pd.DataFrame(parts), entries=1)
    (trace,) = explanation_chart(view).data
    assert list(trace.y) == ["a typical entry", "wind (high)", "cloud (low)", "here"]
    np.testing.assert_allclose(np.asarray(trace.base, float), [0, 0, np.log(0.5), 0], atol=1e-12)
    np.testing.assert_allclose(trace.x, [0, np.log(0.5), np.log(1.2), np.log(0.6)])
    assert list(trace.text) == ["× 1.00", "× 0.50", "× 1.20", "× 0.60"]


@pytest.mark.parametrize("ends", [(0.96, 1.03), (0.8, 1.1), (0.5, 1.3), (0.02, 1.2), (1e-4, 1e6)])
def test_a_waterfall_has_several_ticks_and_1_among_them(ends):
    ticks = ticks_between(*ends)
    assert 3 <= len(ticks) <= 9
    assert 1.0 in ticks
    assert ends[0] <= min(ticks) < max(ticks) <= ends[1]

"""The figures of the Lab hold the numbers of the tables they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.lab import charts
from dashboard.lab.view import KINDS


def test_events_are_filled_where_counted():
    events = pd.DataFrame({"x": [0, 1, 2], "y": [0, 0, 0], "counted": [True, False, True]})
    counted, missed = charts.events_chart(events).data
    assert list(counted.x) == [0, 2]
    assert list(missed.x) == [1]
    assert (counted.name, missed.name) == ("counted: 2", "missed: 1")
    assert missed.marker.symbol == "circle-open"


def test_draws_stand_beside_the_formula():
    draws = pd.DataFrame(
        {"count": [0, 1], "share": [0.4, 0.6], "twin": [0.5, 0.5], "formula": [0.45, 0.55]}
    )
    figure = charts.draws_chart(draws, rate=20, chance=0.5, counted=1)
    share, twin, formula = figure.data
    assert list(share.y) == [0.4, 0.6]
    assert (share.name, twin.name) == ("λ = 20, p = 0.5", "λ = 40, p = 0.25")
    assert list(formula.y) == [0.45, 0.55]
    assert formula.name == "Poisson(10)"
    assert figure.layout.shapes[0].x0 == 1


class TestMatrices:
    @pytest.fixture
    def matrix(self):
        return pd.DataFrame([[1.0, np.nan], [3.0, 4.0]], index=[1, 2], columns=[1, 2])

    def test_missing_stays_blank_and_limits_are_those_given(self, matrix):
        figure = charts.matrix_chart(matrix, name="count y", limits=(0, 9))
        (drawn,) = figure.data
        np.testing.assert_array_equal(np.asarray(drawn.z), matrix.to_numpy())
        assert (drawn.zmin, drawn.zmax) == (0, 9)
        assert drawn.hoverongaps is False
        assert drawn.colorbar.title.text == "count y"
        assert figure.layout.yaxis.autorange == "reversed"

    def test_each_kind_has_its_colour(self):
        kinds = pd.DataFrame([[KINDS[0], KINDS[1]], [KINDS[2], KINDS[3]]])
        (drawn,) = charts.kinds_chart(kinds).data
        assert np.asarray(drawn.z).tolist() == [[0, 1], [2, 3]]
        assert len(drawn.colorbar.ticktext) == len(KINDS)
        assert len({color for _, color in drawn.colorscale}) == len(KINDS)


def test_truth_against_estimate():
    points = pd.DataFrame({"rate": [1.0, 2.0], "rate_hat": [1.5, 4.0], "counted": [True, False]})
    figure = charts.truth_chart(points, "rate", name="λ")
    diagonal, missing, counted = figure.data
    assert list(diagonal.x) == list(diagonal.y) == [0, pytest.approx(4.2)]
    assert (list(missing.x), list(missing.y)) == ([2], [4])
    assert (list(counted.x), list(counted.y)) == ([1], [1.5])
    assert figure.layout.xaxis.range == figure.layout.yaxis.range
    assert "simulated" in figure.layout.xaxis.title.text


class TestScale:
    @pytest.fixture
    def entries(self):
        return pd.DataFrame(
            {
                "entry": ["a", "b"],
                "rate": [5.0, 10.0],
                "p": [0.4, 1.2],
                "expected": [2.0, 12.0],
                "rate_1": [10.0, 20.0],
                "p_1": [0.2, 0.6],
            }
        )

    def test_p_above_one_looks_impossible(self, entries):
        figure = charts.scale_chart(entries, "p", name="p / c", limit=2)
        bars, before = figure.data
        assert list(bars.x) == [0.4, 1.2]
        assert list(before.x) == [0.2, 0.6]
        assert bars.marker.color[0] != bars.marker.color[1]
        assert list(bars.marker.pattern.shape) == ["", "/"]
        assert figure.layout.shapes[0].x0 == 1
        assert tuple(figure.layout.xaxis.range) == (0, 2)
        counts = charts.scale_chart(entries, "expected", name="y", limit=30)
        assert list(counts.data[1].x) == pytest.approx([2.0, 12.0])
        assert not counts.layout.shapes


def test_lever_has_a_mark_for_each_fit_and_a_line_of_medians():
    table = pd.DataFrame(
        {
            "value": [0.1, 0.1, 0.1, 0.4],
            "seed": [0, 1, 2, 0],
            "rate": [0.3, 0.2, 0.9, 0.1],
            "detection": [0.5, 0.7, 0.6, 0.4],
        }
    )
    median, fits, median_p, fits_p = charts.lever_chart(table, label="γ_Ω").data
    assert list(median.x) == ["0.1", "0.4"]
    assert list(median.y) == [0.3, 0.1]
    assert list(fits.y) == [0.3, 0.2, 0.9, 0.1]
    assert list(fits.customdata) == [0, 1, 2, 0]
    assert list(median_p.y) == [0.6, 0.4]
    assert list(fits_p.y) == [0.5, 0.7, 0.6, 0.4]

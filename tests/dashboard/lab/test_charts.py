"""The figures of the Lab hold the numbers of the tables they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.lab import charts


def test_truth_against_estimate():
    points = pd.DataFrame({"rate": [1.0, 2.0], "rate_hat": [1.5, 4.0], "counted": [7, np.nan]})
    figure = charts.truth_chart(points, "rate", name="λ")
    diagonal, missing, counted = figure.data
    assert list(diagonal.x) == list(diagonal.y) == [0, pytest.approx(4.2)]
    assert (list(missing.x), list(missing.y)) == ([2], [4])
    assert (list(counted.x), list(counted.y)) == ([1], [1.5])
    assert figure.layout.xaxis.range == figure.layout.yaxis.range


def test_p_above_one_looks_impossible():
    entries = pd.DataFrame(
        {"place": ["a", "b"], "rate": [5.0, 10.0], "p": [0.4, 1.2], "expected": [2.0, 12.0]}
        | {"rate_1": [10.0, 20.0], "p_1": [0.2, 0.6]}
    )
    figure = charts.scale_chart(entries, "p", name="p / c", limit=2)
    bars, before = figure.data
    assert (list(bars.x), list(bars.y), list(before.x)) == ([0.4, 1.2], ["a", "b"], [0.2, 0.6])
    assert bars.marker.color[0] != bars.marker.color[1]
    assert list(bars.marker.pattern.shape) == ["", "/"]
    assert figure.layout.shapes[0].x0 == 1
    counts = charts.scale_chart(entries, "expected", name="y", limit=30)
    assert list(counts.data[1].x) == pytest.approx([2.0, 12.0])
    assert not counts.layout.shapes


def test_lever_has_medians_with_whiskers_to_the_least_and_largest():
    table = pd.DataFrame(
        {"value": [0.1, 0.1, 0.1, 0.4], "rate": [0.3, 0.2, 0.9, 0.1], "detection": [0.5] * 4}
    )
    rate, detection = charts.lever_chart(table, label="γ_Ω").data
    assert (list(rate.x), list(rate.y)) == (["0.1", "0.4"], [0.3, 0.1])
    assert list(rate.error_y.array) == pytest.approx([0.6, 0])
    assert list(rate.error_y.arrayminus) == pytest.approx([0.1, 0])
    assert list(detection.y) == [0.5, 0.5]

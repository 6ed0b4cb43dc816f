"""The figures of the Drivers page hold the numbers of the tables they are given."""

import numpy as np
import pandas as pd
import pytest

from dashboard.drivers.charts import effect_chart, surface_chart
from dashboard.drivers.view import EffectView


def effect(curve, spread, *, levels):
    tables = {"curve": pd.DataFrame(curve), "spread": pd.DataFrame(spread)}
    return EffectView(**tables, axis="wind (m/s)", levels=levels, strength="")


def test_the_axis_of_an_effect_is_logarithmic_with_room_for_the_band():
    curve = {"value": [0.0, 1.0], "ratio": [0.8, 1.5], "low": [0.1, 1.2], "high": [1.0, 2.0]}
    spread = {"left": [0.0, 0.5], "right": [0.5, 1.0], "entries": [30, 10]}
    figure = effect_chart(effect(curve, spread, levels=False))
    axis = figure.layout.yaxis
    assert axis.type == "log"
    assert axis.range[0] == -axis.range[1] <= -1
    low, high, line, _ = figure.data
    assert (list(high.y), list(low.y)) == ([1, 2], [0.1, 1.2])
    assert high.fill == "tonexty"
    assert np.asarray(line.customdata).tolist() == [[0.1, 1.0], [1.2, 2.0]]
    assert figure.layout.xaxis2.title.text == "wind (m/s)"


def test_surface_is_centred_on_one_and_blank_without_counts():
    rows = pd.Index(["0.1", "0.9"], name="wind (m/s)")
    columns = pd.Index(["bee", "fly"], name="guild")
    (cells,) = surface_chart(pd.DataFrame([[4, 1], [np.nan, 0.9]], rows, columns)).data
    np.testing.assert_allclose(cells.z, np.log10([[np.nan, 0.9], [4, 1]]))
    assert cells.zmax == -cells.zmin == pytest.approx(np.log10(4))
    assert (list(cells.x), list(cells.y)) == (["bee", "fly"], ["0.9", "0.1"])
    assert "1" in cells.colorbar.ticktext

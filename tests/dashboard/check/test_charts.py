"""The Model check figures hold the numbers of the tables they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.check.charts import decile_chart, group_chart


def test_deciles_on_equal_logarithmic_axes_with_a_mark_for_none():
    deciles = pd.DataFrame({"n": 10, "predicted": [0.2, 5.0], "observed": [0.0, 6.0]})
    figure = decile_chart(deciles.assign(low=[0.0, 4.0], high=[0.0, 8.0]))
    _, dots = figure.data
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log"
    assert figure.layout.xaxis.range == figure.layout.yaxis.range
    low = 10 ** figure.layout.yaxis.range[0]
    assert list(dots.y) == pytest.approx([low, 6])
    assert list(dots.marker.symbol) == ["triangle-down-open", "circle"]
    assert list(dots.error_y.array) == pytest.approx([0, 2])
    assert list(dots.error_y.arrayminus) == pytest.approx([0, 2])
    assert dots.customdata[0][2] == 0


def groups(n: int, names: list[str] | None = None) -> pd.DataFrame:
    mean = np.linspace(-0.9, 0.9, n)
    table = pd.DataFrame({"group": names or [f"place {i}" for i in range(n)], "n": 10})
    table = table.assign(observed=3.0, predicted=2.0, mean=mean, far=mean > 0.8)
    return table.assign(low=mean - 0.2, high=mean + 0.2)


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (["2021-01-01", "2021-01-02"], "date"),
        (["-81", "-80"], "linear"),
        (["2011-1", "2011-2"], "category"),
    ],
)
def test_a_line_over_what_has_an_order(names, kind):
    figure = group_chart(groups(2, names), by="time", ordered=True)
    assert list(figure.data[0].x) == names
    assert figure.layout.xaxis.type == kind
    assert figure.layout.yaxis.range == (-2, 2)

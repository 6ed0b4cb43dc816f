"""The Model check figures hold the numbers of the tables they are given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.check.charts import (
    ALL_GROUPS,
    AT_EITHER_END,
    decile_chart,
    group_chart,
    pit_chart,
    rank_chart,
)


def test_pit_bars_and_steps():
    pit = pd.DataFrame(
        {
            "left": [0.0, 0.5],
            "right": [0.5, 1.0],
            "poisson": [1.6, 0.4],
            "negative_binomial": [1.1, 0.9],
            "low": 0.8,
            "high": 1.2,
        }
    )
    figure = pit_chart(pit)
    bars, steps = figure.data
    assert (list(bars.x), list(bars.y), list(bars.width)) == ([0.25, 0.75], [1.1, 0.9], [0.5, 0.5])
    assert (list(steps.x), list(steps.y)) == ([0, 0.5, 1], [1.6, 0.4, 0.4])
    assert steps.line.shape == "hv"
    assert bars.name != steps.name
    band = figure.layout.shapes[0]
    assert (band.y0, band.y1) == (0.8, 1.2)
    assert figure.layout.yaxis.range == (0, 4)
    assert pit_chart(pit.assign(poisson=8.0)).layout.yaxis.range[1] > 8


def test_deciles_on_equal_logarithmic_axes_with_a_mark_for_none():
    deciles = pd.DataFrame(
        {
            "n": [10, 10],
            "predicted": [0.2, 5.0],
            "observed": [0.0, 6.0],
            "low": [0.0, 4.0],
            "high": [0.0, 8.0],
        }
    )
    figure = decile_chart(deciles)
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
    return pd.DataFrame(
        {
            "group": names or [f"place {i}" for i in range(n)],
            "n": 10,
            "observed": 3.0,
            "predicted": 2.0,
            "mean": mean,
            "low": mean - 0.2,
            "high": mean + 0.2,
            "far": mean > 0.8,
        }
    )


class TestGroups:
    def test_of_many_those_at_either_end(self):
        table = groups(ALL_GROUPS + 1)
        # A few counts far off are less clear than many somewhat off.
        table.loc[ALL_GROUPS, "n"] = 1
        figure = group_chart(table, by="place", ordered=False)
        drawn = list(figure.data[0].y)
        assert len(drawn) == 2 * AT_EITHER_END
        assert drawn[0] == f"place {ALL_GROUPS - 1}"
        assert drawn[-1] == "place 0"

    @pytest.mark.parametrize(
        ("names", "kind"),
        [
            (["2021-01-01", "2021-01-02"], "date"),
            (["-81", "-80"], "linear"),
            (["2011-1", "2011-2"], "category"),
        ],
    )
    def test_a_line_over_what_has_an_order(self, names, kind):
        figure = group_chart(groups(2, names), by="time", ordered=True)
        assert list(figure.data[0].x) == names
        assert figure.layout.xaxis.type == kind
        assert figure.layout.yaxis.range == (-2, 2)


def test_ranks_mark_the_own_and_the_chosen():
    table = pd.DataFrame(
        {
            "rank": [3, 5, 7],
            "behind": [0.4, 0.1, 0.0],
            "error": [0.1, 0.2, 0.0],
            "best": [False, False, True],
            "chosen": [False, True, False],
        }
    )
    figure = rank_chart(table, behind="behind", error="error", title="behind", current=7)
    (dots,) = figure.data
    assert list(dots.x) == ["3", "5", "7"]
    assert list(dots.y) == [0.4, 0.1, 0]
    assert list(dots.error_y.array) == [0.1, 0.2, 0]
    assert list(dots.marker.symbol) == ["circle", "diamond", "circle"]
    assert int(np.argmax(dots.marker.size)) == 2

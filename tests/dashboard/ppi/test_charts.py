"""Figures of the plant–pollinator page hold the numbers of the tables they are given."""

import math

import pandas as pd
import pytest

from dashboard.ppi.charts import visits_chart
from tests.uncletc.made import table_of

NAN = math.nan


def numbers(values):
    """A list with None for NaN."""
    return [None if value is None or math.isnan(value) else value for value in values]


class TestVisits:
    @pytest.fixture
    def visits(self):
        one = table_of("""\
year  number  p    observed  counted
2011  1       0.5  True      12.0
2011  2       0.2  True      0.0
2011  3       0.4  False     nan
2011  4       0.6  True      3.0
2011  5       0.7  False     nan
2012  1       0.1  True      1.0
2012  3       0.3  True      1234.0
""").assign(dates=["1 Jun to 2 Jun", *[""] * 6])
        return pd.concat([one.assign(label="a – b"), one.assign(label="c – d")])

    def draw(self, visits, **options):
        options = {"log": False} | options
        return visits_chart(visits, title="relative p", **options)

    def test_whole_intervals_are_drawn_and_one_line_has_no_legend(self, visits):
        wide = visits[visits["label"] == "a – b"].assign(low=0.015, high=5.0)
        figure = self.draw(wide)
        assert figure.layout.yaxis.type == "log"
        low, high = figure.layout.yaxis.range
        assert 10**low < 0.02
        assert 10**high > 5
        assert not figure.layout.showlegend

    def lines(self, figure):
        return [trace for trace in figure.data if trace.mode == "lines+markers"]

    def test_lines_break_where_nobody_could_count(self, visits):
        first = self.lines(self.draw(visits))[0]
        assert list(first.x) == [1, 2, 3, 4, 5]
        assert numbers(first.y) == [0.5, 0.2, None, 0.6, None]
        assert first.connectgaps is False

    def test_bands_break_with_the_line(self, visits):
        figure = self.draw(visits.assign(low=visits["p"] / 2, high=visits["p"] * 2))
        band = next(trace for trace in figure.data if trace.fill == "toself")
        x, y = numbers(band.x), numbers(band.y)
        end = x.index(None)
        assert x[:end] == [0.8, 1, 2, 2.2, 2.2, 2, 1, 0.8, 0.8]
        assert y[:end] == [0.25, 0.25, 0.1, 0.1, 0.4, 0.4, 1.0, 1.0, 0.25]
        assert x[end + 1 :] == [3.8, 4, 4.2, 4.2, 4, 3.8, 3.8, None]
        assert "90 %: 0.25 to 1" in self.lines(figure)[0].text[0]

"""The figures hold the numbers of the tables they are given."""

import pandas as pd
import pytest

from dashboard.shared.charts.bars import bar_limits, ranked_bars
from dashboard.shared.charts.style import BAR_COLORS, BLUE, COLORS, SKY, faint, log_axis, on_dark
from dashboard.table.charts import lines_chart
from tests.dashboard.looking import DARK, contrast


class TestBars:
    @pytest.fixture
    def bars(self):
        return pd.DataFrame(
            {
                "label": ["Eriophyllum lanatum – Franklinella occidentalis", "a – b"],
                "value": [100.0, 2.0],
                "note": ["1 seen", "20 seen"],
                "low": [10.0, 1.0],
                "high": [1e9, 3.0],
            }
        )

    def draw(self, bars, **options):
        log = options.get("log", False)
        limits = bar_limits(bars, log=log)
        return ranked_bars(bars, title="relative p", color="#123456", limits=limits, **options)

    @pytest.mark.parametrize(("log", "kind"), [(False, "bar"), (True, "scatter")])
    def test_values_whiskers_and_names(self, bars, log, kind):
        figure = self.draw(bars, log=log, chosen=["a – b"])
        values, rows = figure.data
        assert values.type == kind  # the length of a bar means nothing on a log axis
        assert list(values.x) == [100, 2]
        assert list(values.error_x.array) == [1e9 - 100, 1]
        assert list(values.error_x.arrayminus) == [90, 1]
        assert list(values.marker.line.width) == [0, 3]  # the chosen one is outlined
        assert [each.text for each in figure.layout.annotations] == ["100", "2.0"]
        assert figure.layout.yaxis.autorange == "reversed"  # the first on top
        # By number: Plotly takes the label "27" of a site for the 28th row.
        assert list(figure.layout.yaxis.tickvals) == [0, 1]
        assert [each.y for each in figure.layout.annotations] == [0, 1]
        assert all(len(text) <= 31 for text in figure.layout.yaxis.ticktext)
        assert [row[-1] for row in rows.customdata] == bars["label"].tolist()
        assert rows.customdata[0][:4].tolist() == [100, 10, 1e9, "1 seen"]

    def test_an_axis_has_room_for_whiskers_but_not_for_very_long_ones(self, bars):
        usual = bars.assign(high=[120.0, 3.0])
        assert bar_limits(usual) == pytest.approx((0, 1.05 * 120))
        assert bar_limits(bars)[1] < 11 * 100
        low, high = bar_limits(usual, log=True)
        assert 0 < low < 1
        assert 120 < high < 200


def test_a_logarithmic_axis_has_full_numbers():
    assert log_axis(0.4, 21)["ticktext"] == ["0.5", "1", "2", "5", "10", "20"]
    assert log_axis(0.9, 2e6)["ticktext"][-2:] == ["100,000", "1,000,000"]
    assert log_axis(0.4, 3, most=3, sign="× ")["ticktext"] == ["× 0.5", "× 1", "× 2"]


def test_a_logarithmic_axis_of_lines_holds_their_bands_and_no_0():
    lines = pd.DataFrame({"label": "a", "step": list("xyz"), "position": range(3)})
    lines = lines.assign(value=[0.0, 2.0, 30.0], low=[0.0, 0.5, 20.0], high=60.0, counted=1)
    axis = lines_chart(lines, title="λ", along="week", log=True).layout.yaxis
    assert 0 < 10 ** axis.range[0] < 0.5
    assert 60 < 10 ** axis.range[1] < 120
    assert axis.ticktext == ("0.5", "1", "2", "5", "10", "20", "50")


def test_on_a_dark_page_a_blue_line_and_its_band_are_lighter():
    lines = pd.DataFrame({"label": "a", "step": list("xyz"), "position": range(3)})
    lines = lines.assign(value=2.0, low=1.0, high=3.0, counted=1)
    figure = lines_chart(lines, title="p", along="week", log=False)
    dark = on_dark(figure)
    assert (figure.data[-1].line.color, dark.data[-1].line.color) == (BLUE, SKY)
    assert dark.data[1].fillcolor == faint(SKY, 0.4)
    assert figure.data[1].fillcolor == faint(BLUE)


@pytest.mark.parametrize("background", ["rgb(255, 255, 255)", DARK])
@pytest.mark.parametrize("color", [*COLORS, *BAR_COLORS.values()])
def test_colors_stand_out_in_both_themes(color, background):
    assert contrast(color, background) >= 3  # WCAG 2.1, 1.4.11

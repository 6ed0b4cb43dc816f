"""One county's days: against counts, λ and p known beforehand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dashboard.covid.charts import cell_bars, county_chart
from dashboard.covid.view import build_answers, build_county_view, build_covid_view
from dashboard.shared.charts.answers import detection_grids
from tests.dashboard.made import fit_by_hand
from uncletc import Anchor, CountTensor
from uncletc.datasets import Dataset, Provenance

TITLE = "relative p (median = 1)"
HALF = Anchor(kind="mean", value=0.5)


def fit_of(p: np.ndarray, rate: np.ndarray, **more: float) -> SimpleNamespace:
    """A fit that knows p of attributed entries, whose z is their number, and λ (a tensor)."""
    return fit_by_hand(
        lambda z: p[np.nan_to_num(z[:, 0]).astype(int)], lambda where: rate[tuple(where.T)], **more
    )


@pytest.fixture
def shared() -> Dataset:
    """Cell (0, 0) holds three counties and was not reported on day 1; (0, 1) holds one."""
    entries = [(0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 1, 1)]
    counts = CountTensor(
        (1, 2, 2),
        [entries[0], *entries[2:]],
        [30, 5, 1],
        attributes=[[0.0], [1.0], [2.0], [3.0]],
        attribute_indices=entries,
        labels=[["0"], ["0", "1"], ["2021-01-01", "2021-01-02"]],
    )
    table = pd.DataFrame(
        {
            "fips": ["01001", "01003", "01005", "01007"],
            "county": ["Small", "Large", "Middle", "Alone"],
            "state": "Alabama",
            "population": [10, 900, 50, 20],
            "latitude_index": 0,
            "longitude_index": [0, 0, 0, 1],
            "cell": ["33°, -87°"] * 3 + ["33°, -86°"],
            "counties_in_cell": [3, 3, 3, 1],
            "cases": [10, 15, 5, 6],
            "tests_per_1000": 1.0,
        }
    )
    nothing = Provenance(simulated=True, period="", sources=(), rules=())
    daily = np.array([[10, np.nan], [15, np.nan], [5, np.nan], [5, 1]])
    return Dataset(
        name="x",
        title="x",
        counts=counts,
        table=table,
        provenance=nothing,
        county_counts=daily,
    )


@pytest.fixture
def known() -> SimpleNamespace:
    return fit_of(np.array([0.2, 0.4, 0.6, 0.8]), np.array([[[100.0, 50.0], [10.0, 20.0]]]))


def view_of(dataset, found, fips, anchor=HALF):
    grids = detection_grids(dataset, found, anchor)
    answers = build_answers(dataset, found, grids.scale)
    return build_county_view(dataset, found, grids, fips, title=TITLE, answers=answers)


class TestDays:
    def test_a_day_without_a_report_is_missing_not_zero(self, shared, known):
        days = view_of(shared, known, "01003").days
        assert days["day"].tolist() == ["2021-01-01", "2021-01-02"]
        assert days["reported"].tolist()[0] == 30
        assert np.isnan(days["reported"].iloc[1])

    def test_rate_and_p_are_on_the_same_scale(self, shared, known):
        days = view_of(shared, known, "01003").days  # mean p is .5 already
        assert days["p"].tolist() == pytest.approx([0.2, 0.4])
        assert days["rate"].tolist() == pytest.approx([100, 50])
        doubled = view_of(shared, known, "01003", Anchor(kind="mean", value=1.0)).days
        assert doubled["p"].tolist() == pytest.approx([0.4, 0.8])
        assert doubled["rate"].tolist() == pytest.approx([50, 25])

    def test_reporting_is_in_what_is_predicted_and_not_in_rate(self, shared):
        given = np.array([0.2, 0.4, 0.6, 0.8]), np.array([[[100.0, 50.0], [10.0, 20.0]]])
        view = view_of(shared, fit_of(*given, reporting=0.5), "01003")
        assert view.days["predicted"].tolist() == pytest.approx([10, 10])
        assert view.days["rate"].tolist() == pytest.approx([100, 50])
        assert view.days["reporting"].tolist() == [0.5, 0.5]
        assert "what λ, p and reporting together predict" in view.caption
        assert "no part of λ or p" in view.caption
        figure = county_chart(view.days, p_title="p", rate_title="λ")
        assert "reporting" in figure.data[1].name
        assert "reporting × " in figure.data[1].hovertemplate

    def test_intervals_come_with_draws(self, shared, known):
        assert not set(view_of(shared, known, "01003").days) & {"p_low", "rate_high"}
        several = fit_of(
            np.array([0.2, 0.4, 0.6, 0.8]),
            np.array([[[100.0, 50.0], [10.0, 20.0]]]),
            ratio=2,
        )
        days = view_of(shared, several, "01003").days
        for name in ("p", "rate"):
            assert days[f"{name}_low"].to_numpy() == pytest.approx(days[name] / 2)
            assert days[f"{name}_high"].to_numpy() == pytest.approx(days[name] * 2)

    def test_a_stated_range_is_in_the_intervals_of_rate_and_p(self, shared):
        given = np.array([0.2, 0.4, 0.6, 0.8]), np.array([[[100.0, 50.0], [10.0, 20.0]]])
        several = fit_of(*given, ratio=3)
        middle = Anchor(kind="mean", value=np.sqrt(0.08))
        number, ranged = (
            view_of(shared, several, "01003", anchor).days
            for anchor in (middle, Anchor(kind="mean", value=(0.2, 0.4)))
        )
        for name in ("p", "rate", "predicted"):
            assert ranged[name].to_numpy() == pytest.approx(number[name].to_numpy())
        for name in ("p", "rate"):
            assert (ranged[f"{name}_low"] < 0.95 * number[f"{name}_low"]).all()
            assert (ranged[f"{name}_high"] > 1.01 * number[f"{name}_high"]).all()
        assert (ranged["p_high"] <= 1).all()


class TestWords:
    def test_whose_the_counts_are(self, shared, known):
        view = view_of(shared, known, "01005")
        assert view.name == "Middle, Alabama"
        assert "**Cell of 3 counties**: this one, Large, Small." in view.shared
        assert view_of(shared, known, "01007").shared is None

    def test_rank_among_cells(self, shared, known):
        summary = view_of(shared, known, "01003").summary
        assert "Reported **15**; estimated true **50**, **30 % counted**" in summary
        assert "if mean detection is 50%" in summary
        assert "number 2 of 2" in summary
        assert "number 1 of 2" in view_of(shared, known, "01007").summary

    def test_a_line_says_why_percent_counted_and_p_differ(self, shared, known):
        assert "reports come in" in view_of(shared, known, "01007").summary  # 6 of 30, p is .7
        assert "reports come in" not in view_of(shared, known, "01003").summary
        shared.table["cases"] = [0, 15, 15, 6]
        small = view_of(shared, known, "01001").summary
        assert "Nothing was reported here, so p rests on" in small

    def test_estimates_of_an_absolute_scale_are_no_less_than_what_was_reported(self, shared):
        too_low = fit_of(np.array([0.2, 0.4, 0.6, 0.8]), np.full((1, 2, 2), 3.0), ratio=2)
        days = view_of(shared, too_low, "01003").days
        assert days.loc[0, ["rate", "rate_low", "rate_high"]].tolist() == [30, 30, 30]
        late = fit_of(np.array([0.2, 0.4, 0.6, 0.8]), np.full((1, 2, 2), 3.0), reporting=0.5)
        assert view_of(shared, late, "01003").days.loc[0, "rate"] == 3

    def test_a_cell_without_attributes_says_so(self, shared, known):
        counts = CountTensor(
            (1, 2, 2),
            [(0, 0, 0), (0, 1, 0)],
            [1, 2],
            attributes=[[1.0]],
            attribute_indices=[(0, 1, 0)],
        )
        view = view_of(replace(shared, counts=counts), known, "01003")
        assert "no attributes are known" in view.summary

    def test_a_county_that_is_not_there(self, shared, known):
        with pytest.raises(ValueError, match="must be a county of these data, got '99999'"):
            view_of(shared, known, "99999")


class TestCharts:
    def test_panel_draws_the_days(self, shared, known):
        view = view_of(shared, known, "01003")
        figure = county_chart(view.days, p_title=view.p_title, rate_title=view.rate_title)
        drawn = {trace.name: list(trace.y) for trace in figure.data}
        assert drawn["predicted, ŷ = λp"] == view.days["predicted"].tolist()
        assert drawn["λ"] == view.days["rate"].tolist()
        assert drawn["p"] == view.days["p"].tolist()
        assert {trace.xaxis for trace in figure.data} == {"x", "x2", "x3"}
        assert figure.layout.xaxis.matches == figure.layout.xaxis2.matches == "x3"
        titles = " ".join(note.text for note in figure.layout.annotations).replace("<br>", " ")
        assert view.rate_title.split(" (")[0] in titles
        assert not figure.layout.shapes

    @pytest.mark.parametrize("intervals", [False, True])
    def test_a_bar_carries_its_county_and_the_chosen_cell_stands_out(self, shared, intervals):
        more = {"ratio": 2} if intervals else {}
        found = fit_of(np.array([0.2, 0.4, 0.6, 0.8]), np.ones((1, 2, 2)), **more)
        top = build_covid_view(shared, found, HALF).top
        figure = cell_bars(top, title="p", color="#0072B2", limit=1, chosen=["Large, Alabama +2"])
        bars, rows, *whiskers = figure.data
        for trace in (bars, rows):
            assert [item[-1] for item in trace.customdata] == ["01007", "01003"]
        assert list(rows.x) == [1, 1]  # a click anywhere in the row counts
        assert bars.marker.opacity[1] == 1 > bars.marker.opacity[0]
        assert len(whiskers) == intervals
        plain = cell_bars(top, title="p", color="#0072B2", limit=1, chosen=())
        assert plain.data[0].marker.opacity is None

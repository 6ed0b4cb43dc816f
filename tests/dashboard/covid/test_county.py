"""One county's days: against counts, λ and p known beforehand."""

from dataclasses import replace

import numpy as np
import pytest

from dashboard.covid.charts import series_chart
from dashboard.covid.view import build_answers, build_county_view, cell_totals
from dashboard.shared.charts.answers import detection_grids
from tests.dashboard.made import fit_by_hand
from tests.uncletc.made import county_dataset, table_of
from uncletc import Anchor, CountTensor

HALF = Anchor(kind="mean", value=0.5)
P, RATE = np.array([0.2, 0.4, 0.6, 0.8]), np.array([[[100.0, 50.0], [10.0, 20.0]]])


def fit_of(p, rate, **more):
    """A fit that knows p of attributed entries, whose z is their number, and λ (a tensor)."""
    return fit_by_hand(
        lambda z: p[np.nan_to_num(z[:, 0]).astype(int)], lambda where: rate[tuple(where.T)], **more
    )


@pytest.fixture
def shared():
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
    table = table_of("""\
fips   county  population  longitude_index  cell       counties_in_cell  cases
99001  Small   10          0                33°, -87°  3                 10
99003  Large   900         0                33°, -87°  3                 15
99005  Middle  50          0                33°, -87°  3                 5
99007  Alone   20          1                33°, -86°  1                 6
""").assign(state="Alabama", latitude_index=0, tests_per_1000=1.0)
    return county_dataset(counts, table, [[10, np.nan], [15, np.nan], [5, np.nan], [5, 1]])


@pytest.fixture
def known():
    return fit_of(P, RATE)


def view_of(dataset, found, fips, anchor=HALF):
    grids = detection_grids(dataset, found, anchor)
    answers = build_answers(dataset, found, grids.scale, cell_totals(dataset, found))
    return build_county_view(dataset, found, grids, fips, answers=answers)


class TestDays:
    def test_a_day_without_a_report_is_missing_not_zero(self, shared, known):
        days = view_of(shared, known, "99003").days
        assert days["day"].tolist() == ["2021-01-01", "2021-01-02"]
        assert days["reported"].tolist()[0] == 30
        assert np.isnan(days["reported"].iloc[1])

    def test_rate_and_p_are_on_the_same_scale(self, shared, known):
        days = view_of(shared, known, "99003").days  # mean p is .5 already
        assert days["p"].tolist() == pytest.approx([0.2, 0.4])
        assert days["rate"].tolist() == pytest.approx([100, 50])
        doubled = view_of(shared, known, "99003", Anchor(kind="mean", value=1.0)).days
        assert doubled["p"].tolist() == pytest.approx([0.4, 0.8])
        assert doubled["rate"].tolist() == pytest.approx([50, 25])

    def test_reporting_is_in_what_is_predicted_and_not_in_rate(self, shared):
        view = view_of(shared, fit_of(P, RATE, reporting=0.5), "99003")
        assert view.days["predicted"].tolist() == pytest.approx([10, 10])
        assert view.days["rate"].tolist() == pytest.approx([100, 50])
        assert view.days["reporting"].tolist() == [0.5, 0.5]
        predicted = series_chart(view.days, p_title="p", rate_title="λ").data[1]
        assert "reporting" in predicted.name
        assert "reporting × " in predicted.hovertemplate

    def test_intervals_come_with_draws(self, shared, known):
        assert not set(view_of(shared, known, "99003").days) & {"p_low", "rate_high"}
        days = view_of(shared, fit_of(P, RATE, ratio=2), "99003").days
        for name in ("p", "rate"):
            assert days[f"{name}_low"].to_numpy() == pytest.approx(days[name] / 2)
            assert days[f"{name}_high"].to_numpy() == pytest.approx(days[name] * 2)


class TestWords:
    def test_estimates_of_an_absolute_scale_are_no_less_than_what_was_reported(self, shared):
        too_low = fit_of(P, np.full((1, 2, 2), 3.0), ratio=2)
        days = view_of(shared, too_low, "99003").days
        assert days.loc[0, ["rate", "rate_low", "rate_high"]].tolist() == [30, 30, 30]
        late = fit_of(P, np.full((1, 2, 2), 3.0), reporting=0.5)
        assert view_of(shared, late, "99003").days.loc[0, "rate"] == 3

    def test_a_cell_without_attributes_says_so(self, shared, known):
        z = {"attributes": [[1.0]], "attribute_indices": [(0, 1, 0)]}
        counts = CountTensor((1, 2, 2), [(0, 0, 0), (0, 1, 0)], [1, 2], **z)
        view = view_of(replace(shared, counts=counts), known, "99003")
        assert "no covariates are known" in view.summary

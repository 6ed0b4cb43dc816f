"""The COVID-19 tables: by hand where p is known, and against a fit of the simulated counts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dashboard.covid.view as covid
from dashboard.countymap.picture import counties_in, read_shapes
from dashboard.covid.view import build_county_view, total_days
from dashboard.shared.charts.answers import detection_grids
from tests.dashboard.made import covid_view, fit_by_hand
from tests.uncletc.made import county_dataset, table_of
from uncletc import Anchor, CountTensor


def of_z(z):
    return z[:, 0]


# Fits whose p is z, without intervals and with them.
KNOWN = fit_by_hand(of_z)
SPREAD = fit_by_hand(of_z, ratio=2)


AS_IT_IS = Anchor(kind="best")  # p stays as it is where the largest p is 1


@pytest.fixture
def by_hand():
    """Three counties share cell (0, 0); (0, 1) is alone; (1, 0) has no attributes."""
    p = {(0, 0): [0.2, 0.4], (0, 1): [1.0, 0.5]}
    entries = [(*cell, day) for cell in p for day in (0, 1)]
    counts = CountTensor(
        (2, 2, 2),
        [*entries, (1, 0, 0)],
        [3, 0, 5, 1, 2],
        attributes=[[value] for values in p.values() for value in values],
        attribute_indices=entries,
    )
    table = table_of("""\
fips   county   population  cell  latitude_index  longitude_index  counties_in_cell  cases
99001  Small    10          a     0               0                3                 1
99003  Large    900         a     0               0                3                 1200
99005  Middle   50          a     0               0                3                 2
99007  Alone    20          b     0               1                1                 6
99009  Unknown  30          c     1               0                1                 2
""").assign(state="AL", tests_per_1000=[0.5, 2.25, 1.0, 4.0, 5.0])
    return county_dataset(counts, table, [[0, 0], [3, 0], [0, 0], [5, 1], [2, np.nan]])


class TestByHand:
    def test_value_is_the_mean_over_the_days_of_the_countys_cell(self, by_hand):
        view = covid_view(by_hand, KNOWN, AS_IT_IS)
        assert view.counties["value"].tolist()[:4] == pytest.approx([0.3, 0.3, 0.3, 0.75])
        assert view.county_table["county"].iloc[0] == "Small, AL"  # as on the map

    def test_a_cell_without_attributes_has_no_value_and_no_bar(self, by_hand):
        view = covid_view(by_hand, KNOWN, AS_IT_IS)
        assert view.counties["value"].isna().tolist() == [False] * 4 + [True]
        assert not view.top["label"].str.startswith("Unknown").any()

    def test_p_its_interval_and_its_rank_are_of_the_same_days(self, by_hand):
        some = by_hand.counts.subset(np.array([0, 2, 3]))
        narrow = fit_by_hand(of_z, ratio=1.1)
        view = covid_view(replace(by_hand, counts=some), narrow, AS_IT_IS)
        large = view.counties.iloc[1]
        assert large["value"] == pytest.approx(0.2)  # not .3, the mean over days without a count
        shown = view.ranked
        assert shown["value"].between(shown["level_low"], shown["level_high"]).all()

    def test_each_line_of_a_tooltip_is_the_countys_or_names_its_cell(self, by_hand):
        counties = covid_view(by_hand, SPREAD, AS_IT_IS).counties.set_index("county")
        large, alone = counties.loc["Large"], counties.loc["Alone"]
        assert large["mark"] == " (cell of 3 counties)"
        assert large["spread"].endswith("(cell of 3 counties)")
        assert large["reported"].endswith(": 1,200")  # its own
        assert large["estimate"].endswith("this county's part of its cell of 3 counties")
        assert not any("cell" in str(alone[name]) for name in ("mark", "spread", "estimate"))

    def test_one_bar_per_cell_named_after_its_most_populous_county(self, by_hand):
        view = covid_view(by_hand, KNOWN, AS_IT_IS)
        assert view.top["label"].tolist() == ["Alone, AL"]  # each at one end alone
        assert view.bottom["label"].tolist() == ["Large, AL +2"]
        assert view.ranked["value"].tolist() == pytest.approx([0.75, 0.3])
        three = replace(view, ranked=pd.concat([view.ranked, view.ranked.tail(1)]))
        assert (len(three.top), len(three.bottom)) == (2, 1)


class TestStates:
    """Cell a holds two counties of AL and Middle, which lies in GA with Alone."""

    @pytest.fixture
    def two(self, by_hand):
        state, cases = ["AL", "AL", "GA", "GA", "AL"], [0, 2, 1, 6, 2]
        table = by_hand.table.assign(state=state, cases=cases, population=100)
        daily = np.array([[0, 0], [2, 0], [1, 0], [5, 1], [2, np.nan]])
        return replace(by_hand, table=table, county_counts=daily)

    def test_states_have_the_reports_of_their_counties_and_parts_of_cells(self, two):
        answers = covid_view(two, SPREAD, AS_IT_IS).answers
        states = answers.tables["states"].set_index("state")
        assert states["reported"].to_dict() == {"AL": 4, "GA": 7}
        assert states["population"].to_dict() == {"AL": 300, "GA": 200}
        cells = answers.all_places.set_index("cell")["rate"]
        assert states["rate"].to_dict() == pytest.approx(
            {"AL": 2 / 3 * cells["a"] + cells["c"], "GA": 1 / 3 * cells["a"] + cells["b"]}
        )
        assert answers.total["reported"] == 11
        assert answers.total["rate"] == pytest.approx(cells.sum())

    def test_a_county_without_a_report_in_a_shared_cell_has_no_estimate(self, two):
        view = covid_view(two, SPREAD, AS_IT_IS)
        silent = view.counties.iloc[0]
        assert silent["reported"].endswith(": 0")
        assert silent[["per_1000", "estimate"]].isna().all()
        grids = detection_grids(two, SPREAD, AS_IT_IS)
        found = build_county_view(two, SPREAD, grids, silent["fips"], answers=view.answers)
        assert "Reported **0**; λ cannot be estimated here." in found.summary

    def test_ranks_of_all_places_stand_only_where_all_are_shown(self, two):
        assert covid_view(two, SPREAD, AS_IT_IS).answers.precision
        assert not covid_view(two, SPREAD, AS_IT_IS, states=["GA"]).answers.precision

    def test_chosen_states_alone(self, two):
        answers = covid_view(two, KNOWN, AS_IT_IS, day=1, states=["GA"]).answers
        assert answers.total["reported"] == 1  # on that day
        assert answers.tables["places"]["cell"].tolist() == ["a", "b"]
        assert covid.across_borders(two, answers, ["GA"]).startswith(
            "Counties of other states share 1 of these 2 places"
        )
        assert covid.across_borders(two, answers, []) == ""
        assert covid.across_borders(two, answers, ["AL", "GA"]) == ""

    def test_a_state_has_the_counties_of_a_box_alone(self, two, monkeypatch):
        monkeypatch.setattr(covid, "counties_in", lambda _: {two.table["fips"].iloc[3]})
        answers = covid_view(two, KNOWN, AS_IT_IS, area=(0, 0, 1, 1)).answers
        state = answers.tables["states"].iloc[0]
        assert state[["state", "reported", "population"]].tolist() == ["GA", 6, 100]
        assert state["rate"] == pytest.approx(answers.total["rate"])


class TestFitted:
    def test_a_part_of_the_map_is_added_up_like_states(self, covid_twin, covid_fit):
        shapes = read_shapes()
        at = shapes["fips"].index("24510")
        x, y = shapes["x"][at], shapes["y"][at]
        box = (x - 150, y - 150, x + 150, y + 150)
        inside = covid_twin.table["fips"].isin(counties_in(box))
        assert 3 < inside.sum() < 60
        view = covid_view(covid_twin, covid_fit, Anchor(), area=box)
        counted = covid_twin.table["fips"].isin(view.answers.counties.index)
        daily = np.nansum(covid_twin.county_counts, axis=1)
        assert view.answers.total["reported"] == daily[(inside & counted).to_numpy()].sum()
        drawn = view.counties.set_index("fips")["value"].dropna()
        assert set(drawn.index) <= counties_in(box)
        days = total_days(covid_twin, covid_fit, view)
        places = view.answers.tables["places"]
        assert days["reported"].sum() == places["reported"].sum()
        assert days["rate"].sum() == pytest.approx(places["rate"].sum())
        assert len(view.top) <= 10

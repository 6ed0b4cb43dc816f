"""What the Plan page compares and says, against tables written here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.plan.charts import cost_chart, width_chart
from dashboard.plan.designs import Choice, kinds_of, most_surveyed, ordered_mode, plural_name
from dashboard.plan.script import plan_script
from dashboard.plan.view import (
    MEASURES,
    curves,
    design_table,
    headline,
    measures_of,
    plan_of,
    trust_words,
    wish_words,
)
from dashboard.shared.text.scripts import load
from uncletc import CountTensor, FitSettings, datasets
from uncletc.planning import PRESENT, Costs, Plan

RELATIVE_P = MEASURES[0]
SCALE = MEASURES[-1]


def own(**modes: list[str]) -> datasets.Dataset:
    """A reader's own table with these modes, counted everywhere."""
    frame = pd.MultiIndex.from_product(list(modes.values()), names=list(modes)).to_frame(
        index=False
    )
    frame["count"] = np.arange(len(frame)) % 5
    return datasets.read_table(frame, modes=tuple(modes), count="count")


@pytest.fixture(scope="module")
def sites() -> datasets.Dataset:
    return own(week=["1", "2", "3"], site=["a", "b", "c", "d"])


@pytest.fixture
def choice(sites) -> Choice:
    return Choice(
        kinds=kinds_of(sites),
        times=(3.0, 2.0),
        places="site",
        more=(1.5,),
        surveys=(2,),
        error=0.1,
        repeats=2,
    )


def rows(width: float, held: float = 0.9, **more: float) -> list[dict[str, object]]:
    """Two seasons, in which p is as wide as said, and what else is known of the scale."""
    found: list[dict[str, object]] = []
    for repeat, factor in enumerate((0.99, 1.01)):
        season = {"repeat": repeat, "held": held}
        for quantity, each in {"detection": width, **more}.items():
            scale = "absolute" if quantity == "scale" else "relative"
            found.append(season | {"quantity": quantity, "scale": scale, "width": each * factor})
    return found


@pytest.fixture
def plan(sites, choice) -> Plan:
    widths = [rows(2.0), rows(1.6), rows(1.4), rows(1.9), rows(2.0, scale=1.8)]
    fitted = [{"quantity": "detection", "scale": "relative", "width": 2.1}]
    results = {
        design: {"rows": found, "fitted": fitted}
        for design, found in zip(choice.designs, widths, strict=True)
    }
    return plan_of(sites.counts, choice, results)


class TestKinds:
    def test_time_is_the_mode_of_dates_or_numbers_or_the_last(self, covid_twin, ppi_twin, sites):
        assert ordered_mode(covid_twin.counts) == "day"
        assert ordered_mode(ppi_twin.counts) == "visit"
        assert ordered_mode(sites.counts) == "week"
        assert ordered_mode(own(day=["2024-05-01", "2024-05-02"], trap=["1", "2"]).counts) == "day"
        assert ordered_mode(own(site=["a", "b"], species=["c", "d"]).counts) == "species"

    def test_words_are_those_of_the_data(self, covid_twin, ppi_twin, sites):
        covid, plants, mine = map(kinds_of, (covid_twin, ppi_twin, sites))
        assert covid.places == ()
        assert covid.all_places == "county cells"
        assert plants.places == ("plant", "pollinator")
        assert (mine.along, mine.place, mine.all_places) == ("week", "site", "sites")
        four = kinds_of(own(year=["1", "2"], site=["a"], species=["b"], hour=["x", "y"]), "hour")
        assert (four.along, four.places, four.place) == (
            "hour",
            ("year", "site", "species"),
            "place",
        )
        assert plural_name("species") == "species"
        assert plural_name("**odd**") == "`**odd**`"

    def test_as_many_can_be_surveyed_as_have_a_count(self, sites):
        where = [[i, j] for i in range(3) for j in range(4)]
        counts = CountTensor((3, 4), where, [1, 0] * 6, modes=["week", "site"])
        assert most_surveyed(counts, kinds_of(sites), "site") == 2
        assert most_surveyed(counts, kinds_of(sites), "") == 2


class TestChoice:
    def test_designs_by_kind_and_size(self, choice, sites):
        names = [(step.kind, step.name) for step in choice.steps]
        assert names == [
            ("more weeks", "× 2"),
            ("more weeks", "× 3"),
            ("more sites", "× 1.5"),
            ("survey of sites", "2"),
        ]
        assert choice.designs[0] == PRESENT
        assert choice.designs[1].added(sites.counts) == {"week": 3}
        assert choice.steps[0].words == "Twice the weeks"
        assert choice.steps[-1].words == "A survey that tells p at 2 sites (each ± 10 %)"

    def test_each_design_is_an_order_of_its_own(self, choice, sites):
        orders = choice.orders(sites.counts, FitSettings(rank=1, seed=4))
        assert len({order.key for order in orders.values()}) == 5
        assert {order.seed for order in orders.values()} == {4}
        assert {order.along for order in orders.values()} == {"week"}


class TestView:
    def test_every_kind_begins_with_the_present(self, plan, choice):
        points = curves(plan, choice, RELATIVE_P, Costs(levels={"week": 10}, survey=5))
        assert list(points["kind"].unique()) == ["more weeks", "more sites", "survey of sites"]
        weeks = points[points["kind"] == "more weeks"]
        assert list(weeks["name"]) == ["as now", "× 2", "× 3"]
        assert list(weeks["width"]) == pytest.approx([2.0, 1.6, 1.4])
        assert list(weeks["cost"]) == [0, 30, 60]
        assert list(weeks["low"]) == pytest.approx([1.98, 1.584, 1.386])
        scale = curves(plan, choice, SCALE, Costs())
        assert list(scale["name"]) == ["2"]

    def test_the_headline_says_what_each_kind_would_do(self, plan, choice):
        said = headline(plan, choice, RELATIVE_P)
        assert (
            "Three times the weeks would narrow the interval of relative p at a typical site from "
            "**× 2.0** to **× 1.40** (× 1.39 to × 1.41 over repeats)." in said
        )
        assert "(each ± 10 %) would not narrow the interval" in said
        assert "It would tell the scale that all p share within **× 1.80**." in said
        assert "now nothing states it" in headline(plan, choice, SCALE)

    def test_the_cheapest_that_reaches_a_wish(self, plan, choice):
        costs = Costs(levels={"week": 10, "site": 100}, survey=1)
        said = wish_words(plan, choice, RELATIVE_P, costs, 1.7)
        assert "The cheapest of these designs" in said
        assert "**more weeks: × 2**, at a cost of 30" in said
        assert "None of these designs" in wish_words(plan, choice, RELATIVE_P, costs, 1.1)
        assert "as they are reach" in wish_words(plan, choice, RELATIVE_P, costs, 3.0)
        assert wish_words(plan, choice, RELATIVE_P, costs, None) == ""

    def test_the_table_has_costs_where_there_are_any(self, plan, choice):
        table = design_table(plan, choice, RELATIVE_P, Costs())
        assert list(table["design"])[:2] == ["as now", "more weeks: × 2"]
        assert len(table) == 5
        assert "cost" not in table
        assert "cost" in design_table(plan, choice, RELATIVE_P, Costs(survey=1))
        once = replace(choice, repeats=1)
        assert "over repeats" in table
        assert "over repeats" not in design_table(plan, once, RELATIVE_P, Costs())

    def test_measures_are_those_known_and_absolute_ones_come_first_if_known_now(
        self, sites, choice
    ):
        known = [each.name for each in measures_of(_plan(sites, choice, [rows(2.0)]))]
        assert known == ["relative p"]
        both = _plan(sites, choice, [rows(2.0, scale=1.5), rows(1.5, scale=1.4)])
        assert [each.name for each in measures_of(both)] == ["scale of p", "relative p"]

    def test_what_speaks_against_a_plan_is_said(self, plan, sites, choice):
        assert trust_words(plan, RELATIVE_P) == []
        poor = _plan(sites, choice, [rows(1.2), rows(1.1, held=0.4)], fitted=3.0)
        misses, unlike = trust_words(poor, RELATIVE_P)
        assert "'week × 2' 40 % of the simulated true values" in misses
        assert "The fit itself is wider than its simulation**: × 3.0 against × 1.20" in unlike


def _plan(sites, choice, found, fitted: float = 2.0) -> Plan:
    own_width = [{"quantity": "detection", "scale": "relative", "width": fitted}]
    pairs = zip(choice.designs, found, strict=False)
    return plan_of(
        sites.counts, choice, {d: {"rows": each, "fitted": own_width} for d, each in pairs}
    )


class TestCharts:
    def test_a_panel_for_each_kind_on_one_axis_of_widths(self, plan, choice):
        figure = width_chart(curves(plan, choice, RELATIVE_P, Costs()), title="relative p")
        assert len(figure.data) == 3
        weeks = figure.data[0]
        assert list(weeks.x) == [1, 2, 3]
        assert list(weeks.y) == pytest.approx([2.0, 1.6, 1.4])
        assert list(weeks.error_y.arrayminus) == pytest.approx([0.02, 0.016, 0.014])
        assert figure.layout.yaxis.type == "log"
        assert all(text.startswith("× ") for text in figure.layout.yaxis.ticktext)
        assert len(figure.layout.yaxis.ticktext) >= 3
        assert figure.layout.xaxis.title.text == "more weeks"
        assert len({trace.marker.symbol for trace in figure.data}) == 3

    def test_a_line_for_each_kind_by_cost_with_the_wish(self, plan, choice):
        points = curves(plan, choice, RELATIVE_P, Costs(levels={"week": 10}))
        figure = cost_chart(points, title="relative p", wish=1.7)
        assert list(figure.data[0].x) == [0, 30, 60]
        assert figure.layout.shapes[0].y0 == 1.7


def test_the_script_asks_for_the_same_plan(ppi_twin):
    kinds = kinds_of(ppi_twin)
    choice = Choice(kinds=kinds, times=(2.0,), places="plant", surveys=(5,), repeats=1)
    settings = FitSettings(rank=1, hidden=(), max_iter=2, effects=())
    costs = Costs(levels={"visit": 3.0}, survey=2.0)
    code = plan_script(settings, choice, costs, load("ppi-twin"))
    for part in (
        "planning.plan(dataset.counts, fitted, designs",
        "planning.Design(times={'visit': 2.0})",
        'survey=planning.Survey(places=5, of="plant")',
        "planning.Costs(levels=",
    ):
        assert part in code
    compile(code, "script", "exec")
    assert len([line for line in code.splitlines() if line]) <= 8

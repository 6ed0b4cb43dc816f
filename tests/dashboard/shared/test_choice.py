"""A model as a reader chooses it: what is applied, described and handed out."""

from dataclasses import replace

import pytest

from dashboard.shared.cache import with_model
from dashboard.shared.sidebar.model import (
    CUSTOM,
    NO_DEATHS,
    PAPER,
    RECOMMENDED,
    WITH_ROLES,
    model_of,
    remark,
)
from dashboard.shared.text.words import P_IS_THE_SAME
from dashboard.work.orders import FitOrder
from tests.dashboard.made import ppi_view
from uncletc import Anchor, Deaths, FitSettings, Role, Roles

EFFECTS = {"plant": "Plants differ.", "reporting(plant × visit)": "Some are reported later."}
STATED = Roles(
    [
        Role("wind", "both", -1, "Insects are hard to see in wind."),
        Role("month", "rate", 0, "There is a season."),
        *(Role(f"guild: {name}", "both") for name in ("bee", "beetle", "butterfly", "fly", "wasp")),
    ]
)
ALL = ["flower abundance", "month", "day of year", "wind", "cloud", "air temperature", "guild"]
SETTINGS = FitSettings(rank=2)


@pytest.fixture(scope="module")
def stated(ppi_twin):
    return replace(ppi_twin, effects=EFFECTS, roles=STATED)


class TestModels:
    def test_each_is_another_fit_with_a_name_of_its_own(self, stated):
        custom = model_of(stated, CUSTOM, [("wind", "λ")], without=["plant"])
        choices = [*(model_of(stated, name) for name in (PAPER, WITH_ROLES, RECOMMENDED)), custom]
        orders = {FitOrder(c.apply(stated).counts, c.settings(SETTINGS)) for c in choices}
        assert len(orders) == len({c.words for c in choices}) == 4
        assert custom.words == "custom (wind: λ; without effect of plant)"

    def test_the_papers_has_neither_roles_nor_effects_nor_deaths(self, stated, covid_twin):
        paper = model_of(stated, PAPER)
        assert paper.apply(stated).counts is stated.counts
        assert paper.settings(SETTINGS) == SETTINGS
        assert model_of(covid_twin, PAPER).deaths == NO_DEATHS
        assert model_of(covid_twin, PAPER).apply(covid_twin).counts is covid_twin.counts

    def test_deaths_are_read_once_named_where_unusual(self, covid_twin):
        once, again = (model_of(covid_twin) for _ in range(2))
        assert once.observations[0] is again.observations[0]
        assert with_model(covid_twin, once) is with_model(covid_twin, again)
        other = model_of(covid_twin, CUSTOM, deaths=Deaths(lag=10))
        assert "deaths 10 days later" in other.words


def test_what_a_reader_should_know_of_the_papers_is_said(stated, covid_twin):
    assert "either way" in remark(model_of(stated, PAPER), stated)
    assert "against** the truth" in remark(model_of(covid_twin, PAPER), covid_twin)
    assert remark(model_of(stated), stated) == ""


def test_a_p_of_one_is_said_and_not_warned_of(stated, short_fit):
    given = model_of(stated, CUSTOM, [(name, "nothing") for name in ALL]).apply(stated)
    fit = short_fit(given.counts, 2, solver="joint", hidden=())
    view = ppi_view(given, fit, Anchor())
    assert view.insight == P_IS_THE_SAME
    assert view.caution is None
    assert set(view.interactions["detection"]) == {1.0}

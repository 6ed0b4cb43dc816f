"""A model as a reader chooses it: what is applied, described and handed out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.ppi.view import build_ppi_view
from dashboard.shared.sidebar.choice import (
    CUSTOM,
    NO_DEATHS,
    OPTIONS,
    PAPER,
    RECOMMENDED,
    WITH_ROLES,
    acts_on,
    effect_name,
    model_of,
    models_of,
    option_of,
    remark,
    slug,
)
from dashboard.shared.sidebar.model import describe
from dashboard.shared.text.words import P_IS_THE_SAME
from dashboard.whatif.runs import Run, differences, order
from uncletc import Anchor, Deaths, FitSettings, Role, Roles
from uncletc.datasets import Dataset

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
def stated(ppi_twin: Dataset) -> Dataset:
    return replace(ppi_twin, effects=EFFECTS, roles=STATED)


@pytest.fixture(scope="module")
def plain(ppi_twin: Dataset) -> Dataset:
    return replace(ppi_twin, effects={}, roles=Roles())


class TestModels:
    def test_each_is_another_fit_with_a_name_of_its_own(self, stated):
        custom = model_of(stated, CUSTOM, roles={"wind": "λ"}, effects={"plant": False})
        choices = [*(model_of(stated, name) for name in (PAPER, WITH_ROLES, RECOMMENDED)), custom]
        orders = {
            order(stated.counts, Run(settings=c.settings(SETTINGS), roles=c)) for c in choices
        }
        assert len(orders) == len({c.words for c in choices}) == 4
        assert custom.words == "custom (wind: λ; without effect of plant)"

    def test_the_papers_has_neither_roles_nor_effects_nor_deaths(self, stated, covid_twin):
        paper = model_of(stated, PAPER)
        assert paper.apply(stated).counts is stated.counts
        assert paper.settings(SETTINGS) == SETTINGS
        assert model_of(covid_twin, PAPER).deaths == NO_DEATHS
        assert model_of(covid_twin, PAPER).of(covid_twin.counts) is covid_twin.counts

    def test_without_stated_roles_one_model_less_differs(self, stated, plain):
        assert models_of(stated) == (PAPER, WITH_ROLES, RECOMMENDED, CUSTOM)
        assert models_of(plain) == (PAPER, RECOMMENDED, CUSTOM)
        assert list(model_of(plain).table) == ["covariate", "affects"]

    def test_own_roles_change_counts_and_are_named(self, stated):
        own = model_of(stated, CUSTOM, roles={"wind": "λ", "guild": "nothing"})
        counts = own.apply(stated).counts
        assert counts.rate_attribute_names == ("month", "wind")
        assert not any("guild" in name for name in counts.all_attribute_names)
        many = model_of(stated, CUSTOM, roles=dict.fromkeys(ALL, "nothing"))
        assert many.words.endswith("4 more)")
        assert describe(SETTINGS, many.words).endswith(many.words)

    def test_two_settings_may_differ_in_the_model_alone(self, stated):
        a, b = (
            Run(settings=each.settings(SETTINGS), roles=each)
            for each in (model_of(stated), model_of(stated, PAPER))
        )
        assert "model (Recommended → as in the paper)" in differences(a, b)

    def test_deaths_are_read_once_named_where_unusual(self, covid_twin):
        once, again = (model_of(covid_twin) for _ in range(2))
        assert once.observations[0] is again.observations[0]
        assert once.of(covid_twin.counts) is again.of(covid_twin.counts)
        other = model_of(covid_twin, CUSTOM, deaths=Deaths(lag=10))
        assert "deaths 10 days later" in other.words

    def test_why_no_network_can_be_trained(self, stated):
        assert model_of(stated, PAPER).why_no_network() == ""
        assert model_of(stated, PAPER).why_no_network(closed=True)
        nothing = model_of(stated, CUSTOM, roles=dict.fromkeys(ALL, "λ"))
        assert "No covariate" in nothing.why_no_network()


class TestWords:
    def test_each_option_is_a_role(self):
        for option, (acts, sign) in OPTIONS.items():
            assert option_of(Role("a", acts, sign)) == option

    def test_tables_say_why_and_what_was_changed(self, stated):
        usual = model_of(stated).table.set_index("covariate")
        assert usual.loc["wind", "affects"] == "λ and p, decreasing"
        assert "hard to see" in usual.loc["wind", "why"]
        assert list(model_of(stated, PAPER).table)[2] == "recommended"
        effects = model_of(stated, CUSTOM, effects={"plant": False}).effect_table
        assert effects.iloc[0].tolist() == [
            "reporting: plant × visit",
            "reporting",
            "Some are reported later.",
        ]

    def test_signs_are_said_beside_the_curve(self, stated):
        choice = model_of(stated)
        assert "only fall with wind. It may change λ, too." in choice.sign_words("wind")
        assert choice.sign_words("month") == ""

    def test_what_a_reader_should_know_of_the_papers(self, stated, covid_twin):
        assert "either way" in remark(model_of(stated, PAPER), stated)
        assert "against** the truth" in remark(model_of(covid_twin, PAPER), covid_twin)
        assert remark(model_of(stated), stated) == ""

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("place", "place"),
            ("smooth(place, 4) × smooth(day, 7)", "place (4°) × day (7 days)"),
            ("apart(smooth(place, 2))", "place (2°) beyond covariates"),
            ("reporting(state × weekday)", "reporting: state × weekday"),
        ],
    )
    def test_names_of_effects(self, text, name):
        assert effect_name(text) == name
        assert acts_on(text) == ("reporting" if "reporting" in text else "λ")

    def test_effects_of_a_data_set_are_distinct(self, covid_twin, ppi_twin):
        for effects in (covid_twin.effects, ppi_twin.effects):
            assert len({slug(text) for text in effects}) == len(effects)
            assert len({effect_name(text) for text in effects}) == len(effects)


def test_a_p_of_one_is_said_and_not_warned_of(stated, short_fit):
    given = model_of(stated, CUSTOM, roles=dict.fromkeys(ALL, "nothing")).apply(stated)
    fit = short_fit(given.counts, 2, solver="joint", hidden=())
    view = build_ppi_view(given, fit, Anchor())
    assert view.insight == P_IS_THE_SAME
    assert view.caution is None
    assert set(view.interactions["detection"]) == {1.0}

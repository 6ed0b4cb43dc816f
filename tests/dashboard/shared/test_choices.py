"""Deaths, random effects and closed visits as a reader chooses them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.cache import MADE
from dashboard.shared.sidebar.roles import (
    NO_EFFECTS,
    OWN_EFFECTS,
    PAPER,
    STATED_EFFECTS,
    ObservationsChoice,
    RoleChoice,
    acts_on,
    effect_name,
    effects_of,
    may_have_deaths,
    observations_of,
    roles_of,
    slug,
)
from dashboard.shared.text.scripts import fit_script, load
from dashboard.whatif.runs import Run, differences, order
from tests.dashboard.looking import in_address, ran, read_own, words
from uncletc import FitSettings, Observations, Role, Roles, datasets
from uncletc.datasets import Dataset

EFFECTS = {
    "plant": "Plants differ.",
    "pollinator": "Pollinators differ.",
    "plant × pollinator": "Some prefer some.",
    "reporting(plant × visit)": "Some are told of later.",
}
CLOSED = f"{MADE}-closed"


class TestDeaths:
    def test_words_and_stems_say_what_is_unusual(self):
        assert ObservationsChoice().words == ObservationsChoice().stem == ""
        usual = ObservationsChoice(deaths=True, usual=True)
        assert usual.words == usual.stem == ""
        assert ObservationsChoice(usual=True).words == "cases alone"
        changed = ObservationsChoice(deaths=True, usual=True, lag=10, fatality=1.5)
        assert "10 days" in changed.words
        assert changed.stem == "deaths10x1.5"

    def test_simulated_cases_have_them_and_plants_none(self, covid_twin, ppi_twin):
        assert may_have_deaths(covid_twin)
        assert not may_have_deaths(ppi_twin)
        once, again = (observations_of(covid_twin, deaths=True) for _ in range(2))
        assert once.observations[0] is again.observations[0]
        roles = RoleChoice(observations=once)
        assert roles.of(covid_twin.counts) is roles.of(covid_twin.counts)
        assert roles_of(covid_twin, PAPER).of(covid_twin.counts) is covid_twin.counts

    def test_scripts_add_them(self):
        text = load("covid", RoleChoice(observations=ObservationsChoice(deaths=True, lag=10))).text
        assert "with_deaths(" in text
        assert text.endswith("lag=10)")


@pytest.fixture(scope="module")
def stated(ppi_twin: Dataset) -> Dataset:
    """Simulated counts with roles and effects, as real ones have."""
    return replace(ppi_twin, effects=EFFECTS, roles=Roles([Role("wind", "both", -1, "Seen less.")]))


class TestEffects:
    def test_stated_none_or_ones_own(self, stated, ppi_twin):
        assert effects_of(stated).preset == STATED_EFFECTS
        assert effects_of(stated).now == tuple(EFFECTS)
        bare = effects_of(replace(ppi_twin, effects={}))
        assert (bare.preset, bare.now, bare.words, bare.stem) == (NO_EFFECTS, (), "", "")
        own = effects_of(stated, OWN_EFFECTS, {"plant": False})
        assert own.now == tuple(EFFECTS)[1:]
        assert own.words == "own effects (without plant)"
        three = effects_of(stated, OWN_EFFECTS, dict.fromkeys(list(EFFECTS)[:3], False))
        assert three.words == "own effects (without plant; pollinator; 1 more)"
        presets = (STATED_EFFECTS, NO_EFFECTS, OWN_EFFECTS)
        assert len({effects_of(stated, each).stem for each in presets}) == 3

    def test_the_papers_roles_have_none(self, stated):
        assert roles_of(stated).settings(FitSettings(rank=2)).effects == tuple(EFFECTS)
        papers = roles_of(stated, PAPER)
        assert papers.settings(FitSettings(rank=2)).effects == ()
        assert papers.words == "the paper's roles, no effects"

    @pytest.mark.parametrize(
        ("text", "name"),
        [
            ("place", "place"),
            ("smooth(place, 4) × smooth(day, 7)", "place (4°) × day (7 days)"),
            ("apart(smooth(place, 2))", "place (2°) beyond attributes"),
            ("smooth(day)", "day (smooth)"),
            ("reporting(state × weekday)", "reporting: state × weekday"),
        ],
    )
    def test_names_on_pages(self, text, name):
        assert effect_name(text) == name
        assert acts_on(text) == ("reporting" if "reporting" in text else "λ")

    def test_of_a_data_set_are_distinct(self, covid_twin, ppi_twin):
        for effects in (covid_twin.effects, ppi_twin.effects):
            assert len({slug(text) for text in effects}) == len(effects)
            assert len({effect_name(text) for text in effects}) == len(effects)

    def test_the_table_says_why(self, stated):
        table = effects_of(stated, OWN_EFFECTS, {"plant": False}).table.set_index("effect")
        assert table.loc["plant"].tolist() == ["λ", "no", "Plants differ."]

    def test_scripts_give_the_same(self, stated, ppi_fit, run_script, monkeypatch):
        roles = roles_of(stated)
        settings = roles.settings(FitSettings(rank=2))
        text = fit_script("ppi", settings, table_of, roles=roles)
        monkeypatch.setattr(datasets, "load", lambda _: stated)
        run_script(text, ppi_fit)
        ((_, given),) = run_script.asked
        assert given == settings

    def test_two_settings_may_differ_in_them_alone(self, stated):
        roles = roles_of(stated)
        other = replace(roles, effects=effects_of(stated, NO_EFFECTS))
        a, b = (
            Run(settings=each.settings(FitSettings(rank=2)), roles=each) for each in (roles, other)
        )
        assert "effects (stated effects → no effects)" in differences(a, b)
        assert order(stated.counts, a) != order(stated.counts, b)


def table_of(dataset: Dataset, _: object) -> pd.DataFrame:
    """Stand in for what a page hands out."""
    return pd.DataFrame({"attribute": dataset.counts.all_attribute_names})


class TestClosed:
    @pytest.fixture
    def nests(self) -> Dataset:
        sites, visits = np.indices((4, 3)).reshape(2, -1)
        frame = pd.DataFrame({"site": sites, "visit": visits, "count": sites + 1})
        return read_own(frame, modes=("site", "visit")).dataset

    def asked(self, dataset: Dataset | None, effects: tuple[str, ...] = ()) -> AppTest:
        def page() -> None:
            import streamlit as st

            from dashboard.shared.sidebar.controls import choose_closed, reset_closed

            effects = st.session_state.get("effects", ())
            st.session_state["chosen"] = choose_closed(st.session_state["dataset"], effects=effects)
            st.button("Reset", on_click=reset_closed, key="reset")

        at = AppTest.from_function(page)
        at.session_state["dataset"], at.session_state["effects"] = dataset, effects
        return ran(at)

    def test_a_mode_is_chosen_and_put_back(self, nests):
        at = self.asked(nests)
        assert at.session_state["chosen"] == ()
        ran(at.selectbox(key=CLOSED).set_value("visit"))
        assert at.session_state["chosen"] == ("visit",)
        assert in_address(at, CLOSED) is None
        ran(at.button(key="reset").click())
        assert at.session_state["chosen"] == ()

    def test_nothing_is_asked_of_other_counts(self, ppi_twin):
        assert not self.asked(ppi_twin).selectbox
        assert not self.asked(None).selectbox

    @pytest.mark.parametrize("with_observations", [True, False])
    def test_what_does_not_go_with_it_is_said(self, nests, with_observations):
        y = nests.counts
        observations = [Observations("look 2", y.indices, y.counts)] if with_observations else []
        data = replace(nests, counts=y.with_observations(*observations))
        at = self.asked(data, () if with_observations else ("site",))
        ran(at.selectbox(key=CLOSED).set_value("visit"))
        assert at.session_state["chosen"] == ()
        assert ("observations" if with_observations else "effects of places") in words(at)

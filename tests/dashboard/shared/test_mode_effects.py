"""Effects of places and calendars as a reader chooses them: what is applied, said, handed out."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from dashboard.shared.sidebar.roles import (
    NO_EFFECTS,
    OWN_EFFECTS,
    PAPER,
    STATED_EFFECTS,
    EffectChoice,
    RoleChoice,
    acts_on,
    effect_code,
    effect_name,
    effects_of,
    roles_of,
)
from dashboard.shared.text.scripts import fit_script
from dashboard.whatif.runs import Run, differences, order
from uncletc import FitSettings, Role, Roles, datasets
from uncletc.datasets import Dataset

EFFECTS = {
    "plant": "Plants differ.",
    "pollinator": "Pollinators differ.",
    "plant × pollinator": "Some prefer some.",
    "reporting(plant × visit)": "Some are told of later.",
}


@pytest.fixture(scope="module")
def stated(ppi_twin: Dataset) -> Dataset:
    """Simulated counts with roles and effects, as real ones have."""
    return replace(ppi_twin, effects=EFFECTS, roles=Roles([Role("wind", "both", -1, "Seen less.")]))


class TestPresets:
    def test_stated_where_there_are_any(self, stated: Dataset, ppi_twin: Dataset) -> None:
        assert effects_of(stated).preset == STATED_EFFECTS
        assert effects_of(stated).now == tuple(EFFECTS)
        bare = effects_of(replace(ppi_twin, effects={}))
        assert (bare.preset, bare.now, bare.words, bare.stem) == (NO_EFFECTS, (), "", "")

    def test_own_leave_some_out(self, stated: Dataset) -> None:
        own = effects_of(stated, OWN_EFFECTS, {"plant": False})
        assert own.now == tuple(EFFECTS)[1:]
        assert own.words == "own effects (without plant)"
        assert effects_of(stated, OWN_EFFECTS).words == "own effects (all)"
        none = effects_of(stated, OWN_EFFECTS, dict.fromkeys(EFFECTS, False))
        assert none.words == "no effects"
        three = effects_of(stated, OWN_EFFECTS, dict.fromkeys(list(EFFECTS)[:3], False))
        assert three.words == "own effects (without plant; pollinator; 1 more)"

    def test_unusual_ones_are_in_names_of_files(self, stated: Dataset) -> None:
        assert effects_of(stated).stem == ""
        assert effects_of(stated, NO_EFFECTS).stem == "no-effects"
        assert RoleChoice(effects=effects_of(stated, OWN_EFFECTS)).stem == "own-effects"

    def test_the_papers_roles_have_none(self, stated: Dataset) -> None:
        assert roles_of(stated).settings(FitSettings(rank=2)).effects == tuple(EFFECTS)
        papers = roles_of(stated, PAPER)
        assert papers.settings(FitSettings(rank=2)).effects == ()
        assert papers.words == "the paper's roles, no effects"


class TestNames:
    @pytest.mark.parametrize(
        ("text", "name", "code"),
        [
            ("place", "place", "place"),
            (
                "smooth(place, 4) × smooth(day, 7)",
                "place (4°) × day (7 days)",
                "smooth_place_4_x_smooth_day_7",
            ),
            ("apart(smooth(place, 2))", "place (2°) beyond attributes", "apart_smooth_place_2"),
            ("smooth(day)", "day (smooth)", "smooth_day"),
            (
                "reporting(state × weekday)",
                "reporting: state × weekday",
                "reporting_state_x_weekday",
            ),
        ],
    )
    def test_on_pages_and_in_addresses(self, text: str, name: str, code: str) -> None:
        assert effect_name(text) == name
        assert effect_code(text) == code
        assert acts_on(text) == ("reporting" if "reporting" in text else "λ")

    def test_of_a_data_set_are_distinct(self) -> None:
        from uncletc.datasets.covid_facts import EFFECTS as COVID
        from uncletc.datasets.ppi import EFFECTS as PLANTS

        for effects in (COVID, PLANTS):
            assert len({effect_code(text) for text in effects}) == len(effects)
            assert len({effect_name(text) for text in effects}) == len(effects)

    def test_the_table_says_why(self, stated: Dataset) -> None:
        table = effects_of(stated, OWN_EFFECTS, {"plant": False}).table.set_index("effect")
        assert table.loc["plant"].tolist() == ["λ", "no", "Plants differ."]
        assert table.loc["reporting: plant × visit", "acts on"] == "reporting"


def table_of(dataset: Dataset, _: object) -> pd.DataFrame:
    """Stand in for what a page hands out."""
    return pd.DataFrame({"attribute": dataset.counts.all_attribute_names})


def test_scripts_give_the_same_effects(stated, ppi_fit, run_script, monkeypatch) -> None:
    roles = roles_of(stated)
    settings = roles.settings(FitSettings(rank=2))
    text = fit_script("ppi", settings, table_of, roles=roles)
    monkeypatch.setattr(datasets, "load", lambda _: stated)
    run_script(text, ppi_fit)
    ((_, given),) = run_script.asked
    assert given == settings


class TestWhatIf:
    def test_sides_may_differ_in_effects_alone(self, stated: Dataset) -> None:
        roles = roles_of(stated)
        other = replace(roles, effects=effects_of(stated, NO_EFFECTS))
        a, b = (
            Run(settings=each.settings(FitSettings(rank=2)), roles=each) for each in (roles, other)
        )
        assert differences(a, b) == "From A to B: effects (stated effects → no effects)."
        assert order(stated.counts, a) != order(stated.counts, b)

    def test_without_any_there_is_nothing_to_say(self) -> None:
        assert EffectChoice().in_words == ""

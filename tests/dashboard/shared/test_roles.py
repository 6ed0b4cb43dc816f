"""Roles as a reader chooses them: what is applied, said and handed out."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from dashboard.ppi.view import build_ppi_view
from dashboard.shared.sidebar.model import describe, stem_of
from dashboard.shared.sidebar.roles import (
    OPTIONS,
    OWN,
    PAPER,
    STATED,
    in_words,
    option_of,
    presets_of,
    roles_of,
)
from dashboard.shared.text.scripts import fit_script
from dashboard.shared.text.words import P_IS_THE_SAME
from uncletc import Anchor, Fit, FitSettings, Role, Roles, datasets
from uncletc.datasets import Dataset

STATED_ROLES = Roles(
    [
        Role("wind", "both", -1, "Insects are hard to see in wind."),
        Role("month", "rate", 0, "There is a season."),
        *(Role(f"guild: {name}", "both") for name in ("bee", "beetle", "butterfly", "fly", "wasp")),
    ]
)
ATTRIBUTES = ["flower abundance", "month", "day of year", "wind", "cloud", "air temperature"]
ALL = [*ATTRIBUTES, "guild"]


@pytest.fixture(scope="module")
def plain(ppi_twin):
    """Counts without stated roles or effects."""
    return replace(ppi_twin, roles=Roles(), effects={})


@pytest.fixture(scope="module")
def stated(plain):
    """The same with roles."""
    return replace(plain, roles=STATED_ROLES)


class TestPresets:
    def test_stated_roles_come_first_where_there_are_any(self, stated, plain):
        assert presets_of(stated) == (STATED, PAPER, OWN)
        assert presets_of(plain) == (PAPER, OWN)
        assert roles_of(stated).preset == STATED
        assert roles_of(plain).preset == PAPER

    def test_stated_roles_are_applied_with_their_signs(self, stated):
        choice = roles_of(stated)
        assert [each.name for each in choice.attributes] == ALL
        counts = choice.apply(stated).counts
        assert counts.digest == stated.with_roles().counts.digest
        assert choice.roles.signs == {"wind": -1}
        assert choice.words == choice.stem == ""

    def test_the_papers_roles_leave_the_counts_as_they_are(self, stated, plain):
        choice = roles_of(stated, PAPER)
        assert choice.apply(stated).counts is stated.counts
        assert not choice.roles.signs
        assert choice.words == "the paper's roles"
        assert roles_of(plain).words == ""

    def test_own_roles_begin_with_those_stated(self, stated):
        same = roles_of(stated, OWN)
        assert same.apply(stated).counts.digest == stated.with_roles().counts.digest
        own = roles_of(stated, OWN, {"wind": "true rate", "guild": "left out"})
        counts = own.apply(stated).counts
        assert counts.rate_attribute_names == ("month", "wind")
        assert not any("guild" in name for name in counts.all_attribute_names)
        assert own.words == "own roles (wind: true rate; guild: left out)"
        assert own != same


class TestOptions:
    def test_each_is_a_role_and_has_words(self):
        for option, (acts_on, sign) in OPTIONS.items():
            assert option_of(Role("a", acts_on, sign)) == option
        assert len({in_words(Role("a", *value)) for value in OPTIONS.values()}) == len(OPTIONS)


class TestWords:
    def test_unusual_roles_are_named_in_descriptions_and_files(self, stated):
        settings = FitSettings(rank=2)
        own = roles_of(stated, OWN, dict.fromkeys(ALL, "left out"))
        assert describe(settings, roles_of(stated).words) == describe(settings)
        assert describe(settings, own.words).endswith("day of year: left out; 4 more)")
        stems = {stem_of(settings, roles_of(stated, each).stem) for each in (STATED, PAPER, OWN)}
        assert len(stems) == 3
        assert not any(set(stem) & set(" /\\:;'\"") for stem in stems)

    def test_the_table_says_why_and_what_was_changed(self, stated, plain):
        usual = roles_of(stated).table.set_index("attribute")
        assert usual.loc["wind"].tolist() == [
            "p (downwards only) and λ",
            "Insects are hard to see in wind.",
        ]
        paper = roles_of(stated, PAPER).table.set_index("attribute")
        assert list(paper.columns) == ["may change", "stated", "why"]
        assert set(paper["may change"]) == {"p"}
        assert list(roles_of(plain).table.columns) == ["attribute", "may change"]

    def test_signs_are_said_beside_the_curve(self, stated):
        choice = roles_of(stated)
        assert "p may only fall with wind. It may change λ, too." in choice.sign_words("wind")
        assert "rise and fall with cloud." in choice.sign_words("cloud")
        assert choice.sign_words("month") == ""


def attributes_of(dataset: Dataset, _: Fit) -> pd.DataFrame:
    """Stand in for what a page hands out."""
    return pd.DataFrame({"attribute": dataset.counts.all_attribute_names})


class TestScripts:
    @pytest.mark.parametrize("preset", [STATED, PAPER, OWN])
    def test_give_the_same_roles(self, preset, stated, ppi_fit, run_script, monkeypatch):
        roles = roles_of(stated, preset, {"wind": "detection, rises", "cloud": "left out"})
        settings = FitSettings(rank=2, signs=roles.roles.signs)
        text = fit_script("ppi", settings, attributes_of, roles=roles)
        monkeypatch.setattr(datasets, "load", lambda _: stated)
        run_script(text, ppi_fit)
        ((counts, given),) = run_script.asked
        assert given == settings
        assert counts.digest == roles.apply(stated).counts.digest
        assert ("Roles([" in text) == (preset == OWN)


def test_a_p_of_one_is_said_and_not_warned_of(stated, short_fit):
    given = roles_of(stated, OWN, dict.fromkeys(ALL, "left out")).apply(stated)
    fit = short_fit(given.counts, 2, solver="joint", hidden=())
    view = build_ppi_view(given, fit, Anchor())
    assert view.insight == P_IS_THE_SAME
    assert view.caution is None
    assert set(view.interactions["detection"]) == {1.0}

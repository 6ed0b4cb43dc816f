"""Controls of the model: one declaration, from which all that is said and drawn of it follows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.sidebar import model
from dashboard.shared.sidebar.model import (
    FROM_COUNTS,
    MODEL,
    Setting,
    changed,
    describe,
    settings_of,
    stem_of,
    values_of,
)
from uncletc import FitSettings

VALUES = {"rank": 5, "mu": 100, "layers": 2, "units": 10, "members": 3, "seed": 1}


class TestDescribe:
    def test_names_what_was_chosen(self):
        text = describe(FitSettings(rank=4, mu=500.0, hidden=(15, 15), seed=3))
        for part in ("rank 4", "500", "2 × 15 units", "seed 3"):
            assert part in text

    def test_different_choices_read_differently(self):
        base = {"rank": 4, "hidden": (10,)}
        others = [{}, {"rank": 5}, {"mu": 100.0}, {"hidden": (10, 10)}, {"seed": 1}]
        others += [{"members": 4}, {"solver": "bcd"}]
        for text in (describe, stem_of):
            assert len({text(FitSettings(**base | other)) for other in others}) == len(others)


class TestValues:
    def test_layers_and_units_make_the_hidden_layers(self):
        assert settings_of(**VALUES).hidden == (10, 10)
        assert settings_of(**VALUES | {"layers": 0}).hidden == ()

    def test_block_coordinate_descent_has_one_member_and_the_papers_iterations(self):
        settings = settings_of(**VALUES, solver="bcd")
        assert (settings.solver.name, settings.members, settings.max_iter) == ("bcd", 1, 100)

    def test_come_back_from_settings(self):
        assert values_of(settings_of(**VALUES)) == VALUES | {"solver": "joint"}
        assert "units" not in values_of(settings_of(layers=0))

    def test_mu_is_taken_from_the_counts_unless_chosen(self):
        assert settings_of().mu is None
        assert settings_of(**values_of(settings_of())).mu is None
        assert settings_of(mu=100).mu == 100.0
        assert changed(settings_of(mu=100), "mu", FROM_COUNTS).mu is None
        assert values_of(settings_of(solver="bcd"))["mu"] == 2000

    @pytest.mark.parametrize("name", VALUES)
    def test_one_changes_alone(self, name):
        base = replace(settings_of(**VALUES), max_iter=7)
        other = changed(base, name, VALUES[name] + 1)
        assert values_of(other) == values_of(base) | {name: VALUES[name] + 1}
        assert other.max_iter == 7

    @pytest.mark.parametrize("setting", MODEL, ids=lambda setting: setting.name)
    def test_every_default_can_be_chosen(self, setting):
        defaults = {setting.default} | {setting.default_for(family) for family in ("covid", "ppi")}
        for default in defaults:
            if setting.limits is None:
                assert default in setting.options
            else:
                assert setting.limits[0] <= default <= setting.limits[1]


class TestOneMore:
    """A control that the project does not have yet, declared and nothing else."""

    @pytest.fixture(autouse=True)
    def one_more(self, monkeypatch):
        iterations = Setting(
            name="max_iter",
            label="Iterations at most",
            help="When to stop.",
            default=300,
            limits=(10, 1000, 10),
        )
        monkeypatch.setattr(model, "MODEL", (*MODEL, iterations))

    def test_it_is_drawn_in_the_sidebar(self, monkeypatch):
        from dashboard.shared.sidebar import sidebar, widgets

        for module in (sidebar, widgets):
            monkeypatch.setattr(module, "MODEL", model.MODEL)

        def page() -> None:
            import streamlit as st

            from dashboard.shared.sidebar.sidebar import sidebar

            st.session_state["choices"] = sidebar("ppi")

        at = AppTest.from_function(page, default_timeout=30)
        at.query_params["ppi_max_iter"] = "50"
        at.run()
        assert at.session_state["choices"].settings.max_iter == 50
        at.button(key="ppi_reset").click().run()
        assert at.session_state["choices"].settings.max_iter == 300

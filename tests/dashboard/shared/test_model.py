"""Controls of a fit: one declaration, from which all that is said and drawn of it follows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from dashboard.shared.sidebar.model import (
    ALWAYS,
    FROM_COUNTS,
    MODEL,
    NEVER,
    NO_NETWORK,
    SETTINGS,
    SUPPORTED,
    changed,
    describe,
    settings_of,
    values_of,
)
from uncletc import FitSettings, Joint

VALUES = {"rank": 5, "mu": 100, "layers": 2, "units": 10, "members": 3, "seed": 1}


class TestDescribe:
    def test_names_what_was_chosen(self):
        text = describe(FitSettings(rank=4, mu=500.0, hidden=(15, 15), seed=3))
        for part in ("rank 4", "500", "2 × 15 units if supported", "seed 3"):
            assert part in text

    def test_different_choices_read_differently(self):
        base = {"rank": 4, "hidden": (10,)}
        others = [{}, {"rank": 5}, {"mu": 100.0}, {"hidden": (10, 10)}, {"hidden": ()}, {"seed": 1}]
        others += [{"members": 4}, {"max_iter": 600}, {"solver": Joint(network="always")}]
        assert len({describe(FitSettings(**base | other)) for other in others}) == len(others)

    def test_a_network_that_was_not_trained_is_not_named(self):
        """As in file names and code: "Fitting … 3 × 50 units" where none could be trained."""
        settings = settings_of(**VALUES | {"units": 50})
        fit = SimpleNamespace(network_trained=())
        assert "50" in describe(settings)
        assert "50" not in describe(settings, fit=fit)


class TestValues:
    def test_layers_and_units_make_the_hidden_layers(self):
        assert settings_of(**VALUES).hidden == (10, 10)
        assert settings_of(**VALUES | {"layers": 0}).hidden == ()

    def test_come_back_from_settings(self):
        usual = VALUES | {"network": SUPPORTED, "max_iter": 300}
        assert values_of(settings_of(**VALUES)) == usual
        assert "units" not in values_of(settings_of(layers=0))

    def test_mu_is_estimated_unless_chosen(self):
        assert settings_of().mu is None
        assert changed(settings_of(mu=100), "mu", FROM_COUNTS).mu is None

    @pytest.mark.parametrize("name", VALUES)
    def test_one_changes_alone(self, name):
        base = replace(settings_of(**VALUES), max_iter=7)
        other = changed(base, name, VALUES[name] + 1)
        assert values_of(other) == values_of(base) | {name: VALUES[name] + 1}
        assert other.max_iter == 7

    @pytest.mark.parametrize("setting", MODEL, ids=lambda setting: setting.name)
    def test_every_default_can_be_chosen(self, setting):
        for default in {setting.default_for(family) for family in ("covid", "ppi", "own")}:
            assert setting.read(str(default)) == default
        assert setting.read("nonsense") == setting.default


class TestWhatCannotAct:
    """Settings that lead to the same fit are equal: a control that cannot act starts none."""

    @pytest.mark.parametrize("why", [{"network": NEVER}, {NO_NETWORK: "No covariate affects p."}])
    def test_the_size_of_no_network(self, why):
        small, large = (settings_of(**why, layers=2, units=units) for units in (5, 50))
        assert small == large == settings_of(**why, layers=3)
        assert small.solver.network == "never"
        for name in ("layers", "units"):
            assert SETTINGS[name].off({"layers": 2, "network": SUPPORTED} | why)
            assert SETTINGS[name].value(small) is None

    def test_straight_lines_have_no_network(self):
        linear = [settings_of(layers=0, network=each) for each in (ALWAYS, SUPPORTED, NEVER)]
        assert len(set(linear)) == 1
        assert SETTINGS["network"].off({"layers": 0})
        assert changed(linear[0], "layers", 2) == settings_of(layers=2)

    def test_what_can_act_is_another_fit(self):
        base = settings_of(network=ALWAYS)
        assert base.solver.network == "always"
        for name, value in (("units", 5), ("layers", 1), ("network", NEVER)):
            assert changed(base, name, value) != base
        assert not SETTINGS["units"].off({"layers": 3, "network": ALWAYS})

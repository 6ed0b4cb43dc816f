"""Controls of a fit: one declaration, from which all that is said and drawn of it follows."""

import pytest

from dashboard.shared.sidebar import model
from uncletc import FitSettings, Joint


def test_different_choices_read_differently():
    base = {"rank": 4, "hidden": (10,)}
    others = [{}, {"rank": 5}, {"mu": 100.0}, {"hidden": (10, 10)}, {"hidden": ()}, {"seed": 1}]
    others += [{"members": 4}, {"max_iter": 600}, {"solver": Joint(network="always")}]
    assert len({model.describe(FitSettings(**base | other)) for other in others}) == len(others)


class TestValues:
    def test_mu_is_estimated_unless_chosen(self):
        assert model.settings_of().mu is None
        assert model.changed(model.settings_of(mu=100), "mu", model.FROM_COUNTS).mu is None

    @pytest.mark.parametrize("setting", model.MODEL, ids=lambda setting: setting.name)
    def test_every_default_can_be_chosen(self, setting):
        for default in {setting.default_for(family) for family in ("covid", "ppi", "own")}:
            assert setting.read(str(default)) == default
            assert setting.allows(str(default))
        assert not setting.allows("nonsense")
        assert setting.read("nonsense") == setting.default


class TestWhatCannotAct:
    """Settings that lead to the same fit are equal: a control that cannot act starts none."""

    @pytest.mark.parametrize(
        "why", [{"network": model.NEVER}, {model.NO_NETWORK: "No covariate affects p."}]
    )
    def test_the_size_of_no_network(self, why):
        small, large = (model.settings_of(**why, layers=2, units=units) for units in (5, 50))
        assert small == large == model.settings_of(**why, layers=3)
        assert small.solver.network == "never"
        for name in ("layers", "units"):
            assert model.SETTINGS[name].off({"layers": 2, "network": model.SUPPORTED} | why)
            assert model.SETTINGS[name].value(small) is None

    def test_straight_lines_have_no_network(self):
        linear = [
            model.settings_of(layers=0, network=each)
            for each in (model.ALWAYS, model.SUPPORTED, model.NEVER)
        ]
        assert len(set(linear)) == 1
        assert model.SETTINGS["network"].off({"layers": 0})
        assert model.changed(linear[0], "layers", 2) == model.settings_of(layers=2)

    def test_what_can_act_is_another_fit(self):
        base = model.settings_of(network=model.ALWAYS)
        assert base.solver.network == "always"
        for name, value in (("units", 5), ("layers", 1), ("network", model.NEVER)):
            assert model.changed(base, name, value) != base
        assert not model.SETTINGS["units"].off({"layers": 3, "network": model.ALWAYS})

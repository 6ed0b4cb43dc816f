"""FitSettings: the fixed names and defaults, the round trip, and what it refuses."""

import dataclasses

import pytest

from uncletc import BCD, FitSettings, Joint

OTHERS = {
    "rank": 7,
    "solver": Joint(network="always"),
    "mu": 12.5,
    "hidden": (),
    "max_iter": 900,
    "tol": 1e-7,
    "seed": 3,
    "members": 2,
    "signs": {"rain, mm": -1},
    "closed": ("visit",),
    "effects": ("state × weekday", "smooth(place, 4)"),
}
"""Of each setting, a value other than the default."""


class TestJson:
    SETTINGS = FitSettings(
        rank=4, solver=BCD(loss="kl", sweeps=2), mu=0.1, hidden=(7,), tol=0.0, seed=9
    )

    def test_round_trip(self):
        assert FitSettings.from_json(self.SETTINGS.to_json()) == self.SETTINGS

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ('{"rank": 0}', "rank must be at least 1, got 0"),
            ('{"rank": 1, "ranks": 2}', "names among .*; got 'ranks'"),
            ('{"rank": 1, "solver": {"name": "joint", "loss": "kl"}}', "among .*; got 'loss'"),
            ('{"rank": 1, "solver": {"loss": "kl"}}', "solver must be one of .*, got None"),
            ("[1]", "settings must be a JSON object, got list"),
        ],
    )
    def test_what_is_wrong_is_named(self, text, message):
        with pytest.raises((ValueError, TypeError), match=message):
            FitSettings.from_json(text)

    def test_every_setting_changes_the_text(self):
        base = FitSettings(rank=3)
        assert set(OTHERS) == {field.name for field in dataclasses.fields(base)}
        for name, value in OTHERS.items():
            assert dataclasses.replace(base, **{name: value}).to_json() != base.to_json(), name

    @pytest.mark.parametrize("kind", [Joint, BCD])
    def test_every_option_changes_the_text(self, kind):
        base = FitSettings(rank=3, solver=kind())
        others = {"network": "always", "rate_terms": "values"}
        others |= {"loss": "kl", "learning_rate": 0.1}
        others |= {"batch_size": 7, "epochs": 1, "sweeps": 1}
        for option in dataclasses.fields(kind):
            if option.init:
                solver = kind(**{option.name: others[option.name]})
                assert FitSettings(rank=3, solver=solver).to_json() != base.to_json(), option.name


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "values", "rule"),
    [
        ("rank", (0, -2), "at least 1"),
        ("rank", (2.5, True, "3"), "a whole number"),
        ("mu", (0, -1.0, NAN, INF), "positive and finite"),
        ("mu", ("2000",), ""),
        ("loss", ("l2",), r"one of \('ls', 'kl'\)"),
        ("solver", ("adam",), r"one of \('joint', 'bcd'\)"),
        ("members", (0,), "at least 1"),
        ("network", ("yes", None, True), r"one of \('always', 'supported', 'never'\)"),
        ("hidden", ((20, 0),), "at least 1, got 0"),
        ("hidden", ((2.5,), 20), ""),
        ("max_iter", (-1,), "at least 0"),
        ("tol", (-1e-9, NAN), "at least 0"),
        ("tol", ("small",), ""),
        ("seed", (-1, 2**64), ""),
        ("learning_rate", (0.0,), "positive and finite"),
        ("batch_size", (0,), "at least 1"),
        ("epochs", (-1,), "at least 0"),
        ("sweeps", (0,), "at least 1"),
    ],
)
def test_bad_values_are_named(name, values, rule):
    of_bcd = {"solver": "bcd"} if any(name == each.name for each in dataclasses.fields(BCD)) else {}
    for value in values:
        with pytest.raises((ValueError, TypeError), match=f"{name} must be .*{rule}.*"):
            FitSettings.of(**of_bcd | {"rank": 2, name: value})


def test_options_of_another_solver_are_refused():
    with pytest.raises(TypeError, match="epochs"):
        FitSettings.of(rank=2, epochs=3)
    with pytest.raises(TypeError, match="loss"):
        FitSettings.of(rank=2, solver="joint", loss="kl")

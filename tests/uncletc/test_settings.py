"""FitSettings: the fixed names and defaults, the round trip, and what it refuses."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from uncletc import BCD, FitSettings, Joint
from uncletc.solvers.options import SolverName


def test_defaults() -> None:
    settings = FitSettings(rank=3)
    assert (settings.rank, settings.solver, settings.mu) == (3, Joint(), None)
    assert (settings.hidden, settings.max_iter) == ((20, 20, 20), 300)
    assert (settings.tol, settings.seed, settings.members) == (1e-4, 0, 1)


def test_keyword_only_and_frozen() -> None:
    with pytest.raises(TypeError, match="positional"):
        FitSettings(3)  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        FitSettings(rank=3).rank = 4  # type: ignore[misc]


def test_hidden_becomes_a_tuple() -> None:
    assert FitSettings(rank=1, hidden=[3, 2]).hidden == (3, 2)  # type: ignore[arg-type]
    assert FitSettings(rank=1, hidden=()).hidden == ()


class TestJson:
    SETTINGS = FitSettings(
        rank=4, solver=BCD(loss="kl", sweeps=2), mu=0.1, hidden=(7,), tol=0.0, seed=9
    )

    def test_round_trip(self) -> None:
        assert FitSettings.from_json(self.SETTINGS.to_json()) == self.SETTINGS

    def test_values_are_checked_again(self) -> None:
        with pytest.raises(ValueError, match="rank must be at least 1, got 0"):
            FitSettings.from_json('{"rank": 0}')

    def test_unknown_names_are_refused(self) -> None:
        with pytest.raises(ValueError, match="unknown names, got 'ranks'"):
            FitSettings.from_json('{"rank": 1, "ranks": 2}')
        with pytest.raises(ValueError, match="unknown names, got 'loss'"):
            FitSettings.from_json('{"rank": 1, "solver": {"name": "joint", "loss": "kl"}}')
        with pytest.raises(ValueError, match=r"solver must be one of .*, got None"):
            FitSettings.from_json('{"rank": 1, "solver": {"loss": "kl"}}')

    def test_only_an_object_will_do(self) -> None:
        with pytest.raises(TypeError, match="settings must be a JSON object, got list"):
            FitSettings.from_json("[1]")


class TestDigest:
    def test_every_setting_changes_it(self) -> None:
        base = FitSettings(rank=3)
        changed: dict[str, Any] = {"hidden": (20, 20), "solver": BCD(), "mu": 10.0}
        changed |= {"signs": {"wind": -1}, "closed": ["visit"], "effects": ["site"]}
        for name in ("rank", "max_iter", "tol", "seed", "members"):
            changed[name] = getattr(base, name) + 1
        assert set(changed) == {field.name for field in dataclasses.fields(base)}
        for name, value in changed.items():
            assert dataclasses.replace(base, **{name: value}).digest != base.digest, name

    @pytest.mark.parametrize("kind", [Joint, BCD])
    def test_every_option_changes_it(self, kind: type[Joint] | type[BCD]) -> None:
        base = FitSettings(rank=3, solver=kind())
        others = {"precision": "float64", "device": "cpu", "network": False}
        others |= {"loss": "kl", "hold_scale": True, "learning_rate": 0.1}
        others |= {"batch_size": 7, "epochs": 1, "sweeps": 1}
        for option in dataclasses.fields(kind):
            if option.init:
                solver = kind(**{option.name: others[option.name]})
                assert FitSettings(rank=3, solver=solver).digest != base.digest, option.name

    def test_equal_settings_have_equal_digests(self) -> None:
        whole, real = FitSettings(rank=3, mu=2000), FitSettings(rank=3, mu=2000.0)
        assert whole == real
        assert whole.digest == real.digest

    @pytest.mark.parametrize(("name", "options"), [("joint", Joint()), ("bcd", BCD())])
    def test_a_name_means_the_defaults_of_that_solver(
        self, name: SolverName, options: Joint | BCD
    ) -> None:
        by_name, by_options = (FitSettings(rank=3, solver=each) for each in (name, options))
        assert by_name == by_options
        assert by_name.digest == by_options.digest
        assert by_name.solver.name == name

    def test_it_covers_all_of_them(self) -> None:
        names = {field.name for field in dataclasses.fields(FitSettings)}
        assert set(json.loads(FitSettings(rank=3).to_json())) == names


NAN, INF = float("nan"), float("inf")
WRONG = (ValueError, TypeError)


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("rank", 0, ValueError, "rank must be at least 1, got 0"),
        ("rank", -2, ValueError, "rank must be at least 1, got -2"),
        ("rank", 2.5, TypeError, r"rank must be a whole number, got 2\.5"),
        ("rank", True, TypeError, "rank must be a whole number, got True"),
        ("rank", "3", TypeError, "rank must be a whole number, got '3'"),
        ("mu", 0, ValueError, "mu must be positive and finite, got 0"),
        ("mu", -1.0, ValueError, r"mu must be positive and finite, got -1\.0"),
        ("mu", NAN, ValueError, "mu must be positive and finite, got nan"),
        ("mu", INF, ValueError, "mu must be positive and finite, got inf"),
        ("mu", "2000", WRONG, "mu must be .*2000"),
        ("loss", "l2", ValueError, r"loss must be one of \('ls', 'kl'\), got 'l2'"),
        ("solver", "adam", ValueError, r"solver must be one of \('joint', 'bcd'\), got 'adam'"),
        ("members", 0, ValueError, "members must be at least 1, got 0"),
        ("precision", "half", ValueError, "precision must be one of .*, got 'half'"),
        ("network", "yes", TypeError, "network must be True or False, got 'yes'"),
        ("device", "gpu", ValueError, "device must be auto, cpu, cuda or cuda:<n>, got 'gpu'"),
        ("hold_scale", 1, TypeError, "hold_scale must be True or False, got 1"),
        ("hidden", (20, 0), ValueError, "hidden must be at least 1, got 0"),
        ("hidden", (2.5,), TypeError, r"hidden must be a whole number, got 2\.5"),
        ("hidden", 20, WRONG, "hidden must be .*20"),
        ("max_iter", -1, ValueError, "max_iter must be at least 0, got -1"),
        ("tol", -1e-9, ValueError, "tol must be at least 0, got -1e-09"),
        ("tol", NAN, ValueError, "tol must be at least 0, got nan"),
        ("tol", "small", WRONG, "tol must be .*small"),
        ("seed", -1, ValueError, "seed must be at least 0, got -1"),
        ("seed", 2**64, WRONG, "seed must be .*18446744073709551616"),
        ("learning_rate", 0.0, ValueError, "learning_rate must be positive and finite, got 0"),
        ("batch_size", 0, ValueError, "batch_size must be at least 1, got 0"),
        ("epochs", -1, ValueError, "epochs must be at least 0, got -1"),
        ("sweeps", 0, ValueError, "sweeps must be at least 1, got 0"),
    ],
)
def test_bad_values_are_named(name: str, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        flat_settings({"rank": 2, name: value})


def flat_settings(values: dict[str, Any]) -> FitSettings:
    of_bcd = any(field.name in values for field in dataclasses.fields(BCD))
    return FitSettings.of(**({"solver": "bcd"} if of_bcd else {}), **values)


def test_options_of_another_solver_are_refused() -> None:
    with pytest.raises(TypeError, match="epochs"):
        FitSettings.of(rank=2, epochs=3)
    with pytest.raises(TypeError, match="loss"):
        FitSettings.of(rank=2, solver="joint", loss="kl")


def test_numpy_integers_are_whole_numbers() -> None:
    settings = FitSettings(rank=np.int64(3), seed=np.int32(1))  # type: ignore[arg-type]
    assert settings == FitSettings(rank=3, seed=1)
    assert settings.digest == FitSettings(rank=3, seed=1).digest


@pytest.mark.parametrize(
    ("name", "value"), [("max_iter", 0), ("tol", 0.0), ("epochs", 0), ("mu", 1e-300)]
)
def test_smallest_values_are_allowed(name: str, value: Any) -> None:
    settings = flat_settings({"rank": 1, name: value})
    assert getattr(settings if hasattr(settings, name) else settings.solver, name) == value

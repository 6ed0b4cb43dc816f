"""What a search may choose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from uncletc import METHODS, FitSettings
from uncletc.search.space import settings_of, size_of, space_of


def test_uncletc_searches_the_grid_of_the_paper() -> None:
    space = space_of(METHODS["UncleTC"], {}, None)
    assert space == {"rank": (5, 10, 15, 20), "units": (10, 20, 30), "layers": (1, 3, 5)}
    assert size_of(space) == 4 * 3 * 3


def test_mu_is_searched_where_the_counts_do_not_decide() -> None:
    descent = space_of(METHODS["UncleTC"], {"solver": "bcd"}, None)
    assert descent["mu"] == (500.0, 1000.0, 2000.0, 3000.0)
    space = space_of(METHODS["UncleTC"], {"rank": 2}, {"mu": [None, 2, 2000]})
    assert space["mu"] == (None, 2.0, 2000.0)
    chosen = {name: choices[0] for name, choices in space.items()}
    assert settings_of(METHODS["UncleTC"], {"rank": 2}, chosen).mu is None


def test_steps_of_adam_are_searched_where_it_runs() -> None:
    joint = space_of(METHODS["UncleTC(Linear)"], {"solver": "joint"}, None)
    descent = space_of(METHODS["UncleTC(Linear)"], {"solver": "bcd"}, None)
    assert set(joint) == {"rank"}
    assert set(descent) == {"rank", "mu", "learning_rate", "batch_size"}


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.grid])
def test_every_method_makes_settings_of_its_choices(name: str) -> None:
    method = METHODS[name]
    space = space_of(method, {"max_iter": 7}, None)
    for name_of_setting, choices in space.items():
        for choice in choices:
            chosen = {other: values[0] for other, values in space.items()}
            settings = settings_of(method, {"max_iter": 7}, chosen | {name_of_setting: choice})
            assert isinstance(settings, method.settings)
            assert settings.max_iter == 7


def test_units_and_layers_make_a_network() -> None:
    found = settings_of(METHODS["UncleTC"], {}, {"rank": 2, "units": 10, "layers": 3})
    assert found == FitSettings(rank=2, hidden=(10, 10, 10))


def test_choices_replace_those_of_the_grid() -> None:
    given = {"rank": np.array([2, 3]), "mu": [500], "layers": (2,)}
    space = space_of(METHODS["UncleTC"], {"units": 8}, given)
    assert space == {"rank": (2, 3), "mu": (500.0,), "layers": (2,)}
    assert all(type(choice) in (int, float) for choices in space.values() for choice in choices)


def test_a_setting_outside_the_grid_can_be_searched() -> None:
    space = space_of(METHODS["NTF-CPD-KL"], {"rank": 2}, {"max_iter": [1, 2]})
    assert space == {"max_iter": (1, 2)}


def test_a_fixed_network_is_not_searched() -> None:
    assert set(space_of(METHODS["UncleTC"], {"hidden": (4, 2)}, None)) == {"rank"}


@pytest.mark.parametrize(
    ("method", "fixed", "given", "error", "message"),
    [
        ("UncleTC", {}, {"colour": [1]}, ValueError, "UncleTC has no setting 'colour'"),
        ("UncleTC", {"colour": 1}, None, ValueError, "UncleTC has no setting 'colour'"),
        ("BPTF", {}, {"units": [1]}, ValueError, "BPTF has no setting 'units'"),
        ("UncleTC", {}, {"rank": []}, ValueError, "choices of rank must hold at least 1 value"),
        ("UncleTC", {}, {"rank": [2, 2]}, ValueError, "choices of rank must be distinct"),
        ("UncleTC", {}, {"mu": [500, 500.0]}, ValueError, "choices of mu must be distinct"),
        ("UncleTC", {}, {"rank": [0]}, ValueError, "rank must be at least 1, got 0"),
        ("UncleTC", {}, {"rank": [2.5]}, TypeError, "rank must be a whole number, got 2.5"),
        ("UncleTC", {}, {"rank": 5}, TypeError, "choices of rank must be a sequence, got 5"),
        ("UncleTC", {}, {"rank": "57"}, TypeError, "choices of rank must be a sequence"),
        ("UncleTC", {}, {"layers": [0]}, ValueError, "layers must hold whole numbers of at least"),
        ("UncleTC", {}, {"hidden": [(3,)]}, ValueError, "hidden is searched by units and layers"),
        ("UncleTC", {"rank": 2}, {"rank": [2]}, ValueError, "rank must be either fixed or"),
        ("UncleTC", {"hidden": (3,)}, {"units": [2]}, ValueError, "hidden must not be given"),
        ("UncleTC", {}, {"learning_rate": [0.1]}, ValueError, "fix solver to 'bcd'"),
        ("NTF-CPD-LS", {"rank": 2}, None, ValueError, "all of NTF-CPD-LS are fixed"),
    ],
)
def test_what_cannot_be_searched_is_named(
    method: str, fixed: dict[str, Any], given: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        space_of(METHODS[method], fixed, given)

"""What is made of a fit is made once, under its name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.shared import cache as kept
from uncletc import StopReason

made: list[object] = []


@pytest.fixture(autouse=True)
def nothing_kept():
    made.clear()
    kept._kept.clear()
    yield
    kept._kept.clear()


def build(dataset, fit, *choices):
    made.append((dataset.name, fit, *choices))
    return object()


def test_the_same_fit_and_choice_is_made_once(ppi_twin, ppi_fit):
    first = kept.cached("view", build, ppi_twin, ppi_fit, 2020)
    assert kept.cached("view", build, ppi_twin, ppi_fit, 2020) is first
    assert len(made) == 1


def test_another_name_choice_or_state_of_the_fit_is_made_anew(ppi_twin, ppi_fit):
    so_far = replace(ppi_fit, stop=StopReason.MAX_ITER)
    assert so_far.stop is not ppi_fit.stop
    asked = [("view", ppi_fit, 1), ("view", ppi_fit, 2), ("chart", ppi_fit, 1), ("view", so_far, 1)]
    views = [kept.cached(name, build, ppi_twin, fit, choice) for name, fit, choice in asked]
    assert len(set(map(id, views))) == len(made) == 4


def test_a_builder_knows_nothing_but_its_arguments(ppi_twin, ppi_fit):
    day = 3
    with pytest.raises(ValueError, match="got a closure for 'view'"):
        kept.cached("view", lambda *_: day, ppi_twin, ppi_fit)

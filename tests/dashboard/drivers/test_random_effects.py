"""Place, time and reporting effects: tables, words and figures."""

from dataclasses import replace

import numpy as np
import pytest

from dashboard.drivers.charts import sizes_chart
from dashboard.drivers.view import random_effects_view
from uncletc import Effect, Group, ModeEffects

DAYS = ["Monday", "Tuesday", "Sunday"]
STATES = ["Ohio", "Kansas", "Iowa", "Utah"]
WEEK = np.array([[1.0, 1.1, 0.9], [1.96, 1.0, 0.04], [1.3, 1.5, 0.2], [1.2, 1.4, 0.4]])
TEXTS = ("plant", "smooth(visit, 2)", "reporting(state × weekday)")


@pytest.fixture(scope="module")
def view(ppi_fit):
    """Of plants and visits, and a week of four states."""
    plants, _, visits = ppi_fit.shape
    state = Group("state", ["plant"], np.arange(plants) % 4, STATES)
    weekday = Group("weekday", ["visit"], np.arange(visits) % 3, DAYS)
    at = np.arange(visits)
    visit = Group("visit", ["visit"], at, list(map(str, at)), at[:, None])
    plant = Group("plant", ["plant"], np.arange(plants), [f"plant {i}" for i in range(plants)])
    effects = ModeEffects(
        ("plant", "pollinator", "visit"),
        tuple(map(Effect.parse, TEXTS)),
        ((plant,), (visit,), (state, weekday)),
        (np.linspace(-1, 1, plants), np.zeros(visits), np.log(WEEK)[None]),
        (np.log(1.4), 0.001, 1.0),
    )
    return random_effects_view(effects)


def test_sizes_are_typical_factors_with_intervals_the_largest_first(view):
    sizes = view.sizes
    assert list(sizes["effect"])[:2] == ["reporting: state × weekday", "plant"]
    assert sizes["factor"].iloc[1] == pytest.approx(1.4)
    assert sizes["negligible"].tolist() == [False, False, True]
    clear = sizes[~sizes["negligible"]]
    assert (clear["low"] < clear["factor"]).all()
    assert (clear["factor"] < clear["high"]).all()
    assert list(sizes_chart(sizes).data[0].x) == sizes["factor"].tolist()
    assert "λ varies most with **plant** (typically ×\xa01.4)" in view.insight
    assert "reporting varies most with **state × weekday**" in view.insight
    assert view.insight.endswith("Estimated as negligible: visit (2 visits).")
    none = replace(view, sizes=sizes.assign(negligible=True))
    assert none.insight.startswith("None changes anything.")

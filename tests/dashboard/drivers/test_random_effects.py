"""Place, time and reporting effects: tables, words and figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dashboard.drivers.random_effects import (
    RandomEffectsView,
    ends,
    levels_chart,
    levels_words,
    random_effects_view,
    short,
    size_words,
    weekday_chart,
    weekday_words,
)
from uncletc import Effect, Fit, Group, ModeEffects
from uncletc.datasets import Dataset

DAYS = ["Monday", "Tuesday", "Sunday"]
STATES = ["Ohio", "Kansas", "Iowa", "Utah"]
WEEK = np.array([[1.0, 1.1, 0.9], [1.96, 1.0, 0.04], [1.3, 1.5, 0.2], [1.2, 1.4, 0.4]])
TEXTS = ("plant", "smooth(visit, 2)", "reporting(state × weekday)", "visit")
SIGMAS = (np.log(1.4), 0.001, 1.0, np.log(1.1))


def known_effects(fit: Fit) -> ModeEffects:
    """Effects of plants and visits, and a week of four states."""
    plants, _, visits = fit.shape
    state = Group("state", ["plant"], np.arange(plants) % 4, STATES)
    weekday = Group("weekday", ["visit"], np.arange(visits) % 3, DAYS)
    visit = Group(
        "visit", ["visit"], np.arange(visits), list(map(str, range(visits))), np.c_[range(visits)]
    )
    plant = Group("plant", ["plant"], np.arange(plants), [f"plant {i}" for i in range(plants)])
    return ModeEffects(
        ("plant", "pollinator", "visit"),
        tuple(map(Effect.parse, TEXTS)),
        ((plant,), (visit,), (state, weekday), (visit,)),
        (
            np.linspace(-1, 1, plants),
            np.zeros(visits),
            np.log(WEEK)[None],
            np.linspace(0.2, -0.2, visits),
        ),
        SIGMAS,
    )


@pytest.fixture(scope="module")
def with_effects(ppi_fit: Fit) -> Fit:
    return replace(ppi_fit, mode_effects=known_effects(ppi_fit))


@pytest.fixture(scope="module")
def view(ppi_twin: Dataset, with_effects: Fit) -> RandomEffectsView:
    return random_effects_view(ppi_twin, with_effects)


def test_sizes_are_typical_factors_with_ranges_the_largest_first(view: RandomEffectsView) -> None:
    sizes = view.sizes.set_index("effect")
    assert list(sizes.index)[:2] == ["reporting: state × weekday", "plant"]
    assert sizes.loc["plant", "factor"] == pytest.approx(1.4)
    assert sizes["nothing"].tolist() == [False, False, False, True]
    assert (sizes["low"] < sizes["factor"])[~sizes["nothing"]].all()
    assert (sizes["factor"] < sizes["high"])[~sizes["nothing"]].all()
    assert "× 2.7" in view.note


def test_weekdays_have_the_most_uneven_state_first(view: RandomEffectsView) -> None:
    assert list(view.weekdays.index) == ["Kansas", "Iowa", "Utah", "Ohio"]
    assert view.weekdays.loc["Kansas"].tolist() == pytest.approx([1.96, 1.0, 0.04])
    assert list(view.long_weekdays.columns) == ["state", "weekday", "factor"]
    assert len(view.long_weekdays) == 12


def test_levels_are_of_single_modes_that_are_not_smooth(view: RandomEffectsView) -> None:
    assert list(view.levels) == ["plant", "visit"]
    assert view.levels["plant"]["factor"].iloc[0] == pytest.approx(np.e)
    assert view.levels["plant"]["order"].isna().all()
    assert view.levels["visit"]["order"].notna().all()


def test_places_have_the_names_of_counties(covid_twin: Dataset, covid_fit: Fit) -> None:
    cell = covid_twin.table["cell"].iloc[0]
    shape = covid_fit.shape[:2]
    group = Group("place", ["latitude", "longitude"], np.zeros(shape, dtype=int), [cell])
    effects = ModeEffects(
        ("latitude", "longitude", "day"),
        (Effect.parse("place"),),
        ((group,),),
        (np.zeros(1),),
        (0.1,),
    )
    found = random_effects_view(covid_twin, replace(covid_fit, mode_effects=effects))
    together = covid_twin.table[covid_twin.table["cell"] == cell]
    largest = together.sort_values("population")["county"].iloc[-1]
    assert found.levels["place"]["level"].iloc[0].startswith(largest)
    assert found.title == "Effects of places and calendars on λ"
    assert found.long_weekdays.empty


def test_words(view: RandomEffectsView) -> None:
    words = size_words(view.sizes)
    assert "λ varies most with **plant** (typically × 1.4) and **visit**" in words
    assert "reporting varies most with **state × weekday**" in words
    assert words.endswith("Estimated as negligible: visit (2 visits).")
    assert view.title == "Effects of species and visits on λ and reporting"
    assert "none changes anything" in size_words(view.sizes.assign(nothing=True))
    assert levels_words("plant", view.levels["plant"]).startswith("Shown are the 10 highest")
    assert levels_words("visit", view.levels["visit"]).startswith("The factor of λ by visit")
    few = view.levels["plant"].head(5)
    assert ends(few) is few


def test_states_that_report_least_and_when(view: RandomEffectsView) -> None:
    words = weekday_words(view.weekdays)
    assert words.startswith("**Kansas** reports 0.04 of its mean on Sundays; **Iowa** reports 0.20")
    assert "In the median state the weakest weekday has 0.30 of the mean." in words
    assert weekday_words(view.weekdays.tail(1)).startswith("No state reports much less")
    assert [short(each) for each in (0.001, 1.26)] == ["less than 0.01", "1.3"]


def test_weekdays_part_at_one_on_a_log_scale(view: RandomEffectsView) -> None:
    (heat,) = weekday_chart(view.weekdays).data
    assert heat.zmin == -heat.zmax
    assert heat.z[0][1] == pytest.approx(0.0)
    assert list(heat.x) == ["Mon", "Tue", "Sun"]
    assert heat.customdata[0][2].tolist() == [pytest.approx(0.04), "Sunday"]


def test_levels_by_size_or_in_time(view: RandomEffectsView) -> None:
    (bars,) = levels_chart(view.levels["plant"], of="plant").data
    assert len(bars.y) == min(20, len(view.levels["plant"]))
    factors = np.asarray(bars.x) + bars.base
    assert factors[[0, -1]] == pytest.approx([np.e, 1 / np.e])
    (bars,) = levels_chart(view.levels["visit"], of="visit").data
    assert list(bars.x) == sorted(bars.x, key=int)

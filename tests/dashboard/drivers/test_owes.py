"""What λ and reporting owe to places and calendars: tables, words and figures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.drivers.owes import (
    OwesView,
    ends,
    levels_words,
    owes_view,
    short,
    size_words,
    weekday_words,
)
from dashboard.drivers.owes_charts import levels_chart, sizes_chart, weekday_chart
from dashboard.shared.fit_status.running import how_it_was_fitted
from dashboard.shared.sidebar.roles import effects_in_fit
from uncletc import Effect, Fit, Group, ModeEffects, StopReason
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
def view(ppi_twin: Dataset, with_effects: Fit) -> OwesView:
    return owes_view(ppi_twin, with_effects)


class TestView:
    def test_sizes_are_typical_factors_the_largest_first(self, view: OwesView) -> None:
        sizes = view.sizes.set_index("effect")
        assert list(sizes.index)[:2] == ["reporting: state × weekday", "plant"]
        assert sizes.loc["plant", "factor"] == pytest.approx(1.4)
        assert sizes["nothing"].tolist() == [False, False, False, True]

    def test_sizes_have_ranges_for_they_are_estimates(self, view: OwesView) -> None:
        sizes = view.sizes[~view.sizes["nothing"]]
        assert (sizes["low"] < sizes["factor"]).all()
        assert (sizes["factor"] < sizes["high"]).all()
        assert "σ is an estimate itself" in view.note

    def test_weekdays_have_the_most_uneven_state_first(self, view: OwesView) -> None:
        assert list(view.weekdays.index) == ["Kansas", "Iowa", "Utah", "Ohio"]
        assert view.weekdays.loc["Kansas"].tolist() == pytest.approx([1.96, 1.0, 0.04])
        long = view.long_weekdays
        assert list(long.columns) == ["state", "weekday", "factor"]
        assert len(long) == 12

    def test_levels_are_of_single_modes_that_are_not_smooth(self, view: OwesView) -> None:
        assert list(view.levels) == ["plant", "visit"]
        assert view.levels["plant"]["factor"].iloc[0] == pytest.approx(np.e)
        assert view.levels["plant"]["order"].isna().all()
        assert view.levels["visit"]["order"].notna().all()

    def test_places_have_the_names_of_counties(self, covid_twin: Dataset, covid_fit: Fit) -> None:
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
        found = owes_view(covid_twin, replace(covid_fit, mode_effects=effects))
        together = covid_twin.table[covid_twin.table["cell"] == cell]
        largest = together.sort_values("population")["county"].iloc[-1]
        assert found.levels["place"]["level"].iloc[0].startswith(largest)
        assert found.title == "What λ owes to places and calendars"
        assert found.reporting == ""
        assert found.long_weekdays.empty

    def test_a_fit_without_effects_is_refused(self, ppi_twin: Dataset, ppi_fit: Fit) -> None:
        with pytest.raises(ValueError, match="must have effects"):
            owes_view(ppi_twin, ppi_fit)


class TestWords:
    def test_what_owes_most_to_what(self, view: OwesView) -> None:
        assert "λ owes most to **plant** (typically × 1.4) and **visit**" in view.insight
        assert "reporting owes something to **state × weekday**" in view.insight
        assert "Shrunk to nothing is visit (2 visits)" in view.insight
        assert view.title == "What λ and reporting owe to species and visits"
        assert "× 2.7" in view.note
        assert "No cause" in view.note

    def test_nothing_at_all(self, view: OwesView) -> None:
        text = size_words(view.sizes.assign(nothing=True))
        assert text.startswith("In this fit none changes anything. Shrunk to nothing are ")

    def test_states_that_report_least_and_when(self, view: OwesView) -> None:
        assert view.reporting.startswith(
            "**Kansas** reports .04 of its mean on Sundays, **Iowa** .20 of its mean on Sundays "
            "and **Utah** .40 of its mean on Sundays."
        )
        assert "In the median state the weakest weekday has .30 of the mean." in view.reporting

    def test_even_reporting(self, view: OwesView) -> None:
        assert weekday_words(view.weekdays.tail(1)).startswith("No state reports much less")
        one = weekday_words(view.weekdays.head(1))
        assert one.startswith("**Kansas** reports .04 of its mean on Sundays. In")
        assert weekday_words(pd.DataFrame()) == ""

    @pytest.mark.parametrize(
        ("value", "text"), [(0.04, ".04"), (0.3, ".30"), (0.001, "less than .01"), (1.26, "1.3")]
    )
    def test_factors_are_short(self, value: float, text: str) -> None:
        assert short(value) == text

    def test_which_levels_are_shown(self, view: OwesView) -> None:
        assert levels_words("plant", view.levels["plant"]).startswith("Shown are the ten highest")
        assert levels_words("visit", view.levels["visit"]).startswith("The factor of λ by visit")

    def test_how_it_was_fitted_says_so(self, with_effects: Fit, ppi_fit: Fit) -> None:
        assert effects_in_fit(ppi_fit) == ""
        text = effects_in_fit(with_effects)
        assert text.startswith("λ follows 3 effects of modes beside its patterns; 1 more acts on")
        assert text in how_it_was_fitted(replace(with_effects, stop=StopReason.TOLERANCE))


class TestCharts:
    def test_sizes(self, view: OwesView) -> None:
        figure = sizes_chart(view.sizes)
        drawn = {name: x for trace in figure.data for name, x in zip(trace.y, trace.x, strict=True)}
        assert drawn == dict(zip(view.sizes["effect"], view.sizes["factor"], strict=True))
        assert list(figure.layout.yaxis.categoryarray) == list(view.sizes["effect"])
        assert any("shrunk to nothing" in trace.customdata for trace in figure.data)

    def test_weekdays_part_at_one_on_a_log_scale(self, view: OwesView) -> None:
        (heat,) = weekday_chart(view.weekdays).data
        assert heat.zmin == -heat.zmax
        assert heat.z[0][1] == pytest.approx(0.0)
        assert list(heat.x) == ["Mon", "Tue", "Sun"]
        assert list(heat.y) == list(view.weekdays.index)
        assert heat.customdata[0][2].tolist() == [pytest.approx(0.04), "Sunday"]
        assert heat.colorbar.ticktext[0].startswith("≤")

    def test_levels_by_size_or_in_time(self, view: OwesView) -> None:
        (bars,) = levels_chart(view.levels["plant"], of="plant").data
        assert bars.orientation == "h"
        assert len(bars.y) == min(20, len(view.levels["plant"]))
        factors = np.asarray(bars.x) + bars.base
        assert factors[0] == pytest.approx(np.e)
        assert factors[-1] == pytest.approx(1 / np.e)
        (bars,) = levels_chart(view.levels["visit"], of="visit").data
        assert list(bars.x) == sorted(bars.x, key=int)

    def test_few_levels_are_all_drawn(self, view: OwesView) -> None:
        few = view.levels["plant"].head(5)
        assert ends(few) is few

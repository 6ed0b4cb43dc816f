"""A reader's statement about the scale of p, on the page and in a file of settings."""

from itertools import pairwise

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.fit_status.outcome import impossible
from dashboard.shared.fit_status.takeaway import recipe_of
from dashboard.shared.sidebar.model import CUSTOM, model_of
from dashboard.shared.text.page import HOW
from dashboard.work.orders import limits_before
from tests.dashboard.looking import ran
from uncletc import Anchor, Deaths, FitSettings, Recipe, Scale

P = np.array([0.1, 0.2, 0.2, 0.4])


class TestImpossible:
    def test_a_chance_above_one_is_said_with_its_size(self):
        note = impossible(Scale.mean_detection(P, 0.9), P)
        assert "1.6" in note  # 0.4 · 0.9 / 0.225
        assert "at most 56 %" in note  # 0.225 / 0.4

    def test_silence_where_all_is_well(self):
        for scale in (Scale.mean_detection(P, 0.5), Scale.best_detects_all(P), Scale.relative(P)):
            assert impossible(scale, P) == ""


class TestRecipe:
    def test_prepares_what_the_page_fitted(self, covid_twin, covid_fit):
        roles = model_of(covid_twin, CUSTOM, deaths=Deaths(lag=10, fatality=1.5))
        anchor = Anchor(kind="mean", value=(0.2, 0.4))
        found = recipe_of(covid_twin, covid_fit, anchor=anchor, roles=roles)
        read = Recipe.from_toml(found.to_toml())
        assert read == found
        assert (read.deaths, read.anchor) == (Deaths(lag=10, fatality=1.5), anchor)
        shown = roles.apply(covid_twin).counts
        assert read.prepared(covid_twin).counts.digest == shown.digest
        assert read.settings(covid_twin) == covid_fit.settings

    def test_a_fit_that_was_continued_says_from_where(self):
        limits = limits_before(FitSettings(rank=1, max_iter=1200))
        assert all(2 * before == after for before, after in pairwise((*limits, 1200)))
        assert limits_before(FitSettings(rank=1)) == ()


@pytest.mark.parametrize(
    ("scale", "free"), [(Scale.relative(P), True), (Scale.mean_detection(P, 0.25), False)]
)
def test_the_help_says_that_only_ratios_are_known_where_they_are(scale, free):
    def page(scale):
        from dashboard.shared.text.page import help_drawer

        help_drawer(scale=scale)

    at = AppTest.from_function(page, kwargs={"scale": scale})
    at.session_state[HOW] = True
    said = ran(at).markdown[0].value
    assert ("Only ratios of p are known" in said) is free
    assert ("rests on an assumption" in said) is not free


def test_a_caution_is_below_the_finding():
    def page():
        from dashboard.shared.text.page import insight_with_caution

        insight_with_caution("Bees are seen more often.", "So wide a range is unlikely.")

    at = ran(AppTest.from_function(page))
    assert at.markdown[0].value == "Bees are seen more often."
    assert at.warning[0].value == "So wide a range is unlikely."

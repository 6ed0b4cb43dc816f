"""What a page shows goes into a file of settings, and comes back as the same numbers."""

from __future__ import annotations

import pytest

from dashboard.shared.sidebar.anchors import Anchor, places
from dashboard.shared.sidebar.recipes import recipe_of, stated_anchor
from dashboard.shared.sidebar.roles import PAPER, looks_of, roles_of
from dashboard.work.iterations import limits_before
from uncletc import Deaths, FitSettings, Recipe, Roles


def some_place(dataset) -> Anchor:
    name, place = next(iter(places(dataset).items()))
    return Anchor(kind="entry", place=place, name=name, detects=(0.3, 0.6))


class TestAnchor:
    @pytest.mark.parametrize(
        "anchor",
        [
            Anchor(),
            Anchor(kind="best"),
            Anchor(kind="mean", mean=0.4),
            Anchor(kind="mean", mean=(0.2, 0.4)),
            Anchor(kind="total", total=1e7),
        ],
    )
    def test_states_the_very_scale_of_the_page(self, anchor, covid_twin, covid_fit):
        stated = stated_anchor(anchor, covid_twin.counts)
        assert stated.scale(covid_twin.counts, covid_fit) == anchor.of(covid_twin.counts, covid_fit)

    def test_names_a_place_by_its_labels(self, covid_twin, covid_fit):
        anchor = some_place(covid_twin)
        stated = stated_anchor(anchor, covid_twin.counts)
        assert len(stated.place) == 2
        assert stated.scale(covid_twin.counts, covid_fit) == anchor.of(covid_twin.counts, covid_fit)


class TestRecipe:
    def test_prepares_what_the_page_fitted(self, covid_twin, covid_fit):
        roles = roles_of(covid_twin)
        with_deaths = roles.__class__(
            roles.preset,
            roles.usual,
            roles.attributes,
            looks_of(covid_twin, deaths=True, lag=10, fatality=1.5),
            roles.effects,
        )
        found = recipe_of(covid_twin, covid_fit, anchor=Anchor(), roles=with_deaths)
        read = Recipe.from_toml(found.to_toml())
        assert read == found
        assert read.deaths == Deaths(lag=10, fatality=1.5)
        shown = with_deaths.apply(covid_twin).counts
        assert read.prepared(covid_twin).counts.digest == shown.digest
        assert read.settings(covid_twin) == covid_fit.settings

    def test_of_the_papers_roles(self, covid_twin, covid_fit):
        found = recipe_of(covid_twin, covid_fit, anchor=Anchor(), roles=roles_of(covid_twin, PAPER))
        assert (found.roles, found.deaths) == (Roles(), Deaths(used=False))
        assert found.prepared(covid_twin).counts.digest == covid_twin.counts.digest

    def test_a_fit_that_went_on_says_from_where(self):
        for settings in (FitSettings(rank=1), FitSettings(rank=1, solver="bcd", max_iter=100)):
            assert limits_before(settings) == ()
        assert limits_before(FitSettings(rank=1, max_iter=1200)) == (300, 600)
        assert limits_before(FitSettings(rank=1, solver="bcd", max_iter=400)) == (100, 200)

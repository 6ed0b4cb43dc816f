"""A reader's statement about the scale of p, on the page and in a file of settings."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.charts.answers import axis_title
from dashboard.shared.charts.places import entries_at, place_modes, place_table
from dashboard.shared.fit_status.outcome import impossible
from dashboard.shared.fit_status.takeaway import recipe_of
from dashboard.shared.sidebar.choice import CUSTOM, model_of
from dashboard.shared.sidebar.sidebar import labels_of_places
from dashboard.shared.text.page import HOW
from dashboard.work.orders import limits_before
from tests.dashboard.looking import ran
from uncletc import Anchor, Deaths, FitSettings, Recipe, Scale
from uncletc.tables import AttributeColumn, Columns, ModeColumn, RawTable, build

P = np.array([0.1, 0.2, 0.2, 0.4])


class TestPlaces:
    @pytest.mark.parametrize("name", ["covid_twin", "ppi_twin"])
    def test_a_known_place_is_scaled_to_what_was_stated(self, request, name):
        dataset = request.getfixturevalue(name)
        fit = request.getfixturevalue(name.replace("twin", "fit"))
        known = labels_of_places(dataset)
        label, place = list(known.items())[5]
        counts = dataset.counts
        where = tuple(counts.labels[k].index(one) for k, one in enumerate(place))
        scale = Anchor(kind="entry", place=place, name=label, value=0.3).scale(counts, fit)
        there = fit.detection(counts.attributes)[entries_at(counts, where)]
        assert scale.detection(there).mean() == pytest.approx(0.3)
        assert axis_title(scale) == f"detection probability p (if {label} detects 30 %)"

    def test_largest_first(self, covid_twin):
        known, table = labels_of_places(covid_twin), covid_twin.table
        largest = table.loc[table["population"].idxmax()]
        assert next(iter(known)).startswith(largest["county"])
        assert len(known) == len(table)

    def test_a_place_need_not_be_of_the_first_mode(self):
        """Also in a file of settings: the second mode is the one on a map."""
        rows = [(week, site) for week in range(4) for site in ("a", "b", "c")]
        frame = pd.DataFrame(rows, columns=["week", "site"]).assign(count=3)
        frame["site size"] = frame["site"].map({"a": 1, "b": 2, "c": 3})
        read = build(
            RawTable.of(frame, "own"),
            Columns(
                modes=(ModeColumn(column="week"), ModeColumn(column="site")),
                count="count",
                attributes=(AttributeColumn(column="site size"),),
            ),
        )
        at = pd.DataFrame({"site": list("abc"), "latitude": [1, 2, 3], "longitude": [4, 5, 6]})
        own = replace(read, name="own", mode_tables={"site": at})
        assert place_modes(own) == (1,)
        assert sorted(labels_of_places(own).values()) == [("", "a"), ("", "b"), ("", "c")]
        assert len(place_table(own)) == 3


class TestImpossible:
    def test_a_chance_above_one_is_said_with_its_size(self):
        note = impossible(Scale.mean_detection(P, 0.9), P)
        assert "1.6" in note  # 0.4 · 0.9 / 0.225
        assert "mean detection is 90%" in note

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
    def page(scale) -> None:
        from dashboard.shared.text.page import help_drawer

        help_drawer(scale=scale)

    at = AppTest.from_function(page, kwargs={"scale": scale})
    at.session_state[HOW] = True
    said = ran(at).markdown[0].value
    assert ("Only ratios of p are known" in said) is free
    assert ("rests on an assumption" in said) is not free

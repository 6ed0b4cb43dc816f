"""The tables of the Drivers page, against short fits of the simulated counts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.drivers.charts import sizes_chart
from dashboard.drivers.view import (
    effect_view,
    explanation,
    explanation_bars,
    importance_view,
    is_category,
    random_effects_view,
)
from dashboard.shared.charts.places import place_table
from tests.uncletc.tables.made import Reading
from uncletc import CountTensor, Effect, Group, ModeEffects, effects, fit
from uncletc.tables import AttributeColumn


@pytest.fixture(scope="module")
def with_intervals(ppi_twin, short_fit):
    return short_fit(ppi_twin.counts, 20, solver="joint", hidden=(5,))


def test_importance_is_that_of_the_library(covid_twin, covid_fit):
    found = effects.permutation_importance(covid_fit, covid_twin.counts)
    bars = importance_view(covid_twin, covid_fit).bars.set_index("covariate")
    rows = bars.loc[list(found.names)]
    np.testing.assert_allclose(rows["rise"], found.rise.mean(axis=1) / found.deviance)
    np.testing.assert_allclose(rows["sd"], found.rise.std(axis=1, ddof=1) / found.deviance)


def test_an_effect_of_a_category_has_its_levels(ppi_twin, with_intervals):
    assert is_category(ppi_twin, "guild")
    assert not is_category(ppi_twin, "wind")
    view = effect_view(ppi_twin, with_intervals, "guild")
    assert view.levels
    assert set(view.curve["value"]) == {"bee", "beetle", "butterfly", "fly", "wasp"}
    assert view.curve["ratio"].is_monotonic_decreasing
    assert view.spread["value"].tolist() == view.curve["value"].tolist()
    guilds = ppi_twin.mode_tables["pollinator"]["guild"].to_numpy()
    of_counts = pd.Series(guilds[ppi_twin.counts.indices[:, 1]]).value_counts()
    assert view.spread.set_index("value")["entries"].to_dict() == of_counts.to_dict()


def test_the_reference_of_a_category_is_named(short_fit):
    who = [f"s{k // 6},{k % 6},{k % 5},{'ABCC'[k % 4]}\n" for k in range(36)]
    category = AttributeColumn(column="who", category=True)
    dataset = Reading("site,week,seen,who\n" + "".join(who), attributes=(category,)).data
    view = effect_view(dataset, short_fit(dataset.counts, 5), "who")
    assert dict(view.spread.to_numpy()) == {"A": 9, "B": 9, "C (reference)": 18}
    assert view.axis == "who"


def test_factors_of_an_explanation_multiply_to_p_over_the_typical(ppi_twin, with_intervals):
    place = place_table(ppi_twin)["where"].iloc[0]
    parts = explanation(ppi_twin, with_intervals, *place)
    counts = ppi_twin.counts
    here = (counts.attribute_indices[:, :2] == place).all(axis=1)
    p = np.log(with_intervals.detection(counts.attributes[here])).mean()
    rows = counts.attribute_rows
    typical = np.log(with_intervals.detection(counts.attributes[rows[rows >= 0]])).mean()
    assert np.log(parts["factor"]).sum() == pytest.approx(p - typical, abs=0.02)
    bars = explanation_bars(parts)
    assert bars["factor"].prod() == pytest.approx(parts["factor"].prod())
    assert len(bars) <= 9
    assert {"low", "high"} <= set(parts)
    here = parts.set_index("covariate")["here"]
    assert here["guild"] == ppi_twin.mode_tables["pollinator"]["guild"].iloc[place[1]]
    assert here["flower abundance"] in ("low", "medium", "high")


DAYS = ["Monday", "Tuesday", "Sunday"]
STATES = ["Ohio", "Kansas", "Iowa", "Utah"]
WEEK = np.array([[1.0, 1.1, 0.9], [1.96, 1.0, 0.04], [1.3, 1.5, 0.2], [1.2, 1.4, 0.4]])
TEXTS = ("plant", "smooth(visit, 2)", "reporting(state × weekday)")


@pytest.fixture(scope="module")
def random_effects(ppi_fit):
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


def test_sizes_are_typical_factors_with_intervals_the_largest_first(random_effects):
    view, sizes = random_effects, random_effects.sizes
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


def test_effects_of_modes_that_no_text_can_name_have_their_names():
    where = np.argwhere(np.ones((6, 8)))
    modes = ("type, by (age), A", "week")
    counts = CountTensor((6, 8), where, where.sum(axis=1), modes=modes)
    found = fit(counts, rank=1, effects=("week",), max_iter=30).mode_effects
    assert set(random_effects_view(found).sizes["effect"]) == set(modes)

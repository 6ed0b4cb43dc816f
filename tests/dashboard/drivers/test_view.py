"""The tables of the Drivers page, against short fits of the simulated counts."""

import numpy as np
import pandas as pd
import pytest

from dashboard.drivers.view import (
    effect_view,
    explanation,
    explanation_bars,
    importance_view,
    is_category,
)
from dashboard.shared.charts.places import place_table
from uncletc import effects


@pytest.fixture(scope="module")
def with_intervals(ppi_twin, short_fit):
    return short_fit(ppi_twin.counts, 20, solver="joint", hidden=(5,))


def test_importance_is_that_of_the_library(covid_twin, covid_fit):
    found = effects.permutation_importance(covid_fit, covid_twin.counts, size=None)
    bars = importance_view(covid_twin, covid_fit).bars.set_index("covariate")
    rows = bars.loc[list(found.names)]
    np.testing.assert_allclose(rows["rise"], found.rise.mean(axis=1) / found.deviance)
    np.testing.assert_allclose(rows["sd"], found.rise.std(axis=1, ddof=1) / found.deviance)


class TestEffects:
    def test_curve_is_that_of_the_library(self, covid_twin, covid_fit):
        view = effect_view(covid_twin, covid_fit, "median income")
        found = effects.accumulated_effect(covid_fit, covid_twin.counts, "median income")
        assert view.curve["value"].tolist() == found.values[:, 0].tolist()
        assert view.curve["ratio"].tolist() == found.ratio.tolist()
        assert list(view.curve) == ["value", "ratio"]

    def test_levels_of_a_category(self, ppi_twin, with_intervals):
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

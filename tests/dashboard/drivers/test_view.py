"""The tables of the Drivers page, against short fits of the simulated counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.drivers.view import (
    ImportanceView,
    about_words,
    axis_title,
    effect_view,
    explanation,
    explanation_bars,
    explanation_words,
    importance_view,
    is_category,
    number,
    ratio_text,
    strength_words,
    surface_view,
    two_names,
)
from dashboard.shared.charts.places import place_table
from dashboard.shared.text.scripts import fit_script
from uncletc import effects
from uncletc.datasets import AttributeInfo


@pytest.fixture(scope="module")
def with_intervals(ppi_twin, short_fit):
    return short_fit(ppi_twin.counts, 20, solver="joint", hidden=(5,))


def test_importance_is_that_of_the_library(covid_twin, covid_fit):
    found = effects.permutation_importance(covid_fit, covid_twin.counts, size=None)
    bars = importance_view(covid_twin, covid_fit).bars.set_index("covariate")
    rows = bars.loc[list(found.names)]
    np.testing.assert_allclose(rows["rise"], found.rise.mean(axis=1))
    np.testing.assert_allclose(rows["sd"], found.rise.std(axis=1, ddof=1))


class TestEffects:
    def test_curve_is_that_of_the_library(self, covid_twin, covid_fit):
        view = effect_view(covid_twin, covid_fit, "median income")
        found = effects.accumulated_effect(covid_fit, covid_twin.counts, "median income")
        assert view.curve["value"].tolist() == found.values[:, 0].tolist()
        assert view.curve["ratio"].tolist() == found.ratio.tolist()
        assert list(view.curve) == ["value", "ratio"]

    def test_two_values_have_names_and_no_axis_between(self, covid_twin, covid_fit):
        view = effect_view(covid_twin, covid_fit, "weekend")
        assert view.levels
        assert set(view.curve["value"]) == {"weekday", "weekend"}
        days = covid_twin.mode_tables["day"]["weekday"].isin(["Saturday", "Sunday"]).to_numpy()
        at = covid_twin.counts.indices[:, 2]
        entries = view.spread.set_index("value")["entries"]
        assert entries["weekend"] == days[at].sum()

    def test_values_and_their_spread_are_in_the_unit(self, covid_twin, covid_fit):
        info = {"testing gap": AttributeInfo(minimum=10, maximum=60, unit="%")}
        dataset = replace(covid_twin, attribute_info=info)
        plain = effect_view(covid_twin, covid_fit, "testing gap")
        view = effect_view(dataset, covid_fit, "testing gap")
        np.testing.assert_allclose(view.curve["value"], 10 + 50 * plain.curve["value"])
        assert (view.spread["left"].iloc[0], view.spread["right"].iloc[-1]) == (10, 60)
        assert view.axis == "testing gap (%)"
        assert view.curve["ratio"].tolist() == plain.curve["ratio"].tolist()
        surface = surface_view(dataset, covid_fit, "testing gap", "weekend", "both together")
        assert surface.titles == ("testing gap (%)", "weekend, from smallest (0) to largest (1)")
        assert all(10 <= float(value) <= 60 for value in surface.rows)

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


class TestSurface:
    def test_cells_without_counts_are_empty(self, covid_twin, covid_fit):
        view = surface_view(covid_twin, covid_fit, "% rural", "population density", "both together")
        assert view.log_ratio.shape == (len(view.rows), len(view.columns)) == view.entries.shape
        np.testing.assert_array_equal(np.isnan(view.log_ratio), view.entries == 0)
        assert (view.entries == 0).any()


class TestExplanations:
    def test_factors_multiply_to_p_over_the_typical(self, ppi_twin, with_intervals):
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

    def test_sentences(self):
        def sentence(*factors):
            names = ["wind", "cloud", "month"][: len(factors)]
            return explanation_words(
                pd.DataFrame({"covariate": names, "here": "high", "factor": factors})
            )

        low = sentence(0.4, 0.98, 1.3)
        assert "p is **low** here: **0.51 times**" in low
        assert "*wind* is high (× 0.40)." in low
        assert "cloud" not in low
        assert low.endswith("In the opposite direction: *month* is high (× 1.30).")
        high = sentence(2.0, 1.9, 1.01)
        assert "*wind* is high (× 2.00) and *cloud* is high (× 1.90)." in high
        assert "opposite" not in high
        assert "about typical" in sentence(1.5, 0.66)
        assert [ratio_text(x) for x in (0.944, 12.3, 0.012)] == ["× 0.94", "× 12", "× 0.012"]


def test_the_script_gives_the_importances(ppi_twin, with_intervals, run_script):
    script = fit_script("ppi-twin", with_intervals.settings, importance_view, take=".bars")
    expected = importance_view(ppi_twin, with_intervals).bars
    pd.testing.assert_frame_equal(run_script(script, with_intervals), expected)


GAP = AttributeInfo(minimum=0.8, maximum=100, unit="% of tests positive", explanation="A share.")


def test_covariates_in_words_and_in_their_units():
    numbers = [number(x) for x in (14932031, 0.8108, 0, -61.6)]
    assert numbers == ["14,900,000", "0.811", "0", "-61.6"]
    assert axis_title("gap", GAP) == "gap (% of tests positive)"
    assert "smallest (0)" in axis_title("wind", AttributeInfo())
    assert about_words("gap", GAP) == "**gap**: A share."
    assert "cumulative" in about_words("prices", replace(GAP, cumulative=True))
    assert two_names(AttributeInfo(minimum=2, maximum=7)) == ("2", "7")


@pytest.mark.parametrize(
    ("ratio", "called"), [(1.04, "no effect"), (1.3, "a weak"), (2, "a moderate"), (9, "a strong")]
)
def test_effects_are_called_what_they_are(ratio, called):
    assert called in strength_words("Everywhere", ratio)


def test_a_small_rise_is_called_weak():
    def insight(*shares: float) -> str:
        names = ["gap", "beds"][: len(shares)]
        bars = pd.DataFrame({"covariate": names, "rise": shares, "sd": 0.01, "share": shares})
        return ImportanceView(bars=bars, shuffles=5, caution=None).insight

    assert "**gap** and **beds**, but weakly" in insight(0.07, 0.03)
    assert "weakly" not in insight(0.5, 0.03)
    assert "no covariate" in insight(0.005)


def test_names_of_columns_are_no_markup():
    name = "![p](http://127.0.0.1:9/pixel.png)site"
    assert about_words(name, AttributeInfo()) == f"**`{name}`**."

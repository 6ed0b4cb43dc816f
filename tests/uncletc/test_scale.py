"""Scale: it fixes what is shown, never what is predicted."""

from __future__ import annotations

import dataclasses
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from uncletc import Scale

P = np.array([0.1, 0.2, 0.4])
RATE = np.array([30.0, 10.0, 60.0])
SCALES = {
    "relative": Scale.relative(P),
    "mean": Scale.mean_detection(P, 0.7),
    "entry": Scale.entry_detection(0.2, 0.05, "Miami-Dade"),
    "best": Scale.best_detects_all(P),
    "total": Scale.known_total(RATE, 1000),
}


class TestInvariants:
    @pytest.mark.parametrize("name", SCALES)
    def test_expected_counts_ranks_and_ratios_stay(self, name: str) -> None:
        scale = SCALES[name]
        p, rate = scale.detection(P), scale.rate(RATE)
        assert not np.allclose(p, P)
        np.testing.assert_allclose(p * rate, P * RATE, rtol=1e-15)
        np.testing.assert_allclose(p / p[0], P / P[0])
        np.testing.assert_allclose(rate / rate[0], RATE / RATE[0])
        np.testing.assert_array_equal(np.argsort(p), np.argsort(P))
        np.testing.assert_array_equal(np.argsort(rate), np.argsort(RATE))

    @hypothesis.settings(deadline=None, derandomize=True, database=None)
    @hypothesis.given(
        factor=st.floats(1e-6, 1e6),
        p=st.floats(1e-6, 1.0),
        rate=st.floats(0.0, 1e9),
    )
    def test_any_factor_keeps_the_product(self, factor: float, p: float, rate: float) -> None:
        scale = Scale(factor, "a guess", False)
        shown = scale.detection(p) * scale.rate(rate)
        assert float(shown) == pytest.approx(p * rate, rel=1e-14)

    def test_the_input_is_not_changed(self) -> None:
        p = P.copy()
        SCALES["best"].detection(p)
        np.testing.assert_array_equal(p, P)

    def test_missing_stays_missing(self) -> None:
        shown = SCALES["best"].detection([0.4, np.nan])
        assert shown[0] == 1.0
        assert np.isnan(shown[1])


class TestChoices:
    def test_relative(self) -> None:
        scale = SCALES["relative"]
        assert np.median(scale.detection(P)) == pytest.approx(1.0)
        assert scale.statement == "relative: the median p is 1"
        assert not scale.absolute

    def test_mean_detection(self) -> None:
        scale = SCALES["mean"]
        assert scale.detection(P).mean() == pytest.approx(0.7)
        assert scale.statement == "anchored: mean detection is 70%"
        assert scale.absolute

    def test_entry_detection(self) -> None:
        scale = SCALES["entry"]
        assert scale.detection(0.2) == pytest.approx(0.05)
        assert scale.statement == "anchored: Miami-Dade detects 5%"
        assert scale.absolute

    def test_best_detects_all(self) -> None:
        scale = SCALES["best"]
        assert scale.detection(P).max() == 1.0
        assert scale.statement == "anchored: the best entry detects everything"
        assert scale.absolute

    def test_known_total(self) -> None:
        scale = SCALES["total"]
        assert scale.rate(RATE).sum() == pytest.approx(1000.0)
        assert scale.statement == "anchored: true counts add up to 1,000"
        assert scale.absolute

    def test_missing_values_do_not_take_part(self) -> None:
        with_gaps = np.array([np.nan, 0.1, 0.2, 0.4, np.nan])
        assert Scale.relative(with_gaps).factor == Scale.relative(P).factor
        assert Scale.mean_detection(with_gaps, 0.5).factor == pytest.approx(
            Scale.mean_detection(P, 0.5).factor
        )
        assert Scale.best_detects_all(with_gaps).factor == 0.4

    def test_small_shares_are_not_called_zero(self) -> None:
        statement = Scale.mean_detection(P, 0.004).statement
        assert "is 0%" not in statement
        assert "0.4%" in statement

    def test_full_detection_is_a_choice(self) -> None:
        assert Scale.mean_detection(P, 1).detection(P).mean() == pytest.approx(1.0)


class TestBadInput:
    @pytest.mark.parametrize("factor", [0.0, -1.0, float("nan"), float("inf")])
    def test_factor(self, factor: float) -> None:
        with pytest.raises(ValueError, match=f"factor must be positive and finite, got {factor}"):
            Scale(factor, "", False)

    @pytest.mark.parametrize("share", [0.0, -0.1, 1.01, float("nan")])
    def test_shares(self, share: float) -> None:
        with pytest.raises(ValueError, match=rf"mean must be in \(0, 1\], got {share}"):
            Scale.mean_detection(P, share)
        with pytest.raises(ValueError, match=rf"value must be in \(0, 1\], got {share}"):
            Scale.entry_detection(0.2, share, "here")

    @pytest.mark.parametrize("total", [0.0, -5.0, float("nan")])
    def test_total(self, total: float) -> None:
        with pytest.raises(ValueError, match=f"total must be positive, got {total}"):
            Scale.known_total(RATE, total)

    @pytest.mark.parametrize("values", [[], [np.nan]])
    def test_nothing_to_anchor_on(self, values: Any) -> None:
        message = "a scale needs at least 1 finite value, got none"
        for build in (
            Scale.relative,
            Scale.best_detects_all,
            lambda given: Scale.mean_detection(given, 0.5),
            lambda given: Scale.known_total(given, 5),
        ):
            with pytest.raises(ValueError, match=message):
                build(values)

    @pytest.mark.parametrize("detection", [0.0, float("nan")])
    def test_an_entry_that_detects_nothing(self, detection: float) -> None:
        with pytest.raises(ValueError, match="must be positive and finite"):
            Scale.entry_detection(detection, 0.5, "here")

    def test_rates_that_are_all_zero(self) -> None:
        with pytest.raises(ValueError, match="positive"):
            Scale.known_total([0.0, 0.0], 5)

    def test_frozen(self) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            SCALES["best"].factor = 2.0  # type: ignore[misc]

"""Scale: it fixes what is shown, never what is predicted."""

from __future__ import annotations

import dataclasses
import doctest
import math
from typing import Any

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from uncletc import CountTensor, Fit, FitSettings, Interval, Joint, Scale, fit, simulate
from uncletc.result import scale

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


FOUND = Interval(
    estimate=np.array([0.2, 0.9, 0.0, np.nan]),
    low=np.array([0.1, 0.6, 0.0, np.nan]),
    high=np.array([0.4, 1.0, 0.0, np.nan]),
    level=0.9,
)


class TestRanges:
    """A stated range is a 90 % interval of what it states."""

    def test_the_middle_is_shown_and_the_statement_names_both_ends(self) -> None:
        scale = Scale.mean_detection(P, (0.2, 0.4))
        assert scale.detection(P).mean() == pytest.approx(math.sqrt(0.08))
        assert scale.statement == "anchored: mean detection is 20–40%"
        there = Scale.entry_detection(0.2, [0.02, 0.08], "Miami-Dade")
        assert there.detection(0.2) == pytest.approx(0.04)
        assert there.statement == "anchored: Miami-Dade detects 2–8%"
        total = Scale.known_total(RATE, (1000, 4000))
        assert total.rate(RATE).sum() == pytest.approx(2000)
        assert total.statement == "anchored: true counts add up to 1,000–4,000"
        assert there.log_error == total.log_error == 2 * scale.log_error

    def test_what_is_known_exactly_has_the_stated_range_for_its_interval(self) -> None:
        scale = Scale.mean_detection([0.5], (0.2, 0.4))
        exact = Interval(np.full(1, 0.5), np.full(1, 0.5), np.full(1, 0.5), 0.9)
        p, rate = scale.detection_interval(exact), scale.rate_interval(exact)
        assert (p.low[0], p.high[0]) == pytest.approx((0.2, 0.4))
        assert rate.high[0] / rate.low[0] == pytest.approx(2)
        assert rate.estimate[0] * p.estimate[0] == pytest.approx(0.25)

    def test_a_number_changes_no_width_and_a_wider_range_widens(self) -> None:
        before = FOUND.high[0] / FOUND.low[0]
        widths = []
        for mean in (0.3, (0.25, 0.35), (0.1, 0.6)):
            scale = Scale.mean_detection(P, mean)
            p, rate = scale.detection_interval(FOUND), scale.rate_interval(FOUND)
            assert p.estimate[:2] == pytest.approx(scale.detection(FOUND.estimate[:2]))
            widths.append(p.high[0] / p.low[0])
            assert rate.high[0] / rate.low[0] == pytest.approx(widths[-1])
        assert widths[0] == pytest.approx(before)
        assert sorted(set(widths)) == widths

    def test_variances_add_as_draws_of_both_say(self) -> None:
        rng = np.random.default_rng(0)
        scale = Scale.mean_detection([1.0], (0.2, 0.4))
        own = math.log(FOUND.high[0] / FOUND.estimate[0]) / 1.6449
        drawn = np.exp(own * rng.normal(size=200_000) + scale.log_error * rng.normal(size=200_000))
        p = scale.detection_interval(FOUND)
        ends = scale.detection(FOUND.estimate[0]) * np.quantile(drawn, [0.05, 0.95])
        assert (p.low[0], p.high[0]) == pytest.approx(ends.tolist(), rel=0.01)

    def test_p_stays_a_chance_and_nothing_or_unknown_stays_so(self) -> None:
        scale = Scale.mean_detection([0.9], (0.5, 1.0))
        p, rate = scale.detection_interval(FOUND), scale.rate_interval(FOUND)
        assert p.high[1] == 1.0
        assert rate.low[2] == rate.high[2] == 0.0
        assert np.isnan([p.low[3], p.high[3], rate.low[3]]).all()

    @pytest.mark.parametrize(
        ("stated", "rule"),
        [
            ((0.4, 0.2), r"a range whose low end is below its high end, got \(0.4, 0.2\)"),
            ((0.3, 0.3), r"a range whose low end is below its high end, got \(0.3, 0.3\)"),
            ((0.0, 0.2), r"in \(0, 1\], got \(0.0, 0.2\)"),
            ((0.2, 1.2), r"in \(0, 1\], got \(0.2, 1.2\)"),
            ((0.2, math.nan), "a range whose low end is below its high end"),
            ((0.1, 0.2, 0.3), r"a number or a range \(low, high\), got \(0.1, 0.2, 0.3\)"),
        ],
    )
    def test_what_is_no_range_is_named(self, stated: Any, rule: str) -> None:
        with pytest.raises(ValueError, match=f"mean must be {rule}"):
            Scale.mean_detection(P, stated)
        with pytest.raises(ValueError, match=f"value must be {rule}"):
            Scale.entry_detection(0.2, stated, "here")

    @pytest.mark.parametrize("stated", [(0, 5), (5, math.inf)])
    def test_totals_are_positive(self, stated: Any) -> None:
        with pytest.raises(ValueError, match="total must be positive"):
            Scale.known_total(RATE, stated)

    @pytest.mark.parametrize("error", [-0.1, math.nan, math.inf])
    def test_errors_are_finite(self, error: float) -> None:
        with pytest.raises(ValueError, match="log_error must be finite and at least 0"):
            Scale(1.0, "", True, error)


@pytest.fixture(scope="module")
def fitted() -> tuple[CountTensor, Fit]:
    counts, _ = simulate((6, 6, 6), 2, observed=0.6, attributed=0.6, n_attributes=2, seed=2)
    settings = FitSettings(rank=2, hidden=(), solver=Joint(network=False))
    return counts, fit(counts, settings)


def test_tables_of_a_fit_hold_the_range_in_rate_and_detection_alone(fitted) -> None:
    counts, estimate = fitted
    p = estimate.detection(counts.attributes)
    exact = estimate.to_frame(counts, scale=Scale.mean_detection(p, math.sqrt(0.03)))
    ranged = estimate.to_frame(counts, scale=Scale.mean_detection(p, (0.1, 0.3)))
    for name in ("rate", "detection", "expected"):
        assert ranged[name].to_numpy() == pytest.approx(exact[name].to_numpy())
        known = exact[f"{name}_low"].notna()
        wider = [
            (table[f"{name}_high"] / table[f"{name}_low"])[known].to_numpy()
            for table in (exact, ranged)
        ]
        if name == "expected":
            assert wider[0] == pytest.approx(wider[1])
        else:
            assert (wider[1] > wider[0]).all()


def test_examples() -> None:
    assert doctest.testmod(scale).failed == 0

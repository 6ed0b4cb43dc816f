"""Scale: it fixes what is shown, never what is predicted."""

import math

import numpy as np
import pytest

from uncletc import Interval, Scale

NAN, INF = math.nan, math.inf
P = np.array([0.1, 0.2, 0.4])
RATE = np.array([30.0, 10.0, 60.0])
SCALES = {
    "relative": Scale.relative(P),
    "mean": Scale.mean_detection(P, 0.7),
    "best": Scale.best_detects_all(P),
    "total": Scale.known_total(RATE, 1000),
}


@pytest.mark.parametrize("name", SCALES)
def test_expected_counts_ranks_and_ratios_stay(name):
    scale = SCALES[name]
    p, rate = scale.detection(P), scale.rate(RATE)
    assert not np.allclose(p, P)
    np.testing.assert_allclose(p * rate, P * RATE, rtol=1e-15)
    np.testing.assert_allclose(p / p[0], P / P[0])


@pytest.mark.parametrize(
    ("name", "shown", "value", "statement"),
    [
        ("relative", lambda s: np.median(s.detection(P)), 1, "relative"),
        ("mean", lambda s: s.detection(P).mean(), 0.7, "mean detection is 70%"),
        ("best", lambda s: s.detection(P).max(), 1, "the best entry detects everything"),
        ("total", lambda s: s.rate(RATE).sum(), 1000, "add up to 1,000"),
    ],
)
def test_what_is_stated_holds(name, shown, value, statement):
    scale = SCALES[name]
    assert shown(scale) == pytest.approx(value)
    assert statement in scale.statement
    assert scale.absolute is (name != "relative")


NO_MEANS = (0.0, 1.01, NAN, (0.4, 0.2), (0.3, 0.3), (0.2, 1.2), (0.2, NAN), (0.1,) * 3)
NO_TOTALS = (0.0, -5.0, NAN, (0, 5), (5, INF))


@pytest.mark.parametrize(
    ("build", "rule"),
    [
        *((lambda f=f: Scale(f, "", False), "factor must be") for f in (0.0, -1.0, NAN, INF)),
        *((lambda e=e: Scale(1.0, "", True, e), "log_error must be") for e in (-0.1, NAN, INF)),
        *((lambda m=m: Scale.mean_detection(P, m), "mean must be .*got") for m in NO_MEANS),
        *((lambda t=t: Scale.known_total(RATE, t), "total must be pos") for t in NO_TOTALS),
        (lambda: Scale.known_total([0.0, 0.0], 5), "positive"),
        (lambda: Scale.relative([]), "at least 1 finite value"),
        (lambda: Scale.mean_detection([NAN], 0.5), "at least 1 finite value"),
    ],
)
def test_bad_input_is_named(build, rule):
    with pytest.raises(ValueError, match=rule):
        build()


FOUND = Interval(
    estimate=np.array([0.2, 0.9, 0.0, np.nan]),
    low=np.array([0.1, 0.6, 0.0, np.nan]),
    high=np.array([0.4, 1.0, 0.0, np.nan]),
    level=0.9,
)


class TestRanges:
    """A stated range is a 90 % interval of what it states."""

    def test_the_middle_is_shown_and_the_statement_names_both_ends(self):
        scale = Scale.mean_detection(P, (0.2, 0.4))
        assert scale.detection(P).mean() == pytest.approx(math.sqrt(0.08))
        assert scale.statement == "anchored: mean detection is 20–40%"
        total = Scale.known_total(RATE, (1000, 4000))
        assert total.rate(RATE).sum() == pytest.approx(2000)
        assert total.statement == "anchored: true counts add up to 1,000–4,000"
        assert total.log_error == 2 * scale.log_error

    def test_a_number_changes_no_width_and_a_wider_range_widens(self):
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

    def test_variances_add_as_draws_of_both_say(self):
        rng = np.random.default_rng(0)
        scale = Scale.mean_detection([1.0], (0.2, 0.4))
        own = math.log(FOUND.high[0] / FOUND.estimate[0]) / 1.6449
        drawn = np.exp(own * rng.normal(size=200_000) + scale.log_error * rng.normal(size=200_000))
        p = scale.detection_interval(FOUND)
        ends = scale.detection(FOUND.estimate[0]) * np.quantile(drawn, [0.05, 0.95])
        assert (p.low[0], p.high[0]) == pytest.approx(ends.tolist(), rel=0.01)

    def test_rates_hold_what_was_reported(self):
        scale = Scale.mean_detection([0.5], 0.5)
        rate = scale.rate_interval(FOUND, [0.15, 5.0, np.nan, 1.0])
        assert rate.low[:2].tolist() == [0.15, 0.9]  # no more than the estimate
        assert rate.high[:3].tolist() == [0.4, 5.0, 0.0]
        free = Scale(1.0, "free", False).rate_interval(FOUND, [0.15, 5.0, np.nan, 1.0])
        np.testing.assert_array_equal(free.low, FOUND.low)

    def test_p_stays_a_chance_and_nothing_or_unknown_stays_so(self):
        scale = Scale.mean_detection([0.9], (0.5, 1.0))
        p, rate = scale.detection_interval(FOUND), scale.rate_interval(FOUND)
        assert p.high[1] == 1.0
        assert rate.low[2] == rate.high[2] == 0.0
        assert np.isnan([p.low[3], p.high[3], rate.low[3]]).all()

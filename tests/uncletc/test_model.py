"""Fit: its predictions against loops, and its table."""

import math

import numpy as np
import pytest

from tests.uncletc.made import made_fit
from uncletc import Scale
from uncletc.result.ensemble import interval


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 2), (2, 3, 2, 4)])
def test_rate_agrees_with_loops_and_the_dense_tensor(shape):
    found = made_fit(shape, rank=3)
    entries = list(np.ndindex(shape))
    loops = [
        sum(
            math.prod(float(u[i, f]) for u, i in zip(found.factors, entry, strict=True))
            for f in range(3)
        )
        for entry in entries
    ]
    np.testing.assert_allclose(found.rate(entries), loops, rtol=1e-14)
    dense = found.rate_tensor()
    assert dense.shape == shape == found.shape
    np.testing.assert_allclose(dense.ravel(), loops, rtol=1e-14)


def test_bad_entries_and_attributes_are_named():
    made = made_fit()
    for ask in (made.rate, lambda where: made.expected(where, np.zeros((1, 3)))):
        with pytest.raises(ValueError, match=r"row 1 is \(0, -1, 0\), and mode 1"):
            ask([[0, 0, 0], [0, -1, 0]])
    for ask in (made.detection, lambda z: made.expected([[0, 0, 0]], z)):
        with pytest.raises(ValueError, match="attributes must have 3 columns"):
            ask([[0.0, 1.0]])
        with pytest.raises(ValueError, match="attributes must be finite"):
            ask([[0.0, math.nan, 1.0]])


@pytest.fixture(scope="module")
def found(small, short_fit):
    return short_fit(small, 20, solver="joint")


class TestToFrame:
    def test_one_row_per_entry_with_what_the_fit_says_of_it(self, small, found):
        scale = Scale.mean_detection(found.detection(small.attributes), 0.4)
        frame = found.to_frame(small, scale=scale)
        indices, y = small.entries()
        np.testing.assert_array_equal(frame["count"], y)
        np.testing.assert_array_equal(frame["rate"], scale.rate(found.rate(indices)))
        known = small.rows_of(indices) >= 0
        p = found.detection(small.attributes_at(indices[known]))
        np.testing.assert_allclose(frame["detection"][known], scale.detection(p), rtol=1e-14)
        elsewhere = scale.detection(found.mean_detection)
        np.testing.assert_allclose(frame["detection"][~known], elsewhere)
        np.testing.assert_allclose(frame["rate"] * frame["detection"], frame["expected"])
        assert list(frame.columns)[:4] == [*small.modes, "count"]

    def test_draws_give_intervals(self, small, found):
        frame = found.to_frame(small, level=0.5)
        indices, _ = small.entries()
        known = small.rows_of(indices) >= 0
        free = Scale(1.0, "as fitted", False)
        rate = found.quantity("rate", small, indices, free, 0.5)
        np.testing.assert_array_equal(frame["rate_low"], rate.low)
        z = small.attributes_at(indices[known])
        expected = found.expected(indices[known], z, spread=True, level=0.5)
        np.testing.assert_allclose(frame["expected_high"][known], expected.high, rtol=1e-12)
        assert frame.loc[~known, ["detection_low", "expected_high"]].isna().all(axis=None)
        for name in ("rate", "detection", "expected"):
            at = frame[known]
            assert at[name].between(at[f"{name}_low"], at[f"{name}_high"]).all()


def test_means_of_groups_of_one_entry_are_entries(small, found):
    where, z = small.attribute_indices, small.attributes
    alone = np.arange(len(where))
    for mean, single in (
        (found.mean("rate", where, groups=alone), found.rate(where, spread=True)),
        (found.mean("detection", where, z, groups=alone), found.detection(z, spread=True)),
        (found.mean("expected", where, z, groups=alone), found.expected(where, z, spread=True)),
    ):
        np.testing.assert_allclose(mean.estimate, single.estimate)
        np.testing.assert_allclose(mean.low, single.low, rtol=1e-5)
        np.testing.assert_allclose(mean.high, single.high, rtol=1e-5)


@pytest.mark.parametrize("level", [0.05, 0.5, 0.9, 0.99])
def test_few_counts_rule_out_what_is_too_large_sooner_than_what_is_too_small(level):
    deviation = np.array([0.0, 0.05, 0.5, 1.0, 2.0, 3.0, 6.0])
    found = interval(np.ones(7), deviation, level, of_counts=True)
    usual = interval(np.ones(7), deviation, level)
    assert (np.diff(found.high) > 0).all()
    assert found.high[0] == 1
    assert found.high[1] == pytest.approx(usual.high[1], rel=0.01)
    assert (found.high <= usual.high).all()
    np.testing.assert_array_equal(found.low, usual.low)

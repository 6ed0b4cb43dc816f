"""The contract that every method of the comparison keeps, and what each finds."""

import sys
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
import torch

from tests.uncletc.made import low_rank
from uncletc import CountTensor, StopReason
from uncletc.baselines import METHODS, PAPER_METHODS

pytestmark = [
    pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::uncletc.MisfitWarning"),
]

FEW = {
    "UncleTC": {"hidden": (4,)},
    "CoSTCo": {"channels": 8, "batch_size": 16},
    "POND": {"inducing": 12, "channels": 4, "batch_size": 16},
    "LightGBM": {"least_entries": 2, "learning_rate": 0.3},
}
OF_ATTRIBUTES = {"UncleTC", "UncleTC(Linear)", "CoSTCo", "LightGBM"}
NO_EXPOSURE = {"HaLRTC", "CoSTCo", "POND"}
UNSEEDED = {"HaLRTC", "Main effects"}  # nothing in them is random


@pytest.fixture(params=list(METHODS))
def method(request):
    return METHODS[request.param]


def given(method, **values):
    return method.settings(**({"rank": 2} if method.has_rank else {}) | values)


def run(method, counts, *, callback=None, **values):
    """Fit with few iterations, unless stated otherwise."""
    chosen = {"max_iter": 6} | FEW.get(method.name, {}) | values
    if not method.has_rank:
        chosen.pop("rank", None)
    return method.fit(counts, given(method, **chosen), callback=callback)


@cache
def plain(method, counts):
    """A fit with few iterations and nothing else, made once."""
    return run(method, counts)


def every(shape):
    return np.argwhere(np.ones(shape))


def predictions(found, counts):
    """λ and ŷ of all entries, ŷ with the attributes that the counts know."""
    entries = every(counts.shape)
    z = counts.attributes_at(entries, unknown_as_nan=True)
    return np.array([found.rate(entries), found.expected(entries), found.expected(entries, z)])


def error(found, whole):
    difference = found.expected(every(whole.shape)) - whole.ravel()
    return float(np.abs(difference).mean() / whole.mean())


BAD = [
    ("rank", 0, "rank must be at least 1, got 0"),
    ("max_iter", -1, "max_iter must be at least 0, got -1"),
    ("seed", 2**63, r"seed must be below 2\*\*63"),
    ("tol", float("nan"), "tol must be .*at least 0.*, got nan"),
    ("sweeps", 0, "sweeps must be at least 1, got 0"),
    ("ridge", -1.0, "ridge must be at least 0 and finite, got -1"),
    ("growth", 0.5, "growth must be at least 1 and finite, got 0.5"),
    ("alpha", 0.0, "alpha must be positive and finite, got 0"),
    ("fibres", 1, "fibres must be True or False, got 1"),
    ("held", "place", "held must be one of"),
    ("learning_rate", 0.0, "learning_rate must be positive and finite"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_bad_settings_are_named(name, value, message):
    concerned = [m for m in METHODS.values() if name in {f.name for f in fields(m.settings)}]
    assert concerned
    for method in concerned:
        with pytest.raises((ValueError, TypeError), match=message):
            given(method, **{name: value})


class TestHeldOut:
    def test_order_of_the_data_does_not_matter(self, method, small, rng):
        rows, known = rng.permutation(small.n_observed), rng.permutation(small.n_attributed)
        z = {name: getattr(small, name)[known] for name in ("attributes", "attribute_indices")}
        other = replace(small, indices=small.indices[rows], counts=small.counts[rows], **z)
        first, second = plain(method, small), run(method, other)
        np.testing.assert_array_equal(predictions(first, small), predictions(second, small))
        assert first.counts_digest == small.digest
        assert second.counts_digest == other.digest

    def test_held_out_counts_do_not_matter(self, method, small):
        seen = np.arange(small.n_observed) % 4 > 0
        changed = small.with_counts(np.where(seen, small.counts, 10**6))
        first, second = (run(method, counts.subset(seen)) for counts in (small, changed))
        np.testing.assert_array_equal(predictions(first, small), predictions(second, small))

    def test_missing_is_not_zero(self, method):
        shape = (6, 5, 4)
        rows = np.random.default_rng(1).permutation(120)[:60]
        counts = CountTensor(shape, every(shape)[rows], np.full(60, 100))
        found = run(method, counts, max_iter=200 if method.name == "HaLRTC" else 60, rank=1)
        np.testing.assert_allclose(found.expected(every(shape)), 100.0, rtol=0.08)


class TestRecords:
    def test_progress_that_looking_does_not_change(self, method, small):
        seen = []
        looks = []

        def look(record):
            seen.append(record)
            looks.append(predictions(record.current(), small))

        found = run(method, small, callback=look)
        assert tuple(seen) == found.history
        assert [record.iteration for record in seen] == list(range(len(seen)))
        assert np.isfinite([record.objective for record in seen]).all()
        assert all(record.current is None for record in found.history)
        assert type(found).__name__ in repr(found)
        end = predictions(plain(method, small), small)
        np.testing.assert_array_equal(predictions(found, small), end)
        np.testing.assert_allclose(looks[-1], end, rtol=1e-6)
        assert not np.array_equal(looks[0], looks[-1])

    def test_cancelled_where_the_callback_says(self, method, small):
        found = run(method, small, callback=lambda record: record.iteration == 2)
        assert found.stop is StopReason.CALLBACK
        assert found.history[-1].iteration == 2
        assert np.isfinite(predictions(found, small)).all()

    def test_the_seed_decides(self, method, small):
        before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        first = run(method, small, seed=3)
        assert torch.equal(torch.get_rng_state(), before[0])
        assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
        torch.rand(3)
        second = run(method, small, seed=3)
        torch.set_rng_state(before[0])
        np.testing.assert_array_equal(predictions(first, small), predictions(second, small))
        if method.name not in UNSEEDED:
            other = predictions(plain(method, small), small)
            assert not np.array_equal(predictions(first, small), other)


class TestAccuracy:
    @pytest.mark.parametrize("name", ["UncleTC", "NTF-CPD-KL", "NTF-CPD-LS", "NTF-Tucker-LS"])
    def test_low_rank_counts_are_found(self, name):
        counts, whole = low_rank((9, 8, 7), 2, 0.7)
        extra = {"ridge": 0.0} if "LS" in name else {}
        tol = 1e-7 if name == "UncleTC" else 1e-9
        assert error(run(METHODS[name], counts, max_iter=1500, tol=tol, **extra), whole) < 0.01

    @pytest.mark.parametrize("name", ["CoSTCo", "POND"])
    def test_networks_beat_a_constant(self, name):
        counts, whole = low_rank((9, 8, 7), 2, 0.8)
        held_out = np.ones(whole.shape, dtype=bool)
        held_out[tuple(counts.indices.T)] = False
        values = {"inducing": 24, "batch_size": 64, "learning_rate": 0.02}
        values = values if name == "POND" else {"channels": 32}
        found = run(METHODS[name], counts, rank=4, max_iter=40, **values)
        off = np.abs(found.expected(np.argwhere(held_out)) - whole[held_out]).mean()
        assert off < 0.4 * np.abs(whole[held_out] - counts.counts.mean()).mean()

    @pytest.mark.parametrize("name", sorted({*PAPER_METHODS, "Main effects"} - NO_EXPOSURE))
    def test_rates_are_proportional_to_exposure(self, name):
        shape, rng = (8, 7, 6), np.random.default_rng(3)
        exposure = 10.0 ** rng.integers(0, 4, (8, 1, 6))
        level = np.multiply.outer(np.arange(1, 9), np.arange(2, 9))[:, :, None]
        whole = (exposure * level).astype(int)
        entries = every(shape)[rng.permutation(whole.size)[:200]]
        counts = CountTensor(shape, entries, whole[tuple(entries.T)], exposure=exposure)
        extra = {"ridge": 1e-6} if "LS" in name else {}
        found = run(METHODS[name], counts, rank=1, max_iter=1000, tol=1e-9, **extra)
        assert error(found, whole) < 0.02

    def test_trees_find_steps_of_attributes(self):
        shape, rng = (12, 10, 8), np.random.default_rng(7)
        z = rng.uniform(size=(*shape, 2))
        mean, entries = np.where(z[..., 0] > 0.5, 80.0, 10.0), every(shape)
        counts = CountTensor(shape, entries, rng.poisson(mean).ravel(), attributes=z.reshape(-1, 2))
        found = METHODS["LightGBM"].fit(counts, METHODS["LightGBM"].settings())
        difference = found.expected(entries, z.reshape(-1, 2)) - mean.ravel()
        assert np.abs(difference).mean() < 0.15 * mean.mean()


def test_attributes_are_used_or_ignored(method, small):
    found = run(method, small, max_iter=40)
    entries = small.attribute_indices
    z = small.attributes_at(entries)
    with_z, without = found.expected(entries, z), found.expected(entries)
    assert (found.n_attributes == 3) is (method.name in OF_ATTRIBUTES)
    assert np.array_equal(with_z, without) is (method.name not in OF_ATTRIBUTES)
    half = np.where(np.arange(len(z))[:, None] % 2 == 0, z, np.nan)
    mixed = np.where(np.arange(len(z)) % 2 == 0, with_z, without)
    np.testing.assert_allclose(found.expected(entries, half), mixed, rtol=1e-5)
    if method.name not in OF_ATTRIBUTES:
        assert found.expected([[0, 0, 0]], [[1.0]]).shape == (1,)
        return
    with pytest.raises(ValueError, match=r"attributes must have (shape|3 columns)"):
        found.expected([[0, 0, 0]], [[1.0]])


class TestEdges:
    def test_hardly_any_counts(self, method):
        with pytest.raises(ValueError, match="counts must hold at least 1 observed entry, got 0"):
            run(method, CountTensor((2, 3), [], []))
        one = CountTensor((3, 2, 4), [[1, 0, 2]], [7], attributes=[[0.5, -1.0]])
        assert_sound(run(method, one), one)

    @pytest.mark.parametrize("value", [0, 10**9])
    def test_all_counts_equal(self, method, small, value):
        counts = small.with_counts(np.full(small.n_observed, value))
        assert_sound(run(method, counts), counts)

    def test_empty_and_zero_slices(self, method, small):
        zeros = small.with_counts(np.where(small.indices[:, 0] == 2, 0, small.counts))
        counts = zeros.subset(small.indices[:, 1] != 3)
        assert_sound(run(method, counts, max_iter=30), counts)

    @pytest.mark.parametrize("name", [n for n, m in METHODS.items() if m.dense])
    def test_a_tensor_too_large_to_hold(self, name):
        counts = CountTensor((3000, 3000, 2), [[0, 0, 0]], [1])
        message = r"holds every entry.*at most 16,777,216; shape \(3000, 3000, 2\) has 18,000,000"
        with pytest.raises(ValueError, match=message):
            run(METHODS[name], counts)

    def test_without_lightgbm(self, small, monkeypatch):
        monkeypatch.setitem(sys.modules, "lightgbm", None)
        with pytest.raises(ImportError, match=r"not installed here; .* \"uncletc\[boosting\]\"$"):
            run(METHODS["LightGBM"], small)


def assert_sound(found, counts):
    values = predictions(found, counts)
    assert np.isfinite(values).all()
    assert (values >= 0).all()

"""fit by block coordinate descent: what it promises around the solver, and at the edges."""

import math
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from uncletc import (
    ConvergenceWarning,
    CountTensor,
    FitError,
    FitSettings,
    StopReason,
    fit,
    simulate,
)
from uncletc.fitting.fit import one_thread


def bcd(**values):
    """Settings of block coordinate descent; the joint solver has tests of its own."""
    return FitSettings.of(**({"solver": "bcd", "max_iter": 100} | values))


def same(a, b):
    """Whether two fits agree bit for bit."""
    weights = [[] if found.network is None else found.network.weights() for found in (a, b)]
    found = zip((a, b), weights, strict=True)
    first, second = ([*each.factors, each.observed_detection, *own] for each, own in found)
    return objectives(a) == objectives(b) and all(map(np.array_equal, first, second))


def objectives(found):
    return [record.objective for record in found.history]


class TestRecords:
    def test_callback_sees_the_start_first(self, small):
        seen = []
        settings = bcd(rank=2, hidden=(3,), max_iter=5, tol=0.0)
        with pytest.warns(ConvergenceWarning):
            found = fit(small, settings, callback=seen.append)
        assert tuple(seen) == found.history
        assert [record.iteration for record in seen] == [0, 1, 2, 3, 4, 5]
        seconds = [record.seconds for record in seen]
        assert seconds == sorted(seconds)
        assert seconds[0] >= 0

    def test_small_changes_stop_it(self, small):
        found = fit(small, bcd(rank=2, tol=1e-2))
        assert found.stop is StopReason.TOLERANCE
        changes = np.abs(np.diff(objectives(found)) / np.asarray(objectives(found)[:-1]))
        assert changes[-1] < 1e-2
        assert (changes[:-1] >= 1e-2).all()

    def test_running_out_of_iterations_warns(self, small):
        with pytest.warns(ConvergenceWarning, match="max_iter was reached") as caught:
            found = fit(small, bcd(rank=2, max_iter=2, tol=0.0))
        assert found.stop is StopReason.MAX_ITER
        assert len(found.history) == 3
        assert [warning.filename for warning in caught] == [__file__]


def test_same_settings_same_bits(small, short_fit):
    state = torch.get_rng_state()
    first = short_fit(small, seed=3)
    torch.manual_seed(99)
    torch.rand(5)
    used = torch.get_rng_state()
    second = short_fit(small, seed=3)
    assert torch.equal(torch.get_rng_state(), used)
    torch.set_rng_state(state)
    assert same(first, second)
    assert not same(first, short_fit(small, seed=4))


def blas_threads():
    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_one_thread_inside_and_the_old_number_after(small):
    before, inside = torch.get_num_threads(), []
    torch.set_num_threads(2)
    with threadpool_limits(2, user_api="blas"):
        fit(
            small,
            bcd(rank=1),
            callback=lambda _: inside.extend([torch.get_num_threads(), *blas_threads()]) or True,
        )
        assert set(inside) == {1}
        assert torch.get_num_threads() == 2
        assert set(blas_threads()) == {2}
    torch.set_num_threads(before)


def test_overlapping_fits_leave_torch_with_the_threads_it_had():
    before, found = torch.get_num_threads(), []
    both_within, first_left = threading.Barrier(2), threading.Event()

    def fit(first):
        with one_thread():
            both_within.wait(10)
            found.append(torch.get_num_threads())
            if not first:
                first_left.wait(10)
        if first:
            first_left.set()

    torch.set_num_threads(3)
    try:
        fits = [threading.Thread(target=fit, args=(first,)) for first in (True, False)]
        for each in fits:
            each.start()
        for each in fits:
            each.join()
        later = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
        later.start()
        later.join()
    finally:
        torch.set_num_threads(before)
    assert found == [1, 1, 3]


@pytest.fixture(scope="module")
def problem():
    counts, _ = simulate((8, 7, 6), 3, observed=0.6, attributed=0.6, n_attributes=3, seed=2)
    return counts


@pytest.fixture(scope="module")
def known(problem, short_fit):
    return short_fit(problem, 60, rank=3, tol=0.0, epochs=10)


class TestWarmStart:
    @pytest.mark.parametrize("changes", [{}, {"rank": 4}], ids=str)
    def test_begins_near_where_the_start_ended(self, problem, known, short_fit, changes):
        settings = {"rank": 3, "epochs": 10, **changes}
        warm = short_fit(problem, 10, start=known, **settings)
        blank = float(problem.counts.mean() * (1 - np.log(problem.counts.mean())))
        ended = objectives(known)[-1]
        assert abs(objectives(warm)[0] - ended) < 0.05 * (blank - ended)
        assert warm.rank == settings["rank"]
        assert objectives(warm)[-1] <= objectives(warm)[0]

    def test_the_start_is_not_changed(self, problem, known, short_fit):
        before = [known.rate_tensor(), known.detection(problem.attributes)]
        short_fit(problem, 5, start=known, rank=3)
        after = [known.rate_tensor(), known.detection(problem.attributes)]
        assert all(map(np.array_equal, before, after))

    def test_another_shape_is_refused(self, small, known):
        with pytest.raises(ValueError, match=r"start .*\(6, 5, 4\), got \(8, 7, 6\)"):
            fit(small, bcd(rank=2), start=known)

    def test_what_is_no_counts_or_no_fit_is_refused(self, small):
        with pytest.raises(TypeError, match="counts must be CountTensor, got list"):
            fit([[1, 2]], rank=2)
        with pytest.raises(TypeError, match="start must be Fit, got str"):
            fit(small, rank=2, start="fit.npz")

    def test_all_zero_counts_can_come_back(self, short_fit):
        nothing = short_fit(CountTensor.from_dense(np.zeros((4, 5))), 2, rank=1)
        warm = short_fit(CountTensor.from_dense(np.full((4, 5), 20)), 20, rank=1, start=nothing)
        np.testing.assert_allclose(warm.rate_tensor(), 20.0, rtol=1e-3)


class TestEdges:
    def test_zero_iterations(self, small):
        found = fit(small, bcd(rank=2, max_iter=0))  # and no warning
        assert [record.iteration for record in found.history] == [0]
        assert found.stop is StopReason.MAX_ITER
        assert np.isfinite(found.rate_tensor()).all()

    def test_empty_slice_is_the_mean_of_the_others(self, small, short_fit):
        found = short_fit(small.subset(small.indices[:, 1] != 3))
        rows = [0, 1, 2, 4]
        np.testing.assert_allclose(found.factors[1][3], found.factors[1][rows].mean(axis=0))
        rates = found.rate_tensor()
        assert np.isfinite(rates).all()
        np.testing.assert_allclose(rates[:, 3], rates[:, rows].mean(axis=1))

    @pytest.mark.parametrize("loss", ["ls", "kl"])
    def test_all_zero_counts(self, small, short_fit, loss):
        found = short_fit(small.with_counts(np.zeros(small.n_observed, dtype=int)), 5, loss=loss)
        assert (found.rate_tensor() == 0).all()
        p = found.detection(small.attributes)
        assert ((p > 0) & (p <= 1)).all()
        assert np.isfinite(objectives(found)).all()

    @pytest.mark.parametrize("loss", ["ls", "kl"])
    def test_huge_counts(self, small, short_fit, loss):
        huge = small.with_counts(small.counts * 10**9 // small.counts.max())
        found = short_fit(huge, 20, loss=loss, tol=0.0)
        assert huge.counts.max() == 10**9
        p = found.observed_detection
        total = (found.rate(huge.indices) * p).sum()
        assert total == pytest.approx(huge.counts.sum(), rel=1e-6)
        assert np.isfinite(objectives(found)).all()

    @pytest.mark.parametrize("attributes", [None, [[0.3]]])
    def test_one_observed_entry(self, short_fit, attributes):
        counts = CountTensor((3, 4), [[1, 2]], [7], attributes=attributes)
        found = short_fit(counts, 10)
        rates = found.rate_tensor()
        assert found.rate([[1, 2]]) * found.observed_detection == pytest.approx(7.0)
        np.testing.assert_allclose(rates, rates[1, 2])  # every other row is the mean of one row

    def test_a_diverging_network_is_an_error(self, small):
        settings = bcd(rank=2, learning_rate=1e300)
        with pytest.raises(FitError, match="nan at iteration 1; lower learning_rate"):
            fit(small, settings)


def test_the_history_is_finite_or_an_error(small):
    extreme = replace(bcd(rank=2), mu=1e300, max_iter=0)
    assert math.isfinite(objectives(fit(small, extreme))[0])

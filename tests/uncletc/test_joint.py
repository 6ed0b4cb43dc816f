"""The joint solver: what it promises, on ordinary data and at the edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uncletc import (
    CountTensor,
    FitSettings,
    Joint,
    MisfitWarning,
    Scale,
    StopReason,
    fit,
    metrics,
    simulate,
)
from uncletc.model.detection import JointDetection
from uncletc.solvers.joint import rounds
from uncletc.solvers.network import stage

SLOW = pytest.mark.slow


def run(counts, iterations=30, *, start=None, **choices):
    """Fit for some rounds; a callback ends it, so that it cannot run out of them."""
    chosen = FitSettings.of(**({"rank": 2, "hidden": (4,), "max_iter": iterations + 1} | choices))
    return fit(counts, chosen, start=start, callback=lambda now: now.iteration >= iterations)


def same(a, b):
    """Whether two fits agree bit for bit, in factors and curves of all members."""
    arrays = [
        [array for m in found.members for array in (*m.factors, coefficients(m.network))]
        for found in (a, b)
    ]
    return all(map(np.array_equal, *arrays))


def coefficients(network):
    return network.coefficients if isinstance(network, JointDetection) else np.empty(0)


@pytest.fixture(scope="module")
def paper():
    """The paper's simulation at γ_Ω = .3, with few counts detected."""
    return simulate(observed=0.3, seed=2)


@pytest.fixture(scope="module")
def found(paper):
    return fit(paper[0], FitSettings(rank=3))


@pytest.fixture(scope="module")
def several(paper):
    return run(paper[0], 120, rank=3, members=4)


class TestAccuracy:
    def test_recovers_the_truth(self, paper, found):
        counts, truth = paper
        p = truth.detection[tuple(counts.attribute_indices.T)]
        assert found.stop is StopReason.TOLERANCE
        assert metrics.mae_rate(found.rate_tensor(), truth.rate) < 0.03
        assert metrics.mae_detection(found.detection(counts.attributes), p) < 0.02

    @pytest.mark.parametrize("shape", [(30, 40), pytest.param((8, 9, 10, 7), marks=SLOW)], ids=str)
    def test_two_and_four_modes(self, shape):
        counts, truth = simulate(shape, 2, observed=0.6, attributed=0.6, n_attributes=3, seed=1)
        fitted = fit(counts, FitSettings(rank=2, max_iter=1000))
        assert metrics.mae_rate(fitted.rate_tensor(), truth.rate) < 0.06

    @pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
    def test_expected_counts_add_up_to_the_reported_ones(self):
        counts, _ = simulate((20, 20, 10), 2, observed=0.5, attributed=0.5, n_attributes=2, seed=4)
        skewed = counts.with_counts(counts.counts**2 // 40)  # large ones weigh little
        found = fit(skewed, FitSettings(rank=2, hidden=(), max_iter=100))
        z = skewed.attributes_at(skewed.indices)
        expected = found.expected(skewed.indices, z)
        assert expected.sum() == pytest.approx(skewed.counts.sum())
        outlier = skewed.counts.copy()
        outlier[0] = 10**8  # which all others would follow
        found = fit(skewed.with_counts(outlier), FitSettings(rank=2, hidden=(), max_iter=100))
        assert found.expected(skewed.indices[1:], z[1:]).sum() < 2 * skewed.counts.sum()

    def test_larger_mu_holds_entries_closer_to_g(self, small):
        far, near = (run(small, mu=mu) for mu in (1.0, 1e6))
        rows = small.attribute_rows
        at = rows >= 0

        def distance(fitted):
            g = fitted.detection(small.attributes[rows[at]])
            return float(np.abs(np.log(fitted.observed_detection[at] / g)).mean())

        assert distance(near) < 0.01 < distance(far)


class TestScaleAndMembers:
    def test_largest_p_is_one_and_expected_counts_are_free_of_scale(self, paper, several):
        counts, _ = paper
        p, rate = several.detection(counts.attributes), several.rate(counts.attribute_indices)
        assert p.max() == pytest.approx(1.0)
        scale = Scale.mean_detection(p, 0.25)
        expected = several.expected(counts.attribute_indices, counts.attributes)
        np.testing.assert_allclose(scale.detection(p) * scale.rate(rate), expected, rtol=1e-12)

    def test_members_agree_in_scale_and_order(self, paper, several):
        counts, _ = paper
        assert len(several.members) == 4
        first = several.members[0]
        for other in several.others:
            ratio = other.detection(counts.attributes) / first.detection(counts.attributes)
            assert np.median(ratio) == pytest.approx(1.0, rel=1e-9)
            for ours, theirs in zip(other.factors, first.factors, strict=True):
                norms = np.linalg.norm(ours, axis=0) * np.linalg.norm(theirs, axis=0)
                cosines = (ours * theirs).sum(0) / norms
                assert (cosines > 0.95).all()

    @pytest.mark.parametrize("seed", [0, pytest.param(1, marks=SLOW)])
    def test_intervals_cover_most_of_the_truth(self, seed):
        counts, truth = simulate(observed=0.3, seed=seed)
        fitted = run(counts, 150, rank=3)
        where = counts.attribute_indices
        interval = fitted.expected(where, counts.attributes, spread=True)
        true = (truth.rate * truth.detection)[tuple(where.T)]
        covered = float(((interval.low <= true) & (true <= interval.high)).mean())
        assert 0.75 < covered < 0.99

    def test_a_fit_that_still_runs_has_no_intervals(self, small):
        seen = []

        def keep(now):
            seen.append(now.current())
            return now.iteration >= 2

        finished = fit(small, FitSettings(rank=2), callback=keep)
        sentence = "intervals need a finished fit by the joint solver, of counts above 0"
        with pytest.raises(ValueError, match=sentence):
            seen[-1].rate([[0, 0, 0]], spread=True)
        assert finished.rate([[0, 0, 0]], spread=True).low[0] > 0

    def test_files_keep_all_members(self, reloaded, paper, several):
        back = reloaded(several)
        assert same(back, several)
        z = paper[0].attributes
        a, b = (f.detection(z, spread=True) for f in (back, several))
        np.testing.assert_array_equal(a.high, b.high)
        assert back.history == several.history


class TestInteractive:
    def test_a_wish_to_stop_is_heard_while_a_network_is_trained(self, small, monkeypatch):
        training = []

        def train(*given, **_):
            pause = given[-1]
            for step in range(5):
                training.append(step)
                pause()

        monkeypatch.setattr(stage, "learn_network", train)
        found = fit(small, FitSettings(rank=2), callback=lambda _: len(training) == 3)
        assert found.stop is StopReason.CALLBACK
        assert training == [0, 1, 2]

    @pytest.mark.parametrize("change", [{"rank": 4}, {"hidden": (7, 7), "members": 2}])
    def test_warm_start_begins_near_where_it_ended(self, paper, found, change):
        chosen = {"rank": 3, "hidden": (20, 20, 20)} | change
        warm = run(paper[0], 8, start=found, **chosen)
        cold = run(paper[0], 8, **chosen)
        truth = paper[1].rate
        off = metrics.mae_rate(warm.rate_tensor(), truth)
        assert off < 0.06
        assert off < metrics.mae_rate(cold.rate_tensor(), truth)


def test_no_dense_tensor_is_made():
    rng = np.random.default_rng(0)
    where, y = rng.integers(0, 5_000, (500, 3)), rng.poisson(5, 500)
    counts = CountTensor((5_000,) * 3, where, y, attributes=rng.normal(size=(500, 2)))
    assert np.isfinite(run(counts, 3).rate(counts.indices)).all()


class TestEdges:
    def finite(self, counts, fitted):
        assert np.isfinite([record.objective for record in fitted.history]).all()
        rates = fitted.rate(np.argwhere(np.ones(counts.shape)))
        assert np.isfinite(rates).all()
        assert (rates >= 0).all()
        p = fitted.detection(counts.attributes)
        assert ((p > 0) & np.isfinite(p)).all()

    def test_all_zero_counts(self, small):
        zeros = small.with_counts(np.zeros(small.n_observed, dtype=int))
        with pytest.warns(MisfitWarning, match="no count is above 0"):
            fitted = fit(zeros, rank=2, hidden=())
        self.finite(zeros, fitted)
        assert fitted.rate_tensor().max() < 1e-3
        assert fitted.draws is None

    def test_empty_slice_is_like_the_others(self, small):
        counts = small.subset(small.indices[:, 1] != 3)
        fitted = run(counts, 60)
        self.finite(counts, fitted)
        rows = [0, 1, 2, 4]
        assert fitted.factors[1][3] == pytest.approx(fitted.factors[1][rows].mean(axis=0), rel=0.1)

    @settings(deadline=None, max_examples=25)
    @given(st.data())
    def test_any_small_tensor(self, data):
        shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=4)))
        cells = list(np.ndindex(shape))
        some = st.lists(st.sampled_from(cells), min_size=1, unique=True)
        observed, attributed = data.draw(some), data.draw(some)
        largest = data.draw(st.sampled_from([0, 1, 30, 10**9]))
        size = data.draw(st.integers(0, 3))
        value = st.sampled_from([0.0, 1.0, -1.0, 0.3, 1e6])
        row = st.lists(value, min_size=size, max_size=size)
        z = [data.draw(row) for _ in attributed]
        counts = CountTensor(
            shape,
            observed,
            [data.draw(st.integers(0, largest)) for _ in observed],
            attributes=np.array(z).reshape(len(attributed), size) if size else None,
            attribute_indices=attributed if size else None,
        )
        fitted = run(
            counts,
            12,
            rank=data.draw(st.integers(1, 5)),
            mu=data.draw(st.sampled_from([1e-3, 1.0, 2000.0, 1e12])),
            hidden=data.draw(st.sampled_from([(), (3,), (4, 2)])),
            members=data.draw(st.integers(1, 3)),
        )
        self.finite(counts, fitted)


def test_many_counts_begin_on_a_sample_and_end_on_all(monkeypatch):
    counts, truth = simulate((30, 30, 30), 2, observed=0.9, attributed=0.9, seed=5)
    monkeypatch.setattr(rounds, "_LEAST_SAMPLE", 6_000)
    monkeypatch.setattr(rounds, "_SAMPLED", 0)
    found = fit(counts, FitSettings(rank=2, hidden=(5,), solver=Joint(network="never")))
    assert found.stop is StopReason.TOLERANCE
    assert len(found.observed_detection) == counts.n_observed
    assert metrics.mae_rate(found.rate_tensor(), truth.rate) < 0.0033  # 0.0027 with all at once


def test_one_value_far_from_all_others_leaves_their_p_as_it_is():
    """Where curves had to span its range they were flat, and p held .24 of the time."""
    rng = np.random.default_rng(8000)
    z, where = rng.uniform(0, 1, (300, 1)), np.argwhere(np.ones((20, 15)))
    rate = np.exp(rng.normal(3, 0.8, (20, 1)) + rng.normal(0, 0.5, 15)).ravel()
    y = rng.poisson(rate / (1 + np.exp(2 - 2 * z[:, 0])))
    found = []
    for first in (z[0], 1000.0, -999.0):
        z[0] = first
        found.append(fit(CountTensor((20, 15), where, y, attributes=z), rank=1).detection(z)[1:])
    logs = [np.log(p / p.mean()) for p in found]
    for log in logs[1:]:
        np.testing.assert_allclose(log, logs[0], atol=0.2)


def test_rows_of_no_attributes_are_as_none():
    y, _ = simulate((8, 8, 8), rank=2, observed=0.4, seed=1)
    none = CountTensor(y.shape, y.indices, y.counts)
    rows = CountTensor(y.shape, y.indices, y.counts, attributes=np.empty((y.n_observed, 0)))
    ours = (run(counts).expected(y.indices).sum() for counts in (none, rows))
    np.testing.assert_allclose(list(ours), y.counts.sum(), rtol=1e-6)


@pytest.mark.parametrize("choices", [{}, {"hidden": ()}, {"signs": {"z1": 1}}])
def test_p_by_what_is_the_same_within_a_row_is_left_open_and_said(choices):
    """Rows have factors of their own: that p hardly differs must not follow from these."""
    rng = np.random.default_rng(3)
    z = rng.uniform(0, 1, (20, 1))
    p = 1 / (1 + np.exp(2.5 - 3 * z))
    y = rng.poisson(20 * p * np.exp(rng.normal(0, 0.5, (20, 1)) + rng.normal(0, 0.5, 15)))
    where, same = np.argwhere(y >= 0), np.repeat(z, 15, axis=0)
    found = fit(CountTensor(y.shape, where, y.ravel(), attributes=same), rank=1, **choices)
    ends = found.confint().loc[("detection", "z1"), ["low", "high"]]
    assert np.log(ends["high"] / ends["low"]) > 1
    assert "differs mostly by mode 1" in str(found.summary())

"""The blocks of Algorithm 1 against slow references, and what the whole recovers."""

import math
from itertools import product
from typing import NamedTuple

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

from tests.starting import WHOLE, start_of
from uncletc import BCD, CountTensor, FitSettings, fit, metrics, simulate
from uncletc.solvers import bcd
from uncletc.solvers.poisson import Problem, rate_at, update_factor

LOSSES = ("ls", "kl")


class State(NamedTuple):
    """Random data and a random point of the search; Ω and Ξ overlap in part."""

    problem: Problem
    factors: list[Tensor]
    p: Tensor
    g: Tensor

    @property
    def rate(self):
        return rate_at(self.factors, self.problem.indices)


def random_state(seed, shape, rank=2, mean=5.0, n_attributes=2):
    rng = np.random.default_rng(seed)
    n_entries = math.prod(shape)
    observed, attributed = (
        np.sort(rng.choice(n_entries, rng.integers(1, n_entries + 1), replace=False))
        for _ in range(2)
    )
    counts = CountTensor(
        shape,
        np.column_stack(np.unravel_index(observed, shape)),
        rng.poisson(mean, len(observed)),
        attributes=rng.standard_normal((len(attributed), n_attributes)),
        attribute_indices=np.column_stack(np.unravel_index(attributed, shape)),
    )
    factors = [torch.from_numpy(rng.uniform(0, 2, (size, rank))) for size in shape]
    p, g = (torch.from_numpy(rng.uniform(0.01, 1, n)) for n in (len(observed), len(attributed)))
    return State(Problem(counts), factors, p, g)


def loss_of(g, p, loss):
    return (g - p) ** 2 if loss == "ls" else g * math.log(g / p) - g + p


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(4, 5), (2, 3, 2, 3)])
def test_the_objective_agrees_with_plain_loops(shape, loss):
    problem, factors, p, g = state = random_state(3, shape, rank=3)
    mu = 7.0
    rows = iter(problem.rows.tolist())
    likelihood, misfit = 0.0, 0.0
    for i, entry in enumerate(problem.indices.tolist()):
        y, p_i = float(problem.counts[i]), float(p[i])
        rate = sum(
            math.prod(float(factors[k][entry[k], f]) for k in range(len(shape))) for f in range(3)
        )
        likelihood += rate * p_i - y * math.log(rate) - y * math.log(p_i)
        if problem.attributed[i]:
            misfit += loss_of(float(g[next(rows)]), p_i, loss)
    expected = likelihood / len(p) + mu / len(g) * misfit
    found = bcd.objective(problem, state.rate, p, g, mu, loss)
    assert misfit > 0
    assert found == pytest.approx(expected, rel=1e-12)


class TestDetectionStep:
    """Every closed form against a numerical minimiser over [0, 1]."""

    GRID = tuple(product((0.0, 1e-12, 1.0, 50.0, 1e4), (0, 1, 30, 10_000), (1e-6, 0.3, 1.0)))
    MORE = 30  # attributed entries without a count, so that |Ω| and |Ξ| differ

    def problem(self, *, attributed):
        n, more = len(self.GRID), self.MORE
        known = [[i, 0] for i in range(n)] * attributed + [[i, 1] for i in range(more)]
        counts = CountTensor(
            (n, 2),
            [[i, 0] for i in range(n)],
            [y for _, y, _ in self.GRID],
            attributes=np.zeros((len(known), 1)),
            attribute_indices=known,
        )
        rate = torch.tensor([rate for rate, _, _ in self.GRID], dtype=torch.float64)
        g = [g for _, _, g in self.GRID] * attributed + [0.5] * more
        return Problem(counts), rate, torch.tensor(g, dtype=torch.float64)

    @pytest.mark.parametrize("loss", LOSSES)
    @pytest.mark.parametrize("mu", [1e-6, 2000.0, 1e8])
    def test_case_1_counted_with_attributes(self, mu, loss):
        problem, rate, g = self.problem(attributed=True)
        n, s = len(rate), len(g)
        old = torch.full_like(rate, 0.5)
        found = bcd.update_detection(problem, rate, g, old, mu, loss).tolist()
        for (rate_i, y, g_i), p in zip(self.GRID, found, strict=True):

            def cost(p, rate_i=rate_i, y=y, g_i=g_i):
                likelihood = rate_i * p - (y * math.log(p) if y else 0.0)
                return likelihood / n + mu / s * loss_of(g_i, p, loss)

            best = slow_minimum(cost)
            assert 0 <= p <= 1
            assert p == pytest.approx(best, rel=1e-5, abs=1e-6), (rate_i, y, g_i)

    @pytest.mark.parametrize("loss", LOSSES)
    def test_case_3_only_a_count(self, loss):
        problem, rate, g = self.problem(attributed=False)
        old = torch.full_like(rate, 0.37)
        found = bcd.update_detection(problem, rate, g, old, 5.0, loss).tolist()
        for (rate_i, y, _), p in zip(self.GRID, found, strict=True):
            if rate_i == 0 and y == 0:
                assert p == 0.37  # every p is as good
                continue
            best = slow_minimum(
                lambda p, rate_i=rate_i, y=y: rate_i * p - (y * math.log(p) if y else 0.0)
            )
            assert p == pytest.approx(best, rel=1e-5, abs=1e-6), (rate_i, y)
            expected = min(1.0, y / rate_i) if rate_i else 1.0
            assert p == pytest.approx(expected, rel=1e-14)


def slow_minimum(cost):
    """The minimiser over [0, 1] of a convex function."""
    options = {"xatol": 1e-11, "maxiter": 500}
    return float(minimize_scalar(cost, bounds=(0, 1), method="bounded", options=options).x)


@hypothesis.settings(max_examples=30, deadline=None, derandomize=True, database=None)
@hypothesis.given(
    seed=st.integers(0, 10**6),
    shape=st.lists(st.integers(1, 4), min_size=2, max_size=4).map(tuple),
    rank=st.integers(1, 3),
    loss=st.sampled_from(LOSSES),
    log_mu=st.floats(-8, 8),
    log_mean=st.floats(-2, 5),
)
def test_no_step_raises_the_objective(seed, shape, rank, loss, log_mu, log_mean):
    """No p-step and no U-step does; Adam promises nothing and is left out."""
    problem, factors, p, g = random_state(seed, shape, rank, 10**log_mean)
    mu = 10**log_mu

    def value():
        return bcd.objective(problem, rate_at(factors, problem.indices), p, g, mu, loss)

    last = value()
    for _ in range(3):
        rate = rate_at(factors, problem.indices)
        p = bcd.update_detection(problem, rate, g, p, mu, loss)
        assert ((p >= 0) & (p <= 1)).all()
        now = value()
        assert now <= last + slack(last, now), "p-step"
        last = now
        for mode in range(len(shape)):
            factors[mode] = update_factor(factors, mode, problem, p, 2, 0.0)
            assert (factors[mode] >= 0).all()
            now = value()
            assert now <= last + slack(last, now), f"U-step of mode {mode}"
            last = now


def slack(*values):
    return 1e-10 * max(1.0, *map(abs, values))


def test_simulated_truth_is_recovered():
    """In any order of components and up to the free scale; bounds are twice what is reached."""
    shares = {"observed": 0.5, "attributed": 0.5, "similar": 0.0}
    counts, truth = simulate((12, 12, 12), 2, **shares, n_attributes=4, factor_max=15.0, seed=0)
    settings = FitSettings(rank=2, hidden=(20, 20), solver=BCD(batch_size=512), max_iter=16)
    with start_of(WHOLE // 5):
        found = fit(counts, settings, callback=lambda record: record.iteration == 15)
    assert metrics.mae_rate(found.rate_tensor(), truth.rate) < 0.06
    everywhere = found.detection(truth.attributes.reshape(-1, 4))
    assert metrics.mae_detection(everywhere, truth.detection.ravel()) < 0.17


def test_without_attributes_it_is_a_poisson_decomposition(short_fit):
    rng = np.random.default_rng(3)
    y = rng.poisson(20, (5, 6))
    counts = CountTensor(y.shape, np.argwhere(y >= 0), y.ravel())
    found = short_fit(counts, 30, rank=1, tol=0.0)
    assert found.network is None
    assert (found.observed_detection == 1).all()
    # The maximum-likelihood Poisson fit of rank one to a full matrix is known.
    expected = np.outer(y.sum(1), y.sum(0)) / y.sum()
    np.testing.assert_allclose(found.rate_tensor(), expected, rtol=1e-9)

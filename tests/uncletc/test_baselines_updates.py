"""Updates of the methods against plain loops, numerical minimisers and independent software."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from scipy.optimize import nnls
from scipy.special import digamma, xlogy
from scipy.stats import gamma as gamma_distribution

from uncletc import CountTensor, simulate
from uncletc.baselines import METHODS, Prediction, bptf, halrtc, ntf_kl, ntf_ls, ntf_tucker, pond
from uncletc.baselines.factors import Observed, balance
from uncletc.model.cp import products

pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")


@pytest.fixture(scope="module")
def counts() -> CountTensor:
    return simulate((8, 7, 6), 2, observed=0.6, attributed=0.0, similar=0.0, seed=4)[0]


@pytest.fixture(scope="module")
def whole() -> CountTensor:
    return simulate((7, 6, 5), 2, observed=1.0, attributed=0.0, similar=0.0, seed=8)[0]


@pytest.fixture
def factors(counts: CountTensor, rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.uniform(1, 9, (size, 2)) for size in counts.shape]


def solve(name: str, counts: CountTensor, **values: Any) -> Prediction:
    method = METHODS[name]
    return method.fit(counts, method.settings(**values))


@pytest.mark.parametrize("name", ["NTF-CPD-KL", "NTF-CPD-LS", "NTF-Tucker-LS", "BPTF"])
def test_no_iteration_raises_the_objective(name: str, counts: CountTensor) -> None:
    history = solve(name, counts, rank=3, max_iter=60, tol=0.0).history
    for before, after in pairwise(record.objective for record in history):
        assert after <= before + 1e-9 * abs(before)


class TestKL:
    def test_objective_is_the_likelihood(
        self, counts: CountTensor, factors: list[np.ndarray]
    ) -> None:
        total = 0.0
        for (i, j, k), y in zip(counts.indices, counts.counts, strict=True):
            rate = sum(factors[0][i, f] * factors[1][j, f] * factors[2][k, f] for f in range(2))
            total += rate - y * math.log(rate)
        value = ntf_kl.objective(factors, Observed(counts))
        assert value == pytest.approx(total / counts.n_observed)

    def test_an_element_at_zero_comes_back(
        self, counts: CountTensor, factors: list[np.ndarray]
    ) -> None:
        factors[0][:, :] = 0.0
        factors[0][0] = 1.0
        lifted = ntf_kl.update_factor(factors, 0, Observed(counts), sweeps=3)
        assert (lifted[counts.indices[counts.counts > 0][:, 0]] > 0).all()

    def test_balance_keeps_the_rate(self, counts: CountTensor, factors: list[np.ndarray]) -> None:
        before = products(factors, counts.indices)
        balance(factors)
        np.testing.assert_allclose(products(factors, counts.indices), before)
        norms = np.array([np.linalg.norm(factor, axis=0) for factor in factors])
        np.testing.assert_allclose(norms, np.broadcast_to(norms[0], norms.shape))


class TestLS:
    def test_rows_are_the_nonnegative_least_squares(
        self, counts: CountTensor, factors: list[np.ndarray]
    ) -> None:
        found = ntf_ls.update_factor(factors, 1, Observed(counts), passes=500)
        others = products(factors, counts.indices, skip=1)
        for row in range(counts.shape[1]):
            own = counts.indices[:, 1] == row
            expected, _ = nnls(others[own], counts.counts[own].astype(float))
            np.testing.assert_allclose(found[row], expected, rtol=1e-6, atol=1e-9)


class TestTucker:
    def test_rows_are_the_nonnegative_least_squares(
        self, counts: CountTensor, rng: np.random.Generator
    ) -> None:
        core = rng.uniform(size=(2, 2, 2))
        parts = [rng.uniform(size=(size, 2)) for size in counts.shape]
        weight, goal = np.zeros(counts.shape), np.zeros(counts.shape)
        where = tuple(counts.indices.T)
        weight[where], goal[where] = 1.0, counts.counts
        found = ntf_tucker.update_factor(core, parts, 0, weight, goal, passes=500)
        design = np.einsum("abc,jb,kc->ajk", core, parts[1], parts[2])
        for row in range(counts.shape[0]):
            own = counts.indices[:, 0] == row
            columns = design[:, counts.indices[own, 1], counts.indices[own, 2]].T
            expected, _ = nnls(columns, counts.counts[own].astype(float))
            np.testing.assert_allclose(found[row], expected, rtol=1e-5, atol=1e-7)


class TestHaLRTC:
    def test_shrink_is_the_proximal_step(self, rng: np.random.Generator) -> None:
        for shape in ((4, 9), (9, 4)):
            matrix = rng.standard_normal(shape)
            found, norm = halrtc.shrink(matrix, 0.7)
            values = np.linalg.svd(matrix, compute_uv=False)
            kept = np.maximum(values - 0.7, 0)
            np.testing.assert_allclose(np.linalg.svd(found, compute_uv=False), kept, atol=1e-12)
            assert norm == pytest.approx(kept.sum())


class TestBPTF:
    """Against an independent implementation of the same updates, in plain loops."""

    def state(self, counts: CountTensor, rng: np.random.Generator) -> bptf.Posterior:
        return bptf.Posterior(
            shapes=[rng.uniform(1, 5, (size, 2)) for size in counts.shape],
            rates=[rng.uniform(0.3, 2, (size, 2)) for size in counts.shape],
            beta=[0.5, 1.0, 2.0],
        )

    def test_one_mode_against_loops(self, counts: CountTensor, rng: np.random.Generator) -> None:
        state, alpha, mode = self.state(counts, rng), 0.1, 1
        shape = np.full((counts.shape[mode], 2), alpha)
        rate = np.full((counts.shape[mode], 2), alpha * state.beta[mode])
        for index, y in zip(counts.indices, counts.counts, strict=True):
            share = np.ones(2)
            mean = np.ones(2)
            for k, i in enumerate(index):
                share *= np.exp(digamma(state.shapes[k][i])) / state.rates[k][i]
                if k != mode:
                    mean *= state.shapes[k][i] / state.rates[k][i]
            shape[index[mode]] += y * share / share.sum()
            rate[index[mode]] += mean
        bptf.update_mode(state, mode, Observed(counts), alpha)
        np.testing.assert_allclose(state.shapes[mode], shape)
        np.testing.assert_allclose(state.rates[mode], rate)
        assert state.beta[mode] == pytest.approx(1 / (shape / rate).mean())

    def test_bound_against_samples(self, counts: CountTensor, rng: np.random.Generator) -> None:
        state, alpha = self.state(counts, rng), 0.7
        few = counts.subset(np.arange(6))
        total, n = 0.0, 40_000
        draws = []
        for k, (shape, rate) in enumerate(zip(state.shapes, state.rates, strict=True)):
            posterior = gamma_distribution(shape, scale=1 / rate)
            prior = gamma_distribution(alpha, scale=1 / (alpha * state.beta[k]))
            sample = posterior.rvs((n, *shape.shape), random_state=rng)
            total += float((prior.logpdf(sample) - posterior.logpdf(sample)).sum() / n)
            draws.append(sample)
        for index, y in zip(few.indices, few.counts, strict=True):
            parts = draws[0][:, index[0]] * draws[1][:, index[1]] * draws[2][:, index[2]]
            logs = np.log(parts).mean(axis=0)
            share = np.exp(logs) / np.exp(logs).sum()
            # E log Poisson of the parts, and the entropy of how y splits over them.
            term = y * (share @ (logs - np.log(share))) - parts.sum(axis=1).mean()
            total += float(term) - math.lgamma(y + 1)
        value = bptf.bound(state, Observed(few), alpha)
        assert value == pytest.approx(total, rel=0.01)


class TestPOND:
    def test_posterior_at_the_inducing_points(self) -> None:
        torch.manual_seed(0)
        process = pond.Process((4, 4), METHODS["POND"].settings(rank=2), 5).double()
        with torch.no_grad():
            process.inducing.copy_(torch.randn(5, 8, dtype=torch.float64) * 2)
            process.v_mean.copy_(torch.randn(5, dtype=torch.float64))
            among = process.kernel(process.inducing, process.inducing)
            lower = torch.linalg.cholesky(among + 1e-6 * torch.eye(5, dtype=torch.float64))
            mean, variance = process.posterior(process.inducing)
            root = process.v_root.tril()
            np.testing.assert_allclose(mean, lower @ process.v_mean, atol=1e-5)
            spread = (lower @ root @ root.T @ lower.T).diagonal()
            np.testing.assert_allclose(variance, spread, atol=1e-5)


class TestIndependentSoftware:
    """Objectives against those that pyttb and tensorly reach; skipped where they are absent."""

    def masked(self, ttb: Any, counts: CountTensor) -> tuple[Any, Any]:
        data, mask = np.zeros(counts.shape), np.zeros(counts.shape)
        where = tuple(counts.indices.T)
        data[where], mask[where] = counts.counts, 1.0
        return ttb.tensor(data), ttb.tensor(mask)

    def reached(
        self, ttb: Any, counts: CountTensor, objective: Any, value: Callable[..., float]
    ) -> float:
        """The least objective of pyttb from some starts, with missing entries masked."""
        data, mask = self.masked(ttb, counts)
        found = []
        for seed in range(3):
            rng = np.random.default_rng(seed)
            start = ttb.ktensor([rng.uniform(1, 5, (size, 2)) for size in counts.shape])
            result, _, _ = ttb.gcp_opt(
                data.copy(),
                2,
                objective,
                ttb.gcp.optimizers.LBFGSB(maxiter=3000, factr=10.0, pgtol=1e-10),
                init=start,
                mask=mask,
                printitn=0,
            )
            weighted = result.normalize(0)  # all weight in the first factor
            own = [np.maximum(factor, 0) for factor in weighted.factor_matrices]
            found.append(value(own, Observed(counts)))
        return min(found)

    def test_kl_against_pyttb(self, counts: CountTensor) -> None:
        ttb = pytest.importorskip("pyttb")
        ours = solve("NTF-CPD-KL", counts, rank=2, max_iter=5000, tol=1e-10)
        poisson_loss = ttb.gcp.fg_setup.Objectives.POISSON
        theirs = self.reached(ttb, counts, poisson_loss, ntf_kl.objective)
        assert ours.history[-1].objective == pytest.approx(theirs, rel=1e-3)
        # The objective is negative; its distance from a perfect fit is the stricter measure.
        y = counts.counts
        perfect = np.mean(y - xlogy(y, y))
        assert ours.history[-1].objective - perfect == pytest.approx(theirs - perfect, rel=1e-3)

    def test_tucker_against_tensorly(self, whole: CountTensor) -> None:
        tensorly = pytest.importorskip("tensorly")
        decomposition = pytest.importorskip("tensorly.decomposition")
        data = whole.counts.reshape(whole.shape).astype(float)
        theirs = min(
            0.5 * np.mean((tensorly.tucker_to_tensor(result) - data) ** 2)
            for result in (
                decomposition.non_negative_tucker_hals(
                    data, [2, 2, 2], n_iter_max=600, tol=1e-12, init="random", random_state=seed
                )
                for seed in range(2)
            )
        )
        ours = min(
            solve("NTF-Tucker-LS", whole, rank=2, ridge=0.0, max_iter=3000, tol=1e-10, seed=seed)
            .history[-1]
            .objective
            for seed in range(2)
        )
        assert ours == pytest.approx(theirs, rel=1e-2)

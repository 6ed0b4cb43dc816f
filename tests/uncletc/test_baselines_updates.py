"""Updates of the methods against plain loops, numerical minimisers and independent software."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.special import digamma

from uncletc import simulate
from uncletc.baselines import METHODS
from uncletc.baselines.cp import BPTF, KL, LS
from uncletc.baselines.dense import Tucker, shrink
from uncletc.model.cp import products

pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")


@pytest.fixture(scope="module")
def counts():
    return simulate((8, 7, 6), 2, observed=0.6, attributed=0.0, similar=0.0, seed=4)[0]


def solve(name, counts, **values):
    method = METHODS[name]
    return method.fit(counts, method.settings(**values))


def state(kind, name, counts, **values):
    """Its state with random factors."""
    made = kind(counts.in_order(), METHODS[name].settings(rank=2, **values))
    rng = np.random.default_rng(1)
    made.factors = [rng.uniform(1, 9, (size, 2)) for size in counts.shape]
    return made


@pytest.mark.parametrize("name", ["NTF-CPD-KL", "NTF-CPD-LS", "NTF-Tucker-LS", "BPTF"])
def test_no_iteration_raises_the_objective(name, counts):
    history = solve(name, counts, rank=3, max_iter=40, tol=0.0).history
    for before, after in pairwise(record.objective for record in history):
        assert after <= before + 1e-9 * abs(before)


def test_kl_is_the_likelihood_and_lifts_elements_at_zero(counts):
    kl = state(KL, "NTF-CPD-KL", counts, sweeps=3)
    a, b, c = kl.factors
    total = 0.0
    for (i, j, k), y in zip(kl.indices, kl.counts, strict=True):
        rate = sum(a[i, f] * b[j, f] * c[k, f] for f in range(2))
        total += rate - y * math.log(rate)
    assert kl.objective() == pytest.approx(total / counts.n_observed)
    a[:, :] = 0.0
    a[0] = 1.0
    assert (kl.updated(0)[kl.indices[kl.counts > 0][:, 0]] > 0).all()


@pytest.mark.parametrize("name", ["NTF-CPD-LS", "NTF-Tucker-LS"])
def test_rows_are_the_nonnegative_least_squares(name, counts):
    data, values = counts.in_order(), {"passes": 500, "ridge": 0.0}
    if name == "NTF-CPD-LS":
        ls = state(LS, name, counts, **values)
        found, others = ls.updated(0), products(ls.factors, data.indices, skip=0)
    else:
        tucker = Tucker(data, METHODS[name].settings(rank=2, **values))
        _, b, c = tucker.factors
        found = tucker.updated(0)
        design = np.einsum("abc,jb,kc->ajk", tucker.core, b, c)
        others = design[:, data.indices[:, 1], data.indices[:, 2]].T
    for row in range(counts.shape[0]):
        own = data.indices[:, 0] == row
        expected, _ = nnls(others[own], data.counts[own].astype(float))
        np.testing.assert_allclose(found[row], expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("shape", [(4, 9), (9, 4)])
def test_shrink_is_the_proximal_step(shape, rng):
    matrix = rng.standard_normal(shape)
    found, norm = shrink(matrix, 0.7)
    values = np.maximum(np.linalg.svd(matrix, compute_uv=False) - 0.7, 0)
    np.testing.assert_allclose(np.linalg.svd(found, compute_uv=False), values, atol=1e-12)
    assert norm == pytest.approx(values.sum())


def test_one_mode_of_bptf_against_an_independent_implementation_in_loops(counts):
    alpha, mode, rng = 0.1, 1, np.random.default_rng(2)
    bptf = state(BPTF, "BPTF", counts, alpha=alpha)
    bptf.shapes = [rng.uniform(1, 5, (size, 2)) for size in counts.shape]
    bptf.rates = [rng.uniform(0.3, 2, (size, 2)) for size in counts.shape]
    bptf.beta = [0.5, 1.0, 2.0]
    shape = np.full((counts.shape[mode], 2), alpha)
    rate = np.full((counts.shape[mode], 2), alpha * bptf.beta[mode])
    for index, y in zip(bptf.indices, bptf.counts, strict=True):
        share = np.ones(2)
        mean = np.ones(2)
        for k, i in enumerate(index):
            share *= np.exp(digamma(bptf.shapes[k][i])) / bptf.rates[k][i]
            if k != mode:
                mean *= bptf.shapes[k][i] / bptf.rates[k][i]
        shape[index[mode]] += y * share / share.sum()
        rate[index[mode]] += mean
    bptf.updated(mode)
    np.testing.assert_allclose(bptf.shapes[mode], shape)
    np.testing.assert_allclose(bptf.rates[mode], rate)
    assert bptf.beta[mode] == pytest.approx(1 / (shape / rate).mean())

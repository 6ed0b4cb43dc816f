"""The shape of the factors' prior, from what is known of the factors."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import polygamma

from uncletc import CountTensor, FitSettings, MisfitWarning, fit
from uncletc.result.posterior import Draws
from uncletc.solvers.joint.dispersion import likely_law, shape_of_posterior


@pytest.mark.parametrize("shape", [0.7, 1.0, 3.0])
@pytest.mark.parametrize("counts", [5.0, 1e6])
def test_shape_of_elements_known_from_counts(shape, counts):
    rng = np.random.default_rng(5)
    true = rng.gamma(shape, 1 / shape, (400, 6))
    seen = rng.poisson(counts * true) + shape
    deviation = np.sqrt(polygamma(1, seen))[:, :, None] * rng.standard_normal((400, 6, 200))
    draws = Draws((deviation.astype(np.float32),), np.empty((0, 200)), np.zeros(200))
    found = shape_of_posterior([torch.from_numpy(seen / (counts + shape))], draws)
    assert found == pytest.approx(shape, rel=0.3)  # row means take a sixth


@pytest.mark.parametrize("seed", [0, 1])
def test_sparse_poisson_counts_scatter_as_poisson_ones_do(seed):
    shape, rng = (30, 30, 12), np.random.default_rng(seed)
    at = rng.choice(np.prod(shape), np.prod(shape) // 20, replace=False)
    entries = np.column_stack(np.unravel_index(at, shape))
    counts = CountTensor(shape, entries, rng.poisson(3, len(at)))
    assert fit(counts, FitSettings(rank=1)).dispersion == pytest.approx(1, abs=0.2)


def test_factors_without_patterns_take_no_degree_of_freedom_beside_effects():
    rng = np.random.default_rng(30)
    rate = np.exp(rng.normal(0, 0.7, (60, 1)) + np.zeros(3))  # of 60 sites, visited 3 times
    counts = CountTensor.from_dense(rng.poisson(rate))
    found = fit(counts, FitSettings(rank=5, effects=["mode 1", "mode 2"]))
    assert not found.has_patterns
    assert found.dispersion == pytest.approx(1, abs=0.3)  # was above 2


def test_rare_poisson_counts_scatter_as_poisson_ones_do():
    rng = np.random.default_rng(0)
    mean = rng.gamma(2.0, 0.05, 4000)  # μ was .1: their means were taken for .5
    assert likely_law(rng.poisson(mean), mean, np.zeros(4000))[0] > 1
    wide = np.exp(rng.normal(0, 4, 4000))  # μ was 23, ν 1: the least were taken for 1
    assert likely_law(rng.poisson(wide), wide, np.zeros(4000))[0] > 100


def test_more_parameters_than_counts_are_no_misfit():
    counts = CountTensor.from_dense(np.random.default_rng(0).poisson(9, (12, 8)))
    found = fit(counts, rank=5)  # which warns of nothing
    assert found.dispersion == pytest.approx(1, abs=0.3)  # as priors hold most parameters
    assert not found.misfit
    assert replace(found, dispersion=6.0).misfit


def test_a_rank_too_low_is_a_poor_fit_though_mu_takes_up_what_it_leaves():
    rng = np.random.default_rng(4)
    rate = rng.gamma(1.0, 1.0, (60, 3)) @ rng.gamma(1.0, 1.0, (3, 20))
    counts = CountTensor.from_dense(rng.poisson(20 * rate * rng.gamma(5.0, 0.2, rate.shape)))
    with pytest.warns(MisfitWarning, match="pattern over mode 1 × mode 2 that rank 1 does not"):
        low = fit(counts, rank=1)
    assert low.dispersion == pytest.approx(1, abs=0.2)
    assert low.residual_pattern == ("mode 1", "mode 2")
    assert fit(counts, rank=3).residual_pattern == ()
    both = replace(low, survey_misfit="few events").misfit
    assert both == f"{low.misfit}; few events"
    even = CountTensor.from_dense(np.full((20, 30), 7))  # which scatter less than chance
    assert fit(even, rank=1).residual_pattern == ()


@pytest.mark.parametrize("seed", [0, 1])
def test_mu_of_sparse_counts_is_not_that_of_factors_which_follow_them(seed):
    rng = np.random.default_rng(seed)
    rate = 0.2 * rng.gamma(2.0, 1.0, (60, 1)) * rng.gamma(2.0, 1.0, 12)
    y = rng.poisson(rate * rng.gamma(2.0, 0.5, rate.shape))
    assert 0.7 < fit(CountTensor.from_dense(y), rank=2).mu < 4.5


def test_mu_of_small_tables_is_found_whatever_factors_could_follow():
    rng, shape = np.random.default_rng(2), (50, 6)
    rate = rng.gamma(1.5, 1, (50, 3)) @ rng.gamma(1.5, 1, (3, 6))
    y = rng.poisson(rate * rng.gamma(4, 1 / 4, shape))
    found = fit(CountTensor.from_dense(y), rank=3)  # which warns of nothing
    assert 2 < found.mu < 12
    with pytest.warns(MisfitWarning, match="likeliest with mu"):
        fit(CountTensor.from_dense(y), rank=3, mu=1e4)

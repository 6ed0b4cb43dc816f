"""Draws of parameters: their spread against the dense information matrix and its inverse."""

import math

import numpy as np
import pytest
import torch

from uncletc import CountTensor, FitSettings, fit
from uncletc.model.detection import JointDetection, network_output, standardised
from uncletc.model.features import AttributeFeatures
from uncletc.result.ensemble import Member
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.network.weights import layer_precisions
from uncletc.solvers.uncertainty import draws as curvature
from uncletc.solvers.uncertainty.draws import draws_of

SHAPE, RANK = (5, 7, 4), 2


def made_optimum(*, layers=False, attributed=60, shape=0.7):
    """An optimum of random parts: 80 entries, the first of which have 2 attributes."""
    rng = np.random.default_rng(3)
    z = rng.standard_normal((attributed, 2))
    features = AttributeFeatures.of(z, rng, curved=True) if attributed else None
    n = features.n_features if features is not None else 0
    sizes = [(2, 3), (3,), (3, 2), (2,), (2,)] if layers else []
    tensor = torch.from_numpy
    return Optimum(
        where=[tensor(rng.integers(0, size, 80)) for size in SHAPE],
        counts=tensor(rng.poisson(5.0, 80).astype(float)),
        exposure=tensor(rng.uniform(0.5, 2.0, 80)),
        attributes=z,
        rows=np.arange(attributed),
        features=features,
        factors=[tensor(rng.gamma(1.0, 2.0, (size, RANK))) for size in SHAPE],
        coefficients=tensor(rng.normal(0, 0.5, n)),
        precisions=tensor(rng.uniform(1.0, 5.0, n)),
        centre=torch.zeros(n, dtype=torch.float64),
        layers=tuple(tensor(rng.standard_normal(size)) for size in sizes),
        unattributed=0.4 if attributed else 1.0,
        mu=tensor(rng.uniform(3.0, 9.0, 80)),
        dispersion=1.5,
        prior_shape=shape,
    )


def member_of(optimum):
    factors = tuple(factor.numpy() for factor in optimum.factors)
    if optimum.features is None:
        return Member(factors, None)
    layers = tuple(layer.numpy() for layer in optimum.layers)
    theta = optimum.coefficients.numpy()
    return Member(factors, JointDetection(optimum.features, theta, layers))


def logs_of(optimum, parameters):
    """log λ and log p of all entries, of log factors and θ in one vector."""
    sizes = [factor.numel() for factor in optimum.factors]
    *logs, theta = parameters.split([*sizes, len(parameters) - sum(sizes)])
    product = torch.ones(1, RANK, dtype=torch.float64)
    for where, log, size in zip(optimum.where, logs, SHAPE, strict=True):
        product = product * log.view(size, RANK).exp()[where]
    p = torch.full((len(optimum.counts),), optimum.unattributed, dtype=torch.float64)
    if optimum.features is not None:
        weights = [layer.numel() for layer in optimum.layers]
        curves, *rest = theta.split([len(theta) - sum(weights), *weights])
        logit = optimum.features(optimum.z()) @ curves
        if rest:
            layers = [x.view(y.shape) for x, y in zip(rest, optimum.layers, strict=True)]
            logit = logit + network_output(layers, standardised(optimum.features, optimum.z()))
        g = torch.sigmoid(logit)
        mean = optimum.unattributed * g.mean() / g.mean().detach()
        p = torch.cat([g, mean.expand(len(p) - len(g))])
    return product.sum(dim=1).log(), p.log()


def dense_draws(optimum):
    """Deviations of log λ, log p and log λp in 20,000 draws, on the scale of the mean p."""
    layers = [layer.reshape(-1) for layer in optimum.layers]
    parts = [factor.log().reshape(-1) for factor in optimum.factors]
    parameters = torch.cat([*parts, optimum.coefficients, *layers])
    by_rate, by_p = torch.autograd.functional.jacobian(lambda v: logs_of(optimum, v), parameters)
    rate, p = (value.exp() for value in logs_of(optimum, parameters))
    mean = rate * p * optimum.exposure
    weight = mean / (1 + mean / optimum.mu) / optimum.dispersion
    both = by_rate + by_p
    information = both.T @ (both * weight[:, None])
    at = 0
    for u in optimum.factors:
        ratio = u / (u.mean(dim=1, keepdim=True) * u.mean(dim=0) / u.mean())
        for row, values in zip(ratio, u, strict=True):
            own = slice(at, at + RANK)
            block = torch.diag(row) - torch.outer(row, row) / row.sum()
            block += torch.diag(0.1 * values / u.mean(dim=0))
            information[own, own] += optimum.prior_shape * block
            at += RANK
    found = layer_precisions([layer.numpy() for layer in optimum.layers])
    pairs = zip(optimum.layers, found, strict=True)
    weights = [torch.full((layer.numel(),), precision) for layer, precision in pairs]
    for precisions in (optimum.precisions, *weights):
        own = slice(at, at + len(precisions))
        information[own, own] += torch.diag(torch.as_tensor(precisions))
        at += len(precisions)
    root = torch.linalg.cholesky(torch.linalg.inv(information + 1e-6 * torch.eye(len(information))))
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(len(root), 20_000, generator=generator, dtype=torch.float64)
    drawn = root @ noise
    log_rate, log_p = by_rate @ drawn, torch.zeros(80, 20_000, dtype=torch.float64)
    known = len(optimum.rows)
    if known:
        g = p[:known, None]
        moved = torch.sigmoid(torch.logit(g) + by_p[:known] @ drawn / (1 - g))
        level = torch.log(moved.mean(dim=0) / g.mean())
        log_rate += level
        log_p[:known] = torch.log(moved / g) - level
    varied = (log_rate, log_p, log_rate + log_p)
    return tuple(values.square().mean(dim=1).sqrt().numpy() for values in varied)


@pytest.mark.parametrize(("layers", "dense"), [(False, 5_000), (True, 5_000), (True, 20)])
def test_draws_spread_as_the_information_matrix_says(layers, dense, monkeypatch):
    optimum = made_optimum(layers=layers)
    monkeypatch.setattr(curvature, "_MOST_DENSE", dense)
    monkeypatch.setattr(curvature, "_COUPLED_AT_ONCE", 200)
    monkeypatch.setattr(curvature, "LEVEL_WIDENED", 1.0)
    member = member_of(optimum)
    draws = draws_of(optimum, optimum.attributes, seed=0, size=20_000)
    where = torch.stack(optimum.where, dim=1).numpy()
    z = np.full((80, 2), np.nan)
    z[:60] = optimum.z()
    ours = [draws.deviation(of, member, where, z) for of in ("rate", "detection", "expected")]
    theirs = dense_draws(optimum)
    if dense == 5_000:
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, rtol=0.04, atol=1e-6)
    else:  # modes drawn as if independent of each other: near
        assert 0.6 < np.median(ours[2] / theirs[2]) < 1.6


def test_without_attributes_only_rates_vary():
    optimum = made_optimum(attributed=0)
    draws = draws_of(optimum, np.empty((0, 0)), seed=0, size=20_000)
    where = torch.stack(optimum.where, dim=1).numpy()
    z = np.empty((80, 0))
    ours = draws.deviation("rate", member_of(optimum), where, z)
    np.testing.assert_allclose(ours, dense_draws(optimum)[0], rtol=0.04)
    assert (draws.deviation("detection", member_of(optimum), where, z) == 0).all()


def test_sums_vary_as_draws_of_their_entries_do():
    optimum = made_optimum()
    member, where = member_of(optimum), torch.stack(optimum.where, dim=1).numpy()
    draws = draws_of(optimum, optimum.attributes, seed=0)
    z = np.full((80, 2), np.nan)
    values, groups = member.rate(where), np.arange(80) % 3
    moved, independent = draws.log_sums("rate", member, where, z, values, groups)
    shared, beyond = draws.widths("rate")
    ours = np.sqrt(shared**2 * np.square(moved).mean(axis=1) + beyond * independent)
    share = np.ones((80, RANK))
    for k, factor in enumerate(member.factors):
        share *= factor[where[:, k]]
    share /= share.sum(axis=1, keepdims=True)
    drawn = sum(
        np.einsum("nf,nfr->nr", share, deviation[where[:, k]])
        for k, deviation in enumerate(draws.factors)
    )
    for group in range(3):
        own = groups == group
        ratio = values[own] @ np.exp(drawn[own].clip(-3, 3)) / values[own].sum()
        assert ours[group] == pytest.approx(math.sqrt((np.log(ratio) ** 2).mean()), rel=1e-5)


def test_modes_may_all_be_eliminated_where_nothing_but_factors_is_estimated(monkeypatch):
    monkeypatch.setattr("uncletc.solvers.uncertainty.draws._MOST_DENSE", 10)
    counts = CountTensor.from_dense(np.random.default_rng(0).poisson(3.0, (9, 8)))
    assert fit(counts, FitSettings(rank=2)).draws is not None

"""The network stage: it learns what attributes do together, and only that."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from uncletc.fitting.threads import one_thread
from uncletc.model.features import AttributeFeatures
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.network.descent import Rows, cost
from uncletc.solvers.network.stage import learn_network

SHAPE, RANK, D = (12, 11, 10), 2, 4


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


def _problem(kind: str, seed: int) -> tuple[Optimum, NDArray[np.float64], NDArray[np.float64]]:
    """True λ, no curves yet, and 60 % of the counts; also all p and attributes."""
    rng = np.random.default_rng(seed)
    factors = [rng.gamma(2.0, 1.0, (size, RANK)) for size in SHAPE]
    z = rng.random((int(np.prod(SHAPE)), D))
    c = z - 0.5
    logit = (
        30 * (c[:, 0] * c[:, 1] + c[:, 2] * c[:, 3]) if kind == "xor" else 4 * c[:, 0] + 3 * c[:, 1]
    )
    p = 1 / (1 + np.exp(-logit))
    rate = 20 * np.einsum("ir,jr,kr->ijk", *factors).ravel()
    where = np.unravel_index(np.arange(len(z)), SHAPE)
    seen = np.sort(rng.permutation(len(z))[: int(0.6 * len(z))])
    features = AttributeFeatures.of(z[seen], rng, curved=True)
    line = torch.zeros(features.n_features, dtype=torch.float64)
    if kind == "additive":
        design = features(torch.from_numpy(z[seen])).numpy()
        line = torch.from_numpy(np.linalg.lstsq(design, logit[seen], rcond=None)[0])
    optimum = Optimum(
        where=[torch.from_numpy(indices[seen]) for indices in where],
        counts=torch.from_numpy(rng.poisson(rate * p)[seen].astype(np.float64)),
        exposure=torch.ones(len(seen), dtype=torch.float64),
        attributes=z,
        rows=seen,
        features=features,
        factors=[torch.from_numpy(factor) * 20 ** (1 / 3) for factor in factors],
        coefficients=line,
        precisions=torch.ones_like(line),
        centre=torch.zeros_like(line),
        layers=(),
        unattributed=0.5,
        mu=torch.full((len(seen),), 2000.0, dtype=torch.float64),
        dispersion=1.0,
        prior_shape=2.0,
    )
    return optimum, p, z


def _error(optimum: Optimum, p: NDArray[np.float64], z: NDArray[np.float64]) -> float:
    features = optimum.features
    assert features is not None
    x = ((z - features.middle) / features.spread).clip(-4, 4)
    *hidden, output = (layer.numpy() for layer in optimum.layers)
    for weight, bias in zip(hidden[::2], hidden[1::2], strict=True):
        x = x @ weight + bias
        x = x / (1 + np.exp(-x))
    logit = (features(torch.from_numpy(z)) @ optimum.coefficients).numpy() + x @ output
    g = 1 / (1 + np.exp(-logit))
    return float(np.abs(g / g.mean() - p / p.mean()).mean())


def _best(optimum: Optimum, hidden: tuple[int, ...], seed: int) -> Optimum:
    found = learn_network(optimum, hidden, seed=seed)
    assert found
    return found[0]


def test_learns_what_attributes_do_together() -> None:
    optimum, p, z = _problem("xor", 0)
    found = _best(optimum, (12, 12), seed=0)
    sizes = [(D, 12), (12,), (12, 12), (12,), (12,)]
    assert [tuple(layer.shape) for layer in found.layers] == sizes
    assert _error(found, p, z) < 0.1


@pytest.mark.slow
def test_folds_judge_and_the_best_of_their_networks_are_kept() -> None:
    optimum, _, _ = _problem("xor", 0)
    found = learn_network(optimum, (20, 20), seed=0)
    assert len(found) == 3
    assert found[0].unseen is not None
    judged = float(torch.isfinite(found[0].unseen).double().mean())
    assert 0.4 < judged < 0.9
    rows = Rows.of(optimum)
    costs = [cost(one, rows) for one in found]
    assert costs == sorted(costs)
    assert not torch.equal(found[0].layers[0], found[1].layers[0])


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_none_where_attributes_act_one_by_one(seed: int) -> None:
    optimum, _, _ = _problem("additive", seed)
    assert learn_network(optimum, (20, 20), seed=seed) == []


def test_none_without_hidden_layers() -> None:
    optimum, _, _ = _problem("xor", 0)
    assert learn_network(optimum, (), seed=0) == []


@pytest.mark.slow
def test_same_seed_same_answer() -> None:
    first, second = (_best(_problem("xor", 2)[0], (4,), seed=3) for _ in range(2))
    assert all(map(torch.equal, first.layers, second.layers))
    assert all(map(torch.equal, first.factors, second.factors))


def test_always_keeps_what_held_out_counts_do_not_support() -> None:
    optimum, _, _ = _problem("additive", 0)
    found = learn_network(optimum, (3,), seed=0, always=True)
    assert [tuple(layer.shape) for layer in found[0].layers] == [(D, 3), (3,), (3,)]

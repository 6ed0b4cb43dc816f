"""DetectionNetwork against plain numpy."""

import numpy as np
import pytest
import torch
from scipy.special import expit

from uncletc import DetectionNetwork


def make(hidden, seed=0, n_attributes=3):
    return DetectionNetwork(n_attributes, hidden, torch.Generator().manual_seed(seed))


@pytest.fixture
def z(rng):
    return torch.from_numpy(rng.standard_normal((50, 3)))


@pytest.mark.parametrize("hidden", [(), (4,), (5, 4, 3)])
def test_forward_agrees_with_plain_numpy(hidden, z):
    network = make(hidden)
    weights = network.weights()
    values = z.numpy()
    for i in range(0, len(weights) - 2, 2):
        values = np.maximum(values @ weights[i].T + weights[i + 1], 0)
    values = (values @ weights[-2].T + weights[-1])[:, 0]
    expected = expit(values) if hidden else values
    np.testing.assert_allclose(network(z).detach(), expected, rtol=1e-12)


@pytest.mark.parametrize("hidden", [(), (4,)])
def test_probability_is_clipped(hidden, z):
    network = make(hidden)
    p = network.probability(1e6 * z)
    assert p.min() == 1e-6
    assert p.max() == 1.0
    inside = network.probability(0.01 * z)
    np.testing.assert_array_equal(inside, network(0.01 * z).detach())

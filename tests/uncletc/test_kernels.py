"""Passes over entries, against dense sums."""

import numpy as np
import pytest

from uncletc.solvers.joint.kernels import mode_sums, rates


@pytest.mark.parametrize("shape", [(7,), (4, 6), (3, 4, 5), (3, 2, 2, 4)])
@pytest.mark.parametrize("in_order", [True, False])
def test_passes_are_those_of_dense_sums(shape, in_order):
    rng = np.random.default_rng(len(shape))
    indices = rng.permutation(np.argwhere(rng.random(shape) < 0.7))
    if in_order:  # entries that differ in the last mode alone follow one another
        indices = indices[np.lexsort(indices.T[::-1])]
    first = np.cumsum([0, *shape[:-1]])
    factors = rng.random((sum(shape), 2, 3))
    rows = factors[indices + first]  # (N, K, M, F)
    product, at = rows.prod(axis=1), (indices + first).astype(np.int32)
    found = np.empty((len(at), 2))
    starts = np.flatnonzero(np.r_[True, np.diff(indices[:, :-1], axis=0).any(axis=1), True])
    rates(starts, at, factors, found)
    np.testing.assert_allclose(found, product.sum(axis=2))
    y, mu = rng.poisson(5.0, (len(at), 1)).astype(float), np.full((1, 2), 3.0)
    p = rng.random((len(at), 2))
    for weighted in (False, True):
        share = 1 / (found * p + mu)
        observed = y / found * (share * mu if weighted else 1)
        expected = p * share * (mu if weighted else y + mu)
        for mode, size in enumerate(shape):
            up, down = np.zeros((2, size, 2, 3))
            kinds = np.zeros(len(at), dtype=np.int8)
            given = int(first[mode]), factors, y, p, mu, kinds, weighted
            mode_sums(starts, at, mode, *given, up, down)
            for sums, weights in ((up, observed), (down, expected)):
                wanted = np.zeros_like(sums)
                others = product / rows[:, mode]
                np.add.at(wanted, indices[:, mode], weights[:, :, None] * others)
                np.testing.assert_allclose(sums, wanted)

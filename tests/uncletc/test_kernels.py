"""Passes over entries, and what rows look up in tables, against dense sums."""

import numpy as np
import pytest

from uncletc.solvers.joint.kernels import mode_sums, rates
from uncletc.solvers.joint.lookups import Lookups


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


def test_sums_and_their_transpose_are_those_of_a_dense_design():
    rng = np.random.default_rng(0)
    place = rng.integers(8, size=60)
    columns = [place, 8 + place // 4, 10 + rng.integers(3, size=60), 13 + 0 * place]
    sloped, slope = 14 + rng.integers(4, size=(40, 2)), rng.normal(size=40)
    design = np.zeros((60, 18))
    for column in columns:
        design[np.arange(60), column] += 1
    for j in range(2):
        design[np.arange(40), sloped[:, j]] += slope
    lookups = Lookups.of(columns, sloped)
    tables, values = rng.normal(size=(3, 18)), rng.normal(size=(3, 60))
    assert lookups.sums(tables, slope) == pytest.approx(tables @ design.T)
    assert lookups.spread(values, 18, slope) == pytest.approx(values @ design)

"""What rows look up in tables, where some levels lie within others."""

import numpy as np
import pytest

from uncletc.solvers.joint.lookups import Lookups


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

"""Exposure: what true counts are proportional to, from the counts to both solvers' answers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from uncletc import CountTensor, FitSettings, fit, metrics, simulate
from uncletc.data.entries import exposure_at

SHAPE = (12, 10, 8)
SOLVERS = ("joint", "bcd")


def settings(solver, **others):
    return FitSettings(rank=2, solver=solver, hidden=(5,), tol=0.0, **others)


@pytest.fixture(scope="module")
def sized():
    """Counts of places that differ in size a thousandfold, with true λ and p of all entries."""
    plain, truth = simulate(SHAPE, 2, observed=0.6, attributed=1.0, n_attributes=2, seed=4)
    rng = np.random.default_rng(5)
    size = np.exp(rng.normal(0, 1.5, (SHAPE[0], SHAPE[1], 1)))
    rate = truth.rate * size
    y = rng.poisson((rate * truth.detection)[tuple(plain.indices.T)])
    return replace(plain, counts=y, exposure=size), rate, truth.detection


def quiet_fit(counts, chosen):
    return fit(counts, chosen, callback=lambda now: now.iteration >= chosen.max_iter - 1)


@pytest.mark.parametrize("solver", SOLVERS)
class TestFit:
    def test_sizes_of_places_do_not_end_up_in_p(self, solver, sized):
        counts, rate, p = sized
        chosen = settings(solver, max_iter=60)
        found = quiet_fit(counts, chosen)
        ignorant = quiet_fit(replace(counts, exposure=None), chosen)
        true = p[tuple(counts.attribute_indices.T)]

        def error(one):
            return metrics.mae_detection(one.detection(counts.attributes), true)

        assert error(found) < 0.6 * error(ignorant)
        everywhere = found.rate(counts.attribute_indices)
        true_rate = rate[tuple(counts.attribute_indices.T)]
        assert np.corrcoef(np.log(everywhere), np.log(true_rate))[0, 1] > 0.95

    def test_rate_includes_it_everywhere_and_in_files(self, solver, sized, reloaded):
        counts = sized[0]
        found = quiet_fit(counts, settings(solver, max_iter=5))
        where, z = counts.attribute_indices, counts.attributes
        per_unit = np.exp(np.mean([np.log(m.rate(where)) for m in found.members], axis=0))
        expected = per_unit * exposure_at(counts.exposure, where)
        np.testing.assert_allclose(found.rate(where), expected)
        np.testing.assert_allclose(found.rate_tensor()[tuple(where.T)], expected)
        np.testing.assert_allclose(found.expected(where, z), expected * found.detection(z))
        np.testing.assert_array_equal(reloaded(found).rate(where), found.rate(where))


def test_that_of_an_entry_without_a_row_is_usual_for_its_levels():
    people, growth = 10.0 ** np.arange(3, 7), 1.02 ** np.arange(6)
    table = np.outer(people, growth)
    rows = pd.DataFrame(np.argwhere(table), columns=["city", "year"])
    rows = rows.assign(people=table.ravel().round(), count=3).drop([8, 20, 23])
    counts = CountTensor.from_frame(rows, modes=["city", "year"], exposure="people")
    np.testing.assert_allclose(counts.exposure, table, rtol=0.02)

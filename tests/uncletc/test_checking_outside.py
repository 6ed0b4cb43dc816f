"""Fitted p against outside estimates: sums by hand, correlations against SciPy's, verdicts."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from tests.uncletc.made import table_of
from uncletc import CountTensor
from uncletc.checking import by_cell, by_state, compare_outside, detection_of
from uncletc.checking.outside import spearman

PLACES = [f"place {k}" for k in range(40)]


@pytest.fixture
def counts():
    """Cells (0, 0), (0, 1) and (1, 0), two days; the last has no attributes."""
    entries = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    return CountTensor(
        (2, 2, 2),
        entries,
        [4, 2, 6, 1],
        attributes=[[0.5], [0.25], [0.75]],
        attribute_indices=entries[:3],
    )


TABLE = table_of("""\
state  latitude_index  longitude_index  counted  cases
A      0               0                True     4
B      0               0                True     2
B      0               1                True     6
C      1               0                False    1
C      1               1                True     9
""")


def correlated(rho, rng, base):
    noise = rng.normal(size=len(base))
    return rho * base + np.sqrt(1 - rho**2) * noise


class TestSums:
    def test_by_cell_reported_over_true(self, counts):
        p = by_cell(counts, [0.5, 0.25, 0.75, 1.0])
        assert p.to_dict() == pytest.approx({(0, 0): 6 / 16, (0, 1): 0.75, (1, 0): 1.0})

    def test_by_state_counties_have_their_share_of_a_shared_cell(self, counts):
        p = by_state(counts, [0.5, 0.25, 0.75, 1.0], TABLE)
        expected = {"A": 6 / 16, "B": 8 / (2 * 16 / 6 + 6 / 0.75)}
        assert p[["A", "B"]].to_dict() == pytest.approx(expected)
        assert np.isnan(p["C"])  # one county is not counted, the other's cell was not observed

    def test_p_is_the_fits_and_the_mean_where_attributes_are_unknown(self, counts):
        fit = SimpleNamespace(of_members=lambda *given: [np.nan_to_num(given[-1][:, 0], nan=0.4)])
        assert detection_of(fit, counts).tolist() == [0.5, 0.25, 0.75, 0.4]


@pytest.mark.parametrize("levels", [1000, 5])
def test_spearman_is_scipys_of_the_places_repeated(levels, rng):
    a, b = rng.integers(levels, size=(2, 30)).astype(float)
    weights = rng.multinomial(30, np.full(30, 1 / 30), size=20).astype(float)
    repeated = [(np.repeat(a, w), np.repeat(b, w)) for w in weights.astype(int)]
    expected = [spearmanr(*pair).statistic for pair in repeated]
    np.testing.assert_allclose(spearman(a, b, weights), expected)


class TestCompare:
    @pytest.fixture
    def made(self, rng):
        """p and three outside estimates of one truth, of given correlations with it."""

        def make(p, *outside):
            truth = rng.normal(size=len(PLACES))
            columns = {f"source {k}": correlated(r, rng, truth) for k, r in enumerate(outside)}
            fitted = pd.Series(correlated(p, rng, truth), index=PLACES)
            return fitted, pd.DataFrame(columns, index=PLACES)

        return make

    def test_figures(self, made):
        fitted, outside = made(0.8, 0.9, 0.7, 0.8)
        found = compare_outside(fitted, outside)
        names = [(one.first, one.second) for one in (*found.of_fit, *found.among)]
        first, second, third = outside
        assert names[:3] == [("p", first), ("p", second), ("p", third)]
        assert names[3:] == [(first, second), (first, third), (second, third)]
        for one in found.of_fit:
            expected = spearmanr(fitted, outside[one.second]).statistic
            assert one.estimate == pytest.approx(expected)
            assert one.low < one.estimate < one.high
            assert one.n == 40
        assert found.mean.estimate == pytest.approx(np.mean([x.estimate for x in found.of_fit]))
        among = np.mean([x.estimate for x in found.among])
        assert found.lead.estimate == pytest.approx(found.mean.estimate - among)

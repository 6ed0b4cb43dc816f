"""Metrics against plain loops and against scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import nbinom
from sklearn.metrics import mean_poisson_deviance

from uncletc import metrics

Mae = Callable[..., float]
both = pytest.mark.parametrize("mae", [metrics.mae_rate, metrics.mae_detection])


@pytest.fixture
def pair(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.uniform(0.01, 1, (4, 5, 3)), rng.uniform(0.01, 1, (4, 5, 3))


@both
class TestScaleFreeMae:
    def test_agrees_with_loops(self, mae: Mae, pair: tuple[np.ndarray, np.ndarray]) -> None:
        found, true = (values.ravel().tolist() for values in pair)
        means = sum(found) / 60, sum(true) / 60
        expected = sum(abs(a / means[0] - b / means[1]) for a, b in zip(found, true, strict=True))
        assert mae(*pair) == pytest.approx(expected / 60)

    def test_where_judges_a_set_alone(self, mae: Mae, pair: tuple[np.ndarray, np.ndarray]) -> None:
        found, true = pair
        where = np.zeros(found.shape, dtype=bool)
        where[1:3, 2] = True
        broken = found.copy()
        broken[~where] = 1e9
        assert mae(broken, true, where) == mae(found[where], true[where])
        assert mae(found, true, np.ones_like(where)) == mae(found, true)

    def test_bad_input(self, mae: Mae) -> None:
        with pytest.raises(ValueError, match=r"one shape, got \(2,\) and \(3,\)"):
            mae([1, 2], [1, 2, 3])
        with pytest.raises(ValueError, match=r"positive, finite means, got 0\.0 and 1\.0"):
            mae([0, 0], [1, 1])
        with pytest.raises(ValueError, match=r"positive, finite means, got 1\.0 and nan"):
            mae([1, 1], [1, float("nan")])
        with pytest.raises(ValueError, match="positive, finite means"):
            mae([1, 1], [1, 1], [False, False])
        with pytest.raises((ValueError, IndexError), match="where"):
            mae([1, 2, 3], [1, 2, 3], [True, False])


class TestRrmse:
    def test_agrees_with_loops(self, rng: np.random.Generator) -> None:
        y, predicted = rng.poisson(5, 30), rng.uniform(0, 10, 30)
        squares = sum((a - b) ** 2 for a, b in zip(y.tolist(), predicted.tolist(), strict=True))
        expected = math.sqrt(squares / 30) / (sum(y.tolist()) / 30)
        assert metrics.rrmse(y, predicted) == pytest.approx(expected)

    def test_bad_input(self) -> None:
        with pytest.raises(ValueError, match="counts must not all be zero"):
            metrics.rrmse([0, 0], [1, 1])
        with pytest.raises(ValueError, match=r"one shape, got \(2,\) and \(2, 1\)"):
            metrics.rrmse([1, 2], [[1], [2]])


class TestPoissonDeviance:
    def test_agrees_with_scikit_learn(self, rng: np.random.Generator) -> None:
        y, predicted = rng.poisson(2, 300), rng.uniform(0.1, 6, 300)
        assert (y == 0).any()
        found = metrics.poisson_deviance(y, predicted)
        assert found == pytest.approx(mean_poisson_deviance(y, predicted), rel=1e-12)

    def test_an_impossible_count_is_infinitely_bad(self) -> None:
        assert metrics.poisson_deviance([1, 2], [0.0, 2.0]) == math.inf

    def test_bad_input(self) -> None:
        with pytest.raises(
            ValueError, match=r"predicted must be finite and >= 0; the smallest is -1\.0"
        ):
            metrics.poisson_deviance([1, 2], [3, -1])
        with pytest.raises(ValueError, match="one shape"):
            metrics.poisson_deviance([1, 2], [3])


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0, 3.0, np.nan], (2.0, np.sqrt(2))), ([4.0], (4.0, 0.0)), ([np.nan], (np.nan, np.nan))],
)
def test_mean_and_sd_leave_nan_out(values: list[float], expected: tuple[float, float]) -> None:
    assert metrics.mean_and_sd(values) == pytest.approx(expected, nan_ok=True)


class TestNegativeBinomialDeviance:
    Y, MEAN = np.array([1, 2, 7]), np.array([1.5, 2.0, 3.0])

    def test_is_twice_what_the_likelihood_falls_short_of_its_best(self) -> None:
        best, reached = (
            nbinom.logpmf(self.Y, 3.0, 3.0 / (3.0 + mean)) for mean in (self.Y, self.MEAN)
        )
        deviance = metrics.negative_binomial_deviance(self.Y, self.MEAN, 3.0)
        assert deviance == pytest.approx(2 * float(np.mean(best - reached)))

    def test_an_infinite_size_is_poisson(self) -> None:
        deviance = metrics.negative_binomial_deviance(self.Y, self.MEAN, math.inf)
        assert deviance == metrics.poisson_deviance(self.Y, self.MEAN)

"""Metrics against plain loops and against scikit-learn."""

import math

import pytest
from sklearn.metrics import mean_poisson_deviance

from uncletc import metrics


@pytest.fixture
def pair(rng):
    return rng.uniform(0.01, 1, (4, 5, 3)), rng.uniform(0.01, 1, (4, 5, 3))


@pytest.mark.parametrize("mae", [metrics.mae_rate, metrics.mae_detection])
def test_scale_free_mae_agrees_with_loops(mae, pair):
    found, true = (values.ravel().tolist() for values in pair)
    means = sum(found) / 60, sum(true) / 60
    expected = sum(abs(a / means[0] - b / means[1]) for a, b in zip(found, true, strict=True))
    assert mae(*pair) == pytest.approx(expected / 60)


def test_rrmse_agrees_with_loops(rng):
    y, predicted = rng.poisson(5, 30), rng.uniform(0, 10, 30)
    squares = sum((a - b) ** 2 for a, b in zip(y.tolist(), predicted.tolist(), strict=True))
    expected = math.sqrt(squares / 30) / (sum(y.tolist()) / 30)
    assert metrics.rrmse(y, predicted) == pytest.approx(expected)


def test_poisson_deviance_agrees_with_scikit_learn(rng):
    y, predicted = rng.poisson(2, 300), rng.uniform(0.1, 6, 300)
    assert (y == 0).any()
    found = metrics.poisson_deviance(y, predicted)
    assert found == pytest.approx(mean_poisson_deviance(y, predicted), rel=1e-12)
    assert metrics.poisson_deviance([1, 2], [0.0, 2.0]) == math.inf  # an impossible count


@pytest.mark.parametrize(
    ("metric", "given", "message"),
    [
        (metrics.mae_rate, ([1, 2], [1, 2, 3]), "one shape"),
        (metrics.mae_rate, ([0, 0], [1, 1]), "positive, finite means"),
        (metrics.mae_detection, ([1, 1], [1, math.nan]), "positive, finite means"),
        (metrics.mae_rate, ([1, 1], [1, 1], [False, False]), "positive, finite means"),
        (metrics.mae_detection, ([1, 2, 3], [1, 2, 3], [True, False]), "where"),
        (metrics.rrmse, ([0, 0], [1, 1]), "counts must not all be zero"),
        (metrics.poisson_deviance, ([1, 2], [3, -1]), "predicted must be finite and >= 0"),
        (metrics.poisson_deviance, ([1, 2], [3, math.nan]), "predicted must be finite and >= 0"),
        (metrics.poisson_deviance, ([-1], [1]), "counts must be finite and >= 0"),
        (metrics.poisson_deviance, ([], []), "counts must hold at least 1"),
    ],
)
def test_bad_input_is_named(metric, given, message):
    with pytest.raises((ValueError, IndexError), match=message):
        metric(*given)

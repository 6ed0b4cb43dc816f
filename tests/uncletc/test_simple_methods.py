"""What methods besides the paper's find, each where the answer is known."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from benchmarks import methods
from benchmarks.methods import ALL, stack_of
from uncletc import CountTensor
from uncletc.baselines import PAPER_METHODS, Method
from uncletc.baselines.holding import set_aside

pytestmark = pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")

STACK = stack_of([ALL["Constant"], ALL["Main effects"]])
SIMPLE = [*(name for name in ALL if name not in PAPER_METHODS), "Stack"]
SHAPE = (12, 10, 8)


def fitted(name: str, counts: CountTensor, **values: Any) -> Any:
    method: Method = STACK if name == "Stack" else ALL[name]
    rank = {"rank": 1} if method.has_rank else {}
    return method.fit(counts, method.settings(**(rank | values)))


def every(shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.argwhere(np.ones(shape))


def drawn(mean: np.ndarray, share: float = 0.6, seed: int = 0, **more: Any) -> CountTensor:
    """Poisson counts of some entries."""
    rng = np.random.default_rng(seed)
    entries = every(mean.shape)
    rows = np.sort(rng.permutation(len(entries))[: round(share * len(entries))])
    y = rng.poisson(mean[tuple(entries[rows].T)])
    if "attributes" in more:
        more["attributes"] = more["attributes"].reshape(len(entries), -1)
        more["attribute_indices"] = entries
    return CountTensor(mean.shape, entries[rows], y, **more)


def error(found: Any, counts: CountTensor, mean: np.ndarray) -> float:
    """Mean error of ŷ over all entries, relative to the mean."""
    entries = every(mean.shape)
    z = counts.attributes_at(entries, unknown_as_nan=True) if found.n_attributes else None
    return float(np.abs(found.expected(entries, z) - mean.ravel()).mean() / mean.mean())


@pytest.mark.parametrize("name", SIMPLE)
def test_predictions_are_proportional_to_exposure(name: str) -> None:
    exposure = 10.0 ** np.random.default_rng(1).integers(0, 4, (12, 1, 8))
    mean = np.broadcast_to(3 * exposure, SHAPE)
    counts = drawn(mean, exposure=exposure)
    assert error(fitted(name, counts), counts, mean) < 0.05


@pytest.mark.parametrize("name", ["Main effects", "NB regression", "Neighbours", "Stack"])
def test_effects_of_modes_and_places_are_found(name: str) -> None:
    rng = np.random.default_rng(2)
    one, two, place = rng.normal(0, 0.7, 12), rng.normal(0, 0.7, 8), rng.normal(0, 0.5, (12, 10))
    mean = 50 * np.exp(one[:, None, None] + place[:, :, None] + two)
    counts = drawn(mean)
    assert error(fitted(name, counts), counts, mean) < 0.1
    assert error(fitted("Constant", counts), counts, mean) > 0.5


def test_effects_without_counts_are_those_of_an_average_place() -> None:
    mean = np.full(SHAPE, 40.0) * np.exp(np.random.default_rng(3).normal(0, 0.4, (12, 1, 1)))
    counts = drawn(mean)
    rest = counts.subset(counts.indices[:, 0] > 0)
    found = fitted("Main effects", rest)
    asked = every()[every()[:, 0] == 0]
    np.testing.assert_allclose(found.expected(asked), mean[1:].mean(), rtol=0.15)


def test_few_counts_move_an_effect_little() -> None:
    entries = np.array([(i, j) for i in range(20) for j in range(6)])
    y = np.full(len(entries), 5)
    counts = CountTensor((21, 6), np.vstack([entries, [[20, 0]]]), [*y, 40])
    surprising = fitted("Main effects", counts).expected([[20, 1]])
    assert 5 < surprising[0] < 35


def test_slopes_are_found_and_outliers_are_not_extreme() -> None:
    z = np.random.default_rng(4).normal(size=(*SHAPE, 1))
    mean = 30 * np.exp(0.5 * z[..., 0])
    counts = drawn(mean, attributes=np.exp(2 * z))  # heavily skewed, but of the same ranks
    found = fitted("NB regression", counts)
    np.testing.assert_allclose(found.slopes, [0.5], atol=0.05)
    assert error(found, counts, mean) < 0.1
    assert found.expected([[0, 0, 0]], [[1e9]]) < 30 * np.exp(0.5 * 4)


class TestNeighbours:
    def waves(self, labels: Any = None) -> tuple[CountTensor, np.ndarray]:
        a, b, t = np.ogrid[:12, :10, :8]
        mean = 60 * np.exp(np.sin((a + b + 2 * t) / 3))  # no main effects to speak of
        return drawn(mean, labels=labels), mean

    def test_nearby_entries_speak_for_each_other(self) -> None:
        labels = [[str(40 + i) for i in range(12)], [str(-9 + i) for i in range(10)]]
        labels.append([f"2021-01-0{i + 1}" for i in range(8)])
        counts, mean = self.waves(labels)
        found = fitted("Neighbours", counts)
        assert min(found.nearness) > 0
        assert error(found, counts, mean) < 0.6 * error(
            fitted("Main effects", counts), counts, mean
        )

    def test_the_kernel_is_a_plain_sum(self) -> None:
        known = np.random.default_rng(5).uniform(size=(2, 6, 5))
        i, j = np.arange(6), np.arange(5)
        near = 0.6 ** np.abs(i[:, None] - i)
        alike = np.where(j[:, None] == j, 1.0, 0.1)
        total = np.einsum("ai,bj,cij->cab", near, alike, known)
        expected = (1 + total[0]) / (1 + total[1])
        np.testing.assert_allclose(methods._ratio(known, [0.6, 0.1], (0,)), expected)


class TestLightGBM:
    def test_steps_of_attributes_are_found(self) -> None:
        z = np.random.default_rng(7).uniform(size=(*SHAPE, 2))
        mean = np.where(z[..., 0] > 0.5, 80.0, 10.0)
        counts = drawn(mean, attributes=z)
        found = fitted("LightGBM", counts)
        assert found.trees > 0
        assert error(found, counts, mean) < 0.15

    def test_without_the_package(self, small: CountTensor, monkeypatch: Any) -> None:
        monkeypatch.setitem(sys.modules, "lightgbm", None)
        with pytest.raises(ImportError, match=r"not installed here; .* \"uncletc\[boosting\]\"$"):
            fitted("LightGBM", small)


class TestSettingAside:
    def test_a_fifth(self, small: CountTensor) -> None:
        assert set_aside(small, "entry", 0).sum() == 12
        fibres = set_aside(small, "fibre", 0)
        own = small.indices[:, 0] * 5 + small.indices[:, 1]
        assert not set(own[fibres]) & set(own[~fibres])

"""The contract that every method of the comparison keeps."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import torch

from uncletc import CountTensor, FitSettings, Iteration, StopReason
from uncletc.baselines import METHODS, PAPER_METHODS, Method, Prediction

pytestmark = [
    pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::uncletc.MisfitWarning"),
]

FEW: dict[str, dict[str, Any]] = {
    "UncleTC": {"hidden": (4,)},
    "UncleTC(Linear)": {},
    "CoSTCo": {"channels": 8, "batch_size": 16},
    "POND": {"inducing": 12, "channels": 4, "batch_size": 16},
    "LightGBM": {"least_entries": 2, "learning_rate": 0.3},
}
# Nothing in them is random.
UNSEEDED = {"HaLRTC", "Main effects"}
EXACT = ["UncleTC", "NTF-CPD-KL", "NTF-CPD-LS", "NTF-Tucker-LS"]

SOLVER_OF = {"learning_rate": "bcd", "batch_size": "bcd"}  # searched settings of one solver


@pytest.fixture(params=list(METHODS))
def method(request: pytest.FixtureRequest) -> Method:
    return METHODS[request.param]


def run(method: Method, counts: CountTensor, *, callback: Any = None, **values: Any) -> Prediction:
    """Fit with few iterations, unless told otherwise."""
    chosen = {"max_iter": 6} | FEW.get(method.name, {}) | values
    if method.has_rank:
        chosen = {"rank": 2} | chosen
    else:
        chosen.pop("rank", None)
    return method.fit(counts, method.settings(**chosen), callback=callback)


def every(shape: tuple[int, ...]) -> np.ndarray:
    return np.argwhere(np.ones(shape))


def predictions(found: Prediction, counts: CountTensor) -> np.ndarray:
    """λ and ŷ of all entries, ŷ with the attributes that the counts know."""
    entries = every(counts.shape)
    z = counts.attributes_at(entries, unknown_as_nan=True)
    return np.array([found.rate(entries), found.expected(entries), found.expected(entries, z)])


def with_counts(counts: CountTensor, values: Any) -> CountTensor:
    return CountTensor(
        counts.shape,
        counts.indices,
        values,
        attributes=counts.attributes if counts.n_attributed else None,
        attribute_indices=counts.attribute_indices if counts.n_attributed else None,
        exposure=counts.exposure,
    )


def low_rank(
    shape: tuple[int, ...] = (9, 8, 7), rank: int = 2, observed: float = 0.7, seed: int = 0
) -> tuple[CountTensor, np.ndarray]:
    """Counts that equal a low-rank tensor of whole numbers, and all of that tensor."""
    rng = np.random.default_rng(seed)
    whole = np.zeros(shape, dtype=int)
    for _ in range(rank):
        component = np.ones((), dtype=int)
        for size in shape:
            component = np.multiply.outer(component, rng.integers(1, 9, size))
        whole += component
    entries = every(shape)
    rows = np.sort(rng.permutation(len(entries))[: round(observed * len(entries))])
    return CountTensor(shape, entries[rows], whole[tuple(entries[rows].T)]), whole


class TestRegistry:
    def test_grids_hold_settings(self, method: Method) -> None:
        for name, values in method.grid.items():
            for value in values:
                given = {name: value} | ({"rank": 5} if method.has_rank else {})
                if name == "rank":
                    given = {name: value}
                if method.settings is FitSettings:
                    settings = FitSettings.of(**given, solver=SOLVER_OF.get(name, "joint"))
                    assert value in (
                        getattr(settings, name, None),
                        getattr(settings.solver, name, None),
                    )
                else:
                    assert getattr(method.settings(**given), name) == value


BAD = [
    ("rank", 0, "rank must be at least 1, got 0"),
    ("max_iter", -1, "max_iter must be at least 0, got -1"),
    ("seed", -1, "seed must be at least 0, got -1"),
    ("seed", 2**63, r"seed must be below 2\*\*63"),
    ("tol", float("nan"), "tol must be .*at least 0, got nan"),
    ("sweeps", 0, "sweeps must be at least 1, got 0"),
    ("passes", 0, "passes must be at least 1, got 0"),
    ("ridge", -1.0, "ridge must be finite and at least 0, got -1"),
    ("rho", 0.0, "rho must be finite and above 0, got 0"),
    ("growth", 0.5, "growth must be finite and at least 1, got 0.5"),
    ("alpha", 0.0, "alpha must be finite and above 0, got 0"),
    ("channels", 0, "channels must be at least 1, got 0"),
    ("inducing", 0, "inducing must be at least 1, got 0"),
    ("features", 0, "features must be at least 1, got 0"),
    ("batch_size", 0, "batch_size must be at least 1, got 0"),
    ("learning_rate", 0.0, "learning_rate must be (finite and above 0|positive and fin)"),
]


class TestSettings:
    def test_json_and_digest(self, method: Method) -> None:
        settings = method.settings(seed=7, **({"rank": 2} if method.has_rank else {}))
        assert method.settings.from_json(settings.to_json()) == settings
        assert settings.digest != replace(settings, seed=8).digest
        with pytest.raises(ValueError, match="unknown names, got 'colour'"):
            method.settings.from_json('{"colour": 1}')

    @pytest.mark.parametrize(("name", "value", "message"), BAD)
    def test_bad_values(self, name: str, value: Any, message: str) -> None:
        concerned = [m for m in METHODS.values() if name in {f.name for f in fields(m.settings)}]
        assert concerned
        for method in concerned:
            given = ({"rank": 2} if method.has_rank else {}) | {name: value}
            with pytest.raises(ValueError, match=message):
                method.settings(**given)

    def test_settings_of_another_method(self, method: Method, small: CountTensor) -> None:
        class Other:
            """No settings at all."""

        with pytest.raises(TypeError, match=r"settings must be .*Settings, got Other"):
            method.fit(small, Other())


class TestHeldOut:
    def test_order_of_the_data_does_not_matter(
        self, method: Method, small: CountTensor, rng: np.random.Generator
    ) -> None:
        rows, known = rng.permutation(small.n_observed), rng.permutation(small.n_attributed)
        other = CountTensor(
            small.shape,
            small.indices[rows],
            small.counts[rows],
            attributes=small.attributes[known],
            attribute_indices=small.attribute_indices[known],
        )
        first, second = run(method, small), run(method, other)
        np.testing.assert_array_equal(predictions(first, small), predictions(second, small))
        assert first.counts_digest == small.digest
        assert second.counts_digest == other.digest

    def test_held_out_counts_do_not_matter(self, method: Method, small: CountTensor) -> None:
        kept = np.arange(small.n_observed) % 4 > 0
        changed = with_counts(small, np.where(kept, small.counts, 10**6))
        first, second = (run(method, counts.subset(kept)) for counts in (small, changed))
        np.testing.assert_array_equal(predictions(first, small), predictions(second, small))
        third = run(method, changed)
        assert not np.array_equal(predictions(first, small), predictions(third, small))

    def test_missing_is_not_zero(self, method: Method) -> None:
        shape = (6, 5, 4)
        rows = np.random.default_rng(1).permutation(120)[:60]
        counts = CountTensor(shape, every(shape)[rows], np.full(60, 100))
        found = run(method, counts, max_iter=200 if method.name == "HaLRTC" else 60, rank=1)
        np.testing.assert_allclose(found.expected(every(shape)), 100.0, rtol=0.08)


class TestRecords:
    def test_progress(self, method: Method, small: CountTensor) -> None:
        seen: list[Iteration[Any]] = []
        found = run(method, small, max_iter=5, tol=0.0, callback=seen.append)
        assert tuple(seen) == found.history
        assert [record.iteration for record in seen] == list(range(6))
        assert np.isfinite([record.objective for record in seen]).all()
        seconds = [record.seconds for record in seen]
        assert seconds == sorted(seconds)
        assert found.stop is StopReason.MAX_ITER
        assert all(record.current is None for record in found.history)
        assert found.settings.max_iter == 5
        assert type(found).__name__ in repr(found)

    def test_cancelled_where_the_callback_says(self, method: Method, small: CountTensor) -> None:
        for last in (0, 2):
            found = run(method, small, callback=lambda record, n=last: record.iteration == n)
            assert found.stop is StopReason.CALLBACK
            assert found.history[-1].iteration == last
            assert np.isfinite(predictions(found, small)).all()

    def test_looking_changes_nothing_and_sees_the_end(
        self, method: Method, small: CountTensor
    ) -> None:
        observations: list[np.ndarray] = []

        def process(record: Iteration[Any]) -> None:
            assert record.current is not None
            observations.append(predictions(record.current(), small))

        watched, silent = run(method, small, callback=process), run(method, small)
        np.testing.assert_array_equal(predictions(watched, small), predictions(silent, small))
        np.testing.assert_allclose(observations[-1], predictions(silent, small), rtol=1e-6)
        assert not np.array_equal(observations[0], observations[-1])

    def test_the_objective_falls(self, method: Method, small: CountTensor) -> None:
        if method.name == "HaLRTC":
            pytest.skip("its objective is what the copies have, which grow out of nothing")
        history = run(method, small, max_iter=30).history
        assert history[-1].objective < history[0].objective


class TestSeeds:
    def test_the_seed_decides(self, method: Method, small: CountTensor) -> None:
        before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        first = run(method, small, seed=3)
        assert torch.equal(torch.get_rng_state(), before[0])
        assert np.array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
        torch.rand(3)
        second, third = run(method, small, seed=3), run(method, small, seed=4)
        torch.set_rng_state(before[0])
        np.testing.assert_array_equal(predictions(first, small), predictions(second, small))
        if method.name not in UNSEEDED:
            assert not np.array_equal(predictions(first, small), predictions(third, small))


class TestAccuracy:
    @pytest.mark.parametrize("name", EXACT)
    def test_low_rank_counts_are_found(self, name: str) -> None:
        counts, whole = low_rank()
        extra = {"ridge": 0.0} if "LS" in name else {}
        tol = 1e-7 if name == "UncleTC" else 1e-9
        found = run(METHODS[name], counts, max_iter=1500, tol=tol, **extra)
        error = np.abs(found.expected(every(whole.shape)) - whole.ravel())
        assert error.mean() < 0.01 * whole.mean()

    def test_low_rank_values_are_completed(self) -> None:
        counts, whole = low_rank((12, 12, 12), rank=1, observed=0.6)
        found = run(METHODS["HaLRTC"], counts, max_iter=1000)
        error = np.abs(found.expected(every(whole.shape)) - whole.ravel())
        assert error.mean() < 0.01 * whole.mean()

    @pytest.mark.parametrize("name", ["CoSTCo", "POND"])
    def test_networks_beat_a_constant(self, name: str) -> None:
        counts, whole = low_rank(observed=0.8)
        held_out = np.ones(whole.shape, dtype=bool)
        held_out[tuple(counts.indices.T)] = False
        values = {"CoSTCo": {"channels": 32}, "POND": {"inducing": 32, "learning_rate": 0.01}}
        found = run(METHODS[name], counts, rank=4, max_iter=60, **values[name])
        error = np.abs(found.expected(np.argwhere(held_out)) - whole[held_out]).mean()
        assert error < 0.4 * np.abs(whole[held_out] - counts.counts.mean()).mean()

    @pytest.mark.parametrize(
        "name",
        [
            *(n for n, m in PAPER_METHODS.items() if m.uses_exposure),
            "Main effects",
        ],
    )
    def test_rates_are_proportional_to_exposure(self, name: str) -> None:
        shape, rng = (8, 7, 6), np.random.default_rng(3)
        exposure = 10.0 ** rng.integers(0, 4, (8, 1, 6))
        level = np.multiply.outer(np.arange(1, 9), np.arange(2, 9))[:, :, None]
        whole = (exposure * level).astype(int)
        rows = rng.permutation(whole.size)[:200]
        entries = every(shape)[rows]
        counts = CountTensor(shape, entries, whole[tuple(entries.T)], exposure=exposure)
        extra = {"ridge": 1e-6} if "LS" in name else {}
        found = run(METHODS[name], counts, rank=1, max_iter=1000, tol=1e-9, **extra)
        error = np.abs(found.expected(every(shape)) - whole.ravel())
        assert error.mean() < 0.02 * whole.mean()


class TestPredictions:
    def test_attributes_are_used_or_ignored(self, method: Method, small: CountTensor) -> None:
        found = run(method, small, max_iter=40)
        entries = small.attribute_indices
        z = small.attributes_at(entries)
        with_z, without = found.expected(entries, z), found.expected(entries)
        assert (found.n_attributes == 3) is method.uses_attributes
        assert np.array_equal(with_z, without) is not method.uses_attributes
        unknown = np.full_like(z, np.nan)
        np.testing.assert_array_equal(found.expected(entries, unknown), without)
        half = np.where(np.arange(len(z))[:, None] % 2 == 0, z, np.nan)
        mixed = np.where(np.arange(len(z)) % 2 == 0, with_z, without)
        np.testing.assert_allclose(found.expected(entries, half), mixed, rtol=1e-5)

    def test_attributes_of_another_size(self, method: Method, small: CountTensor) -> None:
        found = run(method, small, max_iter=1)
        if not method.uses_attributes:
            assert found.expected([[0, 0, 0]], [[1.0]]).shape == (1,)
            return
        with pytest.raises(ValueError, match=r"attributes must have (shape|3 columns)"):
            found.expected([[0, 0, 0]], [[1.0]])


class TestEdges:
    def test_nothing_observed(self, method: Method) -> None:
        with pytest.raises(ValueError, match="counts must hold at least 1 observed entry, got 0"):
            run(method, CountTensor((2, 3), [], []))

    def test_one_entry(self, method: Method) -> None:
        counts = CountTensor((3, 2, 4), [[1, 0, 2]], [7], attributes=[[0.5, -1.0]])
        assert_sound(run(method, counts), counts)

    @pytest.mark.parametrize("value", [0, 1, 10**9])
    def test_all_counts_equal(self, method: Method, small: CountTensor, value: int) -> None:
        counts = with_counts(small, np.full(small.n_observed, value))
        assert_sound(run(method, counts), counts)

    def test_empty_and_zero_slices(self, method: Method, small: CountTensor) -> None:
        zeros = with_counts(small, np.where(small.indices[:, 0] == 2, 0, small.counts))
        assert_sound(run(method, zeros, max_iter=30), zeros)
        empty = small.subset(small.indices[:, 1] != 3)
        assert_sound(run(method, empty, max_iter=30), empty)

    @pytest.mark.parametrize("name", [n for n, m in METHODS.items() if m.dense])
    def test_a_tensor_too_large_to_hold(self, name: str) -> None:
        counts = CountTensor((3000, 3000, 2), [[0, 0, 0]], [1])
        message = r"holds every entry.*at most 16,777,216; shape \(3000, 3000, 2\) has 18,000,000"
        with pytest.raises(ValueError, match=message):
            run(METHODS[name], counts)


def assert_sound(found: Prediction, counts: CountTensor) -> None:
    values = predictions(found, counts)
    assert np.isfinite(values).all()
    assert (values >= 0).all()

"""Fit: its predictions against loops, and files that come back whole or not at all."""

from __future__ import annotations

import dataclasses
import json
import math
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from uncletc import (
    CountTensor,
    DetectionNetwork,
    Fit,
    FitSettings,
    Iteration,
    Scale,
    StopReason,
    UnreadableFitError,
    rate_tensor,
)


def make(
    shape: tuple[int, ...] = (3, 4, 2), rank: int = 2, hidden: Any = (5,), **changes: Any
) -> Fit:
    rng = np.random.default_rng(0)
    network = DetectionNetwork(3, hidden, torch.Generator().manual_seed(0))
    parts: dict[str, Any] = {
        "factors": tuple(rng.uniform(0, 3, (size, rank)) for size in shape),
        "network": network,
        "observed_detection": rng.uniform(0, 1, 7),
        "history": (
            Iteration(iteration=0, objective=1 / 3, seconds=0.1),
            Iteration(iteration=1, objective=-2e100, seconds=0.25),
        ),
        "stop": StopReason.TOLERANCE,
        "settings": FitSettings(rank=rank, hidden=hidden, seed=4),
        "counts_digest": "ab" * 32,
        **changes,
    }
    return Fit(**parts)


class TestPredictions:
    @pytest.mark.parametrize("shape", [(3, 4), (3, 4, 2), (2, 3, 2, 4)])
    def test_rate_agrees_with_loops_and_the_dense_tensor(self, shape: tuple[int, ...]) -> None:
        found = make(shape, rank=3)
        entries = list(np.ndindex(shape))
        loops = [
            sum(
                math.prod(float(u[i, f]) for u, i in zip(found.factors, entry, strict=True))
                for f in range(3)
            )
            for entry in entries
        ]
        np.testing.assert_allclose(found.rate(entries), loops, rtol=1e-14)
        dense = found.rate_tensor()
        assert dense.shape == shape == found.shape
        np.testing.assert_allclose(dense.ravel(), loops, rtol=1e-14)

    def test_rate_keeps_order_and_repeats(self) -> None:
        found = make()
        dense = found.rate_tensor()
        expected = [dense[2, 0, 1], dense[0, 3, 0], dense[2, 0, 1]]
        np.testing.assert_allclose(found.rate([[2, 0, 1], [0, 3, 0], [2, 0, 1]]), expected)

    def test_nothing_asked_nothing_told(self) -> None:
        found = make()
        assert found.rate([]).shape == (0,)
        assert found.detection(np.empty((0, 3))).shape == (0,)
        assert found.expected([], np.empty((0, 3))).shape == (0,)

    def test_expected_is_rate_times_detection(self) -> None:
        found = make()
        z = np.random.default_rng(1).standard_normal((2, 3))
        entries = [[0, 1, 0], [2, 3, 1]]
        expected = found.rate(entries) * found.detection(z)
        np.testing.assert_array_equal(found.expected(entries, z), expected)

    def test_unknown_attributes_take_the_mean_detection(self) -> None:
        found = make(mean_detection=0.25)
        z = np.array([[0.1, -1.0, 2.0], [np.nan, np.nan, np.nan]])
        entries = [[0, 1, 0], [2, 3, 1]]
        p = np.array([found.detection(z[:1])[0], 0.25])
        np.testing.assert_allclose(found.expected(entries, z), found.rate(entries) * p)
        np.testing.assert_allclose(found.expected(entries), found.rate(entries) * 0.25)

    def test_detection_is_the_network(self) -> None:
        found = make()
        assert found.network is not None
        z = np.random.default_rng(1).standard_normal((9, 3))
        p = found.detection(z)
        np.testing.assert_array_equal(p, found.network.probability(torch.from_numpy(z)))
        assert ((p > 0) & (p <= 1)).all()

    def test_without_a_network_all_is_detected(self) -> None:
        found = make(network=None)
        assert found.n_attributes == 0
        np.testing.assert_array_equal(found.detection(np.empty((3, 0))), [1.0, 1.0, 1.0])
        entries = [[0, 1, 0]]
        np.testing.assert_array_equal(
            found.expected(entries, np.empty((1, 0))), found.rate(entries)
        )

    def test_repr_and_sizes(self) -> None:
        found = make()
        assert (found.shape, found.rank, found.n_attributes) == ((3, 4, 2), 2, 3)
        assert repr(found) == (
            "Fit(3 × 4 × 2, rank 2, members 1, 1 iterations, objective -2e+100, "
            "stopped: the objective changed by less than tol)"
        )

    def test_frozen(self) -> None:
        with pytest.raises(dataclasses.FrozenInstanceError):
            make().stop = StopReason.CALLBACK  # type: ignore[misc]


class TestBadInput:
    @pytest.mark.parametrize(
        ("indices", "message"),
        [
            (
                [[3, 0, 0]],
                r"indices must lie inside shape \(3, 4, 2\); row 0 is \(3, 0, 0\), and mode 0",
            ),
            (
                [[0, 0, 0], [0, -1, 0]],
                r"indices must lie inside .* row 1 is \(0, -1, 0\), and mode 1",
            ),
            ([[0, 0]], r"indices must have shape \(n, 3\), got \(1, 2\)"),
            ([0, 0, 0], r"indices must have shape \(n, 3\), got \(3,\)"),
            ([[0, 0.5, 0]], r"indices must be whole numbers; position \(0, 1\) is 0\.5"),
        ],
    )
    def test_indices(self, indices: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            make().rate(indices)
        with pytest.raises(ValueError, match=message):
            make().expected(indices, np.zeros((1, 3)))

    @pytest.mark.parametrize(
        ("attributes", "message"),
        [
            ([[0.0, 1.0]], "attributes must have 3 columns, as in the fit, got 2"),
            ([0.0, 1.0, 2.0], r"attributes must have 2 dimensions, got shape \(3,\)"),
            ([[0.0, float("nan"), 1.0]], r"attributes must be finite; position \(0, 1\) is nan"),
            ([[0.0, 1.0, float("inf")]], r"attributes must be finite; position \(0, 2\) is inf"),
        ],
    )
    def test_attributes(self, attributes: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            make().detection(attributes)
        with pytest.raises(ValueError, match=message):
            make().expected([[0, 0, 0]], attributes)

    def test_as_many_rows(self) -> None:
        message = "indices and attributes must have as many rows, got 1 and 2"
        with pytest.raises(ValueError, match=message):
            make().expected([[0, 0, 0]], np.zeros((2, 3)))

    def test_attributes_for_a_fit_without(self) -> None:
        with pytest.raises(ValueError, match="attributes must have 0 columns"):
            make(network=None).detection([[1.0]])


class TestSaveAndLoad:
    @pytest.mark.parametrize("hidden", [(5,), (), (4, 3), None], ids=str)
    def test_everything_comes_back(self, tmp_path: Path, hidden: tuple[int, ...] | None) -> None:
        saved = make(hidden=hidden) if hidden is not None else make(network=None)
        saved.save(tmp_path / "fit with a space.dat")
        back = Fit.load(tmp_path / "fit with a space.dat")
        for name in ("history", "stop", "settings", "counts_digest", "shape", "n_attributes"):
            assert getattr(back, name) == getattr(saved, name), name
        for ours, theirs in zip(back.factors, saved.factors, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(back.observed_detection, saved.observed_detection)
        z = np.random.default_rng(1).standard_normal((6, saved.n_attributes))
        np.testing.assert_array_equal(back.detection(z), saved.detection(z))

    @pytest.mark.parametrize("stop", StopReason)
    def test_every_reason_to_stop(self, tmp_path: Path, stop: StopReason) -> None:
        make(stop=stop).save(tmp_path / "fit.npz")
        assert Fit.load(tmp_path / "fit.npz").stop is stop

    def test_a_real_fit(self, tmp_path: Path, small: CountTensor, small_fit: Fit) -> None:
        small_fit.save(tmp_path / "fit.npz")
        back = Fit.load(str(tmp_path / "fit.npz"))
        np.testing.assert_array_equal(back.rate_tensor(), small_fit.rate_tensor())
        z = small.attributes
        np.testing.assert_array_equal(back.detection(z), small_fit.detection(z))

    def test_a_loaded_fit_is_a_start(
        self, tmp_path: Path, small: CountTensor, small_fit: Fit, short_fit: Callable[..., Fit]
    ) -> None:
        small_fit.save(tmp_path / "fit.npz")
        warm, cold = (
            short_fit(small, 3, start=start)
            for start in (Fit.load(tmp_path / "fit.npz"), small_fit)
        )
        np.testing.assert_array_equal(warm.rate_tensor(), cold.rate_tensor())

    def test_no_pickle_inside(self, tmp_path: Path) -> None:
        make().save(tmp_path / "fit.npz")
        with np.load(tmp_path / "fit.npz", allow_pickle=False) as file:
            assert all(file[name].dtype != object for name in file.files)


class TestUnreadable:
    MESSAGE = "path must be a fit written by Fit.save; .*broken.npz is not readable as one"

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        make().save(tmp_path / "broken.npz")
        return tmp_path / "broken.npz"

    def rewrite(self, path: Path, *, without: str = "", **changes: Any) -> None:
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if name != without}
        header = json.loads(arrays["header"].tobytes())
        header.update({name: changes.pop(name) for name in list(changes) if name in header})
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        np.savez(path, **{**arrays, **changes})

    def refused(self, path: Path) -> None:
        with pytest.raises(UnreadableFitError, match=self.MESSAGE):
            Fit.load(path)

    def test_the_rewriting_itself_does_no_harm(self, path: Path) -> None:
        self.rewrite(path)
        assert Fit.load(path).rank == 2

    def test_a_missing_file_is_missing(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match=r"nothing\.npz"):
            Fit.load(tmp_path / "nothing.npz")

    @pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
    def test_truncated(self, path: Path, share: float) -> None:
        whole = path.read_bytes()
        path.write_bytes(whole[: int(share * len(whole))])
        self.refused(path)

    @pytest.mark.parametrize("name", ["header", "0/factor_1", "observed_detection", "0/g/0"])
    def test_a_flipped_byte_in_the_contents(self, path: Path, name: str) -> None:
        whole = bytearray(path.read_bytes())
        with zipfile.ZipFile(path) as file:
            part = file.getinfo(f"{name}.npy")
        whole[part.header_offset + 30 + len(f"{name}.npy") + 20 + part.compress_size // 2] ^= 0xFF
        path.write_bytes(whole)
        self.refused(path)

    @pytest.mark.parametrize("content", [b"rank = 3\n", b"\x00" * 100, b"\x80\x04N."])
    def test_something_else(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        self.refused(path)

    def test_a_bare_array(self, path: Path) -> None:
        with path.open("wb") as file:
            np.save(file, np.arange(3))
        self.refused(path)

    def test_counts_are_not_a_fit(self, path: Path, small: CountTensor) -> None:
        small.save(path)
        self.refused(path)

    @pytest.mark.parametrize("name", ["header", "0/factor_2", "0/g/3", "observed_detection"])
    def test_a_missing_part(self, path: Path, name: str) -> None:
        if name == "header":
            with np.load(path) as file:
                arrays = {key: file[key] for key in file.files if key != "header"}
            np.savez(path, **arrays)
        else:
            self.rewrite(path, without=name)
        self.refused(path)

    def test_a_pickle_is_never_opened(self, path: Path) -> None:
        self.rewrite(path, observed_detection=np.array([{"a": 1}, None], dtype=object))
        self.refused(path)

    @pytest.mark.parametrize(
        "changes",
        [
            {"format": 1},
            {"stop": "TIRED"},
            {"settings": {"rank": 0}},
            {"settings": {"rank": 2, "rnk": 2}},
            {"history": [{"iteration": 0}]},
            {"0/g/0": np.zeros((4, 3))},
        ],
        ids=str,
    )
    def test_a_part_that_does_not_fit(self, path: Path, changes: dict[str, Any]) -> None:
        self.rewrite(path, **changes)
        self.refused(path)

    def test_it_is_a_value_error(self, path: Path) -> None:
        path.write_bytes(b"")
        with pytest.raises(ValueError, match=self.MESSAGE):
            Fit.load(path)


class TestToFrame:
    def test_one_row_per_entry_with_what_the_fit_says_of_it(
        self, small: CountTensor, short_fit: Callable[..., Fit]
    ) -> None:
        estimates = short_fit(small, 5, solver="joint")
        scale = Scale.mean_detection(estimates.detection(small.attributes), 0.4)
        frame = estimates.to_frame(small, scale=scale)
        indices, y = small.entries()
        np.testing.assert_array_equal(frame["count"], y)
        np.testing.assert_array_equal(frame["rate"], scale.rate(estimates.rate(indices)))
        known = small.rows_of(indices) >= 0
        p = estimates.detection(small.attributes_at(indices[known]))
        np.testing.assert_array_equal(frame["detection"][known], scale.detection(p))
        elsewhere = scale.detection(estimates.detection(small.attributes).mean())
        np.testing.assert_allclose(frame["detection"][~known], elsewhere)
        np.testing.assert_allclose(frame["rate"] * frame["detection"], frame["expected"])
        assert list(frame.columns)[:4] == [*small.modes, "count"]

    def test_members_give_intervals(
        self, small: CountTensor, short_fit: Callable[..., Fit]
    ) -> None:
        estimates = short_fit(small, 5, solver="joint", members=3)
        frame = estimates.to_frame(small, level=0.5)
        indices, _ = small.entries()
        known = small.rows_of(indices) >= 0
        rate = estimates.rate(indices, spread=True, level=0.5)
        np.testing.assert_array_equal(frame["rate_low"], rate.low)
        z = small.attributes_at(indices[known])
        expected = estimates.expected(indices[known], z, spread=True, level=0.5)
        np.testing.assert_array_equal(frame["expected_high"][known], expected.high)
        assert frame.loc[~known, ["detection_low", "expected_high"]].isna().all(axis=None)
        for name in ("rate", "detection", "expected"):
            at = frame[known]
            assert (at[f"{name}_low"] <= at[name]).all()
            assert (at[name] <= at[f"{name}_high"]).all()

    def test_without_attributes_everything_is_detected(
        self, small: CountTensor, short_fit: Callable[..., Fit]
    ) -> None:
        bare = CountTensor(small.shape, small.indices, small.counts)
        frame = short_fit(bare, 3, solver="joint", members=2).to_frame(bare)
        assert (frame["detection"] == 1).all()
        np.testing.assert_array_equal(frame["expected"], frame["rate"])

    def test_counts_of_another_shape_are_refused(self, small_fit: Fit) -> None:
        other = CountTensor((2, 2), [[0, 0]], [1])
        with pytest.raises(ValueError, match=r"counts must have shape \(6, 5, 4\) and 3 attrib"):
            small_fit.to_frame(other)


def test_factors_are_those_of_the_first_member_and_rates_the_median(
    small: CountTensor, short_fit: Callable[..., Fit]
) -> None:
    several, one = (short_fit(small, 3, solver="joint", members=m) for m in (3, 1))
    first = several.members[0]
    assert all(a is b for a, b in zip(several.factors, first.factors, strict=True))
    each = [member.rate(small.indices) for member in several.members]
    np.testing.assert_array_equal(several.rate(small.indices), np.median(each, axis=0))
    at = tuple(small.indices.T)
    np.testing.assert_allclose(rate_tensor(one.factors)[at], one.rate(small.indices))

"""CountTensor: what it holds, what it refuses, and that nothing is lost on disk."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from uncletc import CountTensor

SHAPE = (2, 3)
TWO = [[0, 0], [1, 2]]


def make(**changes: Any) -> CountTensor:
    arguments: dict[str, Any] = {"shape": SHAPE, "indices": TWO, "counts": [4, 0], **changes}
    return CountTensor(**arguments)


@pytest.fixture
def overlapping(rng: np.random.Generator) -> CountTensor:
    """20 observed and 18 attributed entries of a 4 × 3 × 5 tensor, partly the same ones."""
    shape = (4, 3, 5)
    observed, attributed = (rng.choice(60, n, replace=False) for n in (20, 18))
    return CountTensor(
        shape,
        np.column_stack(np.unravel_index(observed, shape)),
        rng.poisson(7, 20),
        attributes=rng.standard_normal((18, 2)),
        attribute_indices=np.column_stack(np.unravel_index(attributed, shape)),
        modes=["latitude", "longitude", "day"],
        labels=[list("abcd"), range(3), ["mo", "tu", "we", "th", "fr"]],
        attribute_names=["wind", "größe"],
        simulated=True,
    )


class TestWhatItHolds:
    def test_sizes_and_defaults(self) -> None:
        y = make(attributes=[[0.5, 1.0], [0.1, 2.0]])
        assert (y.shape, y.n_observed, y.n_attributed, y.n_attributes) == (SHAPE, 2, 2, 2)
        assert y.share_observed == pytest.approx(1 / 3)
        assert y.modes == ("mode 1", "mode 2")
        assert y.labels == (("0", "1"), ("0", "1", "2"))
        assert y.attribute_names == ("z1", "z2")
        assert y.simulated is False
        assert y.indices.dtype == y.counts.dtype == np.int64
        np.testing.assert_array_equal(y.attribute_indices, TWO)

    def test_without_attributes(self) -> None:
        y = make()
        assert (y.n_attributed, y.n_attributes, y.attribute_names) == (0, 0, ())
        np.testing.assert_array_equal(y.attribute_rows, [-1, -1])

    def test_whole_floats_are_counts(self) -> None:
        y = make(indices=np.array(TWO, dtype=float), counts=np.array([4.0, 0.0]))
        np.testing.assert_array_equal(y.counts, [4, 0])

    def test_nothing_observed_is_allowed(self) -> None:
        y = CountTensor(SHAPE, [], [])
        assert (y.n_observed, y.share_observed) == (0, 0.0)
        assert y.indices.shape == (0, 2)

    def test_repr_says_how_much_is_observed(self) -> None:
        assert repr(make()) == (
            "CountTensor(2 × 3, 2 observed (33.3%), 0 attributed, 0 attributes)"
        )

    def test_huge_tensors_are_never_made_dense(self) -> None:
        last, first = [2**10 - 1] * 6, [0] * 6
        y = CountTensor([2**10] * 6, [last, first], [1, 2], attributes=[[1.0], [2.0]])
        np.testing.assert_array_equal(y.attribute_rows, [0, 1])
        np.testing.assert_array_equal(y.attributes_at([first, last]), [[2.0], [1.0]])
        assert y.share_observed == 2**-59

    def test_unknown_attributes_are_refused_or_nan(self) -> None:
        y = make(attributes=[[0.5]], attribute_indices=[TWO[1]])
        np.testing.assert_array_equal(y.attributes_at(TWO, unknown_as_nan=True), [[np.nan], [0.5]])
        with pytest.raises(ValueError, match=r"entry .* has none"):
            y.attributes_at(TWO)

    def test_order_by_entry(self, small: CountTensor) -> None:
        assert small.in_order() is small
        turned = small.subset(np.arange(small.n_observed)[::-1])
        assert turned.in_order().digest == small.digest

    def test_later_changes_of_the_input_do_not_reach_it(self) -> None:
        indices, counts, attributes = np.array(TWO), np.array([4, 0]), np.ones((2, 1))
        y = CountTensor(SHAPE, indices, counts, attributes=attributes)
        indices[:], counts[:], attributes[:] = 0, 9, 9
        np.testing.assert_array_equal(y.indices, TWO)
        np.testing.assert_array_equal(y.counts, [4, 0])
        np.testing.assert_array_equal(y.attributes, [[1.0], [1.0]])
        np.testing.assert_array_equal(y.attribute_indices, TWO)

    @pytest.mark.parametrize("name", ["indices", "counts", "attributes", "attribute_indices"])
    def test_it_cannot_be_changed(self, small: CountTensor, name: str) -> None:
        with pytest.raises(ValueError, match="read-only"):
            getattr(small, name)[0] = 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(small, name, None)


class TestAttributes:
    def test_rows_agree_with_a_loop(self, overlapping: CountTensor) -> None:
        place = {tuple(entry): row for row, entry in enumerate(overlapping.attribute_indices)}
        expected = [place.get(tuple(entry), -1) for entry in overlapping.indices]
        assert -1 in expected
        assert max(expected) > 0
        np.testing.assert_array_equal(overlapping.attribute_rows, expected)

    def test_attributes_at_follows_the_order_asked_for(self, overlapping: CountTensor) -> None:
        rows = [5, 2, 2, 17, 0]
        found = overlapping.attributes_at(overlapping.attribute_indices[rows])
        np.testing.assert_array_equal(found, overlapping.attributes[rows])

    def test_attributes_at_names_an_entry_without(self) -> None:
        y = make(attributes=[[0.5], [0.1]])
        with pytest.raises(
            ValueError, match=r"indices must be entries with attributes; .*\(0, 1\)"
        ):
            y.attributes_at([[0, 0], [0, 1]])
        with pytest.raises(ValueError, match=r"indices must lie inside shape \(2, 3\)"):
            y.attributes_at([[2, 0]])

    @pytest.mark.parametrize("case", ["omega in xi", "xi in omega", "disjoint"])
    def test_sets_may_nest_or_be_disjoint(self, case: str) -> None:
        entries = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        observed, attributed = {
            "omega in xi": ([0, 1], [0, 1, 2]),
            "xi in omega": ([0, 1, 2], [1]),
            "disjoint": ([0, 1], [2, 3]),
        }[case]
        y = CountTensor(
            (2, 2),
            entries[observed],
            np.arange(len(observed)),
            attributes=np.array(attributed, dtype=float)[:, None],
            attribute_indices=entries[attributed],
        )
        expected = [attributed.index(i) if i in attributed else -1 for i in observed]
        np.testing.assert_array_equal(y.attribute_rows, expected)


class TestSubset:
    def test_a_mask_and_its_rows_agree(self, overlapping: CountTensor) -> None:
        mask = overlapping.counts > 6
        by_mask, by_rows = overlapping.subset(mask), overlapping.subset(np.flatnonzero(mask))
        assert by_mask.digest == by_rows.digest
        np.testing.assert_array_equal(by_mask.indices, overlapping.indices[mask])
        np.testing.assert_array_equal(by_mask.counts, overlapping.counts[mask])

    def test_only_counts_leave(self, overlapping: CountTensor) -> None:
        kept = overlapping.subset(np.arange(3))
        assert kept.n_observed == 3
        np.testing.assert_array_equal(kept.attributes, overlapping.attributes)
        np.testing.assert_array_equal(kept.attribute_indices, overlapping.attribute_indices)
        for name in ("shape", "modes", "labels", "attribute_names", "simulated"):
            assert getattr(kept, name) == getattr(overlapping, name)

    def test_attributes_stay_when_they_came_with_the_counts(self) -> None:
        kept = make(attributes=[[0.5], [0.1]]).subset([True, False])
        assert (kept.n_observed, kept.n_attributed) == (1, 2)

    def test_a_mask_of_another_length_is_refused(self, overlapping: CountTensor) -> None:
        with pytest.raises(ValueError, match=r"observed must have shape \(20,\) .*got \(19,\)"):
            overlapping.subset(np.ones(19, dtype=bool))

    def test_nothing_may_be_kept(self, overlapping: CountTensor) -> None:
        assert overlapping.subset(np.zeros(20, dtype=bool)).n_observed == 0
        assert overlapping.subset([]).n_observed == 0

    @pytest.mark.parametrize("rows", [[20], [0.5]])
    def test_rows_that_do_not_exist_are_named(self, overlapping: CountTensor, rows: Any) -> None:
        with pytest.raises((ValueError, TypeError, IndexError), match="observed"):
            overlapping.subset(rows)


class TestDigest:
    def test_equal_data_have_equal_digests(self) -> None:
        assert make().digest == make(counts=np.array([4.0, 0.0])).digest

    @pytest.mark.parametrize(
        "changes",
        [
            {"shape": (2, 4)},
            {"counts": [4, 1]},
            {"indices": [[0, 0], [1, 1]]},
            {"attributes": [[0.0], [1.0]]},
            {"attributes": [[0.0], [1.0 + 2**-52]]},
            {"attributes": [[0.0, 1.0]], "attribute_indices": [[0, 0]]},
            {"attributes": [[0.0], [1.0]], "attribute_indices": [[0, 0], [0, 1]]},
            {"exposure": [[1.0], [2.0]]},
            {"exposure": [[1.0, 2.0, 3.0]]},
        ],
    )
    def test_whatever_a_fit_sees_changes_it(self, changes: dict[str, Any]) -> None:
        base = {"attributes": [[0.0], [1.0]]} if changes != {"attributes": [[0.0], [1.0]]} else {}
        assert make(**{**base, **changes}).digest != make(**base).digest

    def test_words_do_not_change_it(self) -> None:
        words = {"modes": ["row", "column"], "labels": [list("ab"), list("cde")]}
        assert make(**words, simulated=True).digest == make().digest


class TestSaveAndLoad:
    def test_everything_comes_back(self, overlapping: CountTensor, tmp_path: Path) -> None:
        path = tmp_path / "counts with a space.data"
        overlapping.save(path)
        back = CountTensor.load(path)
        assert back.digest == overlapping.digest
        for name in ("shape", "modes", "labels", "attribute_names", "simulated"):
            assert getattr(back, name) == getattr(overlapping, name)

    def test_without_attributes(self, tmp_path: Path) -> None:
        make().save(tmp_path / "y.npz")
        back = CountTensor.load(tmp_path / "y.npz")
        assert back.digest == make().digest
        assert back.n_attributed == 0

    def test_no_pickle_inside(self, overlapping: CountTensor, tmp_path: Path) -> None:
        overlapping.save(tmp_path / "y.npz")
        with np.load(tmp_path / "y.npz", allow_pickle=False) as file:
            assert all(file[name].dtype != object for name in file.files)


BAD = {
    "negative counts": ({"counts": [4, -1]}, ValueError, r"counts must be >= 0; position 1 is -1"),
    "fractional counts": (
        {"counts": [4.0, 0.5]},
        ValueError,
        r"counts must be whole numbers; position 1 is 0\.5",
    ),
    "NaN counts": (
        {"counts": [float("nan"), 0]},
        ValueError,
        r"counts must be whole numbers; position 0 is nan",
    ),
    "infinite counts": (
        {"counts": [4, float("inf")]},
        ValueError,
        r"counts must be whole numbers; position 1 is inf",
    ),
    "counts as text": ({"counts": ["4", "0"]}, TypeError, r"counts must be whole numbers.*<U1"),
    "counts beyond 64 bits": (
        {"counts": [1e20, 0]},
        (ValueError, TypeError, OverflowError),
        r"counts .*1e\+20",
    ),
    "unsigned counts beyond 63 bits": (
        {"counts": np.array([2**64 - 1, 0], dtype=np.uint64)},
        (ValueError, TypeError, OverflowError),
        r"counts .*18446744073709551615",
    ),
    "too few counts": ({"counts": [4]}, ValueError, r"counts must have shape \(2,\).*got \(1,\)"),
    "a table of counts": (
        {"counts": [[4, 0]]},
        ValueError,
        r"counts must have shape \(2,\).*got \(1, 2\)",
    ),
    "duplicate indices": (
        {"indices": [[1, 2], [1, 2]]},
        ValueError,
        r"indices must be distinct; \(1, 2\) occurs more than once",
    ),
    "index too large": (
        {"indices": [[0, 0], [1, 3]]},
        ValueError,
        r"indices must lie inside shape \(2, 3\); row 1 is \(1, 3\), and mode 1 has indices 0 to 2",
    ),
    "negative index": (
        {"indices": [[-1, 0], [1, 2]]},
        ValueError,
        r"indices must lie inside shape \(2, 3\); row 0 is \(-1, 0\), and mode 0 has",
    ),
    "fractional index": (
        {"indices": [[0, 0.5], [1, 2]]},
        ValueError,
        r"indices must be whole numbers; position \(0, 1\) is 0\.5",
    ),
    "indices of another order": (
        {"indices": [[0, 0, 0], [1, 2, 0]]},
        ValueError,
        r"indices must have shape \(n, 2\), got \(2, 3\)",
    ),
    "one mode": ({"shape": (3,)}, ValueError, r"shape must have at least 2 modes, got \(3,\)"),
    "an empty mode": ({"shape": (2, 0)}, ValueError, r"shape must hold positive integers.*2, 0"),
    "a fractional mode": (
        {"shape": (2.5, 3)},
        ValueError,
        r"shape must hold positive integers, got \(2\.5, 3\)",
    ),
    "a NaN mode": ({"shape": (float("nan"), 3)}, (ValueError, TypeError), r"shape .*nan"),
    "a shape that is one number": ({"shape": 6}, (ValueError, TypeError), r"shape .*6"),
    "too many entries": (
        {"shape": (2**31, 2**32)},
        ValueError,
        r"shape must have at most 2\*\*62 entries",
    ),
    "NaN attributes": (
        {"attributes": [[0.0, 1.0], [float("nan"), 1.0]]},
        ValueError,
        r"attributes must be finite; position \(1, 0\) is nan",
    ),
    "infinite attributes": (
        {"attributes": [[0.0], [-float("inf")]]},
        ValueError,
        r"attributes must be finite; position \(1, 0\) is -inf",
    ),
    "attributes as text": (
        {"attributes": [["a"], ["b"]]},
        (ValueError, TypeError),
        r"attributes .*",
    ),
    "flat attributes": (
        {"attributes": [0.0, 1.0]},
        ValueError,
        r"attributes must have 2 dimensions, got shape \(2,\)",
    ),
    "too few attributes": (
        {"attributes": [[0.0]]},
        ValueError,
        r"attributes must have one row per row of indices \(2\).*got 1 rows",
    ),
    "attribute indices alone": (
        {"attribute_indices": TWO},
        ValueError,
        r"attribute_indices needs attributes; attributes is None",
    ),
    "too few attribute indices": (
        {"attributes": [[0.0], [1.0]], "attribute_indices": [[0, 0]]},
        ValueError,
        r"attributes must have one row per row of attribute_indices \(1\), got 2 rows",
    ),
    "duplicate attribute indices": (
        {"attributes": [[0.0], [1.0]], "attribute_indices": [[0, 1], [0, 1]]},
        ValueError,
        r"attribute_indices must be distinct; \(0, 1\) occurs more than once",
    ),
    "attribute index too large": (
        {"attributes": [[0.0]], "attribute_indices": [[0, 3]]},
        ValueError,
        r"attribute_indices must lie inside shape \(2, 3\); row 0 is \(0, 3\)",
    ),
    "flat exposure": (
        {"exposure": [1.0, 2.0]},
        ValueError,
        r"exposure must have 2 dimensions, got shape \(2,\)",
    ),
    "exposure of another size": (
        {"exposure": [[1.0, 2.0]]},
        ValueError,
        r"exposure must have size 1 or that of the mode along each of \(2, 3\), got shape \(1, 2\)",
    ),
    "negative exposure": (
        {"exposure": [[1.0], [-2.0]]},
        ValueError,
        r"exposure must be >= 0; position \(1, 0\) is -2",
    ),
    "no exposure where something was counted": (
        {"exposure": [[0.0], [1.0]]},
        ValueError,
        r"exposure must be > 0 where there is a count; entry \(0, 0\) has 0",
    ),
    "too few modes": ({"modes": ["a"]}, ValueError, r"modes must be 2 distinct names, got .*a"),
    "equal modes": ({"modes": ["a", "a"]}, ValueError, r"modes must be 2 distinct names"),
    "too few labels": (
        {"labels": [["a"], list("cde")]},
        ValueError,
        r"labels must hold \(2, 3\) labels per mode, got \(1, 3\)",
    ),
    "too many attribute names": (
        {"attributes": [[0.0], [1.0]], "attribute_names": ["a", "b"]},
        ValueError,
        r"attribute_names must be 1 distinct names",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named(case: str) -> None:
    changes, error, message = BAD[case]
    with pytest.raises(error, match=message):
        make(**changes)

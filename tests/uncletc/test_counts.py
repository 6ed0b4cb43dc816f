"""CountTensor: what it holds, what it refuses, and that nothing is lost on disk."""

import dataclasses

import numpy as np
import pytest

from uncletc import CountTensor

SHAPE = (2, 3)
TWO = [[0, 0], [1, 2]]


def make(**changes):
    arguments = {"shape": SHAPE, "indices": TWO, "counts": [4, 0], **changes}
    return CountTensor(**arguments)


@pytest.fixture
def overlapping(rng):
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
    def test_sizes_and_defaults(self):
        y = make(attributes=[[0.5, 1.0], [0.1, 2.0]])
        assert (y.shape, y.n_observed, y.n_attributed, y.n_attributes) == (SHAPE, 2, 2, 2)
        assert y.share_observed == pytest.approx(1 / 3)
        assert y.modes == ("mode 1", "mode 2")
        assert y.labels == (("0", "1"), ("0", "1", "2"))
        assert y.attribute_names == ("z1", "z2")
        assert y.simulated is False
        assert y.indices.dtype == y.counts.dtype == np.int64
        np.testing.assert_array_equal(y.attribute_indices, TWO)

    def test_huge_tensors_are_never_made_dense(self):
        last, first = [2**10 - 1] * 6, [0] * 6
        y = CountTensor([2**10] * 6, [last, first], [1, 2], attributes=[[1.0], [2.0]])
        np.testing.assert_array_equal(y.attribute_rows, [0, 1])
        np.testing.assert_array_equal(y.attributes_at([first, last]), [[2.0], [1.0]])
        assert y.share_observed == 2**-59

    def test_unknown_attributes_are_refused_or_nan(self):
        y = make(attributes=[[0.5]], attribute_indices=[TWO[1]])
        np.testing.assert_array_equal(y.attributes_at(TWO, unknown_as_nan=True), [[np.nan], [0.5]])
        with pytest.raises(ValueError, match=r"entry .* has none"):
            y.attributes_at(TWO)

    @pytest.mark.parametrize("name", ["indices", "counts", "attributes", "attribute_indices"])
    def test_it_cannot_be_changed(self, small, name):
        with pytest.raises(ValueError, match="read-only"):
            getattr(small, name)[0] = 1
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(small, name, None)


def test_rows_of_attributes_agree_with_a_loop(overlapping):
    place = {tuple(entry): row for row, entry in enumerate(overlapping.attribute_indices)}
    expected = [place.get(tuple(entry), -1) for entry in overlapping.indices]
    assert -1 in expected
    assert max(expected) > 0
    np.testing.assert_array_equal(overlapping.attribute_rows, expected)


class TestSubset:
    def test_a_mask_and_its_rows_agree(self, overlapping):
        mask = overlapping.counts > 6
        by_mask, by_rows = overlapping.subset(mask), overlapping.subset(np.flatnonzero(mask))
        assert by_mask.digest == by_rows.digest
        np.testing.assert_array_equal(by_mask.indices, overlapping.indices[mask])
        np.testing.assert_array_equal(by_mask.counts, overlapping.counts[mask])

    @pytest.mark.parametrize("rows", [[20], [0.5], np.ones(19, dtype=bool)])
    def test_rows_that_do_not_exist_are_named(self, overlapping, rows):
        with pytest.raises((ValueError, TypeError, IndexError), match="observed"):
            overlapping.subset(rows)


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
def test_whatever_a_fit_sees_changes_the_digest(changes):
    base = {"attributes": [[0.0], [1.0]]} if changes != {"attributes": [[0.0], [1.0]]} else {}
    assert make(**{**base, **changes}).digest != make(**base).digest


def test_everything_comes_back_from_a_file(overlapping, tmp_path):
    path = tmp_path / "counts with a space.data"
    overlapping.save(path)
    back = CountTensor.load(path)
    assert back.digest == overlapping.digest
    for name in ("shape", "modes", "labels", "attribute_names", "simulated"):
        assert getattr(back, name) == getattr(overlapping, name)


ONE, NAN, INF = [[0.0], [1.0]], float("nan"), float("inf")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"counts": [4, -1]}, "counts must be >= 0; position 1 is -1"),
        ({"counts": [4.0, 0.5]}, "counts must be whole numbers; position 1"),
        ({"counts": ["4", "0"]}, "counts must be whole numbers"),
        ({"counts": np.array([2**64 - 1, 0], dtype=np.uint64)}, "counts .*18446744073709551615"),
        ({"counts": [4]}, r"counts must have shape \(2,\)"),
        ({"indices": [[1, 2], [1, 2]]}, r"indices must be distinct; \(1, 2\)"),
        ({"indices": [[0, 0], [1, 3]]}, r"indices must lie inside .* \(1, 3\), and mode 1"),
        ({"indices": [[0, 0.5], [1, 2]]}, r"indices must be whole numbers; position \(0, 1\)"),
        ({"indices": [[0, 0, 0], [1, 2, 0]]}, r"indices must have shape \(n, 2\), got \(2, 3\)"),
        ({"shape": (3,)}, "shape must have at least 2 modes"),
        ({"shape": (2.5, 3)}, "shape must hold positive integers"),
        ({"shape": 6}, "shape .*6"),
        ({"shape": (2**31, 2**32)}, r"shape must have at most 2\*\*62 entries"),
        ({"attributes": [[0.0, 1.0], [NAN, 1.0]]}, r"attributes must be finite; position \(1, 0\)"),
        ({"attributes": [["a"], ["b"]]}, "attributes"),
        ({"attributes": [0.0, 1.0]}, "attributes must have 2 dimensions"),
        ({"attributes": [[0.0]]}, "attributes must have one row per row of indices"),
        ({"attribute_indices": TWO}, "attribute_indices needs attributes"),
        ({"attributes": ONE, "attribute_indices": [[0, 0]]}, "one row per row of attribute_ind"),
        ({"attributes": ONE, "attribute_indices": [[0, 1]] * 2}, "attribute_indices must be dist"),
        ({"attributes": [[0.0]], "attribute_indices": [[0, 3]]}, "attribute_indices must lie ins"),
        ({"exposure": [[1.0, 2.0]]}, r"exposure must have size 1 .* got shape \(1, 2\)"),
        ({"exposure": [[1.0], [-2.0]]}, r"exposure must be >= 0; position \(1, 0\)"),
        ({"exposure": [[0.0], [1.0]]}, r"exposure must be > 0 .* entry \(0, 0\)"),
        ({"modes": ["a", "a"]}, "modes must be 2 distinct names"),
        ({"labels": [["a"], list("cde")]}, r"labels must hold \(2, 3\) labels per mode"),
        ({"attributes": ONE, "attribute_names": ["a", "b"]}, "attribute_names must be 1 distinct"),
    ],
)
def test_bad_input_is_named(changes, message):
    with pytest.raises((ValueError, TypeError, OverflowError), match=message):
        make(**changes)

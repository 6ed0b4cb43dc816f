"""Tables and whole arrays become counts and go back, and what breaks a rule is named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tests.uncletc.made import table_of
from uncletc import CountTensor

FRAME = table_of("""\
site  week  count  wind  traps
b     10    3      0.5   2.0
a     9     0      nan   4.0
a     10    nan    0.25  4.0
b     9     5      1.0   2.0
""")


def same(a, b):
    """Whether two tensors hold the same entries, in any order, under the same names."""
    named = [(each.shape, each.modes, each.labels, each.attribute_names) for each in (a, b)]
    first, second = a.to_frame(), b.to_frame()
    return named[0] == named[1] and first.equals(second)


class TestFromFrame:
    def test_rows_become_entries(self):
        columns = {"attributes": ["wind"], "exposure": "traps"}
        y = CountTensor.from_frame(FRAME, modes=["site", "week"], **columns)
        assert (y.shape, y.modes) == ((2, 2), ("site", "week"))
        assert y.labels == (("a", "b"), ("9", "10"))
        assert y.indices.tolist() == [[1, 1], [0, 0], [1, 0]]
        assert y.counts.tolist() == [3, 0, 5]
        assert y.attribute_indices.tolist() == [[1, 1], [0, 1], [1, 0]]
        assert y.attributes.ravel().tolist() == [0.5, 0.25, 1.0]
        assert y.exposure.tolist() == [[4.0], [2.0]]

    @pytest.mark.parametrize(
        ("change", "more", "message"),
        [
            ({"count": [3, -1, 2, 5]}, {}, "count must be at least 0; data row 2 is -1"),
            ({"count": [3, 1.5, 2, 5]}, {}, "count must be whole numbers; data row 2 is 1.5"),
            ({"week": [9, 9, 9, 9]}, {}, "data rows 2 and 3 are both site a, week 9"),
            ({"site": ["b", "", "a", "b"]}, {}, "site must have a value in every row; data row 2"),
            ({"wind": ["x", 1, 1, 1]}, {"attributes": ["wind"]}, "wind must hold numbers"),
            ({"traps": [0, 1, 1, 1]}, {"exposure": "traps"}, "traps must be above 0 in every row"),
            ({}, {"counts": "seen"}, "the table must have a column 'seen'; it has site, week"),
            ({}, {"modes": ["site"]}, "modes must be 2 to 8 columns, got 1"),
            ({}, {"modes": list("abcdefghi")}, "modes must be 2 to 8 columns, got 9"),
            ({}, {"attributes": ["week"]}, "each column must have one role, 'week' has 2"),
        ],
    )
    def test_what_breaks_a_rule_is_named(self, change, more, message):
        with pytest.raises(ValueError, match=message):
            CountTensor.from_frame(FRAME.assign(**change), **{"modes": ["site", "week"], **more})

    def test_other_tables_and_columns_that_occur_twice_are_refused(self):
        modes = ["site", "week"]
        assert CountTensor.from_frame(pl.from_pandas(FRAME), modes=modes).modes == (*modes,)
        with pytest.raises(TypeError, match="frame must be DataFrame, got dict"):
            CountTensor.from_frame(FRAME.to_dict("list"), modes=modes)
        with pytest.raises(ValueError, match="must have distinct names, 'count' occurs twice"):
            CountTensor.from_frame(pd.concat([FRAME, FRAME[["count"]]], axis=1), modes=modes)


class TestFromDense:
    def test_nan_is_missing_and_zero_is_not(self):
        y = CountTensor.from_dense([[4.0, 0.0], [np.nan, 2.0]])
        assert y.indices.tolist() == [[0, 0], [0, 1], [1, 1]]
        assert y.counts.tolist() == [4, 0, 2]

    def test_entries_with_all_their_attributes_are_attributed(self):
        z = np.arange(8.0).reshape(2, 2, 2)
        z[0, 1, 1] = np.nan
        y = CountTensor.from_dense([[1, 2], [3, 4]], attributes=z, attribute_names=["u", "v"])
        assert y.attribute_indices.tolist() == [[0, 0], [1, 0], [1, 1]]
        assert y.attributes.tolist() == [[0, 1], [4, 5], [6, 7]]
        assert y.attribute_names == ("u", "v")


def test_the_frame_leads_back_to_the_tensor(small):
    back = CountTensor.from_frame(
        small.to_frame(), modes=small.modes, attributes=small.attribute_names
    )
    assert same(back, small)


def test_labels_come_back_as_what_they_were(reloaded):
    days = pd.to_datetime(["2024-05-02", "2024-05-10", "2024-05-02", "2024-05-10"])
    sky = pd.Categorical(["sun", "rain", "rain", "sun"], categories=["sun", "rain"])
    frame = pd.DataFrame({"site": [10, 9, 10, 9], "day": days, "sky": sky, "who": list("abab")})
    frame["count"] = [1, 2, 3, 4]
    modes = ["site", "day", "sky", "who"]
    y = CountTensor.from_frame(frame, modes=modes)
    assert y.labels == (("9", "10"), ("2024-05-02", "2024-05-10"), ("sun", "rain"), ("a", "b"))
    for counts in (y, reloaded(y), y.subset([0, 1, 2, 3])):
        found = counts.to_frame()
        assert [*found.dtypes[:3].astype(str)] == ["int64", "datetime64[us]", "category"]
        again = CountTensor.from_frame(found, modes=modes)
        assert (again.labels, again.digest) == (y.labels, y.in_order().digest)
    array = frame[:2].set_index(["site", "day"])["count"].astype(float).to_xarray()
    z = array.max("day").to_dataset(name="z")
    for order in ([0, 1], [1, 0]):  # attributes are found by their labels
        y = CountTensor.from_xarray(array.isel(site=order), attributes=z)
        assert [each.kind for each in y.labels] == ["number", "date"]
        assert y.attributes_at(y.indices).ravel().tolist() == y.counts.tolist()


def test_a_row_that_lacks_an_attribute_has_that_of_its_levels():
    """It lost all of them, and said that p of its place is that of any other."""
    at = [(site, week) for site in "abc" for week in (1, 2, 3)]
    table = pd.DataFrame(at, columns=["site", "week"]).assign(count=1)
    table["forest"] = table["site"].map({"a": 0.0, "b": 3.0, "c": 9.0})
    table["wind"] = table["site"].map({"a": 1.0, "b": 2.0, "c": 4.0}) + 10 * table["week"]
    table.loc[1, "forest"] = table.loc[5, "wind"] = np.nan
    table.loc[8, ["forest", "wind"]] = np.nan
    given = {"modes": ["site", "week"], "counts": "count", "attributes": ["forest", "wind"]}
    found = CountTensor.from_frame(table, **given)
    z = found.attributes_at([(0, 1), (1, 2), (2, 2)])
    assert z[:, 0].tolist() == [0.0, 3.0, 9.0]  # a site decides it
    np.testing.assert_allclose(z[:, 1], [21.0, 32.0, 34.0], atol=4)
    two = pd.concat([table.assign(species=name) for name in "xy"], ignore_index=True)
    two.loc[0, ["forest", "wind"]] = np.nan  # a site and a week decide both
    given["modes"].append("species")
    assert CountTensor.from_frame(two, **given).attributes_at([(0, 0, 0)]).tolist() == [[0.0, 11.0]]

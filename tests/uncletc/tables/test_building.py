"""A data set of a table and its columns: where each row ends up, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from uncletc import FitSettings, fit
from uncletc.tables import AttributeColumn, Columns, ModeColumn, RawTable, build

ROWS = {
    "site": ["b", "a", "a", "b", "a"],
    "week": [10, 2, 10, 2, 1],
    "seen": [3, 0, 7, None, 5],
    "hours": [1.5, 2, 4, 3, None],
    "traps": [4, 2, 2, 4, 2],
}
SITE, WEEK = ModeColumn(column="site"), ModeColumn(column="week")
PLAIN = Columns(modes=(SITE, WEEK), count="seen")


def raw(**changed) -> RawTable:
    return RawTable.of(ROWS | changed, "mine.csv")


def made(table: RawTable | None = None, **said):
    return build(raw() if table is None else table, replace(PLAIN, **said))


def at(counts) -> dict[tuple[int, ...], int]:
    return {
        tuple(i): n for i, n in zip(counts.indices.tolist(), counts.counts.tolist(), strict=True)
    }


def rules(dataset) -> str:
    return " ".join(dataset.provenance.rules)


class TestLong:
    def test_each_row_is_at_the_place_of_its_labels(self):
        y = made().counts
        assert (y.shape, y.modes) == ((2, 3), ("site", "week"))
        assert y.labels == (("a", "b"), ("1", "2", "10"))
        assert at(y) == {(1, 2): 3, (0, 1): 0, (0, 2): 7, (0, 0): 5}

    def test_names_with_numbers_are_in_their_order(self):
        table = raw(site=["site 10", "site 2", "site 2", "site 10", "Site 1"])
        assert made(table).counts.labels[0] == ("Site 1", "site 2", "site 10")

    def test_attributes_have_the_roles_that_are_stated(self):
        attributes = (
            AttributeColumn(column="hours", sign=1),
            AttributeColumn(column="traps", acts_on="rate"),
        )
        found = made(attributes=attributes)
        assert found.counts.attribute_names == ("hours", "traps")
        assert found.counts.n_attributed == 4
        assert found.roles.signs == {"hours": 1}
        assert found.with_roles().counts.rate_attribute_names == ("traps",)
        assert "Rows that lack an attribute are used without attributes (1)" in rules(found)

    def test_a_category_becomes_zeros_and_ones(self):
        table = raw(sky=["sun", "rain", "sun", "cloud", "sun"])
        found = made(table, attributes=(AttributeColumn(column="sky", category=True),))
        assert found.counts.attribute_names == ("sky: cloud", "sky: rain")
        assert found.counts.attributes_at([(0, 1)])[0].tolist() == [0, 1]
        assert "against its most frequent value, sun" in rules(found)

    def test_exposure_lies_along_the_modes_it_depends_on(self):
        y = made(exposure="traps").counts
        assert y.exposure.shape == (2, 1)
        assert y.exposure.ravel().tolist() == [2, 4]

    def test_tables_of_rows_and_modes(self):
        found = made()
        assert found.table.loc[2, ["site", "week", "count"]].tolist() == ["a", "10", 7]
        assert found.table.loc[0, "week_index"] == 2
        weeks = found.mode_tables["week"]
        assert weeks["rows"].tolist() == [1, 1, 2]
        assert weeks["total"].tolist() == [5, 0, 10]
        assert (found.name, found.title) == ("own", "mine.csv")

    def test_rows_without_a_level_are_left_out_and_said(self):
        found = made(raw(site=["b", None, "a", "b", "a"]))
        assert found.counts.n_observed == 3
        assert "1 rows without a value of site are left out, the first is data row 2" in rules(
            found
        )

    def test_few_counts_below_zero_are_taken_as_missing_and_said(self):
        n = 100
        table = RawTable.of(
            {
                "a": [k // 10 for k in range(n)],
                "b": [k % 10 for k in range(n)],
                "n": [-3, *range(1, n)],
            },
            "t",
        )
        columns = Columns(modes=(ModeColumn(column="a"), ModeColumn(column="b")), count="n")
        found = build(table, columns)
        assert found.counts.n_observed == n - 1
        assert "1 counts below 0, the first in data row 1 (-3)" in rules(found)

    def test_counts_that_are_not_told_are_missing(self):
        found = made(raw(seen=["3", "0", "7", "<5", "5"]))
        assert found.counts.n_observed == 4
        assert "'<5' (1 time); the first is in data row 4 of seen" in rules(found)

    def test_notes_of_reading_are_kept(self):
        table = replace(raw(), notes=("Three lines were skipped.",))
        assert made(table).provenance.rules[0] == "Three lines were skipped."


class TestModes:
    DAYS = ("2024-01-01", "2024-01-03", "2024-01-09", "2024-02-20", "2024-02-21")

    @pytest.mark.parametrize(
        ("step", "levels"),
        [
            (None, ("2024-01-01", "2024-01-03", "2024-01-09", "2024-02-20", "2024-02-21")),
            ("week", ("2024-01-01", "2024-01-08", "2024-02-19")),
            ("month", ("2024-01", "2024-02")),
        ],
    )
    def test_steps_of_dates(self, step, levels):
        table = raw(site=["a"] * 5, week=list(self.DAYS))
        week = replace(WEEK, step=step)
        found = made(table, modes=(SITE, week), duplicates="sum")
        assert found.counts.labels[1] == levels
        assert found.counts.counts.sum() == 15

    def test_months_are_in_the_order_of_the_year(self):
        months = ["Mar", "Jan", "Apr", "Feb", "Mar"]
        found = made(raw(week=months), duplicates="sum")
        assert found.counts.labels[1] == ("Jan", "Feb", "Mar", "Apr")

    def test_bins_hold_about_as_many_rows_each(self):
        n = 90
        table = RawTable.of(
            {
                "depth": np.linspace(0, 9, n).round(2).tolist(),
                "week": [k % 3 for k in range(n)],
                "seen": [1] * n,
            },
            "t",
        )
        depth = ModeColumn(column="depth", bins=3)
        found = build(table, replace(PLAIN, modes=(depth, WEEK), duplicates="sum"))
        assert found.mode_tables["depth"]["total"].tolist() == [30, 30, 30]
        assert " to " in found.counts.labels[0][0]

    def test_the_most_active_levels_are_kept(self):
        found = made(modes=(SITE, replace(WEEK, most=2)))
        assert found.counts.labels[1] == ("1", "10")
        assert "Of 3 levels of week the 2 with most counted events are kept" in rules(found)

    def test_fips_get_their_zeros(self):
        table = RawTable.of({"fips": [1001, 1001, 12086], "day": [1, 2, 1], "seen": [1, 2, 3]}, "t")
        fips = ModeColumn(column="fips")
        found = build(table, replace(PLAIN, modes=(fips, ModeColumn(column="day"))))
        assert found.counts.labels[0] == ("01001", "12086")
        assert found.mode_tables["fips"]["fips"].tolist() == ["01001", "12086"]

    def test_states_are_known_by_name_and_letters(self):
        for states in (
            ["AL", "CA", "TX", "NY", "OH"],
            ["Alabama", "California", "Texas", "New York", "Ohio"],
        ):
            table = raw(site=states).frame.rename({"site": "state"})
            columns = replace(PLAIN, modes=(ModeColumn(column="state"), WEEK))
            found = build(RawTable("t", table), columns)
            codes = found.mode_tables["state"]["fips"].tolist()
            assert sorted(codes) == ["01", "06", "36", "39", "48"]

    def test_degrees_belong_to_the_mode_they_are_constant_in(self):
        table = raw(lat=[50, 40, 40, 50, 40], lon=[8, 9, 9, 8, 9])
        found = made(table, latitude="lat", longitude="lon")
        assert found.mode_tables["site"]["latitude"].tolist() == [40, 50]
        assert "latitude" not in found.mode_tables["week"]

    def test_slices_that_nobody_reported_are_missing(self):
        found = made(missing=(("week", "10"),))
        assert at(found.counts) == {(0, 1): 0, (0, 0): 5}


class TestRepeats:
    TABLE = raw(site=["a"] * 5, week=[1, 1, 2, 2, 3], seen=[3, 4, 5, None, 1])

    def test_are_refused_with_both_rows(self):
        with pytest.raises(ValueError, match="data rows 1 and 2 are both site a, week 1"):
            made(self.TABLE)

    def test_are_summed(self):
        found = made(self.TABLE, duplicates="sum", attributes=(AttributeColumn(column="hours"),))
        assert found.counts.counts.tolist() == [7, 5, 1]
        assert "2 rows added to others" in rules(found)

    def test_are_looks_with_attributes_of_their_own(self):
        found = made(self.TABLE, duplicates="looks", attributes=(AttributeColumn(column="traps"),))
        (look,) = found.counts.looks
        assert found.counts.counts.tolist() == [3, 5, 1]
        assert (look.indices.tolist(), look.counts.tolist()) == ([[0, 0]], [4])
        assert look.attributes.tolist() == [[0.0]]
        assert len(found.table) == 4

    def test_looks_have_the_exposure_of_their_rows(self):
        said = {"site": ["a"] * 5, "week": [1, 1, 2, 2, 3], "seen": [3, 4, 5, None, 1]}
        table = raw(**said, watched=[2, 5, 2, 2, 2])
        found = made(table, duplicates="looks", exposure="watched")
        (look,) = found.counts.looks
        assert found.counts.exposure.ravel().tolist() == [2.0]
        assert look.exposure.tolist() == [2.5]

    def test_known_detection_is_a_look_that_states_the_scale(self):
        table = raw(p=[0.5, None, None, None, 0.25], error=[0.1, None, None, None, 0.1])
        found = made(table, known_detection="p", known_error="error")
        (look,) = found.counts.looks
        assert look.known_detection.tolist() == [0.5, 0.25]
        assert look.known_error == pytest.approx(0.1)
        assert found.counts.n_observed == 2


class TestAbsent:
    def test_combinations_without_a_row_are_zeros(self):
        found = made(absent="zero")
        assert found.counts.n_observed == 5  # the row with an empty count stays missing
        assert at(found.counts)[1, 0] == 0
        assert "combinations without a row are zeros" in rules(found)

    def test_attributes_that_depend_on_some_modes_are_carried_along(self):
        found = made(absent="zero", attributes=(AttributeColumn(column="traps"),))
        assert found.counts.n_attributed == 6
        assert found.counts.attributes_at([(1, 0)])[0].tolist() == [1.0]

    def test_others_are_said_to_lack_attributes(self):
        table = raw(hours=[1, 2, 3, 4, 5])
        found = made(table, absent="zero", attributes=(AttributeColumn(column="hours"),))
        assert found.counts.n_attributed == 5
        assert "hours differs from row to row" in rules(found)


class TestWide:
    def test_columns_are_levels_of_a_mode(self):
        table = RawTable.of(
            {"site": ["a", "b"], "2024-05-01": [1, 2], "2024-05-03": [0, None], "wind": [3, 4]}, "t"
        )
        columns = Columns(
            modes=(SITE,),
            count="count",
            across=("2024-05-01", "2024-05-03"),
            across_mode=ModeColumn(column="date"),
            attributes=(AttributeColumn(column="wind"),),
        )
        y = build(table, columns).counts
        assert y.labels == (("a", "b"), ("2024-05-01", "2024-05-03"))
        assert at(y) == {(0, 0): 1, (0, 1): 0, (1, 0): 2}
        assert y.attributes_at([(1, 1)]).tolist() == [[1.0]]


class TestMistakes:
    @pytest.mark.parametrize(
        ("changed", "said", "sentence"),
        [
            ({}, {"count": "nought"}, "must have a column 'nought'; it has site, week"),
            ({}, {"count": ""}, "count must name the column"),
            ({}, {"modes": (SITE,)}, "modes must be at least 2 columns, got 1"),
            ({}, {"modes": (SITE, SITE)}, "each column must have one role, 'site' has 2"),
            ({}, {"exposure": "seen"}, "'seen' has 2"),
            ({}, {"duplicates": "drop"}, "duplicates must be one of"),
            ({}, {"absent": "maybe"}, "absent must be one of"),
            ({}, {"modes": (SITE, replace(WEEK, step="week"))}, "must hold dates to be taken by"),
            ({}, {"modes": (replace(SITE, bins=3), WEEK)}, "site must hold numbers"),
            ({}, {"missing": (("week", "11"),)}, "week has no '11'"),
            ({"seen": [3, 0, -7, 2, 5]}, {}, "seen must be at least 0; data row 3 is -7"),
            ({"seen": [2.5, 0, 7, 2, 5]}, {}, "seen must be whole numbers; data row 1 is 2.5"),
            ({"seen": ["3", "0", "7", "5?", "5"]}, {}, "data row 4 is '5\\?': correct it"),
            ({"seen": [None] * 5, "x": [1] * 5}, {}, "seen must hold"),
            ({"traps": [4, 2, 2, 0, 2]}, {"exposure": "traps"}, "data row 4 is 0"),
            ({"traps": [4, 2, 2, None, 2]}, {"exposure": "traps"}, "data row 4 is empty"),
            (
                {"hours": ["1", "two", "3", "4", "5"]},
                {"attributes": (AttributeColumn(column="hours"),)},
                "data row 2 is 'two'.*take the column as a category",
            ),
            ({"p": [1.5] * 5}, {"known_detection": "p"}, "p must be above 0 and at most 1"),
            ({"p": [0.5] * 5}, {"known_detection": "p"}, "must leave some rows empty"),
            ({"hours": [None] * 5}, {"attributes": (AttributeColumn(column="hours"),)}, "hours"),
        ],
    )
    def test_are_told_in_one_sentence(self, changed, said, sentence):
        with pytest.raises(ValueError, match=sentence) as caught:
            made(raw(**changed), **said)
        assert "\n" not in str(caught.value)

    def test_a_tensor_that_is_too_large_names_the_mode_to_coarsen(self, monkeypatch):
        monkeypatch.setattr("uncletc.tables.long.MOST_ENTRIES", 5)
        with pytest.raises(ValueError, match="2 site × 3 week are 6: take week by week, by month"):
            made()

    def test_too_many_zeros_name_the_mode_too(self, monkeypatch):
        monkeypatch.setattr("uncletc.tables.absent.MOST_COUNTS", 5)
        with pytest.raises(ValueError, match=r"keep the most active levels of week \(3 now\)"):
            made(absent="zero")


@pytest.mark.parametrize("duplicates", ["sum", "looks"])
@pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
def test_what_is_built_can_be_fitted(duplicates):
    rng, n = np.random.default_rng(3), 150
    table = RawTable.of(
        {
            "site": rng.integers(0, 8, n).tolist(),
            "week": rng.integers(0, 10, n).tolist(),
            "seen": rng.poisson(4, n).tolist(),
            "wind": rng.random(n).tolist(),
        },
        "t",
    )
    columns = replace(PLAIN, duplicates=duplicates, attributes=(AttributeColumn(column="wind"),))
    found = build(table, columns).counts
    assert fit(found, FitSettings(rank=2, max_iter=20)).rate(found.indices).min() > 0

"""A data set of a table and its columns: where each row ends up, and which rules were applied."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from uncletc.tables import (
    AttributeColumn,
    Columns,
    ModeColumn,
    RawTable,
    build,
    check_counts,
    guess,
    read_file,
)

ROWS = {
    "site": ["b", "a", "a", "b", "a"],
    "week": [10, 2, 10, 2, 1],
    "seen": [3, 0, 7, None, 5],
    "hours": [1.5, 2, 4, 3, None],
    "traps": [4, 2, 2, 4, 2],
}
SITE, WEEK = ModeColumn(column="site"), ModeColumn(column="week")
HOURS, TRAPS = AttributeColumn(column="hours"), AttributeColumn(column="traps")
PLAIN = Columns(modes=(SITE, WEEK), count="seen")


def raw(**changed):
    return RawTable.of(ROWS | changed, "mine.csv")


def made(table=None, **columns):
    return build(raw() if table is None else table, replace(PLAIN, **columns))


def at(counts):
    return dict(zip(map(tuple, counts.indices.tolist()), counts.counts.tolist(), strict=True))


def rules(dataset):
    return " ".join(dataset.provenance.rules)


class TestRows:
    def test_are_at_the_places_of_their_labels(self):
        found = made(replace(raw(), notes=("Three lines were skipped.",)))
        y = found.counts
        assert (y.shape, y.modes) == ((2, 3), ("site", "week"))
        assert y.labels == (("a", "b"), ("1", "2", "10"))
        assert [each.kind for each in y.labels] == ["text", "number"]
        assert at(y) == {(1, 2): 3, (0, 1): 0, (0, 2): 7, (0, 0): 5}
        assert found.provenance.rules[0] == "Three lines were skipped."
        assert found.mode_tables["week"]["week"].tolist() == ["1", "2", "10"]
        assert (found.name, found.title) == ("own", "mine.csv")

    def test_attributes_have_the_roles_that_are_stated(self):
        attributes = (replace(HOURS, sign=1), replace(TRAPS, acts_on="rate"))
        found = made(attributes=attributes)
        assert found.counts.attribute_names == ("hours", "traps")
        assert found.counts.n_attributed == 5
        assert (found.about("hours").minimum, found.about("hours").maximum) == (1.5, 4)
        assert found.roles.signs == {"hours": 1}
        assert found.with_roles().counts.rate_attribute_names == ("traps",)
        assert "Rows that lack a covariate (1) get what is usual for their levels" in rules(found)

    def test_a_category_becomes_zeros_and_ones(self):
        table = raw(sky=["sun", "rain", "sun", "cloud", "sun"])
        found = made(table, attributes=(AttributeColumn(column="sky", category=True),))
        assert found.counts.attribute_names == ("sky: cloud", "sky: rain")
        assert found.counts.attributes_at([(0, 1)])[0].tolist() == [0, 1]
        assert "against its most frequent value, sun" in rules(found)

    @pytest.mark.parametrize("code", [-2, -9999])
    def test_negative_codes_are_missing_and_the_report_says_so(self, code):
        found = made(raw(seen=[3, 0, code, code, 5]))
        assert found.counts.n_observed == 3
        (finding,) = [each for each in check_counts(found) if each.kind == "reading"]
        assert finding.severity == "warning"
        assert f"alues of seen below 0 (2: {code}" in finding.sentence


class TestLevels:
    DAYS = ("2024-01-01", "2024-01-03", "2024-01-09", "2024-02-20", "2024-02-21")

    @pytest.mark.parametrize(
        ("step", "levels"),
        [
            (None, DAYS),
            ("week", ("2024-01-01", "2024-01-08", "2024-02-19")),
            ("month", ("2024-01", "2024-02")),
        ],
    )
    def test_steps_of_dates(self, step, levels):
        table = raw(site=["a"] * 5, week=list(self.DAYS))
        found = made(table, modes=(SITE, replace(WEEK, step=step)), duplicates="sum")
        assert found.counts.labels[1] == levels
        assert found.counts.counts.sum() == 15

    @pytest.mark.parametrize(
        "order",
        [["Jan", "Feb", "Mar", "Apr"], ["Mon", "Tue", "Sat"], ["Site 1", "site 2", "site 10"]],
    )
    def test_names_are_in_their_order(self, order):
        names = [order[k % len(order)] for k in (2, 0, 3, 1, 5)]
        assert set(names) == set(order)
        assert made(raw(week=names), duplicates="sum").counts.labels[1] == tuple(order)

    def test_places_have_fips_and_degrees(self):
        rows = {"fips": [1001, 1001, 12086], "week": [1, 2, 1], "seen": [1, 2, 3]}
        table = RawTable.of(rows, "t")
        found = build(table, replace(PLAIN, modes=(ModeColumn(column="fips"), WEEK)))
        assert found.counts.labels[0] == ("01001", "12086")
        table = raw(lat=[50, 40, 40, 50, 40], lon=[8, 9, 9, 8, 9])
        found = made(table, latitude="lat", longitude="lon")
        assert found.mode_tables["site"]["latitude"].tolist() == [40, 50]
        assert "latitude" not in found.mode_tables["week"]


REPEATED = {"site": ["a"] * 5, "week": [1, 1, 2, 2, 3], "seen": [3, 4, 5, None, 1]}


class TestRepeats:
    TABLE = raw(**REPEATED)

    def test_are_refused_with_both_rows_also_beside_rows_without_exposure(self):
        with pytest.raises(ValueError, match="data rows 1 and 2 are both site a, week 1"):
            made(self.TABLE)
        table = raw(**REPEATED, watched=[0, 5, 2, 2, 2])
        with pytest.raises(ValueError, match="data rows 3 and 4 are both site a, week 2"):
            made(table, exposure="watched")

    def test_are_summed(self):
        found = made(self.TABLE, duplicates="sum", attributes=(HOURS,))
        assert found.counts.counts.tolist() == [7, 5, 1]
        assert "2 rows added to others" in rules(found)

    def test_are_observations_with_attributes_and_exposure_of_their_own(self):
        table = raw(**REPEATED, watched=[2, 5, 2, 2, 2])
        found = made(table, duplicates="observations", attributes=(TRAPS,), exposure="watched")
        (process,) = found.counts.observations
        assert found.counts.counts.tolist() == [3, 5, 1]
        assert (process.indices.tolist(), process.counts.tolist()) == ([[0, 0]], [4])
        assert (process.attributes.tolist(), process.exposure.tolist()) == ([[0.0]], [2.5])
        assert found.counts.exposure.ravel().tolist() == [2.0]


def test_columns_of_a_wide_table_are_levels_of_a_mode():
    counts = {"2024-05-01": [1, 2], "2024-05-03": [0, None]}
    table = RawTable.of({"site": ["a", "b"], "wind": [3, 4]} | counts, "t")
    across = ModeColumn(column="date")
    wind = (AttributeColumn(column="wind"),)
    columns = Columns(
        modes=(SITE,), count="count", across=tuple(counts), across_mode=across, attributes=wind
    )
    y = build(table, columns).counts
    assert y.labels == (("a", "b"), tuple(counts))
    assert at(y) == {(0, 0): 1, (0, 1): 0, (1, 0): 2}
    assert y.attributes_at([(1, 1)]).tolist() == [[1.0]]


class TestRunningTotals:
    NEW = np.random.default_rng(3).poisson(4, (6, 20))
    DAYS = tuple(f"2020-04-{day:02d}" for day in range(1, 21))
    COLUMNS = Columns(modes=(SITE, ModeColumn(column="date")), count="cases", running="date")

    def table(self, counts):
        sites = [f"s{k}" for k in range(6) for _ in self.DAYS]
        columns = {"site": sites, "date": list(self.DAYS) * 6, "cases": counts.ravel().tolist()}
        return RawTable.of(columns, "t")

    def test_become_differences_before_days_are_summed_to_weeks(self):
        raw = self.table(self.NEW.cumsum(axis=1))
        found = build(raw, self.COLUMNS)
        assert found.counts.counts.tolist() == self.NEW[:, 1:].ravel().tolist()
        week = ModeColumn(column="date", step="week")
        weekly = replace(self.COLUMNS, modes=(SITE, week), duplicates="sum")
        assert build(raw, weekly).counts.counts.sum() == self.NEW[:, 1:].sum()

    def test_that_fall_are_missing(self):
        fallen = self.NEW.cumsum(axis=1)
        fallen[0, 10] = 0
        assert build(self.table(fallen), self.COLUMNS).counts.n_observed == 6 * 19 - 1

    def test_need_a_mode_and_one_row_each(self):
        raw = self.table(self.NEW)
        with pytest.raises(ValueError, match="running must be one of the modes, site, date"):
            build(raw, replace(self.COLUMNS, running="week"))
        twice = RawTable("twice", raw.frame.extend(raw.frame.head(1).clone()))
        with pytest.raises(ValueError, match="need one row for each entry"):
            build(twice, self.COLUMNS)


class TestMistakes:
    @pytest.mark.parametrize(
        ("changed", "columns", "sentence"),
        [
            ({}, {"count": ""}, "count must name the column"),
            ({}, {"modes": (SITE, SITE)}, "each column must have one role, 'site' has 2"),
            ({}, {"duplicates": "drop"}, "duplicates must be one of"),
            ({}, {"absent": "species"}, "absent must be one of .*'zero', 'site'"),
            ({}, {"modes": (SITE, replace(WEEK, step="week"))}, "must hold dates to be taken by"),
            ({}, {"missing": (("week", "11"),)}, "there is no week '11'"),
            ({"seen": [2.5, 0, 7, 2, 5]}, {}, "row 1 is 2.5: round them.*as the exposure"),
            ({"seen": [3, 0, 7, 2, 1e20]}, {}, r"seen must be below 2\*\*53; data row 5"),
            ({"seen": ["3", "0", "7", "5?", "5"]}, {}, "data row 4 is '5\\?': correct it"),
            ({"seen": [None] * 5, "x": [1] * 5}, {}, "must have a row with a count"),
            ({"traps": [4, 2, -1, 2, 2]}, {"exposure": "traps"}, "data row 3 is -1"),
            (
                {"hours": ["1", "two", "3", "4", "5"]},
                {"attributes": (HOURS,)},
                "data row 2 is 'two'.*take the column as a category",
            ),
            ({"hours": [None] * 5}, {"attributes": (HOURS,)}, "hours"),
        ],
    )
    def test_get_one_sentence(self, changed, columns, sentence):
        with pytest.raises(ValueError, match=sentence) as caught:
            made(raw(**changed), **columns)
        assert "\n" not in str(caught.value)

    def test_a_tensor_that_is_too_large_names_the_mode_to_coarsen(self, monkeypatch):
        module = sys.modules["uncletc.tables.build"]  # `build` names the function too
        monkeypatch.setattr(module, "MOST_COUNTS", 5)
        with pytest.raises(ValueError, match=r"leave out levels of week \(3 now\)"):
            made(absent="zero")
        monkeypatch.setattr(module, "MOST_ENTRIES", 5)
        sentence = "2 site × 3 week are 6: take week by week or by month"
        with pytest.raises(ValueError, match=sentence):
            made()


def test_rows_that_repeat_exactly_ask_for_a_check():
    raw = read_file(b"site,week,seen\na,1,4\na,2,0\nb,1,2\nb,2,7\nb,2,7\n", "t.csv")
    rules = build(raw, guess(raw).columns).provenance.rules
    assert "Please check: rows that repeat another exactly are summed, too (1)." in rules

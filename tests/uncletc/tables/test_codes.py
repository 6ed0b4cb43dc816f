"""Texts among numbers: codes for what is missing, marks after numbers, and slips of the pen."""

from __future__ import annotations

import pytest

from uncletc.tables import Columns, ModeColumn, RawTable, build, guess


def table(values: list[str], name: str = "n_seen", times: int = 1) -> RawTable:
    n = len(values) * times
    sites, weeks = [f"s{k // 10}" for k in range(n)], [k % 10 for k in range(n)]
    return RawTable.of({"site": sites, "week": weeks, name: values * times}, "t.csv")


@pytest.mark.parametrize("code", ["X", "n/d", "*", ":", "<5", "suppressed", "k.A.", "#REF!"])
def test_codes_are_missing_with_a_sentence(code):
    raw = table(["3", code, "0", "7", "1"], times=4)
    assert raw.frame["n_seen"].null_count() == 4
    assert f"{code!r} (4 times); the first is in data row 2 of n_seen" in raw.notes[-1]
    assert build(raw, guess(raw).columns).counts.n_observed == 16


def test_a_long_column_with_codes_is_the_count():
    raw = table(["X", "3", "0", "7", "1"], times=300)
    assert guess(raw).columns.count == "n_seen"


def test_marks_after_numbers_are_left_out():
    raw = table(["3", "4 p", "12*", "7", "1"])
    assert raw.frame["n_seen"].to_list() == [3, 4, 12, 7, 1]
    assert "'p' (1 time)" in raw.notes[-1]


def test_unknown_words_are_codes_where_the_name_is_of_counts():
    assert table(["3", "fox ate it", "0", "7", "1"]).frame["n_seen"].null_count() == 1
    assert table(["3", "fox ate it", "0", "7", "1"], "thing").frame["thing"].null_count() == 0


@pytest.mark.parametrize("slip", ["1O", "nil", "about 10", "none at all, as far as we could see"])
def test_slips_and_words_for_zero_are_refused(slip):
    raw = table(["3", slip, "0", "7", "1"])
    columns = Columns(modes=(ModeColumn(column="site"), ModeColumn(column="week")), count="n_seen")
    with pytest.raises(ValueError, match="n_seen must hold numbers; data row 2"):
        build(raw, columns)


@pytest.mark.parametrize("name", ["plot", "site_id", "method", "notes"])
def test_names_of_levels_keep_their_texts(name):
    assert table(["3", "X", "0", "7", "1"], name).frame[name].null_count() == 0


def test_columns_of_a_wide_table_may_hold_codes():
    visits = {f"Visit {k}": ["1", "X", "0", "2", "5"] for k in range(1, 5)}
    raw = RawTable.of({"site": list("abcde"), **visits}, "t.csv")
    found = guess(raw).columns
    assert found.across == tuple(visits)
    assert build(raw, found).counts.n_observed == 16

"""What is said of columns becomes columns, and the first rows are drawn as they are."""

from __future__ import annotations

from dataclasses import replace

from dashboard.table.preview import preview
from dashboard.table.roles import columns_of, lacking, others_with, said_of
from uncletc.tables import AttributeColumn, Columns, ModeColumn, RawTable

COLUMNS = Columns(
    modes=(ModeColumn(column="week"), ModeColumn(column="site", most=3)),
    count="seen",
    attributes=(AttributeColumn(column="wind", sign=-1),),
    exposure="people",
    latitude="lat",
    longitude="lon",
    duplicates="sum",
)
NAMES = ("site", "week", "seen", "wind", "people", "lat", "lon", "notes")
SERIES = ModeColumn(column="series")


def said(**changed):
    found = {name: said_of(COLUMNS, name, is_text=False) for name in NAMES}
    return found | {name: replace(found[name], role=role) for name, role in changed.items()}


def test_saying_nothing_else_changes_nothing():
    assert columns_of(said(), COLUMNS, SERIES) == COLUMNS


def test_a_role_is_changed():
    found = columns_of(said(people="attribute", notes="mode"), COLUMNS, SERIES)
    assert [each.column for each in found.modes] == ["week", "site", "notes"]
    assert found.exposure is None
    assert [each.column for each in found.attributes] == ["wind", "people"]


def test_several_counts_make_a_mode():
    found = columns_of(said(seen="across", people="across"), COLUMNS, SERIES)
    assert (found.across, found.across_mode) == (("seen", "people"), SERIES)


def test_an_attribute_of_true_counts_has_no_sign():
    changed = said()
    wind = AttributeColumn(column="wind", acts_on="rate", sign=-1)
    changed["wind"] = replace(changed["wind"], attribute=wind)
    assert columns_of(changed, COLUMNS, SERIES).attributes[0].sign == 0


def test_only_one_column_is_the_count():
    roles = {"a": "count", "b": "count", "c": "mode"}
    assert others_with("count", "b", roles) == ["a"]
    assert others_with("mode", "c", roles) == []


def test_what_lacks_is_said():
    assert lacking(COLUMNS) == ""
    assert "modes" in lacking(replace(COLUMNS, modes=()))
    assert "count" in lacking(replace(COLUMNS, count=""))


def test_words_of_the_file_are_no_markup():
    raw = RawTable.of({"<b>": ["<script>"], "site": ["a & b"], "seen": [3]}, "t")
    found = preview(raw, replace(COLUMNS, modes=(ModeColumn(column="site"),)))
    assert "<script>" not in found
    assert "a &amp; b" in found
    assert '<span class="role count">Count</span><br>seen' in found


def test_many_columns_show_those_that_are_used():
    frame = {f"x{k}": [1] for k in range(40)} | {"site": ["a"], "week": [1], "seen": [3]}
    found = preview(RawTable.of(frame, "t"), COLUMNS)
    assert "seen" in found
    assert "… and 29 more columns" in found

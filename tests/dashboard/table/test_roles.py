"""Roles become columns, and the first rows stand under them."""

from __future__ import annotations

from dataclasses import replace

from dashboard.table.roles import columns_of, lacking, preview, role_of, with_levels_of
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


def roles(**changed):
    found = {name: role_of(COLUMNS, name) for name in NAMES}
    return found | {name: replace(found[name], role=role) for name, role in changed.items()}


def test_the_same_roles_are_the_same_columns():
    assert columns_of(roles(), COLUMNS, SERIES) == COLUMNS


def test_a_role_is_changed():
    found = columns_of(roles(people="attribute", notes="mode"), COLUMNS, SERIES)
    assert [each.column for each in found.modes] == ["week", "site", "notes"]
    assert found.exposure is None
    assert [each.column for each in found.attributes] == ["wind", "people"]


def test_several_counts_make_a_mode():
    found = columns_of(roles(seen="across", people="across"), COLUMNS, SERIES)
    assert (found.across, found.across_mode) == (("seen", "people"), SERIES)


def test_an_attribute_of_true_counts_has_no_sign():
    changed = roles()
    wind = AttributeColumn(column="wind", acts_on="rate", sign=-1)
    changed["wind"] = replace(changed["wind"], attribute=wind)
    assert columns_of(changed, COLUMNS, SERIES).attributes[0].sign == 0


def test_what_lacks_is_a_sentence():
    assert lacking(COLUMNS) == ""
    assert "modes" in lacking(replace(COLUMNS, modes=()))
    assert "count" in lacking(replace(COLUMNS, count=""))


def test_levels_that_are_left_out_stay_with_the_same_modes_alone():
    before = replace(COLUMNS, without=(("site", "Total"),), running="week")
    assert with_levels_of(replace(COLUMNS, attributes=()), before).without == before.without
    assert with_levels_of(replace(COLUMNS, count="wind"), before).running is None


def test_many_columns_show_those_that_are_used():
    frame = {f"x{k}": [1] for k in range(40)} | {"site": ["a"], "week": [1], "seen": [3]}
    rows, more = preview(RawTable.of(frame, "t").frame, COLUMNS)
    assert rows.columns[:3] == ["Mode · site", "Mode · week", "Count · seen"]
    assert (rows.width, more) == (14, 29)

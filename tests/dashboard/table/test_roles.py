"""Roles become columns, and the first rows stand under them."""

from dataclasses import replace

import polars as pl

from dashboard.table.roles import CHOSEN, columns_of, lacking, resolved, role_table, with_levels_of
from uncletc.tables import AttributeColumn, Columns, Guess, ModeColumn, RawTable

COLUMNS = Columns(
    modes=(ModeColumn(column="week"), ModeColumn(column="site")),
    count="seen",
    attributes=(AttributeColumn(column="wind", sign=-1),),
    exposure="people",
    latitude="lat",
    longitude="lon",
    duplicates="sum",
)
NAMES = ("site", "week", "seen", "wind", "people", "lat", "lon", "notes")
FRAME = RawTable.of({name: [1, 2] for name in NAMES}, "t").frame
GUESS = Guess(columns=COLUMNS, reasons={"notes": "Left out."})
SERIES = ModeColumn(column="series")


def table(**changed):
    found = role_table(FRAME, COLUMNS, GUESS).set_index("name", drop=False)
    for name, fields in changed.items():
        for field, value in fields.items():
            found.loc[name, field] = value
    return found.reset_index(drop=True)


def columns(**changed):
    return columns_of(table(**changed), FRAME, COLUMNS, SERIES)


def test_the_same_roles_are_the_same_columns():
    assert columns() == COLUMNS
    assert table()["name"].tolist()[-1] == "notes"  # what is left out comes last
    assert table()["why"].tolist()[-1] == "Left out."


def test_roles_are_changed():
    roles = {"people": "Covariate", "notes": "Mode", "lat": "Group of levels"}
    found = columns(**{name: {"role": role} for name, role in roles.items()})
    assert found.groups == ("lat",)
    assert role_table(FRAME, found, GUESS).set_index("name")["role"]["lat"] == "Group of levels"
    assert role_table(FRAME, found, GUESS).set_index("name")["why"]["lat"] == CHOSEN
    assert [each.column for each in found.modes] == ["week", "site", "notes"]
    assert found.exposure is None
    assert [each.column for each in found.attributes] == ["wind", "people"]


def test_a_role_that_one_column_has_goes_to_the_last():
    before = table()
    after = resolved(table(notes={"role": "Count"}), before, before)
    assert after.set_index("name")["role"][["seen", "notes"]].tolist() == ["Leave out", "Count"]
    assert columns_of(after, FRAME, COLUMNS, SERIES).count == "notes"
    both = resolved(table(notes={"role": "One of several counts"}), before, before)
    assert columns_of(both, FRAME, COLUMNS, SERIES).across == ("seen", "notes")
    one = both.assign(role=both["role"].where(both["name"] != "seen", "Count"))
    assert columns_of(resolved(one, both, before), FRAME, COLUMNS, SERIES) == COLUMNS


def test_a_role_that_was_chosen_has_the_usual_options_and_says_so():
    roles = {"notes": {"role": "Covariate"}, "wind": {"role": "Mode"}}
    after = resolved(table(**roles), table(), table())
    of = after.set_index("name")[["acts_on", "sign", "why"]].T
    assert of["notes"].tolist() == ["p", "either way", CHOSEN]
    assert of["wind"].isna().tolist() == [True, True, False]
    back = after.assign(role=table()["role"])
    assert columns_of(resolved(back, after, table()), FRAME, COLUMNS, SERIES) == COLUMNS
    text = FRAME.with_columns(pl.col("notes").cast(pl.String))
    before = role_table(text, COLUMNS, GUESS)
    changed = before.assign(role=before["role"].where(before["name"] != "notes", "Covariate"))
    assert resolved(changed, before, before).set_index("name")["sign"]["notes"] == "categorical"


def test_what_lacks_is_a_sentence():
    assert lacking(COLUMNS) == ""
    assert "modes" in lacking(replace(COLUMNS, modes=()))
    assert "count" in lacking(replace(COLUMNS, count=""))


def test_levels_that_are_left_out_stay_with_the_same_modes_alone():
    before = replace(COLUMNS, without=(("site", "Total"),), running="week")
    assert with_levels_of(replace(COLUMNS, attributes=()), before).without == before.without
    assert with_levels_of(replace(COLUMNS, count="wind"), before).running is None

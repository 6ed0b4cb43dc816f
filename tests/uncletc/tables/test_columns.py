"""What the columns of a table are, there and back."""

import pytest

from uncletc.tables import AttributeColumn, Columns, ModeColumn

COLUMNS = Columns(
    modes=(ModeColumn(column="site", most=20), ModeColumn(column="date", step="week")),
    count="seen",
    attributes=(
        AttributeColumn(column="wind", sign=-1),
        AttributeColumn(column="meadow", acts_on="both", category=True),
    ),
    exposure="hours",
    duplicates="looks",
    missing=(("date", "2021-01-01"),),
)


class TestColumns:
    def test_come_back_from_plain_values(self):
        assert Columns.from_dict(COLUMNS.as_dict()) == COLUMNS

    def test_of_a_wide_table_too(self):
        wide = Columns(
            modes=(ModeColumn(column="site"),),
            count="seen",
            across=("bee", "fly"),
            across_mode=ModeColumn(column="species"),
        )
        assert Columns.from_dict(wide.as_dict()) == wide

    def test_leave_out_what_is_usual(self):
        assert COLUMNS.as_dict()["attributes"][0] == {"column": "wind", "sign": -1}
        assert "absent" not in COLUMNS.as_dict()

    def test_name_an_unknown_key(self):
        with pytest.raises(ValueError, match="got 'counts'"):
            Columns.from_dict({"modes": [], "counts": "y"})

"""The example table has the form that is asked for."""

from dashboard.table.roles import sample_table
from uncletc.tables import RawTable, build, guess, read_file


def test_the_example_has_the_form_that_is_asked_for(tmp_path):
    table = sample_table()
    columns = guess(RawTable.of(table, "example")).columns
    assert [each.column for each in columns.modes] == ["site", "species", "week"]
    assert columns.count == "count"
    assert [each.column for each in columns.attributes] == ["wind", "cloud", "effort"]
    assert table["site"].str.contains("simulated").all()
    path = tmp_path / "example.csv"
    table.to_csv(path, index=False)
    read = build(read_file(path), columns)
    assert read.counts.shape == (12, 10, 12)
    assert read.counts.n_observed == len(table) == read.counts.n_attributed

"""The example works, and the code that a page shows reads a file as the page does."""

from __future__ import annotations

import pandas as pd

from dashboard.shared.own_table import OwnTable
from dashboard.shared.text.scripts import COUNTS, call, script
from dashboard.table.roles import sample_table
from uncletc import CountTensor
from uncletc.tables import RawTable, build, guess, read_file


def total(counts: CountTensor) -> pd.DataFrame:
    """Stand in for what a page hands out."""
    return pd.DataFrame({"total": [counts.counts.sum()]})


def test_the_example_has_the_form_that_is_asked_for(tmp_path, run_script):
    table = sample_table()
    raw = RawTable.of(table, "example")
    columns = guess(raw).columns
    assert [each.column for each in columns.modes] == ["site", "species", "week"]
    assert columns.count == "count"
    assert [each.column for each in columns.attributes] == ["wind", "cloud", "effort"]
    assert table["site"].str.contains("simulated").all()
    path = tmp_path / "example.csv"
    table.to_csv(path, index=False)
    read = build(read_file(path), columns)
    assert read.counts.shape == (12, 10, 12)
    assert read.counts.n_observed == len(table) == read.counts.n_attributed
    own = OwnTable(dataset=read, columns=columns, name=str(path), digest="")
    shown = call(total, COUNTS)
    table = run_script(script(shown, dataset=own.code))
    pd.testing.assert_frame_equal(table, total(read.counts))

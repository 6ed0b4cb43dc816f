"""A reader's own table: the example works, and columns are guessed as a reader would."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.overview.view import pattern_table
from dashboard.shared.own import OwnTable
from dashboard.shared.scripts import DATASET, call, script
from dashboard.table.files import guess_columns, plain_columns, sample_table
from uncletc.datasets import read_table


def test_the_example_has_the_form_that_is_asked_for(tmp_path, run_script):
    table = sample_table()
    columns = guess_columns(table)
    assert columns == plain_columns(
        modes=("site", "species", "week"), count="count", attributes=("wind", "cloud", "effort")
    )
    assert table["site"].str.contains("simulated").all()
    path = tmp_path / "example.csv"
    table.to_csv(path, index=False)
    read = read_table(
        path,
        modes=[each.column for each in columns.modes],
        count=columns.count,
        attributes=[each.column for each in columns.attributes],
    )
    assert read.counts.shape == (12, 10, 12)
    assert read.counts.n_observed == len(table) == read.counts.n_attributed
    own = OwnTable(dataset=read, columns=columns, name=str(path), digest="")
    shown = call(pattern_table, DATASET, (0, 1))
    table = run_script(script(shown, dataset=own.code))
    pd.testing.assert_frame_equal(table, pattern_table(read, (0, 1)))


@pytest.mark.parametrize(
    ("columns", "modes", "count", "attributes"),
    [
        ({"place": ["a", "b"], "day": [1, 2], "Cases": [3, 4]}, ("place", "day"), "Cases", ()),
        (
            {"place": ["a", "b"], "day": [1, 2], "found": [3, 4], "wind": [0.5, 1], "who": "xy"},
            ("place", "day"),
            "found",
            ("wind",),
        ),
        ({"n": [3, 4], "place": ["a", "b"], "day": [1, 2]}, ("place", "day"), "n", ()),
        ({"place": ["a", "b"], "day": [1, 2], "x": [0.5, -1]}, ("place", "day"), "", ()),
    ],
)
def test_guesses(columns, modes, count, attributes):
    frame = pd.DataFrame({name: list(values) for name, values in columns.items()}).astype(str)
    found = guess_columns(frame)
    assert found == plain_columns(modes=modes, count=count, attributes=attributes)


def test_python_that_reads_the_file_names_all_roles():
    frame = pd.DataFrame({"a": [1, 2], "b": [1, 2], "n": [3, 4], "z": [0, 1], "traps": [1, 2]})
    said = {"modes": ("a", "b"), "count": "n", "attributes": ("z",), "exposure": "traps"}
    own = OwnTable(
        dataset=read_table(frame, **said),
        columns=plain_columns(**said),
        name="my file.csv",
        digest="",
    )
    roles = """modes=('a', 'b'), count="n", attributes=('z',), exposure="traps")"""
    assert own.code.text == f'datasets.read_table("my file.csv", {roles}'

"""A reader's own table: the example works, and columns are guessed as a reader would."""

from __future__ import annotations

import pandas as pd
import pytest

import uncletc
from dashboard.methods.files import Columns, guess_columns, sample_table
from uncletc.datasets import read_table


def test_the_example_has_the_form_that_is_asked_for(tmp_path):
    table = sample_table()
    columns = guess_columns(table)
    assert columns == Columns(
        modes=("site", "species", "week"), count="count", attributes=("wind", "cloud", "effort")
    )
    assert table["site"].str.contains("simulated").all()
    path = tmp_path / "example.csv"
    table.to_csv(path, index=False)
    read = read_table(path, modes=columns.modes, count=columns.count, attributes=columns.attributes)
    assert read.counts.shape == (12, 10, 12)
    assert read.counts.n_observed == len(table) == read.counts.n_attributed
    again = eval(columns.load(str(path)), {"uncletc": uncletc})
    assert again.counts.digest == read.counts.digest


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
    assert (found.modes, found.count, found.attributes) == (modes, count, attributes)


def test_python_that_reads_the_file_names_all_roles():
    columns = Columns(modes=("a", "b"), count="n", attributes=("z",), exposure="traps")
    text = columns.load("my file.csv")
    for part in ("'my file.csv'", "modes=['a', 'b']", "count='n'", "attributes=['z']", "'traps'"):
        assert part in text

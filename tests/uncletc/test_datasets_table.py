"""A user's own table in long form: the short way to a data set."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from uncletc import datasets
from uncletc.datasets import read_table

FRAME = pd.DataFrame(
    {
        "site": ["b", "a", "a", "b", "a"],
        "week": ["10", "2", "10", "2", "1"],
        "seen": ["3", "0", "7", "", "5"],
        "hours": ["1.5", "2", "4", "3", ""],
        "traps": ["4", "2", "2", "4", "2"],
    }
)


def read(frame: pd.DataFrame = FRAME, **options):
    return read_table(frame, **({"modes": ("site", "week"), "count": "seen"} | options))


def changed(column: str, row: int, value: object) -> pd.DataFrame:
    frame = FRAME.astype(object)
    frame.loc[row, column] = value
    return frame


def test_each_row_is_at_the_place_of_its_labels():
    found = read(attributes=["hours", "traps"], name="visits.csv")
    y = found.counts
    assert y.labels == (("a", "b"), ("1", "2", "10"))  # weeks as numbers, not as text
    counts = dict(zip(map(tuple, y.indices.tolist()), y.counts.tolist(), strict=True))
    assert counts == {(1, 2): 3, (0, 1): 0, (0, 2): 7, (0, 0): 5}
    # The row without hours has no attributes; the one without a count has.
    hours = {(1, 2): 0, (0, 1): 0.2, (0, 2): 1, (1, 1): 0.6}
    for entry, value in hours.items():
        assert y.attributes_at([entry])[0] == pytest.approx([value, entry[0]])
    assert y.n_attributed == 4
    assert not found.provenance.simulated
    assert found.provenance.sources[0].name == "visits.csv (your own file)"
    assert "missing, not zero" in " ".join(found.provenance.rules)


def test_what_has_no_row_or_no_count_is_missing():
    assert (read().counts.n_observed, np.prod(read().counts.shape)) == (4, 6)
    for nothing in ("", " ", "NA", ".", None, np.nan):
        assert read(changed("seen", 1, nothing)).counts.n_observed == 3


def test_numbers_dates_and_text_of_a_frame():
    days = pd.to_datetime(["2024-11-05", "2024-02-10", "2024-02-09"])
    frame = pd.DataFrame({"day": days, "lat": [10.5, 9.0, 9.0], "n": [1, 2, 3]})
    y = read_table(frame, modes=("day", "lat"), count="n").counts
    assert y.labels == (("2024-02-09", "2024-02-10", "2024-11-05"), ("9", "10.5"))
    frame = pd.DataFrame({"a": ["1", "1.0", "2"], "b": ["x", "y", "x"], "n": [1, 2, 3]})
    assert read_table(frame, modes=("a", "b"), count="n").counts.labels[0] == ("1", "2")


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        ([4, 2, 2, 4, 2], (2, 1)),  # of sites
        ([9, 8, 9, 8, 7], (1, 3)),  # of weeks
        ([1, 2, 3, 4, 5], (2, 3)),  # of both
        ([6, 6, 6, 6, 6], (1, 1)),
    ],
)
def test_exposure_lies_along_the_modes_it_depends_on(values, shape):
    dataset = read(FRAME.assign(traps=values), exposure="traps")
    y = dataset.counts
    assert y.exposure.shape == shape
    rows = dataset.table[["site_index", "week_index"]].to_numpy()
    assert y.exposure_at(rows).tolist() == values
    if shape == (2, 3):
        assert y.exposure[1, 0] == 3  # no row: the median


@pytest.mark.parametrize(
    ("frame", "options", "sentence"),
    [
        (FRAME, {"attributes": ["wind"]}, "must have a column 'wind'"),
        (FRAME.iloc[:0], {}, "must have at least one row"),
        (changed("seen", 4, "7 or 8"), {}, "seen must hold numbers; data row 5 is '7 or 8'"),
        (changed("seen", 4, "inf"), {}, "seen must hold numbers; data row 5 is 'inf'"),
        (FRAME.assign(seen=""), {}, "must have a row with a count"),
    ],
)
def test_a_mistake_gets_one_sentence(frame, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(frame, **options)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_path(tmp_path, kind):
    path = tmp_path / f"mine.{kind}"
    FRAME.to_csv(path, index=False) if kind == "csv" else FRAME.to_parquet(path)
    found = read_table(path, modes=("site", "week"), count="seen")
    assert found.counts.digest == read().counts.digest
    assert found.title == path.name
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv", modes=("site", "week"), count="seen")
    assert "read_table" in datasets.__all__

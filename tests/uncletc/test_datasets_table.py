"""A user's own table: what becomes of each row, and one sentence for each mistake."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

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


class TestCounts:
    def test_each_row_is_at_the_place_of_its_labels(self):
        y = read().counts
        assert (y.shape, y.modes) == ((2, 3), ("site", "week"))
        assert y.labels == (("a", "b"), ("1", "2", "10"))  # weeks as numbers, not as text
        found = {tuple(i): n for i, n in zip(y.indices.tolist(), y.counts.tolist(), strict=True)}
        assert found == {(1, 2): 3, (0, 1): 0, (0, 2): 7, (0, 0): 5}
        assert not y.simulated

    def test_what_has_no_row_or_no_count_is_missing(self):
        assert (read().counts.n_observed, np.prod(read().counts.shape)) == (4, 6)
        for nothing in ("", " ", "NA", ".", None, np.nan):
            assert read(changed("seen", 1, nothing)).counts.n_observed == 3

    def test_attributes_are_scaled_and_belong_to_their_rows(self):
        y = read(attributes=["hours", "traps"]).counts
        assert y.attribute_names == ("hours", "traps")
        # The row without hours has no attributes; the one without a count has.
        hours = {(1, 2): 0, (0, 1): 0.2, (0, 2): 1, (1, 1): 0.6}
        for entry, value in hours.items():
            assert y.attributes_at([entry])[0] == pytest.approx([value, entry[0]])
        assert y.n_attributed == 4


class TestDataset:
    def test_says_that_it_is_the_users_own(self):
        found = read(attributes=["hours"], exposure="traps", name="visits.csv")
        assert (found.name, found.title) == ("own", "visits.csv")
        assert not found.provenance.simulated
        (source,) = found.provenance.sources
        assert source.name == "visits.csv (your own file)"
        rules = " ".join(found.provenance.rules)
        for part in (
            "missing, not zero",
            "Rows without a count are missing too (1)",
            "hours",
            "traps",
            "min-max",
        ):
            assert part in rules


class TestMistakes:
    @pytest.mark.parametrize(
        ("frame", "options", "sentence"),
        [
            (FRAME, {"count": "nought"}, "must have a column 'nought'; it has site, week, seen"),
            (FRAME, {"modes": ["site"]}, "modes must be at least 2 columns, got 1"),
            (FRAME.iloc[:0], {}, "must have at least one row"),
            (changed("seen", 2, "-7"), {}, "seen must be at least 0; data row 3 is -7"),
            (changed("seen", 4, "7 or 8"), {}, "seen must hold numbers; data row 5 is '7 or 8'"),
            (changed("week", 4, "2"), {}, "data rows 2 and 5 are both site a, week 2"),
            (
                changed("hours", 1, "two"),
                {"attributes": ["hours"]},
                "hours must hold numbers; data row 2 is 'two'",
            ),
            (
                changed("traps", 3, "0"),
                {"exposure": "traps"},
                "traps must be above 0 in every row; data row 4 is 0",
            ),
        ],
    )
    def test_are_told_in_one_sentence(self, frame, options, sentence):
        with pytest.raises(ValueError, match=sentence) as caught:
            read(frame, **options)
        assert "\n" not in str(caught.value)


class TestFiles:
    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_a_path(self, tmp_path, kind):
        path = tmp_path / f"mine.{kind}"
        FRAME.to_csv(path, index=False) if kind == "csv" else FRAME.to_parquet(path)
        found = read_table(path, modes=("site", "week"), count="seen")
        assert found.counts.digest == read().counts.digest
        assert found.title == path.name

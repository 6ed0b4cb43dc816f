"""A user's own table: what becomes of each row, and one sentence for each mistake."""

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

    @pytest.mark.parametrize(("column", "row"), [("week", 3), ("site", 1)])
    def test_rows_without_a_label_are_left_out_and_said(self, column, row):
        found = read(changed(column, row, None))
        assert len(found.table) == 4
        said = f"without a value of {column} are left out, the first is data row {row + 1}"
        assert said in " ".join(found.provenance.rules)

    def test_attributes_are_scaled_and_belong_to_their_rows(self):
        y = read(attributes=["hours", "traps"]).counts
        assert y.attribute_names == ("hours", "traps")
        # The row without hours has no attributes; the one without a count has.
        hours = {(1, 2): 0, (0, 1): 0.2, (0, 2): 1, (1, 1): 0.6}
        for entry, value in hours.items():
            assert y.attributes_at([entry])[0] == pytest.approx([value, entry[0]])
        assert y.n_attributed == 4

    def test_numbers_and_dates_of_a_frame(self):
        days = pd.to_datetime(["2024-11-05", "2024-02-10", "2024-02-09"])
        frame = pd.DataFrame({"day": days, "lat": [10.5, 9.0, 9.0], "n": [1, 2, 3]})
        y = read_table(frame, modes=("day", "lat"), count="n").counts
        assert y.labels == (("2024-02-09", "2024-02-10", "2024-11-05"), ("9", "10.5"))
        assert y.indices.tolist() == [[2, 1], [1, 0], [0, 0]]

    @pytest.mark.parametrize(
        ("days", "order"),
        [
            (["10.2.2024", "5.11.2023"], ("2023-11-05", "2024-02-10")),
            (["2/10/2024", "11/25/2023"], ("2023-11-25", "2024-02-10")),
            (["25/11/2023", "2/10/2024"], ("2023-11-25", "2024-10-02")),
            (["2024-02-10", "2023-11-05"], ("2023-11-05", "2024-02-10")),
        ],
    )
    def test_dates_as_text_are_in_order(self, days, order):
        frame = pd.DataFrame({"day": days, "site": ["x", "y"], "n": [1, 2]})
        y = read_table(frame, modes=("day", "site"), count="n").counts
        assert y.labels[0] == order

    def test_equal_numbers_are_one_label(self):
        frame = pd.DataFrame({"a": ["1", "1.0", "2"], "b": ["x", "y", "x"], "n": [1, 2, 3]})
        y = read_table(frame, modes=("a", "b"), count="n").counts
        assert y.labels[0] == ("1", "2")

    @pytest.mark.parametrize(
        ("values", "shape"),
        [
            ([4, 2, 2, 4, 2], (2, 1)),  # of sites
            ([9, 8, 9, 8, 7], (1, 3)),  # of weeks
            ([1, 2, 3, 4, 5], (2, 3)),  # of both
            ([6, 6, 6, 6, 6], (1, 1)),
        ],
    )
    def test_exposure_lies_along_the_modes_it_depends_on(self, values, shape):
        frame = FRAME.assign(traps=values)
        dataset = read(frame, exposure="traps")
        y = dataset.counts
        assert y.exposure.shape == shape
        rows = dataset.table[["site_index", "week_index"]].to_numpy()
        assert y.exposure_at(rows).tolist() == values
        if shape == (2, 3):
            assert y.exposure[1, 0] == 3  # no row: the median


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

    def test_tables_of_rows_and_modes(self):
        found = read()
        assert found.table.loc[2, ["site", "week", "count"]].tolist() == ["a", "10", 7]
        assert np.isnan(found.table.loc[3, "count"])
        weeks = found.mode_tables["week"]
        assert weeks.to_dict("list") == {"week": ["1", "2", "10"], "rows": [1, 1, 2]} | {
            "total": [5, 0, 10]
        }


class TestMistakes:
    @pytest.mark.parametrize(
        ("frame", "options", "sentence"),
        [
            (FRAME, {"count": "nought"}, "must have a column 'nought'; it has site, week, seen"),
            (FRAME, {"attributes": ["wind"]}, "must have a column 'wind'"),
            (FRAME, {"exposure": "people"}, "must have a column 'people'"),
            (FRAME, {"modes": ["site"]}, "modes must be at least 2 columns, got 1"),
            (FRAME, {"modes": ["site", "site"]}, "'site' has 2"),
            (FRAME, {"attributes": ["seen"]}, "each column must have one role, 'seen' has 2"),
            (FRAME.iloc[:0], {}, "must have at least one row"),
            (changed("seen", 2, "-7"), {}, "seen must be at least 0; data row 3 is -7"),
            (changed("seen", 0, 2.5), {}, "seen must be whole numbers; data row 1 is 2.5"),
            (changed("seen", 4, "7 or 8"), {}, "seen must hold numbers; data row 5 is '7 or 8'"),
            (changed("seen", 4, "inf"), {}, "seen must hold numbers; data row 5 is 'inf'"),
            (changed("seen", 4, 1e20), {}, r"seen must be below 2\*\*53; data row 5 is 1e\+20"),
            (FRAME.assign(seen=""), {}, "seen must hold at least one count"),
            (changed("week", 4, "2"), {}, "data rows 2 and 5 are both site a, week 2"),
            (
                changed("hours", 1, "two"),
                {"attributes": ["hours"]},
                "hours must hold numbers; data row 2 is 'two'",
            ),
            (FRAME.assign(hours=""), {"attributes": ["hours"]}, "hours must have a value"),
            (
                changed("traps", 3, "0"),
                {"exposure": "traps"},
                "traps must be above 0 in every row; data row 4 is 0",
            ),
            (changed("traps", 3, ""), {"exposure": "traps"}, "data row 4 is empty"),
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

    def test_no_such_file(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            read_table(tmp_path / "none.csv", modes=("site", "week"), count="seen")

    def test_public(self):
        assert "read_table" in datasets.__all__

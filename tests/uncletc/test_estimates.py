"""Estimates to take home: every entry, totals, and the files of both."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import xarray as xr

from uncletc import CountTensor, FitSettings, Group, Scale, datasets, fit, simulate
from uncletc.estimates import defused, every_entry, to_bytes, totals, write
from uncletc.estimates.entries import named_columns

LABELS = (
    ("=SUM(A1)", "b", "Doña Ana", "-5"),
    ("x/y", "+2", "c"),
    pd.date_range("2021-01-01", periods=2),
)


@pytest.fixture(scope="module")
def counts():
    made, _ = simulate((4, 3, 2), 1, observed=0.6, attributed=0.6, similar=0.1, seed=3)
    region = Group("region", ["site"], [0, 0, 1, -1], ["north", "south"])
    named = replace(made, modes=("site", "rate", "day"), labels=LABELS, simulated=False)
    return named.with_groups(region)


@pytest.fixture(scope="module")
def found(counts):
    return fit(counts, rank=1, network="never", max_iter=2000, tol=1e-3)


@pytest.fixture(scope="module")
def known(counts, found):
    return Scale.mean_detection(found.detection(counts.attributes), 0.5)


class TestEveryEntry:
    def test_has_a_row_for_each_entry_with_what_the_fit_says(self, counts, found, known):
        table = every_entry(counts, found, known).table
        assert len(table) == 24
        assert list(table.columns[:5]) == ["site", "rate_label", "day", "region", "reported"]
        assert table["site"].iloc[0] == "=SUM(A1)"
        assert (table["region"] == "").sum() == 6
        every = np.indices(counts.shape).reshape(3, -1).T
        np.testing.assert_array_equal(table["rate"], known.rate(found.rate(every)))
        z = counts.attributes_at(every, unknown_as_nan=True)
        np.testing.assert_array_equal(table["expected"], found.expected(every, z))
        np.testing.assert_allclose(table["rate"] * table["detection"], table["expected"])

    def test_the_largest_p_has_an_interval_as_totals_of_it_have(self, counts, found):
        low = Scale.mean_detection(found.detection(counts.attributes), 0.1)
        table = every_entry(counts, found, low).table
        largest = table.loc[table["detection"].idxmax()]
        assert largest["detection_high"] > 1.01 * largest["detection"]

    def test_without_attributes(self):
        y = CountTensor((3, 3), [[0, 0], [1, 1], [2, 2], [0, 1]], [3, 4, 5, 2])
        made = fit(y, FitSettings(rank=1, max_iter=2000, tol=1e-3))
        table = every_entry(y, made).table
        assert (table["relative_detection"] == 1).all()
        assert table["expected_low"].notna().all()
        own = made.to_frame(y)  # one row for each counted entry, in row-major order
        listed = table[table["reported"].notna()]
        for end in ("", "_low", "_high"):
            np.testing.assert_allclose(own[f"expected{end}"], listed[f"expected{end}"])

    def test_other_counts_and_a_bad_level_are_refused(self, counts, found, small):
        with pytest.raises(ValueError, match="counts must have shape"):
            every_entry(small, found)
        with pytest.raises(ValueError, match="counts must be those that were fitted"):
            every_entry(counts.with_counts(counts.counts + 1), found)
        with pytest.raises(ValueError, match="level must be"):
            every_entry(counts, found, level=1.0)
        with pytest.raises(TypeError, match="scale must be Scale, got float"):
            totals(counts, found, 0.25)

    def test_reports_that_come_late_are_no_bound(self, covid):
        dataset, late = covid
        made = every_entry(dataset, late)
        block = made.table.head(500)
        product = block["rate"] * block["detection"] * block["reporting"]
        np.testing.assert_allclose(product, block["expected"])
        assert "since reports come late" in made.notes["intervals"]
        assert block["counties"].iloc[0] == "Hawaii County, Hawaii"
        assert block["fips"].iloc[0] == "15001"
        labelled = dataset.table.assign(label="Hawaii County, HI")
        named = {each.column: each for each in named_columns(replace(dataset, table=labelled))}
        assert named["counties"].at(dataset.counts.indices[:1]).tolist() == ["Hawaii County, HI"]
        assert "reported_deaths" in block
        assert block["simulated"].all()


@pytest.fixture(scope="module")
def covid():
    dataset = datasets.with_deaths(datasets.load("covid-twin").with_roles())
    settings = FitSettings(rank=1, hidden=(), effects=["reporting(state × weekday)"], max_iter=400)
    return dataset, fit(dataset.counts, settings, callback=lambda record: record.iteration >= 2)


class TestFiles:
    def test_csv_reads_back_to_the_last_digit(self, counts, found, known):
        made = every_entry(counts, found, known)
        read = pd.read_csv(io.BytesIO(to_bytes(made, "csv")), dtype={"site": "str"})
        np.testing.assert_array_equal(read["rate"], made.table["rate"])
        assert set(read["site"]) == {"'=SUM(A1)", "b", "Doña Ana", "-5"}

    def test_parquet_has_labels_as_they_are_and_notes(self, counts, found, known):
        made = every_entry(counts, found, known)
        data = to_bytes(made, "parquet")
        pd.testing.assert_frame_equal(pd.read_parquet(io.BytesIO(data)), made.table)
        notes = json.loads(pq.read_schema(io.BytesIO(data)).metadata[b"uncletc"])
        assert notes == made.notes
        assert notes["scale"] == "anchored: mean detection is 50%"

    def test_netcdf_has_modes_as_dimensions(self, counts, found, known, tmp_path):
        made = every_entry(counts, found, known)
        path = tmp_path / "estimates.nc"
        write(made, path)
        with xr.open_dataset(path) as opened:
            assert dict(opened.sizes) == {"site": 4, "rate_label": 3, "day": 2}
            assert opened["site"].to_numpy().tolist() == list(LABELS[0])
            assert opened["day"].dtype == "datetime64[ns]"
            assert opened["region"].dims == ("site",)
            assert opened.attrs["scale"] == known.statement
            assert opened.attrs["settings"] == found.settings.to_json()
            assert "λ" in opened["rate"].attrs["long_name"]
            flat = opened["rate"].to_numpy().ravel()
            np.testing.assert_array_equal(flat, made.table["rate"])
            one = opened.sel(site="b", day="2021-01-01")["reported"]
            assert one.shape == (3,)

    def test_formulas_are_defused_and_numbers_are_not(self):
        table = pd.DataFrame({"@a": ["=1", "-2.5", "+x", "-", "plain", None], "b": range(6)})
        safe = defused(table)
        assert list(safe.columns) == ["'@a", "b"]
        assert safe["'@a"].tolist()[:5] == ["'=1", "-2.5", "'+x", "'-", "plain"]
        labels = pd.DataFrame({"site": pd.Categorical(["=1", "north", "=1"])})
        assert defused(labels)["site"].tolist() == ["'=1", "north", "'=1"]


class TestTotals:
    def test_sum_to_what_was_reported(self, counts, found, known):
        whole = totals(counts, found, known)
        assert whole["entries"].tolist() == [counts.n_observed]
        for by in ("site", "region", ("site", "day")):
            parts = totals(counts, found, known, by=by)
            assert parts["reported"].sum() == counts.counts.sum()
            np.testing.assert_allclose(parts["rate"].sum(), whole["rate"].iloc[0])
        by_both = totals(counts, found, known, by=("site", "day"))
        assert list(by_both.columns[:3]) == ["site", "day", "entries"]

    def test_days_of_late_reports_have_no_share(self, covid):
        dataset, late = covid
        scale = Scale(1.0, "known", True)
        assert "share" in totals(dataset, late, scale, by="state")
        assert "share" not in totals(dataset, late, scale, by=("state", "weekday"))


def test_numbers_and_dates_name_entries_as_such():
    days = pd.date_range("2024-05-01", periods=6)
    rows = [(site, day) for site in range(8) for day in days]
    frame = pd.DataFrame(rows, columns=["site", "day"]).assign(count=range(48))
    y = CountTensor.from_frame(frame, modes=["site", "day"])
    found = fit(y, rank=1)
    for table in (found.to_frame(), every_entry(y, found).table, totals(y, found, by="day")):
        assert pd.api.types.is_datetime64_any_dtype(table["day"])
    assert found.to_frame()["site"].tolist() == every_entry(y, found).table["site"].tolist()
    named = found.to_xarray()
    assert named["site"].dtype.kind == "i"
    assert named.sel(site=3, day="2024-05-02")["expected"].size == 1
    assert "2024-05-02" in to_bytes(every_entry(y, found), "csv").decode()
    assert len(to_bytes(every_entry(y, found), "netcdf")) > 100

"""Counts that are sums of others: told in the report, and mended by what columns say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from uncletc.tables import Columns, RawTable, build, check_counts, guess

DAYS = [f"2020-04-{day:02d}" for day in range(1, 21)]
NEW = np.random.default_rng(3).poisson(4, (6, 20))


def cases(counts: np.ndarray = NEW) -> RawTable:
    places = [f"county {k}" for k in range(len(counts)) for _ in DAYS]
    frame = {"county": places, "date": DAYS * len(counts), "cases": counts.ravel().tolist()}
    return RawTable.of(frame, "cases.csv")


def kinds(raw: RawTable, columns: Columns | None = None) -> dict[str, dict]:
    found = check_counts(build(raw, columns or guess(raw).columns))
    return {each.kind: dict(each.details) for each in found if each.severity == "mend"}


class TestRunningTotals:
    RAW = cases(NEW.cumsum(axis=1))

    def test_are_told(self):
        assert kinds(self.RAW)["running totals"]["running"] == "date"
        assert kinds(cases()) == {}

    def test_are_told_of_a_wide_table_too(self):
        wide = {day: NEW.cumsum(axis=1)[:, k].tolist() for k, day in enumerate(DAYS)}
        raw = RawTable.of({"county": list("abcdef"), **wide}, "wide.csv")
        columns = guess(raw).columns
        assert kinds(raw, columns)["running totals"]["running"] == "date"
        found = build(raw, replace(columns, running="date"))
        assert found.counts.counts.tolist() == NEW[:, 1:].ravel().tolist()

    def test_become_differences(self):
        columns = replace(guess(self.RAW).columns, running="date")
        found = build(self.RAW, columns)
        assert found.counts.counts.tolist() == NEW[:, 1:].ravel().tolist()
        assert "Counts are running totals along date" in " ".join(found.provenance.rules)
        assert Columns.from_dict(columns.as_dict()) == columns

    def test_differences_are_taken_before_days_are_summed_to_weeks(self):
        columns = guess(self.RAW).columns
        county, day = columns.modes
        by_week = replace(
            columns, modes=(county, replace(day, step="week")), duplicates="sum", running="date"
        )
        assert build(self.RAW, by_week).counts.counts.sum() == NEW[:, 1:].sum()

    def test_totals_that_fall_are_missing(self):
        fallen = NEW.cumsum(axis=1)
        fallen[0, 10] = 0
        found = build(cases(fallen), replace(guess(self.RAW).columns, running="date"))
        assert found.counts.n_observed == 6 * 19 - 1
        assert "Totals that fall" in " ".join(found.provenance.rules)

    def test_need_a_mode_and_one_row_each(self):
        columns = guess(self.RAW).columns
        with pytest.raises(ValueError, match="running must be one of the modes, county, date"):
            build(self.RAW, replace(columns, running="week"))
        twice = RawTable("twice.csv", self.RAW.frame.extend(self.RAW.frame.head(1).clone()))
        with pytest.raises(ValueError, match="need one row for each entry"):
            build(twice, replace(columns, running="date", duplicates="sum"))


class TestTotals:
    def test_are_told_by_name_and_left_out(self):
        raw = cases(NEW)
        named = raw.frame["county"].replace({"county 5": "All regions"})
        raw = RawTable("t.csv", raw.frame.with_columns(named))
        without = kinds(raw)["totals"]["without"]
        assert without == (("county", "All regions"),)
        found = build(raw, replace(guess(raw).columns, without=without))
        assert found.counts.shape == (5, 20)
        assert "All regions is left out" in " ".join(found.provenance.rules)

    def test_are_told_by_their_counts(self):
        raw = cases(np.concatenate([NEW, NEW.sum(axis=0, keepdims=True)]))
        assert kinds(raw)["totals"]["without"] == (("county", "county 6"),)

    def test_must_be_levels(self):
        with pytest.raises(ValueError, match="there is no county 'nowhere'"):
            build(cases(), replace(guess(cases()).columns, without=(("county", "nowhere"),)))


def test_parts_that_make_up_the_count_are_told():
    raw = cases()
    males = (NEW // 2).ravel()
    parts = {"he": males.tolist(), "she": (NEW.ravel() - males).tolist()}
    raw = RawTable.of(raw.frame.to_dict(as_series=False) | parts, "parts.csv")
    columns = guess(raw).columns
    assert {each.column for each in columns.attributes} == {"he", "she"}
    assert kinds(raw, columns)["leaking"]["attributes"] == ("he", "she")

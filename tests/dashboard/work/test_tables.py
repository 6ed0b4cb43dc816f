"""A file that is read beside the server: its table, its mistake, its limits."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pandas as pd
import pytest

from dashboard.work.tables import Reading, build_counts, is_quick
from dashboard.work.upload_limits import plain_name
from uncletc.tables import build, guess, read_file

DATA = b"site;seen\n" + b"a;1,5\nb;2,5\n" * 20


def test_the_table_is_that_of_the_library():
    reading = Reading(DATA, "mine.csv", "digest")
    raw, found = reading.table()
    assert reading.ended
    assert found == guess(read_file(DATA, "mine.csv"))
    assert raw.frame.equals(read_file(DATA, "mine.csv").frame)
    assert raw.notes == read_file(DATA, "mine.csv").notes


def test_a_mistake_is_the_same_sentence():
    with pytest.raises(ValueError, match=r"bad.csv is packed with gzip"):
        Reading(b"\x1f\x8b rest", "bad.csv").table()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../etc/mine.csv", "mine.csv"),
        ("C:\\mine.csv", "mine.csv"),
        ("a\0b\n.csv", "a�b�.csv"),
        ("\ud800.csv", "�.csv"),
        ("x" * 10**6 + ".csv", "x" * 96 + ".csv"),
        ("", "the file"),
    ],
)
def test_a_name_is_short_and_printable(name, shown):
    assert plain_name(name) == shown
    reading = Reading(b"", name)  # no name keeps a process from its start
    reading.cancel()
    assert reading.name == shown


def test_it_can_be_stopped():
    reading = Reading(DATA, "mine.csv")
    reading.cancel()
    with pytest.raises(ValueError, match="it was stopped"):
        reading.table()


def test_few_are_read_at_once_and_those_that_wait_can_be_stopped(monkeypatch):
    monkeypatch.setattr("dashboard.work.tables.READERS", threading.BoundedSemaphore(1))
    monkeypatch.setattr("dashboard.work.tables._CODE", ["-c", "import time; time.sleep(60)"])
    first, second = Reading(DATA, "first.csv"), Reading(DATA, "second.csv")
    second.cancel()
    with pytest.raises(ValueError, match=r"second.csv was not read: it was stopped"):
        second.table()
    assert not first.ended
    first.cancel()
    with pytest.raises(ValueError, match=r"first.csv was not read: it was stopped"):
        first.table()


def test_a_place_among_readers_is_given_back_where_it_was_taken(monkeypatch):
    first, second = threading.BoundedSemaphore(1), threading.BoundedSemaphore(1)
    monkeypatch.setattr("dashboard.work.tables.READERS", first)
    monkeypatch.setattr("dashboard.work.tables._CODE", ["-c", "import time; time.sleep(60)"])
    reading = Reading(DATA, "mine.csv")
    while first._value:  # until it has its place
        time.sleep(0.01)
    monkeypatch.setattr("dashboard.work.tables.READERS", second)
    reading.cancel()
    with pytest.raises(ValueError, match="it was stopped"):
        reading.table()
    assert first._value == second._value == 1


def test_too_much_memory_is_a_sentence(monkeypatch):
    monkeypatch.setattr("dashboard.work.tables._CODE", ["-c", "raise MemoryError"])
    with pytest.raises(ValueError, match="needs more than 3 GB of memory"):
        Reading(DATA, "mine.csv").table()


def test_only_small_text_is_read_at_once():
    assert is_quick(DATA)
    assert not is_quick(DATA * 100_000)
    assert not is_quick(b"PK\x03\x04")
    assert not is_quick(b"PAR1")
    assert not is_quick(b",".join(b"c%d" % k for k in range(5_000)) + b"\n1,2")


def test_counts_made_beside_the_server_are_those_of_the_library(monkeypatch):
    text = "site,week,seen,wind,lat,lon\n" + "".join(
        f"s{i},2024-0{1 + w}-01,{i + w},{(i * w) % 3},{45 + i},{7 + i}\n"
        for i in range(5)
        for w in range(4)
        for _ in range(1 + (i == w))
    )
    raw = read_file(text.encode(), "mine.csv")
    columns = replace(guess(raw).columns, duplicates="sum")
    monkeypatch.setattr("dashboard.work.tables._QUICK", 1)
    found, expected = build_counts(raw, columns), build(raw, columns)
    assert found.repeated == 4
    assert found.dataset.counts.digest == expected.counts.digest
    for name in ("title", "provenance", "roles", "attribute_info"):
        assert getattr(found.dataset, name) == getattr(expected, name)
    pd.testing.assert_frame_equal(found.dataset.table, expected.table)
    for mode, table in expected.mode_tables.items():
        pd.testing.assert_frame_equal(found.dataset.mode_tables[mode], table)
    refused = build_counts(raw, replace(columns, duplicates="refuse"))
    assert refused.dataset is None
    assert "each entry must have one row" in refused.error
    monkeypatch.setattr("dashboard.work.tables._CODE", ["-c", "raise MemoryError"])
    assert "GB of memory" in build_counts(raw, columns).error

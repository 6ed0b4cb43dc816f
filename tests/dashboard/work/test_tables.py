"""A file that is read beside the server: its table, its mistake, its limits."""

from __future__ import annotations

import threading

import pytest

from dashboard.work.brought import plain_name
from dashboard.work.tables import Reading, is_quick
from uncletc.tables import guess, read_file

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


def test_too_much_memory_is_a_sentence(monkeypatch):
    monkeypatch.setattr("dashboard.work.tables._CODE", ["-c", "raise MemoryError"])
    with pytest.raises(ValueError, match="needs more than 3 GB of memory"):
        Reading(DATA, "mine.csv").table()


def test_only_small_text_is_read_at_once():
    assert is_quick(DATA)
    assert not is_quick(DATA * 100_000)
    assert not is_quick(b"PK\x03\x04")
    assert not is_quick(b"PAR1")

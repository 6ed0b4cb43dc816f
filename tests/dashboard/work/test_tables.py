"""A file that is read beside the server: its table, its mistake, its limits."""

import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from time import sleep

import openpyxl
import pandas as pd
import pytest

from dashboard.work import tables
from dashboard.work.tables import TableFile, build_counts, is_quick, plain_name, read_table
from uncletc import Roles
from uncletc.tables import build, guess, read_file

DATA = b"site;seen\n" + b"a;1,5\nb;2,5\n" * 20


@pytest.fixture
def code(monkeypatch):
    """Have processes run this code instead."""
    return lambda text: monkeypatch.setattr(tables, "_CODE", ("-c", text))


def read(data, name):
    return read_table(data, name, lambda _: sleep(0.02))


@pytest.fixture(autouse=True)
def all_beside(monkeypatch):
    """Nothing is read within the server."""
    monkeypatch.setattr(tables, "_QUICK", 1)


def test_the_table_or_the_mistake_is_that_of_the_library():
    raw, found = read(DATA, "mine.csv")
    assert found == guess(read_file(DATA, "mine.csv"))
    assert raw.frame.equals(read_file(DATA, "mine.csv").frame)
    assert raw.notes == read_file(DATA, "mine.csv").notes
    with pytest.raises(ValueError, match=r"bad.csv is not a text file"):
        read(b"\x1f\x8b rest", "bad.csv")


def test_a_name_is_short_and_printable():
    assert plain_name("C:\\etc/mine.csv") == "mine.csv"
    assert plain_name("a\0b\n\ud800.csv") == "a�b��.csv"
    assert plain_name("x" * 10**6 + ".csv") == "x" * 96 + ".csv"
    assert plain_name("") == "the file"


def test_who_stops_waiting_ends_the_process(monkeypatch, code):
    turns = ThreadPoolExecutor(1)
    monkeypatch.setattr(tables, "_PROCESSES", turns)
    code("import time; time.sleep(60)")

    def leaves(_):
        sleep(0.05)
        raise KeyboardInterrupt

    for name in ("first.csv", "second.csv"):
        with pytest.raises(KeyboardInterrupt):
            read_table(DATA, name, leaves)
    assert turns.submit(int).result(timeout=10) == 0  # whoever had its turn has given it back


def test_what_takes_too_much_is_a_sentence(monkeypatch, code):
    code("raise MemoryError")
    with pytest.raises(ValueError, match="needs more than 3 GB of memory"):
        read(DATA, "mine.csv")
    code("import time; time.sleep(60)")
    monkeypatch.setattr(tables, "_MOST_SECONDS", 0.1)
    with pytest.raises(ValueError, match="takes more than 0 minutes"):
        read(DATA, "mine.csv")


def test_a_workbook_with_one_cell_far_off_ends_its_process_alone():
    book = openpyxl.Workbook()
    book.active["A1"], book.active["XFD1048576"] = "site", 1
    file = io.BytesIO()
    book.save(file)
    with pytest.raises(ValueError, match=r"far.xlsx needs more than 3 GB of memory"):
        read(file.getvalue(), "far.xlsx")


def test_only_small_text_is_read_at_once(monkeypatch):
    monkeypatch.setattr(tables, "_QUICK", 2_000_000)
    assert is_quick(DATA)
    wide = b",".join(b"c%d" % k for k in range(5_000)) + b"\n1,2"
    for other in (DATA * 100_000, b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"PAR1", wide):
        assert not is_quick(other)


def test_counts_made_beside_the_server_are_those_of_the_library(code):
    text = "site,week,seen,wind,lat,lon\n" + "".join(
        f"s{i},2024-0{1 + w}-01,{i + w},{(i * w) % 3},{45 + i},{7 + i}\n"
        for i in range(5)
        for w in range(4)
        for _ in range(1 + (i == w))
    )
    raw = read_file(text.encode(), "mine.csv")
    file = TableFile(raw=raw, guess=guess(raw), digest="")
    columns = replace(file.guess.columns, duplicates="sum")
    (role,) = build_counts(file, columns).roles
    assert role.reason.startswith("Guessed from")
    (wind,) = columns.attributes
    columns = replace(columns, attributes=(replace(wind, acts_on="both"),))
    found, expected = build_counts(file, columns), build(raw, columns)
    assert found.counts.digest == expected.counts.digest
    (role,) = expected.roles  # the library does not know who chose it
    assert "or guessed" in role.reason
    assert found.roles == Roles([replace(role, reason="Stated by the owner of the table.")])
    for name in ("title", "provenance", "attribute_info", "effects"):
        assert getattr(found, name) == getattr(expected, name)
    for mode, table in expected.mode_tables.items():
        pd.testing.assert_frame_equal(found.mode_tables[mode], table)
    code("raise MemoryError")
    with pytest.raises(ValueError, match="GB of memory"):
        build_counts(file, columns)

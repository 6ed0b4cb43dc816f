"""A table that its owner keeps on this machine: after a reload, after Forget it, and for others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import time

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.table.files import sample_table
from dashboard.work import keeping
from dashboard.work.keeping import Kept
from tests.dashboard.looking import in_address, open_screen, own_cache, press, ran, words
from uncletc.tables import Columns, RawTable


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A cache of their own, and where tables are kept in it."""
    with own_cache(tmp_path):
        yield tmp_path / "uncletc" / "tables"


def kept(at: AppTest) -> AppTest:
    data = sample_table().to_csv(index=False).encode()
    at = ran(at.file_uploader[0].set_value(("mine.csv", data, "text/csv")))
    return ran(at.toggle(key="own-keep").set_value(True))


def test_it_is_kept_by_choice_alone_and_without_pickle(folder):
    at = open_screen("table")
    data = sample_table().to_csv(index=False).encode()
    ran(at.file_uploader[0].set_value(("mine.csv", data, "text/csv")))
    assert not folder.exists()
    assert in_address(at, "mine") is None
    at = ran(at.toggle(key="own-keep").set_value(True))
    token = in_address(at, "mine")
    assert sorted(path.name for path in folder.iterdir()) == [f"{token}.json", f"{token}.parquet"]
    assert "who has that address has the table" in words(at)
    ran(at.toggle(key="own-keep").set_value(False))
    assert list(folder.iterdir()) == []
    assert in_address(at, "mine") is None
    assert "720 counts" in words(at)  # still this session's


def test_another_session_with_the_address_finds_it_as_it_was(folder):  # noqa: ARG001, its cache
    first = kept(open_screen("table"))
    token = in_address(first, "mine")
    again = open_screen("table", mine=token)
    assert "720 counts" in words(again)
    assert "In use: mine.csv" in words(again)
    assert again.toggle(key="own-keep").value
    assert "There is no table" not in words(open_screen("overview", mine=token, data="Your table"))
    assert "There is no table" in words(open_screen("overview", data="Your table"))


def test_forgetting_deletes_it_everywhere(folder):
    first = kept(open_screen("table"))
    token = in_address(first, "mine")
    second = open_screen("table", mine=token)
    press(first, "own_forget")
    assert list(folder.iterdir()) == []
    assert in_address(first, "mine") is None
    ran(second)
    assert "In use" not in words(second)
    late = open_screen("table", mine=token)
    assert "not on this machine any more" in words(late)
    assert in_address(late, "mine") is None


@pytest.mark.parametrize("token", ["../../etc/passwd", "x" * 32, ""])
def test_an_address_that_names_nothing_does_no_harm(folder, token):  # noqa: ARG001, its cache
    assert keeping.load(token) is None
    keeping.drop(token)
    assert "In use" not in words(open_screen("table", mine=token))


def test_a_damaged_one_is_none(folder):
    token = in_address(kept(open_screen("table")), "mine")
    (folder / f"{token}.json").write_text('{"name": 1}', encoding="utf-8")
    assert keeping.load(token) is None
    (folder / f"{token}.parquet").write_bytes(b"PAR1")
    assert keeping.load(token) is None


def table_of(name: str) -> Kept:
    frame = pl.DataFrame({"site": [name], "count": [1]})
    return Kept(
        raw=RawTable(name=name, frame=frame, notes=()),
        columns=Columns(modes=(), count="count"),
        digest="0",
    )


def age(folder: Path, token: str, days: float) -> None:
    then = time() - 86_400 * days
    for path in folder.glob(f"{token}.*"):
        os.utime(path, (then, then))


def test_tables_that_nobody_opens_are_deleted(folder):
    old, opened, new = (keeping.keep(table_of(name)) for name in ("old", "opened", "new"))
    for token in (old, opened):
        age(folder, token, 91)
    (folder / "notes.txt").write_text("not a table")
    assert keeping.opened(opened)
    assert keeping.expire(90) == 1
    assert not keeping.exists(old)
    assert keeping.exists(opened)
    assert keeping.exists(new)
    assert (folder / "notes.txt").exists()
    age(folder, new, 3)
    assert keeping.expire(2) == 1


def test_nothing_expires_where_nothing_is_kept(folder):
    assert not folder.exists()
    assert keeping.expire(90) == 0
    assert not keeping.opened("x" * 32)

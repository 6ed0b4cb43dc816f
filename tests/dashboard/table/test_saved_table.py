"""A table saved on this machine: after a reload, after Forget it, and for others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from time import time

import polars as pl
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared import own_table
from dashboard.table.roles import sample_table
from dashboard.work import table_files
from dashboard.work.table_files import SavedTable, TableFile
from tests.dashboard.looking import in_address, open_screen, own_cache, press, ran, words
from uncletc.tables import Columns, Guess, RawTable


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A cache of their own, and where tables are kept in it."""
    with own_cache(tmp_path):
        yield tmp_path / "uncletc" / "tables"


def saved(at: AppTest) -> AppTest:
    data = sample_table().to_csv(index=False).encode()
    at = ran(at.file_uploader[0].set_value(("mine.csv", data, "text/csv")))
    return ran(at.toggle(key="own-save").set_value(True))


def test_it_is_kept_by_choice_alone_and_without_pickle(folder):
    at = open_screen("table")
    data = sample_table().to_csv(index=False).encode()
    ran(at.file_uploader[0].set_value(("mine.csv", data, "text/csv")))
    assert not folder.exists()
    assert in_address(at, "mine") is None
    at = ran(at.toggle(key="own-save").set_value(True))
    token = in_address(at, "mine")
    assert [path.name for path in folder.iterdir()] == [f"{token}.parquet"]
    assert "who has that address has the table" in words(at)
    ran(at.toggle(key="own-save").set_value(False))
    assert list(folder.iterdir()) == []
    assert in_address(at, "mine") is None
    assert "720 counts" in words(at)  # still this session's


def test_another_session_with_the_address_finds_it_as_it_was(folder):  # noqa: ARG001, its cache
    first = saved(open_screen("table"))
    token = in_address(first, "mine")
    again = open_screen("table", mine=token)
    assert "720 counts" in words(again)
    assert "In use: mine.csv" in words(again)
    assert again.toggle(key="own-save").value
    assert "There is no table" not in words(open_screen("whatif", mine=token, data="Your table"))
    assert "There is no table" in words(open_screen("whatif", data="Your table"))


def test_forgetting_deletes_it_everywhere(folder):
    first = saved(open_screen("table"))
    token = in_address(first, "mine")
    second = open_screen("table", mine=token)
    press(first, "own_forget")
    assert list(folder.iterdir()) == []
    assert in_address(first, "mine") is None
    ran(second)
    assert "In use" not in words(second)
    late = open_screen("table", mine=token)
    assert "has expired" in words(late)
    assert in_address(late, "mine") is None


def test_where_people_sign_in_it_opens_for_its_owner_alone(folder, monkeypatch):
    person = ["ann@example.org"]
    monkeypatch.setattr(own_table, "user", lambda: person[0])
    at = saved(open_screen("table"))
    token = in_address(at, "mine")
    assert "opens for you alone" in words(at)
    assert person[0].encode() not in (folder / f"{token}.parquet").read_bytes()
    for other in ("bob@example.org", None):
        person[0] = other
        assert "720 counts" not in words(open_screen("table", mine=token))
    person[0] = "ann@example.org"
    assert "720 counts" in words(open_screen("table", mine=token))


def test_no_more_is_saved_than_there_is_room_for(folder):
    table_files.save(table_of("one"))
    with pytest.raises(OSError, match="room"):
        table_files.save(table_of("two"), most_bytes=1000)
    assert len(list(folder.iterdir())) == 1


def test_closed_visits_are_saved_with_the_table(folder):  # noqa: ARG001, its cache
    first = saved(open_screen("table"))
    first.session_state[own_table.CLOSED] = "week"
    ran(first)
    again = open_screen("table", mine=in_address(first, "mine"))
    assert again.session_state[own_table.CLOSED] == "week"


@pytest.mark.parametrize("token", ["../../etc/passwd", "x" * 32, ""])
def test_an_address_that_names_nothing_does_no_harm(folder, token):  # noqa: ARG001, its cache
    assert table_files.load(token) is None
    table_files.drop(token)
    assert "In use" not in words(open_screen("table", mine=token))


def test_a_damaged_one_is_none(folder):
    token = in_address(saved(open_screen("table")), "mine")
    pl.DataFrame({"a": [1]}).write_parquet(folder / f"{token}.parquet")
    assert table_files.load(token) is None
    (folder / f"{token}.parquet").write_bytes(b"PAR1")
    assert table_files.load(token) is None


def table_of(name: str) -> SavedTable:
    raw = RawTable(name=name, frame=pl.DataFrame({"site": [name], "count": [1]}), notes=())
    columns = Columns(modes=(), count="count")
    return SavedTable(TableFile(raw=raw, guess=Guess(columns), digest="0"), columns)


def age(folder: Path, token: str, days: float) -> None:
    then = time() - 86_400 * days
    for path in folder.glob(f"{token}.*"):
        os.utime(path, (then, then))


def test_tables_that_nobody_opens_are_deleted(folder):
    old, opened, new = (table_files.save(table_of(name)) for name in ("old", "opened", "new"))
    for token in (old, opened):
        age(folder, token, 91)
    (folder / "notes.txt").write_text("not a table")
    assert table_files.opened(opened)
    assert table_files.expire(90) == 1
    left = {path.stem for path in folder.glob("*.parquet")}
    assert left == {opened, new}
    assert (folder / "notes.txt").exists()
    age(folder, new, 3)
    assert table_files.expire(2) == 1


def test_nothing_expires_where_nothing_is_kept(folder):
    assert not folder.exists()
    assert table_files.expire(90) == 0
    assert not table_files.opened("x" * 32)

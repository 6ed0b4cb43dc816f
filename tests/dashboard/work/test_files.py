"""Files that several servers share."""

from __future__ import annotations

import errno
import tempfile
from pathlib import Path

import pytest

from dashboard.work.files import atomic, remove, writable
from dashboard.work.jobs import Job
from dashboard.work.order import Order
from dashboard.work.private import Private


def test_two_who_write_one_file_do_not_meet(tmp_path):
    path = tmp_path / "result"
    with atomic(path) as first, atomic(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
        assert not path.exists()
    assert path.read_text() == "first"  # its context ended last
    assert list(tmp_path.iterdir()) == [path]


def test_what_goes_wrong_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "result"
    path.write_text("before")

    def broken() -> None:
        with atomic(path) as partial:
            partial.write_text("half")
            raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="full"):
        broken()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    folder = writable(in_the_way / "results")
    assert folder.is_dir()
    assert folder.parent == tmp_path
    assert writable(folder) == folder


def test_what_may_not_be_removed_stays_and_nothing_else_stops(tmp_path, monkeypatch):
    def forbidden(*_: object, **__: object) -> None:  # as Linux says it, file or not
        raise OSError(errno.EROFS, "Read-only file system")

    path = tmp_path / "counts.npz"
    path.write_text("kept")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", forbidden)
        remove(path)
        private = Private(tmp_path)
        private.release(Job(Order(), run="7"), [])
        private.forget("digest", [])
    assert path.exists()
    remove(path)
    remove(path)
    assert not path.exists()
    private.close()

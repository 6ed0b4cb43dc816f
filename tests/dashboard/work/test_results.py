"""Results on disk and in memory, and whose they are: files that several servers share."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dashboard.work import results
from dashboard.work.jobs import Job
from dashboard.work.orders import FitOrder
from dashboard.work.results import Results, atomic, remove, writable
from uncletc import Fit

HOLDS = "import sys, time; from pathlib import Path; from dashboard.work.results import Results\n"
HOLDS += "kept = Results(Path(sys.argv[1]), 1e9); print(kept.private, flush=True); time.sleep(60)"


@pytest.fixture
def kept(tmp_path, small, small_fit):
    """Make a fit whose result lies in the folder, as if made earlier."""

    def make(seed: int = 0) -> FitOrder:
        order = FitOrder(small, replace(small_fit.settings, seed=seed))
        replace(small_fit, settings=order.settings).save(tmp_path / f"{order.key}.npz")
        return order

    return make


@pytest.fixture
def store(tmp_path):
    made = Results(tmp_path, 1e9)
    yield made
    made.close()
    assert not list(tmp_path.glob("counts-*"))


def job_of(store: Results, order: FitOrder, run: str = "7") -> Job:
    result = store.path(order)
    return Job(order, run=run, result=result, task=store.task(run, order, result))


def test_a_result_is_found_on_disk_then_in_memory(store, kept, small_fit, monkeypatch):
    orders = [kept(seed) for seed in range(3)]
    first = store.find(orders[0])
    for saved, loaded in zip(small_fit.factors, first.factors, strict=True):
        np.testing.assert_array_equal(saved, loaded)
    assert store.find(orders[0]) is first
    assert store.hits == {"memory": 1, "disk": 1}
    monkeypatch.setattr(results, "_IN_MEMORY", 2)
    for order in orders[1:]:
        store.find(order)
    assert store.find(orders[0]) is not first


def test_the_result_not_looked_at_for_longest_goes_first(store, kept, tmp_path, monkeypatch):
    orders = [kept(seed) for seed in range(5)]
    for age, order in enumerate(orders):
        os.utime(tmp_path / f"{order.key}.npz", (1000 - age, 1000 - age))
    store.find(orders[4])  # the oldest file is the one last looked at
    size = (tmp_path / f"{orders[0].key}.npz").stat().st_size
    monkeypatch.setattr(store, "_most_bytes", 3.5 * size)
    store.prune()
    assert {path.stem for path in tmp_path.glob("*.npz")} == {orders[k].key for k in (0, 1, 4)}


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "foreign"])
def test_a_damaged_or_foreign_file_counts_as_none(store, kept, tmp_path, damage):
    order, other = kept(), kept(1)
    path = tmp_path / f"{order.key}.npz"
    whole = path.read_bytes()
    foreign = (tmp_path / f"{other.key}.npz").read_bytes()
    path.write_bytes(
        {"empty": b"", "text": b"not a fit", "cut": whole[:-100], "foreign": foreign}[damage]
    )
    assert store.find(order) is None
    assert not path.exists()
    assert len(list(tmp_path.glob("*.damaged"))) == 1


def test_results_of_own_counts_lie_apart_until_their_last_owner_forgets(
    store, small, fit_order, small_fit
):
    ann, bob = store.own(small, "ann"), store.own(small, "bob")
    job = job_of(store, FitOrder(small, small_fit.settings))
    path = Path(job.task["result"])
    assert path.parent.parent == store.private
    assert Path(job.task["counts"]).parent == path.parent
    small_fit.save(path)
    assert store.find(job.order) is not None
    part = FitOrder(small.subset(np.arange(20)), fit_order().settings)  # what is held out is left
    assert store.path(part).parent == path.parent

    assert store.forget(ann) is None
    assert store.holds(bob)
    assert store.forget(bob) == path.parent
    store.release(None, [job])
    assert path.exists()  # somebody waits for it
    store.release(job, [])
    assert not path.parent.exists()
    assert store.find(job.order) is None
    assert store.path(job.order).parent == store.folder
    assert not store.holds(bob)


def test_what_is_read_while_it_is_forgotten_does_not_stay_in_memory(
    store, small, small_fit, monkeypatch
):
    claim, order = store.own(small, "ann"), FitOrder(small, small_fit.settings)
    path = store.path(order)
    path.parent.mkdir()
    small_fit.save(path)
    load = FitOrder.load

    def forgotten_meanwhile(path: Path) -> Fit:
        found = load(path)
        store.forget(claim)
        store.release(None, [])
        return found

    monkeypatch.setattr(FitOrder, "load", staticmethod(forgotten_meanwhile))
    store.find(order)
    assert not store._in_memory


def test_counts_on_disk_stay_within_bounds_but_never_go_while_needed(
    store, small, fit_order, monkeypatch
):
    monkeypatch.setattr(results, "_COUNTS_ON_DISK", 1)
    some = [small.subset(np.arange(40 + k)) for k in range(4)]
    jobs = [job_of(store, FitOrder(each, fit_order().settings)) for each in some]
    store.release(None, jobs[:2])
    left = [Path(job.task["counts"]).exists() for job in jobs]
    assert left == [True, True, False, True]  # two are needed, one is the latest


def test_a_folder_that_was_deleted_is_made_again(store, fit_order, tmp_path):
    job_of(store, fit_order())
    for path in sorted(tmp_path.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    tmp_path.rmdir()
    job = job_of(store, fit_order())
    assert Path(job.task["counts"]).exists()
    other = Results(tmp_path, 1e9)  # does not take it for one that was left behind
    assert Path(job.task["counts"]).exists()
    other.close()


@pytest.mark.skipif(results.fcntl is None, reason="needs locks on folders")
def test_what_a_killed_server_left_is_removed_at_the_next_start(tmp_path):
    half = tmp_path / ".result.json.1.partial"
    half.write_text("")
    os.utime(half, (0, 0))
    alive, killed = (
        subprocess.Popen([sys.executable, "-c", HOLDS, tmp_path], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    )
    try:
        left, gone = (Path(each.stdout.readline().strip()) for each in (alive, killed))
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert gone.is_dir()
        Results(tmp_path, 1e9).close()
        assert list(tmp_path.iterdir()) == [left]
    finally:
        for each in (alive, killed):
            each.kill()
            each.communicate()


def test_two_who_write_one_file_do_not_meet(tmp_path):
    path = tmp_path / "result"
    with atomic(path) as first, atomic(path) as second:
        first.write_text("first")
        second.write_text("second")
        assert not path.exists()
    assert path.read_text() == "first"  # its context ended last

    def broken() -> None:
        with atomic(path) as partial:
            partial.write_text("half")
            raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="full"):
        broken()
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    in_the_way = tmp_path / "file"
    in_the_way.write_text("not a folder")
    folder = writable(in_the_way / "results")
    assert folder.parent == tmp_path
    assert writable(folder) == folder
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    usual = Results(None, 1e9)
    assert usual.folder == tmp_path / "uncletc" / "results"
    usual.close()


def test_what_may_not_be_removed_stays_and_nothing_else_stops(store, fit_order, monkeypatch):
    def forbidden(*_: object, **__: object) -> None:  # as Linux says it, file or not
        raise OSError(errno.EROFS, "Read-only file system")

    job = job_of(store, fit_order())
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", forbidden)
        patch.setattr(results, "_COUNTS_ON_DISK", 0)
        remove(Path(job.task["counts"]))
        store.release(job, [])
    assert Path(job.task["counts"]).exists()

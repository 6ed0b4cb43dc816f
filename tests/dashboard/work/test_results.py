"""Results on disk and in memory, and whose they are: files that several servers share."""

import errno
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dashboard.work import results
from dashboard.work.orders import FitOrder
from dashboard.work.results import Results, writable
from uncletc import Fit
from uncletc.common.serialization import atomic


@pytest.fixture
def kept(store, small, small_fit):
    """Keep a fit."""

    def make(seed=0):
        order = FitOrder(small, replace(small_fit.settings, seed=seed))
        found = replace(small_fit, settings=order.settings)
        store.put(order, FitOrder.encode(found), store.private(small))
        return order

    return make


@pytest.fixture
def store(tmp_path):
    return Results(tmp_path, 1e9)


def test_a_result_is_found_on_disk_then_in_memory(store, kept, small_fit, monkeypatch):
    orders = [kept(seed) for seed in range(3)]
    first = store.find(orders[0])
    for saved, loaded in zip(small_fit.factors, first.factors, strict=True):
        np.testing.assert_array_equal(saved, loaded)
    assert store.find(orders[0]) is first
    monkeypatch.setattr(results, "_IN_MEMORY", 2)
    for order in orders[1:]:
        store.find(order)
    assert store.find(orders[0]) is not first


def test_the_result_not_used_for_longest_goes_first(store, kept, tmp_path):
    orders = [kept(seed) for seed in range(5)]
    for age, order in enumerate(orders):
        os.utime(tmp_path / f"{order.key}.npz", (1000 - age, 1000 - age))
    store.find(orders[4])  # the oldest file is the one last used
    store._most_bytes = 3.5 * (tmp_path / f"{orders[0].key}.npz").stat().st_size
    store._prune()
    assert {path.stem for path in tmp_path.glob("*.npz")} == {orders[k].key for k in (0, 1, 4)}
    assert store.bytes_on_disk < store._most_bytes


def test_a_damaged_file_counts_as_none(store, kept, tmp_path):
    for seed, damage in enumerate((lambda _: b"", lambda _: b"no fit", lambda data: data[:-100])):
        order = kept(seed)
        path = tmp_path / f"{order.key}.npz"
        path.write_bytes(damage(path.read_bytes()))
        assert store.find(order) is None
        assert not path.exists()


def test_results_of_own_counts_stay_until_their_last_owner_forgets(store, kept, small, tmp_path):
    ann, bob = store.own(small), store.own(small)
    order = kept()
    assert store.find(order) is store.find(order) is not None
    part = small.subset(np.arange(20))  # what is held out is left
    assert store.private(part) == store.private(small) is not None
    assert store.forget(ann) is False
    assert store.find(order) is not None
    assert store.forget(bob) is True
    assert store.find(order) is None
    assert not store._in_memory
    assert not list(tmp_path.iterdir())


def test_public_counts_stay_public_beside_own_ones_of_the_same_labels(store, kept, small, tmp_path):
    store.publish(small)
    own = small.with_counts(small.counts + 1)
    names = store.own(own)
    assert store.private(own) == names
    assert store.private(small) is store.private(small.subset(np.arange(20))) is None
    order = kept()
    assert [path.stem for path in tmp_path.iterdir()] == [order.key]
    store.forget(names)
    assert store.find(order) is not None


def test_what_is_read_while_it_is_forgotten_leaves_memory(store, kept, small, monkeypatch):
    claim, order, load = store.own(small), kept(), Fit.load

    def forgotten_meanwhile(file):
        store.forget(claim)
        return load(file)

    monkeypatch.setattr(Fit, "load", forgotten_meanwhile)
    store.find(order)
    assert not store._in_memory


def test_own_results_stay_within_bounds(store, kept, small, monkeypatch):
    names = store.own(small)
    orders = [kept(seed) for seed in range(2)]
    size = sum(map(len, store._private[names].values())) / 2
    monkeypatch.setattr(results, "_PRIVATE_BYTES", 2.5 * size)
    orders.append(kept(2))
    assert [store.find(order) is None for order in orders] == [True, False, False]


def test_a_folder_that_was_deleted_or_is_full_loses_no_result(store, kept, tmp_path, monkeypatch):
    tmp_path.rmdir()
    assert store.find(kept()) is not None
    assert len(list(tmp_path.iterdir())) == 1

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert store.find(kept(1)) is not None


def test_two_who_write_one_file_do_not_meet(tmp_path):
    path = tmp_path / "result"
    with atomic(path) as first, atomic(path) as second:
        first.write_text("first")
        second.write_text("second")
        assert not path.exists()
    assert path.read_text() == "first"  # its context ended last

    def broken():
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
    assert Results(None, 1e9).folder == tmp_path / "uncletc" / "results"

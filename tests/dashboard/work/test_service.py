"""Work in processes of its own: the real ones, on small problems."""

from __future__ import annotations

import errno
import gc
import os
import threading
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dashboard.work import private, register, store
from dashboard.work.jobs import Job
from dashboard.work.orders import FitOrder, Recovery, make_settings
from dashboard.work.service import Service
from tests.dashboard.work.waiting import finish, wait
from uncletc import CountTensor, Fit, FitSettings, UnreadableFitError, fit


def process(service: Service, lane: str = "quick"):
    """The process of a lane, started where it was not."""
    service.warm(lane)
    return service._crew.of(lane)[0].process


def counts_on_disk(service: Service) -> list[Path]:
    return sorted(service._shelf.private.folder.glob("*.npz"))


def unfinished(service: Service) -> list[Path]:
    return list(service._shelf.private.folder.glob("*.part"))


@pytest.fixture
def kept(tmp_path, small, small_fit):
    """Make a fit whose result lies in the folder, as if made earlier."""

    def make(seed: int = 0) -> FitOrder:
        order = FitOrder(small, replace(small_fit.settings, seed=seed))
        replace(small_fit, settings=order.settings).save(tmp_path / f"{order.key}.npz")
        return order

    return make


@pytest.fixture
def finished(kept):
    """One such fit."""
    return kept()


class TestJob:
    def test_pace_time_left_and_share(self, fit_order):
        job = Job(fit_order(max_iter=10))
        assert (job.active, job.iteration, job.seconds_left, job.share) == (True, 0, None, 0)
        job.hear({"iteration": 2, "seconds": 4.0, "values": {"objective": 7.0}})
        assert (job.state, job.objectives, job.share) == ("running", [7.0], 0.2)
        assert job.seconds_left == pytest.approx(16)

    def test_share_of_several_fits(self, comparison):
        job = Job(comparison(trials=4))
        job.hear({"iteration": 10, "seconds": 1.0, "trial": 1, "values": {}})
        assert job.share == pytest.approx(1.5 / 4)
        assert job.curve == []

    @pytest.mark.parametrize("state", ["done", "cancelled", "failed"])
    def test_not_active_once_ended(self, fit_order, state):
        assert not Job(fit_order(), state=state).active


class TestResults:
    def test_a_fit_runs_reports_and_is_kept(self, service, fit_order, small):
        order = fit_order(seed=1)
        assert service.lookup(order) is None
        assert service.job(order) is None
        job = finish(service.submit(order))
        assert (job.order, job.state, job.message) == (order, "done", "")
        assert (job.iteration, len(job.objectives)) == (3, 4)
        assert job.seconds > 0
        assert service.job(order) is None  # the result stands for it

        kept = service.lookup(order)
        assert kept.settings == order.settings
        assert kept.counts_digest == small.digest
        assert [record.objective for record in kept.history] == job.objectives
        other = Service(folder=service._shelf.folder)  # another server over the same folder
        again = other.lookup(order)
        assert [record.objective for record in again.history] == job.objectives
        other.close()
        (service._shelf.folder / f"{order.key}.npz").unlink()
        assert service.lookup(order) is kept  # from memory

    def test_what_the_process_fits_is_what_fit_fits(self, service, small, fit_order):
        order = fit_order(max_iter=300, seed=8)
        finish(service.submit(order))
        objectives = [record.objective for record in service.lookup(order).history]
        assert objectives == [record.objective for record in fit(small, order.settings).history]

    def test_a_comparison_holds_those_of_fewer_folds(self, service, comparison):
        many = comparison(trials=3, seed=7)
        job = finish(service.submit(many))
        assert (job.state, job.message) == ("done", "")
        trials = service.lookup(many)["trials"]
        assert len(trials) == 3
        for n in (1, 2):
            assert service.lookup(comparison(trials=n, seed=7))["trials"] == trials[:n]
        assert service.lookup(comparison(trials=4, seed=7)) is None

    def test_errors_are_reported_on_the_way(self, service):
        order = Recovery(
            simulation={"shape": (6, 5, 4), "rank": 2, "observed": 0.5, "attributed": 0.4},
            settings=FitSettings(rank=2, hidden=()),
        )
        job = finish(service.submit(order))
        assert job.state == "done", job.message
        curve = [(iteration, values) for iteration, values in service.lookup(order)["curve"]]
        assert job.curve
        assert set(map(str, job.curve[:-1])) <= set(map(str, curve))

    def test_orders_of_a_lane_wait_for_one_another_and_lanes_do_not(
        self, service, fit_order, comparison
    ):
        slow = service.submit(comparison(endless=True, seed=3))
        both = [service.submit(fit_order(seed=seed)) for seed in (10, 11)]
        assert [finish(job).state for job in both] == ["done", "done"]
        assert slow.active
        service.cancel(slow)

    def test_a_result_on_disk_needs_no_process(self, own_service, finished, small_fit):
        kept = own_service.lookup(finished)
        for saved, loaded in zip(small_fit.factors, kept.factors, strict=True):
            np.testing.assert_array_equal(saved, loaded)
        assert own_service.lookup(finished) is kept
        assert not own_service._crew.processes

    def test_memory_is_bounded(self, own_service, kept, monkeypatch):
        monkeypatch.setattr(store, "_IN_MEMORY", 2)
        orders = [kept(seed) for seed in range(3)]
        first = own_service.lookup(orders[0])
        for order in orders[1:]:
            own_service.lookup(order)
        assert own_service.lookup(orders[0]) is not first

    def test_the_result_not_looked_at_for_longest_goes_first(
        self, own_service, kept, tmp_path, monkeypatch
    ):
        orders = [kept(seed) for seed in range(5)]
        for age, order in enumerate(orders):
            os.utime(tmp_path / f"{order.key}.npz", (1000 - age, 1000 - age))
        own_service.lookup(orders[4])  # the oldest file is the one last looked at
        size = (tmp_path / f"{orders[0].key}.npz").stat().st_size
        monkeypatch.setattr(own_service._shelf.store, "_most_bytes", 3.5 * size)
        own_service._shelf.store.prune()
        left = {path.stem for path in tmp_path.glob("*.npz")}
        assert left == {orders[k].key for k in (0, 1, 4)}
        os.utime(tmp_path / f"{orders[4].key}.npz", (1, 1))
        own_service.lookup(orders[4])  # from memory
        assert (tmp_path / f"{orders[4].key}.npz").stat().st_mtime > 1000


class TestSharing:
    def test_asking_at_the_same_time_starts_one_job(self, service, fit_order, monkeypatch):
        order, submitted = fit_order(seed=20), []
        everyone = threading.Barrier(8)
        sent = []
        send = service._crew.of("quick")[0].send
        monkeypatch.setattr(
            service._crew.of("quick")[0], "send", lambda m: sent.append(m["run"]) or send(m)
        )

        def ask() -> None:
            everyone.wait()
            submitted.append(service.submit(order))

        with service._shelf.private._writing:  # the first cannot end before the others ask
            threads = [threading.Thread(target=ask) for _ in range(8)]
            for thread in threads:
                thread.start()
            wait(lambda: len(submitted) == 7)
        for thread in threads:
            thread.join()
        assert len(set(map(id, submitted))) == 1
        assert finish(submitted[0]).state == "done"
        assert len(sent) == 1

    @pytest.fixture
    def shared(self, service, fit_order):
        order = fit_order(endless=True, seed=70)
        job = service.submit(order, "ann")
        assert service.submit(order, "bob") is job
        yield job
        for watcher in ("ann", "bob"):
            service.cancel(job, watcher)

    def test_one_who_leaves_does_not_stop_it_for_the_other(self, service, shared):
        service.cancel(shared, "ann")
        assert shared.active
        assert shared.watchers == {"bob"}
        done = shared.iteration
        wait(lambda: shared.iteration > done + 1)

    def test_the_last_one_stops_it(self, service, shared):
        service.cancel(shared, "bob")
        service.cancel(shared, "ann")
        assert (shared.state, shared.message) == ("cancelled", "It was cancelled.")

    def test_strangers_do_not_stop_it(self, service, shared):
        service.cancel(shared, "eve")
        service.cancel(shared)
        assert shared.active

    def test_one_may_come_back(self, service, shared):
        service.cancel(shared, "ann")
        assert service.submit(shared.order, "ann") is shared
        service.cancel(shared, "bob")
        assert shared.active


class TestEstimatesSoFar:
    def test_come_while_a_fit_runs_and_go_with_it(self, service, fit_order, small):
        job = service.submit(fit_order(endless=True, members=2))
        assert service.latest(job) is None
        wait(lambda: job.estimates >= 1)
        first = service.latest(job)
        assert first.history[-1].iteration >= 3
        assert len(first.members) in (1, 2)  # those nearly as likely as the best
        assert first.counts_digest == small.digest
        assert service.lookup(job.order) is None
        wait(lambda: job.estimates >= 2)
        assert service.latest(job).history[-1].iteration > first.history[-1].iteration

        service.cancel(job)
        assert service.latest(job) is None
        wait(lambda: not unfinished(service), seconds=5)

    def test_unreadable_ones_are_none(self, service, fit_order, monkeypatch):
        def torn(path: Path) -> Fit:
            raise UnreadableFitError(f"{path} is torn")

        job = service.submit(fit_order(endless=True, seed=3))
        wait(lambda: job.estimates >= 1)
        with monkeypatch.context() as patch:
            patch.setattr(Fit, "load", torn)
            assert service.latest(job) is None
        service.cancel(job)


class TestCancel:
    def test_it_ends_at_once_leaves_no_result_and_the_process_goes_on(self, service, fit_order):
        before = process(service)
        orders = [fit_order(endless=True, seed=seed) for seed in range(100, 104)]
        cancelled = [service.submit(order) for order in orders]
        wait(lambda: cancelled[0].iteration >= 1)
        for job in cancelled:
            service.cancel(job)
        assert finish(service.submit(fit_order(seed=106))).state == "done"
        assert [job.state for job in cancelled] == ["cancelled"] * 4
        assert [job.iteration for job in cancelled[1:]] == [0] * 3  # what waited never ran
        assert all(service.lookup(order) is None for order in orders)
        assert not any(job in service._register.runs.values() for job in cancelled)
        assert process(service) is before

    def test_what_is_asked_for_again_runs_anew(self, service, fit_order):
        order = fit_order(endless=True, seed=61)
        first = service.submit(order)
        wait(lambda: first.iteration >= 1)
        service.cancel(first)
        second = service.submit(order)
        heard = len(first.objectives)  # what it still reports is not heard
        wait(lambda: second.iteration >= 1)
        assert second is not first
        assert second.objectives[0] == first.objectives[0]
        assert len(first.objectives) == heard
        assert service.job(order) is second
        service.cancel(second)

    def test_a_finished_one_stays(self, service, fit_order):
        job = finish(service.submit(fit_order(seed=40)))
        service.cancel(job)
        assert job.state == "done"
        assert service.lookup(job.order) is not None

    def test_while_its_counts_are_written(self, own_service, fit_order):
        order = fit_order()
        with own_service._shelf.private._writing:
            asking = threading.Thread(target=own_service.submit, args=(order, "me"))
            asking.start()
            wait(lambda: own_service.job(order))
            assert own_service.lookup(order) is None  # pages can look meanwhile
            own_service.cancel(own_service.job(order), "me")
        asking.join()
        assert not own_service._register.runs
        assert not own_service._crew.processes  # it was not sent


class TestCounts:
    def test_of_a_comparison_are_on_disk_only_while_needed(self, service, comparison, small):
        counts = small.subset(np.arange(50))
        path = service._shelf.private.counts(counts.digest)
        slow = service.submit(comparison(counts=counts, endless=True, seed=11))
        quick = service.submit(comparison(counts=counts, seed=11))
        assert path.exists()
        wait(lambda: slow.state == "running")
        service.cancel(slow)
        assert finish(quick).state == "done"
        wait(lambda: not path.exists())

    def test_of_fits_stay_within_bounds_but_never_go_while_needed(
        self, service, fit_order, small, monkeypatch
    ):
        monkeypatch.setattr(private, "_COUNTS_ON_DISK", 1)
        running = service.submit(fit_order(endless=True, seed=90))
        some = [small.subset(np.arange(40 + k)) for k in range(3)]
        waiting = [service.submit(FitOrder(each, fit_order().settings)) for each in some]
        assert len(counts_on_disk(service)) >= 4
        service.cancel(running)
        assert [finish(job).state for job in waiting] == ["done"] * 3
        assert counts_on_disk(service) == [service._shelf.private.counts(some[-1].digest)]

    def test_forgotten_ones_leave_nothing(self, service, comparison, small):
        counts = small.subset(np.arange(45))
        service.own(counts, "me")
        path, gone = service._shelf.private.counts(counts.digest), weakref.ref(counts)
        finish(service.submit(comparison(counts=counts), "me"))
        under_way = service.submit(comparison(counts=counts, endless=True), "me")
        wait(lambda: [job for job in service._register.runs.values() if job.state == "running"])
        service.forget(counts, "me")
        assert under_way.state == "cancelled"
        assert service.job(under_way.order) is None
        under_way = None
        wait(lambda: not service._register.runs)
        assert not path.exists()
        counts = None
        gc.collect()
        assert gone() is None

    def test_the_process_forgets_them_too(self, service, comparison, small):
        counts = small.subset(np.arange(46))
        service.own(counts, "me")
        order = comparison(counts=counts, seed=1)
        finish(service.submit(order, "me"))
        service.forget(counts, "me")
        # Had the process kept them, it could do without their file.
        message = {"run": "again", "counts": str(service._shelf.private.counts(counts.digest))}
        job = service._register.runs["again"] = Job(order, run="again")
        job.process = service._crew.of("long")[0].send(
            message | {"result": str(service._shelf.folder / "again.json")} | order.message()
        )
        assert finish(job).state == "failed"
        assert job.message == "its counts could not be read: no such file or directory."

    def test_results_of_someones_own_counts_go_with_them(self, service, fit_order, small):
        counts = small.subset(np.arange(38))
        service.own(counts, "me")
        orders = [
            FitOrder(each, fit_order().settings) for each in (counts, counts.subset(np.arange(33)))
        ]
        assert [finish(service.submit(each, "me-fit")).state for each in orders] == ["done"] * 2
        kept = {path.name for path in service._shelf.folder.glob("*.npz")}
        assert not kept & {f"{each.key}.npz" for each in orders}  # with this server, not beyond it
        assert all(service.lookup(each) is not None for each in orders)
        service.own(counts, "you")
        service.forget(counts, "me")
        assert service.lookup(orders[0]) is not None  # the other owner's
        service.forget(counts, "you")
        assert [service.lookup(each) for each in orders] == [None, None]
        private = service._shelf.private.folder
        assert not [path for each in orders for path in private.glob(f"{each.key}*")]

    def test_what_others_wait_for_is_not_forgotten_before_its_end(self, service, comparison, small):
        counts = small.subset(np.arange(47))
        service.own(counts, "me")
        job = service.submit(comparison(counts=counts, endless=True), "me")
        service.submit(job.order, "you")
        service.forget(counts, "me")
        assert job.active
        assert job.watchers == {"you"}
        service.cancel(job, "you")
        wait(lambda: not service._shelf.private.counts(counts.digest).exists())

    def test_that_cannot_be_written_are_a_sentence(self, service, small, fit_order, monkeypatch):
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", "/somewhere")

        monkeypatch.setattr(CountTensor, "save", full)
        order = FitOrder(small.subset(np.arange(20)), fit_order().settings)
        job = service.submit(order)
        assert job.state == "failed"
        assert job.message == "its counts could not be handed over: the disk is full."
        assert not service._register.runs

    def test_left_by_a_killed_server_are_removed(self, tmp_path):
        old, new = tmp_path / "counts-old", tmp_path / "counts-new"
        for folder in (old, new):
            folder.mkdir()
            (folder / "x.npz").write_text("")
        half = tmp_path / ".result.json.1.partial"
        half.write_text("")
        for path in (old, half):
            os.utime(path, (0, 0))
        Service(folder=tmp_path).close()
        assert list(tmp_path.iterdir()) == [new]


class TestTrouble:
    @pytest.mark.parametrize("damage", ["empty", "text", "cut"])
    def test_a_damaged_fit_counts_as_none(self, own_service, finished, tmp_path, damage):
        path = tmp_path / f"{finished.key}.npz"
        whole = path.read_bytes()
        path.write_bytes({"empty": b"", "text": b"not a fit", "cut": whole[:-100]}[damage])
        assert own_service.lookup(finished) is None
        assert not path.exists()

    def test_a_damaged_result_is_made_again(self, service, comparison):
        order = comparison(seed=31)
        (service._shelf.folder / f"{order.key}.json").write_text("{torn")
        assert service.lookup(order) is None
        assert finish(service.submit(order)).state == "done"
        assert service.lookup(order)["trials"]

    @pytest.mark.parametrize("lane", ["quick", "long"])
    def test_a_killed_process_is_replaced_once_and_the_next_order_works(
        self, service, fit_order, comparison, lane
    ):
        make = fit_order if lane == "quick" else comparison
        job = service.submit(make(endless=True, seed=200))
        wait(lambda: job.estimates if lane == "quick" else job.state == "running")
        before = process(service, lane)
        before.kill()
        wait(lambda: job.lost == 1 and job.state == "running")
        assert job.process is not before
        job.process.kill()
        assert finish(job).state == "failed"
        assert job.message == (
            "its process ended unexpectedly, and so did a second one. Ask for it again."
        )
        assert service.lookup(job.order) is None
        wait(lambda: not service._register.runs)
        assert not unfinished(service)
        assert finish(service.submit(make(seed=201))).state == "done"
        assert process(service, lane) is not before

    def test_a_process_that_dies_unnoticed_is_replaced(self, service, fit_order, monkeypatch):
        dead = process(service)
        dead.kill()
        dead.wait()
        with monkeypatch.context() as patch:  # as if it died between the look and the order
            polled = iter([None])
            patch.setattr(dead, "poll", lambda: next(polled, dead.returncode))
            job = service.submit(fit_order(seed=210))
        assert finish(job).state == "done"

    def test_an_error_is_a_sentence_and_the_process_lives_on(self, service, small, fit_order):
        before = process(service)
        nothing = small.subset(np.zeros(small.n_observed, dtype=bool))
        job = finish(service.submit(FitOrder(nothing, fit_order().settings)))
        assert job.state == "failed"
        assert "at least 1 observed entry" in job.message
        assert finish(service.submit(fit_order(seed=50))).state == "done"
        assert process(service) is before

    def test_what_a_method_refuses_is_a_sentence(self, service, comparison):
        wide = CountTensor((300, 300, 300), np.column_stack([np.arange(30)] * 3), np.arange(30))
        order = comparison(counts=wide, method="HaLRTC", settings=make_settings("HaLRTC", 1, 0))
        job = finish(service.submit(order))
        assert job.state == "failed"
        assert "HaLRTC holds every entry of the tensor and takes at most" in job.message
        assert service.lookup(order) is None

    def test_ended_jobs_are_bounded(self, own_service, fit_order, monkeypatch):
        monkeypatch.setattr(register, "_ENDED_JOBS", 2)
        monkeypatch.setattr(own_service._crew.of("quick")[0], "send", lambda _: None)
        orders = [fit_order(seed=seed) for seed in range(4)]
        for order in orders:
            job = own_service.submit(order)
            own_service._hear({"id": job.run, "end": "failed", "message": "It broke."})
        assert [own_service.job(order) is not None for order in orders] == [False] * 2 + [True] * 2

    def test_default_folder_is_the_users_cache(self, tmp_path, monkeypatch):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        Service().close()
        assert list((tmp_path / "uncletc" / "results").iterdir()) == []


def test_close_ends_the_process_also_in_the_middle_of_a_fit(own_service, fit_order, tmp_path):
    own_service.warm()
    before = process(own_service)
    job = own_service.submit(fit_order(endless=True))
    wait(lambda: job.iteration >= 1)
    assert process(own_service) is before  # the one that was warm
    own_service.close()
    own_service.close()
    assert before.poll() is not None
    assert finish(job).state == "failed"
    assert list(tmp_path.glob("counts-*")) == []

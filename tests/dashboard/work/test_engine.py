"""Work in processes of its own: the real ones, on small problems."""

from __future__ import annotations

import errno
import gc
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

from dashboard.work import engine
from dashboard.work.engine import Service, Session
from dashboard.work.jobs import Job
from dashboard.work.limits import Limits
from dashboard.work.orders import FitOrder, Recovery, make_settings
from tests.dashboard.work.waiting import finish, wait
from uncletc import CountTensor, Fit, FitSettings, UnreadableFitError, fit


def process(service: Service, lane: str = "quick"):
    """The process of a lane, started where it was not."""
    service.warm(lane)
    return service._workers[lane][0].process


def left_of(service: Service, job: Job) -> list[Path]:
    """Files of a job's counts and results that are on disk."""
    names = (job.order.counts_digest, job.order.key)
    files = service._results.folder.rglob("*")
    return [path for path in files if any(name in path.name for name in names)]


@pytest.fixture
def limited(tmp_path):
    """Make a service with limits of its own."""
    made = []

    def make(alive=None, **limits) -> Service:
        folder = tmp_path / str(len(made))
        made.append(Service(folder=folder, limits=Limits(**limits), alive=alive))
        return made[-1]

    yield make
    for service in made:
        service.close()


class TestResults:
    def test_a_fit_runs_reports_and_is_kept(self, service, fit_order, small):
        order = fit_order(seed=1)
        assert service.lookup(order) is None
        assert service.job(order) is None
        job = finish(service.submit(order))
        assert (job.order, job.state, job.message) == (order, "done", "")
        assert (job.iteration, len(job.objectives)) == (3, 4)
        assert service.job(order) is None  # its result is there
        kept = service.lookup(order)
        assert (kept.settings, kept.counts_digest) == (order.settings, small.digest)
        assert [record.objective for record in kept.history] == job.objectives
        other = Service(folder=service._results.folder)  # another server over the same folder
        assert [record.objective for record in other.lookup(order).history] == job.objectives
        other.close()

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
        assert service.lookup(comparison(trials=2, seed=7))["trials"] == trials[:2]
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

    def test_lanes_do_not_wait_for_each_other(self, service, fit_order, comparison):
        slow = service.submit(comparison(endless=True, seed=3))
        both = [service.submit(fit_order(seed=seed)) for seed in (10, 11)]
        assert [finish(job).state for job in both] == ["done", "done"]
        assert slow.active
        service.cancel(slow)


class TestSharing:
    def test_asking_at_the_same_time_starts_one_job(self, service, fit_order):
        order, submitted = fit_order(seed=20), []
        with service._results._writing:  # the first cannot end before the others ask
            threads = [
                threading.Thread(target=lambda: submitted.append(service.submit(order)))
                for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            wait(lambda: len(submitted) == 7)
        for thread in threads:
            thread.join()
        assert len(set(map(id, submitted))) == 1
        assert finish(submitted[0]).state == "done"

    def test_the_last_one_who_leaves_stops_it(self, service, fit_order):
        order = fit_order(endless=True, seed=70)
        job = service.submit(order, "ann")
        assert service.submit(order, "bob") is job
        service.cancel(job, "ann")
        for stranger in ("eve", ""):
            service.cancel(job, stranger)
        assert job.active
        done = job.iteration
        wait(lambda: job.iteration > done + 1)
        assert service.submit(order, "ann") is job
        service.cancel(job, "bob")
        assert job.active
        service.cancel(job, "ann")
        assert (job.state, job.message) == ("cancelled", "It was cancelled.")


class TestEstimatesSoFar:
    def test_come_while_a_fit_runs_and_go_with_it(self, service, fit_order, small, monkeypatch):
        job = service.submit(fit_order(endless=True, members=2))
        assert service.latest(job) is None
        wait(lambda: job.estimates >= 1)
        first = service.latest(job)
        assert first.history[-1].iteration >= 3
        assert first.counts_digest == small.digest
        assert service.lookup(job.order) is None
        wait(lambda: job.estimates >= 2)
        assert service.latest(job).history[-1].iteration > first.history[-1].iteration

        def torn(path: Path) -> Fit:
            raise UnreadableFitError(f"{path} is torn")

        with monkeypatch.context() as patch:
            patch.setattr(Fit, "load", torn)
            assert service.latest(job) is None
        service.cancel(job)
        assert service.latest(job) is None
        wait(lambda: not service._results.so_far(job.run).exists(), seconds=5)


class TestCancel:
    def test_it_ends_at_once_leaves_no_result_and_the_process_goes_on(self, service, fit_order):
        before = process(service)
        orders = [fit_order(endless=True, seed=seed) for seed in range(100, 103)]
        cancelled = [service.submit(order) for order in orders]
        wait(lambda: cancelled[0].iteration >= 1)
        for job in cancelled:
            service.cancel(job)
        job = finish(service.submit(fit_order(seed=106)))
        assert job.state == "done"
        service.cancel(job)  # a finished one stays
        assert service.lookup(job.order) is not None
        assert [job.state for job in cancelled] == ["cancelled"] * 3
        assert [job.iteration for job in cancelled[1:]] == [0] * 2  # what waited never ran
        assert all(service.lookup(order) is None for order in orders)
        assert not any(job in service._queue.runs.values() for job in cancelled)
        assert process(service) is before

    def test_what_is_asked_for_again_runs_again(self, service, fit_order):
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

    def test_while_its_counts_are_written(self, own_service, fit_order):
        order = fit_order()
        with own_service._results._writing:
            asking = threading.Thread(target=own_service.submit, args=(order, "me"))
            asking.start()
            wait(lambda: own_service.job(order))
            assert own_service.lookup(order) is None  # pages can look meanwhile
            own_service.cancel(own_service.job(order), "me")
        asking.join()
        assert not own_service._queue.runs
        assert process(own_service).poll() is None


class TestOwnCounts:
    def test_forgotten_ones_leave_nothing(self, service, comparison, small):
        counts = small.subset(np.arange(45))
        claim = service.own(counts, "me")
        gone = weakref.ref(counts)
        done = comparison(counts=counts)
        finish(service.submit(done, "me-fit"))
        assert service.lookup(done)
        assert not (service._results.folder / f"{done.key}.json").exists()
        folder = service._results.path(done).parent
        assert list(folder.iterdir())
        under_way = service.submit(comparison(counts=counts, endless=True), "me")
        wait(lambda: under_way.state == "running")
        service.forget(claim)
        assert under_way.state == "cancelled"
        assert service.job(under_way.order) is None
        assert service.lookup(done) is None
        under_way = None
        wait(lambda: not service._queue.runs)
        assert not folder.exists()
        counts = done = None
        gc.collect()
        assert gone() is None

    def test_the_process_forgets_them_too(self, service, comparison, small):
        counts = small.subset(np.arange(46))
        claim = service.own(counts, "me")
        job = finish(service.submit(comparison(counts=counts, seed=1), "me"))
        service.forget(claim)
        # Had the process kept them, it could do without their file.
        again = service._queue.runs["again"] = Job(job.order, run="again")
        again.process = service._workers["long"][0].send(job.task | {"run": "again"})
        assert finish(again).message == "its counts could not be read: no such file or directory."

    def test_a_claim_that_is_forgotten_late_takes_no_later_one_along(
        self, service, small, fit_order
    ):
        counts = small.subset(np.arange(49))
        order = FitOrder(counts, fit_order(endless=True).settings)
        before, now = service.own(counts, "me"), service.own(counts, "me")
        service.forget(before)
        job = service.submit(order, "me")
        service.forget_later(before)
        service.forget_pending()
        assert job.active
        assert Path(job.result).parent.parent == service._results.private
        service.forget(now)
        assert job.state == "cancelled"
        wait(lambda: not service._queue.runs)
        assert not left_of(service, job)

    @pytest.mark.parametrize("disk", ["fine", "full"])
    def test_forgotten_while_their_file_is_written(
        self, own_service, fit_order, small, monkeypatch, disk
    ):
        claim, save, jobs = own_service.own(small, "me"), CountTensor.save, []

        def forget_meanwhile(counts: CountTensor, path: Path) -> None:
            jobs.append(own_service.job(fit_order()))
            own_service.forget(claim)
            path.parent.mkdir(exist_ok=True)
            save(counts, path)
            if disk == "full":
                raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(CountTensor, "save", forget_meanwhile)
        job = own_service.submit(fit_order(), "me")
        assert jobs == [job]
        assert job.state == "cancelled"
        assert not own_service._queue.runs
        assert not left_of(own_service, job)

    def test_what_others_wait_for_is_not_forgotten_before_its_end(self, service, comparison, small):
        counts = small.subset(np.arange(47))
        claim = service.own(counts, "me")
        job = service.submit(comparison(counts=counts, endless=True), "me")
        service.submit(job.order, "you")
        service.forget(claim)
        assert job.active
        assert job.watchers == {"you"}
        service.cancel(job, "you")
        wait(lambda: not Path(job.task["counts"]).exists())

    def test_the_garbage_collector_may_have_them_forgotten_while_locks_are_held(
        self, service, small, fit_order
    ):
        counts = small.subset(np.arange(48))
        claim = service.own(counts, "me")
        order = FitOrder(counts, fit_order().settings)
        assert service._results.path(order).parent != service._results.folder

        class Held:
            pass

        held = Held()
        weakref.finalize(held, service.forget_later, claim)
        ended = threading.Event()

        def collect() -> None:
            nonlocal held
            with service._results._lock, service._results._writing:
                held = None
            ended.set()

        with service._lock:
            threading.Thread(target=collect, daemon=True).start()
            assert ended.wait(10), "the finaliser waits for a lock"
        wait(lambda: service._results.path(order).parent == service._results.folder, seconds=10)


class TestLimits:
    def test_several_processes_work_on_a_lane_at_once(self, limited, fit_order):
        service = limited(quick_workers=2)
        jobs = [service.submit(fit_order(endless=True, seed=seed), "ann-fit") for seed in range(3)]
        wait(lambda: all(job.state == "running" for job in jobs[:2]))
        assert [service.place(job) for job in jobs] == [0, 0, 1]
        numbers = service.numbers()
        assert (numbers["running"], numbers["waiting_quick"], numbers["workers"]) == (2, 1, 2)
        assert numbers["sessions"] == 1
        for job in jobs:
            service.cancel(job, "ann-fit")
        wait(lambda: not service._queue.runs)
        assert service.numbers()["cancelled"] == 3

    def test_others_come_in_between_and_no_session_has_too_many(self, limited, fit_order):
        service = limited(quick_workers=1, session_orders=3)
        first = service.submit(fit_order(endless=True, seed=0), "ann-fit")
        wait(lambda: first.state == "running")
        more = [service.submit(fit_order(seed=seed), "ann-fit") for seed in (1, 2)]
        other = service.submit(fit_order(seed=3), "bob-fit")
        refused = service.submit(fit_order(seed=4), "ann-fit")
        assert (refused.state, service.job(refused.order)) == ("failed", refused)
        assert refused.message.startswith("you already wait for 3 results")
        assert [service.place(job) for job in (other, *more)] == [1, 2, 3]
        service.cancel(first, "ann-fit")
        assert [finish(job).state for job in (other, *more)] == ["done"] * 3

    @pytest.mark.parametrize(
        ("limits", "sentence", "lost"),
        [
            ({"seconds": 0.5}, "it took longer than 0.5 seconds", 0),
            ({"memory_gb": 0.01}, "it needed more than 0.01 GB of memory", 0),
            ({"silent_seconds": 1e-6}, "its process ended unexpectedly, and so did a second", 1),
        ],
        ids=["slow", "large", "hung"],
    )
    def test_what_goes_beyond_is_ended_with_a_sentence(
        self, limited, fit_order, limits, sentence, lost
    ):
        job = finish(limited(**limits).submit(fit_order(endless=True)))
        assert job.state == "failed"
        assert job.message.startswith(sentence)
        assert job.lost == lost

    def test_what_a_closed_session_waited_for_is_left(self, limited, fit_order, monkeypatch):
        monkeypatch.setattr(engine, "_GONE", 0.2)
        open_sessions = {"ann", "bob"}
        service = limited(alive=lambda session: session in open_sessions)
        shared = service.submit(fit_order(endless=True, seed=0), "ann-fit")
        service.submit(shared.order, "bob-fit")
        alone = service.submit(fit_order(endless=True, seed=1), "ann-methods")
        open_sessions.remove("ann")
        wait(lambda: alone.state == "cancelled")
        assert shared.active
        assert shared.sessions == {"bob"}


class TestTrouble:
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
        assert job.message.startswith("its process ended unexpectedly, and so did a second one.")
        assert service.lookup(job.order) is None
        wait(lambda: not service._queue.runs)
        assert not list(service._results.private.glob("*.part"))
        assert finish(service.submit(make(seed=201))).state == "done"
        assert process(service, lane) is not before

    def test_a_process_that_dies_unnoticed_is_replaced(self, service, fit_order, monkeypatch):
        dead = process(service)
        dead.kill()
        dead.wait()
        with (
            monkeypatch.context() as patch
        ):  # as if it died between the observation process and the order
            polled = iter([None])
            patch.setattr(dead, "poll", lambda: next(polled, dead.returncode))
            job = service.submit(fit_order(seed=210))
        assert finish(job).state == "done"

    def test_an_error_is_a_sentence_and_the_process_lives_on(
        self, service, small, fit_order, comparison
    ):
        before = process(service)
        nothing = small.subset(np.zeros(small.n_observed, dtype=bool))
        job = finish(service.submit(FitOrder(nothing, fit_order().settings)))
        assert job.state == "failed"
        assert "at least 1 observed entry" in job.message
        assert finish(service.submit(fit_order(seed=50))).state == "done"
        assert process(service) is before
        wide = CountTensor((300, 300, 300), np.column_stack([np.arange(30)] * 3), np.arange(30))
        order = comparison(counts=wide, method="HaLRTC", settings=make_settings("HaLRTC", 1, 0))
        job = finish(service.submit(order))
        assert "HaLRTC holds every entry of the tensor and takes at most" in job.message

    def test_counts_that_cannot_be_written_are_a_sentence(
        self, service, small, fit_order, monkeypatch
    ):
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", "/somewhere")

        monkeypatch.setattr(CountTensor, "save", full)
        order = FitOrder(small.subset(np.arange(20)), fit_order().settings)
        job = service.submit(order)
        assert job.state == "failed"
        assert job.message == "its counts could not be handed over: the disk is full."
        assert not service._queue.runs

    def test_close_ends_the_process_also_in_the_middle_of_a_fit(
        self, own_service, fit_order, tmp_path
    ):
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


class FakeService:
    """Keeps jobs as the service does, and ends them when the test says so."""

    def __init__(self):
        self.jobs, self.results = {}, {}

    def lookup(self, order):
        return self.results.get(order)

    def job(self, order):
        return self.jobs.get(order)

    def submit(self, order, watcher=""):
        job = self.jobs.get(order)
        if job is None or not job.active:
            job = self.jobs[order] = Job(order)
        job.watchers.add(watcher)
        return job

    def cancel(self, job, watcher=""):
        job.watchers.discard(watcher)
        if not job.watchers:
            job.state = "cancelled"

    @property
    def active(self):
        return [order for order, job in self.jobs.items() if job.active]


class TestSession:
    @pytest.fixture
    def wanted(self, fit_order):
        return [fit_order(rank=rank) for rank in range(1, 6)]

    def test_what_is_missing_waits_for_this_session_alone(self, wanted):
        service = FakeService()
        mine = Session(service, "me")
        service.results[wanted[0]] = object()
        mine.submit(mine.missing(wanted))
        assert service.active == mine.missing(wanted) == wanted[1:]
        assert [job.order for job in mine.under_way(wanted)] == wanted[1:]
        assert Session(service, "you").under_way(wanted) == []
        service.submit(wanted[1], "somebody else")
        mine.cancel(wanted)
        assert mine.under_way(wanted) == []
        assert service.active == [wanted[1]]

    def test_a_batch_keeps_few_orders_in_the_queue_and_does_not_try_a_failed_one_again(
        self, wanted
    ):
        service, asked = FakeService(), set()
        mine = Session(service, "me")
        assert mine.advance(wanted, asked)
        job = service.job(wanted[0])
        job.state, job.message = "failed", "It broke."
        assert [each.message for each in mine.failed(wanted)] == ["It broke."]
        rounds = 0
        while mine.advance(wanted, asked):
            assert 0 < len(service.active) <= 2
            done = service.active[0]
            del service.jobs[done]
            service.results[done] = object()
            rounds += 1
        assert rounds == len(wanted) - 1
        assert mine.missing(wanted) == wanted[:1]

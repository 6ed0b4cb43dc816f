"""Work beside the pages: whose turn it is and what stays, and real processes on small problems."""

import gc
import json
import logging
import threading
import weakref
from time import sleep

import numpy as np
import pytest

from dashboard.logs import Lines
from dashboard.work import engine
from dashboard.work.engine import Service, Session
from dashboard.work.orders import FitOrder, SimulatedFit, make_settings
from tests.dashboard.work.waiting import finish, wait
from uncletc import CountTensor, Fit, FitSettings, fit


def place_of(service, job):
    """The place that works on a job, once it has it."""
    wait(lambda: any(each.job is job and each.worker.alive for each in service._places))
    return next(each for each in service._places if each.job is job)


def end(service, job, *how):
    """Have the worker of a job end it, and wait for that."""
    place_of(service, job).worker.end(*how)
    return finish(job)


class TestProcesses:
    """Real ones."""

    def test_what_a_process_fits_is_what_fit_fits_and_stays(self, service, small, fit_order):
        order = fit_order(max_iter=300, seed=8)
        assert service.lookup(order) is service.job(order) is None
        job = finish(service.submit(order))
        assert (job.order, job.state, job.message) == (order, "done", "")
        assert service.job(order) is None  # its result is there
        found = service.lookup(order)
        objectives = [record.objective for record in fit(small, order.settings).history]
        assert [record.objective for record in found.history] == objectives
        assert job.objective == objectives[-1]
        assert (found.settings, found.counts_digest) == (order.settings, small.digest)
        other = Service(folder=service._results.folder)  # another server over the same folder
        assert [record.objective for record in other.lookup(order).history] == objectives
        other.close()

    @pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
    def test_other_kinds_of_orders_and_lanes(self, service, comparison):
        slow = service.submit(comparison(endless=True, seed=3))
        simulation = {"shape": (6, 5, 4), "rank": 2, "observed": 0.5, "attributed": 0.4}
        recovery = SimulatedFit(simulation=simulation, settings=FitSettings(rank=2, hidden=()))
        job = finish(service.submit(recovery))
        assert job.state == "done", job.message
        assert set(service.lookup(recovery)) == {"rate", "detection"}
        assert slow.active  # lanes do not wait for each other
        service.cancel(slow)
        order = comparison(trials=2)
        assert finish(service.submit(order)).state == "done"
        assert len(service.lookup(order)["trials"]) == 2

    def test_estimates_so_far_then_cancelled_and_the_process_goes_on(self, service, fit_order):
        job = service.submit(fit_order(endless=True, members=2))
        assert service.latest(job) is None
        wait(lambda: job.estimates >= 1)
        first = service.latest(job)
        assert first.history[-1].iteration >= 1
        wait(lambda: job.estimates >= 2)
        assert service.latest(job).history[-1].iteration > first.history[-1].iteration
        before = place_of(service, job).worker.process
        service.cancel(job)
        assert (job.state, job.message) == ("cancelled", "It was cancelled.")
        assert service.latest(job) is service.lookup(job.order) is None
        after = finish(service.submit(fit_order(seed=106)))
        assert after.state == "done"
        service.cancel(after)  # a finished one stays
        assert service.lookup(after.order) is not None
        assert before.poll() is None

    @pytest.mark.slow
    def test_a_killed_process_is_replaced_once(self, service, fit_order):
        job = service.submit(fit_order(endless=True, seed=200))
        wait(lambda: job.iteration)
        before = place_of(service, job).worker.process
        before.kill()
        wait(lambda: job.lost == 1 and job.iteration)
        after = place_of(service, job).worker.process
        assert after is not before
        after.kill()
        assert finish(job).state == "failed"
        assert job.message.startswith("its process ended unexpectedly, and so did a second one.")
        assert service.lookup(job.order) is None
        assert finish(service.submit(fit_order(seed=201))).state == "done"

    def test_an_error_is_a_sentence_and_the_process_lives_on(self, service, small, comparison):
        nothing = small.subset(np.zeros(small.n_observed, dtype=bool))
        job = finish(service.submit(FitOrder(nothing, FitSettings(rank=2))))
        assert job.state == "failed"
        assert "at least 1 observed entry" in job.message
        wide = CountTensor((300, 300, 300), np.column_stack([np.arange(30)] * 3), np.arange(30))
        order = comparison(counts=wide, method="HaLRTC", settings=make_settings("HaLRTC", 1))
        job = finish(service.submit(order))
        assert "HaLRTC holds every entry of the tensor and takes at most" in job.message
        assert job.lost == 0


class TestSharing:
    def test_the_last_one_who_leaves_stops_it(self, obedient, comparison):
        service, order = obedient(), comparison()
        job = service.submit(order, "ann")
        assert service.submit(order, "bob") is job
        for leaves in ("ann", "eve", ""):
            service.cancel(job, leaves)
        assert job.active
        place_of(service, job)
        service.cancel(job, "bob")
        assert job.state == "cancelled"
        again = service.submit(order, "ann")
        assert again is not job
        assert end(service, again).state == "done"
        assert service.lookup(order) == {}

    def test_sessions_take_turns_and_none_has_too_many(self, obedient, fit_order):
        service = obedient(session_orders=3, queue=5)
        ann = [service.submit(fit_order(seed=seed), "ann-fit") for seed in range(3)]
        place_of(service, ann[0])
        bob = [service.submit(fit_order(seed=10 + seed), "bob-fit") for seed in range(2)]
        for watcher, sentence in (("ann-lab", "you already wait for 3"), ("eve-fit", "5 orders")):
            refused = service.submit(fit_order(seed=20), watcher)
            assert refused.state == "failed"
            assert refused.message.startswith(sentence)
        numbers = service.numbers()
        assert (numbers["orders_running"], numbers["orders_waiting_quick"]) == (1, 4)
        for job in (ann[0], bob[0], ann[1], bob[1], ann[2]):
            end(service, job)
        assert service.numbers()["orders_done"] == 5

    def test_what_a_closed_session_waited_for_is_left(self, obedient, fit_order, monkeypatch):
        monkeypatch.setattr(engine, "_GONE", 0.05)
        open_sessions = {"ann", "bob"}
        service = obedient(alive=lambda session: session in open_sessions)
        shared = service.submit(fit_order(seed=0), "ann-fit")
        service.submit(shared.order, "bob-fit")
        alone = service.submit(fit_order(seed=1), "ann-methods")
        open_sessions.remove("ann")
        wait(lambda: alone.state == "cancelled")
        assert shared.sessions == {"bob"}


class TestProgress:
    def test_what_goes_beyond_limits_ends_with_a_sentence(self, obedient, fit_order, monkeypatch):
        slow = finish(obedient(seconds=0.02).submit(fit_order()))
        assert slow.message.startswith("it took longer than 0.02 seconds")
        large = obedient(memory_gb=0.5)
        large._places[0].worker.memory = 6e8
        job = finish(large.submit(fit_order(seed=1)))
        assert job.message.startswith("it needed more than 0.5 GB of memory")
        monkeypatch.setattr(engine, "_CANCELLED", 0.02)
        service = obedient()
        job = service.submit(fit_order(seed=2))
        place = place_of(service, job)
        monkeypatch.setattr(place.worker, "cancel", lambda _: None)  # a process that hangs
        service.cancel(job)
        wait(lambda: place.job is None)

    def test_the_end_of_each_order_is_a_line_without_what_users_brought(
        self, obedient, fit_order, caplog, monkeypatch
    ):
        service = obedient()
        with caplog.at_level(logging.INFO):
            for state in ("done", "failed"):
                job = service.submit(fit_order(), "ann-fit")
                end(service, job, state, "county 'Adams' must have a count")
            service.cancel(service.submit(fit_order(seed=1), "ann-fit"), "ann-fit")
        records = [each for each in caplog.records if each.getMessage() == "an order ended"]
        lines = [json.loads(Lines().format(record)) for record in records]
        assert [line["state"] for line in lines] == ["done", "failed", "cancelled"]
        for line in lines:
            assert (line["order"], line["lost"]) == ("FitOrder", 0)
            assert not {"ann", fit_order().key} & set(json.dumps(line).split('"'))
            assert "Adams" not in json.dumps(line)
        monkeypatch.setattr(engine, "_ENDED_JOBS", 2)
        orders = [fit_order(seed=seed) for seed in range(4)]
        for order in orders:
            service.cancel(service.submit(order, "ann"), "ann")
        assert [service.job(each) is None for each in orders] == [True] * 2 + [False] * 2

    def test_a_place_survives_what_it_did_not_expect(self, obedient, fit_order, monkeypatch):
        service = obedient()
        with monkeypatch.context() as patch:
            patch.setattr(CountTensor, "save", lambda *_, **__: 1 / 0)
            job = finish(service.submit(fit_order()))
        assert job.message == "it could not be worked on (ZeroDivisionError)."
        job = service.submit(fit_order())
        assert end(service, job).state == "done"


class TestOwnCounts:
    def files(self, service):
        return [path for path in service._results.folder.rglob("*") if path.is_file()]

    def test_forgotten_ones_leave_nothing(self, obedient, comparison, small):
        service, counts = obedient(), small.subset(np.arange(45))
        claim, gone = service.own(counts), weakref.ref(counts)
        done = comparison(counts=counts)
        job = service.submit(done, "me-fit")
        end(service, job)
        assert service.lookup(done) == {}
        under_way = service.submit(comparison(counts=counts, seed=1), "me-fit")
        place = place_of(service, under_way)
        assert not self.files(service)
        service.forget(claim)
        assert under_way.state == "cancelled"
        assert service.job(under_way.order) is service.lookup(done) is None
        wait(lambda: place.job is None)
        assert not self.files(service)
        counts = done = job = under_way = None
        wait(lambda: gc.collect() is not None and gone() is None, seconds=10)

    def test_a_result_after_that_is_dropped(self, obedient, fit_order, small, monkeypatch):
        service = obedient()
        claim, put, heard = service.own(small), service._results.put, []

        def late(*arguments):
            service.forget(claim)
            put(*arguments)
            heard.append(arguments)

        monkeypatch.setattr(service._results, "put", late)
        job = service.submit(fit_order(), "me")
        place_of(service, job).worker.end()
        wait(lambda: heard)
        assert job.state == "cancelled"
        assert service._results.private(small) is None
        assert not self.files(service)

    def test_are_forgotten_beside_many_that_ended_and_limits_are_enforced_for_good(
        self, obedient, fit_order, small, monkeypatch
    ):
        service = obedient()
        claim = service.own(small)
        jobs = [service.submit(fit_order(seed=seed), "me") for seed in range(3)]
        monkeypatch.setattr(engine, "_ENDED_JOBS", 1)  # older ones go when one more ends
        service.forget_later(claim)
        wait(lambda: not any(job.active for job in jobs))
        monkeypatch.setattr(service, "_alive", lambda _: 1 / 0)
        again = service.submit(fit_order(seed=5), "me")
        sleep(3 * engine._ENFORCED)
        monkeypatch.setattr(service, "_alive", lambda _: False)
        monkeypatch.setattr(engine, "_GONE", 0.0)
        wait(lambda: not again.active)

    def test_somebody_elses_keep_the_jobs(self, obedient, fit_order, small):
        service = obedient()
        mine, theirs = service.own(small), service.own(small)
        job = service.submit(fit_order(), "me-fit")
        service.submit(fit_order(), "you-fit")
        service.forget_later(mine)
        wait(lambda: service._to_forget.empty())
        assert job.active
        service.forget(theirs)
        assert job.state == "cancelled"

    def test_the_garbage_collector_may_forget_them_while_locks_are_held(self, obedient, small):
        service = obedient()

        class Held:
            pass

        held, ended = Held(), threading.Event()
        weakref.finalize(held, service.forget_later, service.own(small))

        def collect():
            nonlocal held
            held = None
            ended.set()

        with service._changed, service._results._lock:
            threading.Thread(target=collect, daemon=True).start()
            assert ended.wait(10), "the finaliser waits for a lock"
        wait(lambda: service._results.private(small) is None, seconds=10)


class TestSession:
    def test_what_is_missing_waits_for_this_session_alone(self, obedient, fit_order, small_fit):
        service, wanted = obedient(), [fit_order(rank=rank) for rank in range(1, 4)]
        mine = Session(service, "me")
        service._results.put(wanted[0], FitOrder.encode(small_fit), None)
        mine.submit(mine.missing(wanted))
        assert [job.order for job in mine.under_way(wanted)] == wanted[1:]
        assert isinstance(mine.service.lookup(wanted[0]), Fit)
        assert Session(service, "you").under_way(wanted) == []
        service.submit(wanted[1], "somebody else")
        mine.cancel(wanted)
        assert mine.under_way(wanted) == []
        assert [job.order for job in service.active] == [wanted[1]]

    def test_a_batch_has_few_orders_in_the_queue_and_tries_each_once(self, obedient, comparison):
        service, queued = obedient(long_workers=2), set()
        wanted = [comparison(seed=seed) for seed in range(5)]
        mine, first = Session(service, "me"), True
        while mine.advance(wanted, queued):
            jobs = mine.under_way(wanted)
            assert len(jobs) <= 2
            end(service, jobs[0], "failed" if first else "done", "It broke.")
            first = False
        assert [each.message for each in mine.failed(wanted)] == ["It broke."]
        assert mine.missing(wanted) == wanted[:1]

"""Fits in a process of their own: the real one, on small problems."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

from dashboard.work import service as jobs
from dashboard.work.service import FitService, Job, fit_key
from uncletc import CountTensor, Fit, FitSettings, UnreadableFitError

QUICK = FitSettings(rank=2, max_iter=3, hidden=(5,))
ENDLESS = FitSettings(rank=2, max_iter=10**6, tol=0.0, hidden=(5,))


def wait(until: Callable[[], Any], seconds: float = 180) -> float:
    """Wait until something holds, and return how long that took."""
    began = monotonic()
    while not until():
        assert monotonic() - began < seconds, "this took too long"
        sleep(0.01)
    return monotonic() - began


def finish(job: Job) -> Job:
    wait(lambda: not job.active)
    return job


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, workers: list[subprocess.Popen[str]]
) -> Iterator[FitService]:
    """One service, and so one process, for the tests that leave it as they found it."""
    shared = FitService(folder=tmp_path_factory.mktemp("fits"))
    yield shared
    shared.close()
    assert all(worker.poll() is not None for worker in workers)


@pytest.fixture
def own_service(tmp_path: Path, workers: list[subprocess.Popen[str]]) -> Iterator[FitService]:
    """A service over the test's own folder."""
    started = FitService(folder=tmp_path)
    yield started
    before = len(workers)
    started.close()
    assert len(workers) == before


@pytest.fixture
def finished(tmp_path: Path, small: CountTensor, small_fit: Fit) -> str:
    """The key of a fit that lies in the folder, as if made earlier."""
    key = fit_key(small, QUICK)
    small_fit.save(tmp_path / f"fit-{key}.npz")
    return key


class TestKey:
    def test_same_data_and_settings_share_a_key(self, small):
        again = CountTensor(
            small.shape,
            small.indices,
            small.counts,
            attributes=small.attributes,
            attribute_indices=small.attribute_indices,
        )
        assert fit_key(small, QUICK) == fit_key(again, replace(QUICK))

    def test_other_settings_or_counts_have_another_key(self, small):
        keys = {
            fit_key(small, QUICK),
            fit_key(small, replace(QUICK, seed=1)),
            fit_key(small, replace(QUICK, mu=100.0)),
            fit_key(small.subset(np.arange(10)), QUICK),
        }
        assert len(keys) == 4


class TestJob:
    def test_pace_and_time_left(self):
        job = Job("key", FitSettings(rank=1, max_iter=10))
        assert (job.active, job.iteration, job.seconds_left) == (True, 0, None)
        job.objectives += [9.0, 8.0, 7.0]
        job.seconds = 4.0
        assert job.iteration == 2
        assert job.seconds_left == pytest.approx(16)

    @pytest.mark.parametrize("state", ["done", "cancelled", "failed"])
    def test_not_active_once_ended(self, state):
        assert not Job("key", QUICK, state=state).active


class TestResults:
    def test_a_fit_runs_reports_and_is_kept(self, own_service, small, tmp_path, workers):
        before = len(workers)
        key = fit_key(small, QUICK)
        assert own_service.lookup(key) is None
        assert own_service.job(key) is None
        assert len(workers) == before

        job = finish(own_service.submit(small, QUICK))
        assert (job.key, job.state, job.iteration) == (key, "done", 3)
        assert own_service.job(key) is job
        assert len(job.objectives) == 4
        assert np.isfinite(job.objectives).all()
        assert job.seconds > 0
        assert job.message

        found = own_service.lookup(key)
        assert found.settings == QUICK
        assert found.counts_digest == small.digest
        assert [record.objective for record in found.history] == job.objectives
        again = FitService(folder=tmp_path).lookup(key)  # from disk
        assert [record.objective for record in again.history] == job.objectives
        (tmp_path / f"fit-{key}.npz").unlink()
        assert own_service.lookup(key) is found  # from memory
        assert len(workers) == before + 1

    def test_a_result_on_disk_needs_no_process(self, own_service, finished, small_fit, workers):
        before = len(workers)
        found = own_service.lookup(finished)
        for saved, loaded in zip(small_fit.factors, found.factors, strict=True):
            np.testing.assert_array_equal(saved, loaded)
        assert own_service.lookup(finished) is found
        assert len(workers) == before

    def test_what_the_process_fits_is_what_fit_fits(self, service, small, short_fit):
        here = short_fit(small, 3)
        # A callback ended that fit one iteration before max_iter; the path is the same.
        settings = replace(here.settings, max_iter=3)
        finish(service.submit(small, settings))
        there = service.lookup(fit_key(small, settings))
        objectives = [record.objective for record in there.history]
        assert objectives == [record.objective for record in here.history]

    def test_two_submits_share_a_job(self, service, small):
        first = service.submit(small, ENDLESS)
        assert service.submit(small, replace(ENDLESS)) is first
        service.cancel(first)
        finish(first)

    def test_jobs_wait_for_one_another(self, service, small):
        both = [service.submit(small, replace(QUICK, seed=seed)) for seed in (10, 11)]
        assert [finish(job).state for job in both] == ["done", "done"]

    def test_asking_from_many_threads_starts_one_job(self, service, small):
        found: list[Job] = []
        settings = replace(QUICK, seed=20)
        threads = [
            threading.Thread(target=lambda: found.append(service.submit(small, settings)))
            for _ in range(8)
        ]
        with service._lock:  # none gets ahead, so none can find the job finished
            for thread in threads:
                thread.start()
        for thread in threads:
            thread.join()
        assert finish(found[0]).state == "done"
        assert len(found) == 8

    def test_memory_is_bounded(self, own_service, small_fit, tmp_path, monkeypatch):
        monkeypatch.setattr(jobs, "_KEPT_IN_MEMORY", 2)
        for key in "abc":
            small_fit.save(tmp_path / f"fit-{key}.npz")
        first = own_service.lookup("a")
        for key in "bc":
            own_service.lookup(key)
        assert own_service.lookup("a") is not first

    def test_disk_is_bounded(self, own_service, small, small_fit, tmp_path, monkeypatch):
        monkeypatch.setattr(jobs, "_KEPT_ON_DISK", 3)
        for number in range(6):
            small_fit.save(tmp_path / f"fit-{number}.npz")
        job = finish(own_service.submit(small, QUICK))
        wait(lambda: len(list(tmp_path.glob("*.npz"))) == 3)
        assert own_service.lookup(job.key) is not None


class TestEstimatesSoFar:
    def test_come_while_a_fit_runs_and_go_with_it(self, own_service, small, tmp_path):
        job = own_service.submit(small, replace(ENDLESS, members=2))
        assert own_service.latest(job) is None
        wait(lambda: job.estimates >= 1)
        first = own_service.latest(job)
        assert first.history[-1].iteration >= 3
        assert len(first.members) == 2
        assert first.counts_digest == small.digest
        assert own_service.lookup(job.key) is None
        wait(lambda: job.estimates >= 2)
        assert own_service.latest(job).history[-1].iteration > first.history[-1].iteration

        own_service.cancel(job)
        assert finish(job).state == "cancelled"
        assert own_service.latest(job) is None
        wait(lambda: not list(tmp_path.glob(f"*{job.key}*")), seconds=5)

    def test_go_with_a_killed_process(self, own_service, small, tmp_path, workers):
        job = own_service.submit(small, ENDLESS)
        wait(lambda: job.estimates >= 1)
        workers[-1].kill()
        wait(lambda: not job.active, seconds=30)
        wait(lambda: not list(tmp_path.glob(f"fit-{job.key}*")), seconds=5)

    def test_unreadable_ones_are_none(self, service, small, monkeypatch):
        def torn(path: Path) -> Fit:
            raise UnreadableFitError(f"{path} is torn")

        job = service.submit(small, replace(ENDLESS, seed=3))
        wait(lambda: job.estimates >= 1)
        with monkeypatch.context() as patch:
            patch.setattr(Fit, "load", torn)
            assert service.latest(job) is None
        service.cancel(job)
        finish(job)


class TestCancel:
    def test_a_long_fit_ends_at_once_and_leaves_no_result(self, service, small):
        job = service.submit(small, replace(ENDLESS, seed=1))
        wait(lambda: job.estimates >= 1)
        assert job.state == "running"
        service.cancel(job)
        assert job.state == "cancelled"
        assert job.message
        assert service.lookup(job.key) is None
        assert service.latest(job) is None
        wait(lambda: not list(service._folder.glob(f"*{job.key}*")), seconds=30)
        assert job.state == "cancelled"

    def test_the_process_goes_on_to_the_next_fit(self, service, small, workers):
        jobs = [service.submit(small, replace(ENDLESS, seed=seed)) for seed in range(100, 105)]
        wait(lambda: jobs[0].iteration >= 1)
        for job in jobs:
            service.cancel(job)
        before = len(workers)
        assert finish(service.submit(small, replace(QUICK, seed=106))).state == "done"
        assert [job.iteration for job in jobs[1:]] == [0] * 4
        assert not service._runs
        assert len(workers) == before

    def test_what_a_cancelled_fit_still_reports_is_not_heard(self, service, small):
        settings = replace(ENDLESS, seed=61)
        first = service.submit(small, settings)
        wait(lambda: first.iteration >= 1)
        service.cancel(first)
        second = service.submit(small, settings)
        heard = len(first.objectives)
        wait(lambda: second.iteration >= 1)
        assert second is not first
        assert second.objectives[0] == first.objectives[0]
        assert len(first.objectives) == heard
        assert service.job(second.key) is second
        service.cancel(second)

    def test_a_waiting_fit_never_runs(self, service, small):
        running = service.submit(small, replace(ENDLESS, seed=2))
        waiting = service.submit(small, replace(QUICK, seed=30))
        service.cancel(waiting)
        service.cancel(running)
        assert finish(waiting).state == "cancelled"
        assert waiting.iteration == 0
        assert service.lookup(waiting.key) is None

    def test_it_can_be_asked_for_again(self, service, small):
        settings = replace(QUICK, seed=60)
        first = service.submit(small, settings)
        service.cancel(first)
        assert finish(first).state == "cancelled"
        second = service.submit(small, settings)
        assert second is not first
        assert finish(second).state == "done"
        assert service.lookup(second.key) is not None

    def test_a_finished_fit_stays(self, service, small):
        job = finish(service.submit(small, replace(QUICK, seed=40)))
        service.cancel(job)
        assert job.state == "done"
        assert service.lookup(job.key) is not None


class TestWatchers:
    @pytest.fixture
    def shared(self, service, small):
        job = service.submit(small, replace(ENDLESS, seed=70), "ann")
        assert service.submit(small, replace(ENDLESS, seed=70), "bob") is job
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
        assert shared.state == "cancelled"

    def test_strangers_do_not_stop_it(self, service, shared):
        service.cancel(shared, "eve")
        service.cancel(shared)
        assert shared.active

    def test_one_may_come_back(self, service, small, shared):
        service.cancel(shared, "ann")
        assert service.submit(small, replace(ENDLESS, seed=70), "ann") is shared
        service.cancel(shared, "bob")
        assert shared.active


class TestWarm:
    def test_the_process_is_there_before_the_first_fit(self, own_service, small, workers):
        before = len(workers)
        own_service.warm()
        own_service.warm()
        assert len(workers) == before + 1
        assert finish(own_service.submit(small, QUICK)).state == "done"
        assert len(workers) == before + 1


class TestTrouble:
    @pytest.mark.parametrize("damage", ["empty", "text", "cut"])
    def test_a_damaged_result_counts_as_none(self, own_service, finished, tmp_path, damage):
        path = tmp_path / f"fit-{finished}.npz"
        whole = path.read_bytes()
        path.write_bytes({"empty": b"", "text": b"not a fit", "cut": whole[:-100]}[damage])
        assert own_service.lookup(finished) is None
        assert not path.exists()

    def test_damaged_files_are_made_again(self, own_service, finished, small, tmp_path):
        (tmp_path / f"fit-{finished}.npz").write_bytes(b"not a fit")
        (tmp_path / f"counts-{small.digest}.npz").write_bytes(b"not counts")
        assert own_service.lookup(finished) is None
        assert finish(own_service.submit(small, QUICK)).state == "done"
        assert own_service.lookup(finished).settings == QUICK

    def test_a_killed_process_fails_the_job_and_the_next_one_works(
        self, own_service, small, workers
    ):
        job = own_service.submit(small, ENDLESS)
        wait(lambda: job.iteration >= 1)
        workers[-1].kill()
        wait(lambda: not job.active, seconds=30)
        assert job.state == "failed"
        assert job.message.endswith(".")
        assert "Traceback" not in job.message
        assert own_service.lookup(job.key) is None
        before = len(workers)
        assert finish(own_service.submit(small, QUICK)).state == "done"
        assert len(workers) == before + 1

    def test_a_process_that_dies_unnoticed_is_replaced(
        self, own_service, small, workers, monkeypatch
    ):
        own_service.warm()
        workers[-1].kill()
        workers[-1].wait()
        with monkeypatch.context() as patch:  # as if it died between the look and the order
            polled = iter([None])
            patch.setattr(workers[-1], "poll", lambda: next(polled, workers[-1].returncode))
            job = own_service.submit(small, QUICK)
        assert finish(job).state == "done"

    def test_an_error_is_a_sentence_and_the_process_lives_on(self, service, small, workers):
        nothing = small.subset(np.zeros(small.n_observed, dtype=bool))
        job = finish(service.submit(nothing, QUICK))
        assert job.state == "failed"
        assert "at least 1 observed entry" in job.message
        before = len(workers)
        assert finish(service.submit(small, replace(QUICK, seed=50))).state == "done"
        assert len(workers) == before

    def test_counts_that_cannot_be_written_leave_no_job_behind(self, service, small, monkeypatch):
        counts = small.subset(np.arange(20))

        def full(_: CountTensor, path: Path) -> None:
            raise OSError(f"no space left for {path}")

        monkeypatch.setattr(CountTensor, "save", full)
        with pytest.raises(OSError, match="no space left"):
            service.submit(counts, QUICK)
        assert service.job(fit_key(counts, QUICK)) is None

    def test_a_folder_that_cannot_be_written_is_replaced(
        self, small, tmp_path, monkeypatch, workers
    ):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        in_the_way = tmp_path / "file"
        in_the_way.write_text("not a folder")
        service = FitService(folder=in_the_way / "fits")
        job = finish(service.submit(small, QUICK))
        assert service.lookup(job.key) is not None
        assert [path.parent.parent for path in tmp_path.glob("*/fit-*.npz")] == [tmp_path]
        service.close()
        service.close()
        assert workers[-1].poll() is not None

    def test_default_folder_is_the_users_cache(self, tmp_path, monkeypatch):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        FitService().close()
        assert (tmp_path / "uncletc" / "fits").is_dir()


def test_close_ends_the_process_also_in_the_middle_of_a_fit(own_service, small, workers):
    job = own_service.submit(small, ENDLESS)
    wait(lambda: job.iteration >= 1)
    own_service.close()
    assert workers[-1].poll() is not None
    wait(lambda: not job.active, seconds=30)
    assert job.state == "failed"


def test_worker_ends_with_its_input():
    worker = subprocess.run(
        [sys.executable, "-m", "dashboard.work.worker"],
        input="",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=Path(jobs.__file__).parents[2],
    )
    assert (worker.returncode, worker.stdout) == (0, "")

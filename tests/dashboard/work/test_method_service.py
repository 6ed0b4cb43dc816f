"""Comparisons and cells in a process of their own: the real one, on small problems."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest

from dashboard.work import method_worker as methods_worker
from dashboard.work.method_service import Job, MethodService, Orders
from dashboard.work.orders import Cell, Evaluate, make_settings
from uncletc import METHODS, CountTensor, evaluation, tables
from uncletc.baselines import KLSettings

ENDLESS = KLSettings(rank=2, max_iter=10**7, tol=0.0)
CELL = Cell(table="table-1", column="γ_Ω = .3", method="UncleTC", seed=3)


def order(counts: CountTensor, **changes: Any) -> Evaluate:
    settings = KLSettings(rank=2, max_iter=20, tol=0.0)
    choice = {"counts": counts, "method": "NTF-CPD-KL", "settings": settings} | changes
    return Evaluate(**choice)


def wait(until: Callable[[], Any], seconds: float = 180) -> None:
    began = monotonic()
    while not until():
        assert monotonic() - began < seconds, "this took too long"
        sleep(0.01)


def finish(job: Job) -> Job:
    wait(lambda: not job.active)
    return job


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory, workers: list[subprocess.Popen[str]]
) -> Iterator[MethodService]:
    """One service, and so one process, for the tests that leave it as they found it."""
    shared = MethodService(folder=tmp_path_factory.mktemp("methods"))
    yield shared
    shared.close()
    assert all(worker.poll() is not None for worker in workers)


def counts_on_disk(service: MethodService) -> list[Path]:
    return list(service._folder.glob("counts-*/*.npz"))


class TestKeys:
    def test_everything_that_decides_a_result_decides_the_key(self, small):
        base = order(small)
        same = order(small, settings=replace(base.settings))
        others = [
            order(small.subset(np.arange(20))),
            order(small, method="BPTF", settings=make_settings("BPTF", 2, 0)),
            order(small, settings=replace(base.settings, seed=1)),
            order(small, kind="fibre"),
            order(small, trials=2),
            order(small, seed=1),
        ]
        assert same.key == base.key
        assert len({base.key, *(each.key for each in others)}) == 7

    def test_cells(self):
        others = [
            replace(CELL, table="table-2"),
            replace(CELL, column="γ_Ω = .1"),
            replace(CELL, method="POND"),
            replace(CELL, seed=4),
            replace(CELL, reading="as in the public code"),
        ]
        assert len({CELL.key, *(each.key for each in others)}) == 6

    @pytest.mark.parametrize("method", METHODS)
    def test_settings_have_the_rank_where_there_is_one(self, method):
        settings = make_settings(method, 7, 3)
        assert settings.seed == 3
        assert getattr(settings, "rank", 7) == 7
        assert hasattr(settings, "rank") == METHODS[method].has_rank


class TestWorkersNumbers:
    def test_an_evaluation_has_the_scores_of_the_library(self, small, tmp_path):
        small.save(tmp_path / "counts.npz")
        asked = order(small, trials=2, kind="fibre", seed=4)
        message = asked.message() | {"counts": str(tmp_path / "counts.npz")}
        told: list[int] = []
        found = methods_worker.run_evaluation(message, lambda trial, _: told.append(trial))
        whole = evaluation.evaluate(
            small, METHODS["NTF-CPD-KL"], asked.settings, kind="fibre", seed=4
        )
        assert found["method"] == "NTF-CPD-KL"
        assert len(found["trials"]) == 2
        for mine, theirs in zip(found["trials"], whole.trials, strict=False):
            for name in ("rrmse", "deviance", "mae", "auroc", "auprc", "n"):
                assert mine[name] == pytest.approx(getattr(theirs.test, name), nan_ok=True)
            assert mine["coverage"] == theirs.coverage[0.9]
            assert mine["iteration"] == theirs.iteration
        assert set(told) == {0, 1, 2}  # the third is left at its start
        assert told.count(2) == 1

    def test_errors_on_the_way_end_at_those_of_the_table(self):
        curve = []

        def tell(trial, record, look):
            assert trial == 0
            if look is not None:
                curve.append((record.iteration, look()))

        message = CELL.message() | {"run": "x"}
        found = methods_worker.run_cell(message, tell)
        assert found["curve"] == curve
        assert len(curve) > 5
        assert set(curve[-1][1]) == {"MAE_λ", "MAE_p"}
        for metric in ("MAE_λ", "MAE_p"):
            assert curve[-1][1][metric] == pytest.approx(found["values"][metric], rel=0.2)
            assert curve[0][1][metric] > 1.5 * curve[-1][1][metric]
        assert found["values"] == pytest.approx(
            tables.run_cell(CELL.table, CELL.column, CELL.method, CELL.seed)
        )


class TestService:
    def test_runs_reports_and_keeps(self, service, small):
        asked = order(small, trials=2)
        assert service.lookup(asked) is None
        assert service.job(asked) is None
        job = finish(service.submit(asked))
        assert (job.state, job.message) == ("done", "")
        assert service.job(asked) is job
        found = service.lookup(asked)
        assert found["method"] == "NTF-CPD-KL"
        assert len(found["trials"]) == 2
        again = MethodService(folder=service._folder)  # another server over the same folder
        assert again.lookup(asked) == found
        again.close()

    def test_more_folds_hold_fewer(self, service, small):
        many = order(small, trials=3, seed=7)
        finish(service.submit(many))
        trials = service.lookup(many)["trials"]
        for n in (1, 2):
            assert service.lookup(order(small, trials=n, seed=7))["trials"] == trials[:n]
        assert service.lookup(order(small, trials=4, seed=7)) is None

    def test_counts_are_on_disk_only_while_they_are_needed(self, service, small):
        assert counts_on_disk(service) == []
        slow = service.submit(order(small, settings=ENDLESS, seed=11))
        quick = service.submit(order(small, seed=11))
        assert len(counts_on_disk(service)) == 1
        wait(lambda: slow.state == "running")
        service.cancel(slow)
        finish(quick)
        assert quick.state == "done"
        wait(lambda: counts_on_disk(service) == [])

    def test_a_cell_reports_its_errors(self, service):
        job = finish(service.submit(CELL))
        assert job.state == "done", job.message
        found = service.lookup(CELL)
        assert found["seconds"] > 0
        assert found["values"]["MAE_λ"] > 0
        assert job.curve
        assert job.curve == [(t, errors) for t, errors in found["curve"]]

    def test_what_a_method_refuses_is_a_sentence(self, service):
        shape = (300, 300, 300)
        indices = np.column_stack([np.arange(30) % 300] * 3)
        wide = CountTensor(shape, indices, np.arange(30))
        settings = make_settings("HaLRTC", 1, 0)
        job = finish(service.submit(order(wide, method="HaLRTC", settings=settings)))
        assert job.state == "failed"
        assert "HaLRTC holds every entry of the tensor and takes at most" in job.message
        assert service.lookup(job.order) is None

    def test_cancelled_when_the_last_one_leaves(self, service, small):
        asked = order(small, settings=ENDLESS, seed=21)
        job = service.submit(asked, "a")
        assert service.submit(asked, "b") is job
        wait(lambda: job.state == "running")
        service.cancel(job, "a")
        assert job.active
        service.cancel(job, "b")
        assert (job.state, job.message) == ("cancelled", "It was cancelled.")
        wait(lambda: job.run not in service._runs)
        assert service.lookup(asked) is None
        assert service.submit(asked, "a") is not job  # asked for anew
        service.cancel(service.job(asked), "a")

    def test_a_torn_file_counts_as_none(self, service, small):
        asked = order(small, seed=31)
        service._path(asked.key).write_text("{torn")
        assert service.lookup(asked) is None
        assert finish(service.submit(asked)).state == "done"

    def test_a_dead_process_is_told_and_replaced(self, tmp_path, small, workers):
        own = MethodService(folder=tmp_path)
        job = own.submit(order(small, settings=ENDLESS))
        wait(lambda: job.state == "running")
        workers[-1].kill()
        finish(job)
        assert job.state == "failed"
        assert "ended unexpectedly" in job.message
        wait(lambda: not own._runs)
        assert counts_on_disk(own) == []
        assert finish(own.submit(order(small))).state == "done"
        own.close()
        assert list(tmp_path.glob("counts-*")) == []

    def test_warm_starts_the_process_once(self, service, workers):
        service.warm()
        before = len(workers)
        service.warm()
        assert len(workers) == before
        assert service._worker.process.poll() is None

    def test_counts_that_a_killed_server_left_are_removed(self, tmp_path):
        old, new = tmp_path / "counts-old", tmp_path / "counts-new"
        for folder in (old, new):
            folder.mkdir()
            (folder / "x.npz").write_text("")
        os.utime(old, (0, 0))
        MethodService(folder=tmp_path).close()
        assert not old.exists()
        assert new.exists()

    def test_a_folder_that_cannot_be_written(self, tmp_path):
        blocked = tmp_path / "file"
        blocked.write_text("")
        own = MethodService(folder=blocked / "methods")
        assert own._folder.is_dir()
        own.close()


class TestOrders:
    def test_several_at_a_time(self, service, small):
        wanted = [order(small, seed=41), order(small, seed=42)]
        mine, other = Orders(service, "me"), Orders(service, "you")
        assert mine.missing(wanted) == wanted
        assert mine.under_way(wanted) == []
        mine.submit(wanted)
        assert other.under_way(wanted) == []
        wait(lambda: not mine.under_way(wanted))
        assert mine.missing(wanted) == []
        assert mine.failed(wanted) == []

    def test_cancel_leaves_all_of_them(self, service, small):
        wanted = [order(small, settings=ENDLESS, seed=51), order(small, seed=51)]
        mine = Orders(service, "me")
        mine.submit(wanted)
        assert len(mine.under_way(wanted)) == 2
        mine.cancel(wanted)
        assert mine.under_way(wanted) == []
        assert [service.job(each).state for each in wanted] == ["cancelled"] * 2

"""Searches that others work for: processes, a Dask cluster, and what dies on the way."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

from uncletc import CountTensor
from uncletc.search import SearchProgress, Study, open_study, search
from uncletc.search.work import pool

PATIENCE = 60  # seconds, on a machine that does much else
ENDED = ["complete", "pruned", "failed"]
COMMAND = """
import argparse
import signal
from uncletc.cli.search import add_command
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
parser = argparse.ArgumentParser()
add_command(parser.add_subparsers())
chosen = parser.parse_args()
chosen.run(chosen)
"""
WAYS: dict[str, Any] = {
    "space": {"rank": [1, 2, 3, 4]},
    "fixed": {"max_iter": 150, "tol": 0},
    "n_folds": 3,
}


def until(true: Callable[[], bool]) -> None:
    """Wait."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def look(path: Path) -> pd.DataFrame:
    """The trials so far, none while the search is still loading."""
    try:
        return open_study(path).frame
    except (FileNotFoundError, ValueError):
        return pd.DataFrame({"state": [], "folds": []})


def plain(study: Study | pd.DataFrame) -> pd.DataFrame:
    frame = study if isinstance(study, pd.DataFrame) else study.frame
    return frame.drop(columns=["seconds", "number"]).reset_index(drop=True)


@pytest.fixture
def begin(small: CountTensor, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command in a process group of its own, as a shell does."""
    small.save(tmp_path / "counts.npz")
    started: list[subprocess.Popen[str]] = []

    def start(jobs: int) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", COMMAND, "search", str(tmp_path / "counts.npz")]
        words += ["--out", str(tmp_path / "study.log"), "--method", "BPTF", "--jobs", str(jobs)]
        words += ["--trials", "16", "--rank", "1", "2", "3", "4", "--folds", "3"]
        words += ["--set", "max_iter=150", "--set", "tol=0"]
        started.append(
            subprocess.Popen(
                words,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )
        )
        return started[-1]

    yield start
    for one in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)
        one.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_search_goes_on(
    jobs: int, begin: Callable[..., Any], small: CountTensor, tmp_path: Path
) -> None:
    path = tmp_path / "study.log"
    process = begin(jobs)
    until(
        lambda: look(path)["state"].isin(ENDED).sum() >= 4 and "running" in set(look(path)["state"])
    )
    workers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    until(lambda: not any(one.is_running() and one.status() != "zombie" for one in workers))

    before = open_study(path).frame
    kept, cut = before[before["state"].isin(ENDED)], before[before["state"] == "running"]
    assert 4 <= len(kept) < 16
    assert len(cut) <= jobs
    found = search(small, "BPTF", path=path, n_trials=16, **WAYS)
    after = found.frame.set_index("number")
    assert after["state"].isin(ENDED).all()
    assert len(after) == found.total == 16
    pd.testing.assert_frame_equal(after.loc[kept["number"]], kept.set_index("number"))
    tried = list(zip(after["rank"], after["alpha"], strict=True))
    assert len(set(tried)) == 16
    for rank, alpha in zip(cut["rank"], cut["alpha"], strict=True):
        assert tried.count((rank, alpha)) == 1
    if jobs == 1:
        straight = search(small, "BPTF", path=tmp_path / "straight", n_trials=16, **WAYS)
        pd.testing.assert_frame_equal(plain(found), plain(straight))


@pytest.mark.slow
def test_interrupted_by_the_keyboard(
    begin: Callable[..., Any], small: CountTensor, tmp_path: Path
) -> None:
    path = tmp_path / "study.log"
    process = begin(2)
    until(lambda: look(path)["state"].isin(ENDED).sum() >= 2)
    os.killpg(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert f"interrupted; ended trials are kept in {path}" in said
    assert "Traceback" not in said
    frame = open_study(path).frame
    assert set(frame["state"]) <= {*ENDED, "waiting"}
    assert (frame["state"] == "waiting").sum() <= 2
    found = search(small, "BPTF", path=path, n_trials=16, **WAYS).frame
    assert found["state"].isin(ENDED).sum() == len(found) == 16


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced(small: CountTensor, tmp_path: Path) -> None:
    victims: list[int] = []

    def kill(record: SearchProgress) -> None:
        if record.finished >= 1 and not victims:
            for child in psutil.Process().children():
                if "LokyProcess" in " ".join(child.cmdline()):
                    child.kill()
                    victims.append(child.pid)
                    return

    found = search(
        small, "BPTF", path=tmp_path / "s", n_trials=5, jobs=2, callback=kill, prune=False, **WAYS
    )
    assert len(victims) == 1
    assert found.frame["state"].tolist() == ["complete"] * 5
    assert (found.frame["folds"] == 3).all()


def test_a_worker_that_always_dies_ends_the_trial(
    small: CountTensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a setting kills every process that tries it, the search still comes to an end."""
    from concurrent.futures import Future
    from concurrent.futures.process import BrokenProcessPool

    from uncletc.search import searching as module
    from uncletc.search.work import Pool, run_fold

    @contextlib.contextmanager
    def fragile(problem: Any, *_: Any) -> Iterator[Pool]:
        def submit(settings: Any, fold: int) -> Future[dict[str, Any]]:
            future: Future[dict[str, Any]] = Future()
            if settings.rank == 3:
                future.set_exception(BrokenProcessPool("killed"))
            else:
                future.set_result(run_fold(problem, settings, fold))
            return future

        yield Pool(size=1, submit=submit)

    monkeypatch.setattr(module, "pool", fragile)
    ways = WAYS | {"space": {"rank": [1, 2, 3, 4], "alpha": [0.1]}, "fixed": {"max_iter": 3}}
    frame = search(small, "BPTF", path=tmp_path / "s", strategy="grid", **ways).frame
    assert frame["state"].tolist() == ["complete", "complete", "failed", "complete"]


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A cluster of two worker processes on this machine."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
class TestDask:
    def test_a_cluster_finds_what_one_process_finds(
        self, scheduler: str, small: CountTensor, tmp_path: Path
    ) -> None:
        ways = WAYS | {"strategy": "random", "prune": False, "n_trials": 6}
        ways["fixed"] = {"max_iter": 20, "tol": 0}
        alone = search(small, "BPTF", path=tmp_path / "alone", **ways)
        seen: list[SearchProgress] = []
        found = search(
            small,
            "BPTF",
            path=tmp_path / "study.log",
            scheduler=scheduler,
            callback=seen.append,
            **ways,
        )
        assert found.frame["state"].tolist() == ["complete"] * 6
        pd.testing.assert_frame_equal(plain(found), plain(alone))
        assert len(seen) == 6 * 3

    def test_one_fold_per_worker_unless_told(self, scheduler: str, small: CountTensor) -> None:
        from uncletc import METHODS
        from uncletc.search.work import Problem

        problem = Problem(
            counts=small,
            method=METHODS["BPTF"],
            kind="entry",
            n_folds=3,
            across=None,
            seed=0,
            every=10,
        )
        for jobs, size in ((None, 2), (5, 5)):
            with pool(problem, jobs, scheduler) as workers:
                assert workers.size == size

    def test_stopping_keeps_what_ended(
        self, scheduler: str, small: CountTensor, tmp_path: Path
    ) -> None:
        found = search(
            small,
            "BPTF",
            path=tmp_path / "s",
            scheduler=scheduler,
            callback=lambda record: record.finished == 2,
            **WAYS,
        )
        assert found.frame["state"].isin(ENDED).sum() == 2
        assert not (found.frame["state"] == "running").any()

    def test_nobody_answers(
        self, small: CountTensor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from uncletc.search import work

        monkeypatch.setattr(work, "CONNECT", 0.5)
        with pytest.raises(ConnectionError, match="no Dask scheduler answers at 127"):
            search(small, "BPTF", path=tmp_path / "s", scheduler="127.0.0.1:1")

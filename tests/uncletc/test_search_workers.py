"""Searches that others work for: processes, a Dask cluster, and what dies on the way."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from distributed import Client

from uncletc import CountTensor
from uncletc.search import SearchProgress, SearchSettings, Study, Workers, open_study, search, work

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
SETTINGS = SearchSettings(
    n_trials=16, space={"rank": [1, 2, 3, 4]}, fixed={"max_iter": 150, "tol": 0}, n_folds=3
)
QUICK = replace(SETTINGS, n_trials=4, fixed={"max_iter": 3, "tol": 0}, prune=False)


def until(true: Callable[[], bool]) -> None:
    """Wait."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def n_ended(path: Path) -> int:
    """Trials that ended so far, none while the search is still loading."""
    try:
        return int(open_study(path).frame["state"].isin(ENDED).sum())
    except (FileNotFoundError, ValueError):
        return 0


def plain(study: Study) -> pd.DataFrame:
    return study.frame.drop(columns="seconds")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.log"


@pytest.fixture
def begin(
    small: CountTensor, tmp_path: Path, path: Path
) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command in a process group of its own, as a shell does."""
    small.save(tmp_path / "counts.npz")
    started: list[subprocess.Popen[str]] = []

    def start(jobs: int) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", COMMAND, "search", str(tmp_path / "counts.npz")]
        words += ["--out", str(path), "--method", "BPTF", "--jobs", str(jobs)]
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
def test_a_killed_search_resumes(
    jobs: int, begin: Callable[..., Any], small: CountTensor, path: Path
) -> None:
    process = begin(jobs)
    until(lambda: n_ended(path) >= 4)
    process.kill()
    process.wait()

    before = open_study(path).frame
    kept = before[before["state"].isin(ENDED)]
    assert 4 <= len(kept) < 16
    assert len(before) - len(kept) <= jobs
    resumed = search(small, "BPTF", path=path, settings=SETTINGS)
    after = resumed.frame
    assert after["state"].isin(ENDED).all()
    assert not after.duplicated(["rank", "alpha"]).any()
    assert len(after) == 16
    pd.testing.assert_frame_equal(after.loc[kept.index], kept)
    assert after.loc[before.index, ["rank", "alpha"]].equals(before[["rank", "alpha"]])
    if jobs == 1:
        straight = search(small, "BPTF", path=path.with_name("straight"), settings=SETTINGS)
        pd.testing.assert_frame_equal(plain(resumed), plain(straight))


@pytest.mark.slow
def test_interrupted_by_the_keyboard(
    begin: Callable[..., Any], small: CountTensor, path: Path
) -> None:
    process = begin(2)
    until(lambda: n_ended(path) >= 2)
    os.killpg(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert f"interrupted; finished trials are kept in {path}" in said
    assert "Traceback" not in said
    frame = open_study(path).frame
    assert (frame["state"] == "running").sum() <= 2
    resumed = search(small, "BPTF", path=path, settings=SETTINGS).frame
    assert resumed["state"].isin(ENDED).sum() == len(resumed) == 16


@pytest.mark.slow
def test_processes_find_what_one_finds_though_a_worker_dies(small: CountTensor, path: Path) -> None:
    victims: list[int] = []

    def kill(progress: SearchProgress) -> None:
        if progress.finished >= 1 and not victims:
            for child in psutil.Process().children():
                if "LokyProcess" in " ".join(child.cmdline()):
                    child.kill()
                    victims.append(child.pid)
                    return

    settings = replace(SETTINGS, n_trials=5, prune=False, strategy="random")
    alone = search(small, "BPTF", path=path, settings=settings)
    found = search(
        small,
        "BPTF",
        path=path.with_name("two"),
        settings=settings,
        workers=Workers(jobs=2),
        callback=kill,
    )
    assert len(victims) == 1
    pd.testing.assert_frame_equal(plain(found), plain(alone))


def test_a_trial_that_always_kills_its_worker_fails(
    small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a setting kills every process that tries it, the search still comes to an end."""
    original = work.run_trial

    def fragile(counts: CountTensor, method: Any, settings: Any, *rest: Any, **named: Any) -> Any:
        if settings.rank == 3:
            raise BrokenExecutor("killed")
        return original(counts, method, settings, *rest, **named)

    monkeypatch.setattr(work, "run_trial", fragile)
    settings = replace(QUICK, space={"rank": [1, 2, 3, 4], "alpha": [0.1]}, strategy="grid")
    frame = search(small, "BPTF", path=path, settings=settings).frame
    assert frame["state"].tolist() == ["complete", "complete", "failed", "complete"]


def test_workers_that_all_die_end_the_search(
    small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise BrokenExecutor("killed")

    monkeypatch.setattr(work, "run_trial", broken)
    with pytest.raises(RuntimeError, match="workers die before they fit anything"):
        search(small, "BPTF", path=path, settings=QUICK)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A cluster of two worker processes on this machine."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
class TestDask:
    def test_a_cluster_finds_what_one_process_finds(
        self, scheduler: str, small: CountTensor, path: Path
    ) -> None:
        settings = replace(QUICK, strategy="random")
        alone = search(small, "BPTF", path=path.with_name("alone"), settings=settings)
        seen: list[SearchProgress] = []
        found = search(
            small,
            "BPTF",
            path=path,
            settings=settings,
            workers=Workers(scheduler=scheduler),
            callback=seen.append,
        )
        pd.testing.assert_frame_equal(plain(found), plain(alone))
        assert len(seen) == 4 * 3

    @pytest.mark.parametrize(("jobs", "size"), [(None, 2), (5, 5)])
    def test_one_fold_per_worker_unless_told(
        self, scheduler: str, small: CountTensor, jobs: int | None, size: int
    ) -> None:
        with work.opened(Workers(jobs=jobs, scheduler=scheduler), small) as (found, _):
            assert found == size

    def test_stopping_keeps_what_ended(
        self, scheduler: str, small: CountTensor, path: Path
    ) -> None:
        found = search(
            small,
            "BPTF",
            path=path,
            settings=SETTINGS,
            workers=Workers(scheduler=scheduler),
            callback=lambda progress: progress.finished >= 2,
        )
        assert 2 <= found.frame["state"].isin(ENDED).sum() <= 4


@pytest.mark.slow
def test_a_scheduler_that_is_lost_ends_the_search(
    small: CountTensor, path: Path, tmp_path: Path
) -> None:
    file, dask = tmp_path / "scheduler.json", [sys.executable, "-m", "distributed.cli.dask_"]
    ended: list[int] = []

    def command(kind: str, *words: str) -> subprocess.Popen[bytes]:
        name = [*dask[:2], dask[2] + kind, *words, "--no-dashboard", "--scheduler-file", str(file)]
        return subprocess.Popen(
            name, stderr=subprocess.DEVNULL, cwd=tmp_path, start_new_session=True
        )

    def kill(progress: SearchProgress) -> None:
        ended.append(progress.finished)
        scheduler.kill()

    scheduler = command("scheduler", "--host", "127.0.0.1", "--port", "0")
    worker = command("worker", "--nthreads", "1", "--nworkers", "2")
    try:
        until(file.is_file)
        address = json.loads(file.read_text())["address"]
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=PATIENCE)
        with pytest.raises(ConnectionError, match="the Dask scheduler is gone"):
            search(
                small,
                "BPTF",
                path=path,
                settings=SETTINGS,
                workers=Workers(scheduler=address),
                callback=kill,
            )
    finally:
        for process in (scheduler, worker):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    assert ended
    assert not open_study(path).frame.empty


def test_no_scheduler_answers(
    small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "CONNECT", 0.5)
    with pytest.raises(ConnectionError, match="no Dask scheduler answers at 127"):
        search(small, "BPTF", path=path, workers=Workers(scheduler="127.0.0.1:1"))

"""Searches: what is tried, scored, pruned, written to a file and resumed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from uncletc import METHODS, CountTensor, FitError
from uncletc import search as searching
from uncletc.compare import evaluate
from uncletc.search import Found, search

RANKS = (1, 2, 3, 4)
SOME: dict[str, Any] = {"space": {"rank": RANKS}, "fixed": {"max_iter": 4}, "seed": 3}
PATIENCE = 60  # seconds, on a machine that does much else


def quick(counts: CountTensor, path: Path, n_trials: int, **other: Any) -> Found:
    """Search BPTF, 16 choices, folds of some milliseconds."""
    return search(counts, "BPTF", path=path, n_trials=n_trials, **SOME | other)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.log"


@pytest.fixture
def data(small: CountTensor, tmp_path: Path) -> Path:
    small.save(tmp_path / "birds.npz")
    return tmp_path / "birds.npz"


class TestTrials:
    @pytest.mark.slow
    def test_the_seed_decides_and_not_how_many_processes_there_are(
        self, small: CountTensor, path: Path
    ) -> None:
        first, again, other = (
            quick(small, path.with_name(str(k)), 4, seed=seed, jobs=jobs, n_folds=3).trials
            for k, (seed, jobs) in enumerate(((3, 1), (3, 2), (4, 1)))
        )
        pd.testing.assert_frame_equal(first, again)
        assert not first.equals(other)

    @pytest.mark.parametrize("kind", ["entry", "fibre"])
    def test_values_are_those_of_evaluate(self, small: CountTensor, path: Path, kind: Any) -> None:
        method, fixed = METHODS["NTF-CPD-KL"], {"max_iter": 12}
        folds = {"n_folds": 4, "kind": kind, "seed": 2}
        found = search(
            small, method, path=path, space={"rank": (1, 2, 3)}, fixed=fixed, prune=False, **folds
        )
        settings = [method.settings(rank=rank, **fixed) for rank in (1, 2, 3)]
        scored = [evaluate(small, method, one, **folds) for one in settings]
        means = [one.mean("rrmse", "validation") for one in scored]
        np.testing.assert_allclose(found.trials["value"], [mean for mean, _ in means])
        best = int(np.argmin([mean for mean, _ in means]))
        assert found.best == settings[best]
        assert found.validation == pytest.approx(means[best])
        assert found.test["deviance"] == pytest.approx(scored[best].mean("deviance"))

    def test_poor_trials_are_pruned(self, small: CountTensor, path: Path) -> None:
        space = {"rank": [1, 2], "max_iter": [20, 30, 40, 0]}  # 0: a start is no estimate
        found = search(small, "NTF-CPD-KL", path=path, space=space).trials
        assert found["state"].tolist() == ["complete"] * 7 + ["pruned"]
        assert found["folds"].iloc[-1] == 2

    def test_a_failed_fit_is_a_trial(
        self, small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        original = searching.run_trial

        def failing(counts: CountTensor, method: Any, settings: Any, *rest: Any, **k: Any) -> Any:
            if settings.rank < 4:
                raise FitError("the objective became nan at iteration 3")
            return original(counts, method, settings, *rest, **k)

        monkeypatch.setattr(searching, "run_trial", failing)
        assert quick(small, path, 16).trials["state"].eq("fail").sum() == 12
        with pytest.raises(ValueError, match="no trial of the search is complete"):
            quick(small, path.with_name("2"), 8, space={"rank": (1, 2)})


class TestFile:
    def test_more_trials_are_added_to_earlier_ones(self, small: CountTensor, path: Path) -> None:
        part = quick(small, path, 5).trials
        whole = quick(small, path, 12).trials
        pd.testing.assert_frame_equal(whole.iloc[:5], part)
        assert len(whole) == 12
        assert quick(small, path, 3).trials.equals(whole)  # enough already
        assert len(quick(small, path, 28).trials.drop_duplicates(["rank", "alpha"])) == 16

    def test_of_another_search(self, small: CountTensor, path: Path) -> None:
        quick(small, path, 1)
        with pytest.raises(ValueError, match='another kind, "entry" and not "fibre"'):
            quick(small, path, 2, kind="fibre")
        with pytest.raises(ValueError, match="another space"):
            quick(small, path, 2, space={"rank": [1, 2]})
        with pytest.raises(ValueError, match="another counts"):
            quick(small.subset(np.arange(50)), path, 2)

    @pytest.mark.parametrize("content", [b"\x93NUMPY", b"{}\n", b'{"op_code":0}x\n'])
    def test_not_of_a_search(self, small: CountTensor, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        with pytest.raises(ValueError, match="is not the file of a search"):
            quick(small, path, 1)
        assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("method", "change", "message"),
    [
        ("UncleTC", {"n_trials": 0}, "n_trials must be at least 1, got 0"),
        ("NTF", {}, "method must be one of"),
        ("UncleTC", {"space": {"colour": [1]}}, "UncleTC has no setting 'colour'"),
        ("UncleTC", {"space": {"rank": []}}, "choices of rank must hold at least 1 value"),
        ("UncleTC", {"space": {"mu": [500, 500.0]}}, "choices of mu must be distinct"),
        ("UncleTC", {"space": {"rank": [0]}}, "rank must be at least 1, got 0"),
        ("UncleTC", {"space": {"rank": "57"}}, "choices of rank must be a sequence"),
        ("UncleTC", {"space": {"hidden": [(3,)]}}, "hidden is searched by units and layers"),
        ("UncleTC", {"space": {"rank": [2]}, "fixed": {"rank": 2}}, "rank must be either fixed or"),
        ("UncleTC", {"space": {"learning_rate": [0.1]}}, "fix solver to 'bcd'"),
        ("NTF-CPD-LS", {"fixed": {"rank": 2}}, "all of NTF-CPD-LS are fixed"),
    ],
)
def test_what_cannot_be_searched_is_named(
    method: str, change: dict[str, Any], message: str, small: CountTensor, path: Path
) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        search(small, method, path=path, **change)
    assert not path.exists()


def test_without_optuna(small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"needs Optuna.*uncletc\[search\]"):
        quick(small, path, 1)


@pytest.mark.slow
def test_a_search_that_was_killed_resumes(small: CountTensor, data: Path, path: Path) -> None:
    command = "import sys; from uncletc import CountTensor; from uncletc.search import search; "
    command += "search(CountTensor.load(sys.argv[1]), 'BPTF', path=sys.argv[2], n_trials=16, "
    command += "space={'rank': (1, 2, 3, 4)}, fixed={'max_iter': 150, 'tol': 0}, n_folds=3, jobs=2)"
    words = [sys.executable, "-c", command, str(data), str(path)]
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True)
    began = time.monotonic()
    while not path.exists() or path.read_text().count('"validation"') < 4:
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    fixed = {"max_iter": 150, "tol": 0}
    tried = search(
        small, "BPTF", path=path, n_trials=16, space={"rank": RANKS}, fixed=fixed, n_folds=3
    ).trials
    assert len(tried) == len(tried.drop_duplicates(["rank", "alpha"])) == 16


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A cluster of two worker processes on this machine."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
def test_a_cluster_finds_what_one_process_finds(
    scheduler: str, small: CountTensor, path: Path
) -> None:
    alone = quick(small, path.with_name("alone"), 3, prune=False)
    found = quick(small, path, 3, prune=False, scheduler=scheduler)
    pd.testing.assert_frame_equal(found.trials, alone.trials)

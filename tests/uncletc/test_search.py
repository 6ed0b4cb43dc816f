"""Searches: what is tried, judged, given up, written to a file and resumed."""

from __future__ import annotations

import dataclasses
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

from uncletc import METHODS, CountTensor, FitError, FitSettings
from uncletc.compare import Split, evaluate
from uncletc.search import (
    SearchProgress,
    SearchSettings,
    Study,
    Workers,
    open_study,
    search,
    searching,
)

RANKS = (1, 2, 3, 4)
ALPHAS = (0.02, 0.05, 0.1, 0.2)
ENDED = ["complete", "pruned", "failed"]
PATIENCE = 60  # seconds, on a machine that does much else
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


def quick(
    counts: CountTensor,
    path: Path,
    n_trials: int = 40,
    *,
    callback: Any = None,
    workers: Workers | None = None,
    **other: Any,
) -> Study:
    """Search BPTF, 16 choices, folds of some milliseconds."""
    chosen = {"space": {"rank": RANKS}, "fixed": {"max_iter": 4}, "seed": 3, **other}
    settings = SearchSettings(n_trials=n_trials, **chosen)
    return search(counts, "BPTF", path=path, settings=settings, callback=callback, workers=workers)


def n_ended(path: Path) -> int:
    """Trials that ended so far, none while the search is still loading."""
    try:
        return int(open_study(path).frame["state"].isin(ENDED).sum())
    except (FileNotFoundError, ValueError):
        return 0


def without_times(study: Study) -> pd.DataFrame:
    return study.frame.drop(columns="seconds")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.log"


class TestWhatIsTried:
    @pytest.mark.parametrize("strategy", ["tpe", "random", "grid"])
    def test_the_grid_once_each(self, small: CountTensor, path: Path, strategy: Any) -> None:
        found = quick(small, path, 100, strategy=strategy, n_folds=3)
        assert found.settings.n_trials == 16
        tried = list(zip(found.frame["rank"], found.frame["alpha"], strict=True))
        every = [(rank, alpha) for rank in RANKS for alpha in ALPHAS]
        assert sorted(tried) == every
        assert (tried == every) == (strategy == "grid")

    def test_the_seed_decides(self, small: CountTensor, path: Path) -> None:
        first = quick(small, path.with_name("1"), 14)
        again = quick(small, path.with_name("2"), 14)
        other = quick(small, path.with_name("3"), 14, seed=4)
        pd.testing.assert_frame_equal(without_times(first), without_times(again))
        assert not without_times(first).equals(without_times(other))

    def test_networks_are_made_of_units_and_layers(self, small: CountTensor, path: Path) -> None:
        space = {"rank": [1], "mu": [None, 1000], "units": [3], "layers": [2]}
        settings = SearchSettings(n_trials=2, space=space, fixed={"max_iter": 2, "tol": 0.0})
        found = search(small, METHODS["UncleTC"], path=path, settings=settings)
        assert found.best in [
            FitSettings(rank=1, mu=mu, hidden=(3, 3), max_iter=2, tol=0.0) for mu in (None, 1000.0)
        ]
        assert open_study(path).frame["mu"].isna().sum() == 1


class TestJudgement:
    @pytest.mark.parametrize("kind", ["entry", "fibre"])
    def test_values_are_those_of_evaluate(self, small: CountTensor, path: Path, kind: Any) -> None:
        method = METHODS["NTF-CPD-KL"]
        settings = SearchSettings(
            n_folds=4,
            kind=kind,
            seed=2,
            space={"rank": (1, 2, 3)},
            fixed={"max_iter": 12},
            strategy="grid",
        )
        found = search(small, method, path=path, settings=settings, dataset="six by five")
        ways = [method.settings(rank=rank, max_iter=12) for rank in (1, 2, 3)]
        judged = [evaluate(small, method, way, n_folds=4, kind=kind, seed=2) for way in ways]
        means = [one.mean("rrmse", "validation") for one in judged]
        np.testing.assert_allclose(found.frame["value"], [mean for mean, _ in means])
        np.testing.assert_allclose(found.frame["sd"], [sd for _, sd in means])
        best = int(np.argmin([mean for mean, _ in means]))
        assert found.best == ways[best]
        assert found.best_value == pytest.approx(means[best])
        assert found.test_scores()["deviance"] == pytest.approx(judged[best].mean("deviance"))
        assert (found.method, found.dataset) == ("NTF-CPD-KL", "six by five")
        assert found.counts_digest == small.digest

    def test_test_folds_decide_nothing(
        self, small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        honest = quick(small, path.with_name("1"), 14)
        original = searching.run_trial

        def disturbed(
            counts: CountTensor, method: Any, settings: Any, split: Split, *rest: Any, **named: Any
        ) -> Any:
            noise = np.random.default_rng(settings.rank).integers(0, 10**4, counts.n_observed)
            values = np.where(split.test, noise, counts.counts)
            changed = replace_counts(counts, values)
            return original(changed, method, settings, split, *rest, **named)

        monkeypatch.setattr(searching, "run_trial", disturbed)
        changed = quick(small, path.with_name("2"), 14)
        pd.testing.assert_frame_equal(without_times(honest), without_times(changed))
        assert honest.best == changed.best
        assert honest.test_scores() != changed.test_scores()

    @pytest.mark.parametrize("prune", [True, False])
    def test_hopeless_trials_are_given_up(
        self, small: CountTensor, path: Path, prune: bool
    ) -> None:
        grid = {"rank": [1, 2], "max_iter": [20, 30, 40, 0]}  # 0: the starting point is no estimate
        given = SearchSettings(space=grid, strategy="grid", prune=prune)
        found = search(small, "NTF-CPD-KL", path=path, settings=given).frame
        assert found["state"].tolist() == ["complete"] * 7 + ["pruned" if prune else "complete"]
        assert found["folds"].iloc[-1] == (2 if prune else 5)
        assert found["value"].iloc[7] > found["value"].iloc[:3].max()

    def test_a_fit_that_fails_is_a_trial_that_ended(
        self, small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def failing(*_: Any, **__: Any) -> Any:
            raise FitError("the objective became nan at iteration 3")

        monkeypatch.setattr(searching, "run_trial", failing)
        found = quick(small, path, 2)
        assert found.frame["state"].tolist() == ["failed", "failed"]
        assert found.frame["value"].isna().all()
        with pytest.raises(ValueError, match=r"no trial of .* is complete yet"):
            _ = found.best


def replace_counts(counts: CountTensor, values: np.ndarray) -> CountTensor:
    return CountTensor(
        counts.shape,
        counts.indices,
        values,
        attributes=counts.attributes,
        attribute_indices=counts.attribute_indices,
    )


class TestProgress:
    def test_records(self, small: CountTensor, path: Path) -> None:
        seen: list[SearchProgress] = []
        found = quick(small, path, 3, callback=seen.append)
        assert [(one.trial, one.folds) for one in seen] == [
            (t, f) for t in range(3) for f in range(1, 6)
        ]
        assert [one.finished for one in seen[4::5]] == [1, 2, 3]
        assert {one.total for one in seen} == {3}
        assert (seen[0].best, seen[-1].best) == (None, pytest.approx(found.frame["value"].min()))

    def test_stops_and_resumes_as_one_search(self, small: CountTensor, path: Path) -> None:
        part = quick(small, path, 12, callback=lambda record: record.finished == 5)
        assert part.frame["state"].isin(ENDED).sum() in (5, 6)
        quick(small, path, 12)
        whole = quick(small, path, 14)
        assert quick(small, path, 3).frame.equals(whole.frame)  # enough already
        straight = quick(small, path.with_name("straight"), 14)
        pd.testing.assert_frame_equal(without_times(whole), without_times(straight))


class TestFile:
    def test_opening_gives_the_same_and_writes_nothing(
        self, small: CountTensor, path: Path
    ) -> None:
        found = quick(small, path, 3)
        before = path.read_bytes()
        again = open_study(path)
        assert again.frame.equals(found.frame)
        assert (again.best, again.settings) == (found.best, found.settings)
        assert repr(again) == "Study(BPTF on counts, 3 of 3 trials)"
        assert path.read_bytes() == before
        assert [one.name for one in path.parent.iterdir()] == [path.name]
        with pytest.raises(dataclasses.FrozenInstanceError):
            again.method = "POND"  # type: ignore[misc]

    def test_cut_off_anywhere(self, small: CountTensor, path: Path) -> None:
        quick(small, path, 3)
        data = path.read_bytes()
        for length in np.linspace(0, len(data), 8, dtype=int):
            path.write_bytes(data[:length])
            found = quick(small, path, 3).frame
            assert found["state"].isin(ENDED).all()
            assert len(found) == len(found.drop_duplicates(["rank", "alpha"])) == 3

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"kind": "fibre"}, 'another kind, "entry" and not "fibre"'),
            ({"seed": 4}, "another seed, 3 and not 4"),
            ({"fixed": {"max_iter": 5}}, "another fixed"),
            ({"space": {"rank": [1, 2]}}, "another space"),
        ],
    )
    def test_of_another_search(
        self, small: CountTensor, path: Path, change: dict[str, Any], message: str
    ) -> None:
        quick(small, path, 1)
        before = path.read_bytes()
        with pytest.raises(ValueError, match=message):
            quick(small, path, 2, **change)
        with pytest.raises(ValueError, match="another counts"):
            quick(small.subset(np.arange(50)), path, 2)
        assert path.read_bytes() == before

    @pytest.mark.parametrize("content", [b"\x93NUMPY", b"a,b\n1,2", b"{}\n", b'{"op_code":0}x\n'])
    def test_not_of_a_search(self, small: CountTensor, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        for go in (open_study, lambda where: quick(small, where)):
            with pytest.raises(ValueError, match="is not the file of a search"):
                go(path)
        assert path.read_bytes() == content

    @pytest.mark.parametrize(
        "field", ['"study_name"', '"datetime_start"', '"seed"', '"validation"']
    )
    def test_wrong_fields(self, small: CountTensor, path: Path, field: str) -> None:
        quick(small, path, 1)
        path.write_text(path.read_text().replace(field, '"other"'))
        with pytest.raises(ValueError, match="is not the file of a search"):
            open_study(path)

    def test_one_search_at_a_time(self, small: CountTensor, path: Path) -> None:
        def again(_: SearchProgress) -> None:
            quick(small, path, 2)

        with pytest.raises(RuntimeError, match="another search is writing to"):
            quick(small, path, 2, callback=again)

    def test_absent(self, path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="does not exist"):
            open_study(path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SearchSettings(n_trials=0), "n_trials must be at least 1, got 0"),
        (lambda: SearchSettings(strategy="best"), "strategy must be one of"),  # type: ignore[arg-type]
        (lambda: Workers(jobs=0), "jobs must be at least 1, got 0"),
    ],
)
def test_bad_settings(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_two_processes_find_what_one_finds(small: CountTensor, path: Path) -> None:
    chosen = {"prune": False, "strategy": "random", "n_folds": 3}
    alone = quick(small, path.with_name("alone"), 1, **chosen)
    found = quick(small, path, 1, workers=Workers(jobs=2), **chosen)
    pd.testing.assert_frame_equal(without_times(found), without_times(alone))


def test_without_optuna(small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"needs Optuna.*uncletc\[search\]"):
        quick(small, path)


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_search_resumes(
    end: signal.Signals, small: CountTensor, tmp_path: Path, path: Path
) -> None:
    small.save(tmp_path / "counts.npz")
    words = [sys.executable, "-c", COMMAND, "search", str(tmp_path / "counts.npz")]
    words += ["--out", str(path), "--method", "BPTF", "--jobs", "2", "--trials", "16", "--rank"]
    words += [*"1234", "--folds", "3", "--set", "max_iter=150", "--set", "tol=0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, start_new_session=True)
    began = time.monotonic()
    while n_ended(path) < 4:
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.05)
    os.killpg(process.pid, end)
    printed = process.communicate(timeout=PATIENCE)[1]
    if end is signal.SIGINT:
        assert process.returncode == 130
        assert f"interrupted; finished trials are kept in {path}" in printed
        assert "Traceback" not in printed
    before = open_study(path).frame
    settings = SearchSettings(
        n_trials=16, space={"rank": RANKS}, fixed={"max_iter": 150, "tol": 0}, n_folds=3
    )
    after = search(small, "BPTF", path=path, settings=settings).frame
    assert after["state"].isin(ENDED).all()
    assert len(after) == len(after.drop_duplicates(["rank", "alpha"])) == 16
    kept = before[before["state"].isin(ENDED)]
    pd.testing.assert_frame_equal(after[after["number"].isin(kept["number"])], kept)


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
    chosen = {"strategy": "random", "prune": False}
    alone = quick(small, path.with_name("alone"), 3, **chosen)
    found = quick(small, path, 3, workers=Workers(scheduler=scheduler), **chosen)
    pd.testing.assert_frame_equal(without_times(found), without_times(alone))

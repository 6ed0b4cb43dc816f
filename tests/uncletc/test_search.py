"""Searches in this process: what is tried, judged, given up, kept and taken up again."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import optuna
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
    work,
)

RANKS = (1, 2, 3, 4)
ALPHAS = (0.02, 0.05, 0.1, 0.2)


def quick(
    counts: CountTensor, path: Path, n_trials: int = 40, *, callback: Any = None, **other: Any
) -> Study:
    """Search BPTF, 16 choices, folds of some milliseconds."""
    chosen = {"space": {"rank": RANKS}, "fixed": {"max_iter": 4}, "seed": 3, **other}
    settings = SearchSettings(n_trials=n_trials, **chosen)
    return search(counts, "BPTF", path=path, settings=settings, callback=callback)


def without_times(study: Study) -> pd.DataFrame:
    return study.frame.drop(columns="seconds")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "study.log"


class TestWhatIsTried:
    @pytest.mark.parametrize("strategy", ["tpe", "random", "grid"])
    def test_the_grid_once_each(self, small: CountTensor, path: Path, strategy: Any) -> None:
        found = quick(small, path, 100, strategy=strategy)
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

    def test_one_choice_of_a_setting_is_kept(self, small: CountTensor, path: Path) -> None:
        found = quick(small, path, space={"rank": [2]})
        assert found.settings.n_trials == 4
        assert set(found.frame["rank"]) == {2}

    def test_networks_are_made_of_units_and_layers(self, small: CountTensor, path: Path) -> None:
        found = search(
            small,
            METHODS["UncleTC"],
            path=path,
            settings=SearchSettings(
                n_trials=1,
                space={"rank": [1], "mu": [1000], "units": [3], "layers": [2]},
                fixed={"max_iter": 2, "tol": 0.0},
            ),
        )
        assert found.best == FitSettings(rank=1, mu=1000.0, hidden=(3, 3), max_iter=2, tol=0.0)

    def test_mu_from_the_counts_can_be_one_of_the_choices(
        self, small: CountTensor, path: Path
    ) -> None:
        found = search(
            small,
            METHODS["UncleTC"],
            path=path,
            settings=SearchSettings(
                n_trials=2,
                space={"mu": [None, 2]},
                fixed={"rank": 1, "hidden": (), "max_iter": 2, "tol": 0.0},
            ),
        )
        assert found.best.mu in (None, 2.0)
        assert open_study(path).frame["mu"].isna().sum() == 1
        assert set(found.importance()) <= {"mu"}


class TestJudgement:
    @pytest.mark.parametrize("kind", ["entry", "fibre"])
    def test_values_are_those_of_evaluate(self, small: CountTensor, path: Path, kind: Any) -> None:
        method = METHODS["NTF-CPD-KL"]
        found = search(
            small,
            method,
            path=path,
            settings=SearchSettings(
                n_folds=4,
                kind=kind,
                seed=2,
                space={"rank": (1, 2, 3)},
                fixed={"max_iter": 12},
                strategy="grid",
            ),
            dataset="six by five",
        )
        ways = [method.settings(rank=rank, max_iter=12) for rank in (1, 2, 3)]
        judged = [evaluate(small, method, way, n_folds=4, kind=kind, seed=2) for way in ways]
        means = [one.mean("rrmse", "validation") for one in judged]
        np.testing.assert_allclose(found.frame["value"], [mean for mean, _ in means])
        np.testing.assert_allclose(found.frame["sd"], [sd for _, sd in means])
        assert (found.frame["folds"] == 4).all()
        best = int(np.argmin([mean for mean, _ in means]))
        assert found.best == ways[best]
        assert found.best_value == pytest.approx(means[best])
        assert found.test_scores()["rrmse"] == pytest.approx(judged[best].mean("rrmse"))
        assert found.test_scores()["deviance"] == pytest.approx(judged[best].mean("deviance"))
        assert (found.method, found.dataset, found.settings.kind) == (
            "NTF-CPD-KL",
            "six by five",
            kind,
        )
        assert found.counts_digest == small.digest

    def test_test_folds_decide_nothing(
        self, small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        honest = quick(small, path.with_name("1"), 14)
        original = work.run_trial

        def disturbed(
            counts: CountTensor, method: Any, settings: Any, split: Split, *rest: Any, **named: Any
        ) -> Any:
            noise = np.random.default_rng(settings.rank).integers(0, 10**4, counts.n_observed)
            values = np.where(split.test, noise, counts.counts)
            changed = CountTensor(
                counts.shape,
                counts.indices,
                values,
                attributes=counts.attributes,
                attribute_indices=counts.attribute_indices,
            )
            return original(changed, method, settings, split, *rest, **named)

        monkeypatch.setattr(work, "run_trial", disturbed)
        changed = quick(small, path.with_name("2"), 14)
        pd.testing.assert_frame_equal(without_times(honest), without_times(changed))
        assert honest.best == changed.best
        assert honest.test_scores() != changed.test_scores()

    def test_hopeless_trials_are_given_up(self, small: CountTensor, path: Path) -> None:
        grid = {"rank": [1, 2], "max_iter": [20, 30, 40, 0]}  # 0: the starting point is no estimate
        given = SearchSettings(space=grid, strategy="grid")
        found = search(small, "NTF-CPD-KL", path=path.with_name("1"), settings=given).frame
        assert found["state"].tolist() == ["complete"] * 7 + ["pruned"]
        assert found["folds"].tolist() == [5] * 7 + [2]
        given = dataclasses.replace(given, prune=False)
        whole = search(small, "NTF-CPD-KL", path=path.with_name("2"), settings=given).frame
        assert set(whole["state"]) == {"complete"}
        assert whole["value"].iloc[7] > whole["value"].iloc[:3].max()

    def test_a_fit_that_fails_is_a_trial_that_ended(
        self, small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        original = work.run_trial

        def failing(
            counts: CountTensor, method: Any, settings: Any, *rest: Any, **named: Any
        ) -> Any:
            if settings.rank == 2:
                raise FitError("the objective became nan at iteration 3")
            return original(counts, method, settings, *rest, **named)

        monkeypatch.setattr(work, "run_trial", failing)
        found = quick(small, path).frame
        assert len(found) == 16
        assert (found["state"][found["rank"] == 2] == "failed").all()
        assert not (found["state"][found["rank"] != 2] == "failed").any()

    def test_no_best_without_a_complete_trial(
        self, small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def failing(*_: Any, **__: Any) -> Any:
            raise FitError("no")

        monkeypatch.setattr(work, "run_trial", failing)
        found = quick(small, path, 2)
        assert found.frame["value"].isna().all()
        with pytest.raises(ValueError, match=r"no trial of .* is complete yet"):
            _ = found.best
        assert found.importance() == {}

    def test_importance(self, small: CountTensor, path: Path) -> None:
        shares = quick(small, path, prune=False).importance()
        assert set(shares) == {"rank", "alpha"}
        assert sum(shares.values()) == pytest.approx(1.0)
        assert shares["rank"] > shares["alpha"]


class TestProgress:
    def test_records(self, small: CountTensor, path: Path) -> None:
        seen: list[SearchProgress] = []
        found = quick(small, path, 3, callback=seen.append)
        assert [(one.trial, one.folds) for one in seen] == [
            (t, f) for t in range(3) for f in range(1, 6)
        ]
        assert [one.finished for one in seen[4::5]] == [1, 2, 3]
        assert [one.state for one in seen[:5]] == ["running"] * 4 + ["complete"]
        assert {one.total for one in seen} == {3}
        assert (seen[0].best, seen[-1].best) == (None, pytest.approx(found.frame["value"].min()))
        assert dict(seen[-1].chosen) == {
            "rank": found.frame["rank"][2],
            "alpha": found.frame["alpha"][2],
        }

    def test_the_callback_stops_it_and_it_goes_on(self, small: CountTensor, path: Path) -> None:
        fits: list[SearchProgress] = []

        def stop(record: SearchProgress) -> bool:
            fits.append(record)
            return len(fits) == 13

        part = quick(small, path, 6, callback=stop)
        assert part.frame["state"].tolist() == ["complete", "complete", "running"]
        assert part.frame["folds"].tolist() == [5, 5, 3]
        whole = quick(small, path, 6, callback=fits.append)
        assert len(fits) == 30  # no fold is fitted twice
        straight = quick(small, path.with_name("straight"), 6)
        pd.testing.assert_frame_equal(without_times(whole), without_times(straight))

    def test_more_trials_go_on_as_one_search(self, small: CountTensor, path: Path) -> None:
        quick(small, path, 5)
        quick(small, path, 12)
        parts = quick(small, path, 14)
        assert quick(small, path, 3).frame.equals(parts.frame)  # enough already
        straight = quick(small, path.with_name("straight"), 14)
        pd.testing.assert_frame_equal(without_times(parts), without_times(straight))


class TestFile:
    def test_opening_gives_the_same_and_writes_nothing(
        self, small: CountTensor, path: Path
    ) -> None:
        found = quick(small, path, 3)
        path.chmod(0o400)
        before = path.read_bytes()
        again = open_study(path)
        assert again.frame.equals(found.frame)
        assert (again.best, again.settings) == (found.best, found.settings)
        assert repr(again) == "Study(BPTF on counts, 3 of 3 trials)"
        assert path.read_bytes() == before
        assert [one.name for one in path.parent.iterdir()] == [path.name]
        with pytest.raises(dataclasses.FrozenInstanceError):
            again.method = "POND"  # type: ignore[misc]

    def test_optuna_reads_it(self, small: CountTensor, path: Path) -> None:
        found = quick(small, path, 3)
        backend = optuna.storages.journal.JournalFileBackend(str(path))
        storage = optuna.storages.JournalStorage(backend)
        study = optuna.load_study(study_name=None, storage=storage)
        assert study.best_value == found.best_value[0]

    def test_a_line_that_was_cut_off(self, small: CountTensor, path: Path) -> None:
        whole = quick(small, path, 4)
        lines = path.read_bytes().splitlines(keepends=True)
        for cut in (1, 12, len(lines[-1]) - 1):
            path.write_bytes(b"".join(lines[:-1]) + lines[-1][:cut])
            part = open_study(path)
            assert part.frame["state"].tolist() == ["complete"] * 3 + ["running"]
            assert part.frame["folds"].tolist() == [5, 5, 5, 5]
            found = quick(small, path, 4)
            assert [json.loads(line) for line in path.read_bytes().splitlines()]
            pd.testing.assert_frame_equal(without_times(found), without_times(whole))

    def test_cut_off_anywhere(self, small: CountTensor, path: Path) -> None:
        whole = quick(small, path, 3)
        data = path.read_bytes()
        for length in np.linspace(0, len(data), 12, dtype=int):
            path.write_bytes(data[:length])
            found = quick(small, path, 3)
            pd.testing.assert_frame_equal(without_times(found), without_times(whole))

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"kind": "fibre"}, 'another kind, "entry" and not "fibre"'),
            ({"n_folds": 4}, "another n_folds, 5 and not 4"),
            ({"seed": 4}, "another seed, 3 and not 4"),
            ({"fixed": {"max_iter": 5}}, "another fixed"),
            ({"space": {"rank": [1, 2]}}, "another space"),
            ({"every": None}, "another every, 10 and not null"),
            ({"strategy": "grid"}, 'another strategy, "tpe" and not "grid"'),
        ],
    )
    def test_of_another_search(
        self, small: CountTensor, path: Path, change: dict[str, Any], message: str
    ) -> None:
        quick(small, path, 1)
        before = path.read_bytes()
        with pytest.raises(ValueError, match=message):
            quick(small, path, 2, **change)
        assert path.read_bytes() == before

    def test_of_other_counts_or_method(self, small: CountTensor, path: Path) -> None:
        quick(small, path, 1)
        with pytest.raises(ValueError, match="another counts"):
            quick(small.subset(np.arange(50)), path, 2)
        with pytest.raises(ValueError, match='another method, "BPTF" and not "POND"'):
            search(small, "POND", path=path, settings=SearchSettings(seed=3))

    @pytest.mark.parametrize("content", [b"\x93NUMPY", b"a,b\n1,2\n", b"{}\n", b'{"op_code":0}x\n'])
    def test_not_of_a_search(self, small: CountTensor, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        for go in (open_study, lambda where: quick(small, where)):
            with pytest.raises(ValueError, match="is not the file of a search: line 1"):
                go(path)
        assert path.read_bytes() == content

    @pytest.mark.parametrize(
        ("line", "field", "message"),
        [
            ('"study_name"', '"study_name"', "line 1 lacks the field 'study_name'"),
            ('"op_code":4', '"datetime_start"', "line 4 lacks the field 'datetime_start'"),
            ('"op_code":4', '"op_code":4', "line 4 cannot be read"),
            ('"seed"', '"seed"', "its beginning lacks the field 'seed'"),
            ('"fold 2"', '"validation"', "trial 0 lacks the field 'validation'"),
            ('"fold 2"', '"rrmse"', "trial 0 lacks the field 'rrmse'"),
        ],
    )
    def test_wrong_fields(
        self, small: CountTensor, path: Path, line: str, field: str, message: str
    ) -> None:
        quick(small, path, 1)
        lines = path.read_text().splitlines(keepends=True)
        at = next(i for i, one in enumerate(lines) if line in one)
        wrong = '"op_code":99' if "op_code" in field else '"other"'
        lines[at] = lines[at].replace(field, wrong, 1)
        path.write_text("".join(lines))
        with pytest.raises(ValueError, match=f"{path} is not the file of a search: {message}$"):
            open_study(path)

    def test_of_another_program(self, small: CountTensor, path: Path) -> None:
        backend = optuna.storages.journal.JournalFileBackend(str(path))
        optuna.create_study(storage=optuna.storages.JournalStorage(backend))
        for go in (open_study, lambda where: quick(small, where)):
            with pytest.raises(ValueError, match="holds another study of Optuna"):
                go(path)

    def test_none_or_empty(self, path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="does not exist"):
            open_study(path)
        path.touch()
        with pytest.raises(ValueError, match="holds no search yet"):
            open_study(path)

    @pytest.mark.slow
    def test_the_lock_of_a_killed_process_holds_nobody_up_for_long(
        self, small: CountTensor, path: Path
    ) -> None:
        Path(f"{path}.lock").touch()
        assert len(quick(small, path, 1).frame) == 1
        assert [one.name for one in path.parent.iterdir()] == [path.name]

    def test_two_searches_at_once(self, small: CountTensor, path: Path) -> None:
        def second(_: SearchProgress) -> None:
            with pytest.raises(RuntimeError, match="another search is writing"):
                quick(small, path)
            assert open_study(path).frame["state"].tolist()[-1] in ("running", "complete")

        assert len(quick(small, path, 2, callback=second).frame) == 2


class TestArguments:
    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"n_trials": 0}, "n_trials must be at least 1, got 0"),
            ({"strategy": "best"}, "strategy must be one of"),
            ({"kind": "row"}, "kind must be one of"),
            ({"n_folds": 2}, "n_folds must be at least 3, got 2"),
            ({"every": 0}, "every must be at least 1, got 0"),
        ],
    )
    def test_bad_ones_leave_no_file(
        self, small: CountTensor, path: Path, values: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            quick(small, path, **values)
        assert not path.exists()

    @pytest.mark.parametrize("values", [{"jobs": 0}, {"jobs": 1.5}])
    def test_workers(self, values: dict[str, Any]) -> None:
        with pytest.raises((TypeError, ValueError), match="jobs must be"):
            Workers(**values)

    def test_without_optuna(
        self, small: CountTensor, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "optuna", None)
        for name in ("journal", "loop"):
            monkeypatch.delitem(sys.modules, f"uncletc.search.{name}", raising=False)
            monkeypatch.delattr(f"uncletc.search.{name}", raising=False)
        path.touch()
        for go in (open_study, lambda where: quick(small, where)):
            with pytest.raises(ImportError, match=r'Optuna.*pip install "uncletc\[search\]"$'):
                go(path)

    def test_zero_counts_cannot_be_judged(self, path: Path) -> None:
        zeros = CountTensor((3, 4), [[i, j] for i in range(3) for j in range(4)], [0] * 12)
        settings = SearchSettings(n_trials=1, fixed={"max_iter": 2})
        found = search(zeros, "NTF-CPD-KL", path=path, settings=settings)
        assert found.frame["state"].tolist() == ["failed"]
        assert math.isnan(found.frame["value"][0])

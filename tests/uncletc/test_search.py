"""Searches: what is tried, scored, pruned, written to a file and resumed."""

import sys

import numpy as np
import pandas as pd
import pytest

from uncletc import METHODS, FitError
from uncletc import search as searching
from uncletc.compare import evaluate
from uncletc.search import search

RANKS = (1, 2, 3, 4)
SPACE = {"rank": RANKS, "alpha": (0.02, 0.05, 0.1, 0.2)}
SOME = {"space": SPACE, "fixed": {"max_iter": 4}, "seed": 3}


def quick(counts, path, n_trials, **other):
    """Search BPTF, 16 choices, folds of some milliseconds."""
    return search(counts, "BPTF", path=path, n_trials=n_trials, **SOME | other)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.log"


class TestTrials:
    @pytest.mark.parametrize("kind", ["entry", "fibre"])
    def test_values_are_those_of_evaluate(self, small, path, kind):
        method, fixed = METHODS["NTF-CPD-KL"], {"max_iter": 12}
        folds = {"n_folds": 4, "kind": kind, "seed": 2}
        found = search(small, method, {"rank": (1, 2, 3)}, path=path, fixed=fixed, **folds)
        settings = [method.settings(rank=rank, **fixed) for rank in found.trials["rank"]]
        scored = [evaluate(small, method, one, **folds) for one in settings]
        means = [one.mean("rrmse", "validation") for one in scored]
        np.testing.assert_allclose(found.trials["value"], [mean for mean, _ in means])
        best = int(np.argmin([mean for mean, _ in means]))
        assert found.best == settings[best]
        assert found.validation == pytest.approx(means[best])
        assert found.test["deviance"] == pytest.approx(scored[best].mean("deviance"))
        again = search(small, method, {"rank": (1, 2, 3)}, path=path, fixed=fixed, **folds)
        assert again.trials.equals(found.trials)  # all choices are tried

    def test_poor_trials_are_pruned(self, small, path):
        space = {"rank": [1, 2], "max_iter": [7, 8, 9, 10, 11, 12, 0]}  # 0: a start
        found = search(small, "NTF-CPD-KL", space, path=path).trials
        assert len(found) == 14
        pruned = found[found["state"] == "pruned"]
        assert len(pruned) > 0
        assert (pruned["folds"] < 5).all()

    def test_a_failed_fit_is_a_trial(self, small, path, monkeypatch):
        original = searching.run_trial

        def failing(counts, method, settings, *rest, **k):
            if settings.rank < 4:
                raise FitError("the objective became nan at iteration 3")
            return original(counts, method, settings, *rest, **k)

        monkeypatch.setattr(searching, "run_trial", failing)
        assert quick(small, path, 16).trials["state"].eq("fail").sum() == 12
        with pytest.raises(ValueError, match="no trial of the search is complete"):
            quick(small, path.with_name("2"), 8, space=SPACE | {"rank": (1, 2)})


class TestFile:
    def test_more_trials_are_added_to_earlier_ones(self, small, path):
        part = quick(small, path, 5).trials
        whole = quick(small, path, 12).trials
        pd.testing.assert_frame_equal(whole.iloc[:5], part)
        assert len(whole) == 12
        assert quick(small, path, 3).trials.equals(whole)  # enough already
        assert len(quick(small, path, 28).trials.drop_duplicates(["rank", "alpha"])) == 16

    def test_other_searches_in_the_file_are_others(self, small, path):
        assert quick(small, path, 2).trials.equals(quick(small, path, 2).trials)
        assert len(quick(small, path, 1, kind="fibre").trials) == 1

    def test_a_trial_that_was_interrupted_is_made_again(self, small, path, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        with monkeypatch.context() as during:
            during.setattr(searching, "run_trial", interrupted)
            with pytest.raises(KeyboardInterrupt):
                quick(small, path, 16)
        tried = quick(small, path, 16).trials
        assert len(tried.drop_duplicates(["rank", "alpha"])) == 16

    @pytest.mark.parametrize("content", [b"\x93NUMPY", b"{}\n", b'{"op_code":0}x\n'])
    def test_not_of_a_search(self, small, path, content):
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
        ("UncleTC", {"space": {"rank": []}}, "at least 1 choice of each setting"),
        ("UncleTC", {"space": {"rank": [0]}}, "rank must be at least 1, got 0"),
        ("UncleTC", {"space": {"rank": "57"}}, "choices of rank must be a sequence"),
        ("UncleTC", {"space": {"rank": [2]}, "fixed": {"rank": 2}}, "rank must be either fixed or"),
    ],
)
def test_what_cannot_be_searched_is_named(method, change, message, small, path):
    with pytest.raises((ValueError, TypeError), match=message):
        search(small, method, **{"space": {"rank": [2]}, "path": path} | change)
    assert not path.exists()


def test_without_optuna(small, path, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"needs Optuna.*uncletc\[search\]"):
        quick(small, path, 1)

"""Results as tables and sentences."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest

import uncletc
from dashboard.methods.scores import (
    FIELDS,
    beside_words,
    comparison,
    evaluate_script,
    scores,
    settings_words,
    what_is_hidden,
)
from dashboard.shared.text.scripts import load
from dashboard.work.orders import make_settings
from uncletc import METHODS, compare

NAN = float("nan")


def result(*errors: float, **more: float) -> dict:
    trials = [dict.fromkeys(FIELDS.values(), e) | {"seconds": 2.0, "n": 10} | more for e in errors]
    return {"method": "x", "trials": trials}


class TestScores:
    results: ClassVar = {"POND": result(2.0, 4.0), "UncleTC": result(1.0, 2.0)}

    def test_means_spreads_and_seconds(self):
        table = scores(self.results, "rRMSE").table.set_index("method")
        assert table.loc["POND", "rRMSE"] == 3
        assert table.loc["POND", "± rRMSE"] == pytest.approx(np.std([2, 4], ddof=1))
        assert table.loc["POND", "seconds"] == 4
        assert list(table["folds"]) == [2, 2]

    def test_the_best_is_first(self):
        assert list(scores(self.results, "deviance").bars["method"]) == ["UncleTC", "POND"]
        assert list(scores(self.results, "AUROC").bars["method"]) == ["POND", "UncleTC"]

    def test_one_fold_has_no_spread_and_unknown_folds_are_left_out(self):
        table = scores({"POND": result(1.0), "BPTF": result(1.0, NAN, 3.0)}, "rRMSE").table
        assert table["rRMSE"].tolist() == [1, 2]
        assert math.isnan(table["± rRMSE"][0])
        assert table["± rRMSE"][1] == pytest.approx(math.sqrt(2))


class TestOthers:
    def test_methods_beside_the_papers_are_named(self):
        words = beside_words(["UncleTC", "LightGBM", "Main effects"])
        assert "Not in the paper: LightGBM, Main effects;" in words
        assert beside_words(["UncleTC", "POND"]) == ""


class TestComparison:
    def test_counts_the_folds_it_is_ahead_in(self):
        words = comparison({"POND": result(2, 4, 3), "BPTF": result(1, 5, 1)}, "rRMSE")
        assert "**BPTF predicts hidden counts best**" in words
        assert "2.333, then POND with 3.000" in words
        assert "in 2 of 3 folds" in words
        assert "do not rely on the difference" in words

    def test_a_clear_lead_has_no_caution(self):
        words = comparison({"POND": result(2, 4), "BPTF": result(1, 3.1)}, "rRMSE")
        assert "in 2 of 2 folds, by 0.950 ± 0.050 (standard error over folds)" in words
        assert "lean" not in words

    def test_higher_is_better_for_auroc(self):
        words = comparison({"POND": result(0.9, 0.8), "BPTF": result(0.7, 0.6)}, "AUROC")
        assert "**POND predicts" in words
        assert "in 2 of 2 folds" in words

    def test_one_fold_is_a_first_look_and_one_method_none(self):
        assert "a first look" in comparison({"POND": result(2), "BPTF": result(1)}, "rRMSE")
        assert comparison({"POND": result(2)}, "rRMSE") == ""
        assert comparison({"POND": result(2), "BPTF": result(NAN)}, "rRMSE") == ""
        assert comparison({"POND": result(2), "BPTF": result(1)}, "coverage") == ""


class TestWords:
    def test_what_is_hidden(self, ppi_twin):
        assert f"{ppi_twin.counts.n_observed // 5:,}" in what_is_hidden(ppi_twin.counts, "entry")
        words = what_is_hidden(ppi_twin.counts, "fibre")
        assert "plant – pollinator combinations, on every visit" in words

    def test_settings(self):
        assert settings_words(["UncleTC"], 5).startswith("Rank 5; all other settings")
        assert "HaLRTC has no rank" in settings_words(["UncleTC", "HaLRTC"], 5)


def test_the_script_gives_the_errors_of_the_page(small, monkeypatch, run_script):
    dataset = type("Own", (), {"counts": small})
    script = evaluate_script(load("mine"), ["NTF-CPD-KL", "HaLRTC"], rank=2, kind="fibre", trials=2)
    monkeypatch.setattr(uncletc.datasets, "load", lambda name: {"mine": dataset}[name])
    table = run_script(script).set_index("method")
    assert table["folds"].tolist() == [2, 2]
    for method in table.index:
        whole = compare.evaluate(
            small, METHODS[method], make_settings(method, 2, 0), kind="fibre", seed=0
        )
        assert table.loc[method, "rRMSE"] == pytest.approx(whole.values("rrmse")[:2].mean())

"""Results as tables and sentences."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import uncletc
from dashboard.methods.scores import (
    FIELDS,
    beside_words,
    cell_rows,
    cell_script,
    committed_words,
    comparison,
    curve_frame,
    evaluate_script,
    scores,
    settings_words,
    what_is_hidden,
)
from dashboard.methods.view import committed_rows
from dashboard.shared.text.scripts import load
from dashboard.work.orders import Cell, make_settings
from uncletc import METHODS, compare
from uncletc.paper import tables

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

    def test_nothing_yet(self):
        view = scores({}, "rRMSE")
        assert view.bars.empty
        assert view.insight == ""

    def test_one_fold_has_no_spread_and_unknown_folds_are_left_out(self):
        table = scores({"POND": result(1.0), "BPTF": result(1.0, NAN, 3.0)}, "rRMSE").table
        assert table["rRMSE"].tolist() == [1, 2]
        assert math.isnan(table["± rRMSE"][0])
        assert table["± rRMSE"][1] == pytest.approx(math.sqrt(2))


class TestMethodsBesideThePapers:
    def test_they_are_named(self):
        words = beside_words(["UncleTC", "LightGBM", "Main effects"])
        assert "Not in the paper: LightGBM, Main effects;" in words
        assert beside_words(["UncleTC", "POND"]) == ""

    def test_they_set_aside_what_the_folds_hide(self):
        assert make_settings("LightGBM", 2, 0, "fibre").held == "fibre"

    def test_results_from_before_a_score_was_known(self):
        old = {"trials": [{"rrmse": 1.0, "seconds": 1.0}]}
        view = scores({"POND": old, "UncleTC": result(1.0, 2.0)}, "log score")
        assert view.insight == ""


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

    def test_one_fold_is_a_first_look(self):
        assert "a first look" in comparison({"POND": result(2), "BPTF": result(1)}, "rRMSE")

    def test_nothing_to_compare(self):
        assert comparison({"POND": result(2)}, "rRMSE") == ""
        assert comparison({"POND": result(2), "BPTF": result(NAN)}, "rRMSE") == ""
        assert comparison({"POND": result(2), "BPTF": result(1)}, "coverage") == ""


class TestCell:
    rows = pd.DataFrame(
        {
            "table": "table-1",
            "reading": "exact",
            "column": "γ_Ω = .3",
            "method": ["UncleTC", "UncleTC", "POND"],
            "metric": ["MAE_λ", "MAE_p", "MAE_λ"],
            "mean": [0.1, 0.2, 0.9],
            "sd": [0.01, 0.1, 0.1],
            "n": 20,
        }
    )
    cell = Cell(table="table-1", column="γ_Ω = .3", method="UncleTC", seed=2)

    def test_beside_the_committed_mean_of_its_own_cell(self):
        values = {"values": {"MAE_λ": 0.15, "MAE_p": 0.3, "other": 1.0}}
        found = cell_rows(values, self.rows, self.cell).set_index("metric")
        assert list(found["value"]) == [0.15, 0.3, 1]
        assert list(found["mean"][:2]) == [0.1, 0.2]
        assert found.loc["MAE_λ", "verdict"].startswith("Higher than expected")
        assert found.loc["MAE_p", "verdict"].startswith("As expected")
        assert found.loc["other", "verdict"] == ""
        first, *_, last = found.itertuples()
        assert committed_words(first) == "Stored: 0.100 ± 0.010 (20 trials)"
        assert "No stored result" in committed_words(last)

    def test_lower_than_usual_and_nothing_committed(self):
        values = {"values": {"MAE_λ": 0.01}}
        (row,) = cell_rows(values, self.rows, self.cell).itertuples()
        assert row.verdict.startswith("Lower than expected")
        (row,) = cell_rows(values, self.rows.iloc[:0], self.cell).itertuples()
        assert math.isnan(row.mean)

    def test_curve(self):
        frame = curve_frame([(1, {"MAE_λ": 0.5, "MAE_p": 0.4}), [3, {"MAE_λ": 0.2}]])
        assert frame.to_dict("list") == {
            "iteration": [1, 1, 3],
            "metric": ["MAE_λ", "MAE_p", "MAE_λ"],
            "value": [0.5, 0.4, 0.2],
        }
        assert list(curve_frame([]).columns) == ["iteration", "metric", "value"]

    def test_script(self, run_script):
        cell = Cell(table="table-1", column="γ_Ω = .3", method="NTF-CPD-KL", seed=2)
        table = run_script(cell_script(cell))
        values = tables.run_cell("table-1", "γ_Ω = .3", "NTF-CPD-KL", 2)
        pd.testing.assert_frame_equal(table, cell_rows({"values": values}, committed_rows(), cell))


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

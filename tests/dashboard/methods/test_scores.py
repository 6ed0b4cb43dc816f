"""Held-out scores of methods as a table and a sentence."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest

from dashboard.methods.scores import (
    FIELDS,
    comparison,
    scores_table,
    what_is_hidden,
)

NAN = float("nan")


def result(*errors: float, **more: float) -> dict:
    trials = [dict.fromkeys(FIELDS.values(), e) | {"seconds": 2.0, "n": 10} | more for e in errors]
    return {"method": "x", "trials": trials}


class TestTable:
    results: ClassVar = {"POND": result(2.0, 4.0), "UncleTC": result(1.0, NAN, 3.0)}

    def test_means_spreads_and_seconds(self):
        table = scores_table(self.results, "rRMSE").set_index("method")
        assert table["rRMSE"].to_dict() == {"UncleTC": 2, "POND": 3}
        assert table.loc["POND", "± rRMSE"] == pytest.approx(np.std([2, 4], ddof=1))
        assert table.loc["POND", "seconds"] == 4
        assert table["folds"].to_dict() == {"UncleTC": 3, "POND": 2}
        assert math.isnan(scores_table({"POND": result(1.0)}, "rRMSE")["± rRMSE"][0])

    def test_the_best_is_first(self):
        assert list(scores_table(self.results, "deviance")["method"]) == ["UncleTC", "POND"]
        assert list(scores_table(self.results, "AUROC")["method"]) == ["POND", "UncleTC"]


class TestComparison:
    def test_counts_the_folds_it_is_ahead_in(self):
        words = comparison({"POND": result(2, 4, 3), "BPTF": result(1, 5, 1)}, "rRMSE")
        assert "**BPTF predicts hidden counts best**" in words
        assert "2.333, then POND with 3.000" in words
        assert "in 2 of 3 folds" in words
        assert "do not rely on the difference" in words


def test_what_is_hidden(ppi_twin):
    assert f"{ppi_twin.counts.n_observed // 5:,}" in what_is_hidden(ppi_twin.counts, "entry")
    assert "plant – pollinator" in what_is_hidden(ppi_twin.counts, "fibre")

"""The paper's tables as shown: what is chosen, what is counted, what is said."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.methods.view import (
    committed_rows,
    curve_finding,
    finding,
    methods_of,
    metrics_of,
    overall_finding,
    paper_rows,
    paper_script,
    paper_view,
    readings_of,
    titles,
)
from dashboard.methods.words import METRICS, REAL, metric_of, number, spread
from uncletc import PAPER_METHODS
from uncletc.paper import tables

NAN = float("nan")
COLUMNS = ["table", "reading", "column", "method", "metric", "mean", "sd", "median", "n"]
COLUMNS += ["seconds", "paper_mean", "paper_sd", "floor"]


def row(column, method, mean, *, metric="MAE_λ", table="table-1", reading="exact", **more):
    values = {"sd": 0.01, "median": mean, "n": 20, "seconds": 1.0}
    values |= {"paper_mean": NAN, "paper_sd": NAN, "floor": NAN} | more
    return {"table": table, "reading": reading, "column": column, "method": method} | {
        "metric": metric,
        "mean": mean,
        **values,
    }


@pytest.fixture
def summary() -> pd.DataFrame:
    rows = [
        row("γ_Ω = .05", "BPTF", 0.5, paper_mean=0.9, paper_sd=0.2, floor=0.02),
        row("γ_Ω = .05", "UncleTC", 0.1, paper_mean=0.12, paper_sd=0.03, floor=0.02),
        row("γ_Ω = .05", tables.KNOWN, 0.02),
        row("γ_Ω = .1", "UncleTC", 0.3, paper_mean=0.2, paper_sd=0.03, n=15),
        row("γ_Ω = .1", "BPTF", 0.25),
        row("γ_Ω = .1", tables.KNOWN, 0.01),
        row("γ_Ω = .05", "UncleTC", 0.4, metric="MAE_p"),
        row("γ_Ω = .05", "UncleTC", 0.07, reading="as in the public code"),
        row("SNR = 0 dB", "UncleTC", 0.3, table="table-2", paper_mean=0.31),
        row("SNR = 0 dB", "BPTF", 0.31, table="table-2"),
        row("F = 5", "UncleTC", 0.9, table="appendix-rank"),
        row("F = 5", "NTF-CPD-KL", 0.1, table="appendix-rank"),
    ]
    return pd.DataFrame(rows)[COLUMNS]


@pytest.fixture
def real() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "data": ["covid", "covid", "ppi"],
            "kind": ["entry", "fibre", "fibre"],
            "method": ["UncleTC", "UncleTC", "POND"],
            "metric": "rRMSE",
            "mean": [1.0, 2.0, 3.0],
            "sd": 0.1,
            "n": 5,
            "settings": "rank 5",
            "seconds": 3.0,
            "paper_mean": [1.1, 1.1, 3.3],
            "paper_sd": 0.2,
        }
    )


@pytest.fixture
def curves() -> pd.DataFrame:
    values = {("UncleTC", 1): 0.9, ("UncleTC", 2): 0.1, ("BPTF", 1): 0.2, ("BPTF", 2): 0.3}
    rows = [
        ("iterations", setting, method, "MAE_λ", t, value, 0.01, 20)
        for setting in ("Ω ⊂ Ξ", "Ω = Ξ")
        for (method, t), value in values.items()
    ]
    names = ["figure", "setting", "method", "metric", "iteration", "mean", "sd", "n"]
    return pd.DataFrame(rows, columns=names)


class TestRows:
    def test_real_data_become_a_table_with_readable_columns(self, summary, real):
        rows = paper_rows(summary, real)
        assert len(rows) == len(summary) + 3
        own = rows[rows["table"] == REAL]
        assert list(own["column"]) == [
            "COVID-19: single entries hidden",
            "COVID-19: whole places or pairs hidden",
            "Plant–pollinator: whole places or pairs hidden",
        ]
        assert list(own["mean"]) == [1, 2, 3]
        # The paper hid single entries only.
        assert own["paper_mean"].fillna(0).tolist() == [1.1, 0, 0]
        assert own["paper_sd"].fillna(0).tolist() == [0.2, 0, 0]

    def test_nothing_committed_is_an_empty_frame(self):
        rows = paper_rows(None, None)
        assert rows.empty
        assert titles(rows, None) == {}
        assert overall_finding(rows) == ""

    def test_what_there_is_to_choose(self, summary, real, curves):
        rows = paper_rows(summary, real)
        assert list(titles(rows, curves)) == [
            "table-1",
            "table-2",
            "appendix-rank",
            REAL,
            "iterations",
        ]
        assert methods_of(rows, "table-1") == ["UncleTC", "BPTF"]  # the registry's order, no floor
        assert metrics_of(rows, "table-1") == ["MAE_λ", "MAE_p"]
        assert readings_of(rows, "table-1") == ["exact", "as in the public code"]


class TestView:
    def view(self, summary, **changes):
        choice = {"table": "table-1", "metric": "MAE_λ", "methods": list(PAPER_METHODS)} | changes
        return paper_view(paper_rows(summary, None), **choice)

    def test_rows_in_the_order_of_columns_and_methods(self, summary):
        view = self.view(summary)
        assert list(zip(view.rows["column"], view.rows["method"], strict=True)) == [
            ("γ_Ω = .05", "UncleTC"),
            ("γ_Ω = .05", "BPTF"),
            ("γ_Ω = .1", "UncleTC"),
            ("γ_Ω = .1", "BPTF"),
        ]
        assert list(view.rows["mean"]) == [0.1, 0.5, 0.3, 0.25]
        assert view.floors == {"γ_Ω = .05": 0.02, "γ_Ω = .1": 0.01}
        assert view.limits == (0.01, pytest.approx(0.9))
        assert view.trials == "15 to 20"

    def test_table_has_ours_and_the_papers(self, summary):
        table = self.view(summary).table
        assert list(table.columns) == ["γ_Ω = .05", "γ_Ω = .1"]
        assert table.loc["UncleTC", "γ_Ω = .05"] == "0.100 ± 0.010 (0.120 ± 0.030)"
        assert table.loc["BPTF", "γ_Ω = .1"] == "0.250 ± 0.010"


class TestFinding:
    def test_counts_columns_and_names_who_is_ahead(self, summary):
        words = TestView().view(summary).insight
        assert "smallest error of λ in 1 of 2 columns**; ahead elsewhere: γ_Ω = .1, BPTF" in words
        assert "(0.250 against 0.300)" in words
        assert "printed in the paper in 1 of 2" in words

    def test_over_the_three_main_tables_only(self, summary):
        words = overall_finding(paper_rows(summary, None))
        assert "in 2 of 3 columns" in words
        assert "F = 5" not in words

    @pytest.mark.parametrize(
        ("metric", "best", "words"),
        [
            ("rRMSE", 0.1, "has the smallest relative error"),
            ("rRMSE", 0.9, "does not have the smallest relative error"),
            ("AUROC", 0.9, "has the largest AUROC"),
            ("AUROC", 0.1, "does not have the largest AUROC"),
        ],
    )
    def test_lower_or_higher_is_better(self, metric, best, words):
        rows = pd.DataFrame([row("a", "UncleTC", best), row("a", "POND", 0.5)])
        assert words in finding(rows, metric)

    def test_methods_that_failed_do_not_count(self):
        rows = pd.DataFrame([row("a", "UncleTC", 0.5), row("a", "POND", NAN)])
        assert finding(rows, "MAE_λ") == ""
        assert finding(rows.iloc[1:], "MAE_λ") == ""

    def test_nothing_is_ranked_where_no_side_is_better(self):
        rows = pd.DataFrame([row("a", "UncleTC", 0.5), row("a", "POND", 0.6)])
        for metric in ("λ̂/λ mean", "coverage"):
            assert finding(rows, metric) == ""


class TestCurves:
    def test_finding_is_about_the_last_iteration(self, curves):
        words = curve_finding(curves, figure="iterations", metric="MAE_λ")
        assert words.startswith("At the last iteration: ")
        assert "in 2 of 2 columns" in words
        early = curves[curves["iteration"] == 1]
        assert "in none of 2" in curve_finding(early, figure="iterations", metric="MAE_λ")


class TestWords:
    @pytest.mark.parametrize(
        ("value", "text"),
        [(0.01234, "0.012"), (9.5, "9.500"), (1234.5, "1,234"), (2e9, "2.00e+09")],
    )
    def test_numbers(self, value, text):
        assert number(value) == text

    def test_spread(self):
        assert spread(0.1, 0.02) == "0.100 ± 0.020"
        assert spread(0.1, NAN) == "0.100"
        assert spread(NAN, NAN) == "–"

    def test_every_metric_has_words_and_unknown_ones_their_name(self):
        assert all(m.words and m.axis and m.help for m in METRICS.values())
        assert metric_of("λ̂/λ sd").words == "λ̂/λ sd"
        assert metric_of("λ̂/λ sd").better is None


class TestScript:
    @pytest.mark.parametrize(
        ("table", "metric"), [("table-1", "MAE_λ"), ("table-4", "λ̂/λ sd"), (REAL, "rRMSE")]
    )
    def test_gives_the_rows_of_the_view(self, table, metric, run_script):
        chosen = {"table": table, "metric": metric, "reading": "exact"}
        view = paper_view(committed_rows(), methods=["UncleTC", "BPTF"], **chosen)
        assert not view.rows.empty
        pd.testing.assert_frame_equal(run_script(paper_script(view, **chosen)), view.rows)

"""The paper's tables as shown: what is chosen, what is counted, what is said."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.methods.view import (
    ORACLE,
    committed_rows,
    finding,
    metrics_of,
    overall_finding,
    paper_rows,
    paper_script,
    paper_view,
    readings_of,
    titles,
)
from dashboard.methods.words import METRICS, REAL, metric_of, number, spread
from uncletc.paper import tables

NAN = float("nan")


def row(column, method, mean, *, metric="MAE_λ", table="table-1", reading="exact", **more):
    values = {"sd": 0.01, "n": 20, "seconds": 1.0}
    values |= {"paper_mean": NAN, "paper_sd": NAN, "floor": NAN} | more
    named = {"table": table, "reading": reading, "column": column, "method": method}
    return named | {"metric": metric, "mean": mean} | values


@pytest.fixture
def summary() -> pd.DataFrame:
    return pd.DataFrame(
        [
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
    )


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
            "seconds": 3.0,
            "paper_mean": [1.1, 1.1, 3.3],
            "paper_sd": 0.2,
        }
    )


class TestRows:
    def test_real_data_become_a_table_with_readable_columns(self, summary, real):
        own = paper_rows(summary, real).query("table == @REAL")
        assert list(own["column"]) == [
            "COVID-19: single entries hidden",
            "COVID-19: whole places or pairs hidden",
            "Plant–pollinator: whole places or pairs hidden",
        ]
        assert list(own["mean"]) == [1, 2, 3]
        # The paper hid single entries only.
        assert own["paper_mean"].fillna(0).tolist() == [1.1, 0, 0]

    def test_nothing_committed_is_an_empty_frame(self):
        rows = paper_rows(None, None)
        assert rows.empty
        assert titles(rows) == {}
        assert overall_finding(rows) == ""

    def test_what_there_is_to_choose(self, summary, real):
        rows = paper_rows(summary, real)
        assert list(titles(rows)) == ["table-1", "table-2", "appendix-rank", REAL]
        assert metrics_of(rows, "table-1") == ["MAE_λ", "MAE_p"]
        assert readings_of(rows, "table-1") == ["exact", "as in the public code"]


class TestView:
    @pytest.fixture
    def view(self, summary):
        return paper_view(paper_rows(summary, None), table="table-1", metric="MAE_λ")

    def test_rows_in_the_order_of_columns_and_methods(self, view):
        assert list(zip(view.rows["column"], view.rows["method"], strict=True)) == [
            ("γ_Ω = 0.05", "UncleTC"),
            ("γ_Ω = 0.05", "BPTF"),
            ("γ_Ω = 0.1", "UncleTC"),
            ("γ_Ω = 0.1", "BPTF"),
        ]
        assert list(view.rows["mean"]) == [0.1, 0.5, 0.3, 0.25]
        assert view.trials == "15 to 20"
        assert view.printed

    def test_table_has_ours_the_papers_the_best_and_the_oracle(self, view):
        assert list(view.table.columns) == ["γ_Ω = 0.05", "γ_Ω = 0.1"]
        assert list(view.table.index) == ["UncleTC", "BPTF", ORACLE]
        assert view.table.loc["UncleTC", "γ_Ω = 0.05"] == "**0.100 ± 0.010** (0.120 ± 0.030)"
        assert view.table.loc["BPTF", "γ_Ω = 0.1"] == "**0.250 ± 0.010**"
        assert list(view.table.loc[ORACLE]) == ["0.020", "0.010"]

    def test_many_columns_become_rows(self):
        rows = [row(f"μ = {k}", "UncleTC", 0.1) for k in range(9)]
        view = paper_view(paper_rows(pd.DataFrame(rows), None), table="table-1", metric="MAE_λ")
        assert (list(view.table.columns), len(view.table)) == (["UncleTC"], 9)

    @pytest.mark.parametrize(
        ("table", "metric"), [("table-1", "MAE_λ"), ("table-4", "λ̂/λ sd"), (REAL, "rRMSE")]
    )
    def test_the_script_gives_its_rows(self, table, metric, run_script):
        chosen = {"table": table, "metric": metric, "reading": "exact"}
        view = paper_view(committed_rows(), **chosen)
        assert not view.rows.empty
        pd.testing.assert_frame_equal(run_script(paper_script(**chosen)), view.rows)


class TestFinding:
    def test_counts_columns_and_names_what_is_ahead(self, summary):
        words = paper_view(paper_rows(summary, None), table="table-1", metric="MAE_λ").insight
        assert "smallest error of λ in 1 of 2 columns**; ahead elsewhere: γ_Ω = 0.1, BPTF" in words
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
            ("coverage", 0.9, ""),  # neither side is better
            ("MAE_λ", NAN, ""),  # a method that failed does not count
        ],
    )
    def test_lower_or_higher_is_better(self, metric, best, words):
        found = finding(pd.DataFrame([row("a", "UncleTC", best), row("a", "POND", 0.5)]), metric)
        assert words in found
        assert bool(found) == bool(words)


def test_numbers_and_metrics_in_words():
    texts = ["0.012", "9.500", "1,234", "2.00e+09"]
    assert [number(value) for value in (0.01234, 9.5, 1234.5, 2e9)] == texts
    assert (spread(0.1, 0.02), spread(0.1, NAN), spread(NAN, NAN)) == (
        "0.100 ± 0.020",
        "0.100",
        "–",
    )
    assert all(m.words and m.axis and m.help for m in METRICS.values())
    assert metric_of("λ̂/λ sd").words == "λ̂/λ sd"
    assert metric_of("λ̂/λ sd").better is None

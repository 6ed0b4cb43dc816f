"""The paper's tables as shown: what is chosen, what is counted, what is said."""

import pandas as pd
import pytest

from dashboard.methods.view import ORACLE, paper_rows, paper_view
from uncletc.paper import tables

NAN = float("nan")


def row(column, method, mean, *, metric="MAE_λ", table="table-1", reading="exact", **more):
    values = {"sd": 0.01, "n": 20, "seconds": 1.0}
    values |= {"paper_mean": NAN, "paper_sd": NAN, "floor": NAN} | more
    named = {"table": table, "reading": reading, "column": column, "method": method}
    return named | {"metric": metric, "mean": mean} | values


@pytest.fixture
def rows(monkeypatch):
    summary = pd.DataFrame(
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
    real = summary.tail(1).assign(data="ppi", kind="fibre")
    monkeypatch.setattr(tables, "committed", {"summary": summary, "real": real}.__getitem__)
    return paper_rows()


class TestView:
    def test_table_has_ours_the_papers_the_best_and_the_oracle(self, rows):
        view = paper_view(rows, table="table-1", metric="MAE_λ")
        assert list(view.table.index) == ["UncleTC", "BPTF", ORACLE]
        best = view.table.loc["UncleTC", "γ_Ω = 0.05"].replace("\xa0", " ")
        assert best == "**0.100 ± 0.010** (0.120 ± 0.030)"
        assert view.table.loc["BPTF", "γ_Ω = 0.1"] == "**0.250\xa0±\xa00.010**"
        assert list(view.table.loc[ORACLE]) == ["0.020", "0.010"]


class TestFinding:
    def test_counts_columns_and_names_what_is_ahead(self, rows):
        words = paper_view(rows, table="table-1", metric="MAE_λ").insight
        assert "smallest error of λ in 1 of 2 columns**; ahead elsewhere: γ_Ω = 0.1, BPTF" in words
        assert "(0.250 against 0.300)" in words
        assert "printed in the paper in 1 of 2" in words

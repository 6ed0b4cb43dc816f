"""The paper's tables, small."""

import pandas as pd
import pytest

from uncletc.paper import tables

NAN = float("nan")


def row(column, method, mean, *, metric="MAE_λ", table="table-1", reading="exact", **more):
    values = {"sd": 0.01, "n": 20, "seconds": 1.0}
    values |= {"paper_mean": NAN, "paper_sd": NAN, "floor": NAN} | more
    named = {"table": table, "reading": reading, "column": column, "method": method}
    return named | {"metric": metric, "mean": mean} | values


@pytest.fixture
def results(monkeypatch):
    """Committed results of tables of the paper, and of real data."""
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
            row("γ_Ω = .05", "POND", 0.05, reading="as in the public code"),
            row("SNR = 0 dB", "UncleTC", 0.3, table="table-2", paper_mean=0.31),
            row("SNR = 0 dB", "BPTF", 0.31, table="table-2"),
            row("F = 5", "UncleTC", 0.9, table="appendix-rank"),
            row("F = 5", "NTF-CPD-KL", 0.1, table="appendix-rank"),
        ]
    )
    real = summary.tail(1).assign(data="ppi", kind="fibre")
    monkeypatch.setattr(tables, "committed", {"summary": summary, "real": real}.__getitem__)

"""The page "Methods" under Streamlit's own test runner, with small counts and quick methods."""

import pandas as pd
import pytest

from dashboard.shared.own_table import NAME
from tests.dashboard.looking import (
    ended,
    open_own,
    open_screen,
    own_cache,
    press,
    read_own,
    waiting,
    words,
)
from uncletc.paper import tables

QUICK = {"section": "These counts", "compare": ["NTF-CPD-KL", "BPTF"]}
PLANTS = QUICK | {"data": "Plant–pollinator"}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A cache of their own."""
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture
def results(monkeypatch):
    """Committed results of two tables, and of real data."""
    rows = [
        (table, reading, column, method, metric, mean, 0.01, 20, 1.0, mean + 0.1, 0.02)
        for table, column in (("table-1", "γ_Ω = .3"), ("table-2", "SNR = 0 dB"))
        for reading in (("exact", "as in the public code") if table == "table-1" else ("exact",))
        for method, metric, mean in (
            ("UncleTC", "MAE_λ", 0.1),
            ("POND", "MAE_λ", 0.5 if reading == "exact" else 0.05),
            (tables.KNOWN, "MAE_λ", 0.02),
            *([("UncleTC", "MAE_p", 0.2)] if table == "table-1" else []),
        )
    ]
    names = ["table", "reading", "column", "method", "metric", "mean", "sd", "n", "seconds"]
    summary = pd.DataFrame(rows, columns=[*names, "paper_mean", "paper_sd"])
    real = summary.head(1).assign(data="covid", kind="entry", metric="rRMSE")
    monkeypatch.setattr(tables, "committed", {"summary": summary, "real": real}.__getitem__)


@pytest.fixture
def open_page(quiet, results):  # noqa: ARG001, they prepare
    return lambda **address: open_screen("methods", **address)


class TestPaper:
    def test_the_finding_is_on_top_and_the_table_below(self, open_page):
        at = open_page()
        assert "Over Tables 1 to 3: **UncleTC has the smallest error of λ in 2 of 2" in words(at)
        best = at.table[0].value.loc["UncleTC", "γ_Ω = 0.3"].replace("\xa0", " ")
        assert best == "**0.100 ± 0.010** (0.200 ± 0.020)"
        assert "Simulated counts" in words(at)
        ran = open_page(table="Table 1: more or fewer counts, γ_Ω", reading="as in the public code")
        assert "ahead: γ_Ω = 0.3, POND (0.050 against 0.100)" in words(ran)


class TestTheseCounts:
    def test_results_appear_with_the_best_first(self, open_page):
        at = open_page(**PLANTS)
        assert "Simulated counts" in words(at)
        press(at, "compare_run")
        ended(at, lambda page: not waiting(page) and len(page.dataframe[0].value) == 2)
        table = at.dataframe[0].value
        assert table["log score"].is_monotonic_increasing
        assert f"**{table['method'][0]} predicts hidden counts best**" in words(at)
        assert "One fold only" in words(at)
        assert at.button(key="compare_run").disabled
        at.slider(key="folds").set_value(2).run()
        assert "Press **Compare** to run 2 of 2 methods." in words(at)


@pytest.mark.usefixtures("quiet")
class TestOwn:
    def test_an_own_table_is_compared(self):
        at = open_own("methods", read_own(), **QUICK, data=NAME)
        press(at, "compare_run")
        ended(at, lambda page: not waiting(page) and page.dataframe)
        assert "predicts hidden counts best" in words(at)
        code = "\n".join(block.value for block in at.code)
        assert "mine.csv (your own file)" in code

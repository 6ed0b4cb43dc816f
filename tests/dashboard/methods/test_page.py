"""The page "Methods" under Streamlit's own test runner, with small counts and quick methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.methods import paper as methods_paper
from dashboard.shared.own_table import NAME
from tests.dashboard.looking import (
    charts,
    ended,
    open_own,
    open_screen,
    own_cache,
    press,
    read_own,
    until,
    waiting,
    words,
)
from uncletc import METHODS
from uncletc.paper import tables

YOURS = "Your data"
QUICK = {"section": YOURS, "counts_of": "Plant–pollinator", "compare": ["NTF-CPD-KL", "BPTF"]}


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of their own."""
    with own_cache(tmp_path_factory.mktemp("cache")):
        yield


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, pd.DataFrame]]:
    """Committed results of two tables, one figure and real data; a test may take some away."""
    rows = [
        (table, reading, column, method, metric, mean, 0.01, mean, 20, 1.0, mean + 0.1, 0.02, floor)
        for table, column in (("table-1", "γ_Ω = .3"), ("table-2", "SNR = 0 dB"))
        for reading in (("exact", "as in the public code") if table == "table-1" else ("exact",))
        for method, metric, mean, floor in (
            ("UncleTC", "MAE_λ", 0.1, 0.02),
            ("POND", "MAE_λ", 0.5 if reading == "exact" else 0.05, 0.02),
            (tables.KNOWN, "MAE_λ", 0.02, None),
            ("UncleTC", "MAE_p", 0.2, None),
        )
    ]
    names = ["table", "reading", "column", "method", "metric", "mean", "sd", "median", "n"]
    summary = pd.DataFrame(rows, columns=[*names, "seconds", "paper_mean", "paper_sd", "floor"])
    summary["floor"] = summary["floor"].astype(float)
    curves = pd.DataFrame(
        [
            ("iterations", "Ω = Ξ", method, "MAE_λ", t, mean / t, 0.01, 20)
            for method, mean in (("UncleTC", 0.2), ("NTF-CPD-KL", 0.9))
            for t in (1, 2, 3)
        ],
        columns=["figure", "setting", "method", "metric", "iteration", "mean", "sd", "n"],
    )
    real = pd.DataFrame(
        [
            (method, metric, 2.0, 0.1, "ppi", "entry", "rank 5", 1.0, None, None)
            for method in ("UncleTC", "BPTF")
            for metric in ("rRMSE", "AUROC")
        ],
        columns=[*names[3:7], "data", "kind", "settings", "seconds", "paper_mean", "paper_sd"],
    ).assign(n=5, paper_mean=float("nan"), paper_sd=float("nan"))
    frames = {"summary": summary, "curves": curves, "real": real}

    def committed(name: str) -> pd.DataFrame:
        if name not in frames:
            raise FileNotFoundError(name)
        return frames[name]

    monkeypatch.setattr(tables, "committed", committed)
    methods_paper.committed.clear()
    methods_paper.committed_rows.clear()
    yield frames
    methods_paper.committed.clear()
    methods_paper.committed_rows.clear()


@pytest.fixture
def open_page(quiet: None, results: dict) -> Callable[..., AppTest]:  # noqa: ARG001, they prepare
    return lambda **address: open_screen("methods", **address)


class TestTables:
    def test_the_finding_is_on_top_and_counted(self, open_page):
        at = open_page()
        assert "Over Tables 1 to 3: **UncleTC has the smallest error of λ in 2 of 2" in words(at)
        assert at.selectbox(key="table").value == "table-1"
        (chart,) = charts(at)
        assert [trace["name"] for trace in chart["data"]] == ["here", "printed in the paper"]
        (table,) = at.table
        assert table.value.loc["UncleTC", "γ_Ω = .3"] == "0.100 ± 0.010 (0.200 ± 0.020)"
        assert "· simulated counts" in words(at)

    def test_choices_in_the_address(self, open_page):
        at = open_page(
            table="Table 1: more or fewer counts, γ_Ω",
            methods=["POND"],
            reading="as in the public code",
        )
        (chart,) = charts(at)
        assert chart["data"][0]["text"] == ["POND"]
        assert "ahead: γ_Ω = .3, POND (0.050 against 0.100)" in words(at)

    @pytest.mark.parametrize(
        "bad", [{"table": "x", "metric": "y", "methods": ["z"]}, {"section": "Re-run a cell"}]
    )
    def test_bad_links_do_no_harm(self, open_page, bad):
        at = open_page(**bad)
        assert at.selectbox(key="table").value == "table-1"

    def test_a_metric_that_the_next_table_lacks_is_forgotten(self, open_page):
        at = open_page(metric="MAE of p")
        assert at.selectbox(key="metric").value == "MAE_p"
        at.selectbox(key="table").set_value("real-data").run()
        assert not at.exception
        assert at.selectbox(key="metric").value == "rRMSE"
        assert len(charts(at)) == 1
        assert "· simulated counts" not in words(at)

    def test_a_figure_of_errors_over_iterations(self, open_page):
        at = open_page()
        at.selectbox(key="table").set_value("iterations").run()
        assert not at.exception
        (chart,) = charts(at)
        assert [trace["name"] for trace in chart["data"]] == ["UncleTC", "NTF-CPD-KL"]
        assert "At the last iteration: **UncleTC has the smallest" in words(at)

    def test_without_results_it_is_one_sentence(self, open_page, results):
        results.clear()
        at = open_page()
        assert "did not come with this copy" in words(at)
        assert charts(at) == []


class TestCompare:
    def test_results_appear_with_bars_and_table(self, open_page):
        at = open_page(**QUICK)
        assert "a quick look" in words(at)
        assert "Simulated counts" in words(at)
        assert at.multiselect(key="compare").value == ["NTF-CPD-KL", "BPTF"]
        press(at, "compare_run")
        ended(at, lambda page: not waiting(page) and charts(page))
        (chart,) = charts(at)
        (table,) = at.dataframe
        known = table.value.set_index("method")
        assert set(known.index) == {"NTF-CPD-KL", "BPTF"}
        assert sorted(chart["data"][0]["y"]) == ["BPTF", "NTF-CPD-KL"]
        best = known["rRMSE"].idxmin()
        assert chart["data"][0]["y"][0] == best
        assert f"**{best} predicts hidden counts best**" in words(at)
        assert "One fold only: a first look" in words(at)
        assert at.button(key="compare_run").disabled

        at.slider(key="folds").set_value(2).run()
        assert "Press **Compare** to run 2 of 2 methods." in words(at)
        press(at, "compare_run")
        ended(at, lambda page: not waiting(page) and charts(page))
        assert "in 2 of 2 folds" in words(at) or "in 1 of 2 folds" in words(at)

    def test_cancel_leaves_what_is_there(self, open_page):
        at = open_page(**QUICK | {"compare": ["UncleTC", "POND"]}, hide="whole places or pairs")
        press(at, "compare_run")
        assert waiting(at)
        press(at, "cancel-methods")
        until(at, lambda page: not waiting(page))
        assert "Press **Compare**" in words(at)

    def test_no_method(self, open_page):
        at = open_page(**QUICK)
        at.multiselect(key="compare").set_value([]).run()
        assert "Choose at least one method." in words(at)
        assert at.multiselect(key="compare").options == list(METHODS)


@pytest.mark.usefixtures("quiet", "results")
class TestOwn:
    ADDRESS = {"section": YOURS, "counts_of": NAME, "compare": ["NTF-CPD-KL", "BPTF"]}  # noqa: RUF012

    def test_without_a_table_it_says_where_to_bring_one(self, open_page):
        at = open_page(**self.ADDRESS)
        assert "There is no table of yours yet" in words(at)
        assert [link.proto.page for link in at.get("page_link")] == ["table"]

    def test_an_own_table_is_compared(self):
        at = open_own("methods", read_own(), **self.ADDRESS)
        press(at, "compare_run")
        ended(at, lambda here: not waiting(here) and charts(here))
        assert "predicts hidden counts best" in words(at)
        code = "\n".join(block.value for block in at.code)
        assert '"mine.csv"' in code
        assert "mine.csv (your own file)" in code

    def test_too_few_counts_for_folds(self):
        frame = pd.DataFrame({"a": ["x", "y"], "b": [1, 1], "n": [2, 3]})
        table = read_own(frame, modes=("a", "b"), count="n")
        at = open_own("methods", table, **self.ADDRESS)
        press(at, "compare_run")
        ended(at, lambda here: not waiting(here))
        assert "did not finish: n_folds must be at most the 2 observed entries" in words(at)

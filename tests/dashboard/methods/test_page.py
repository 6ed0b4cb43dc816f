"""The page "Methods" under Streamlit's own test runner, with small counts and quick methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.methods import paper as methods_paper
from dashboard.methods.files import sample_table
from dashboard.shared.service import service
from tests.dashboard.looking import (
    charts,
    ended,
    open_screen,
    own_cache,
    press,
    until,
    waiting,
    words,
)
from uncletc import METHODS, search, simulate, tables

TABLES, RERUN, YOURS = "The paper's tables", "Re-run a cell", "Your data"
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
        (table,) = at.dataframe
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
        "bad", [{"table": "x", "metric": "y", "methods": ["z"]}, {"section": "?"}]
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

    def test_methods_without_a_figure_there(self, open_page):
        at = open_page(methods=["HaLRTC"])
        assert "None of the chosen methods has a result here; UncleTC, POND do." in words(at)
        assert charts(at) == []

    def test_without_results_one_sentence_and_the_rest_works(self, open_page, results):
        results.clear()
        at = open_page()
        assert "did not come with this copy" in words(at)
        assert charts(at) == []
        at = open_page(section=RERUN)
        assert "Run this cell" in words(at)

    def test_without_some_of_the_results(self, open_page, results):
        del results["real"], results["curves"]
        at = open_page()
        assert len(at.selectbox(key="table").options) == 2


class TestCell:
    def test_runs_and_stands_beside_the_committed_mean(self, open_page):
        link = {"section": RERUN, "cell_column_table-1": "γ_Ω = .3", "cell_seed": "7"}
        at = open_page(**link)
        assert charts(at) == []
        press(at, "rerun")
        ended(at, lambda page: len(page.metric) == 2 and not waiting(page))
        text = words(at)
        assert "Stored: 0.100 ± 0.010 (20 trials)" in text
        assert "Lower than expected" in text
        assert "seed 7" in text
        (chart,) = charts(at)
        assert {trace["name"] for trace in chart["data"]} == {"MAE_λ", "MAE_p"}
        expected = tables.run_cell("table-1", "γ_Ω = .3", "UncleTC", 7)
        assert at.metric[0].value == f"{expected['MAE_λ']:.3f}"
        again = open_page(**link)  # another visitor sees it at once
        assert len(again.metric) == 2

    def test_other_tables_have_their_own_columns_and_methods(self, open_page):
        at = open_page(section=RERUN)
        at.selectbox(key="cell_table").set_value("appendix-wrong-rank").run()
        assert not at.exception
        columns = tables.TABLES["appendix-wrong-rank"].columns
        options = at.selectbox(key="cell_column_appendix-wrong-rank").options
        assert options == [each.label for each in columns]

    def test_cancel(self, open_page):
        at = open_page(**{"section": RERUN, "cell_method_table-1": "POND", "cell_seed": "99"})
        press(at, "rerun")
        assert waiting(at)
        press(at, "cancel-methods")
        until(at, lambda page: not waiting(page))
        assert "Press **Run this cell**" in words(at)
        assert not at.metric


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

    def test_nothing_runs_before_it_is_asked_for(self, open_page):
        at = open_page(**QUICK, rank="3")
        assert "Press **Compare** to run 2 of 2 methods." in words(at)
        assert not waiting(at)
        assert charts(at) == []

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

    def test_all_nine_can_be_chosen(self, open_page):
        at = open_page(**QUICK)
        assert at.multiselect(key="compare").options == list(METHODS)


class TestOwn:
    def upload(self, at: AppTest, data: bytes, name: str) -> AppTest:
        at.file_uploader(key="own_upload").set_value((name, data, "text/csv")).run()
        assert not at.exception
        return at

    @pytest.fixture
    def page(self, open_page):
        return open_page(section=YOURS, counts_of="Your own table", compare=["NTF-CPD-KL", "BPTF"])

    def test_says_what_is_wanted_and_where_it_stays(self, page):
        assert "missing, not zero" in words(page)
        assert "deleted then" in words(page)

    def test_example_is_read_and_compared(self, page):
        at = self.upload(page, sample_table().to_csv(index=False).encode(), "mine.csv")
        assert "720 counts** of 12 site × 10 species × 12 week" in words(at)
        press(at, "compare_run")
        ended(at, lambda here: not waiting(here) and charts(here))
        assert "predicts hidden counts best" in words(at)
        code = "\n".join(block.value for block in at.code)
        assert '"mine.csv"' in code
        assert "mine.csv (your own file)" in code
        # Another section and back: the file is still there, until it is forgotten.
        at.button_group(key="section").set_value(TABLES).run()
        at.button_group(key="section").set_value(YOURS).run()
        assert "uploaded earlier" in words(at)
        press(at, "own_forget")
        assert "uploaded earlier" not in words(at)
        assert charts(at) == []

    def test_what_is_forgotten_is_cancelled_and_dropped(self, page):
        at = self.upload(page, sample_table().to_csv(index=False).encode(), "mine.csv")
        at.multiselect(key="compare").set_value(["POND"]).run()
        press(at, "compare_run")
        at.multiselect(
            key=next(each.key for each in at.multiselect if each.key.startswith("own_attributes"))
        ).set_value([]).run()  # other counts of the same file
        press(at, "compare_run")
        jobs = [job for job in service()._jobs.values() if job.active]
        assert len({job.order.counts_digest for job in jobs}) == 2
        at.button_group(key="section").set_value(TABLES).run()
        at.button_group(key="section").set_value(YOURS).run()
        press(at, "own_forget")
        assert [job.state for job in jobs] == ["cancelled"] * 2
        assert not any(service().job(job.order) for job in jobs)
        until(at, lambda _: not service()._runs)
        digests = {job.order.counts_digest for job in jobs}
        kept = [path.name for path in Path(service()._private.name).iterdir()]
        assert not [name for name in kept if any(digest in name for digest in digests)]

    @pytest.mark.parametrize(
        ("data", "sentence"),
        [
            (b"", "cannot be read: x.csv must not be empty"),
            (b"a,b,n\nx,1,-2\n", "cannot be used: n must be at least 0; data row 1 is -2"),
            (b"a,b,n\nx,1,2\nx,1,3\n", "data rows 1 and 2 are both a x, b 1"),
            (b"a,b\nx,1\n", "Choose two or more columns"),
        ],
    )
    def test_mistakes_are_a_sentence(self, page, data, sentence):
        assert sentence in words(self.upload(page, data, "x.csv"))

    def test_too_few_counts_for_folds(self, page):
        at = self.upload(page, b"a,b,n\nx,1,2\ny,1,3\n", "x.csv")
        press(at, "compare_run")
        ended(at, lambda here: not waiting(here))
        assert "did not finish: n_folds must be at most the 2 observed entries" in words(at)


class TestStudy:
    def test_trials_of_a_search(self, open_page, tmp_path):
        pytest.importorskip("optuna")
        counts, _ = simulate((8, 6, 5), 2, observed=0.5, attributed=0.5, seed=1)
        path = tmp_path / "study"
        made = search.search(
            counts,
            "NTF-CPD-KL",
            path=path,
            settings=search.SearchSettings(n_trials=2),
            dataset="simulated counts",
        )
        at = open_page(**QUICK, rank="4")
        at.file_uploader(key="study_upload").set_value(("study", path.read_bytes(), "")).run()
        assert not at.exception
        assert "**NTF-CPD-KL** on `simulated counts`" in words(at)
        assert f"rRMSE {made.best_value[0]:.3f}" in words(at)
        assert len(charts(at)) == 1

    def test_no_box_without_optuna(self, open_page, monkeypatch):
        monkeypatch.setattr("dashboard.methods.study.find_spec", lambda _: None)
        at = open_page(**QUICK)
        assert not at.exception
        assert "install Optuna" in words(at)
        assert not [one for one in at.expander if "study" in one.label]

    def test_a_choice_left_to_the_counts_is_named(self, open_page, tmp_path):
        pytest.importorskip("optuna")
        counts, _ = simulate((8, 6, 5), 1, observed=0.5, attributed=0.5, seed=1)
        path = tmp_path / "study"
        fixed = {"rank": 1, "hidden": (), "max_iter": 2, "tol": 0.0}
        asked = search.SearchSettings(n_trials=1, space={"mu": [None]}, fixed=fixed)
        search.search(counts, "UncleTC", path=path, settings=asked)
        at = open_page(**QUICK, rank="4")
        at.file_uploader(key="study_upload").set_value(("study", path.read_bytes(), "")).run()
        assert not at.exception
        assert "mu from the counts" in words(at)

    def test_what_is_no_study(self, open_page):
        at = open_page(**QUICK)
        at.file_uploader(key="study_upload").set_value(("x", b"no study\n", "")).run()
        assert not at.exception
        assert "This study cannot be opened" in words(at)

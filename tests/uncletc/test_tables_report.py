"""Sums over trials, the words about them, and the real-data table on a stand-in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from uncletc import METHODS, CountTensor, datasets, simulate
from uncletc.compare import evaluate
from uncletc.paper.tables import ITERATIONS, KNOWN, PAPERS_OWN, TABLES, committed, results
from uncletc.paper.tables import real as real_runs
from uncletc.paper.tables.claims import claims, standings
from uncletc.paper.tables.pictures import draw
from uncletc.paper.tables.real import run_real
from uncletc.paper.tables.report import amount, note_machine, write_report
from uncletc.paper.tables.results import (
    CURVE_TRIALS,
    REAL_TRIALS,
    TRIALS,
    summarise,
    summarise_curves,
    summarise_real,
)

LABEL = "F = 5"
ONE = {
    "appendix-rank": replace(TABLES["appendix-rank"], columns=TABLES["appendix-rank"].columns[:1])
}


def trials(values: dict[str, Sequence[float]], metric: str = "MAE_λ") -> pd.DataFrame:
    """Rows of trials.csv for one cell."""
    rows = [
        ["appendix-rank", "exact", LABEL, method, metric, seed, value, 1.5]
        for method, line in values.items()
        for seed, value in enumerate(line)
    ]
    return pd.DataFrame(rows, columns=list(TRIALS.columns))


class TestSummary:
    def test_means_beside_the_paper_and_the_floor(self) -> None:
        found = summarise(
            trials(
                {"UncleTC": [0.1, 0.2, 0.6], "NTF-CPD-KL": [0.5, 0.7, np.nan], KNOWN: [0.1, 0.3]}
            ),
            ONE,
        ).set_index("method")
        ours = found.loc["UncleTC"]
        assert ours["mean"] == pytest.approx(0.3)
        assert ours["sd"] == pytest.approx(np.std([0.1, 0.2, 0.6], ddof=1))
        assert (ours["median"], ours["n"], ours["seconds"]) == (0.2, 3, 1.5)
        assert (ours["paper_mean"], ours["paper_sd"]) == (0.058, 0.007)
        assert (found["floor"] == 0.2).all()
        assert (found.loc["NTF-CPD-KL", "n"], found.loc["NTF-CPD-KL", "mean"]) == (2, 0.6)
        assert np.isnan(found.loc[KNOWN, "paper_mean"])

    def test_a_single_trial_has_no_spread(self) -> None:
        assert summarise(trials({"UncleTC": [0.1]}), ONE)["sd"].tolist() == [0.0]

    def test_the_floor_is_of_the_rate_alone(self) -> None:
        both = [trials({"UncleTC": [0.1], KNOWN: [0.05]}), trials({"UncleTC": [0.2]}, "MAE_p")]
        found = summarise(pd.concat(both), ONE).set_index(["method", "metric"])
        assert found.loc[("UncleTC", "MAE_λ"), "floor"] == 0.05
        assert np.isnan(found.loc[("UncleTC", "MAE_p"), "floor"])

    def test_curves_by_iteration(self) -> None:
        lines = np.arange(2)[:, None] + np.arange(len(ITERATIONS)) / 10
        rows = [
            ["iterations", "Ω = Ξ", "UncleTC", "MAE_λ", seed, " ".join(map(str, line)), 1.0]
            for seed, line in enumerate(lines)
        ]
        found = summarise_curves(pd.DataFrame(rows, columns=list(CURVE_TRIALS.columns)))
        assert found["iteration"].tolist() == list(ITERATIONS)
        np.testing.assert_allclose(found["mean"], lines.mean(axis=0))
        assert (found["n"] == 2).all()


class TestClaims:
    def test_ahead_everywhere(self) -> None:
        text = "\n".join(claims(trials({"UncleTC": [0.1, 0.1], "NTF-CPD-KL": [0.2, 0.3]}), ONE))
        assert "ahead of every other method in 1 of 1 cells" in text
        assert "; no other method has a smaller mean in any cell." in text

    def test_where_a_baseline_is_ahead_it_is_named_with_both_errors(self) -> None:
        data = trials({"UncleTC": [0.1, 0.1, 0.9], "NTF-CPD-KL": [0.2, 0.2, 0.2], KNOWN: [0.1] * 3})
        text = "\n".join(claims(data, ONE))
        assert "All tables: UncleTC is ahead of every other method in 0 of 1 cells" in text
        assert (
            "- appendix-rank, F = 5, exact: NTF-CPD-KL has 0.200, UncleTC 0.367 "
            "(medians 0.200 and 0.100; UncleTC is ahead in 2 of 3 trials)"
        ) in text
        assert "a few trials with large errors decide the mean" in text
        assert "little is left to gain" not in text

    def test_knowing_p_is_no_competitor(self) -> None:
        data = trials({"UncleTC": [0.2], "NTF-CPD-KL": [0.3], KNOWN: [0.1]})
        assert standings(data, ONE)["method"].tolist() == ["NTF-CPD-KL"]

    def test_a_near_tie_is_called_one(self) -> None:
        text = "\n".join(claims(trials({"UncleTC": [0.101], "NTF-CPD-KL": [0.1]}), ONE))
        assert "; almost equal" in text

    def test_tables_1_to_3_are_counted_by_cells(self) -> None:
        data = trials({"UncleTC": [0.2], "BPTF": [0.3], "POND": [0.1]})
        data["table"], data["column"] = "table-1", "γ_Ω = .1"
        other = trials({"UncleTC": [0.2], "BPTF": [0.3], "POND": [0.4]})
        other["table"], other["column"] = "table-2", "SNR = 0 dB"
        text = "\n".join(claims(pd.concat([data, other])))
        assert "smaller than that of every other method in 1 of 2 cells" in text

    def test_the_papers_own_algorithm_is_one(self) -> None:
        data = trials({"UncleTC": [0.2], PAPERS_OWN: [0.1]})
        text = "\n".join(claims(data, ONE))
        assert f"{PAPERS_OWN} has 0.100, UncleTC 0.200" in text

    def test_only_trials_of_both_count(self) -> None:
        data = trials({"UncleTC": [0.2, 9.0], "NTF-CPD-KL": [0.3]})
        assert standings(data, ONE)[["ours", "n"]].values.tolist() == [[0.2, 1.0]]


class TestReport:
    def fill(self, folder: Path) -> None:
        data = [
            trials({"UncleTC": [0.1, 0.2], "NTF-CPD-KL": [0.5, 0.6], KNOWN: [0.05, 0.05]}),
            trials({"UncleTC": [0.3, 0.4]}, "MAE_p"),
        ]
        TRIALS.append(folder, pd.concat(data).to_dict("records"))  # type: ignore[arg-type]
        line = " ".join("0.5" for _ in ITERATIONS)
        CURVE_TRIALS.append(
            folder,
            [
                dict(
                    zip(
                        CURVE_TRIALS.columns,
                        ["iterations", "Ω = Ξ", "UncleTC", metric, 0, line, 1.0],
                        strict=True,
                    )
                )
                for metric in ("MAE_p", "MAE_λ")
            ],
        )

    def test_ours_and_in_brackets_the_papers(self, tmp_path: Path) -> None:
        self.fill(tmp_path)
        note_machine(tmp_path)
        text = write_report(tmp_path).read_text("utf-8")
        assert "| UncleTC | MAE_λ | 0.150 ± 0.071 (0.058 ± 0.007) |" in text
        assert "| UncleTC | MAE_p | 0.350 ± 0.071 (0.059 ± 0.001) |" in text
        assert "| p known | MAE_λ | 0.050 ± 0.000 |" in text
        assert "### Exact (2 trials)" in text
        assert "- Processor: " in text
        assert "μ from the counts" in text
        assert "*simulated*" in text
        assert "## Where UncleTC is not ahead" in text
        assert "## Real counts" not in text
        assert len(pd.read_csv(tmp_path / "curves.csv")) == 2 * len(ITERATIONS)

    def test_the_scale_of_each_trial(self, tmp_path: Path) -> None:
        values = {"λ̂/λ": (0.5, 0.05), "p̂/p": (2.0, 0.1), "λ̂p̂/λp": (1.0, 0.02)}
        rows = [
            ["table-4", "exact", "γ_Ω = .3", "UncleTC", f"{name} {part}", 0, value, 1.0]
            for name, pair in values.items()
            for part, value in zip(("mean", "sd"), pair, strict=True)
        ]
        TRIALS.append(tmp_path, pd.DataFrame(rows, columns=list(TRIALS.columns)).to_dict("records"))  # type: ignore[arg-type]
        text = write_report(tmp_path).read_text("utf-8")
        assert (
            "| 1 | 0.50 ± 0.05, 10% (1.16 ± 0.04) | 2.00 ± 0.10, 5% (0.86 ± 0.08) | "
            "1.00 ± 0.02, 2% (0.99 ± 0.08) |"
        ) in text
        summary = pd.read_csv(tmp_path / "summary.csv").set_index("metric")
        assert summary.loc["λ̂/λ sd", "paper_mean"] == pytest.approx(0.034)

    def test_nothing_to_report(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="No trials in"):
            write_report(tmp_path)

    def test_pictures(self, tmp_path: Path) -> None:
        pytest.importorskip("matplotlib")
        self.fill(tmp_path)
        write_report(tmp_path)
        written = draw(tmp_path)
        assert [one.name for one in written] == ["appendix-rank.png", "iterations.png"]
        for one in written:
            assert one.read_bytes().startswith(b"\x89PNG")

    def test_without_matplotlib_one_sentence(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
        with pytest.raises(ModuleNotFoundError, match=r"pip install 'uncletc\[benchmark\]'"):
            draw(tmp_path)

    def test_amounts(self) -> None:
        assert amount(10.5, 0.25) == "10.500 ± 0.250"
        assert amount(np.nan, np.nan) == "–"


class TestCommitted:
    def test_unknown_names_and_absent_files(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(ValueError, match="name must be one of"):
            committed("tables")  # type: ignore[arg-type]
        monkeypatch.setattr(
            results, "__file__", str(tmp_path / "uncletc" / "paper" / "tables" / "results.py")
        )
        with pytest.raises(FileNotFoundError, match="No summary of the paper's tables"):
            committed("summary")
        installed = tmp_path / "uncletc" / "_data" / "paper"
        installed.mkdir(parents=True)
        (installed / "summary.csv").write_text("table,mean\ntable-1,0.5\n", "utf-8")
        assert committed("summary")["mean"].tolist() == [0.5]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> CountTensor:
    """Simulated counts in place of the real ones."""
    counts, _ = simulate(
        (8, 7, 6), 2, observed=0.8, attributed=0.9, similar=0.1, n_attributes=3, seed=5
    )
    monkeypatch.setattr(datasets, "available", lambda name: name == "ppi")
    monkeypatch.setattr(real_runs, "_counts", lambda _: counts)
    monkeypatch.setattr(real_runs, "RANKS", (1, 2))
    return counts


@pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
class TestReal:
    def test_folds_agree_with_the_protocol(self, stand_in: CountTensor, tmp_path: Path) -> None:
        said: list[str] = []
        run_real(tmp_path, methods=("NTF-CPD-KL", "HaLRTC"), say=said.append)
        assert "Real data 'covid' are not on this machine" in said[0]
        rows = REAL_TRIALS.read(tmp_path)
        assert set(rows["data"]) == {"ppi"}
        assert len(rows) == 2 * 2 * 5 * 4  # methods, kinds, folds, metrics
        kl = METHODS["NTF-CPD-KL"]
        for kind in ("entry", "fibre"):
            here = rows[(rows["method"] == kl.name) & (rows["kind"] == kind)]
            both: dict[int, Any] = {
                rank: evaluate(stand_in, kl, kl.settings(rank=rank), kind=kind)  # type: ignore[arg-type]
                for rank in (1, 2)
            }
            best = min(both, key=lambda rank: both[rank].values("rrmse", "validation")[0])
            assert set(here["settings"]) == {f"rank {best}"}
            for metric, name in (("rRMSE", "rrmse"), ("AUROC", "auroc"), ("MAE", "mae")):
                np.testing.assert_allclose(
                    here[here["metric"] == metric].sort_values("fold")["value"],
                    both[best].values(name),
                    rtol=1e-5,
                )

    def test_it_resumes_where_it_stopped(self, stand_in: CountTensor, tmp_path: Path) -> None:
        assert stand_in.simulated
        first: list[str] = []
        run_real(tmp_path, methods=("NTF-CPD-KL",), kinds=("entry",), folds=1, say=first.append)
        before = REAL_TRIALS.read(tmp_path)
        run_real(tmp_path, methods=("NTF-CPD-KL",), kinds=("entry",), folds=3)
        after = REAL_TRIALS.read(tmp_path)
        assert after["fold"].unique().tolist() == [0, 1, 2]
        pd.testing.assert_frame_equal(after[: len(before)], before)

    def test_the_section_ranks_methods(self, tmp_path: Path) -> None:
        rows = [
            ["covid", "entry", method, fold, metric, value + fold, "rank 5", 10, 2.0]
            for method, value in (("UncleTC", 1.0), ("BPTF", 0.5))
            for fold in range(3)
            for metric in ("rRMSE", "deviance", "MAE", "AUROC")
        ]
        REAL_TRIALS.append(
            tmp_path,
            pd.DataFrame(rows, columns=list(REAL_TRIALS.columns)).to_dict("records"),  # type: ignore[arg-type]
        )
        text = write_report(tmp_path).read_text("utf-8")
        assert "Smallest mean rRMSE: BPTF, 1.5. UncleTC is number 2 of 2, 2." in text
        assert (
            "| UncleTC | 2 ± 1 | 2 ± 1 | 2 ± 1 | 2 ± 1 | 3.52 ± 0.38 | 3 "
            "| rank 5, iteration 10 | 2 |"
        ) in text
        found = summarise_real(REAL_TRIALS.read(tmp_path)).set_index(["method", "metric"])
        assert found.loc[("BPTF", "rRMSE"), "paper_mean"] == 6.72
        assert np.isnan(found.loc[("BPTF", "MAE"), "paper_mean"])

"""The paper's tables as data, and single trials of their cells."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_numeric_dtype

from benchmarks import paper
from benchmarks._paper_tables import PAPERS_OWN, TABLES, Column
from benchmarks._paper_trials import measure, settings_for
from uncletc import PAPER_METHODS, FitSettings, Joint
from uncletc.paper.tables import KNOWN, committed

TINY = Column(
    label="tiny",
    simulation={"shape": (6, 6, 6), "rank": 2, "observed": 0.5, "attributed": 0.5, "similar": 0.2},
    fitted_rank=2,
    observed_in_code=0.8,
)


class TestDefinitions:
    @pytest.mark.parametrize(
        ("table", "method", "metric", "column", "figure"),
        [
            ("table-1", "POND", "MAE_λ", "γ_Ω = .05", (0.841, 0.146)),
            ("table-2", "UncleTC(Linear)", "MAE_p", "SNR = 10 dB", (0.109, 0.041)),
            ("appendix-wrong-rank", "NTF-CPD-KL", "MAE_λ", "F̂ = 12", (0.151, 0.069)),
            ("appendix-mu", "UncleTC", "MAE_p", "I = 25, γ_Ω = .1, μ = 100", (0.260, 0.038)),
        ],
    )
    def test_printed_figures(self, table, method, metric, column, figure):
        summary = committed("summary").set_index(["table", "column", "method", "metric"])
        found = summary.loc[(table, column, method, metric), ["paper_mean", "paper_sd"]]
        np.testing.assert_allclose(np.atleast_2d(found)[0], figure)

    def test_the_reading_of_the_public_code(self):
        first, second, third = TABLES["table-1"].columns
        read = [one.arguments("as in the public code")["observed"] for one in (first, second)]
        assert read == [0.132, 0.156]
        assert third.readings == ("exact",)
        with pytest.raises(ValueError, match=r"γ_Ω = \.3 has no reading 'as in the public code'"):
            third.arguments("as in the public code")

    def test_a_costly_method_has_a_quarter_of_the_trials(self):
        table = TABLES["appendix-mu"]
        assert [table.n_trials(PAPERS_OWN, n) for n in (None, 20, 5, 2)] == [5, 5, 2, 1]
        assert [table.n_trials("UncleTC", n) for n in (None, 2, 30)] == [20, 2, 30]
        assert TABLES["table-4"].n_trials("UncleTC", 20) == 10


class TestSettings:
    def test_defaults_but_for_rank_and_seed(self):
        column = TABLES["appendix-wrong-rank"].columns[0]
        for name, method in PAPER_METHODS.items():
            found = settings_for(name, column, 4)
            extra = {"rank": 3} if method.has_rank else {}
            if method.settings is FitSettings:
                extra["solver"] = Joint()
            assert found == method.settings(**extra, seed=4)

    def test_mu_reaches_both_solvers(self):
        column = TABLES["appendix-mu"].columns[0]
        assert settings_for("UncleTC", column, 0).mu == 100
        own = settings_for(PAPERS_OWN, column, 0)
        assert (own.mu, own.solver.name, own.max_iter) == (100, "bcd", 100)


def test_knowing_p_is_better():
    column = Column(label="", simulation={**TINY.simulation, "shape": (12, 12, 12)}, fitted_rank=2)
    known = measure(column, KNOWN, 1, "exact", "errors")[0]["MAE_λ"]
    assert known < 0.5 * measure(column, "NTF-CPD-KL", 1, "exact", "errors")[0]["MAE_λ"]


class TestCommitted:
    def test_unknown_name(self):
        with pytest.raises(ValueError, match=r"name must be one of .*'others'"):
            committed("others")

    @pytest.mark.parametrize(
        ("name", "file", "summarise"),
        [
            ("summary", "trials.csv", paper.summarise),
            ("curves", "curve-trials.csv", paper.summarise_curves),
            ("real", "real-trials.csv", paper.summarise_real),
        ],
    )
    def test_summaries_are_those_of_the_trials(self, name, file, summarise):
        expected = committed(name)
        key = [c for c in expected if not is_numeric_dtype(expected[c]) and c != "settings"]
        key += ["iteration"] if "iteration" in expected else []
        found = summarise(paper.read(paper.PRINTED.parent / file)).set_index(key).sort_index()
        expected = expected.set_index(key).sort_index().select_dtypes("number")
        pd.testing.assert_frame_equal(
            found[expected.columns], expected, rtol=1e-4, check_dtype=False
        )


def test_a_run_resumes_and_reports(tmp_path, monkeypatch, capsys):
    words = ["--only", "appendix-rank", "--trials", "1", "--jobs", "1", "--out", str(tmp_path)]
    methods = replace(TABLES["appendix-rank"], methods=("NTF-CPD-KL",), columns=(TINY,))
    monkeypatch.setattr(paper, "find", lambda _: methods)
    paper.main(words)
    trials = (tmp_path / "trials.csv").read_bytes()
    paper.main(words)
    assert (tmp_path / "trials.csv").read_bytes() == trials
    assert "NTF-CPD-KL | MAE_λ" in capsys.readouterr().out
    assert len(pd.read_csv(tmp_path / "summary.csv")) == 2  # both readings

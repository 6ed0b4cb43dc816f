"""The paper's tables and comparisons as shown: what is chosen, what is counted, what is said."""

import pytest

from dashboard.methods.view import (
    FIELDS,
    ORACLE,
    comparison,
    overall_finding,
    paper_rows,
    paper_view,
)

pytestmark = pytest.mark.usefixtures("results")


def test_table_has_ours_the_papers_the_best_and_the_oracle():
    view = paper_view(paper_rows(), table="table-1", metric="MAE_λ")
    assert list(view.table.index) == ["UncleTC", "BPTF", ORACLE]
    best = view.table.loc["UncleTC", "γ_Ω = 0.05"].replace("\xa0", " ")
    assert best == "**0.100 ± 0.010** (0.120 ± 0.030)"
    assert view.table.loc["BPTF", "γ_Ω = 0.1"] == "**0.250\xa0±\xa00.010**"
    assert list(view.table.loc[ORACLE]) == ["0.020", "0.010"]


def test_the_finding_counts_columns_and_names_what_is_ahead():
    words = overall_finding(paper_rows().query("table == 'table-1'"))
    assert "smallest error of λ in 1 of 2 columns**; ahead elsewhere: γ_Ω = 0.1, BPTF" in words
    assert "(0.250 against 0.300)" in words


def result(*errors):
    trials = [dict.fromkeys(FIELDS.values(), each) | {"seconds": 2.0, "n": 10} for each in errors]
    return {"method": "x", "trials": trials}


def test_a_comparison_counts_the_folds_it_is_ahead_in():
    words = comparison({"POND": result(2, 4, 3), "BPTF": result(1, 5, 1)})
    assert "**BPTF predicts hidden counts best**" in words
    assert "2.333, then POND with 3.000" in words
    assert "in 2 of 3 folds" in words
    assert "do not rely on the difference" in words

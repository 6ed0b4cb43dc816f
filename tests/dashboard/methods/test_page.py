"""The page "Methods" under Streamlit's own test runner, with small counts and quick methods."""

import pytest

from dashboard.methods.controls import _recommended
from dashboard.shared.sidebar.widgets import _load
from tests.dashboard.looking import ended, open_screen, press, waiting, words

QUICK = {"section": "These counts", "compare": ["NTF-CPD-KL", "BPTF"]}
PLANTS = QUICK | {"data": "Plant–pollinator"}


@pytest.fixture
def open_page(cache_of_the_file, results):  # noqa: ARG001, they prepare
    return lambda **address: open_screen("methods", **address)


def test_the_finding_is_on_top_and_the_table_below(open_page):
    at = open_page()
    assert "all run here: **UncleTC has the smallest error of λ in 2 of 3" in words(at)
    assert words(at).count("smallest error") == 1
    ran = open_page(table="Table 1: more or fewer counts, γ_Ω", reading="as in the public code")
    assert "0.050" in ran.table[0].value.loc["POND", "γ_Ω = 0.05"]


def test_results_for_these_counts_appear_with_the_best_first(open_page):
    at = press(open_page(**PLANTS), "compare_run")
    ended(at, lambda page: not waiting(page) and len(page.dataframe[0].value) == 2)
    table = at.dataframe[0].value
    assert table["log score"].is_monotonic_increasing
    assert f"**{table['method'][0]} predicts hidden counts best**" in words(at)
    assert "One fold only" in words(at)
    assert at.button(key="compare_run").disabled
    at.slider(key="folds").set_value(2).run()
    assert "Press **Compare** to run 2 of 2 methods." in words(at)


def test_recommended_is_the_model_of_the_pages_without_deaths():
    counts, settings = _recommended(_load("covid-twin"), "covid")
    assert (settings.rank, bool(settings.effects), counts.observations) == (15, True, ())

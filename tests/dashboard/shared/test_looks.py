"""Deaths as a second look: what a reader chooses, and what follows from it."""

from __future__ import annotations

import os

import pytest

from dashboard.covid.view import build_covid_view
from dashboard.shared.charts.answers import axis_title
from dashboard.shared.sidebar.roles import (
    PAPER,
    LookChoice,
    RoleChoice,
    looks_of,
    may_have_deaths,
    roles_of,
)
from dashboard.shared.text.scripts import load
from uncletc import Anchor, ConvergenceWarning, CountTensor, FitSettings, Look, datasets, fit


def test_words_and_stems_say_what_is_unusual() -> None:
    assert LookChoice().words == LookChoice().stem == ""
    usual = LookChoice(deaths=True, usual=True)
    assert usual.words == usual.stem == ""
    assert LookChoice(usual=True).words == "cases alone"
    changed = LookChoice(deaths=True, usual=True, lag=10, fatality=1.5)
    assert changed.words == "deaths 10 days later, fatality × 1.5"
    assert changed.stem == "deaths10x1.5"
    assert RoleChoice(looks=LookChoice(usual=True)).stem == "cases-alone"


def test_simulated_cases_have_deaths_and_plants_none() -> None:
    twin = datasets.load("covid-twin")
    assert may_have_deaths(twin)
    assert not may_have_deaths(datasets.load("ppi-twin"))
    once, again = (looks_of(twin, deaths=True) for _ in range(2))
    assert once.looks[0] is again.looks[0]
    assert once.looks[0].name == "deaths"


def test_scripts_add_them() -> None:
    roles = RoleChoice(looks=LookChoice(deaths=True, lag=10))
    text = load("covid", roles).text
    assert "with_deaths(" in text
    assert text.endswith("lag=10)")


@pytest.fixture(scope="module")
def twin() -> datasets.Dataset:
    return datasets.load("covid-twin")


def test_known_detection_is_the_scale_of_pages(twin: datasets.Dataset) -> None:
    truth = twin.truth
    assert truth is not None
    where = twin.counts.indices[::4]
    true = truth.rate[tuple(where.T)]
    look = Look("deaths", where, (0.5 * true).astype(int), known_detection=0.5)
    counts = twin.counts.with_looks(look)
    with pytest.warns(ConvergenceWarning):
        found = fit(counts, FitSettings(rank=2, max_iter=15))
    anchor = Anchor().scale(counts, found)
    assert anchor.absolute
    assert axis_title(anchor) == "p (anchored by data: deaths)"
    assert not Anchor(kind="best").scale(counts, found).statement.startswith("anchored by data")
    view = build_covid_view(twin.with_looks(look), found, Anchor())
    assert 0 < view.answers.total["share"] < 1


@pytest.mark.skipif(
    "UNCLETC_DATA_DIR" not in os.environ,
    reason="UNCLETC_DATA_DIR names no folder of public files",
)
class TestReal:
    def test_the_same_choice_is_the_same_counts(self) -> None:
        covid = datasets.load("covid")
        assert may_have_deaths(covid)
        once, again = (looks_of(covid, deaths=True) for _ in range(2))
        assert once.looks[0] is again.looks[0]
        roles = RoleChoice(looks=once)
        given: CountTensor = roles.of(covid.counts)
        assert given is roles.of(covid.counts)
        assert [look.name for look in given.looks] == ["deaths"]
        assert given.looks[0].counts.sum() > 100_000

    def test_the_papers_choice_has_cases_alone(self) -> None:
        covid = datasets.load("covid")
        assert roles_of(covid, PAPER).of(covid.counts) is covid.counts

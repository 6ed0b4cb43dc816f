"""What is said of a fit: its μ, joint effects, a poor fit, badges, and the report before it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.fit_status import badges, running
from dashboard.shared.fit_status.badges import Verdict, known_verdict, of_check, of_convergence
from dashboard.shared.fit_status.outcome import level_words, misfit_words, rank_words, totals_words
from uncletc import FitSettings, StopReason, fit, simulate
from uncletc.result.posterior import Doubt, Population


@pytest.fixture(scope="module")
def bare():
    """A fit whose counts found no network."""
    counts, _ = simulate((8, 8, 8), rank=1, observed=0.4, n_attributes=3)
    plain = fit(counts, FitSettings(rank=1, max_iter=60), callback=lambda i: i.iteration > 20)
    return replace(plain, network=replace(plain.network, layers=()), stop=StopReason.TOLERANCE)


@pytest.mark.parametrize(("expected", "warns"), [(10_761, False), (14_000, False), (17_100, True)])
def test_totals_that_differ_by_more_than_a_third_are_warned_of(expected, warns):
    """The plants' twin at μ 10000: 17,100 expected for 10,761 reported, and nothing was said."""
    words = totals_words(10_761.0, expected)
    assert ("17,100" in words and "10,761" in words) == warns
    assert bool(totals_words(10_761.0, 10_761.0**2 / expected)) == warns


def test_a_rank_that_changes_nothing_is_said_to_change_nothing(bare):
    flat = replace(bare, factors=tuple(np.ones((8, 2)) for _ in range(3)))
    beside = FitSettings(rank=2, effects=["mode 1 × mode 2"])
    assert rank_words(flat) == ""
    assert "another rank changes next to nothing" in rank_words(replace(flat, settings=beside))
    assert rank_words(replace(bare, settings=beside)) == ""


def test_a_poor_fit_says_how_poor_and_what_may_help(bare):
    assert misfit_words(replace(bare, dispersion=1.1)) == ""
    assert misfit_words(replace(bare, dispersion=float("nan"))) == ""
    surveyed = replace(bare, dispersion=1.1, survey_misfit="few events")
    assert "few events" in level_words(surveyed)
    assert misfit_words(surveyed) == ""
    said = misfit_words(replace(bare, dispersion=4.2, mu=2.0, likely_mu=2.0))
    assert "4.2 times" in said
    assert "rank" in said
    low = replace(bare, dispersion=1.1, residual_pattern=("place", "day"))
    assert "pattern over place × day" in misfit_words(low)
    chosen = replace(bare.settings, mu=2000.0)
    assert "Choose μ *estimated*" in misfit_words(replace(bare, dispersion=4.2, settings=chosen))


def test_a_page_warns_of_a_poor_fit_once_it_has_ended(bare):
    def page():
        import streamlit as st

        from dashboard.shared.fit_status.running import say_outcome

        say_outcome(st.session_state["found"], of="**A**: ")

    at = AppTest.from_function(page, default_timeout=30)
    at.session_state["found"] = replace(bare, dispersion=4.2)
    (warning,) = at.run().warning
    assert warning.value.startswith("**A**: **Poor fit")
    at.session_state["found"] = replace(bare, dispersion=4.2, stop=StopReason.CALLBACK)
    assert not at.run().warning


class TestBadges:
    @pytest.mark.parametrize(
        ("stop", "words"),
        [
            (StopReason.TOLERANCE, "Converged"),
            (StopReason.MAX_ITER, "Not converged"),
            (StopReason.CALLBACK, "Still fitting"),
        ],
    )
    def test_how_a_fit_ended(self, covid_fit, stop, words):
        assert of_convergence(replace(covid_fit, stop=stop), None).words.startswith(words)

    def test_a_poor_fit_is_not_called_good(self, covid_fit):
        poor = replace(covid_fit, stop=StopReason.TOLERANCE, dispersion=5.0)
        assert of_convergence(poor, Verdict("fits", "")).color == "orange"

    def test_a_level_that_visits_leave_open_is_said_first_and_never_green(self, bare):
        cells, drawn = np.zeros((1, 3), dtype=int), np.ones((1, 5), dtype=int)
        doubted = replace(bare, population=Population(cells, drawn, "Poisson", (Doubt.FLAT,)))
        said = of_convergence(doubted, Verdict("fits", ""))
        assert (said.words, said.color) == ("Level not determined", "orange")
        assert of_check(Verdict("fits", ""), level=False).color == "orange"
        assert Doubt.FLAT.value in level_words(doubted)
        assert not level_words(bare)

    def test_none_is_green_that_was_not_checked(self, monkeypatch, covid_twin, ppi_twin, covid_fit):
        """A verdict is of the same counts and settings alone, the signs and effects among them."""
        monkeypatch.setattr(badges.st, "session_state", {})
        settled = replace(covid_fit, stop=StopReason.TOLERANCE)

        def colors(dataset, found):
            verdict = known_verdict(dataset, found)
            return {of_convergence(found, verdict).color, of_check(verdict).color}

        assert colors(covid_twin, settled) == {"gray"}
        badges.remember_verdict(covid_twin, settled, Verdict("fits", "No clear misfit"))
        assert colors(covid_twin, settled) == {"green"}
        assert colors(ppi_twin, settled) == {"gray"}
        for change in ({"seed": 7}, {"rank": 3}, {"mu": 5.0}, {"max_iter": 600}):
            other = replace(settled, settings=replace(settled.settings, **change))
            assert colors(covid_twin, other) == {"gray"}
        monkeypatch.setattr(badges.st, "session_state", {})  # of another browser
        assert known_verdict(covid_twin, settled) is None


@pytest.mark.parametrize(
    ("drawn", "now", "again"), [(2, 2.9, 0), (2, 3.1, 1), (20, 29, 0), (20, 31, 1)]
)
def test_pictures_of_a_fit_come_less_often_the_longer_it_runs(monkeypatch, drawn, now, again):
    """Not by when it was chosen: after *Fit again* that may be an hour ago."""
    track = running._Track(since=-3600.0, estimate=("run", 1, 100.0 + drawn))
    monkeypatch.setattr(running, "monotonic", lambda: 100.0 + now)
    job = SimpleNamespace(run="run", estimates=2, began=100.0)
    assert running._newer(track, job) == bool(again)

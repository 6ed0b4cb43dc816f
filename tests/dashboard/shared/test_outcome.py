"""What a finished fit says about itself: its μ, joint effects, a poor fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.fit_status.outcome import (
    joint_effect_words,
    misfit_words,
    mu_words,
    number_of_mu,
    outcome_words,
)
from uncletc import Fit, FitSettings, StopReason, fit, simulate


@pytest.fixture(scope="module")
def plain() -> Fit:
    counts, _ = simulate((8, 8, 8), rank=1, observed=0.4, n_attributes=3)
    return fit(counts, FitSettings(rank=1, max_iter=60), callback=lambda i: i.iteration > 20)


@pytest.fixture(scope="module")
def bare(plain: Fit) -> Fit:
    """The same without a network, found by the counts or not."""
    assert plain.network is not None
    return replace(plain, network=replace(plain.network, layers=()), stop=StopReason.TOLERANCE)


class TestMu:
    def test_numbers_are_round(self):
        assert number_of_mu(2.137) == "2.1"
        assert number_of_mu(1234.0) == "1,200"
        assert number_of_mu(1e5) == "more than 10,000"

    def test_says_which_was_taken_from_the_counts(self, bare):
        assert mu_words(replace(bare, mu=2.1, likely_mu=2.1)) == "μ 2.1, from the counts."

    def test_says_how_it_grows_with_the_expected_count(self, bare):
        growing = replace(bare, mu=2.1, likely_mu=2.1, mu_power=0.4)
        assert mu_words(growing).startswith("μ 2.1 where 20 counts are expected, more where more")
        assert "less where more" in mu_words(replace(growing, mu_power=-0.4))

    def test_says_what_the_counts_prefer_to_the_chosen_one(self, bare):
        chosen = replace(bare, settings=replace(bare.settings, mu=2000.0), mu=2000.0)
        assert "prefer μ 2.1 to 2,000" in mu_words(replace(chosen, likely_mu=2.1))
        assert mu_words(replace(chosen, likely_mu=1900.0)) == ""
        assert mu_words(replace(chosen, likely_mu=1e5)) == ""  # both are nearly Poisson
        assert mu_words(replace(chosen, likely_mu=float("nan"))) == ""


class TestJointEffects:
    def test_counts_without_a_sign_of_them(self, bare):
        assert "one curve per attribute" in joint_effect_words(bare)

    def test_a_network_that_was_kept(self, bare):
        layers = (np.ones((3, 4)), np.ones(4), np.ones((4, 4)), np.ones(4), np.ones(4))
        kept = replace(bare, network=replace(bare.network, layers=layers))
        assert "network of 2 × 4 units was kept" in joint_effect_words(kept)
        assert joint_effect_words(kept) in outcome_words(kept)

    def test_many_counts_are_not_said_to_show_none(self, bare):
        many = replace(bare, observed_detection=np.ones(20_001))
        assert "on more than 20,000 counts no network is tried" in joint_effect_words(many)

    def test_nothing_where_nobody_asked(self, bare):
        assert joint_effect_words(replace(bare, network=None)) == ""
        linear = replace(bare, settings=replace(bare.settings, hidden=()))
        assert joint_effect_words(linear) == ""
        paper = replace(bare, settings=replace(bare.settings, solver="bcd"))
        assert joint_effect_words(paper) == ""


class TestMisfit:
    def test_a_good_fit_needs_no_words(self, bare):
        assert misfit_words(replace(bare, dispersion=1.1)) == ""
        assert misfit_words(replace(bare, dispersion=float("nan"))) == ""

    def test_says_how_poor_and_what_may_help(self, bare):
        words = misfit_words(replace(bare, dispersion=4.2, mu=2.0, likely_mu=2.0))
        assert "4.2 times" in words
        assert "rank" in words
        words = misfit_words(replace(bare, dispersion=4.2, mu=2000.0, likely_mu=2.1))
        assert "likeliest with μ 2.1" in words


def _page(found: Fit) -> AppTest:
    def page() -> None:
        import streamlit as st

        from dashboard.shared.fit_status.running import say_outcome

        say_outcome(st.session_state["found"], of="**A**")

    at = AppTest.from_function(page, default_timeout=30)
    at.session_state["found"] = found
    return at.run()


def test_a_page_warns_of_a_poor_fit_once_it_has_ended(bare):
    poor = replace(bare, dispersion=4.2, mu=2.0, likely_mu=2.0)
    (warning,) = _page(poor).warning
    assert warning.value.startswith("**A**: **A poor fit")
    at = _page(replace(poor, stop=StopReason.CALLBACK))
    assert not at.warning
    assert not at.caption

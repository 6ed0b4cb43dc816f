"""Badges of a fit: whether it converged, and what Model check says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.shared.fit_status import badges
from dashboard.shared.fit_status.badges import Verdict, known_verdict, of_check, of_convergence
from uncletc import StopReason


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (StopReason.TOLERANCE, "Converged"),
        (StopReason.MAX_ITER, "Not converged"),
        (StopReason.CALLBACK, "Still fitting: estimates so far"),
    ],
)
def test_how_a_fit_ended(covid_fit, stop, words):
    assert of_convergence(replace(covid_fit, stop=stop)).words == words


def test_a_poor_fit_is_not_called_good(covid_fit):
    poor = replace(covid_fit, stop=StopReason.TOLERANCE, dispersion=5.0)
    assert of_convergence(poor).color == "orange"


def test_a_verdict_is_known_for_the_same_counts_and_settings_alone(
    monkeypatch, covid_twin, ppi_twin, covid_fit, ppi_fit
):
    monkeypatch.setattr(badges, "_verdicts", lambda kept={}: kept)
    assert of_check(known_verdict(covid_twin, covid_fit)).words == "Not checked yet"
    badges.remember_verdict(covid_twin, covid_fit, Verdict("fits", "No clear misfit"))
    assert of_check(known_verdict(covid_twin, covid_fit)).words == "Model check: no clear misfit"
    assert known_verdict(ppi_twin, ppi_fit) is None
    other = replace(covid_fit, settings=replace(covid_fit.settings, seed=7))
    assert known_verdict(covid_twin, other) is None

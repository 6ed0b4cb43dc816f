"""How days are shown is said in one place."""

from __future__ import annotations

from datetime import date

import pytest

from dashboard.shared.text import words as days


@pytest.fixture
def other_format(monkeypatch):
    monkeypatch.setattr(days, "_FULL", "%d/%m/%Y")


def test_a_day_is_shown_in_the_chosen_format(other_format):  # noqa: ARG001
    assert days.day_text("2021-01-09") == "09/01/2021"


@pytest.mark.parametrize("label", ["visit 3", "40", "2021", "2021-1-9"])
def test_other_labels_stay_as_they_are(label, other_format):  # noqa: ARG001
    assert not days.is_day(label)
    assert days.day_text(label) == label


def test_two_days_without_their_year():
    assert days.days_text(date(2015, 6, 9), date(2015, 6, 22)) == "9 Jun to 22 Jun"

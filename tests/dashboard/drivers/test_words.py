"""Attributes and their effects in words."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.drivers.words import (
    about_words,
    axis_title,
    importance_words,
    in_unit,
    number,
    strength_words,
    two_names,
)
from uncletc.datasets import AttributeInfo

GAP = AttributeInfo(minimum=0.8, maximum=100, unit="% of tests positive", explanation="A share.")
PRICES = AttributeInfo(minimum=261.6, maximum=264.9, unit="index", cumulative=True)


@pytest.mark.parametrize(
    ("value", "text"),
    [(14932031, "14,900,000"), (0.8108, "0.811"), (0, "0"), (-61.6, "-61.6"), (30.0, "30")],
)
def test_numbers_have_three_digits_and_no_exponent(value, text):
    assert number(value) == text


def test_axes_have_units_or_say_that_there_is_none():
    assert axis_title("testing gap", GAP) == "testing gap (% of tests positive)"
    assert axis_title("wind", AttributeInfo(maximum=12.0)) == "wind"
    assert axis_title("wind", AttributeInfo()) == "wind, from smallest (0) to largest (1)"


def test_an_attribute_is_explained_with_its_range():
    said = about_words("testing gap", GAP)
    assert said == "**testing gap**: A share. It goes from 0.8 to 100 % of tests positive."
    assert "**cumulative**" in about_words("inflation", PRICES)
    assert about_words("wind", AttributeInfo()) == "**wind**."


def test_scaled_values_are_said_in_the_unit():
    assert in_unit(GAP, 0, 0.5) == "0.8 to 50.4 % of tests positive"
    assert two_names(AttributeInfo(levels=("weekday", "weekend"))) == ("weekday", "weekend")
    assert two_names(AttributeInfo(minimum=2, maximum=7)) == ("2", "7")


@pytest.mark.parametrize(
    ("ratio", "called"),
    [(1.04, "no effect to speak of"), (1.3, "a weak"), (2, "a moderate"), (9, "a strong")],
)
def test_effects_are_called_what_they_are(ratio, called):
    assert called in strength_words("Everywhere", ratio)


def bars(*shares: float) -> pd.DataFrame:
    return pd.DataFrame(
        {"attribute": ["gap", "beds"][: len(shares)], "rise": shares, "sd": 0.01, "share": shares}
    )


def test_a_small_rise_is_called_weak():
    weak = importance_words(bars(0.07, 0.03))
    assert "both are weak: shuffling them raises the misfit by 7% and 3% only." in weak
    assert "weak" not in importance_words(bars(0.5, 0.03))
    assert "no attribute" in importance_words(bars(0.005))

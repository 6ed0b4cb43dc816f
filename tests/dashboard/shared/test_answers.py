"""Answers in words: what they say on which scale, and when a ranking says nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.charts.answers import (
    alike,
    amount,
    answer,
    chance_words,
    color_limits,
    for_display,
    open_scale,
    percent,
    rank_words,
    share_words,
    told_apart,
)
from uncletc import Scale

ABSOLUTE = Scale(1.0, "anchored by data: deaths", True)
STATED = Scale(1.0, "anchored: mean detection is 25%", True)
RELATIVE = Scale(1.0, "relative: the median p is 1", False)
ROW = {
    "reported": 35497.0,
    "rate": 61000.0,
    "rate_low": 48000.0,
    "rate_high": 79000.0,
    "detection": 0.6,
    "detection_low": 0.5,
    "detection_high": 0.7,
    "share": 35497 / 61000,
    "share_low": 35497 / 79000,
    "share_high": 35497 / 48000,
}
FREE = {name: value for name, value in ROW.items() if not name.startswith("share")}


def test_a_place_in_a_sentence():
    assert answer(ROW, ABSOLUTE) == (
        "Reported **35,497**; estimated true **61,000** (48,000–79,000), **58 % counted** "
        "(45–74 %), by what deaths say."
    )
    assert answer(ROW, STATED).endswith("if mean detection is 25%.")
    assert answer(ROW, ABSOLUTE, so_far=True).startswith("So far: reported")


def test_a_relative_scale_has_no_true_cases():
    said = answer(FREE, RELATIVE)
    assert "relative λ **61,000** (48,000–79,000)" in said
    assert "true" not in said
    assert "counted**" not in said
    assert "Scale of p" in open_scale(RELATIVE)
    assert open_scale(ABSOLUTE) == ""


def test_a_fit_that_expects_far_less_or_more_says_so():
    row = {"reported": 100.0, "rate": 50.0, "detection": 1.2}
    assert "expects 60 counts here" in chance_words(row, RELATIVE)
    assert "far above it" in chance_words(row, RELATIVE)
    assert "far below it" in chance_words(row | {"rate": 100.0}, RELATIVE)
    assert chance_words(row | {"rate": 80.0}, RELATIVE) == ""
    assert chance_words(row, STATED) == ""


def test_rounding_never_says_less_than_was_reported():
    row = ROW | {"rate_low": 35497.0}
    assert "(35,497–79,000)" in answer(row, ABSOLUTE)


def ranks(ranges: list[tuple[int, int]]) -> pd.DataFrame:
    table = pd.DataFrame(ranges, columns=["rank_low", "rank_high"])
    return table.assign(rank=range(1, len(ranges) + 1))


def test_ranks_are_ranges():
    assert "between number 3 and 9 of 20" in rank_words(
        {"rank": 4, "rank_low": 3, "rank_high": 9}, 20
    )
    assert "cannot be told" in rank_words({"rank": 4, "rank_low": 1, "rank_high": 20}, 20)
    assert "number 4 of 20" in rank_words({"rank": 4}, 20)


def test_places_whose_ranks_are_open_are_not_ranked():
    apart = told_apart(ranks([(1, 10)] * 10), "places")
    assert not apart.ranking
    assert "These places cannot be told apart" in apart.words
    clear = told_apart(ranks([(k, k + 1) for k in range(1, 11)]), "places")
    assert clear.ranking
    assert "known to within 1 of 10" in clear.words
    assert told_apart(pd.DataFrame({"rank": [1, 2]}), "places").ranking


def test_a_table_to_read_has_intervals_as_text():
    table = pd.DataFrame([ROW | {"state": "Texas", "rank_low": 3, "rank_high": 9}])
    shown = for_display(table, ["state"], ABSOLUTE)
    assert len(list(shown)) == 9
    assert shown["true, λ: 90 %"].item() == "48,000–79,000"
    assert shown["rank by p"].item() == "3–9"
    assert "relative λ" in for_display(pd.DataFrame([FREE]), [], RELATIVE)


def test_numbers_have_three_digits_and_shares_two():
    assert [amount(value) for value in (61234, 30_382_861, 4.2, 0)] == [
        *("61,200", "30,400,000", "4.2", "0")
    ]
    assert [percent(share) for share in (0.583, 0.0042, 0)] == ["58", "0.42", "0"]


def test_those_listed_may_be_alike():
    assert alike(ranks([(1, 5), (2, 6)]))
    assert not alike(ranks([(1, 2), (3, 6)]))
    assert "p does not" in share_words(late=True)
    assert share_words(late=False) in share_words(late=True)


def test_colours_hold_all_but_the_ends_and_what_is_alike_looks_alike():
    assert color_limits(np.linspace(0, 1, 101)) == pytest.approx((0.02, 0.98))
    low, high = color_limits([0.5, 0.505])
    assert low < 0.46 < 0.54 < high

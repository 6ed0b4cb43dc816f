"""Answers in words: what they say on which scale, and when a ranking says nothing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.charts.answers import (
    amount,
    answer,
    axis_title,
    bars_of,
    color_limits,
    findings,
    for_display,
    not_distinguishable,
    open_scale,
    percent,
    rank_precision,
    rank_words,
    share_words,
)
from uncletc import Scale
from uncletc.estimates.sums import Summed, Sums

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
    assert answer(ROW, ABSOLUTE, "infections") == (
        "Reported **35,497**; estimated infections **61,000** (48,000–79,000); **58 % detected** "
        "(90 % interval 45–74 %), calibrated to deaths."
    )
    assert answer(ROW, STATED).endswith("if mean detection is 25 %.")
    assert "(35,497–79,000)" in answer(ROW | {"rate_low": 35497.0}, ABSOLUTE)  # never below
    assert answer(ROW, ABSOLUTE, so_far=True).startswith("So far: reported")


def test_a_relative_scale_has_no_true_cases():
    said = answer(FREE, RELATIVE, "infections")
    assert "**61,000** (48,000–79,000) expected at median detection" in said
    assert "infections" not in said
    assert "assumed detection level" in open_scale(RELATIVE)
    assert open_scale(ABSOLUTE) == ""
    assert axis_title(RELATIVE) == "relative p (median = 1)"
    assert "calibrated to deaths" in axis_title(ABSOLUTE)


def ranks(ranges: list[tuple[int, int]]) -> pd.DataFrame:
    table = pd.DataFrame(ranges, columns=["rank_low", "rank_high"])
    return table.assign(rank=range(1, len(ranges) + 1))


def test_ranks_are_ranges():
    assert "rank 3–9 of 20" in rank_words({"rank": 4, "rank_low": 3, "rank_high": 9}, 20)
    assert "is open" in rank_words({"rank": 4, "rank_low": 1, "rank_high": 20}, 20)
    assert "rank 4 of 20" in rank_words({"rank": 4}, 20)


def test_how_precise_ranks_are():
    vague = rank_precision(ranks([(1, 10)] * 10), "places")
    assert "Almost any" in vague
    clear = rank_precision(ranks([(k, k + 1) for k in range(1, 11)]), "places")
    assert "1 positions wide (of 10)" in clear
    assert rank_precision(pd.DataFrame({"rank": [1, 2]}), "places") == ""


def test_an_order_that_is_not_distinguishable_has_one_line():
    assert "among these 2 is not" in not_distinguishable(ranks([(1, 5), (2, 6)]))
    assert not_distinguishable(ranks([(1, 2), (3, 6)])) == ""


def test_no_difference_in_detection_is_one_sentence():
    dataset = SimpleNamespace(counts=SimpleNamespace(n_attributes=1))
    precision = rank_precision(ranks([(1, 2), (1, 2)]), "interactions")
    same = findings(dataset, precision, [0.5, 0.501], "A visit", "interactions")
    assert same["insight"].count(".") == 1
    assert "no difference in detection" in same["insight"]
    assert same["caution"] is None
    other = findings(dataset, precision, [0.1, 0.3], "A visit", "interactions")
    assert "times** as likely" in other["insight"]
    assert (
        "unlikely" in findings(dataset, precision, np.geomspace(1e-3, 1), "A visit", "x")["caution"]
    )


def test_bars_leave_out_how_uncertain_the_level_is():
    common, own = np.log(2) * np.array([-1.0, 1.0]), np.log(1.1) * np.array([1.0, -1.0])
    p = Summed(
        values=np.array([[0.2, 0.4, 0.0]] * 2),
        log_deviation=np.array([common + own, common - own, common]),
        independent=np.zeros(3),
        inflation=(1.0, 0.0),
    )
    sums = Sums(
        entries=np.array([1, 1, 0]),
        attributed=np.array([1.0, 1.0, 0.0]),
        reported=np.ones(3),
        rate=p,
        detection=p,
        scale=ABSOLUTE,
    )
    table = pd.concat([sums.table(), sums.ranks()], axis=1)
    bars = bars_of(table, sums, ABSOLUTE, label=list("abc"), note=["", "", ""])
    assert bars["label"].tolist() == ["b", "a"]  # no bar without p
    half = 1.6448536 * np.log(1.1)
    assert np.log(bars["high"] / bars["value"]).to_numpy() == pytest.approx([half, half])
    assert (bars["level_low"] < 0.5 * bars["low"]).all()
    assert (bars["level_high"] <= 1).all()


def test_a_table_to_read_has_intervals_as_text():
    table = pd.DataFrame([ROW | {"state": "Texas", "rank_low": 3, "rank_high": 9}])
    shown = for_display(table, ["state"], ABSOLUTE, "infections")
    assert len(list(shown)) == 9
    assert shown["estimated infections (90 % interval)"].item() == "48,000–79,000"
    assert shown["rank by p"].item() == "3–9"
    assert "relative λ" in for_display(pd.DataFrame([FREE]), [], RELATIVE)


def test_numbers_have_three_digits_and_shares_two():
    assert [amount(value) for value in (61234, 30_382_861, 4.2, 0)] == [
        *("61,200", "30,400,000", "4.2", "0")
    ]
    assert [percent(share) for share in (0.583, 0.0042, 0)] == ["58", "0.42", "0"]
    assert share_words(late=False) in share_words(late=True)


def test_colours_hold_all_but_the_ends_and_what_is_alike_looks_alike():
    assert color_limits(np.linspace(0, 1, 101)) == pytest.approx((0.02, 0.98))
    low, high = color_limits([0.5, 0.505])
    assert low < 0.46 < 0.54 < high

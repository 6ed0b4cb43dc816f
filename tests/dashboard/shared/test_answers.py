"""Answers in words: what they say on which scale, and when a ranking says nothing."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from dashboard.shared.charts import answers
from uncletc import Scale
from uncletc.estimates.sums import Summed, Sums
from uncletc.result.ensemble import Shifts

ABSOLUTE = Scale(1.0, "calibrated to deaths", True)
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
    assert answers.answer(ROW, ABSOLUTE, "infections") == (
        "Reported **35,497**; estimated infections **61,000** (48,000–79,000); "
        "**58\u00a0% reported** (90 % interval 45–74\u00a0%), calibrated to deaths."
    )
    assert answers.answer(ROW, STATED).endswith("if mean detection is 25 %.")
    assert "(35,497–79,000)" in answers.answer(ROW | {"rate_low": 35497.0}, ABSOLUTE)  # never below
    assert answers.answer(ROW, ABSOLUTE, so_far=True).startswith("So far: reported")


def test_a_relative_scale_has_no_true_cases():
    said = answers.answer(FREE, RELATIVE, "infections")
    assert "61,000" not in said  # it would be the reported ones at another detection
    assert "infections" not in said
    assert "p is **0.6 times** the median (0.5–0.7)" in said
    ends = {"detection": 1.2, "detection_low": 0.911, "detection_high": 1.56}
    assert "**1.2 times** the median (0.9–1.6)" in answers.answer(FREE | ends, RELATIVE)
    alike = answers.answer(FREE | {"detection": 0.998}, RELATIVE)
    assert "p is **equal to** the median" in alike
    total = answers.answer(FREE, RELATIVE, "infections", total=True)
    assert total == "Reported **35,497**. Absolute totals need an assumed detection level."
    assert answers.answer(ROW, ABSOLUTE, total=True) == answers.answer(ROW, ABSOLUTE)
    assert answers.axis_title(RELATIVE) == "relative p (median entry = 1)"
    assert "calibrated to deaths" in answers.axis_title(ABSOLUTE)


def test_an_interval_without_an_end_is_not_shown():
    rows = pd.DataFrame([ROW, ROW | {"share_high": np.nan}])
    shown = answers.for_display(rows, [], ABSOLUTE, "infections")
    assert shown["% reported (90 % interval)"].tolist() == ["44.9–74.0", ""]


def ranks(ranges):
    table = pd.DataFrame(ranges, columns=["rank_low", "rank_high"])
    return table.assign(rank=range(1, len(ranges) + 1))


def test_ranks_are_ranges():
    assert "rank 3–9 of 20" in answers.rank_words({"rank": 4, "rank_low": 3, "rank_high": 9}, 20)
    assert "not determined" in answers.rank_words({"rank": 4, "rank_low": 1, "rank_high": 20}, 20)
    assert "rank 4 of 20" in answers.rank_words({"rank": 4}, 20)


def test_an_order_is_not_distinguishable_where_all_ranges_overlap():
    assert answers.not_distinguishable(ranks([(1, 5), (2, 6)]))
    assert not answers.not_distinguishable(ranks([(1, 2), (3, 6)]))


def test_no_difference_in_detection_is_one_sentence():
    dataset = SimpleNamespace(counts=SimpleNamespace(n_attributes=1))
    precision = answers.rank_precision(ranks([(1, 2), (1, 2)]), ABSOLUTE, "interactions")
    same = answers.findings(dataset, precision, [0.5, 0.501], "A visit", "interactions")
    assert same["insight"].count(".") == 1
    assert "no difference in detection" in same["insight"]
    assert same["caution"] is None
    other = answers.findings(dataset, precision, [0.1, 0.3], "A visit", "interactions")
    assert "times** as likely" in other["insight"]
    wide = answers.findings(dataset, precision, np.geomspace(1e-3, 1), "A visit", "x")
    assert "unlikely" in wide["caution"]


def test_an_order_is_undecided_where_almost_any_place_could_be_in_either_half():
    assert answers.undecided(ranks([(1, 4)] * 4), ABSOLUTE)
    assert not answers.undecided(ranks([(1, 1), (2, 2), (3, 3), (4, 4)]), ABSOLUTE)
    assert not answers.undecided(ranks([(1, 4)] * 4)[[]], ABSOLUTE)  # without intervals


def test_of_relative_p_it_counts_the_intervals_that_leave_out_1():
    ends = {"detection_low": [1.1, 1.2, 0.96, 0.5], "detection_high": [1.9, 2.0, 1.04, 0.9]}
    table = ranks([(1, 4)] * 4).assign(**ends)
    assert answers.rank_precision(table, RELATIVE, "sites").startswith(
        "For 75 % of sites, p is clearly above or below the median p; a typical rank"
    )
    assert not answers.undecided(table, RELATIVE)
    assert answers.undecided(table.assign(detection_low=0.9, detection_high=1.1), RELATIVE)
    assert "below the median of these sites.**" in answers.rank_precision(table, ABSOLUTE, "sites")


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
        shifts=Shifts(np.zeros(1), -common),
    )
    table = pd.concat([sums.table(), sums.ranks()], axis=1)
    bars = answers.bars_of(table, sums, ABSOLUTE, label=list("abc"), note=["", "", ""])
    assert bars["label"].tolist() == ["b", "a"]  # no bar without p
    half = 1.6448536 * np.log(1.1)
    assert np.log(bars["high"] / bars["value"]).to_numpy() == pytest.approx([half, half])
    assert (bars["level_low"] < 0.5 * bars["low"]).all()
    assert (bars["level_high"] <= 1).all()
    free = Scale.relative([0.2, 0.4])
    table = pd.concat([sums.table(free), sums.ranks()], axis=1)
    bars = answers.bars_of(table, sums, free, label=list("abc"), note=["", "", ""])
    ends = np.log(table["detection_high"] / table["detection"])
    assert ends[:2].tolist() == pytest.approx([half, half])
    for end in ("low", "high"):  # the interval of the bar is that of tables and tooltips
        assert (bars[end] == bars[f"level_{end}"]).all()

"""The report of `benchmarks.outside`, of checks made by hand; real counts are not needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks._outside_trials import Trial, _halves
from benchmarks.outside import among_rows, report, rows_of, seeds_row
from uncletc.checking import Agreement, OutsideCheck
from uncletc.datasets import Outside


def check(*correlations: float) -> OutsideCheck:
    names = ("seroprevalence", "deaths", "tests")
    given = [
        Agreement(first="p", second=name, estimate=r, low=r - 0.1, high=r + 0.1, n=49)
        for name, r in zip(names, correlations, strict=True)
    ]
    among = [
        Agreement(first=a, second=b, estimate=0.4, low=0.2, high=0.6, n=49)
        for a, b in (names[:2], names[::2], names[1:])
    ]
    mean = Agreement(first="p", second="mean", estimate=0.0, low=-0.1, high=0.1, n=49)
    return OutsideCheck(of_fit=tuple(given), among=tuple(among), mean=mean, lead=mean, level=0.9)


def trial(*correlations: float, p: tuple[float, ...] = (0.2, 0.4, 0.8)) -> Trial:
    return Trial(
        checks={"state": check(*correlations), "cell": check(*correlations)},
        states=pd.Series(p),
        detection=np.array(p),
        seconds=2.0,
    )


def test_means_ranges_and_what_is_missed() -> None:
    rows = rows_of("mine", [trial(0.3, 0.2, 0.5), trial(0.5, 0.4, 0.3)])
    assert [row[:5] for row in rows] == [
        ["mine", "seroprevalence", "**+0.40**", "+0.30 to +0.50", "+0.30 to +0.50"],
        ["", "deaths", "**+0.30**", "+0.20 to +0.40", "+0.20 to +0.40"],
        ["", "tests", "**+0.40**", "+0.30 to +0.50", "+0.30 to +0.50"],
    ]
    assert [row[-1] for row in rows] == ["", "✗ cell", "✗ state"]


@pytest.mark.parametrize(
    ("other", "alike", "missed"),
    [((0.1, 0.2, 0.4), "1.00 (1.00)", ""), ((0.8, 0.4, 0.2), "-1.00 (-1.00)", "✗")],
)
def test_between_seeds(other: tuple[float, ...], alike: str, missed: str) -> None:
    row = seeds_row("mine", [trial(0, 0, 0), trial(0, 0, 0, p=other)])
    assert row[:2] == ["mine", "unclear"]
    assert row[3:7] == [alike] * 3 + [missed]


def test_one_seed_has_none_to_compare_with() -> None:
    assert seeds_row("mine", [trial(0, 0, 0)])[3] == "nan (nan)"


def test_report_says_what_is_missing() -> None:
    assert among_rows(trial(0, 0, 0))[0][:2] == ["seroprevalence – deaths", "**+0.40**"]
    nothing = pd.DataFrame()
    outside = Outside(
        states=nothing, cells=nothing, estimates=(), missing={"deaths": "no file is there"}
    )
    text = report({"mine": [trial(0, 0, 0)]}, {"index": trial(1, 1, 1)}, [7], outside)
    assert "- deaths is missing: no file is there" in text
    assert "seeds 7" in text
    assert "| index | seroprevalence | **+1.00**" in text


def test_halves_of_the_states_are_always_the_same() -> None:
    states = pd.Series([f"State {k}" for k in range(9)] * 2)
    first, second = _halves(states)
    assert sorted([*first, *second]) == sorted(states.unique())
    assert [first, second] == _halves(states.sample(frac=1, random_state=1))

"""The report of `benchmarks.real`, of trials made by hand; real counts are not needed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import _links
from benchmarks._real_report import difference, report
from benchmarks._real_trials import _SCORES, EXTENDED, _add, read
from uncletc import CountTensor


def trials(**scores: list[float]) -> pd.DataFrame:
    rows = [
        {"data": "covid", "held_out": "entry", "method": name, "seed": k // 5, "fold": k % 5}
        | dict.fromkeys(_SCORES, value)
        | {"mu": 1.5, "power": 0.3, "phi": 0.8, "seconds": 1.0}
        for name, values in scores.items()
        for k, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_differences_are_over_folds_that_both_have() -> None:
    rng = np.random.default_rng(0)
    hard = rng.normal(4, 1, 10)
    gaps = rng.normal(-0.2, 0.01, 10)
    found = difference(
        trials(UncleTC=list(hard[:5] + gaps[:5]), BPTF=list(hard)), "UncleTC", "BPTF"
    )
    assert found is not None
    assert found.mean == pytest.approx(gaps[:5].mean())
    assert found.error == pytest.approx(gaps[:5].std(ddof=1) / np.sqrt(5))
    assert difference(trials(UncleTC=list(hard)), "UncleTC", "BPTF") is None


def test_a_section_marks_methods_and_says_who_leads() -> None:
    first = [4.0, 4.1, 4.2, 4.0, 4.1]
    worse = [value + 0.1 + 0.001 * k for k, value in enumerate(first)]
    (section,) = report(
        trials(**{"UncleTC": first, "POND": worse, "LightGBM": [f - 0.2 for f in first]})
    )
    assert section.startswith("## COVID-19, single entries held out")
    assert "| POND \\* |" in section
    assert "| LightGBM † |" in section
    assert "ahead of POND; behind LightGBM." in section


def test_rows_from_before_have_only_one_dispersion() -> None:
    first = [4.0, 4.1, 4.2, 4.0, 4.1]
    both = trials(**{EXTENDED: first, "POND": [value + 0.1 for value in first]})
    both.loc[both["method"] == "POND", ["log_score", "crps", "mu", "power"]] = np.nan
    (section,) = report(both)
    assert "| POND \\* |  |  | 4.180 |  |" in section
    assert "ahead of POND (one φ)" in section
    assert "nan" not in section


def test_a_trial_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    kept = tmp_path / "real.csv"
    (old, other) = trials(POND=[4.0, 4.2]).to_dict("records")
    for row in (old, other, old | {"log_score": 3.0}):
        _add(kept, row)
    found = read(kept)
    assert sorted(zip(found["fold"], found["log_score"], strict=True)) == [(0, 3.0), (1, 4.2)]


class TestLinks:
    @pytest.fixture
    def counts(self) -> CountTensor:
        entries = np.argwhere(np.ones((2, 3, 3)))
        y = np.zeros((2, 3, 3), dtype=int)
        y[0, 0, 0] = y[0, 0, 2] = y[1, 0, 1] = y[0, 2, 2] = 4
        labels = [["a", "b"], ["x", "y", "z"], ["2011-1", "2012-1", "2013-1"]]
        return CountTensor((2, 3, 3), entries, y.ravel(), labels=labels)

    def test_links_of_the_last_year(self, counts: CountTensor) -> None:
        train, rounds = _links.years(counts, "2013")
        assert (train.sum(), rounds.tolist()) == (12, [False, False, True])
        found = _links.links(counts, train, rounds)
        np.testing.assert_array_equal(found.pollinator, [0, 2])
        np.testing.assert_array_equal(found.new, [False, True])
        np.testing.assert_array_equal(_links.every_pair(counts, rounds)[:2], [[0, 0, 2], [0, 1, 2]])

    def test_percentiles_in_the_list_of_a_plant(self, counts: CountTensor) -> None:
        train, rounds = _links.years(counts, "2013")
        found = _links.links(counts, train, rounds)
        degree = _links.degree(counts, train)
        np.testing.assert_array_equal(degree[0], [2, 0, 0])
        np.testing.assert_allclose(_links.percentiles(found, degree), [0, 0.75])

    def test_plants_are_what_was_sampled(self) -> None:
        mean, error = _links.mean_by_plant(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
        assert mean == 0.5
        assert error == pytest.approx(np.sqrt(2) / 4)

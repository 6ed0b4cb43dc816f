"""Random effects that a table has unless its reader leaves some out."""

import numpy as np
import pandas as pd
import pytest

from uncletc import METHODS, CountTensor, FitSettings
from uncletc.compare import make_folds, run_trial, splits
from uncletc.tables import RawTable, build, guess, usual_effects


def named(*labels, modes=("site", "species", "visit")):
    """Counts of all entries of a tensor with these levels, or so many."""
    levels = [list(range(each)) if isinstance(each, int) else each for each in labels]
    shape = [len(each) for each in levels]
    where = np.argwhere(np.ones(shape))
    return CountTensor(shape, where, where[:, 0], modes=modes[: len(shape)], labels=levels)


def test_modes_pairs_and_courses():
    sites, kinds = ["a", "b"], ["x", "y", "z"]
    pairs = ["site", "species", "visit", "site × species", "site × visit", "species × visit"]
    assert [*usual_effects(named(sites, kinds, ["1", "2"]))] == pairs
    of_two = named(sites, [f"2021-0{k}" for k in range(1, 8)], modes=("site", "when"))
    assert [*usual_effects(of_two)] == ["site", "when", "site × smooth(when)"]
    numbers = named(sites, 8, modes=("site", "year"))  # a time by its name
    assert "site × smooth(year)" in usual_effects(numbers)
    assert "site × smooth(shelf)" not in usual_effects(named(sites, 8, modes=("site", "shelf")))
    years = [*range(2001, 2009)]
    assert "site × smooth(tahun)" in usual_effects(named(sites, years, modes=("site", "tahun")))


@pytest.mark.parametrize(
    ("levels", "modes", "expected"),
    [
        ((["a"], 8), ("site", "shelf"), ["shelf"]),  # of one level there is nothing to say
        ((3, 8), ("site (m)", "shelf"), ["shelf"]),  # what a text of effects cannot name
        ((500, 500, 2), ("a", "b", "c"), ["a", "b", "c", "a × c", "b × c"]),
    ],
)
def test_effects_that_are_left_out(levels, modes, expected):
    assert [*usual_effects(named(*levels, modes=modes))] == expected


def test_pairs_with_a_count_each_have_none():
    rows = np.argwhere(np.ones((6, 9, 4)))
    few = CountTensor((6, 9, 4), rows[::9], rows[::9, 0], modes=["a", "b", "c"])
    assert [*usual_effects(few)] == ["a", "b", "c", "b × c"]


def test_closed_populations_have_none():
    frame = pd.DataFrame({"site": list("abc"), "pass 1": [9, 7, 8], "pass 2": [4, 3, 2]})
    raw = RawTable.of(frame, "fish.csv")
    found = build(raw, guess(raw).columns)
    assert found.effects
    assert not usual_effects(found.counts.with_protocol("removal"))


def test_counts_are_predicted_better_with_them():
    rng = np.random.default_rng(5)
    course = np.cumsum(rng.normal(0, 0.3, (15, 40)), axis=1) + rng.normal(0, 1, (15, 1))
    y = rng.poisson(np.exp(1 + course))
    days = pd.date_range("2021-01-01", periods=40).strftime("%Y-%m-%d")
    table = pd.DataFrame(y, index=[f"s{k}" for k in range(15)], columns=days).melt(
        ignore_index=False, var_name="day", value_name="seen"
    )
    raw = RawTable.of(table.reset_index(names="site"), "seen.csv")
    dataset = build(raw, guess(raw).columns)
    split = splits(make_folds(dataset.counts))[0]

    def score(effects):
        settings = FitSettings(rank=2, effects=effects)
        return run_trial(dataset.counts, METHODS["UncleTC"], settings, split, None, None).test

    assert score([*dataset.effects]).log_score < score([]).log_score - 0.05

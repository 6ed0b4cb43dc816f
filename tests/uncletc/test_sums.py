"""Sums over groups: against means of a fit, by hand, and what bounds they keep."""

from dataclasses import replace

import numpy as np
import pytest

from uncletc import FitSettings, Scale, fit, simulate
from uncletc.estimates import group_sums
from uncletc.estimates.sums import Summed


@pytest.fixture(scope="module")
def fitted():
    counts, _ = simulate((8, 7, 6), rank=1, observed=0.8, n_attributes=2, seed=3)
    return counts, fit(counts, FitSettings(rank=1, hidden=()))


@pytest.fixture(scope="module")
def places(fitted):
    return fitted[0].indices[:, 0]


def test_sums_and_means_have_the_intervals_of_the_fit(fitted, places):
    counts, found = fitted
    sums, scale = group_sums(found, counts, places), Scale(1.0, "stated", True)
    table = sums.table(scale, at_least_reported=False)
    known = counts.rows_of(counts.indices) >= 0
    where = counts.indices[known]
    rate = found.mean("rate", counts.indices, groups=places)
    p = found.mean("detection", where, counts.attributes_at(where), groups=places[known])
    size = np.bincount(places)
    for end in ("low", "estimate", "high"):
        name = "" if end == "estimate" else f"_{end}"
        assert table[f"rate{name}"].to_numpy() == pytest.approx(size * getattr(rate, end))
        assert table[f"detection{name}"].to_numpy() == pytest.approx(np.minimum(getattr(p, end), 1))
    assert table["reported"].tolist() == np.bincount(places, counts.counts).tolist()


def test_relative_values_have_one_interval_everywhere_that_no_level_widens(fitted):
    counts, found = fitted
    draws, level = found.draws, np.random.default_rng(1).normal(0, 2, 200).astype(np.float32)
    first, *others = draws.factors
    draws = replace(draws, level=draws.level + level, factors=(first + level, *others))
    table = group_sums(found, counts, np.arange(counts.n_observed)).table()
    unsure, free = replace(found, draws=draws), Scale(1.0, "as fitted", False)
    for name, each in unsure.quantities(counts, counts.indices, free).items():
        if name != "expected":
            low = table[f"{name}_low"].to_numpy()
            own = np.where(np.isnan(low), low, each.low)
            assert low == pytest.approx(own, rel=1e-3, nan_ok=True)


def test_on_an_absolute_scale_p_ends_at_1_and_rates_hold_what_was_reported(fitted, places):
    counts, found = fitted
    too_much = Scale.best_detects_all(found.detection(counts.attributes))
    table = group_sums(found, counts, places).table(too_much)
    for end in ("", "_low", "_high"):
        assert (table[f"detection{end}"] <= 1).all()
        assert (table[f"share{end}"] <= 1).all()
    assert (table["rate_low"] >= np.minimum(table["reported"], table["rate"])).all()
    assert (table["rate_high"] >= table["reported"]).all()
    assert (table["share_low"] <= table["share"]).all()
    apart = group_sums(found, counts, places).table(too_much, at_least_reported=False)
    assert "share" not in apart
    assert "share" not in group_sums(found, counts, places).table()  # the scale is free


def test_where_none_was_seen_and_n_may_be_0_none_of_it_was_reported(fitted, places):
    sums = group_sums(fitted[1], fitted[0], places)
    drawn = np.log(np.array([[1e-300, 1e-300, 1.0, 2.0]] * 8) / 0.75)
    n = Summed(np.full((2, 8), 0.75), drawn, np.zeros(8), of_numbers=True)
    none = replace(sums, rate=n, reported=np.zeros(8)).table(Scale(1.0, "stated", True))
    assert (none["rate_low"] == 0).all()
    assert (none[["share", "share_low", "share_high"]] == 0).all(axis=None)


def test_on_a_free_scale_intervals_of_p_have_no_end(fitted, places):
    sums = group_sums(fitted[1], fitted[0], places)
    high = replace(sums, detection=replace(sums.detection, values=9 * sums.detection.values))
    table = high.table()
    middle = np.sqrt(table["detection_low"] * table["detection_high"])
    assert middle.to_numpy() == pytest.approx(table["detection"].to_numpy())


def test_ranks_lie_in_their_ranges_and_know_no_scale(fitted, places):
    counts, found = fitted
    ranks = group_sums(found, counts, places).ranks()
    assert sorted(ranks["rank"]) == list(range(1, 9))
    assert ranks["rank"].between(ranks["rank_low"], ranks["rank_high"]).all()
    narrow = group_sums(found, counts, places).ranks(level=0.5)
    width, less = ((of["rank_high"] - of["rank_low"]).sum() for of in (ranks, narrow))
    assert less <= width
    with pytest.raises(ValueError, match="level must be in"):
        group_sums(found, counts, places).ranks(level=90)


def test_entries_may_be_left_out_and_numbers_be_empty(fitted, places):
    counts, found = fitted
    table = group_sums(found, counts, np.where(places == 2, 5, -1)).table()
    assert table["entries"].tolist()[:5] == [0] * 5
    assert table.loc[:4, ["rate", "detection"]].isna().all(axis=None)
    assert np.isfinite(table.loc[5, "rate_high"])


@pytest.mark.parametrize("groups", [[0, 1], [0.5] * 9, "a"])
def test_bad_groups_are_named(fitted, groups):
    counts, found = fitted
    with pytest.raises(ValueError, match="groups must be one whole number >= -1"):
        group_sums(found, counts, groups)

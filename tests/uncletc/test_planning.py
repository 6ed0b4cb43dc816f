"""Plans: seasons that follow a fit, and intervals that narrow as they should."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from uncletc import (
    CountTensor,
    Fit,
    FitSettings,
    Group,
    Look,
    fit,
    rate_tensor,
    simulate_visits,
)
from uncletc.planning import (
    ABSOLUTE,
    PRESENT,
    RELATIVE,
    Costs,
    Design,
    Plan,
    Survey,
    fits_of_plan,
    plan,
    seconds_of_plan,
    try_design,
    widths_of_fit,
)
from uncletc.planning.drawing import SURVEY, World, draw_season, scattered
from uncletc.planning.growing import grow
from uncletc.planning.widths import on_relative_scale

SETTINGS = FitSettings(rank=2, hidden=())
TWICE, WIDER, TOLD = (
    Design(times={"mode 3": 2}),
    Design(more={"mode 1": 12}),
    Design(survey=Survey(places=40, error=0.1)),
)


@pytest.fixture(scope="module")
def counts() -> CountTensor:
    """Counts of 12 × 10 × 6 entries whose p, mostly below .2, does not level off."""
    rng, shape = np.random.default_rng(0), (12, 10, 6)
    rate = rate_tensor([rng.gamma(2, 1, (n, 2)) for n in shape]).ravel()
    z = rng.standard_normal((len(rate), 2))
    p = 0.08 * np.exp(np.clip(z @ [0.4, -0.3], -1.5, 1.5))
    every = np.indices(shape).reshape(3, -1).T
    seen = rng.random(len(every)) < 0.7
    return CountTensor(
        shape,
        every[seen],
        rng.poisson(100 * rate / rate.mean() * p)[seen],
        attributes=z,
        attribute_indices=every,
    )


@pytest.fixture(scope="module")
def fitted(counts: CountTensor) -> Fit:
    return fit(counts, SETTINGS)


@pytest.fixture(scope="module")
def planned(counts: CountTensor, fitted: Fit) -> Plan:
    return plan(counts, fitted, [TWICE, WIDER, TOLD], repeats=3, seed=5)


def width(found: Plan, design: Design, quantity: str, scale: str = RELATIVE) -> pd.Series:
    table = found.summary()
    rows = table[
        (table["design"] == design.label)
        & (table["quantity"] == quantity)
        & (table["scale"] == scale)
    ]
    return rows.iloc[0]


class TestPlan:
    def test_more_visits_and_more_places_narrow_relative_p(self, planned):
        for design in (TWICE, WIDER):
            assert 0.5 < width(planned, design, "detection")["ratio"] < 0.95
        assert width(planned, TWICE, "rate")["ratio"] < 1

    def test_a_survey_narrows_the_scale_and_not_relative_p(self, planned, counts, fitted):
        loose = Design(survey=Survey(places=5, error=0.4))
        few = plan(counts, fitted, [loose], repeats=3, seed=5)
        for quantity in ("scale", "detection", "rate", "total"):
            wide = width(few, loose, quantity, ABSOLUTE)["width"]
            assert 1 < width(planned, TOLD, quantity, ABSOLUTE)["width"] < 0.8 * wide
        for found, design in ((planned, TOLD), (few, loose)):
            assert 0.75 < width(found, design, "detection")["ratio"] < 1.15
            assert 0.75 < width(found, design, "rate")["ratio"] < 1.15
        now = planned.table[planned.table["design"] == PRESENT.label]
        assert set(now["scale"]) == {RELATIVE}  # nothing tells the scale of the present

    def test_intervals_hold_the_simulated_truth(self, planned):
        held = planned.summary().set_index(["design", "quantity", "scale"])["held"]
        assert held[held.index.get_level_values("quantity") != "total"].min() > 0.6
        assert held.mean() > 0.8

    def test_the_present_is_simulated_about_as_wide_as_it_is_fitted(self, planned):
        assert planned.as_simulated["alike"].all()
        assert list(planned.as_simulated["quantity"]) == ["detection", "rate", "total"]

    def test_one_seed_gives_one_plan_and_each_design_is_alone(self, counts, fitted, planned):
        again = try_design(counts, fitted, TWICE, repeats=3, seed=5)
        mine = planned.table[planned.table["design"] == TWICE.label]
        assert [row["width"] for row in again] == pytest.approx(list(mine["width"]))
        other = try_design(counts, fitted, TWICE, repeats=1, seed=6)
        assert other[0]["width"] != pytest.approx(again[0]["width"], rel=1e-6)

    def test_progress_counts_fits_and_a_stop_keeps_finished_seasons(self, counts, fitted):
        heard: list[int] = []

        def follow(done: int, _: object) -> bool:
            heard.append(done)
            return done == 2

        found = plan(counts, fitted, [TWICE], repeats=2, callback=follow)
        assert sorted(set(heard)) == [0, 1, 2]
        assert heard.count(2) == 1
        assert list(found.table["design"].unique()) == [PRESENT.label]

    def test_what_it_takes(self, counts, fitted):
        assert fits_of_plan(fitted, [PRESENT, TWICE, TOLD], 3) == 3 * (1 + 1 + 2)
        one = seconds_of_plan(counts, fitted, [PRESENT], 1)
        assert seconds_of_plan(counts, fitted, [TWICE], 2) == pytest.approx(4 * one)


class TestClosed:
    def test_repeat_visits_narrow_the_scale(self):
        y, _ = simulate_visits((12, 6), 3, mean=8.0, seed=2)
        found = fit(y, FitSettings(rank=1, closed=["visit"], hidden=()))
        tried = plan(y, found, [Design(times={"visit": 2})], repeats=2)
        assert width(tried, tried.designs[1], "scale", ABSOLUTE)["ratio"] < 0.8
        assert width(tried, tried.designs[1], "rate", ABSOLUTE)["ratio"] < 0.95
        with pytest.raises(ValueError, match="a survey cannot be planned beside closed visits"):
            try_design(y, found, TOLD)

    def test_visits_to_a_cell_count_the_same_events(self):
        y, _ = simulate_visits((12, 6), 3, mean=50.0, level=0.9, counted=1.0, seed=2)
        found = fit(y, FitSettings(rank=1, closed=["visit"], hidden=()))
        grown = grow(y, {"visit": 3}, (0,))
        season, _ = draw_season(World.of(found, y), y, grown, None, 2, (0, 1))
        dense = np.full(season.shape, np.nan)
        dense[tuple(season.indices.T)] = season.counts
        within = np.nanvar(dense, axis=2).mean()
        assert within < 0.5 * np.nanmean(dense)  # Poisson counts of their own would vary more


@pytest.mark.parametrize("sizes", [(12, 16), (4, 6, 3, 3)])
def test_two_modes_and_four_and_no_attributes(sizes):
    rng = np.random.default_rng(1)
    where = np.indices(sizes).reshape(len(sizes), -1).T
    where = where[rng.random(len(where)) < 0.8]
    y = CountTensor(sizes, where, rng.poisson(6, len(where)))
    found = fit(y, FitSettings(rank=1, hidden=()))
    survey = Design(survey=Survey(places=3, of="mode 2"))
    tried = plan(y, found, [Design(times={"mode 1": 2}), survey], repeats=2, along="mode 1")
    assert set(tried.table[tried.table["scale"] == RELATIVE]["quantity"]) == {"rate", "total"}
    assert width(tried, tried.designs[1], "rate")["ratio"] < 0.95
    assert width(tried, survey, "detection", ABSOLUTE)["width"] > 1.1
    assert tried.table["held"].mean() > 0.75


class TestGrown:
    def test_new_levels_are_like_those_they_copy(self, counts):
        grown = grow(counts, {"mode 3": 8, "mode 1": 2}, (1,))
        assert grown.counts.shape == (14, 10, 14)
        n = counts.n_observed
        assert np.array_equal(grown.counts.indices[:n], counts.indices)
        assert np.array_equal(grown.rows[:n], np.arange(n))
        new = grown.counts.indices[n:]
        like = counts.indices[grown.rows[n:]]
        assert np.array_equal(new[:, 1], like[:, 1])
        z = grown.counts.attributes_at(new, unknown_as_nan=True)
        assert np.array_equal(z, counts.attributes_at(like, unknown_as_nan=True), equal_nan=True)
        source = {int(a): int(b) for a, b in zip(new[:, 2], like[:, 2], strict=True) if a >= 6}
        assert len(source) == 8
        assert set(list(source.values())[:6]) == set(range(6))  # each once before any twice

    def test_fewer_levels_are_the_first_of_more(self, counts):
        few, many = (grow(counts, {"mode 3": n}, (1,)).counts for n in (2, 5))
        assert np.array_equal(few.indices, many.indices[: few.n_observed])

    def test_groups_exposure_and_looks_grow_along(self):
        day = Group("day", ["day"], [0, 1, 2], ["a", "b", "c"], [[0.0], [1.0], [2.0]])
        kind = Group("kind", ["day"], [0, 1, 0], ["even", "odd"])
        where = [[i, j] for i in range(2) for j in range(3)]
        look = Look("deaths", where[:2], [1, 2], known_detection=[0.1, 0.2])
        y = CountTensor(
            (2, 3),
            where,
            range(6),
            modes=["site", "day"],
            exposure=[[1.0, 2.0, 3.0]],
            groups=[day, kind],
            looks=[look],
        )
        grown = grow(y, {"day": 2}, (4,)).counts
        copies = grown.indices[6:]
        assert grown.exposure.shape == (1, 5)
        days, kinds = grown.groups
        assert list(days.codes) == [0, 1, 2, 3, 4]
        assert len(np.unique(days.positions)) == 5
        for new in (3, 4):
            like = int(np.flatnonzero(grown.exposure[0, :3] == grown.exposure[0, new])[0])
            assert kinds.codes[new] == kinds.codes[like]
            assert abs(days.positions[new, 0] - days.positions[like, 0]) <= 0.5
            assert (copies[:, 1] == new).sum() == 2
        assert set(map(tuple, grown.looks[0].indices)) >= {(0, 0), (0, 1)}
        assert set(grown.looks[0].known_detection) == {0.1, 0.2}


class TestSeasons:
    def test_counts_follow_the_fit(self, counts, fitted):
        mean = np.full(20_000, 30.0)
        wide = replace(fitted, mu=5.0, dispersion=2.0, mu_power=0.0)
        y = scattered(mean, wide, np.random.default_rng(0))
        assert y.mean() == pytest.approx(30, rel=0.02)
        assert y.var() == pytest.approx(2 * (30 + 30**2 / 5), rel=0.08)
        world = World.of(fitted, counts)
        assert world.detection.max() <= 1
        z = counts.attributes_at(counts.indices, unknown_as_nan=True)
        known = ~np.isnan(z).any(axis=1)
        first = replace(fitted, others=())
        expected = first.expected(counts.indices[known], z[known])
        made = world.rate[known] * world.member.detection(z[known])
        assert made == pytest.approx(expected)

    def test_present_counts_are_the_same_whatever_is_added(self, counts, fitted):
        world, n = World.of(fitted, counts), counts.n_observed
        seasons = [
            draw_season(world, counts, grow(counts, added, (0,)), survey, 2, (0, 1))[0]
            for added, survey in (({}, None), ({"mode 3": 6}, None), ({}, TOLD.survey))
        ]
        assert np.array_equal(seasons[0].counts, seasons[1].counts[:n])
        assert np.array_equal(seasons[0].counts, seasons[2].counts)

    def test_a_survey_is_a_look_at_so_many_places_with_its_error(self, counts, fitted):
        world, survey = World.of(fitted, counts), Survey(places=4, error=0.3, of="mode 1")
        season, _ = draw_season(world, counts, grow(counts, {}, (0,)), survey, 2, (0, 1))
        (look,) = season.looks
        assert look.name == SURVEY
        assert len(np.unique(look.indices[:, 0])) == 4
        assert 0.15 <= look.known_error < 0.3  # four places of unlike size
        assert (look.known_detection <= 1).all()
        many = Survey(places=1000, error=0.3)
        with pytest.raises(ValueError, match="places of a survey must be at most those with a"):
            draw_season(world, counts, grow(counts, {}, (0,)), many, 2, (0, 1))

    def test_looks_with_known_p_are_drawn_and_tell_the_scale(self, counts):
        told = Look("told", counts.indices, counts.counts, known_detection=0.4, known_error=0.1)
        both = counts.with_looks(told)
        found = fit(both, SETTINGS)
        tried = plan(both, found, [TWICE], repeats=2)
        assert width(tried, PRESENT, "scale", ABSOLUTE)["width"] > np.exp(2 * 1.645 * 0.08)
        relative = width(tried, PRESENT, "detection", RELATIVE)["width"]
        assert relative < width(tried, PRESENT, "detection", ABSOLUTE)["width"]
        # What all p share does not shrink with more visits.
        assert width(tried, TWICE, "scale", ABSOLUTE)["ratio"] > 0.85


class TestWidths:
    def test_relative_ones_hold_the_mean_p_and_know_expected_counts_as_well(self, counts, fitted):
        relative = on_relative_scale(fitted, counts)
        where, z = counts.attribute_indices, counts.attributes
        mean = relative.mean("detection", where, z)
        assert mean.high[0] / mean.low[0] == pytest.approx(1, abs=1e-3)
        own, same = (
            each.mean("expected", where, z, groups=where[:, 0]) for each in (fitted, relative)
        )
        assert same.high == pytest.approx(own.high, rel=1e-4)
        assert same.estimate == pytest.approx(own.estimate)

    def test_they_are_the_median_over_places(self, counts, fitted):
        p, rate, total = widths_of_fit(fitted, counts)
        places = np.unique(counts.indices[:, :2], axis=0, return_inverse=True)[1].ravel()
        of = on_relative_scale(fitted, counts).mean("rate", counts.indices, groups=places)
        assert rate["width"] == pytest.approx(np.median(of.high / of.low))
        assert [each["quantity"] for each in (p, rate, total)] == ["detection", "rate", "total"]
        assert total["width"] < rate["width"]
        assert np.isnan(p["held"])

    def test_of_an_anchored_one_relative_widths_leave_the_scale_out(self, counts):
        told = Look("told", counts.indices[:80], counts.counts[:80], known_detection=0.5)
        apart, shared = (
            {(row["quantity"], row["scale"]): row["width"] for row in widths_of_fit(found, given)}
            for error in (0.0, 0.5)
            for given in [counts.with_looks(_with_error(told, error))]
            for found in [fit(given, SETTINGS)]
        )
        key = ("detection", RELATIVE)
        assert shared[key] == pytest.approx(apart[key], rel=0.05)
        assert shared["scale", ABSOLUTE] > 2 * apart["scale", ABSOLUTE]

    def test_another_mode_may_be_time(self, counts, fitted):
        last, first = widths_of_fit(fitted, counts), widths_of_fit(fitted, counts, "mode 1")
        assert last[2]["width"] == first[2]["width"]
        assert last[1]["width"] != first[1]["width"]


def _with_error(look: Look, error: float) -> Look:
    return Look(
        look.name,
        look.indices,
        look.counts,
        known_detection=look.known_detection,
        known_error=error,
    )


class TestCosts:
    def test_the_cheapest_that_reaches_a_width(self, planned, counts):
        costs = Costs(levels={"mode 3": 10, "mode 1": 1}, survey=2)
        assert bool(costs)
        assert not Costs()
        assert [costs.of(each, counts) for each in (PRESENT, TWICE, WIDER, TOLD)] == [0, 60, 12, 80]
        now = width(planned, PRESENT, "detection")["width"]
        reached = max(width(planned, each, "detection")["width"] for each in (TWICE, WIDER))
        assert planned.cheapest(reached, costs=costs) == WIDER
        assert planned.cheapest(reached, costs=Costs(levels={"mode 1": 100})) == TWICE
        assert planned.cheapest(now + 1, costs=costs) == PRESENT
        assert planned.cheapest(1.0001, costs=costs) is None
        table = planned.summary(costs).set_index("design")
        assert set(table.loc[TWICE.label, "cost"]) == {60.0}


class TestBadInput:
    @pytest.mark.parametrize(
        ("make", "words"),
        [
            (lambda: Design(times={"visit": 0.5}), "times of visit must be at least 1"),
            (lambda: Design(times={"visit": 99}), "times of visit must be at most 20, got 99"),
            (lambda: Design(more={"site": 0}), "more of site must be at least 1, got 0"),
            (lambda: Design(times={"a": 2}, more={"a": 1}), "'a' occurs twice"),
            (lambda: Survey(places=0), "places must be at least 1, got 0"),
            (lambda: Survey(places=2, error=-1), "error must be at least 0"),
            (lambda: Costs(levels={"visit": -1}), "cost of visit must be at least 0"),
        ],
    )
    def test_designs_and_costs(self, make, words):
        with pytest.raises(ValueError, match=words):
            make()

    def test_fits(self, counts, fitted, small_fit, small):
        with pytest.raises(ValueError, match="a design must name modes of"):
            try_design(counts, fitted, Design(times={"visit": 2}))
        with pytest.raises(ValueError, match="along must name a mode of"):
            try_design(counts, fitted, TWICE, along="visit")
        with pytest.raises(ValueError, match="fit must be of these counts"):
            try_design(small, fitted, TWICE)
        with pytest.raises(ValueError, match="intervals need a finished fit"):
            try_design(small, small_fit, TWICE)

    def test_a_design_survives_json(self):
        design = Design(times={"a": 1.5}, more={"b": 2}, survey=Survey(places=3, of="b"))
        assert Design.from_json(design.to_json()) == design
        assert hash(design) == hash(Design.from_json(design.to_json()))
        assert PRESENT.label == "as now"

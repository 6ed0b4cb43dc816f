"""The plant–pollinator tables, against a fit of the simulated counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.ppi.view import (
    MOST_CHOSEN,
    ORDERS,
    PICKS,
    build_matrix,
    build_ppi_view,
    chosen_visits,
    meadows_of,
    quick_pick,
    toggled,
)
from dashboard.shared.charts.answers import detection_grids
from dashboard.shared.text.scripts import fit_script
from uncletc import Anchor


@pytest.fixture(scope="module")
def view(ppi_twin, ppi_fit):
    return build_ppi_view(ppi_twin, ppi_fit, Anchor())


@pytest.fixture(scope="module")
def grids(ppi_twin, ppi_fit):
    return detection_grids(ppi_twin, ppi_fit, Anchor())


@pytest.fixture(scope="module")
def dense(ppi_twin, ppi_fit):
    """Relative p of every plant, pollinator and visit."""
    counts = ppi_twin.counts
    grid = np.full(counts.shape, np.nan)
    grid[tuple(counts.attribute_indices.T)] = ppi_fit.detection(counts.attributes)
    seen = np.zeros(counts.shape[:2], dtype=bool)
    where = counts.indices[counts.counts > 0]
    seen[where[:, 0], where[:, 1]] = True
    return grid / np.nanmedian(grid[seen])


@pytest.fixture(scope="module")
def reported(ppi_twin):
    """The count of every entry, NaN where nobody counted."""
    counts = ppi_twin.counts
    grid = np.full(counts.shape, np.nan)
    grid[tuple(counts.indices.T)] = counts.counts
    return grid


@pytest.fixture(scope="module")
def in_2012(ppi_twin):
    return (ppi_twin.mode_tables["visit"]["year"] == 2012).to_numpy()


@pytest.fixture(scope="module")
def one_year(ppi_twin, ppi_fit):
    return build_ppi_view(ppi_twin, ppi_fit, Anchor(), years=[2012])


@pytest.fixture(scope="module")
def with_draws(ppi_twin, short_fit):
    return short_fit(ppi_twin.counts, 40, solver="joint", hidden=(5,))


def of(rows, row):
    return tuple(rows.iloc[row][["plant_index", "pollinator_index"]].astype(int))


class TestInteractions:
    def test_one_row_per_interaction_seen_at_least_once(self, view, ppi_twin):
        counts = ppi_twin.counts
        seen = counts.indices[counts.counts > 0, :2]
        rows = view.interactions[["plant_index", "pollinator_index"]].to_numpy()
        assert {tuple(pair) for pair in rows.tolist()} == {tuple(pair) for pair in seen.tolist()}
        assert view.interactions["label"].is_unique

    def test_mean_and_sd_are_over_all_visits(self, view, dense):
        for row in (0, 100, len(view.interactions) - 1):
            p = dense[of(view.interactions, row)]
            assert view.interactions["mean"].iloc[row] == pytest.approx(p.mean())
            assert view.interactions["sd"].iloc[row] == pytest.approx(p.std())

    def test_anchors_change_values_but_neither_order_nor_ratios(self, ppi_twin, ppi_fit, view):
        for anchor in (Anchor(kind="mean", value=0.1), Anchor(kind="best")):
            other = build_ppi_view(ppi_twin, ppi_fit, anchor)
            assert other.interactions["label"].tolist() == view.interactions["label"].tolist()
            for column in ("mean", "sd"):
                ratio = other.interactions[column] / view.interactions[column]
                assert ratio.iloc[0] != pytest.approx(1)
                assert ratio.to_numpy() == pytest.approx(ratio.iloc[0])
            assert other.insight == view.insight
            assert other.title != view.title
            assert [quick_pick(other, pick) for pick in PICKS] == [
                quick_pick(view, pick) for pick in PICKS
            ]


class TestFilters:
    def test_a_season_keeps_what_was_seen_in_it(self, one_year, reported, in_2012):
        totals = np.nansum(reported[:, :, in_2012], axis=2)
        rows = one_year.interactions
        assert len(rows) == (totals > 0).sum()
        assert rows["interactions"].tolist() == (
            totals[rows["plant_index"], rows["pollinator_index"]].tolist()
        )

    def test_a_guild_keeps_its_pollinators_and_their_values(self, ppi_twin, ppi_fit, view):
        guilds = ["wasp", "beetle"]
        some = build_ppi_view(ppi_twin, ppi_fit, Anchor(), guilds=guilds)
        expected = view.interactions[view.interactions["guild"].isin(guilds)]
        pd.testing.assert_frame_equal(some.interactions, expected.reset_index(drop=True))
        assert 0 < len(expected) < len(view.interactions)

    def test_a_meadow_keeps_what_was_counted_there(self, ppi_twin, ppi_fit, view):
        assert meadows_of(ppi_twin) == []
        names = np.resize(["A; B", "B", "C; A", ""], len(ppi_twin.table))
        placed = replace(ppi_twin, table=ppi_twin.table.assign(meadows=names))
        assert meadows_of(placed) == ["A", "B", "C"]
        some = build_ppi_view(placed, ppi_fit, Anchor(), meadows=["A"])
        pairs = ["plant", "pollinator"]
        there = placed.table.loc[np.isin(names, ["A; B", "C; A"]), pairs]
        expected = view.interactions.merge(there, on=pairs)
        assert 0 < len(expected) < len(view.interactions)
        assert sorted(some.interactions["label"]) == sorted(expected["label"])

    def test_nothing_seen_is_an_empty_table(self, ppi_twin, ppi_fit):
        empty = build_ppi_view(ppi_twin, ppi_fit, Anchor(), guilds=["nobody"])
        assert empty.interactions.empty
        assert empty.top.empty


class TestLogarithmicAxis:
    @pytest.mark.parametrize(("factor", "log"), [(1, False), (1e3, True)])
    def test_where_p_spreads_beyond_twenty_times(self, ppi_twin, ppi_fit, grids, factor, log):
        p = grids.p.copy()
        p[:, :10] *= factor
        view = build_ppi_view(ppi_twin, ppi_fit, Anchor(), grids=replace(grids, p=p))
        worst, best = view.interactions["mean"].quantile([0.05, 0.95])
        assert view.log == log == (best / worst > 20)
        assert ("unlikely" in (view.caution or "")) == log


class TestMatrix:
    @pytest.mark.parametrize("order", ORDERS)
    def test_holds_every_interaction_and_nothing_else(self, view, order):
        matrix = build_matrix(view, order)
        assert matrix.p.shape == matrix.seen.shape
        assert matrix.p.notna().sum().sum() == len(view.interactions)
        for row in view.interactions.iloc[::97].itertuples():
            assert matrix.p.loc[row.plant, row.pollinator] == row.mean
            assert matrix.seen.loc[row.plant, row.pollinator] == row.interactions
        assert (matrix.seen.to_numpy() > 0).tolist() == matrix.p.notna().to_numpy().tolist()

    def test_by_guild_and_within_it_by_activity(self, view):
        matrix = build_matrix(view, "guild")
        assert list(matrix.guilds) == sorted(matrix.guilds)
        for guild in set(matrix.guilds):
            of_guild = matrix.seen.loc[:, [each == guild for each in matrix.guilds]]
            assert of_guild.sum(axis=0).is_monotonic_decreasing


class TestVisits:
    def test_p_and_counts_are_those_of_the_interaction_and_visit(
        self, view, ppi_twin, grids, dense, reported
    ):
        for row in (0, 57, len(view.interactions) - 1):
            rows = chosen_visits(ppi_twin, grids, [view.interactions["label"].iloc[row]])
            pair = of(view.interactions, row)
            assert rows["p"].to_numpy() == pytest.approx(dense[pair])
            np.testing.assert_array_equal(rows["counted"].to_numpy(), reported[pair])
            np.testing.assert_array_equal(rows["observed"].to_numpy(), ~np.isnan(reported[pair]))


class TestChoices:
    @pytest.mark.parametrize(
        ("pick", "column", "extreme"),
        [
            ("highest mean", "mean", "max"),
            ("lowest mean", "mean", "min"),
            ("highest sd", "sd", "max"),
            ("lowest sd", "sd", "min"),
        ],
    )
    def test_quick_picks_are_the_extremes(self, view, pick, column, extreme):
        rows = view.interactions.set_index("label")[column]
        assert rows[quick_pick(view, pick)] == getattr(rows, extreme)()

    def test_a_click_adds_or_takes_away(self):
        assert toggled([], "a") == ["a"]
        assert toggled(["a"], "b") == ["a", "b"]
        assert toggled(["a", "b"], "a") == ["b"]

    def test_the_oldest_makes_room(self):
        full = list("abcdefghij")[:MOST_CHOSEN]
        assert toggled(full, "z") == [*full[1:], "z"]


class TestIntervals:
    def test_bars_and_visits_have_them_with_draws(self, ppi_twin, with_draws):
        view = build_ppi_view(ppi_twin, with_draws, Anchor())
        grids = detection_grids(ppi_twin, with_draws, Anchor())
        visits = chosen_visits(ppi_twin, grids, [quick_pick(view, "highest mean")])
        for rows, middle in ((view.top, "value"), (view.bottom, "value"), (visits, "p")):
            assert (rows["low"] <= rows[middle]).all()
            assert (rows[middle] <= rows["high"]).all()
            assert np.isfinite(rows["high"]).all()
        assert view.top["low"].iloc[0] >= visits["low"].mean()  # errors average out, if slowly


@pytest.mark.parametrize(
    "asked", [{}, {"years": (2011, 2013)}, {"years": (2012,), "guilds": ("bee", "fly")}]
)
def test_the_script_gives_the_table(ppi_twin, ppi_fit, asked, run_script):
    script = fit_script(
        "ppi-twin", ppi_fit.settings, build_ppi_view, Anchor(), take=".main_table", **asked
    )
    expected = build_ppi_view(ppi_twin, ppi_fit, Anchor(), **asked).main_table
    assert "relative_detection_mean" in expected
    pd.testing.assert_frame_equal(run_script(script, ppi_fit), expected)

"""The plant–pollinator tables, against a fit of the simulated counts."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.anchors import Anchor
from dashboard.views_ppi import PICKS, build_ppi_view, quick_pick


@pytest.fixture(scope="module")
def view(ppi_twin, ppi_fit):
    return build_ppi_view(ppi_twin, ppi_fit, Anchor())


@pytest.fixture(scope="module")
def dense(ppi_twin, ppi_fit):
    """Relative p of every plant, pollinator and visit."""
    counts = ppi_twin.counts
    grid = np.full(counts.shape, np.nan)
    grid[tuple(counts.attribute_indices.T)] = ppi_fit.detection(counts.attributes)
    return grid / np.nanmedian(grid)


def of(rows, row):
    return rows.iloc[row][["plant_index", "pollinator_index"]].astype(int)


class TestInteractions:
    def test_one_row_per_interaction_seen_at_least_once(self, view, ppi_twin):
        counts = ppi_twin.counts
        seen = counts.indices[counts.counts > 0, :2]
        rows = view.interactions[["plant_index", "pollinator_index"]].to_numpy()
        assert {tuple(pair) for pair in rows.tolist()} == {tuple(pair) for pair in seen.tolist()}
        assert view.interactions["label"].is_unique

    def test_mean_and_sd_are_over_all_visits(self, view, dense):
        for row in (0, 100, len(view.interactions) - 1):
            plant, pollinator = of(view.interactions, row)
            p = dense[plant, pollinator]
            assert view.interactions["mean"].iloc[row] == pytest.approx(p.mean())
            assert view.interactions["sd"].iloc[row] == pytest.approx(p.std())

    def test_best_mean_first(self, view):
        assert view.interactions["mean"].is_monotonic_decreasing

    def test_labels_name_plant_and_pollinator(self, view, ppi_twin):
        plant, pollinator = of(view.interactions, 0)
        names = (ppi_twin.counts.labels[0][plant], ppi_twin.counts.labels[1][pollinator])
        assert view.interactions["label"].iloc[0] == " – ".join(names)

    def test_anchors_change_values_but_neither_order_nor_ratios(self, ppi_twin, ppi_fit, view):
        for anchor in (Anchor(kind="mean", mean=0.1), Anchor(kind="best")):
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


class TestBars:
    def test_ten_on_either_side_are_the_extremes(self, view):
        ranked = view.interactions
        assert view.top["label"].tolist() == ranked["label"].head(10).tolist()
        assert view.bottom["label"].tolist() == ranked["label"].tail(10).tolist()[::-1]
        assert view.top["value"].tolist() == ranked["mean"].head(10).tolist()

    def test_inside_is_how_often_it_was_seen(self, view, ppi_twin):
        counts = ppi_twin.counts
        plant, pollinator = of(view.interactions, 0)
        here = (counts.indices[:, 0] == plant) & (counts.indices[:, 1] == pollinator)
        assert view.top["inside"].iloc[0] == f"{counts.counts[here].sum():,} seen"

    def test_number_of_bars(self, ppi_twin, ppi_fit):
        few = build_ppi_view(ppi_twin, ppi_fit, Anchor(), n=3)
        assert len(few.top) == len(few.bottom) == 3


class TestVisits:
    def test_every_interaction_has_every_visit(self, view, ppi_twin):
        assert len(view.visits) == len(view.interactions) * ppi_twin.counts.shape[2]
        visits = ppi_twin.mode_tables["visit"]
        for _, rows in view.visits.groupby("label", sort=False):
            assert rows["year"].tolist() == visits["year"].tolist()
            assert rows["number"].tolist() == visits["number"].tolist()

    def test_p_is_that_of_the_interaction_and_visit(self, view, dense):
        for row in (0, 57, len(view.interactions) - 1):
            plant, pollinator = of(view.interactions, row)
            rows = view.visits[view.visits["label"] == view.interactions["label"].iloc[row]]
            assert rows["p"].to_numpy() == pytest.approx(dense[plant, pollinator])

    def test_observed_and_counted_are_those_of_the_counts(self, view, ppi_twin):
        counts = ppi_twin.counts
        reported = np.full(counts.shape, np.nan)
        reported[tuple(counts.indices.T)] = counts.counts
        for row in range(0, len(view.interactions), 50):
            plant, pollinator = of(view.interactions, row)
            rows = view.visits[view.visits["label"] == view.interactions["label"].iloc[row]]
            expected = reported[plant, pollinator]
            np.testing.assert_array_equal(rows["counted"].to_numpy(dtype=float), expected)
            np.testing.assert_array_equal(rows["observed"].to_numpy(), ~np.isnan(expected))

    def test_some_visits_are_observed_and_some_are_not(self, view):
        assert 0 < view.visits["observed"].mean() < 1


class TestQuickPicks:
    @pytest.mark.parametrize(
        ("pick", "column", "extreme"),
        [
            ("highest mean", "mean", "max"),
            ("lowest mean", "mean", "min"),
            ("highest sd", "sd", "max"),
            ("lowest sd", "sd", "min"),
        ],
    )
    def test_picks_the_extreme(self, view, pick, column, extreme):
        rows = view.interactions.set_index("label")[column]
        assert rows[quick_pick(view, pick)] == getattr(rows, extreme)()

    def test_extreme_means_are_the_first_bars_also_where_means_are_equal(self, view):
        assert quick_pick(view, "highest mean") == view.top["label"].iloc[0]
        assert quick_pick(view, "lowest mean") == view.bottom["label"].iloc[0]


def test_intervals_from_several_members(ppi_twin, short_fit):
    found = short_fit(ppi_twin.counts, 40, solver="joint", hidden=(5,), members=2)
    view = build_ppi_view(ppi_twin, found, Anchor())
    for bars in (view.top, view.bottom):
        assert (bars["low"] <= bars["value"]).all()
        assert (bars["value"] <= bars["high"]).all()
        assert np.isfinite(bars["high"]).all()


def test_no_intervals_from_one_member(view):
    assert list(view.top) == ["label", "value", "inside"]

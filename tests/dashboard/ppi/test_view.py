"""The plant–pollinator tables, against a fit of the simulated counts."""

import numpy as np
import pytest

from dashboard.ppi.view import BY, MOST_CHOSEN, toggled
from dashboard.shared.charts.answers import detection_grids
from dashboard.shared.charts.places import labels_of_pairs
from tests.dashboard.made import ppi_view
from uncletc import Anchor


@pytest.fixture(scope="module")
def view(ppi_twin, ppi_fit):
    return ppi_view(ppi_twin, ppi_fit, Anchor())


@pytest.fixture(scope="module")
def grids(ppi_twin, ppi_fit):
    return detection_grids(ppi_twin, ppi_fit, Anchor())


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
    return ppi_view(ppi_twin, ppi_fit, Anchor(), years=[2012])


@pytest.fixture(scope="module")
def indices(ppi_twin):
    """Plant and pollinator of each interaction by its label."""
    table = ppi_twin.table
    pairs = zip(table["plant_index"], table["pollinator_index"], strict=True)
    return dict(zip(labels_of_pairs(table), pairs, strict=True))


class TestInteractions:
    def test_one_row_per_interaction_seen_at_least_once(self, view, reported, indices):
        seen = np.argwhere(np.nansum(reported, axis=2) > 0)
        pairs = {tuple(map(int, indices[label])) for label in view.interactions["pair"]}
        assert pairs == {tuple(pair) for pair in seen.tolist()}
        assert view.interactions["pair"].is_unique

    def test_p_is_the_mean_over_visits_with_a_count(self, view, grids, reported, indices):
        for row in (0, 100, len(view.interactions) - 1):
            pair = indices[view.interactions["pair"].iloc[row]]
            p = grids.p[pair][np.isfinite(reported[pair])]
            assert view.interactions["detection"].iloc[row] == pytest.approx(p.mean())
            assert view.ranked["value"].iloc[row] == pytest.approx(p.mean())


class TestFilters:
    def test_a_season_keeps_what_was_seen_in_it(self, one_year, reported, in_2012, indices):
        totals = np.nansum(reported[:, :, in_2012], axis=2)
        rows = one_year.interactions
        assert len(rows) == (totals > 0).sum()
        assert rows["reported"].tolist() == [totals[indices[label]] for label in rows["pair"]]

    def test_every_table_adds_up_to_the_whole(self, ppi_twin, ppi_fit):
        anchor = Anchor(kind="mean", value=0.3)
        for chosen in ({}, {"years": [2012]}):
            view = ppi_view(ppi_twin, ppi_fit, anchor, **chosen)
            answers = view.answers
            assert answers.total["reported"] == view.interactions["reported"].sum()
            for by in BY:
                table = answers.tables[by]
                assert table["reported"].sum() == answers.total["reported"]
                assert table["rate"].sum() == pytest.approx(answers.total["rate"])
                assert np.isfinite(table["detection"]).all()
        assert answers.tables["season"]["season"].tolist() == ["2012"]


def test_a_click_adds_or_takes_away_and_the_oldest_makes_room():
    assert toggled([], "a") == ["a"]
    assert toggled(["a", "b"], "a") == ["b"]
    full = list("abcdefghij")[:MOST_CHOSEN]
    assert toggled(full, "z") == [*full[1:], "z"]

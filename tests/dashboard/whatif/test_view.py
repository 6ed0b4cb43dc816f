"""The tables that compare two fits, against fits of the simulated counts."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

import uncletc
from dashboard.whatif.pictures import matrix, rank_shift
from dashboard.whatif.runs import Run, visible
from dashboard.whatif.view import build_whatif_view, spearman, whatif_script
from uncletc import FitSettings


@pytest.fixture(scope="module")
def other_covid(covid_twin, short_fit):
    return short_fit(covid_twin.counts, 2, hidden=(5,), seed=4)


@pytest.fixture(scope="module")
def other_ppi(ppi_twin, short_fit):
    return short_fit(ppi_twin.counts, 2, hidden=(5,), seed=4)


@pytest.fixture(scope="module")
def covid(covid_twin, covid_fit, other_covid):
    return build_whatif_view(covid_twin, covid_fit, other_covid)


@pytest.fixture(scope="module")
def ppi(ppi_twin, ppi_fit, other_ppi):
    return build_whatif_view(ppi_twin, ppi_fit, other_ppi)


def mean_grid(counts, found):
    grid = np.full(counts.shape, np.nan)
    grid[tuple(counts.attribute_indices.T)] = found.detection(counts.attributes)
    return np.nanmean(grid, axis=2)


class TestTable:
    @pytest.mark.filterwarnings("ignore:Mean of empty slice")
    def test_counties_have_the_mean_of_their_cell_over_the_median_county(
        self, covid, covid_twin, covid_fit, other_covid
    ):
        table = covid_twin.table
        assert covid.table["fips"].tolist() == table["fips"].tolist()
        where = (table["latitude_index"].to_numpy(), table["longitude_index"].to_numpy())
        for column, found in (("p_a", covid_fit), ("p_b", other_covid)):
            p = mean_grid(covid_twin.counts, found)[where]
            assert covid.table[column].to_numpy() == pytest.approx(p / np.nanmedian(p), nan_ok=True)
            assert covid.table[column].median() == pytest.approx(1)
        ratio = covid.table["p_b"] / covid.table["p_a"]
        assert 2 ** covid.table["log2_ratio"].to_numpy() == pytest.approx(
            ratio.to_numpy(), nan_ok=True
        )

    def test_shared_cells_are_said(self, covid, covid_twin):
        shared = covid_twin.table["counties_in_cell"] > 1
        assert covid.table["cell_note"].notna().tolist() == shared.tolist()

    def test_interactions_are_those_seen(self, ppi, ppi_twin, ppi_fit):
        seen = ppi_twin.table[ppi_twin.table["interactions"] > 0]
        assert len(ppi.table) == len(seen)
        p = mean_grid(ppi_twin.counts, ppi_fit)[seen["plant_index"], seen["pollinator_index"]]
        assert ppi.table["p_a"].to_numpy() == pytest.approx(p / np.median(p))

    def test_a_fit_against_itself_differs_nowhere(self, ppi_twin, ppi_fit):
        view = build_whatif_view(ppi_twin, ppi_fit, ppi_fit)
        assert view.table["log2_ratio"].abs().max() == 0
        assert view.correlation == pytest.approx(1)
        assert view.difference_limit > 0
        assert (view.cells["rank_a"] == view.cells["rank_b"]).all()


class TestCells:
    def test_one_row_per_cell_named_after_its_largest_county(self, covid, covid_twin):
        pair = ["latitude_index", "longitude_index"]
        assert not covid.cells.duplicated(pair).any()
        table = covid_twin.table
        for row in (0, 50, len(covid.cells) - 1):
            cell = covid.cells.iloc[row]
            here = table[(table[pair] == cell[pair].astype(int)).all(axis=1)]
            largest = here.loc[here["population"].idxmax()]
            assert cell["label"].startswith(f"{largest['county']}, {largest['state']}")
            assert cell["label"].endswith(f" +{len(here) - 1}") == (len(here) > 1)

    @pytest.mark.parametrize("side", ["a", "b"])
    def test_rank_one_is_the_highest(self, covid, side):
        by_rank = covid.cells.sort_values(f"rank_{side}")
        assert by_rank[f"rank_{side}"].tolist() == list(range(1, len(by_rank) + 1))
        assert by_rank[f"p_{side}"].is_monotonic_decreasing

    def test_correlation_is_spearmans(self, covid):
        expected = spearmanr(covid.cells["p_a"], covid.cells["p_b"]).statistic
        assert covid.correlation == pytest.approx(expected)
        assert f"{expected:.2f}" in covid.insight

    def test_insight_names_the_largest_change(self, ppi):
        most = ppi.cells.loc[ppi.cells["log2_ratio"].abs().idxmax()]
        assert most["label"] in ppi.insight
        common = set(ppi.cells.nsmallest(10, "rank_a")["label"]) & set(
            ppi.cells.nsmallest(10, "rank_b")["label"]
        )
        assert f"{len(common)} of the 10" in ppi.insight

    def test_insight_names_a_factor_that_half_of_the_changes_stay_below(self, ppi):
        named = re.search(r"less than a factor of ([0-9.]+);", ppi.insight)
        typical = 2 ** ppi.cells["log2_ratio"].abs().median()
        assert named is not None
        assert typical < float(named[1]) <= typical + 0.1

    def test_limits_hold_both_sides(self, ppi):
        low, high = ppi.limits
        values = ppi.cells[["p_a", "p_b"]].to_numpy()
        assert ((values >= low) & (values <= high)).mean() == pytest.approx(0.96, abs=0.01)
        assert (ppi.cells["log2_ratio"].abs() <= ppi.difference_limit).mean() > 0.97


class TestOneCounty:
    def test_words_are_its_own_numbers(self, covid):
        row = covid.table.iloc[7]
        cell = covid.cells.iloc[covid.places[row["fips"]]]
        assert cell["p_a"] == row["p_a"]
        text = covid.about(row["fips"])
        for part in (row["county"], f"{row['p_a']:.3g} under A", f"rank {cell['rank_a']:,} of"):
            assert part in text
        assert covid.label_of(row["fips"]) == cell["label"]

    def test_none_and_strangers_have_no_label(self, covid, ppi):
        assert covid.label_of(None) is None
        assert covid.label_of("00000") is None
        assert ppi.label_of("01001") is None


class TestRankShift:
    cells = pd.DataFrame(
        {"label": list("vwxyz"), "rank_a": [1, 2, 3, 4, 5], "rank_b": [5, 2, 1, 3, 4]}
    )

    def test_the_first_under_a(self):
        shift = rank_shift(self.cells, "highest p under A", 3)
        assert shift["label"].tolist() == ["v", "w", "x"]
        assert shift["rank_b"].tolist() == [5, 2, 1]
        assert shift["at_a"].tolist() == [1, 2, 3]
        assert shift["at_b"].tolist() == [4.5, 2, 1]  # below the line, not five rows down

    def test_the_first_under_b(self):
        shift = rank_shift(self.cells, "highest p under B", 2)
        assert shift["label"].tolist() == ["x", "w"]
        assert shift["at_b"].tolist() == [1, 2]
        assert shift["at_a"].tolist() == [3.5, 2]

    def test_lowest_counts_from_the_other_end(self):
        shift = rank_shift(self.cells, "lowest p under A", 2)
        assert shift["label"].tolist() == ["z", "y"]
        assert shift["rank_a"].tolist() == [1, 2]
        assert shift["rank_b"].tolist() == [2, 3]


def test_matrix_has_all_plants_and_pollinators_in_order(ppi, ppi_twin):
    wide = matrix(ppi_twin, ppi, "p_a")
    assert wide.shape == ppi_twin.counts.shape[:2]
    assert tuple(wide.index) == ppi_twin.counts.labels[0]
    row = ppi.table.iloc[11]
    assert wide.loc[row["plant"], row["pollinator"]] == row["p_a"]
    assert wide.count().sum() == len(ppi.table)


def test_spearman_of_a_constant_is_not_known():
    assert np.isnan(spearman(np.ones(4), np.arange(4.0)))


@pytest.mark.parametrize("name", ["covid", "ppi"])
@pytest.mark.parametrize("part", ["all", "first half"])
@pytest.mark.filterwarnings("ignore::uncletc.ConvergenceWarning")
def test_the_script_gives_the_table(request, name, part, run_script):
    dataset = request.getfixturevalue(f"{name}_twin")
    settings = FitSettings(rank=2, hidden=(), max_iter=3)
    a = Run(settings=settings, part=part)
    b = Run(settings=replace(settings, rank=1))
    first, second = (uncletc.fit(visible(dataset.counts, run.part), run.settings) for run in (a, b))
    expected = build_whatif_view(dataset, first, second).main_table
    assert "relative_detection_a" in expected
    table = run_script(whatif_script(dataset.name, a, b))
    pd.testing.assert_frame_equal(table, expected, check_exact=False, rtol=1e-9)

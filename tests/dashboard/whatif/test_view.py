"""The tables that compare two fits, against fits of the simulated counts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from dashboard.whatif.view import DIFFERENCE, build_whatif_view, matrix


@pytest.fixture(scope="module")
def other_covid(covid_twin, short_fit):
    return short_fit(covid_twin.counts, 2, hidden=(5,), seed=4)


@pytest.fixture(scope="module")
def covid(covid_twin, covid_fit, other_covid):
    return build_whatif_view(covid_twin, covid_fit, other_covid)


@pytest.fixture(scope="module")
def ppi(ppi_twin, ppi_fit, short_fit):
    other = short_fit(ppi_twin.counts, 2, hidden=(5,), seed=4)
    return build_whatif_view(ppi_twin, ppi_fit, other)


def mean_grid(counts, found):
    grid = np.full(counts.shape, np.nan)
    z = counts.attributes_at(counts.indices, unknown_as_nan=True)
    grid[tuple(counts.indices.T)] = found.detection(z)
    return np.nanmean(grid, axis=2)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_counties_have_means_of_cells_over_the_median(covid, covid_twin, covid_fit, other_covid):
    table = covid_twin.table
    assert covid.table["fips"].tolist() == table["fips"].tolist()
    where = (table["latitude_index"].to_numpy(), table["longitude_index"].to_numpy())
    for column, found in (("p_a", covid_fit), ("p_b", other_covid)):
        p = mean_grid(covid_twin.counts, found)[where]
        assert covid.table[column].to_numpy() == pytest.approx(p / np.nanmedian(p), nan_ok=True)
    ratio = covid.table["p_b"] / covid.table["p_a"]
    assert 2 ** covid.table["log2_ratio"].to_numpy() == pytest.approx(ratio.to_numpy(), nan_ok=True)
    shared = table["counties_in_cell"] > 1
    assert covid.table["mark"].notna().tolist() == shared.tolist()
    assert covid.main_table["county"].iloc[0] == "Autauga County, AL"  # as pages have it


class TestCells:
    def test_one_row_per_cell_named_after_its_largest_county(self, covid, covid_twin):
        pair = ["latitude_index", "longitude_index"]
        assert not covid.cells.duplicated(pair).any()
        table = covid_twin.table
        for row in (0, len(covid.cells) - 1):
            cell = covid.cells.iloc[row]
            here = table[(table[pair] == cell[pair].astype(int)).all(axis=1)]
            largest = here.loc[here["population"].idxmax()]
            assert cell["label"].startswith(largest["county"])
            assert cell["label"].endswith(f" +{len(here) - 1}") == (len(here) > 1)

    def test_ranks_begin_with_the_highest_and_their_correlation_is_spearmans(self, covid):
        for side in "ab":
            by_rank = covid.cells.sort_values(f"rank_{side}")
            assert by_rank[f"rank_{side}"].tolist() == list(range(1, len(by_rank) + 1))
            assert by_rank[f"p_{side}"].is_monotonic_decreasing
        expected = spearmanr(covid.cells["p_a"], covid.cells["p_b"]).statistic
        assert f"(rank correlation {expected:.2f})" in covid.insight


def test_matrix_has_all_plants_and_pollinators_in_order(ppi, ppi_twin):
    wide = matrix(ppi_twin, ppi, "p_a")
    assert wide.shape == ppi_twin.counts.shape[:2]
    assert tuple(wide.index) == ppi_twin.counts.labels[0]
    row = ppi.table.iloc[11]
    assert wide.loc[row["plant"], row["pollinator"]] == row["p_a"]
    assert wide.count().sum() == len(ppi.table)
    alone = replace(ppi, sides=("plant",), table=ppi.table.drop_duplicates("plant"))
    shown = [matrix(ppi_twin, alone, name).columns[0] for name in ("p_a", "p_b", "log2_ratio")]
    assert shown == ["relative p, A", "relative p, B", DIFFERENCE]

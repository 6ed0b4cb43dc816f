"""The data behind a page: facts, coverage, covariates, and the box that shows them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.shared.data_section.charts import (
    along_chart,
    covariate_chart,
    coverage_chart,
    coverage_map,
)
from dashboard.shared.data_section.section import DATA
from dashboard.shared.data_section.view import (
    along_table,
    county_coverage,
    covariate_histogram,
    coverage,
    facts,
    insight,
)
from tests.dashboard.looking import charts, in_address, ran, read_own, words
from uncletc import CountTensor
from uncletc.datasets import Dataset, Provenance
from uncletc.tables import n_existing

NAN = float("nan")


def dataset_of(counts: CountTensor) -> Dataset:
    nothing = Provenance(simulated=False, period="", sources=(), rules=())
    return Dataset(name="x", title="x", counts=counts, table=pd.DataFrame(), provenance=nothing)


@pytest.fixture
def by_hand() -> Dataset:
    return dataset_of(
        CountTensor(
            (2, 3, 4),
            [(0, 0, 0), (0, 0, 1), (0, 0, 3), (1, 2, 3)],
            [5, 0, 7, 2],
            attributes=[[0.0, 1.0], [0.5, 1.0]],
            attribute_indices=[(0, 0, 0), (1, 1, 1)],
            modes=("row", "column", "step"),
            labels=(("r0", "r1"), ("c0", "c1", "c2"), ("s0", "s1", "s2", "s3")),
            attribute_names=("wind", "beds"),
        )
    )


def test_facts_and_insight(by_hand):
    assert {label: value for label, value, _ in facts(by_hand)} == {
        "Size": "2 × 3 × 4",
        "Counted": "22.2%",
        "Zeros": "25.0%",
        "Mean count": "3.5",
        "Covariates": "2",
    }
    words = insight(by_hand)
    for part in ("18 combinations of row, column and step", "**78% have no count**", "**25% are"):
        assert part in words


class TestCoverage:
    def test_share_of_the_third_mode(self, by_hand):
        shown = coverage(by_hand, (0, 1))
        np.testing.assert_allclose(shown.values, [[1, 0, 0], [0, 0, 1 / 3]])
        (trace,) = coverage_chart(shown).data
        np.testing.assert_allclose(trace.z, shown.values)
        assert list(trace.y) == ["r0", "r1"]

    @pytest.mark.parametrize("name", ["covid_twin", "ppi_twin"])
    @pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 2)])
    def test_twins(self, name, pair, request):
        dataset = request.getfixturevalue(name)
        table = coverage(dataset, pair).table
        assert table["existing"].sum() == n_existing(dataset.counts)
        assert table["observed"].sum() == dataset.counts.n_observed
        assert table["counted"].sum() == dataset.counts.counts.sum()
        assert (table["observed"] <= table["existing"]).all()

    def test_two_modes_are_drawn_as_they_are(self):
        shown = coverage(dataset_of(CountTensor((2, 3), [(0, 0), (1, 2)], [5, 0])), (0, 1))
        np.testing.assert_allclose(shown.values, [[5, NAN, NAN], [NAN, NAN, 0]])
        (trace,) = coverage_chart(shown).data
        assert (trace.zmin, trace.zmax) == (0, pytest.approx(np.log(6)))

    def test_of_four_modes_two_are_summed_over(self):
        y = CountTensor((2, 2, 2, 2), [(0, 0, 0, 0), (0, 0, 1, 1), (1, 1, 1, 1)], [5, 7, 2])
        shown = coverage(dataset_of(y), (0, 1))
        np.testing.assert_allclose(shown.values, [[0.5, 0], [0, 0.25]])
        assert shown.others == "combinations"

    def test_counties_have_the_share_of_their_days(self, covid_twin):
        places = county_coverage(covid_twin)
        assert set(places["existing"]) == {60}
        assert places["share"].tolist() == covid_twin.table["counted"].astype(float).tolist()
        assert places["counted"].sum() == covid_twin.counts.counts.sum()  # each county its own
        numbers = coverage_map(places).numbers
        assert set(numbers[np.isfinite(numbers)]) == {0.0, 1.0}

    def test_sums_along_a_mode(self, by_hand):
        (trace,) = along_chart(along_table(by_hand, 2), of="step").data
        assert list(trace.y) == [5, 0, 0, 9]


def test_a_covariate_of_counted_and_missing_entries(by_hand):
    rows = covariate_histogram(by_hand, "wind")
    assert rows["counted"].tolist() == [1] + 19 * [0]
    assert rows["missing"].tolist() == 10 * [0] + [1] + 9 * [0]
    figure = covariate_chart(rows, name="wind")
    counted, missing = figure.data
    assert list(counted.y) == rows["counted"].tolist()
    assert counted.marker.pattern.shape != missing.marker.pattern.shape


class TestBox:
    def opened(self, dataset: Dataset, is_open: bool = True) -> AppTest:
        def page() -> None:
            import streamlit as st

            from dashboard.shared.data_section.section import data_section

            data_section(st.session_state["dataset"])

        at = AppTest.from_function(page, default_timeout=60)
        at.session_state["dataset"] = dataset
        at.session_state[DATA] = is_open
        return ran(at)

    def test_waits_until_it_is_opened(self, ppi_twin):
        at = self.opened(ppi_twin, is_open=False)
        assert not charts(at)
        assert not words(at)

    def test_has_warnings_coverage_covariates_and_sources(self, covid_twin):
        at = self.opened(covid_twin)
        assert at.button_group(key="modes").options[0] == "map"
        ran(at.button_group(key="modes").set_value("latitude × longitude"))
        assert len(charts(at)) == 3
        text = words(at)
        for source in covid_twin.provenance.sources:
            assert f"[{source.name}]({source.url})" in text
            assert f"Licence: {source.licence}" in text
        assert all(rule in text for rule in covid_twin.provenance.rules)

    @pytest.mark.parametrize("modes", [("site", "week"), ("site", "species", "observer", "week")])
    def test_own_tables_keep_their_words_out_of_the_address(self, modes):
        sites, weeks = np.indices((4, 3)).reshape(2, -1)
        frame = pd.DataFrame({"site": sites, "week": weeks, "count": sites + 1})
        frame = frame.assign(species="a", observer=weeks % 2)
        at = self.opened(read_own(frame, modes=modes).dataset)
        assert len(charts(at)) == 2
        key = "own-modes"
        for option in at.button_group(key=key).options:
            ran(at.button_group(key=key).set_value(option))
        assert in_address(at, key) is None

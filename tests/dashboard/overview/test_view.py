"""The overview's facts, patterns and attributes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dashboard.overview.charts import county_picture
from dashboard.overview.view import (
    along_mode,
    attribute_histogram,
    build_overview,
    build_pattern,
    build_places,
    pattern_table,
    place_modes,
)
from dashboard.shared.text.scripts import DATASET, call, load, script
from uncletc import CountTensor
from uncletc.datasets import Dataset, Provenance
from uncletc.tables import n_existing


@pytest.fixture
def by_hand() -> Dataset:
    counts = CountTensor(
        (2, 3, 4),
        [(0, 0, 0), (0, 0, 1), (0, 0, 3), (1, 2, 3)],
        [5, 0, 7, 2],
        attributes=[[0.0, 1.0], [0.5, 1.0]],
        attribute_indices=[(0, 0, 0), (1, 1, 1)],
        modes=("row", "column", "step"),
        labels=(("r0", "r1"), ("c0", "c1", "c2"), ("s0", "s1", "s2", "s3")),
        attribute_names=("wind", "beds"),
    )
    nothing = Provenance(simulated=False, period="", sources=(), rules=())
    return Dataset(name="x", title="x", counts=counts, table=pd.DataFrame(), provenance=nothing)


NAN = float("nan")


def facts_of(view):
    return {label: value for label, value, _ in view.facts}


def test_facts(by_hand):
    assert facts_of(build_overview(by_hand)) == {
        "Size": "2 × 3 × 4",
        "Counted": "22.2%",
        "Zeros": "25.0%",
        "Mean count": "3.5",
        "Attributes": "2",
    }


def test_insight_says_what_is_missing_and_what_the_counts_are_like(by_hand):
    insight = build_overview(by_hand).insight
    assert insight.startswith("Of 18 combinations of row, column and step, **78% have no count**.")
    assert "**25% are zero**" in insight
    assert "the median non-zero count is 5" in insight
    assert insight.endswith("the largest is 7.")
    assert "simulated" not in insight


class TestPattern:
    def test_share_of_the_third_mode(self, by_hand):
        pattern = build_pattern(by_hand, (0, 1))
        np.testing.assert_allclose(pattern.values, [[1, 0, 0], [0, 0, 1 / 3]])
        assert (pattern.row_mode, pattern.column_mode, pattern.third_mode) == (
            "row",
            "column",
            "step",
        )
        assert pattern.row_labels == ("r0", "r1")
        assert pattern.step_label == ""

    def test_one_step_holds_the_counts_themselves(self, by_hand):
        pattern = build_pattern(by_hand, (0, 1), 3)
        np.testing.assert_allclose(pattern.values, [[7, NAN, NAN], [NAN, NAN, 2]])
        assert pattern.step_label == "s3"

    @pytest.mark.parametrize("name", ["covid_twin", "ppi_twin"])
    @pytest.mark.parametrize("pair", [(0, 1), (0, 2), (1, 2)])
    def test_twins(self, name, pair, request):
        dataset = request.getfixturevalue(name)
        counts = dataset.counts
        table = pattern_table(dataset, pair)
        assert table["existing"].sum() == n_existing(counts)
        assert table["observed"].sum() == counts.n_observed
        assert table["counted"].sum() == counts.counts.sum()
        assert (table["observed"] <= table["existing"]).all()

    def test_two_modes_are_drawn_as_they_are(self):
        y = CountTensor((2, 3), [(0, 0), (1, 2)], [5, 0])
        nothing = Provenance(simulated=False, period="", sources=(), rules=())
        two = Dataset(name="own", title="x", counts=y, table=None, provenance=nothing)
        pattern = build_pattern(two, (0, 1))
        np.testing.assert_allclose(pattern.values, [[5, NAN, NAN], [NAN, NAN, 0]])
        assert pattern.counted
        assert along_mode(two, (0, 1)) is None

    def test_of_four_modes_two_are_summed_over(self):
        y = CountTensor((2, 2, 2, 2), [(0, 0, 0, 0), (0, 0, 1, 1), (1, 1, 1, 1)], [5, 7, 2])
        nothing = Provenance(simulated=False, period="", sources=(), rules=())
        four = Dataset(name="own", title="x", counts=y, table=None, provenance=nothing)
        assert along_mode(four, (0, 1)) == 3
        pattern = build_pattern(four, (0, 1))
        np.testing.assert_allclose(pattern.values, [[0.5, 0], [0, 0.25]])
        assert pattern.others == "combinations"
        np.testing.assert_allclose(build_pattern(four, (0, 1), 1).values, [[7, NAN], [NAN, 2]])
        assert pattern.largest == 7


@pytest.mark.parametrize(("pair", "step"), [((0, 1), None), ((1, 2), None), ((0, 2), 0)])
class TestTable:
    def test_the_script_gives_it(self, covid_twin, pair, step, run_script):
        made = call(pattern_table, DATASET, pair, step=step)
        table = run_script(script(made, dataset=load("covid-twin")))
        pd.testing.assert_frame_equal(table, pattern_table(covid_twin, pair, step))


class TestPlaces:
    def test_counties_have_the_share_of_their_days(self, covid_twin):
        places = build_places(covid_twin)
        assert places.counties
        assert len(places.table) == len(covid_twin.table)
        assert set(places.table["existing"]) == {60}
        counted = covid_twin.table["counted"].to_numpy()
        assert places.table["share"].tolist() == counted.astype(float).tolist()
        assert f"{(~counted).sum():,} of {len(counted):,} places have none" in places.sentence
        numbers = county_picture(covid_twin).numbers
        assert set(numbers[np.isfinite(numbers)]) == {0.0, 1.0}

    def test_one_day_shows_its_counts(self, covid_twin):
        places = build_places(covid_twin, 3)
        counts = covid_twin.counts
        at = counts.indices[:, 2] == 3
        assert places.table["counted"].sum() == counts.counts[at].sum()  # each county its own
        assert places.title == "reported count, day 2021-01-04"

    def test_levels_of_one_mode_may_have_positions(self, by_hand):
        where = pd.DataFrame({"row": ["r0", "r1"], "latitude": [44.1, 44.2], "longitude": [1, 2]})
        dataset = replace(by_hand, table=pd.DataFrame(), mode_tables={"row": where})
        places = build_places(dataset)
        assert not places.counties
        assert places.table["observed"].tolist() == [3, 1]
        assert places.table["existing"].tolist() == [9, 9]
        assert places.value == "share"

    def test_without_places_there_is_no_map(self, ppi_twin):
        assert place_modes(ppi_twin) == ()
        with pytest.raises(ValueError, match="has none"):
            build_places(ppi_twin)


class TestAttributes:
    def test_counted_and_missing_entries_apart(self, by_hand):
        rows = attribute_histogram(by_hand, "wind")
        assert rows["counted"].tolist() == [1] + 19 * [0]
        assert rows["missing"].tolist() == 10 * [0] + [1] + 9 * [0]
        assert rows["middle"].iloc[[0, -1]].tolist() == pytest.approx([0.025, 0.975])

    def test_twin(self, ppi_twin):
        counts = ppi_twin.counts
        rows = attribute_histogram(ppi_twin, "wind")
        counted = counts.attributes_at(counts.indices)[:, counts.attribute_names.index("wind")]
        assert rows["counted"].iloc[:10].sum() == pytest.approx((counted < 0.5).mean())
        assert rows["missing"].sum() == pytest.approx(1)

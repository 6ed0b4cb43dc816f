"""The reader's statement about the scale."""

from __future__ import annotations

import numpy as np
import pytest

import uncletc
from dashboard.shared.sidebar.anchors import Anchor, axis_title, entries_at, impossible, places
from uncletc import Scale

P = np.array([0.1, 0.2, 0.2, 0.4])
ANCHORS = [Anchor(), Anchor(kind="mean", mean=0.5), Anchor(kind="best")]


def test_relative_makes_the_median_one():
    scale = Anchor().scale(P)
    assert scale.detection(P).tolist() == pytest.approx([0.5, 1, 1, 2])
    assert not scale.absolute


def test_mean_is_the_stated_one():
    scale = Anchor(kind="mean", mean=0.5).scale(P)
    assert scale.detection(P).mean() == pytest.approx(0.5)
    assert scale.absolute
    assert "50%" in scale.statement


def test_best_entry_detects_everything():
    scale = Anchor(kind="best").scale(P)
    assert scale.detection(P).max() == pytest.approx(1)
    assert scale.absolute


def test_stated_mean_matters_to_its_own_kind_only():
    for kind in ("relative", "best"):
        low, high = (Anchor(kind=kind, mean=mean).scale(P).factor for mean in (0.1, 0.9))
        assert low == high


@pytest.mark.parametrize("anchor", ANCHORS, ids=lambda anchor: anchor.kind)
def test_ratios_stay(anchor):
    shown = anchor.scale(P).detection(P)
    assert shown / shown[0] == pytest.approx(P / P[0])


@pytest.mark.parametrize("anchor", ANCHORS, ids=lambda anchor: anchor.kind)
def test_the_fits_own_scale_does_not_matter(anchor):
    assert anchor.scale(P / 3).detection(P / 3) == pytest.approx(anchor.scale(P).detection(P))


class TestOfAFit:
    """Anchors that need the counts and the fit."""

    def test_a_place_detects_what_was_stated(self, covid_twin, covid_fit):
        counts = covid_twin.counts
        name, place = list(places(covid_twin).items())[5]
        scale = Anchor(kind="entry", place=place, name=name, detects=0.3).of(counts, covid_fit)
        rows = [row for row, i in enumerate(counts.attribute_indices) if tuple(i[:2]) == place]
        there = scale.detection(covid_fit.detection(counts.attributes[rows]))
        assert there.mean() == pytest.approx(0.3)
        assert scale.absolute
        assert axis_title(scale) == f"p (anchored: {name} detects 30%)"

    def test_true_counts_add_up_to_what_was_stated(self, ppi_twin, ppi_fit):
        counts = ppi_twin.counts
        scale = Anchor(kind="total", total=54321.0).of(counts, ppi_fit)
        assert scale.rate(ppi_fit.rate(counts.indices)).sum() == pytest.approx(54321)
        assert "54,321" in axis_title(scale)

    def test_each_may_be_a_range(self, covid_twin, covid_fit):
        counts = covid_twin.counts
        name, place = next(iter(places(covid_twin).items()))
        for anchor, words in (
            (Anchor(kind="mean", mean=(0.2, 0.4)), "anchored: mean detection is 20–40%"),
            (
                Anchor(kind="entry", place=place, name=name, detects=(0.2, 0.4)),
                f"anchored: {name} detects 20–40%",
            ),
            (
                Anchor(kind="total", total=(1e6, 2e6)),
                "anchored: true counts add up to 1,000,000–2,000,000",
            ),
        ):
            scale = anchor.of(counts, covid_fit)
            assert scale.log_error == pytest.approx(np.log(2) / (2 * 1.6449), rel=1e-3)
            assert axis_title(scale) == f"p ({words})"

    @pytest.mark.parametrize("anchor", ANCHORS, ids=lambda anchor: anchor.kind)
    def test_others_are_as_for_p_alone(self, ppi_twin, ppi_fit, anchor):
        p = ppi_fit.detection(ppi_twin.counts.attributes)
        expected = anchor.scale(p)
        if anchor.kind == "relative":  # over what is drawn: pairs seen at least once
            expected = uncletc.Anchor.relative(ppi_twin.counts, p)
            assert expected != anchor.scale(p)
        assert anchor.of(ppi_twin.counts, ppi_fit) == expected
        assert anchor.of(ppi_twin.counts, ppi_fit, p) == expected

    def test_a_place_without_attributes_is_a_sentence(self, small, small_fit):
        # Ξ is a part of this tensor; a place of full length is one entry.
        there = set(map(tuple, small.attribute_indices.tolist()))
        place = next(entry for entry in np.ndindex(small.shape) if entry not in there)
        with pytest.raises(ValueError, match="place must have entries with attributes, X has none"):
            Anchor(kind="entry", place=place, name="X").of(small, small_fit)

    @pytest.mark.parametrize("kind", ["entry", "total"])
    def test_p_alone_is_not_enough_for_some(self, kind):
        with pytest.raises(ValueError, match="without a fit"):
            Anchor(kind=kind).scale(P)


class TestPlaces:
    def test_counties_by_population_with_their_cell(self, covid_twin):
        table, known = covid_twin.table, places(covid_twin)
        largest = table.loc[table["population"].idxmax()]
        name = f"{largest['county']}, {largest['state']}"
        assert next(iter(known)) == name
        assert known[name] == (largest["latitude_index"], largest["longitude_index"])
        assert len(known) == len(table)

    def test_pairs_seen_by_how_often(self, ppi_twin):
        table, known = ppi_twin.table, places(ppi_twin)
        assert len(known) == (table["interactions"] > 0).sum()
        most = table.loc[table["interactions"].idxmax()]
        assert next(iter(known)) == f"{most['plant']} – {most['pollinator']}"

    @pytest.mark.parametrize("name", ["covid_twin", "ppi_twin"])
    def test_each_has_attributes(self, request, name):
        dataset = request.getfixturevalue(name)
        for place in list(places(dataset).values())[::50]:
            assert entries_at(dataset.counts, place).any()


class TestImpossible:
    def test_a_chance_above_one_is_said_with_its_size(self):
        note = impossible(Scale.mean_detection(P, 0.9), P)
        assert "1.6" in note  # 0.4 · 0.9 / 0.225
        assert "mean detection is 90%" in note

    def test_silence_where_all_is_well(self):
        assert impossible(Scale.mean_detection(P, 0.5), P) is None
        assert impossible(Scale.best_detects_all(P), P) is None
        assert impossible(Scale.relative(P), P) is None


def test_default_needs_no_assumption():
    assert Anchor().kind == "relative"


def test_axis_says_what_fixes_the_scale():
    relative, mean, best = (axis_title(anchor.scale(P)) for anchor in ANCHORS)
    assert relative == "relative p (median = 1)"
    assert "mean detection is 50%" in mean
    assert "best entry detects everything" in best

"""Answers of the page "Explore": sums by level, sentences, and when there are no intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dashboard.explore import answers
from dashboard.explore.answers import build_answers, level_sums, too_many
from dashboard.shared.sidebar.anchors import Anchor
from uncletc import Scale


@pytest.fixture(scope="module")
def relative(ppi_twin, ppi_fit) -> Scale:
    return Anchor().of(ppi_twin.counts, ppi_fit)


def test_levels_add_up_to_all(ppi_twin, ppi_fit, relative):
    found = build_answers(ppi_twin, ppi_fit, relative, (0,))
    counts = ppi_twin.counts
    assert found.table["reported"].is_monotonic_decreasing
    assert found.table["reported"].sum() == found.total["reported"] == counts.counts.sum()
    assert found.table["rate"].sum() == pytest.approx(found.total["rate"])
    first = counts.labels[0].index(found.table["label"][0])
    of_first = counts.indices[:, 0] == first
    assert found.table["reported"][0] == counts.counts[of_first].sum()
    rates = relative.rate(ppi_fit.rate(counts.indices[of_first]))
    assert found.table["rate"][0] == pytest.approx(rates.sum())


def test_the_sentence_says_relative_until_the_scale_is_stated(ppi_twin, ppi_fit, relative):
    open_ = build_answers(ppi_twin, ppi_fit, relative, (0,))
    assert "relative λ" in open_.sentence()
    assert "stays open until you state" in open_.sentence()
    stated = Anchor(kind="mean", mean=0.25).of(ppi_twin.counts, ppi_fit)
    known = build_answers(ppi_twin, ppi_fit, stated, (0,))
    assert "estimated true" in known.sentence(so_far=True)
    assert "% counted" in known.sentence()
    assert (known.table["share"].dropna() <= 1).all()


def test_what_is_too_long_to_list_is_one_row(monkeypatch, ppi_twin, ppi_fit, relative):
    whole = build_answers(ppi_twin, ppi_fit, relative, (0,))
    monkeypatch.setattr(answers, "MOST_LISTED", 3)
    found = build_answers(ppi_twin, ppi_fit, relative, (0,))
    assert found.rest == len(whole.table) - 3
    assert found.table["label"].tolist()[-1] == f"all {found.rest:,} others"
    np.testing.assert_allclose(found.total["rate"], whole.total["rate"])
    assert np.isnan(found.table["rank"].iloc[-1])
    assert len(found.display(("plant",))) == 4


def test_a_mode_may_be_called_as_a_column(ppi_twin, ppi_fit, relative):
    found = build_answers(ppi_twin, ppi_fit, relative, (0,))
    assert found.display(("reported",)).columns[0] == "reported (mode)"


def test_pairs_have_the_names_of_both(ppi_twin, ppi_fit):
    found = level_sums(ppi_twin, ppi_fit, (0, 1))
    labels = ppi_twin.counts.labels
    plant, pollinator = found.names["label"][0].split(" – ")
    assert plant in labels[0]
    assert pollinator in labels[1]
    assert len(found.names) == len(found.sums.entries)


def test_without_attributes_p_is_not_listed(ppi_twin, ppi_fit, relative):
    found = build_answers(ppi_twin, ppi_fit, relative, (0,))
    alike = replace(found, moved=False)
    assert "p is the same everywhere" in alike.sentence()
    assert not [name for name in alike.display(("plant",)) if "p" in name.split()]


@pytest.mark.parametrize(
    ("entries", "groups", "why"),
    [(60_000, 500, ""), (3_000_000, 5, "entries"), (60_000, 30_000, "of them")],
)
def test_intervals_of_tables_of_any_usual_size(entries, groups, why):
    said = too_many(entries, groups)
    assert said.endswith(f"{why}.") if why else not said

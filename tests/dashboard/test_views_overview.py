"""The overview's facts and pictures."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.views_overview import build_overview
from uncletc import CountTensor
from uncletc.datasets import Dataset, Provenance


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
    return Dataset(name="x", title="x", counts=counts, table=None, provenance=nothing)


def facts_of(view):
    return {label: value for label, value, _ in view.facts}


def test_share_of_steps_observed(by_hand):
    share = build_overview(by_hand).observed_share
    assert share.tolist() == [pytest.approx([0.75, 0, 0]), pytest.approx([0, 0, 0.25])]


def test_labels_and_modes(by_hand):
    view = build_overview(by_hand)
    assert (view.row_labels, view.column_labels) == (("r0", "r1"), ("c0", "c1", "c2"))
    assert (view.row_mode, view.column_mode, view.last_mode) == ("row", "column", "step")


def test_sums_along_the_steps(by_hand):
    steps = build_overview(by_hand).per_step
    assert steps["step"].tolist() == ["s0", "s1", "s2", "s3"]
    assert steps["counted"].tolist() == [5, 0, 0, 9]
    assert steps["observed"].tolist() == [1, 1, 0, 2]


def test_facts(by_hand):
    assert facts_of(build_overview(by_hand)) == {
        "Size": "2 × 3 × 4",
        "Counted": "16.7%",
        "Zeros": "25.0%",
        "Mean count": "3.5",
        "Attributes": "2",
    }


def test_attribute_quantiles(by_hand):
    attributes = build_overview(by_hand).attributes
    assert attributes["attribute"].tolist() == ["wind", "beds"]
    assert attributes["median"].tolist() == [0.25, 1.0]
    assert attributes["5th percentile"].iloc[0] == pytest.approx(0.025)
    assert attributes["95th percentile"].iloc[0] == pytest.approx(0.475)


@pytest.mark.parametrize("name", ["covid_twin", "ppi_twin"])
def test_twins(name, request):
    dataset = request.getfixturevalue(name)
    counts = dataset.counts
    view = build_overview(dataset)
    assert view.observed_share.mean() == pytest.approx(counts.share_observed)
    assert (view.observed_share > 0).sum() == len(np.unique(counts.indices[:, :2], axis=0))
    assert view.per_step["counted"].sum() == counts.counts.sum()
    assert view.per_step["observed"].sum() == counts.n_observed
    assert len(view.attributes) == counts.n_attributes

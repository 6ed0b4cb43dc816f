"""The reader's statement about the scale."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.anchors import Anchor, axis_title

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


def test_default_needs_no_assumption():
    assert Anchor().kind == "relative"


def test_axis_says_what_fixes_the_scale():
    relative, mean, best = (axis_title(anchor.scale(P)) for anchor in ANCHORS)
    assert relative == "relative p (median = 1)"
    assert "mean detection is 50%" in mean
    assert "best entry detects everything" in best

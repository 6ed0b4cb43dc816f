"""Answers of pairs, species, guilds and seasons: sums agree, and follow what is shown."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.ppi.view import BY, build_ppi_view
from uncletc import Anchor


@pytest.fixture(scope="module")
def view(ppi_twin, ppi_fit):
    return build_ppi_view(ppi_twin, ppi_fit, Anchor(kind="mean", value=0.3))


def test_every_table_adds_up_to_the_whole(view):
    answers = view.answers
    for by in BY:
        table = answers.tables[by]
        assert table["reported"].sum() == answers.total["reported"]
        assert table["rate"].sum() == pytest.approx(answers.total["rate"])
        assert np.isfinite(table["detection"]).all()


def test_what_is_left_out_is_in_no_table(ppi_twin, ppi_fit, view):
    some = build_ppi_view(
        ppi_twin, ppi_fit, Anchor(kind="mean", value=0.3), years=[2012], guilds=["bee"]
    )
    assert some.answers.tables["season"]["season"].tolist() == ["2012"]
    assert some.answers.tables["guild"]["guild"].tolist() == ["bee"]
    assert some.answers.total["reported"] < view.answers.total["reported"]
    assert some.answers.total["reported"] == some.interactions["interactions"].sum()


def test_pairs_have_p_of_their_visits_with_a_count(ppi_twin, ppi_fit, view):
    counts, row = ppi_twin.counts, view.interactions.iloc[0]
    pair = row[["plant_index", "pollinator_index"]].to_numpy(dtype=int)
    where = counts.indices[(counts.indices[:, :2] == pair).all(axis=1)]
    p = view.scale.detection(ppi_fit.detection(counts.attributes_at(where))).mean()
    table = view.answers.tables["pair"].set_index("pair")
    assert table.loc[row["label"], "detection"] == pytest.approx(p)

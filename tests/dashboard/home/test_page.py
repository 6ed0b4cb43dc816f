"""Home: both answers once their fits have finished, and the ways on."""

from dataclasses import replace

import numpy as np
import pytest

from dashboard.home.view import detection_map, detection_matrix, headline, place_means
from dashboard.shared.charts import answers
from dashboard.shared.charts.answers import dense, detection_grids
from dashboard.shared.charts.places import pair_columns
from dashboard.shared.text.words import times
from tests.dashboard.looking import charts, ended, open_screen, short_fits, waiting, words
from uncletc import Anchor, Joint

FEW = {"rank": 2, "max_iter": 12, "tol": 0.0, "effects": (), "solver": Joint(network="never")}


def test_both_answers_and_the_ways_on(tmp_path):
    with short_fits(tmp_path, FEW):
        at = open_screen(None)
        assert waiting(at)
        ended(at, lambda page: charts(page) and not waiting(page))
    text = words(at)
    assert "**United States, 2021-01-01 to 2021-03-01.** Reported **" in text
    assert "**All interactions together.** Reported **" in text
    assert text.count("Simulated counts.") == 2
    shown = [*at.main.title, *at.main.header, *at.main.markdown, *at.main.caption]
    assert len(" ".join(each.value for each in shown).split()) <= 150
    pages = [each.proto.page for each in at.get("page_link")]
    assert pages == ["covid", "ppi", "table", "lab"]
    assert not at.error


def test_pictures_hold_mean_p(covid_twin, covid_fit, ppi_twin, ppi_fit):
    grids = detection_grids(covid_twin, covid_fit, Anchor())
    numbers = detection_map(covid_twin, grids).numbers
    assert np.nanmean(numbers) == pytest.approx(np.nanmean(grids.p), rel=0.2)
    grids = detection_grids(ppi_twin, ppi_fit, Anchor())
    matrix = detection_matrix(ppi_twin, grids)
    assert matrix.seen.to_numpy().sum() == ppi_twin.counts.counts.sum()
    plant, pollinator = matrix.p.stack().index[0]
    where = ppi_twin.counts.labels[0].index(plant), ppi_twin.counts.labels[1].index(pollinator)
    assert matrix.p.loc[plant, pollinator] == pytest.approx(
        grids.p[where][np.isfinite(dense(ppi_twin.counts)[where])].mean()
    )


def test_the_headline_says_where_the_order_is_open(ppi_twin, ppi_fit, monkeypatch):
    assert "the median" not in headline(ppi_twin, ppi_fit, Anchor())
    monkeypatch.setattr(answers, "undecided", lambda *_: True)
    pairs = tuple(ppi_twin.table[pair_columns(ppi_twin)].to_numpy().T)
    p = place_means(ppi_twin, detection_grids(ppi_twin, ppi_fit, Anchor()))[pairs]
    seen = (ppi_twin.table["interactions"] > 0) & (p < np.nanmedian(p))
    table = ppi_twin.table.assign(interactions=seen.astype(int))
    words = headline(replace(ppi_twin, table=table), ppi_fit, Anchor())
    assert "almost any of these interactions" in words
    assert f"p is **{times(answers.contrast(p[seen]))}** as high" in words  # as on its page


def test_the_headline_names_what_was_reported_and_what_is_estimated(ppi_twin, ppi_fit):
    reported = f"{ppi_twin.counts.counts.sum():,}"
    for anchor, part in ((Anchor(), "as high"), (Anchor(kind="mean", value=0.25), "% reported")):
        words = headline(ppi_twin, ppi_fit, anchor)
        assert reported in words
        assert part in words

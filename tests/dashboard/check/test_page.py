"""The Model check page under Streamlit's own test runner, with short fits."""

from dataclasses import replace

import pandas as pd
import pytest

from tests.dashboard.looking import PLAIN, charts, open_own, open_screen, read_own, words
from uncletc import StopReason, checking

CHARTS = ("deciles", "quantiles", "groups")


@pytest.fixture
def open_page(show, covid_fit, ppi_fit):
    """Open the page with a fit made beforehand."""

    def run(data="COVID-19", **address):
        found = covid_fit if data == "COVID-19" else ppi_fit
        show(replace(found, stop=StopReason.TOLERANCE))
        return open_screen("check", data=data, **PLAIN, **address)

    return run


def test_verdict_scores_and_every_check(open_page, covid_twin):
    at = open_page()
    text = words(at)
    held = int(checking.held_out(covid_twin.counts, kind="entry").sum())
    assert f"{held:,} of the {covid_twin.counts.n_observed:,} counts" in text
    # Two patterns are too few for these counts, and the page must say so.
    assert "Poor fit: interpret with caution" in text
    assert "The held-out log score is **" in text
    keys = {"residual-map", "outside-map"}
    assert keys <= {key for m in at.get("bidi_component") for key in keys if key in m.proto.json}


def test_a_link_opens_the_same_view(open_page):
    at = open_page("Plant–pollinator", ppi_held="interactions", ppi_by="guild")
    assert "interactions** with all their counts" in words(at)
    levels = dict(zip(CHARTS, charts(at), strict=True))["groups"]["data"][0]["y"]
    assert sorted(levels) == ["bee", "beetle", "butterfly", "fly", "wasp"]


@pytest.mark.usefixtures("cache_of_the_file")
def test_too_few_counts_to_hold_some_out_are_a_sentence():
    frame = pd.DataFrame({"site": list("ab"), "week": [1, 2], "n": [3, 4]})
    at = open_own("check", read_own(frame, modes=("site", "week"), count="n"))
    assert "too few counts to hold out a fifth" in at.info[0].value

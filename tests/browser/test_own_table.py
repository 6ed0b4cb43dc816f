"""A reader's own table in a real browser: from a file to its results, and forgotten."""

import re

import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser.reading import finished, menu, read_page, settle
from uncletc import simulate

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

MATRIX = ".st-key-table-matrix .main-svg"
MARKUP = "![p](http://127.0.0.1:9/{}.png)"
"""Markdown that would have the browser ask another server, if a page took names for Markdown."""


@pytest.fixture
def table(tmp_path):
    """360 simulated counts, whose columns and levels have hostile names."""
    counts, _ = simulate((10, 9, 8), 1, observed=0.5, attributed=0.5, n_attributes=1, seed=3)
    plant, pollinator, day = counts.indices.T
    frame = pd.DataFrame(
        {
            MARKUP.format("site"): [f"{MARKUP.format('q')}{i}" for i in plant],
            "**pollinator**": [f"Pollinator {i}" for i in pollinator],
            "[day](http://127.0.0.1:9/l)": day + 1,
            "seen": counts.counts,
        }
    )
    path = tmp_path / "visits.csv"
    frame.to_csv(path, index=False)
    return path


def upload(page, path):
    page.locator("input[type=file]").first.set_input_files(path)
    expect(counted(page)).to_be_visible()
    settle(page)


def counted(page):
    return page.locator("strong", has_text="360 counts")


def test_from_a_file_to_results_and_forgotten(visit, table):
    page = visit("/table").page
    upload(page, table)
    page.get_by_text("Surveys of p or of the true number").click()
    settle(page)
    page.locator("input[type=file]").nth(1).set_input_files(table)  # no surveys
    expect(page.get_by_text("must have a column 'estimate'")).to_be_visible()
    page.get_by_role("button", name="Remove", exact=True).click()  # the box stays open
    expect(page.get_by_text("must have a column")).to_have_count(0)
    page.get_by_role("button", name="See what was missed").click()
    finished(page, MATRIX)
    assert not {"plant"} & set(re.findall(r"[?&]([^=&]+)=", page.url))
    for name in ("What if", "Drivers", "Model check", "Methods"):
        menu(page).get_by_role("link", name=name).click()
        expect(page).to_have_title(f"{name} · uncletc")
        settle(page)

    menu(page).get_by_role("link", name="Your table").click()
    page.locator(".st-key-part").get_by_text("The table").click()
    # The table is the first visitor's alone.
    stranger = visit("/table?part=What+was+missed", user="another").page
    expect(stranger.get_by_text("There is no table of yours yet")).to_be_visible()
    page.get_by_role("button", name="Forget it").click()
    expect(counted(page)).to_have_count(0)
    finished(page, ".st-key-sample")
    read_page(page, "Your table")

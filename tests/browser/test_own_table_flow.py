"""A reader's own table in a real browser: from a file to the first matrix, kept, and forgotten."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import LONGEST, PHONE, finished, in_address, settle, sideways

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

SIZES = {"plant": 30, "pollinator": 40, "visit": 12}
MATRIX = ".st-key-table-matrix .main-svg"


@pytest.fixture(scope="module")
def visits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated visits of 40 pollinators to 30 plants on 12 days, in wind that hides some."""
    rng = np.random.default_rng(3)
    plant, pollinator, visit = (
        index.ravel() for index in np.meshgrid(*map(np.arange, SIZES.values()), indexing="ij")
    )
    wind = rng.random(SIZES["visit"])[visit]
    rate = np.exp(0.8 * rng.normal(size=30)[plant] + 0.8 * rng.normal(size=40)[pollinator])
    frame = pd.DataFrame(
        {
            "plant": [f"Plant {i + 1:02d}" for i in plant],
            "pollinator": [f"Pollinator {i + 1:02d}" for i in pollinator],
            "visit": visit + 1,
            "n_seen": rng.poisson(1.5 * rate * (0.9 - 0.6 * wind)),
            "wind": wind.round(3),
        }
    )
    path = tmp_path_factory.mktemp("own") / "visits.csv"
    frame.sample(frac=0.5, random_state=1).to_csv(path, index=False)
    return path


def bring(page: Page, path: Path) -> None:
    page.locator("input[type=file]").first.set_input_files(path)
    expect(page.get_by_test_id("stAlertContentSuccess").get_by_text("7,200 counts")).to_be_visible()
    settle(page)


def test_from_a_file_to_the_first_matrix(visit, visits):
    seen = visit("/table")
    page = seen.page
    bring(page, visits)
    page.get_by_role("button", name="See what was missed").click()
    page.locator(MATRIX).first.wait_for(timeout=LONGEST)
    expect(page.get_by_text(re.compile("Over 1,200 pairs of plant and pollinator"))).to_be_visible()
    finished(page, MATRIX)
    assert not {"mine", "plant"} & set(re.findall(r"[?&]([^=&]+)=", page.url))
    nav = page.get_by_test_id("stSidebarNav")
    nav.get_by_role("link", name="What if").click()
    expect(page.get_by_role("heading", name="A", exact=True)).to_be_visible()
    other = visit("/explore")  # the table is the first visitor's alone
    expect(other.page.get_by_text("There is no table of yours yet")).to_be_visible()


HOSTILE = "![p](http://127.0.0.1:9/pixel.png)site,[w](http://127.0.0.1:9/l)eek,**k**,seen"
PAGES = ("What if", "Drivers", "Model check", "Methods")


def test_no_name_of_a_table_makes_a_page_ask_another_origin(visit, tmp_path):
    path = tmp_path / "hostile.csv"
    rows = [
        f"![q](http://127.0.0.1:9/q.png){i},{w},{(i * w) % 5},{i + w}"
        for i in range(9)
        for w in range(6)
    ]
    path.write_text("\n".join([HOSTILE, *rows]), encoding="utf-8")
    seen = visit("/table")
    page, asked = seen.page, []
    page.on("request", lambda request: asked.append(request.url))
    page.locator("input[type=file]").first.set_input_files(path)
    expect(page.get_by_test_id("stAlertContentSuccess").get_by_text("54 counts")).to_be_visible()
    page.get_by_role("button", name="See what was missed").click()
    page.locator(".js-plotly-plot .main-svg").first.wait_for(timeout=LONGEST)
    for name in PAGES:
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=name).click()
        page.get_by_role("heading", level=1).first.wait_for()
        settle(page)
    own = page.url.split("/", 3)[2]
    strangers = [url for url in asked if url.startswith("http") and url.split("/", 3)[2] != own]
    assert asked
    assert not strangers


def test_it_stays_by_choice_until_it_is_forgotten(visit, visits):
    seen = visit("/table")
    page = seen.page
    bring(page, visits)
    page.locator(".st-key-own-save label").first.click()
    expect(page.get_by_text("who has that address has the table")).to_be_visible()
    token = in_address(page, "mine")
    assert token is not None
    page.reload()
    expect(page.get_by_test_id("stAlertContentSuccess").get_by_text("7,200 counts")).to_be_visible()
    settle(page)
    page.get_by_role("button", name="Forget it").click()
    expect(page.get_by_test_id("stAlertContentSuccess").get_by_text("7,200 counts")).to_have_count(
        0
    )
    gone = visit(f"/table?mine={token}")
    expect(gone.page.get_by_text("has expired")).to_be_visible()


def test_a_phone_shows_it_without_scrolling_sideways(visit, visits):
    seen = visit("/table", **PHONE)
    page = seen.page
    bring(page, visits)
    assert sideways(page) <= 0
    page.get_by_role("button", name="See what was missed").click()
    finished(page, MATRIX)
    assert sideways(page) <= 0

"""Methods in a real browser: an own table is compared, and stays with its owner."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard.table.files import sample_table
from tests.browser.looking import LONGEST, settle

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.csv"
    sample_table().to_csv(path, index=False)
    return path


def press(page: Page, name: str) -> None:
    """Press a button once nothing runs: a click on what is about to be drawn anew would be lost."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    page.wait_for_timeout(1_000)
    page.get_by_role("button", name=name, exact=True).click()


def upload(page: Page, path: Path) -> None:
    """Bring a table on its page, and go on to the comparison."""
    page.locator(".st-key-own_upload_0 input[type=file]").set_input_files(path)
    expect(page.get_by_text("720 counts").first).to_be_visible()
    settle(page)
    page.get_by_role("link", name="Compare methods on it").click()
    expect(page.get_by_text(re.compile("a quick look"))).to_be_visible()


def only(page: Page, *methods: str) -> None:
    """Compare these methods alone."""
    box = page.locator(".st-key-compare")
    box.get_by_role("button", name="Clear all").click()
    for method in methods:
        settle(page)
        box.get_by_role("combobox").fill(method)
        page.get_by_role("option", name=method, exact=True).click()
    page.keyboard.press("Escape")
    settle(page)


def compare(page: Page, path: Path) -> None:
    upload(page, path)
    only(page, "NTF-CPD-KL", "BPTF")
    press(page, "Compare")
    expect(page.get_by_text(re.compile("predicts hidden counts best"))).to_be_visible(
        timeout=LONGEST
    )
    expect(page.locator(".st-key-scores .bars .point")).to_have_count(2)


def test_an_own_table_is_compared_and_stays_with_its_owner(visit, mine):
    seen = visit("/table")
    compare(seen.page, mine)
    other = visit(seen.page.url)  # the table is the first visitor's alone
    expect(other.page.get_by_text("There is no table of yours yet")).to_be_visible()
    expect(other.page.get_by_text("720 counts")).to_have_count(0)

"""Methods in a real browser: tables, an own table compared, cancel, phone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dashboard.table.files import sample_table
from tests.browser.looking import LONGEST, PHONE, settle, sideways
from uncletc.paper import tables

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


def test_tables_or_one_sentence(visit):
    seen = visit("/methods")
    page = seen.page
    try:
        tables.committed("summary")
    except FileNotFoundError:
        expect(page.get_by_text(re.compile("did not come with this copy"))).to_be_visible()
    else:
        expect(page.get_by_text(re.compile("Over Tables 1 to 3"))).to_be_visible()
        expect(page.locator(".st-key-paper-0 .main-svg").first).to_be_visible()
    assert not seen.errors
    assert not seen.strangers


def test_an_own_table_is_compared_and_stays_with_its_owner(visit, mine):
    seen = visit("/table")
    compare(seen.page, mine)
    other = visit(seen.page.url)  # the table is the first visitor's alone
    expect(other.page.get_by_text("There is no table of yours yet")).to_be_visible()
    expect(other.page.get_by_text("720 counts")).to_have_count(0)
    for each in (seen, other):
        assert not each.errors
        assert not each.strangers


def test_a_long_comparison_can_be_cancelled(visit, mine):
    seen = visit("/table")
    page = seen.page
    upload(page, mine)
    only(page, "POND")
    page.locator(".st-key-folds").get_by_role("slider").press("End")
    page.wait_for_function("location.search.includes('folds=5')")
    press(page, "Compare")
    expect(page.get_by_text(re.compile(r"POND: fold \d of 5"))).to_be_visible(timeout=LONGEST)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    expect(page.get_by_text("to run 1 of 1 methods")).to_be_visible()
    assert not seen.errors
    assert not seen.strangers


def test_a_phone_shows_it_without_scrolling_sideways(visit, mine):
    seen = visit("/table", **PHONE)
    page = seen.page
    upload(page, mine)
    assert sideways(page) <= 0
    assert not seen.errors
    assert not seen.strangers

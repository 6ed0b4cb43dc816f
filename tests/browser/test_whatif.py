"""What-if in a real browser: compare two settings, one county on three maps, a link."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from dashboard.shared.sidebar.model import PAPER
from tests.browser.reading import LONGEST, settle, slider, wait_for_address

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]

QUICK = "&".join(f"{side}_model={quote(PAPER)}&{side}_layers=0&{side}_members=1" for side in "ab")


def test_two_settings_are_compared_and_a_county_is_chosen_on_all_maps(visit):
    page = visit(f"/whatif?{QUICK}&a_rank=2&b_rank=1").page
    page.get_by_role("button", name="Compare").click()
    verdict = page.get_by_text(re.compile("predicts held-out counts better|about equally well"))
    expect(verdict).to_be_visible(timeout=LONGEST)
    expect(page.get_by_text("Download & cite")).to_be_visible(timeout=LONGEST)
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    settle(page)
    boxes = page.get_by_placeholder("Find a county …")
    expect(boxes).to_have_count(3)
    boxes.first.fill("Harris County, TX")
    boxes.first.press("Enter")
    wait_for_address(page, "county=48201")
    expect(page.get_by_text(re.compile("Harris County, T.*relative p is"))).to_be_visible()
    for box in boxes.all():
        expect(box).to_have_value("Harris County, TX")

    other = visit(page.url).page  # fitted before: nothing to press
    expect(other.locator(".st-key-shift .main-svg").first).to_be_visible()
    expect(slider(other, "b_rank")).to_have_value("1")

"""What-if in a real browser: compare, deep link, county on three maps, history, phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import LONGEST, settle, slider

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

# Quick fits: linear detection, one member, low rank.
QUICK = "a_rank=2&b_rank=1&a_layers=0&b_layers=0&a_members=1&b_members=1"
PLANTS = f"/whatif?data=Plant–pollinator&ppi_counts=simulated&{QUICK}"
COUNTIES = f"/whatif?covid_counts=simulated&{QUICK}"


def compare(page: Page) -> None:
    """Press Compare where that is still needed, and wait for all four fits."""
    expect(
        page.get_by_text("Download & cite").or_(page.get_by_text("Change A or B"))
    ).to_be_visible()
    if page.get_by_text("Change A or B").is_visible():
        page.get_by_role("button", name="Compare").click()
        expect(page.get_by_text("fits finished")).to_be_visible()
    expect(page.get_by_text("Download & cite")).to_be_visible(timeout=LONGEST)
    verdict = re.compile("predicts held-out counts better|about equally well")
    expect(page.get_by_text(verdict)).to_be_visible(timeout=LONGEST)
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    settle(page, 1_000)


@pytest.mark.slow
def test_plants_are_compared_and_the_link_opens_the_same_view_elsewhere(visit):
    seen = visit(PLANTS)
    page = seen.page
    compare(page)
    for key in ("map-a", "map-b", "map-difference", "shift"):
        expect(page.locator(f".st-key-{key} .main-svg").first).to_be_visible()
    expect(page.get_by_text(re.compile("MAE of p against the simulated truth"))).to_be_visible()
    expect(page.locator(".st-key-shift .annotation-text")).to_have_count(20)

    other = visit(page.url)
    compare(other.page)  # fitted before: nothing to press
    expect(slider(other.page, "b_rank")).to_have_value("1")


def test_a_county_found_on_one_map_is_chosen_on_the_others(visit):
    seen = visit(COUNTIES)
    page = seen.page
    compare(page)
    boxes = page.get_by_placeholder("Find a county …")
    expect(boxes).to_have_count(3)
    boxes.first.fill("Harris County, TX")
    boxes.first.press("Enter")
    page.wait_for_function("location.search.includes('county=48201')")
    expect(page.get_by_text(re.compile(r"Harris County, T.*relative p is"))).to_be_visible()
    for box in boxes.all():
        expect(box).to_have_value("Harris County, TX")

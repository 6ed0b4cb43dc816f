"""Home to plant–pollinator page in a real browser: bars, matrix and list choose alike."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.looking import finished, settle

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

PAGE = "/ppi?ppi_counts=simulated&ppi_rank=2&ppi_members=1"


def drawn(page: Page) -> Page:
    """Wait until the fit is over and the page is whole."""
    return finished(page, ".st-key-visits .main-svg")


def interactions_in_address(page: Page) -> list[str]:
    found: list[str] = page.evaluate("new URL(location).searchParams.getAll('interaction')")
    return found


def wait_for_chosen(page: Page, n: int) -> list[str]:
    """Wait until so many interactions are drawn and outlined, and return their names."""
    names = page.locator(".st-key-visits .legendtext")
    expect(names).to_have_count(n)
    expect(page.locator(".st-key-matrix .shapelayer path")).to_have_count(n)
    settle(page)
    return names.all_text_contents()


def click(page: Page, mark: Locator) -> None:
    """Click on a mark of a chart, which Plotly sees only where the mouse has moved to."""
    mark.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box = mark.bounding_box()
    assert box
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*at)
    page.wait_for_timeout(300)
    page.mouse.click(*at)


def test_from_home_to_interactions_chosen_by_click_and_back_by_link(visit):
    seen = visit("/")
    page = seen.page
    page.get_by_role("link", name="Which interactions were overlooked?").click()
    page.wait_for_function("location.pathname === '/ppi'")
    expect(page.get_by_role("heading", name="Which interactions were overlooked?")).to_be_visible()
    page.goto(page.url.split("/ppi")[0] + PAGE)
    drawn(page)
    first = wait_for_chosen(page, 1)
    cells = page.locator(".st-key-matrix .scatterlayer .point")
    click(page, cells.nth(200))
    second = wait_for_chosen(page, 2)
    assert second[:1] == first
    click(page, page.locator(".st-key-bars-top .barlayer .trace:nth-child(2) .point path").nth(4))
    third = wait_for_chosen(page, 3)
    assert third[:2] == second
    click(page, cells.nth(200))
    assert wait_for_chosen(page, 2) == interactions_in_address(page) == [third[0], third[2]]

    other = visit(page.url)
    drawn(other.page)
    assert wait_for_chosen(other.page, 2) == [third[0], third[2]]


def test_keyboard_chooses_and_order_and_season_keep_the_choice(visit):
    seen = visit(PAGE)
    page = drawn(seen.page)
    first = wait_for_chosen(page, 1)
    box = page.get_by_role("combobox", name=re.compile("Interactions"))
    box.focus()
    page.keyboard.type("plant 01 – wasp 01")
    page.wait_for_timeout(500)
    page.keyboard.press("Enter")
    second = wait_for_chosen(page, 2)
    assert second[:1] == first
    assert "wasp 01" in second[1]

    labels = page.locator(".st-key-matrix .ytick text")
    before = labels.all_text_contents()
    page.locator(".st-key-order").get_by_text("name", exact=True).click()
    page.wait_for_function("location.search.includes('order=name')")
    expect(labels.first).not_to_have_text(before[0])
    assert wait_for_chosen(page, 2) == second

    page.locator(".st-key-seasons").get_by_text("2012").click()
    page.wait_for_function("location.search.includes('seasons=2012')")
    expect(page.locator(".st-key-visits .annotation-text")).to_have_text(["2012"])
    assert interactions_in_address(page) == second

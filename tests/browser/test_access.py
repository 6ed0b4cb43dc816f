"""What readers with other eyes, hands and machines need, measured in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import PHONE, finished, settle

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
HOME, LAB = ".st-key-home-matrix .main-svg", ".st-key-lab-next"


def faint(page: Page) -> list[str]:
    """Texts that are hard to read."""
    found: list[str] = page.evaluate(CONTRAST)
    return found


def focused(page: Page) -> dict[str, str]:
    """What has the focus, and the ring around it."""
    where: dict[str, str] = page.evaluate(
        "() => { const at = document.activeElement, style = getComputedStyle(at);"
        " return {tag: at.tagName, classes: at.className, ring: style.outlineStyle,"
        " width: style.outlineWidth, color: style.outlineColor} }"
    )
    return where


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_and_the_keyboard_followed(visit, scheme):
    seen = visit("/", color_scheme=scheme)
    page = finished(seen.page, HOME)
    assert faint(page) == []
    expect(page).to_have_title("Home · uncletc")
    page.get_by_role("heading", level=1).click()
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        stops.append(focused(page))
    # The map has a ring of its own; after the last stop come the page and its scroll area.
    outside = [stop for stop in stops if stop["tag"] not in ("DIV", "BODY", "MAIN")]
    assert outside
    assert [stop for stop in outside if stop["ring"] != "solid"] == []
    assert not [stop for stop in stops if "modebar" in stop["classes"]]
    page.goto(f"{page.url.split('?')[0]}lab?step=entry&hide=questions")
    assert faint(finished(page, LAB)) == []


def test_an_embedded_page_has_no_menu(visit):
    page = finished(visit("/lab?embed=true").page, LAB)
    expect(page.get_by_test_id("stSidebarNav")).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_on_a_phone_the_menu_has_a_name_and_nothing_moves_for_who_asked(visit):
    page = finished(visit("/lab", reduced_motion="reduce", **PHONE).page, LAB)
    menu = page.get_by_test_id("stExpandSidebarButton")
    said = menu.evaluate("node => getComputedStyle(node, '::after').content")
    assert said == '"Menu"'
    lasts = menu.evaluate("node => getComputedStyle(node).transitionDuration")
    assert all(float(part) < 0.001 for part in re.findall(r"([\d.e-]+)s", lasts))
    menu.click()
    expect(page.get_by_test_id("stSidebarNav")).to_be_visible()
    settle(page)

"""Every page at both widths and in both colour schemes, with the eyes and hands that readers have.

No page has errors on the console or asks another machine: see `visit`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from dashboard.shared.sidebar.model import PAPER
from tests.browser.reading import PHONE, finished, menu, settle, sideways

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

T = TypeVar("T")
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
QUICK = f"?data={quote('Plant–pollinator')}&ppi_model={quote(PAPER)}&ppi_layers=0&ppi_rank=2"
PAGES = {  # the path, and what is drawn last, by CSS
    "Home": ("", ".st-key-home-matrix .main-svg"),
    "COVID-19": ("covid", ".st-key-bars-bottom .main-svg"),
    "Plant–pollinator": ("ppi", ".st-key-visits .main-svg"),
    "Your table": ("table", ".st-key-sample"),
    "What if": ("whatif", ".st-key-compare"),
    "Drivers": ("drivers", ".st-key-explanation .main-svg"),
    "Model check": (f"check{QUICK}", ".st-key-quantiles .main-svg"),
    "Methods": ("methods", ".st-key-paper-table table"),
    "Lab": ("lab?step=entry&hide=questions", ".st-key-lab-next"),
}


def nameless(page: Page) -> list[str]:
    """Controls that nothing names, as HTML."""
    found: list[str] = page.evaluate(
        "[...document.querySelectorAll('button, input, [role=slider]')]"
        ".filter(part => part.offsetParent && !part.closest('.modebar') &&"
        " !(part.ariaLabel || part.labels?.length || part.textContent.trim() || part.title ||"
        " part.getAttribute('aria-labelledby') || part.placeholder))"
        ".map(part => part.outerHTML.slice(0, 200))"
    )
    return found


def faint(page: Page) -> list[str]:
    """Texts that hardly stand out."""
    found: list[str] = page.evaluate(CONTRAST)
    return found


def soon(read: Callable[[Page], T], page: Page, wanted: T) -> T:
    """What is read of a page, which takes a while to follow a scheme or a width."""
    found = read(page)
    for _ in range(40):
        if found == wanted:
            break
        page.wait_for_timeout(500)
        found = read(page)
    return found


def is_too_wide(page: Page) -> bool:
    return sideways(page) > 0


def follow_the_keyboard(page: Page) -> None:
    """Each stop of the Tab key is seen, and none is a button over a chart."""
    page.get_by_role("heading", level=1).click()
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                "() => { const at = document.activeElement; return {tag: at.tagName,"
                " classes: at.className, ring: getComputedStyle(at).outlineStyle} }"
            )
        )
    # The map has a ring of its own; after the last stop come the page and its scroll area.
    outside = [stop for stop in stops if stop["tag"] not in ("DIV", "BODY", "MAIN")]
    assert outside
    assert [stop for stop in outside if stop["ring"] != "solid"] == []
    assert not [stop for stop in stops if "modebar" in stop["classes"]]


def is_dark(page: Page) -> bool:
    background = page.eval_on_selector(
        "[data-testid=stApp]", "app => getComputedStyle(app).backgroundColor"
    )
    return sum(map(int, re.findall(r"\d+", background)[:3])) < 200


@pytest.mark.parametrize("names", [list(PAGES)[::2], list(PAGES)[1::2]], ids=" ".join)
def test_pages_can_be_read(visit, names: list[str]):
    """Each is opened once, light and on a desktop, then turned dark and narrow as a phone."""
    page = visit("/lab", color_scheme="light").page
    address, wide = page.url.split("lab")[0], page.viewport_size
    for name in names:
        path, last = PAGES[name]
        page.set_viewport_size(wide)
        page.emulate_media(color_scheme="light")
        page.goto(address + path)
        finished(page, last)
        expect(page).to_have_title(f"{name} · uncletc")
        assert page.locator("html").get_attribute("lang") == "en"
        for chart in page.get_by_test_id("stPlotlyChart").all():
            assert re.search(r"\w+ \w+", chart.get_attribute("aria-label") or ""), name
        for scheme, size in (("light", wide), ("dark", PHONE["viewport"])):
            page.emulate_media(color_scheme=scheme)
            settle(page)
            assert soon(is_dark, page, scheme == "dark") == (scheme == "dark")
            page.set_viewport_size(size)
            settle(page)
            assert not soon(is_too_wide, page, False), name
            assert nameless(page) == [], name
            assert soon(faint, page, []) == [], name
        if name == "Home":  # last, as what has the focus may open a tooltip
            page.set_viewport_size(wide)
            settle(page)
            follow_the_keyboard(page)


def test_the_menu_is_found_on_a_phone_and_left_out_where_a_page_is_embedded(visit):
    page = finished(visit("/lab?embed=true").page, ".st-key-lab-next")
    expect(menu(page)).to_have_count(0)
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()

    page = finished(visit("/lab", reduced_motion="reduce", **PHONE).page, ".st-key-lab-next")
    button = page.get_by_test_id("stExpandSidebarButton")
    assert button.evaluate("node => getComputedStyle(node, '::after').content") == '"Menu"'
    lasts = button.evaluate("node => getComputedStyle(node).transitionDuration")
    assert all(float(part) < 0.001 for part in re.findall(r"([\d.e-]+)s", lasts))
    button.click()
    expect(menu(page)).to_be_visible()

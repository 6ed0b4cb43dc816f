"""What a reader sees on every page, in a real browser, at the default settings.

Real counts where UNCLETC_DATA_DIR is set, simulated ones elsewhere, with short fits made before.
Flows of single pages have files of their own.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from docs.screenshots import serving
from tests.browser.looking import PHONE, finished, settle, sideways

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

SCREENSHOTS = Path(__file__).parents[2] / "ci-output" / "screenshots"
NAMES = ("covid", "ppi", "whatif", "drivers", "check", "methods", "lab")
PAGES = {name: f"/{name}" for name in NAMES}
PAGES |= {"home": "/"}
LAST = {  # what a page draws last, by CSS
    "home": ".st-key-home-matrix .main-svg",
    "covid": ".st-key-bars-bottom .main-svg",
    "ppi": ".st-key-visits .main-svg",
    "whatif": ".st-key-shift .main-svg",
    "drivers": ".st-key-explanation .main-svg",
    "check": ".st-key-quantiles .main-svg",
    "methods": ".st-key-paper-table table",
    "lab": ".st-key-lab-next",
}
N_COUNTIES = 2_500


def wait_until_drawn(page: Page, name: str) -> None:
    """Wait until all charts of a page are there, final ones, and nothing runs any more."""
    finished(page, LAST[name])
    if name == "covid":
        page.locator(".st-key-map .counties path").first.wait_for()


def fills(page: Page) -> list[str]:
    """The colour of every county on the map."""
    counties = page.locator(".st-key-map .counties path")
    return counties.evaluate_all("paths => paths.map(path => path.getAttribute('fill'))")


def pixels(page: Page) -> np.ndarray:
    """The picture of the counties alone, without colour bar and title; (height, width, 3)."""
    canvas = page.locator(".st-key-map .canvas")
    canvas.scroll_into_view_if_needed()
    picture = canvas.screenshot()
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def areas(picture: np.ndarray) -> dict[tuple[int, ...], int]:
    """Colours that fill more than a few pixels, and how many."""
    colors, sizes = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    return {
        tuple(color): size
        for color, size in zip(colors.tolist(), sizes.tolist(), strict=True)
        if size >= 30
    }


def menu(page: Page) -> Locator:
    return page.get_by_test_id("stSidebarNav")


def test_first_visit_to_a_new_dashboard_may_be_to_any_page(visit, tmp_path):
    with serving(tmp_path) as new:
        page = visit(f"{new}/covid").page
        expect(page.get_by_role("heading", name="COVID-19")).to_be_visible()
        expect(menu(page).get_by_role("link", name="Plant–pollinator")).to_be_visible()
        page.close()  # before the server ends, which it would ask again


def test_counties_are_coloured_by_their_own_numbers(visit):
    seen = visit("/covid")
    page = seen.page
    wait_until_drawn(page, "covid")
    colors = fills(page)
    assert len(colors) >= N_COUNTIES
    assert len(set(colors)) >= 20
    picture = pixels(page)
    big = areas(picture)
    assert len(big) >= 20
    # The most common colour, the page between the coasts, does not fill the picture.
    assert max(big.values()) < 0.7 * picture.shape[0] * picture.shape[1]


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


def is_dark(page: Page) -> bool:
    background = page.eval_on_selector(
        "[data-testid=stApp]", "app => getComputedStyle(app).backgroundColor"
    )
    return sum(map(int, re.findall(r"\d+", background)[:3])) < 200


@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize("name", PAGES)
def test_page_at_every_size_and_in_both_colour_schemes(visit, name, size):
    """A phone opens it dark and turns light, a desktop the other way round."""
    options, schemes = {}, ["light", "dark"]
    if size == "phone":
        options, schemes = PHONE, ["dark", "light"]
    seen = visit(PAGES[name], color_scheme=schemes[0], **options)
    page = seen.page
    wait_until_drawn(page, name)
    assert sideways(page) <= 0
    assert page.locator("html").get_attribute("lang") == "en"
    assert nameless(page) == []
    for chart in page.get_by_test_id("stPlotlyChart").all():
        assert re.search(r"\w+ \w+", chart.get_attribute("aria-label") or "")

    height = page.eval_on_selector("[data-testid=stMain]", "main => main.scrollHeight")
    page.set_viewport_size({"width": page.viewport_size["width"], "height": height + 20})
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        settle(page)
        assert is_dark(page) == (scheme == "dark")
        page.screenshot(path=SCREENSHOTS / f"{name}-{size}-{scheme}.png")


def test_pages_are_reached_through_the_menu(visit):
    seen = visit("/")
    page = seen.page
    wait_until_drawn(page, "home")
    for link, name in (
        ("COVID-19", "covid"),
        ("What if", "whatif"),
        ("Plant–pollinator", "ppi"),
        ("Drivers", "drivers"),
        ("Lab", "lab"),
        ("Home", "home"),
    ):
        menu(page).get_by_role("link", name=link).click()
        wait_until_drawn(page, name)

"""What tests in a real browser share: a phone, how they wait, and what they read of a page."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import Locator, Page, expect

T = TypeVar("T")
CONTRAST = (Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
LONGEST = 120_000  # milliseconds, on a busy machine


def settle(page: Page, pause: int = 300) -> None:
    """Wait until nothing runs: a click on what is about to be drawn again would be lost."""
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    page.wait_for_timeout(pause)


def finished(page: Page, last: str) -> Page:
    """Wait until a fit is over and what the page draws last is there; `last` is a CSS selector."""
    page.locator(last).first.wait_for()
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=LONGEST)
    expect(page.get_by_text("Still fitting")).to_have_count(0)
    settle(page)
    return page


def menu(page: Page) -> Locator:
    """Links to all pages."""
    return page.get_by_test_id("stSidebarNav")


def slider(page: Page, key: str) -> Locator:
    """The handle of a slider."""
    return page.locator(f".st-key-{key}").get_by_role("slider")


def in_address(page: Page, key: str) -> str | None:
    """A choice as the address has it."""
    found: str | None = page.evaluate("key => new URL(location).searchParams.get(key)", key)
    return found


def wait_for_address(page: Page, text: str) -> None:
    """Wait until the address has a choice, as "rank=2"."""
    page.wait_for_url(re.compile(rf"[?&]{re.escape(text)}(&|$)"))


def drag(page: Page, part: Locator, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw the mouse over a part of the page, from and to shares of its width and height."""
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    assert box
    ends = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    page.mouse.move(*ends[0])
    page.mouse.down()
    page.mouse.move(*ends[1], steps=4)
    page.mouse.up()


def is_too_wide(page: Page) -> bool:
    """Whether the page can be scrolled sideways."""
    wider: list[int] = page.evaluate(
        "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".map(part => part.scrollWidth - part.clientWidth)"
    )
    return max(wider) > 0


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
    for _ in range(100):
        if found == wanted:
            break
        page.wait_for_timeout(200)
        found = read(page)
    return found


def is_dark(page: Page) -> bool:
    background = page.eval_on_selector(
        "[data-testid=stApp]", "app => getComputedStyle(app).backgroundColor"
    )
    return sum(map(int, re.findall(r"\d+", background)[:3])) < 200


def read_page(page: Page, name: str) -> None:
    """Read a page, light and on a desktop, then dark and narrow as a phone, as which it is left."""
    expect(page).to_have_title(f"{name} · uncletc")
    assert page.locator("html").get_attribute("lang") == "en"
    for chart in page.get_by_test_id("stPlotlyChart").all():
        assert re.search(r"\w+ \w+", chart.get_attribute("aria-label") or ""), name
    for scheme, size in (("light", page.viewport_size), ("dark", PHONE["viewport"])):
        page.emulate_media(color_scheme=scheme)
        settle(page)
        assert soon(is_dark, page, scheme == "dark") == (scheme == "dark")
        page.set_viewport_size(size)
        settle(page)
        assert not soon(is_too_wide, page, False), name
        assert nameless(page) == [], name
        assert soon(faint, page, []) == [], name

"""What tests in a real browser share: a phone, how they wait, and what they read of a page."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

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


def sideways(page: Page) -> int:
    """By how many pixels the page can be scrolled sideways."""
    wider: list[int] = page.evaluate(
        "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".map(part => part.scrollWidth - part.clientWidth)"
    )
    return max(wider)

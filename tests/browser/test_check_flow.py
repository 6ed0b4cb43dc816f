"""The Model check page in a real browser: verdict, choices in the address, ranks on demand."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import LONGEST, finished, in_address

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

ADDRESS = "/check?data=Plant–pollinator&ppi_counts=simulated&ppi_rank=1&ppi_members=1&ppi_layers=0"


def wait_until_drawn(page: Page) -> None:
    finished(page, ".st-key-lags .main-svg")


def test_verdict_choices_ranks_and_a_link(visit):
    seen = visit(ADDRESS)
    page = seen.page
    wait_until_drawn(page)
    verdict = page.locator(".st-key-verdict")
    expect(verdict).to_contain_text("Counts vary about")
    mark = verdict.get_by_text(re.compile("No clear misfit|Misfit"))
    expect(mark).to_be_visible()
    first = verdict.text_content()

    page.get_by_role("radio", name="guild").click()
    expect(page.locator(".st-key-groups .ytick")).to_have_count(5)
    wait_until_drawn(page)
    assert in_address(page, "ppi_by") == "guild"

    page.get_by_role("radio", name="interactions").click()
    expect(page.get_by_text("interactions with all their counts")).to_be_visible(timeout=LONGEST)
    wait_until_drawn(page)
    assert in_address(page, "ppi_held") == "interactions"
    second = verdict.text_content()
    assert second != first

    page.get_by_role("button", name="Compare ranks").click()
    page.locator(".st-key-ranks-deviance_behind .main-svg").first.wait_for(timeout=LONGEST)
    expect(page.get_by_text(re.compile("Of these 3 ranks, rank"))).to_be_visible(timeout=LONGEST)
    expect(page.get_by_role("button", name="Compare ranks")).to_have_count(0)

    other = visit(page.url)
    wait_until_drawn(other.page)
    assert other.page.locator(".st-key-verdict").text_content() == second
    expect(other.page.locator(".st-key-groups .ytick")).to_have_count(5)
    for each in (seen, other):
        assert not each.errors
        assert not each.strangers

"""The Drivers page in a real browser: from a bar to its effect, and a link that keeps it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.looking import finished

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

ADDRESS = "/drivers?data=Plant–pollinator&ppi_counts=simulated&ppi_rank=2&ppi_members=2"


def wait_until_drawn(page: Page) -> None:
    finished(page, ".st-key-explanation .main-svg")


def bars(page: Page) -> list[str]:
    """Names of the bars from top to bottom; Plotly writes them from the bottom."""
    return page.locator(".st-key-importance .ytick text").all_text_contents()[::-1]


def box(page: Page, label: str):
    return page.get_by_role("combobox", name=re.compile(label))


def test_from_a_bar_to_its_effect_and_back_by_a_link(visit):
    seen = visit(ADDRESS)
    page = seen.page
    wait_until_drawn(page)
    expect(page.get_by_text("A description, not a cause.")).to_be_visible()
    names = bars(page)
    assert box(page, "^Attribute").input_value() == names[0]

    picked = 1
    page.locator(".st-key-importance").scroll_into_view_if_needed()
    bar = page.locator(".st-key-importance .bars .point path").nth(picked).bounding_box()
    page.mouse.click(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] / 2)
    expect(box(page, "^Attribute")).to_have_value(names[picked])
    axis = page.locator(".st-key-effect-chart .x2title")  # the chart before it leaves slowly
    expect(axis.filter(has_text=names[picked])).to_be_visible()
    wait_until_drawn(page)
    assert page.evaluate("new URL(location).searchParams.get('ppi_attribute')") == names[picked]

    interaction = box(page, "^Interaction")
    interaction.evaluate("field => field.scrollIntoView({block: 'center'})")
    page.wait_for_timeout(500)  # a list that opens while the page still scrolls is closed again
    first = interaction.input_value()
    interaction.click()
    page.get_by_role("option").nth(3).click()
    expect(interaction).not_to_have_value(first)
    wait_until_drawn(page)

    other = visit(page.url)
    wait_until_drawn(other.page)
    for label in ("^Attribute", "^Interaction"):
        assert box(other.page, label).input_value() == box(page, label).input_value()
    sentence = re.compile("that of a typical entry")
    assert other.page.get_by_text(sentence).text_content() == (
        page.get_by_text(sentence).text_content()
    )
    for each in (seen, other):
        assert not each.errors
        assert not each.strangers

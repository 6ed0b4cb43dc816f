"""Settings in a real browser: other pages, links, the browser's way back, and resetting them."""

from __future__ import annotations

from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from dashboard.shared.sidebar.choice import PAPER
from tests.browser.reading import finished, menu, settle, slider, wait_for_address

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

QUICK = f"covid_layers=0&covid_model={quote(PAPER)}&covid_rank=3"


def choices(page: Page) -> dict[str, str]:
    return {key: value[0] for key, value in parse_qs(urlsplit(page.url).query).items()}


def test_settings_outlive_other_pages_and_the_way_back_and_are_reset_together(visit):
    page = finished(visit(f"/covid?{QUICK}").page, ".st-key-take-away")
    rank = slider(page, "covid_rank")
    rank.press("ArrowLeft")
    wait_for_address(page, "covid_rank=2")
    finished(page, ".st-key-take-away")
    page.get_by_text("Advanced: network, restarts, seed", exact=True).first.click()
    expect(slider(page, "covid_members")).to_be_visible()  # else it takes no key
    slider(page, "covid_members").press("ArrowRight")
    page.wait_for_function("location.search.includes('covid_members=')")
    finished(page, ".st-key-take-away")
    chosen = choices(page)

    menu(page).get_by_role("link", name="Plant–pollinator").click()
    finished(page, ".st-key-visits .main-svg")
    expect(slider(page, "ppi_rank")).to_have_value("5")
    page.go_back()
    expect(page).to_have_title("COVID-19 · uncletc")
    page.wait_for_function(  # one after the other
        "chosen => Object.entries(chosen).every("
        "([key, value]) => new URL(location).searchParams.get(key) === value)",
        arg=chosen,
    )
    expect(rank).to_have_value("2")
    settle(page)
    assert choices(page) == chosen

    page.get_by_role("button", name="Reset").first.click()
    page.wait_for_function("!/covid_(rank|members)=/.test(location.search)")  # one after the other
    expect(rank).to_have_value("15")


def test_a_copied_link_opens_the_same_settings_and_nonsense_the_usual_ones(visit):
    page = visit("/ppi?live=false&ppi_mu=50&scale=Average+detection+is+known&mean=40").page
    expect(slider(page, "mean")).to_have_value("40")
    expect(page.locator(".st-key-ppi_mu")).to_contain_text("50")
    page = visit("/ppi?ppi_rank=abc&ppi_mu=3.3&scale=foo&live=perhaps&ppi_seed=-1").page
    expect(slider(page, "ppi_rank")).to_have_value("5")
    page.wait_for_function("!location.search.includes('scale=')")
    finished(page, ".st-key-take-away")
    assert choices(page).keys() <= {"ppi_counts", "interaction"}

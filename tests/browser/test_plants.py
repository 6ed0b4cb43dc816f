"""Plant–pollinator in a real browser: pairs chosen on charts, links, and files to download."""

import io
import re

import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.browser.reading import drag, finished, menu, read_page, settle, wait_for_address
from uncletc import Fit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

LAST = ".st-key-visits .main-svg"


def chosen_in_address(page):
    return page.evaluate("new URL(location).searchParams.getAll('interaction')")


NAMES = """() => [...new Set((document.querySelector('.st-key-visits .js-plotly-plot')?.data ?? [])
    .map(line => line.name))].filter(Boolean)"""


def wait_for_chosen(page, n):
    """Wait until so many interactions are drawn and outlined, and return their names."""
    page.wait_for_function(f"({NAMES})().length === {n}")
    expect(page.locator(".st-key-matrix .shapelayer path")).to_have_count(n)
    settle(page)
    return page.evaluate(NAMES)


def click(page, mark):
    """Click on a mark of a chart, which Plotly sees only where the mouse has moved to."""
    mark.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    box = mark.bounding_box()
    assert box
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*at)
    page.wait_for_timeout(300)
    page.mouse.click(*at)


def test_pairs_are_chosen_by_click_keyboard_and_link_and_results_downloaded(visit, tmp_path):
    page = visit("/").page
    page.get_by_role("link", name="Which interactions were overlooked?").click()
    finished(page, LAST)
    first = wait_for_chosen(page, 1)
    cells = page.locator(".st-key-matrix .scatterlayer .point")
    click(page, cells.nth(200))
    second = wait_for_chosen(page, 2)
    assert second[:1] == first
    click(page, page.locator(".st-key-bars-top .barlayer .trace:nth-child(2) .point path").nth(4))
    third = wait_for_chosen(page, 3)
    assert third[:2] == second
    click(page, cells.nth(200))
    assert wait_for_chosen(page, 2) == chosen_in_address(page) == [third[0], third[2]]
    page.emulate_media(media="print")
    expect(menu(page)).to_be_hidden()
    page.emulate_media(media="null")

    other = finished(visit(page.url).page, LAST)
    assert wait_for_chosen(other, 2) == [third[0], third[2]]
    other.get_by_role("combobox", name=re.compile("Interactions")).focus()
    other.keyboard.type("plant 01 – wasp 01")
    other.wait_for_timeout(500)
    other.keyboard.press("Enter")
    chosen = wait_for_chosen(other, 3)
    assert "wasp 01" in chosen[2]
    years = other.locator(".st-key-visits .annotation-text")
    other.locator(".st-key-seasons").get_by_text("2012", exact=True).click()
    wait_for_address(other, "seasons=2012")
    expect(years).to_have_count(1)
    other.go_back()  # undoes the last choice
    other.wait_for_function("!location.search.includes('seasons=')")
    expect(years).to_have_count(3)
    assert wait_for_chosen(other, 3) == chosen

    other.locator(".st-key-boxes label").first.click()
    matrix = other.locator(".st-key-matrix[data-stale=false] .nsewdrag")
    other.wait_for_function(  # it is drawn again
        "document.querySelector('.st-key-matrix .js-plotly-plot')?._fullLayout?.dragmode"
        " === 'select'"
    )
    settle(other)
    drag(other, matrix, (0.3, 0.3), (0.6, 0.6))
    other.wait_for_function("location.search.includes('block=')")
    expect(other.get_by_text(re.compile(r"\d+ interactions together\.")).first).to_be_visible()
    other.go_back()
    expect(other.get_by_text("All interactions together.")).to_be_visible()

    page.get_by_text("Download & cite", exact=True).first.click()

    def saved(key):
        with page.expect_download() as waiting:
            page.locator(f"[class*='st-key-take-'][class*='{key}'] button").first.click()
        assert "ppi-twin-rank" in waiting.value.suggested_filename
        waiting.value.save_as(tmp_path / key)
        return (tmp_path / key).read_bytes()

    assert len(pd.read_csv(io.BytesIO(saved("-csv")))) > 10
    assert len(pd.read_csv(io.BytesIO(saved("-entries")))) > 10
    saved("fit")
    assert Fit.load(tmp_path / "fit").counts_digest
    assert b"[fit]" in saved("settings")
    read_page(page, "Plant–pollinator")

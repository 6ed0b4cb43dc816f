"""The county map in a real browser: one county chosen from anywhere, and a view that stays."""

import re
from contextlib import suppress

import pytest
from PIL import Image
from playwright.sync_api import Error, expect

from tests.browser.reading import (
    PHONE,
    drag,
    finished,
    in_address,
    read_page,
    settle,
    slider,
    wait_for_address,
)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

COOK, BALTIMORE, LOVING = "17031", "24510", "48301"


def drawn(page):
    """Wait until map and bars are there."""
    finished(page, ".st-key-bars-bottom .main-svg")
    expect(county(page, COOK)).to_have_attribute("fill", re.compile("rgb"))
    return page


def county(page, fips):
    return page.locator(f".st-key-map .counties path[data-fips='{fips}']")


def fills(page):
    """The colour of every county on the map."""
    return page.locator(".st-key-map .counties path").evaluate_all(
        "paths => paths.map(path => path.getAttribute('fill'))"
    )


def view_of(page):
    return page.locator(".st-key-map .world").get_attribute("transform")


def expect_chosen(page, fips):
    """The same county in the address, on the map, in the search box and in the panel."""
    wait_for_address(page, f"county={fips}")
    expect(page.locator(".st-key-map path.chosen")).to_have_attribute("data-fips", fips)
    expect(page.locator(".st-key-county-days .main-svg").first).to_be_visible()
    name = page.locator(".st-key-map").get_by_role("combobox").input_value()
    expect(page.get_by_role("heading", level=2, name=name)).to_be_visible()
    settle(page)


def draw_a_box(page):
    """Choose part of the map with the mouse while Shift is held."""
    page.keyboard.down("Shift")
    drag(page, page.locator(".st-key-map svg.canvas"), (0.4, 0.4), (0.6, 0.6))
    page.keyboard.up("Shift")
    page.wait_for_function("location.search.includes('area=')")


def test_map_bars_search_and_touch_choose_a_county_and_the_view_stays(visit, tmp_path):
    page = drawn(visit("/covid").page)
    colors = fills(page)
    assert len(colors) == 3142
    assert len(set(colors)) >= 20
    whole = view_of(page)

    page.locator(".st-key-map button.in").click()
    near = view_of(page)
    assert near != whole
    drag(page, page.locator(".st-key-map svg.canvas"), (0.5, 0.5), (0.42, 0.52))
    panned = view_of(page)
    assert panned != near
    assert "county" not in page.url  # a drag is no click
    county(page, COOK).click()
    expect_chosen(page, COOK)
    assert view_of(page) == panned

    page.locator(".st-key-span").get_by_text("one day").click()
    slider(page, "day").press("ArrowRight")
    wait_for_address(page, "day=2021-01-02")
    steps = page.evaluate("history.length")
    slider(page, "day").press("ArrowRight")
    wait_for_address(page, "day=2021-01-03")
    assert page.evaluate("history.length") == steps  # Back leaves the days at once
    while fills(page) == colors:  # until this test's time is over
        page.wait_for_timeout(200)
    assert view_of(page) == panned
    expect_chosen(page, COOK)

    before = COOK
    for k in (2, 5):  # the second click, too
        bar = page.locator(".st-key-bars-bottom .barlayer .trace:nth-child(2) .point path").nth(k)
        for _ in range(5):  # a click while the chart is redrawn is lost
            settle(page)
            with suppress(Error):
                bar.click(force=True)
                page.wait_for_function(
                    "before => new URL(location).searchParams.get('county') !== before",
                    arg=before,
                    timeout=3000,
                )
                break
        assert in_address(page, "county") != before
        before = in_address(page, "county")
        expect_chosen(page, before)

    box = page.locator(".st-key-map").get_by_role("combobox")
    box.fill("baltimore city")
    expect(page.locator(".st-key-map [role=option]")).to_have_count(1)
    box.press("Enter")
    expect_chosen(page, BALTIMORE)
    live = page.locator(".st-key-map .live")
    expect(live).to_contain_text("detection probability p (calibrated to deaths): ")
    page.locator(".st-key-map button.clear").click()
    page.wait_for_function("!new URL(location).searchParams.has('county')")
    expect(page.locator(".st-key-county-days")).to_have_count(0)

    with page.expect_download() as download:
        page.locator(".st-key-map").get_by_role("button", name="PNG", exact=True).click()
    download.value.save_as(tmp_path / "map.png")
    with Image.open(tmp_path / "map.png") as image:
        assert image.width == 2000
        assert len(image.convert("RGB").getcolors(1_000_000)) > 200

    draw_a_box(page)
    expect(county(page, LOVING)).to_have_attribute("fill", "transparent")
    assert 0 < sum(fill != "transparent" for fill in fills(page)) < 1500
    expect(page.locator(".st-key-county-days .main-svg").first).to_be_visible()
    page.get_by_role("button", name="Show the whole map again").click()
    expect(county(page, LOVING)).to_have_attribute("fill", re.compile("rgb"))
    expect(page.locator(".st-key-county-days")).to_have_count(0)
    read_page(page, "COVID-19")

    page, held = visit("/covid", **PHONE).page, []
    page.route("**/counties.json*", lambda route: held.append(route))  # the map waits for it
    box = page.locator(".st-key-map").get_by_role("combobox")
    box.fill("cook")
    while not held:  # until this test's time is over
        page.wait_for_timeout(100)
    held[0].continue_()
    expect(page.locator(".st-key-map [role=option]").first).to_contain_text("Cook County")
    box.fill("")
    box.blur()  # its list would lie over the map
    drawn(page)
    first_screen = page.locator(".st-key-map svg.canvas").bounding_box()
    assert first_screen["y"] + first_screen["height"] <= PHONE["viewport"]["height"]
    page.locator(".st-key-map button.in").tap()
    county(page, LOVING).tap()
    expect_chosen(page, LOVING)
    expect(page.locator(".st-key-map .tip")).to_contain_text("Loving County, TX")
    page.unroute("**/counties.json*")
    page.reload()  # a county of the address is shown as one that is found by its name
    expect_chosen(drawn(page), LOVING)
    expect(page.locator(".st-key-map .world")).to_have_attribute("transform", re.compile("scale.4"))

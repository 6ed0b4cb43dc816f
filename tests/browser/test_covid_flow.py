"""The county map in a real browser: one county chosen from anywhere, and a view that stays."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.browser.looking import PHONE, finished, settle, sideways

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

PAGE = "/covid?covid_counts=simulated&covid_rank=2"
COOK, BALTIMORE = "17031", "24510"


def drawn(page: Page) -> Page:
    """Wait until the fit is over and map and bars are there."""
    finished(page, ".st-key-bars-bottom .main-svg")
    expect(county(page, COOK)).to_have_attribute("fill", re.compile("rgb"))
    return page


def county(page: Page, fips: str) -> Locator:
    return page.locator(f".st-key-map .counties path[data-fips='{fips}']")


def fills(page: Page) -> list[str]:
    return page.locator(".st-key-map .counties path").evaluate_all(
        "paths => paths.map(path => path.getAttribute('fill'))"
    )


def other_fills(page: Page, before: list[str]) -> list[str]:
    """Wait until the counties have other colours."""
    for _ in range(300):
        now = fills(page)
        if now != before:
            settle(page)
            return fills(page)
        page.wait_for_timeout(100)
    raise AssertionError("the colours stay the same")


def quiet(page: Page, received: list[int]) -> None:
    """Wait until the server sends no more than signs of life."""
    for _ in range(60):
        before = sum(received)
        settle(page, 1000)
        if sum(received) - before < 3_000:
            return
    raise AssertionError("the server sends on and on")


def view_of(page: Page) -> str | None:
    return page.locator(".st-key-map .world").get_attribute("transform")


def expect_chosen(page: Page, fips: str) -> None:
    """The same county in the address, on the map, in the search box and in the panel."""
    page.wait_for_function(
        "fips => new URL(location).searchParams.get('county') === fips", arg=fips
    )
    expect(page.locator(".st-key-map path.chosen")).to_have_attribute("data-fips", fips)
    expect(page.locator(".st-key-county-days .main-svg").first).to_be_visible()
    name = page.locator(".st-key-map").get_by_role("combobox").input_value()
    heading = page.get_by_role("heading", level=2).first
    expect(heading).to_contain_text(name.split(",")[0])
    settle(page)


def test_map_bars_search_and_keyboard_choose_the_same_county_and_the_view_stays(visit):
    seen = visit(PAGE)
    page = drawn(seen.page)
    colors = fills(page)
    assert len(colors) == 3142
    assert len(set(colors)) >= 20
    canvas = page.locator(".st-key-map svg.canvas")
    whole = view_of(page)

    page.locator(".st-key-map button.in").click()
    page.locator(".st-key-map button.in").click()
    near = view_of(page)
    assert near != whole
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] - 80, middle[1] + 10, steps=4)
    page.mouse.up()
    panned = view_of(page)
    assert panned != near
    assert "county" not in page.url  # a drag is no click

    county(page, COOK).click()
    expect_chosen(page, COOK)
    assert view_of(page) == panned

    page.locator(".st-key-span").get_by_text("one day").click()
    one_day = other_fills(page, colors)
    page.locator(".st-key-map").get_by_role("slider").press("ArrowRight")
    page.wait_for_function("location.search.includes('day=2021-01-02')")
    other_fills(page, one_day)
    assert view_of(page) == panned
    expect_chosen(page, COOK)

    page.locator(".st-key-bars-bottom .barlayer .trace:nth-child(2) .point path").first.click(
        force=True
    )
    page.wait_for_function("fips => !location.search.includes(fips)", arg=COOK)
    expect_chosen(page, page.evaluate("new URL(location).searchParams.get('county')"))

    box = page.locator(".st-key-map").get_by_role("combobox")
    box.fill("baltimore city")
    expect(page.locator(".st-key-map [role=option]")).to_have_count(1)
    box.press("Enter")
    expect_chosen(page, BALTIMORE)

    canvas.focus()
    canvas.press("ArrowRight")  # to the chosen county at first
    canvas.press("ArrowRight")
    live = page.locator(".st-key-map .live")
    expect(live).to_contain_text("p (anchored by data: deaths): ")
    canvas.press("Enter")
    expect(live).to_contain_text("is chosen")
    east = page.locator(".st-key-map path.chosen").get_attribute("data-fips")
    assert east != BALTIMORE
    expect_chosen(page, east)
    canvas.press("Escape")
    page.wait_for_function("!new URL(location).searchParams.has('county')")
    expect(page.locator(".st-key-county-days")).to_have_count(0)

    canvas.dblclick(position={"x": 5, "y": 5})
    assert view_of(page) == whole


def test_playing_shows_the_days_without_asking_the_server_for_each(visit):
    seen = visit("/_stcore/health")
    page = seen.page
    received: list[int] = []
    page.on(
        "websocket", lambda one: one.on("framereceived", lambda data: received.append(len(data)))
    )
    page.goto(page.url.replace("/_stcore/health", f"{PAGE}&span=one+day"))
    drawn(page)
    first = fills(page)
    step = page.locator(".st-key-map .step")
    expect(step).to_have_text("2021-01-01 (1 of 60)")
    page.get_by_role("button", name="▶ Play").click()
    expect(step).to_have_text(re.compile(r"\([2-9] of 60\)"))
    settle(page)
    received.clear()
    other_fills(page, fills(page))
    expect(step).to_have_text(re.compile(r"\((9|1\d) of 60\)"))
    assert sum(received) < 3_000  # signs of life at most
    assert fills(page) != first

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="▶ Play")).to_be_visible()
    label = step.inner_text()
    page.wait_for_function("day => location.search.includes('day=' + day)", arg=label.split()[0])
    expect(page.locator(".st-key-map").get_by_role("slider")).to_have_attribute(
        "aria-valuetext", label.split()[0]
    )
    quiet(page, received)
    before = fills(page)
    received.clear()
    page.locator(".st-key-map").get_by_role("slider").press("ArrowRight")
    other_fills(page, before)
    assert sum(received) < 250_000


def test_pictures_are_saved_without_a_network(visit, tmp_path: Path):
    seen = visit(PAGE)
    page = drawn(seen.page)
    for kind in ("SVG", "PNG"):
        with page.expect_download() as download:
            page.locator(".st-key-map").get_by_role("button", name=kind, exact=True).click()
        download.value.save_as(tmp_path / f"map.{kind.lower()}")
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    shapes = ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}path")
    assert sum(shape.get("fill", "").startswith("rgb") for shape in shapes) > 3_000
    assert "p (anchored by data: deaths)" in text
    assert "Simulated counts." in text
    with Image.open(tmp_path / "map.png") as image:
        assert image.width == 2000
        assert len(image.convert("RGB").getcolors(1_000_000)) > 200


def test_touch_chooses_on_a_phone(visit):
    seen = visit(PAGE, **PHONE)
    page = drawn(seen.page)
    county(page, COOK).scroll_into_view_if_needed()
    page.locator(".st-key-map button.in").tap()
    county(page, "48301").tap()
    expect_chosen(page, "48301")
    expect(page.locator(".st-key-map .tip")).to_contain_text("Loving County, TX")
    assert sideways(page) <= 0

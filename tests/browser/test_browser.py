"""What a reader sees, in a real browser, at the default settings.

Real counts where UNCLETC_DATA_DIR is set, simulated ones elsewhere. The first two tests fit; the
others find those fits in the dashboard's cache.
"""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

SCREENSHOTS = Path(__file__).parents[2] / "ci-output" / "screenshots"
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
PAGES = {"overview": "/", "covid": "/covid", "ppi": "/ppi"}
LONGEST_FIT = 180_000  # milliseconds, on a busy machine
N_COUNTIES = 2_500
ITERATION = re.compile(r"iteration \d+ of \d+")


@pytest.fixture(autouse=True, scope="module")
def patience():
    expect.set_options(timeout=60_000)
    yield
    expect.set_options(timeout=5_000)


def progress_text(page: Page) -> Locator:
    return page.get_by_test_id("stProgress").get_by_text(ITERATION)


def wait_until_drawn(page: Page, name: str) -> None:
    """Wait until all charts of a page are there, final ones, and nothing runs any more."""
    last = {"overview": "steps", "covid": "bars-bottom", "ppi": "visits"}[name]
    page.locator(f".st-key-{last} .main-svg").first.wait_for(timeout=LONGEST_FIT)
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=LONGEST_FIT)
    expect(page.get_by_text("Still fitting")).to_have_count(0)
    if name == "covid":
        fills(page)
    settle(page)


def settle(page: Page) -> None:
    expect(page.get_by_test_id("stStatusWidget")).to_have_count(0)
    page.wait_for_timeout(500)


def fills(page: Page) -> list[str]:
    """The colour of every county; a map that is being drawn again is waited for."""
    found = page.wait_for_function(
        "least => {"
        " const paths = [...document.querySelectorAll('.st-key-map .choroplethlocation')];"
        " return paths.length > least && paths.map(p => getComputedStyle(p).fill) }",
        arg=N_COUNTIES,
    )
    return found.json_value()


def wait_for_fills(page: Page, colors: list[str], *, same: bool) -> None:
    """Wait until all counties are drawn, in these colours or in others."""
    page.wait_for_function(
        "([before, same, least]) => {"
        " const paths = [...document.querySelectorAll('.st-key-map .choroplethlocation')];"
        " const now = paths.map(p => getComputedStyle(p).fill).join();"
        " return paths.length > least && (now === before) === same }",
        arg=[",".join(colors), same, N_COUNTIES],
    )


def pixels(page: Page) -> np.ndarray:
    """The picture of the counties alone, without colour bar and title; (height, width, 3)."""
    page.locator(".st-key-map").scroll_into_view_if_needed()
    clip = page.eval_on_selector(
        ".st-key-map .choroplethlayer",
        "layer => { const {x, y, width, height} = layer.getBoundingClientRect();"
        " return {x, y, width, height} }",
    )
    picture = page.screenshot(clip=clip)
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))


def areas(picture: np.ndarray) -> dict[tuple[int, ...], int]:
    """Colours that fill more than a few pixels, and how many."""
    colors, sizes = np.unique(picture.reshape(-1, 3), axis=0, return_counts=True)
    return {
        tuple(color): size
        for color, size in zip(colors.tolist(), sizes.tolist(), strict=True)
        if size >= 30
    }


def bar_texts(page: Page, key: str) -> list[str]:
    texts = page.locator(f".st-key-{key} .bartext")
    expect(texts).to_have_count(10)  # drawn again whenever the page runs again
    return texts.all_text_contents()


def slider(page: Page, key: str) -> Locator:
    return page.locator(f".st-key-{key}").get_by_role("slider")


def test_first_visit_to_a_new_dashboard_may_be_to_any_page(visit):
    page = visit("/covid").page
    expect(page.get_by_role("heading", name="COVID-19")).to_be_visible()
    try:
        expect(page.get_by_role("link", name="Plant–pollinator")).to_be_visible(timeout=3_000)
    finally:
        wait_until_drawn(visit("/").page, "overview")


def test_covid_page_fits_and_draws_the_counties(visit):
    seen = visit("/covid")
    page = seen.page
    expect(progress_text(page)).to_be_visible()
    expect(page.get_by_text("objective").first).to_be_visible()
    wait_until_drawn(page, "covid")
    expect(progress_text(page)).to_have_count(0)

    colors = fills(page)
    assert len(colors) >= N_COUNTIES
    assert len(set(colors)) >= 20
    picture = pixels(page)
    big = areas(picture)
    assert len(big) >= 20
    assert sum(big.values()) > 0.5 * picture.shape[0] * picture.shape[1]
    # The most common colour, the page between the coasts, does not fill the picture.
    assert max(big.values()) < 0.6 * picture.shape[0] * picture.shape[1]

    for key in ("bars-top", "bars-bottom"):
        texts = bar_texts(page, key)
        assert all(text.endswith("tests per 1000") for text in texts)

    page.locator(".st-key-span").get_by_text("one day").click()
    expect(page.locator(".st-key-day")).to_be_visible()
    wait_for_fills(page, colors, same=False)
    settle(page)
    first_day = fills(page)
    assert len(set(first_day)) >= 20
    slider(page, "day").press("ArrowRight")
    page.wait_for_function("location.search.includes('day=2021-01-02')")
    wait_for_fills(page, first_day, same=False)
    assert not seen.errors
    assert not seen.strangers


def test_plant_pollinator_page_fits_and_draws_the_visits(visit):
    seen = visit("/ppi")
    page = seen.page
    expect(progress_text(page)).to_be_visible()
    wait_until_drawn(page, "ppi")
    for key in ("bars-top", "bars-bottom"):
        texts = bar_texts(page, key)
        assert all(text.endswith("seen") for text in texts)

    years = page.locator(".st-key-visits .legendtext").all_text_contents()
    assert years == ["2011", "2012", "2013"]
    lines = page.locator(".st-key-visits .scatterlayer .js-line")
    assert lines.count() == len(years)
    strokes = lines.evaluate_all("lines => lines.map(line => getComputedStyle(line).stroke)")
    assert len(set(strokes)) == len(years)

    box = page.get_by_role("combobox", name=re.compile("Interaction"))
    first = box.input_value()
    drawn = lines.first.get_attribute("d")
    page.get_by_role("button", name="Lowest mean").click()
    expect(box).not_to_have_value(first)
    page.wait_for_function(
        "before => document.querySelector('.st-key-visits .js-line')?.getAttribute('d') !== before",
        arg=drawn,
    )
    assert page.evaluate("new URL(location).searchParams.get('interaction')") == box.input_value()
    assert not seen.errors
    assert not seen.strangers


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
@pytest.mark.parametrize("name", PAGES)
def test_page_at_every_size(visit, name, size, scheme):
    options = PHONE if size == "phone" else {}
    seen = visit(PAGES[name], color_scheme=scheme, **options)
    page = seen.page
    wait_until_drawn(page, name)
    wider = page.evaluate(
        "[document.documentElement, document.querySelector('[data-testid=stMain]')]"
        ".map(part => part.scrollWidth - part.clientWidth)"
    )
    assert max(wider) <= 0
    background = page.eval_on_selector(
        "[data-testid=stApp]", "app => getComputedStyle(app).backgroundColor"
    )
    assert (sum(map(int, re.findall(r"\d+", background)[:3])) < 200) == (scheme == "dark")

    height = page.eval_on_selector("[data-testid=stMain]", "main => main.scrollHeight")
    page.set_viewport_size({"width": page.viewport_size["width"], "height": height + 20})
    settle(page)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}-{size}-{scheme}.png")
    assert not seen.errors
    assert not seen.strangers


def test_pages_are_reached_through_the_menu(visit):
    seen = visit("/")
    page = seen.page
    wait_until_drawn(page, "overview")
    menu = page.get_by_test_id("stSidebarNav")
    for link, name in (
        ("COVID-19", "covid"),
        ("Plant–pollinator", "ppi"),
        ("Overview", "overview"),
    ):
        menu.get_by_role("link", name=link).click()
        wait_until_drawn(page, name)
    assert not seen.errors
    assert not seen.strangers


def test_changed_rank_keeps_the_picture_and_its_address_can_be_shared_and_its_fit_cancelled(visit):
    page = visit("/covid").page
    wait_until_drawn(page, "covid")
    before = fills(page)
    rank = slider(page, "covid_rank")
    for _ in range(int(rank.input_value()) - 3):
        rank.press("ArrowLeft")
    expect(page.get_by_text("Changed since this result")).to_be_visible()
    page.wait_for_function("location.search.includes('covid_rank=3')")
    settle(page)
    wait_for_fills(page, before, same=True)

    other = visit(page.url + "&covid_members=8")  # it lasts long enough to be cancelled
    expect(slider(other.page, "covid_rank")).to_have_value("3")
    expect(progress_text(other.page)).to_contain_text("rank 3")
    other.page.get_by_role("button", name="Cancel").click()
    expect(other.page.get_by_text("was cancelled")).to_be_visible(timeout=10_000)
    expect(other.page.get_by_test_id("stProgress")).to_have_count(0)
    assert not other.errors
    assert not other.strangers

"""The Lab in a real browser: predict, draw, rescale, run a lever, follow a lesson link."""

from contextlib import suppress

import pytest
from playwright.sync_api import TimeoutError as LateError
from playwright.sync_api import expect

from dashboard.lab.steps import STEPS
from tests.browser.reading import LONGEST, in_address, settle, slider, wait_for_address

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(400)]


def answer(page, key, text):
    settle(page)
    page.locator(f".st-key-{key}").get_by_text(text, exact=True).click()


def drawn(page, key):
    plot = page.locator(f".st-key-{key} .main-svg").first
    plot.wait_for()
    return plot


def go_on(page, step):
    for _ in range(3):  # a click on a button that moves just then is lost
        settle(page)
        if in_address(page, "step") == step:
            return
        page.get_by_role("button", name=f"Next: {STEPS[step].title}").click()
        with suppress(LateError):
            page.wait_for_function(
                "step => location.search.includes('step=' + step)", arg=step, timeout=10_000
            )
    assert in_address(page, "step") == step


def bars(page, key):
    drawn(page, key)
    paths = page.locator(f".st-key-{key} .barlayer .point path")
    expect(paths).to_have_count(10)
    return paths.evaluate_all("paths => paths.map(path => path.getAttribute('d'))")


def test_the_story_from_one_entry_to_the_theorem(visit):
    page = visit("/lab?lab_layers=0").page  # quick fits
    expect(page.get_by_text("Simulated counts.").first).to_be_visible()
    expect(page.locator(".st-key-lab-entry-0-0")).to_have_count(0)
    answer(page, "lab_guess_entry", "As many in both")
    expect(page.get_by_text("Right.")).to_be_visible()
    drawn(page, "lab-entry-0-1")
    before = page.locator("p", has_text="This draw:").inner_text()
    page.locator(".st-key-lab_draw").get_by_test_id("stNumberInputStepUp").click()
    expect(page.locator("p", has_text="This draw:")).not_to_have_text(before)
    wait_for_address(page, "lab_draw=1")
    go_on(page, "tensor")
    answer(page, "lab_guess_tensor", "Nothing is there")
    expect(page.get_by_text("Not quite.")).to_be_visible()

    page.goto(f"{page.url.split('?')[0]}?lab_layers=0&step=scale")
    answer(page, "lab_guess_scale", "They stay the same")
    rates, counts = bars(page, "lab-scale-0-0"), bars(page, "lab-scale-0-2")
    for _ in range(6):
        slider(page, "lab_c").press("ArrowLeft")
    wait_for_address(page, "lab_c=0.7")
    expect(page.get_by_text("Impossible:")).to_be_visible()
    settle(page)
    assert bars(page, "lab-scale-0-0") != rates
    assert bars(page, "lab-scale-0-2") == counts

    go_on(page, "levers")
    answer(page, "lab_guess_entries_counted", "Fall")
    page.get_by_role("button", name="Run the fits").click()
    expect(page.get_by_text("The theorem:")).to_be_visible(timeout=LONGEST)
    drawn(page, "lab-levers-0-0")
    settle(page)
    other = visit(page.url).page  # a copied link opens the same view
    drawn(other, "lab-levers-0-0")
    expect(other.get_by_text("From 0.05 to 0.4")).to_be_visible()

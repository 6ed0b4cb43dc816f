"""Settings in a real browser: other pages, links, the browser's way back, and resetting them."""

from dataclasses import replace
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import expect

from dashboard.shared.sidebar.model import PAPER, model_of, settings_of
from dashboard.work.orders import FitOrder
from dashboard.work.results import Results
from tests.browser.reading import finished, menu, settle, slider, wait_for_address
from uncletc import StopReason, datasets, fit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

QUICK = f"ppi_layers=0&ppi_model={quote(PAPER)}&ppi_rank=3"


def choices(page):
    return {key: value[0] for key, value in parse_qs(urlsplit(page.url).query).items()}


@pytest.fixture
def fitted_before(cache):
    """Fits of what is chosen here, as if others had waited for them: pages draw each once."""
    results, dataset = Results(cache / "uncletc" / "results", 1e9), datasets.load("ppi-twin")
    model = model_of(dataset, PAPER)
    for chosen in ({"rank": 3}, {"rank": 2}, {"rank": 2, "members": 2}):
        order = FitOrder(dataset.counts, model.settings(settings_of(layers=0, **chosen)))
        found = fit(order.counts, order.settings, callback=lambda record: record.iteration > 11)
        results.put(order, FitOrder.encode(replace(found, stop=StopReason.TOLERANCE)), None)


@pytest.mark.usefixtures("fitted_before")
def test_settings_outlive_other_pages_and_the_way_back_and_are_reset_together(visit):
    page = finished(visit(f"/ppi?{QUICK}").page, ".st-key-take-away")
    rank = slider(page, "ppi_rank")
    rank.press("ArrowLeft")
    wait_for_address(page, "ppi_rank=2")
    finished(page, ".st-key-take-away")
    page.get_by_text("Advanced: network, restarts, seed", exact=True).first.click()
    expect(slider(page, "ppi_members")).to_be_visible()  # else it takes no key
    slider(page, "ppi_members").press("ArrowRight")
    page.wait_for_function("location.search.includes('ppi_members=')")
    finished(page, ".st-key-take-away")
    chosen = choices(page)
    assert (chosen["ppi_rank"], chosen["ppi_members"]) == ("2", "2")

    menu(page).get_by_role("link", name="What if").click()
    finished(page, ".st-key-compare")
    expect(slider(page, "a_rank")).to_have_value("5")
    page.go_back()
    expect(page).to_have_title("Plant–pollinator · uncletc")
    page.wait_for_function(  # one after the other
        "chosen => Object.entries(chosen).every("
        "([key, value]) => new URL(location).searchParams.get(key) === value)",
        arg=chosen,
    )
    expect(rank).to_have_value("2")
    settle(page)
    assert choices(page) == chosen

    page.get_by_role("button", name="Reset").first.click()
    page.wait_for_function("!/ppi_(rank|members)=/.test(location.search)")  # one after the other
    expect(rank).to_have_value("5")

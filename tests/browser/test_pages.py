"""Every page at both widths and in both colour schemes, with the eyes and hands that readers have.

No page has errors on the console or asks another machine: see `visit`.
"""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from dashboard.shared.sidebar.model import PAPER
from tests.browser.reading import PHONE, finished, menu, read_page, settle

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

QUICK = f"?data={quote('Plant–pollinator')}&ppi_model={quote(PAPER)}&ppi_layers=0&ppi_rank=2"
PAGES = {  # the path, and what is drawn last, by CSS
    "Home": ("", ".st-key-home-matrix .main-svg"),
    "What if": ("whatif", ".st-key-compare"),
    "Drivers": ("drivers", ".st-key-explanation .main-svg"),
    "Model check": (f"check{QUICK}", ".st-key-quantiles .main-svg"),
    "Methods": ("methods", ".st-key-paper-table table"),
    "Lab": ("lab?step=entry&hide=questions", ".st-key-lab-next"),
}
# Pages that the flow of a visitor leaves open, which reads them.
ELSEWHERE = {"COVID-19", "Plant–pollinator", "Your table"}


def follow_the_keyboard(page):
    """Each stop of the Tab key is seen, and none is a button over a chart."""
    page.get_by_role("heading", level=1).click()
    stops = []
    for _ in range(30):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                "() => { const at = document.activeElement; return {tag: at.tagName,"
                " classes: at.className, ring: getComputedStyle(at).outlineStyle} }"
            )
        )
    # The map has a ring of its own; after the last stop come the page and its scroll area.
    outside = [stop for stop in stops if stop["tag"] not in ("DIV", "BODY", "MAIN")]
    assert outside
    assert [stop for stop in outside if stop["ring"] != "solid"] == []
    assert not [stop for stop in stops if "modebar" in stop["classes"]]


@pytest.mark.parametrize("names", [list(PAGES)[::2], list(PAGES)[1::2]], ids=" ".join)
def test_pages_can_be_read(visit, names):
    """Each page is opened once, unless it is read elsewhere."""
    page = visit(f"/{PAGES[names[0]][0]}").page
    address, wide = page.url.rsplit("/", 1)[0], page.viewport_size
    for name in names:
        path, last = PAGES[name]
        if name != names[0]:
            page.goto("about:blank")  # what was read need not be drawn again
            page.set_viewport_size(wide)
            page.emulate_media(color_scheme="light")
            page.goto(f"{address}/{path}")
        finished(page, last)
        if name == "Home":
            links = menu(page).get_by_role("link").all_inner_texts()  # an icon, then the name
            assert {link.split("\n")[-1] for link in links} == {*PAGES, *ELSEWHERE}
        read_page(page, name)
        if name == "Home":  # last, as what has the focus may open a tooltip
            page.set_viewport_size(wide)
            settle(page)
            follow_the_keyboard(page)


def test_the_menu_is_found_on_a_phone_and_left_out_where_a_page_is_embedded(visit):
    page = finished(visit("/lab?embed=true").page, ".st-key-lab-next")
    expect(menu(page)).to_have_count(0)
    # What draws charts is there before the first one: else that is blank for seconds.
    page.wait_for_function("performance.getEntries().some(it => it.name.match('/PlotlyChart'))")
    expect(page.get_by_test_id("stSidebar")).not_to_be_in_viewport()

    page = finished(visit("/lab", **PHONE).page, ".st-key-lab-next")
    button = page.get_by_test_id("stExpandSidebarButton")
    assert button.evaluate("node => getComputedStyle(node, '::after').content") == '"Menu"'
    lasts = button.evaluate("node => getComputedStyle(node).transitionDuration")
    assert all(float(part) < 0.001 for part in re.findall(r"([\d.e-]+)s", lasts))
    button.click()
    expect(menu(page)).to_be_visible()

"""How quickly the dashboard answers, in Chromium on this machine.

    python -m benchmarks.dashboard

Needs the ``test`` extra and a Chromium; simulated COVID-19 counts, an empty cache of its own.
Measured at the websocket and in the page: the first page of a warm server, a rerun of a page
whose fit is known (server time and bytes), and the way from a new rank or μ to a new map.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import numpy as np
from playwright.sync_api import Browser, Page, WebSocket, expect, sync_playwright

from benchmarks._report import machine, publish, table
from docs.screenshots import FLAGS, find_chromium, serving

COVID = "/covid?covid_counts=simulated"
LONGEST = 300_000  # milliseconds
QUIET = 700  # milliseconds without a message, after which a rerun is over
# Seconds from now until the map has other colours than now.
NEW_COLOURS = """map => new Promise(tell => {
  const colours = () => [...map.querySelectorAll('path')].map(p => p.getAttribute('fill')).join();
  const before = colours(), began = performance.now();
  const look = () => colours() === before
    ? requestAnimationFrame(look) : tell((performance.now() - began) / 1000);
  look();
})"""


@dataclass
class Wire:
    """Messages on a page's websocket.

    Attributes
    ----------
    sent, received : list of float
        When.
    sizes : list of int
        Bytes of each message received.
    """

    sent: list[float] = field(default_factory=list)
    received: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def watch(self, socket: WebSocket) -> None:
        """Note every message from now on."""
        socket.on("framesent", lambda _: self.sent.append(perf_counter()))
        socket.on("framereceived", self._receive)

    def _receive(self, message: str | bytes) -> None:
        self.received.append(perf_counter())
        self.sizes.append(len(message))

    def forget(self) -> None:
        """Start anew."""
        for notes in (self.sent, self.received, self.sizes):
            notes.clear()

    def settle(self, page: Page) -> None:
        """Wait until no message has come for a while."""
        known = -1
        while known != len(self.received):
            known = len(self.received)
            page.wait_for_timeout(QUIET)


def open_page(browser: Browser, address: str) -> tuple[Page, Wire]:
    """Open an address as a new visitor."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(LONGEST)
    wire = Wire()
    page.on("websocket", wire.watch)
    page.goto(address)
    return page, wire


def wait_for_fit(page: Page, wire: Wire) -> None:
    """Wait until the map is drawn and nothing fits any more."""
    page.locator(".st-key-map .counties path").first.wait_for()
    page.locator(".st-key-bars-bottom .main-svg").first.wait_for()
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=LONGEST)
    wire.settle(page)


def first_page(browser: Browser, address: str) -> float:
    """Seconds until a new visitor sees the charts of the first page."""
    began = perf_counter()
    page, _ = open_page(browser, address + "/?covid_counts=simulated")
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    seconds = perf_counter() - began
    page.close()
    return seconds


def rerun(page: Page, wire: Wire, act: Callable[[], None]) -> tuple[float, float]:
    """Server seconds and megabytes of what a choice causes on a page whose fit is known."""
    wire.settle(page)
    wire.forget()
    act()
    wire.settle(page)
    return wire.received[-1] - wire.sent[0], sum(wire.sizes) / 1e6


def changed(page: Page, wire: Wire, key: str, step: str) -> tuple[float, float]:
    """Seconds from a new value of a slider to progress, and to a map of other colours."""
    wire.settle(page)
    counties = page.locator(".st-key-map .counties").element_handle()
    slider = page.locator(f".st-key-{key}").get_by_role("slider")
    slider.focus()
    page.evaluate(
        f"map => {{ window.newColours = ({NEW_COLOURS})(map);"
        " const began = performance.now();"
        " window.progress = new Promise(tell => { const look = () =>"
        " document.querySelector('[data-testid=stProgress]')"
        " ? tell((performance.now() - began) / 1000) : requestAnimationFrame(look); look() }) }",
        counties,
    )
    slider.press(step)
    return page.evaluate("window.progress"), page.evaluate("window.newColours")


def measure(repeats: int) -> str:
    """Measure everything; a table in Markdown."""
    found: dict[tuple[str, str], list[float]] = {}

    def note(what: str, limit: str, value: float) -> None:
        found.setdefault((what, limit), []).append(value)

    os.environ.pop("UNCLETC_DATA_DIR", None)
    with serving() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        first_page(browser, address)  # warms the server
        for _ in range(repeats):
            note("first page of a warm server, s", "3", first_page(browser, address))
        page, wire = open_page(browser, address + COVID)
        wait_for_fit(page, wire)
        bars = page.locator(".st-key-covid_bars").get_by_role("slider")
        for i in range(repeats):
            server, size = rerun(page, wire, lambda: bars.press("ArrowRight"))
            note("rerun with other bars, server s", ".2", server)
            note("rerun with other bars, MB", ".1", size)
            whole = i % 2 == 1
            name = "mean of" if whole else "one day"
            button = page.locator(".st-key-span").get_by_text(name)
            server, size = rerun(page, wire, button.click)
            note("rerun with another map, server s", ".2", server)
            note("rerun with another map, MB", ".1", size)
        page.locator(".st-key-span").get_by_text("mean of").click()
        for key, name in (("covid_rank", "rank"), ("covid_mu", "μ")):
            for _ in range(repeats):
                progress, picture = changed(page, wire, key, "ArrowLeft")
                note(f"new {name} to progress, s", ".3", progress)
                note(f"new {name} to a new map, s", "1.5", picture)
                wait_for_fit(page, wire)
        browser.close()
    rows = [
        [what, limit, f"{np.median(values):.2f}", f"{min(values):.2f}", f"{max(values):.2f}"]
        for (what, limit), values in found.items()
    ]
    return table(["what", "at most", "median", "least", "most"], rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print and optionally write the report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dashboard", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    chosen = parser.parse_args(arguments)
    note = (
        f"{chosen.repeats} repeats each, Chromium without a window and the server on one machine. "
        "Server time runs from the first message sent to the last one received."
    )
    parts = ["# How quickly the dashboard answers", machine(), note, measure(chosen.repeats)]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()

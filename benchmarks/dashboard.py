"""How quickly the dashboard answers, in Chromium on this machine.

    python -m benchmarks.dashboard

Needs the ``test`` extra and a Chromium; COVID-19 counts, an empty cache of its own.
Clocks are the browser's own. Measured in the page: how long after its address was asked for the
charts of the first page of a warm server are drawn, for a new visitor with nothing in the browser's
cache and for one who comes back, and the way from a new rank or μ to a new map. Measured at the
websocket: the bytes of a rerun of a page whose fit is known, how long until a page at work on
drawing them has taken them in, and, with the same messages sent again by a client that draws
nothing, how long the server takes.
"""

from __future__ import annotations

import argparse
from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

from benchmarks._report import machine, publish
from docs.screenshots import FLAGS, find_chromium, serving
from uncletc.paper.words import grid as table

VIEWPORT: ViewportSize = {"width": 1280, "height": 900}
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


# When all charts of the first page are there, in milliseconds since the page was asked for.
DRAWN = """new MutationObserver(() => {
  const charts = ["steps", "attribute-chart"];
  if (!window.drawn && charts.every(key => document.querySelector(`.st-key-${key} .main-svg`)))
    window.drawn = performance.now();
}).observe(document, {childList: true, subtree: true})"""
# Sends messages one after the other as a new session; seconds to the last answer to each.
SEND = """([messages, quiet]) => new Promise((tell, fail) => {
  const address = location.origin.replace("http", "ws") + "/_stcore/stream";
  const socket = new WebSocket(address, ["streamlit"]);
  const took = [];
  let sent, last, timer;
  const next = () => {
    if (took.length === messages.length) { socket.close(); tell(took); return; }
    const text = atob(messages[took.length]);
    sent = performance.now();
    socket.send(Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
  };
  socket.onmessage = () => {
    last = performance.now();
    clearTimeout(timer);
    timer = setTimeout(() => { took.push((last - sent) / 1000); next(); }, quiet);
  };
  socket.onerror = fail;
  socket.onopen = next;
})"""


@dataclass
class Wire:
    """Messages on a page's websocket.

    Attributes
    ----------
    sent, received : list of float
        When, in seconds of the browser's clock.
    messages : list of str
        Those sent, in base64.
    sizes : list of int
        Bytes of each message received.
    """

    sent: list[float] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    received: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Note every message from now on."""
        session = page.context.new_cdp_session(page)
        session.on("Network.webSocketFrameSent", self._send)
        session.on("Network.webSocketFrameReceived", self._receive)
        session.send("Network.enable")

    def _send(self, event: dict[str, Any]) -> None:
        self.sent.append(event["timestamp"])
        self.messages.append(event["response"]["payloadData"])

    def _receive(self, event: dict[str, Any]) -> None:
        self.received.append(event["timestamp"])
        self.sizes.append(len(b64decode(event["response"]["payloadData"])))

    def forget(self) -> None:
        """Restart."""
        self.sent.clear()
        self.messages.clear()
        self.received.clear()
        self.sizes.clear()

    def settle(self, page: Page) -> None:
        """Wait until no message has come for a while."""
        known = -1
        while known != len(self.received):
            known = len(self.received)
            page.wait_for_timeout(QUIET)


def open_page(browser: Browser, address: str) -> tuple[Page, Wire]:
    """Open an address as a new visitor."""
    page = browser.new_page(viewport=VIEWPORT)
    page.set_default_timeout(LONGEST)
    wire = Wire()
    wire.watch(page)
    page.goto(address)
    return page, wire


def wait_for_fit(page: Page, wire: Wire) -> None:
    """Wait until the map is drawn and nothing fits any more."""
    page.locator(".st-key-map .counties path").first.wait_for()
    page.locator(".st-key-bars-bottom .main-svg").first.wait_for()
    expect(page.get_by_test_id("stProgress")).to_have_count(0, timeout=LONGEST)
    wire.settle(page)


def first_page(context: BrowserContext, address: str) -> float:
    """Seconds until all charts of the first page are drawn."""
    page = context.new_page()
    page.set_default_timeout(LONGEST)
    page.add_init_script(DRAWN)
    page.goto(address)
    page.wait_for_function("window.drawn")
    seconds: float = page.evaluate("window.drawn / 1000")
    page.close()
    return seconds


def rerun(page: Page, wire: Wire, act: Callable[[], None]) -> tuple[str, float, float]:
    """Message that a choice sends where the fit is known; seconds and megabytes of the answer."""
    wire.settle(page)
    wire.forget()
    act()
    while not wire.received:
        page.wait_for_timeout(QUIET)
    wire.settle(page)
    return wire.messages[-1], wire.received[-1] - wire.sent[0], sum(wire.sizes) / 1e6


def server_times(browser: Browser, address: str, messages: Sequence[str]) -> list[float]:
    """Seconds of the server for each message; the first is sent twice, to begin a session."""
    page = browser.new_page()
    page.goto(address + "/_stcore/health")
    took: list[float] = page.evaluate(SEND, [[messages[0], *messages], QUIET])
    page.close()
    return took[1:]


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


def measure(repeats: int, counts: str) -> str:
    """Measure everything on real or simulated counts; a table in Markdown."""
    found: dict[tuple[str, str], list[float]] = {}

    def note(what: str, limit: str, value: float) -> None:
        found.setdefault((what, limit), []).append(value)

    chosen = f"covid_counts={counts}"
    with serving(real=counts == "real") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        known = browser.new_context(viewport=VIEWPORT)
        for _ in range(3):  # warms the server, and this browser's cache of files and of code
            first_page(known, f"{address}/?{chosen}")
        for _ in range(repeats):
            new = browser.new_context(viewport=VIEWPORT)
            for visitor, context in (("new", new), ("returning", known)):
                seconds = first_page(context, f"{address}/?{chosen}")
                note(f"first page, {visitor} visitor, s", "3", seconds)
            new.close()
        page, wire = open_page(browser, f"{address}/covid?{chosen}")
        wait_for_fit(page, wire)
        bars = page.locator(".st-key-covid_bars").get_by_role("slider")
        asked = []
        for i in range(repeats):
            name = "one day" if i % 2 == 0 else "mean of"
            button = page.locator(".st-key-span").get_by_text(name)
            for what, act in (
                ("other bars", lambda: bars.press("ArrowRight")),
                ("another map", button.click),
            ):
                message, seconds, size = rerun(page, wire, act)
                asked.append((what, message))
                note(f"rerun with {what}, MB", ".1", size)
                note(f"rerun with {what}, until the page has it all, s", "", seconds)
        times = server_times(browser, address, [message for _, message in asked])
        for (what, _), seconds in zip(asked, times, strict=True):
            note(f"rerun with {what}, server s", ".2", seconds)
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
    parser.add_argument(
        "--counts",
        nargs="+",
        choices=("simulated", "real"),
        default=["simulated"],
        help="COVID-19 counts to measure on; real ones need the folder that UNCLETC_DATA_DIR names",
    )
    chosen = parser.parse_args(arguments)
    note = (
        f"{chosen.repeats} repeats each, Chromium without a window and the server on one machine. "
        "Server time runs from a message sent to the last answer received by a client that draws "
        "nothing."
    )
    parts = ["# How quickly the dashboard answers", machine(), note]
    for counts in chosen.counts:
        parts += [f"## COVID-19, {counts} counts", measure(chosen.repeats, counts)]
    publish("\n\n".join(parts), chosen.write)


if __name__ == "__main__":
    main()

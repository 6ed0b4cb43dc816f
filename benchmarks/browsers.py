"""Seconds that people wait for pictures, in Chromium on the processors of the server.

    UNCLETC_DATA_DIR=… python -m benchmarks.browsers

First how long the first new picture takes after another rank is chosen for the recommended fit of
COVID-19: from the key that moves the slider until a county on the map has another colour. Then how
long pages take that ten browsers open at once, each on its own: from asking for an address until
its pictures are drawn and nothing is under way, pauses of 1 to 4 seconds between. All that they
show was fitted before. Needs the `test` extra and a Chromium; real counts where their files are.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from playwright.async_api import Browser, Page, async_playwright

from benchmarks.report import grid, machine, publish
from docs.screenshots import FLAGS, find_chromium, serving

LONGEST = 300_000  # milliseconds
PAUSE = (1.0, 4.0)  # seconds between two pages
PAGES = {  # and what each draws last, as a CSS selector
    "/": ".st-key-home-matrix .main-svg",
    "/covid": ".st-key-bars-bottom .main-svg",
    "/covid?county=17031": ".st-key-county-days .main-svg",
    "/ppi": ".st-key-visits .main-svg",
    "/methods": ".st-key-paper-table table",
}
RECOLORED = """map => new Promise(done => {
  const fill = path => path.getAttribute("fill");
  const colors = () => [...map.querySelectorAll("path")].map(fill).join();
  const before = colors();
  const watch = new MutationObserver(() => {
    if (colors() === before) return;
    watch.disconnect();
    requestAnimationFrame(() => done());
  });
  watch.observe(map, {subtree: true, childList: true, attributeFilter: ["fill"]});
})"""


async def drawn(page: Page, last: str) -> None:
    """Wait until a page has drawn what it draws last and nothing is under way."""
    await page.locator(last).first.wait_for(timeout=LONGEST)
    for part in ("stProgress", "stStatusWidget"):
        await page.wait_for_function(
            f"!document.querySelector('[data-testid={part}]')", timeout=LONGEST
        )


async def first_pictures(page: Page, address: str, keys: Sequence[str]) -> list[float]:
    """Seconds until the map has other colours after each key on the slider of ranks."""
    await page.goto(f"{address}/covid")
    await drawn(page, PAGES["/covid"])
    waited = []
    for key in keys:
        slider = page.get_by_role("slider", name="Rank").first
        await slider.focus()
        changed = asyncio.create_task(page.locator(".st-key-map .counties").evaluate(RECOLORED))
        await asyncio.sleep(0.5)
        began = perf_counter()
        await page.keyboard.press(key)
        await asyncio.wait_for(changed, LONGEST / 1000)
        waited.append(perf_counter() - began)
        await asyncio.sleep(1)
        await drawn(page, PAGES["/covid"])
    return waited


async def views(browser: Browser, address: str, seed: int, n: int) -> list[float]:
    """Seconds of n pages that one browser opens one after the other."""
    rng, waited = np.random.default_rng(seed), []
    page = await browser.new_page(viewport={"width": 1280, "height": 900})
    for path in rng.choice(list(PAGES), n):
        await asyncio.sleep(rng.uniform(*PAUSE))
        began = perf_counter()
        await page.goto(address + path)
        await drawn(page, PAGES[path])
        waited.append(perf_counter() - began)
    return waited


async def measure(address: str, n_browsers: int, n_views: int) -> tuple[list[float], list[float]]:
    """First pictures of one browser alone, then the pages of many."""
    async with async_playwright() as playwright:

        async def launched() -> Browser:
            return await playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)

        one = await launched()
        page = await one.new_page(viewport={"width": 1280, "height": 900})
        first = await first_pictures(page, address, ["ArrowRight"] * 3 + ["Home"])
        for path, last in PAGES.items():
            await page.goto(address + path)
            await drawn(page, last)
        await one.close()
        browsers = [await launched() for _ in range(n_browsers)]
        waited = await asyncio.gather(
            *(views(browser, address, seed, n_views) for seed, browser in enumerate(browsers))
        )
        for browser in browsers:
            await browser.close()
    return first, [seconds for each in waited for seconds in each]


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure and print the report."""
    parser = argparse.ArgumentParser(description="Measure how long pictures take in browsers.")
    parser.add_argument("--browsers", type=int, default=10)
    parser.add_argument("--views", type=int, default=6, help="pages that each opens (default: 6)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the report here too")
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="uncletc-browsers-") as cache,
        serving(Path(cache), real=True) as address,
    ):
        first, waited = asyncio.run(measure(address, options.browsers, options.views))
    seconds = ", ".join(f"{one:.2f}" for one in first)
    header = ["browsers", "pages opened", "p50", "p95", "longest"]
    row = [options.browsers, len(waited), *np.round(np.quantile(waited, [0.5, 0.95, 1]), 2)]
    about = f"First picture after another rank: {seconds} seconds."
    publish(
        "\n\n".join(["# Waiting for pictures", machine(), about, grid(header, [row])]),
        options.write,
    )


if __name__ == "__main__":
    main()

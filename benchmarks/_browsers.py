"""Visitors with a browser: Chromium draws what each of them sees."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter

import numpy as np
from playwright.async_api import Browser, Error, Page, async_playwright

from benchmarks._visitors import Heard, View
from docs.screenshots import FLAGS, find_chromium

_PATIENCE = 180_000.0  # milliseconds for one view
_PAUSE = (1.0, 4.0)  # seconds between two views
_DRAWN = """() =>
    document.querySelector('[data-testid=stMain] .main-svg, [data-testid=stMain] svg, canvas')
    && !document.querySelector('[data-testid=stStatusWidget]')
    && !document.querySelector('[data-testid=stProgress]')
    && document.querySelector('[data-testid=stApp]')?.dataset.testScriptState !== 'running'"""


async def browse(address: str, views: Sequence[View], n: int, seconds: float) -> Heard:
    """Let so many visitors look at views, each in a Chromium of its own.

    Parameters
    ----------
    address : str
        Of the server, ``http://…``.
    views : sequence of View
    n : int
        Visitors.
    seconds : float
        After which no further view is opened.

    Returns
    -------
    Heard
        ``first``: seconds from asking for an address until its pictures are drawn.
    """
    heard = Heard()
    async with async_playwright() as playwright:
        path = find_chromium()
        browsers = [
            await playwright.chromium.launch(executable_path=path, args=FLAGS) for _ in range(n)
        ]
        looks = (
            _look(browser, address, views, heard, seconds=seconds, seed=k)
            for k, browser in enumerate(browsers)
        )
        await asyncio.gather(*looks)
        for browser in browsers:
            await browser.close()
    return heard


async def _look(
    browser: Browser,
    address: str,
    views: Sequence[View],
    heard: Heard,
    *,
    seconds: float,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    page = await browser.new_page()
    await asyncio.sleep(rng.uniform(0, min(seconds, _PAUSE[1])))
    end = perf_counter() + seconds
    while perf_counter() < end:
        await _open(page, address, views[int(rng.integers(len(views)))], heard)
        await asyncio.sleep(rng.uniform(*_PAUSE))


async def _open(page: Page, address: str, view: View, heard: Heard) -> None:
    began = perf_counter()
    try:
        await page.goto(f"{address}/{view.page}?{view.query}", timeout=_PATIENCE)
        await page.wait_for_function(_DRAWN, timeout=_PATIENCE)
        if await page.get_by_test_id("stException").count():
            heard.failed.append("exception")
    except Error as error:
        heard.failed.append(type(error).__name__)
        return
    heard.first.append(perf_counter() - began)

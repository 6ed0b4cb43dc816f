"""The dashboard in a process of its own, and Chromium to look at it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from dashboard.check.view import seen_dataset
from dashboard.shared.sidebar.choice import (
    PAPER,
    RECOMMENDED,
    at_first,
)
from dashboard.whatif.runs import Run
from dashboard.whatif.runs import order as order_of
from dashboard.work.orders import FitOrder
from docs.screenshots import FLAGS, find_chromium, serving
from uncletc import CountTensor, Fit, FitSettings, StopReason, datasets, fit

DESKTOP = {"viewport": {"width": 1280, "height": 900}}
ENOUGH = 40  # iterations, for p to differ between places: on small problems not in the first 30
LONGEST = 300.0  # seconds for one of them, on a busy machine


@dataclass
class Visit:
    """A page, and what the browser noticed on it.

    Attributes
    ----------
    page : Page
    errors : list of str
        Errors on the console or thrown by a script.
    strangers : list of str
        Addresses asked for on other machines.
    """

    page: Page
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._listen)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._ask(request.url))
        self.page.on("websocket", lambda socket: self._ask(socket.url))

    def _listen(self, message: ConsoleMessage) -> None:
        # Streamlit's client looks for the server under the page's own address first.
        probed = "404" in message.text and "/_stcore/" in message.location["url"]
        if message.type == "error" and not probed:
            self.errors.append(message.text)

    def _ask(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.hostname != "127.0.0.1":
            self.strangers.append(url)


@pytest.fixture(autouse=True, scope="session")
def patience() -> None:
    """Wait longer than usual: the machine may be busy."""
    expect.set_options(timeout=60_000)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium installed on this machine."""
    try:
        return find_chromium()
    except SystemExit as error:
        pytest.skip(str(error))


def short_fit(counts: CountTensor, settings: FitSettings) -> Fit:
    """A fit of some iterations that says it has converged."""
    short = fit(counts, settings, callback=lambda record: record.iteration >= ENOUGH)
    return replace(short, stop=StopReason.TOLERANCE)


def shown_at_first() -> Iterator[FitOrder]:
    """The fits of what pages show at first."""
    covid = datasets.load("covid" if datasets.available("covid") else "covid-twin")
    for model in (RECOMMENDED, PAPER):  # What if
        roles, settings = at_first(covid, "covid", model)
        run = Run(settings=settings, roles=roles)
        for held_out in (False, True):
            yield order_of(covid.counts, run, held_out=held_out)
    seen = seen_dataset(covid, "entry")  # Model check
    roles, settings = at_first(covid, "covid")
    yield FitOrder(roles.of(seen.counts), settings)
    for name in ("covid-twin", "ppi-twin", "ppi"):
        if name.endswith("-twin") or datasets.available(name):
            dataset = datasets.load(name)
            roles, settings = at_first(dataset, "covid" if "covid" in name else "ppi")
            yield FitOrder(roles.of(dataset.counts), settings)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A cache with short fits of what pages show at first: most tests look, and do not fit.

    Processes that run tests share the work: each makes what no other has begun.
    """
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent
    orders = list(shown_at_first())
    for order in orders if worker_id in ("master", "gw0") else reversed(orders):
        kept = shared / f"{order.key}{order.suffix}"
        try:
            (shared / f"{order.key}.begun").touch(exist_ok=False)
        except FileExistsError:
            continue
        part = shared / f"part-{kept.name}"
        part.write_bytes(order.encode(short_fit(order.counts, order.settings)))
        part.replace(kept)
    folder = tmp_path_factory.mktemp("cache")
    fits = folder / "uncletc" / "results"
    fits.mkdir(parents=True)
    for order in orders:
        kept = shared / f"{order.key}{order.suffix}"
        began = monotonic()
        while not kept.exists():
            assert monotonic() - began < LONGEST, f"{kept.name} was begun elsewhere and never ended"
            sleep(0.1)
        shutil.copy(kept, fits)
    return folder


@pytest.fixture(scope="session")
def address(browser: Browser, cache: Path) -> Iterator[str]:
    """Address of the dashboard that all tests look at; real counts where they are here."""
    assert browser.is_connected()
    with serving(cache, real=True) as at:
        yield at


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Visit]]:
    """Open a path of the dashboard as a new visitor; options are those of a browser context.

    At the end no visit may have had an error, or have asked another machine for anything.
    """
    contexts: list[BrowserContext] = []
    visits: list[Visit] = []

    def go(path: str = "/", **options: Any) -> Visit:
        context = browser.new_context(**(DESKTOP | options))
        context.set_default_timeout(60_000)
        contexts.append(context)
        found = Visit(context.new_page())
        visits.append(found)
        found.page.goto(path if path.startswith("http") else address + path)
        return found

    yield go
    for context in contexts:
        context.close()
    assert [error for each in visits for error in each.errors] == []
    assert [url for each in visits for url in each.strangers] == []

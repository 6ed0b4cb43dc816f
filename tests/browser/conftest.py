"""The dashboard in a process of its own, and Chromium to look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
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

from docs.screenshots import FLAGS, find_chromium, serving

DESKTOP = {"viewport": {"width": 1280, "height": 900}}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Try a browser test again that a busy machine upset."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=2))


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
        # Streamlit looks for its server under the page's path first, and is told 404.
        if message.type == "error" and "/_stcore/" not in message.location.get("url", ""):
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


@pytest.fixture(scope="module")
def address(browser: Browser) -> Iterator[str]:
    """Address of a dashboard with an empty cache."""
    assert browser.is_connected()
    with serving(real=True) as at:
        yield at


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Callable[..., Visit]]:
    """Open a path of the dashboard as a new visitor; options are those of a browser context."""
    contexts: list[BrowserContext] = []

    def go(path: str = "/", **options: Any) -> Visit:
        context = browser.new_context(**(DESKTOP | options))
        context.set_default_timeout(60_000)
        contexts.append(context)
        found = Visit(context.new_page())
        found.page.goto(path if path.startswith("http") else address + path)
        return found

    yield go
    for context in contexts:
        context.close()

"""The dashboard in a process of its own, and Chromium to look at it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
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


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium installed on this machine."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path is not None:
            return path
    pytest.skip("no Chromium is installed")


@pytest.fixture(scope="module")
def address(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a dashboard with an empty cache."""
    assert browser.is_connected()
    folder = tmp_path_factory.mktemp("dashboard")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "uncletc.cli", "dashboard", "--port", str(port)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"XDG_CACHE_HOME": str(folder)},
            cwd=folder,
        )
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(timeout=10)


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    began = monotonic()
    while True:
        try:
            with urlopen(url, timeout=5):
                return
        except URLError:
            assert server.poll() is None, f"the dashboard ended: {log.read_text()}"
            assert monotonic() - began < 60, f"the dashboard does not answer: {log.read_text()}"
        sleep(0.2)


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

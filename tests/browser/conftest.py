"""The dashboard in a process of its own, and Chromium to see it: one of each for a session."""

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
    WebSocket,
    expect,
    sync_playwright,
)
from streamlit.proto.BackMsg_pb2 import BackMsg

from docs.screenshots import FLAGS, find_chromium
from tests.browser.reading import LONGEST
from tests.served import Served

# Without motion, which takes a sixth of the processor while pages wait.
DESKTOP = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}


@dataclass
class Visit:
    """A page, and what the browser noticed on it.

    Attributes
    ----------
    page : Page
    errors : list of str
        Errors on the console or thrown by a script; messages that the page offers to show again
        by their hash, which fails where it has dropped them by then.
    foreign : list of str
        Addresses asked for on other machines, or on other ports of this one.
    """

    page: Page
    own: str
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._on_request(request.url))
        self.page.on("websocket", self._on_socket)

    def _on_console(self, message: ConsoleMessage) -> None:
        # Streamlit's client looks for the server under the page's own address first.
        probed = "404" in message.text and "/_stcore/" in message.location["url"]
        if message.type == "error" and not probed:
            self.errors.append(message.text)

    def _on_socket(self, socket: WebSocket) -> None:
        self._on_request(socket.url)
        socket.on("framesent", self._on_sent)

    def _on_sent(self, sent: str | bytes) -> None:
        if isinstance(sent, bytes):
            hashes = BackMsg.FromString(sent).rerun_script.cached_message_hashes
            self.errors += [f"stored message {one}" for one in hashes]

    def _on_request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != self.own:
            self.foreign.append(url)


@pytest.fixture(autouse=True, scope="session")
def patience() -> None:
    """Wait longer than usual: the machine may be busy."""
    expect.set_options(timeout=60_000)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A cache folder that the servers share: what one has fitted, the other finds."""
    folder = tmp_path_factory.getbasetemp()
    return (folder if worker_id == "master" else folder.parent) / "cache"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    try:
        chromium = find_chromium()
    except SystemExit as error:
        pytest.skip(str(error))
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def address(
    browser: Browser, cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Address of a dashboard of simulated counts, in which all tests of a session are visitors."""
    assert browser.is_connected()
    folder = tmp_path_factory.mktemp("server")
    with Served(folder, XDG_CACHE_HOME=str(cache), UNCLETC_DATA_DIR="") as server:
        server.until_healthy()
        yield server.address


@pytest.fixture(scope="session")
def contexts() -> dict[str, BrowserContext]:
    """Browser contexts by their options: pages of one share a window and what it has loaded."""
    return {}


@pytest.fixture
def visit(
    browser: Browser, address: str, contexts: dict[str, BrowserContext]
) -> Iterator[Callable[..., Visit]]:
    """Open a path of the dashboard in a new session; options are those of a browser context.

    With another `user` it is someone else's browser. At the end no visit may have had an error, or
    have asked another origin for anything.
    """
    visits: list[Visit] = []

    def go(path: str = "/", *, user: str = "", **options: Any) -> Visit:
        key = f"{user} {options}"
        if key not in contexts:
            contexts[key] = browser.new_context(**(DESKTOP | options))
            contexts[key].set_default_timeout(LONGEST)
        found = Visit(contexts[key].new_page(), urlsplit(address).netloc)
        visits.append(found)
        found.page.goto(path if path.startswith("http") else address + path)
        return found

    yield go
    for each in visits:
        each.page.close()
    assert [error for each in visits for error in each.errors] == []
    assert [url for each in visits for url in each.foreign] == []

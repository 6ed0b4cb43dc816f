"""Other sites' pages and other names are turned away before Streamlit sees them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dashboard.server.origin import SameOrigin


def sent(hosts: tuple[str, ...], kind: str, **headers: str) -> list[dict[str, Any]]:
    """What is answered; "passed" where the application behind got it."""
    answers: list[dict[str, Any]] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "passed"})

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(message: dict[str, Any]) -> None:
        answers.append(message)

    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": kind, "headers": pairs}
    asyncio.run(SameOrigin(app, hosts)(scope, receive, send))
    return answers


@pytest.mark.parametrize(
    ("hosts", "host", "origin"),
    [
        ((), "anything.example", "https://anything.example"),
        ((), "anything.example:8501", "http://Anything.example:8501"),
        (("localhost", "::1"), "localhost:8501", "http://localhost:8501"),
        (("localhost", "::1"), "[::1]:8501", "http://[::1]:8501"),
        (("c.example",), "C.example.", "https://c.example."),
    ],
)
def test_own_pages_pass(hosts: tuple[str, ...], host: str, origin: str) -> None:
    assert sent(hosts, "websocket", host=host, origin=origin) == [{"type": "passed"}]
    assert sent(hosts, "websocket", host=host) == [{"type": "passed"}]
    assert sent(hosts, "http", host=host, origin="https://evil.example") == [{"type": "passed"}]


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://localhost", "http://[", "//localhost:1"]
)
def test_websockets_of_other_sites_are_closed(origin: str) -> None:
    (answer,) = sent((), "websocket", host="localhost:8501", origin=origin)
    assert (answer["type"], answer["code"]) == ("websocket.close", 1008)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8501", "", "localhost.evil", "[", "a@b"]
)
def test_other_names_are_refused(host: str) -> None:
    own = ("localhost", "127.0.0.1")
    start, _ = sent(own, "http", host=host)
    assert start["status"] == 421
    (answer,) = sent(own, "websocket", host=host, origin=f"http://{host}")
    assert answer["type"] == "websocket.close"


def test_what_is_no_request_passes() -> None:
    assert sent(("localhost",), "lifespan") == [{"type": "passed"}]

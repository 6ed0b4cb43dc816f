"""Each page tells the browser where the server is; all else passes as it is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dashboard.server.base import SCRIPT, Base

HTML = (b"<html><head><title>", b"Pages</title></head></html>")


def answered(
    path: str, *, method: str = "GET", status: int = 200, kind: bytes = b"text/html; charset=utf-8"
) -> tuple[dict[bytes, bytes], bytes, dict[bytes, bytes]]:
    """Headers and body of the answer, and the headers that the application was asked with."""
    answers: list[dict[str, Any]] = []
    asked: dict[bytes, bytes] = {}

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        asked.update(scope["headers"])
        length = str(len(b"".join(HTML))).encode()
        headers = [(b"content-type", kind), (b"content-length", length), (b"etag", b"one")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": HTML[0], "more_body": True})
        await send({"type": "http.response.body", "body": HTML[1]})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        answers.append(message)

    given = [(b"accept-encoding", b"gzip"), (b"host", b"localhost")]
    scope = {"type": "http", "method": method, "path": path, "headers": given}
    asyncio.run(Base(app)(scope, receive, send))
    body = b"".join(each.get("body", b"") for each in answers)
    return dict(answers[0]["headers"]), body, asked


@pytest.mark.parametrize("path", ["/covid", "/whatif"])
def test_a_page_says_that_the_server_is_one_level_up(path: str) -> None:
    headers, body, asked = answered(path)
    assert body == b"".join(HTML).replace(b"<head>", b"<head>" + SCRIPT)
    assert int(headers[b"content-length"]) == len(body)
    assert b"etag" not in headers
    assert b"accept-encoding" not in asked
    assert asked[b"host"] == b"localhost"


@pytest.mark.parametrize(
    "other",
    [
        {"path": "/"},
        {"path": "/_stcore/health"},
        {"path": "/favicon.png"},
        {"path": "/covid", "method": "HEAD"},
        {"path": "/covid", "status": 404},
        {"path": "/ready", "kind": b"text/plain"},
    ],
)
def test_all_else_passes_as_it_is(other: dict[str, Any]) -> None:
    headers, body, _ = answered(**other)
    assert body == b"".join(HTML)
    assert headers[b"etag"] == b"one"

"""Tells browsers where the server is.

Streamlit's client does not know how deep a page's address is: on ``/covid`` it asks for
``/covid/_stcore/health`` first, takes the answer 404 for "one level up", and leaves two errors in
the browser's console. An answer there would be taken for the root, and the page for another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEAD = b"<head>"
SCRIPT = (
    b'<script>window.__streamlit = {BACKEND_BASE_URL: new URL(".", location.origin + '
    b"location.pathname).href};</script>"
)
_LEFT_OUT = {b"accept-encoding", b"range", b"if-none-match", b"if-modified-since"}
_OUTDATED = {b"content-length", b"accept-ranges", b"etag", b"last-modified"}


class Base:
    """Adds to each page that the server is one level up.

    Parameters
    ----------
    app : ASGI application
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http" or scope["method"] != "GET" or not _is_page(scope["path"]):
            await self._app(scope, receive, send)
            return
        whole = [(name, value) for name, value in scope["headers"] if name not in _LEFT_OUT]
        await self._app({**scope, "headers": whole}, receive, _Page(send))


class _Page:
    """Sends a page with the script, and all else as it is."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_html(message):
            self._start = message
            return
        if message["type"] != "http.response.body" or self._start is None:
            await self._send(message)
            return
        self._body += message.get("body", b"")
        if message.get("more_body", False):
            return
        body = self._body.replace(_HEAD, _HEAD + SCRIPT, 1)
        kept = [(name, value) for name, value in self._start["headers"] if name not in _OUTDATED]
        length = (b"content-length", str(len(body)).encode())
        await self._send({**self._start, "headers": [*kept, length]})
        await self._send({"type": "http.response.body", "body": body})


def _is_page(path: str) -> bool:
    """Whether it is the address of a page other than the first."""
    return len(path) > 1 and path.count("/") == 1 and "." not in path


def _is_html(start: Message) -> bool:
    kinds = [value for name, value in start["headers"] if name.lower() == b"content-type"]
    return start["status"] == 200 and any(kind.startswith(b"text/html") for kind in kinds)

"""Turns away what other sites' pages send here.

Streamlit checks the origin of a websocket too, but it takes a wrong one for a reason to ask another
machine for this server's public address, with every session waiting; and it looks at the name that
a request was sent to for websockets alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class SameOrigin:
    """Passes on what came from this server's own pages, under a name of this server.

    Parameters
    ----------
    app : ASGI application
    hosts : tuple of str
        Names that the server has; empty: any.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] = ()) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] not in {"http", "websocket"} or self._welcome(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
        else:
            headers = [(b"content-type", b"text/plain; charset=utf-8")]
            await send({"type": "http.response.start", "status": 421, "headers": headers})
            await send({"type": "http.response.body", "body": b"This server has another name."})

    def _welcome(self, scope: Scope) -> bool:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if self._hosts and _name(f"//{host}") not in self._hosts:
            return False
        if scope["type"] == "http" or origin is None:
            return True
        return _place(origin) == host.lower()


def _name(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _place(address: str) -> str:
    try:
        return urlsplit(address).netloc.lower()
    except ValueError:
        return ""

"""What the server does to every request: whom it answers, and what browsers may do with a page.

Streamlit checks the origin of a websocket too, but it takes a wrong one for a reason to ask another
machine for this server's public address, with every session waiting; and it looks at the name that
a request was sent to for websockets alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from dashboard.operator_settings import is_this_machine

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    # Streamlit's client evaluates code and writes styles into its page; nothing comes from, and
    # nothing goes to, another machine.
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
        "connect-src 'self' data: blob:; worker-src 'self' blob:; object-src 'none'; "
        "base-uri 'self'; frame-ancestors 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
}
_FOR_THE_OPERATOR = (
    "/ready",
    "/_stcore/metrics",
    "/_stcore/script-health-check",
    "/_stcore/agent",
)


class Protection:
    """Answers requests under a name of this server, and websockets of its own pages alone.

    Parameters
    ----------
    app : ASGI application
    hosts : tuple of str
        Names that the server has; empty: any.
    behind_proxy : bool
        Whether a proxy decides who may ask for readiness; otherwise this machine alone may.
    """

    def __init__(
        self, app: ASGIApp, hosts: tuple[str, ...] = (), *, behind_proxy: bool = False
    ) -> None:
        self._app, self._hosts, self._behind_proxy = app, hosts, behind_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        asked = Headers(scope=scope)
        host = asked.get("host", "")
        named = not self._hosts or _part(f"//{host}", "hostname").rstrip(".") in self._hosts
        if scope["type"] == "websocket":
            origin = asked.get("origin")
            if named and (origin is None or _part(origin, "netloc").lower() == host.lower()):
                await self._app(scope, receive, send)
                return
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": ""})
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        answer: ASGIApp = self._app
        if not named:
            answer = PlainTextResponse("This server has another name.", status_code=421)
        elif unquote(scope["path"]).lower().startswith(_FOR_THE_OPERATOR) and not self._near(scope):
            answer = PlainTextResponse("Not found", status_code=404)
        await answer(scope, receive, send_with_headers)

    def _near(self, scope: Scope) -> bool:
        """Whether who asks is on this machine, and speaks for nobody else."""
        asked, client = Headers(scope=scope), scope.get("client")
        forwarded = "x-forwarded-for" in asked or "forwarded" in asked
        return self._behind_proxy or bool(client and is_this_machine(client[0]) and not forwarded)


def _part(address: str, name: str) -> str:
    try:
        return getattr(urlsplit(address), name) or ""
    except ValueError:
        return ""

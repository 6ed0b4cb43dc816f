"""The server around the pages: who may come in, whether it is ready, what it measures."""

import asyncio
import ctypes
import gc
import logging
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import unquote, urlsplit

import streamlit as st
from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import runtime

from dashboard.operator_settings import current, is_this_machine
from dashboard.work.engine import Service
from dashboard.work.orders import SimulatedFit
from dashboard.work.results import trouble
from uncletc import FitSettings

log = logging.getLogger(__name__)


def user() -> str | None:
    """Return the name of who is signed in, or None.

    It is the e-mail address where the provider says that it is verified, or else what the provider
    calls this person.
    """
    if not st.user.get("is_logged_in"):
        return None
    if st.user.get("email") and st.user.get("email_verified") is True:
        return str(st.user["email"])
    return st.user.get("sub") or None


def gate() -> None:
    """Ask for a sign-in and stop, where one is asked for and nobody is signed in."""
    if current().sign_in == "none":
        return
    name = user()
    if name is None:
        st.title("uncletc")
        st.write("Sign in to see the dashboard.")
        st.button("Sign in", on_click=st.login, type="primary", key="sign-in")
        st.stop()
    plain = "".join(letter if letter.isalnum() or letter in " @.-_+" else " " for letter in name)
    with st.sidebar:
        st.caption(f"Signed in as {plain[:80]}")
        st.button("Sign out", on_click=st.logout, key="sign-out", help="Ends this session.")


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
_FOR_THE_OPERATOR = ("/ready", "/_stcore/metrics", "/_stcore/script-health-check", "/_stcore/agent")


class Protection:
    """Answers requests under a name of this server, and websockets of its own pages alone.

    Streamlit checks the origin of a websocket too, but it takes a wrong one for a reason to ask
    another machine for this server's public address, with every session waiting; and it looks at
    the name that a request was sent to for websockets alone.

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


_COUNTERS = {"orders_done", "orders_failed", "orders_cancelled"}
_SESSIONS = "active_sessions"  # Streamlit's name of browsers connected
_TINY = {"shape": [4, 4, 4], "rank": 1, "n_attributes": 1}
_STEPS = 20


class Work:
    """Turns what a service has counted into metrics.

    Parameters
    ----------
    service : Service
    """

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of now."""
        for name, value in self._service.numbers().items():
            family = CounterMetricFamily if name in _COUNTERS else GaugeMetricFamily
            yield family(f"uncletc_{name}", name.replace("_", " "), value=value)
        if (connected := sessions()) is not None:
            yield GaugeMetricFamily("uncletc_sessions", "browsers connected", value=connected)


def sessions() -> int | None:
    """Return how many browsers are connected; None where that is not known."""
    if not runtime.exists():
        return None
    stats = runtime.get_instance().stats_mgr.get_stats([_SESSIONS]).get(_SESSIONS, [])
    values = [stat.value for stat in stats if hasattr(stat, "value")]
    return int(sum(values)) if values else None


@contextmanager
def metrics_served(service: Service, port: int | None, host: str) -> Iterator[None]:
    """Serve metrics on a port of their own while the context lasts; nowhere without a port."""
    if port is None:
        yield
        return
    registry = CollectorRegistry()
    registry.register(Work(service))
    ProcessCollector(registry=registry)
    try:
        server, thread = start_http_server(port, host, registry)
    except OSError as error:
        log.error("metrics cannot be served", extra={"metrics_port": port, "why": trouble(error)})
        raise
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Readiness:
    """Whether the server can do what it is for: it has fitted a tiny tensor since it started.

    A server that is busy is ready: its tiny fit waits for its turn among the others.

    Parameters
    ----------
    service : callable
        Returns the service of fits.
    """

    def __init__(self, service: Callable[[], Service]) -> None:
        self._service = service
        simulation = _TINY | {"seed": secrets.randbelow(10**6)}  # none that is found on disk
        settings = FitSettings(rank=1, max_iter=_STEPS, seed=0)
        self._order = SimulatedFit(simulation=simulation, settings=settings)

    def problem(self) -> str:
        """Return why the server is not ready, as a sentence; empty where it is."""
        service, order = self._service(), self._order
        # A cluster is away for all replicas alike: pages that say so are better than none.
        if service.away or service.lookup(order) is not None:
            return ""
        job = service.job(order)
        if (job is None or not job.active) and len(service.active) < service.limits.queue:
            service.submit(order)
        if job is not None and job.state == "failed":
            log.error("the tiny fit failed")
            return "A tiny fit failed."
        return "The first tiny fit has not finished yet."


_TIDIED = 15.0  # seconds between two checks


async def tidy_memory() -> None:
    """Drop what visitors have left, now and then; runs in the loop of Streamlit's sessions."""
    while True:
        await asyncio.sleep(_TIDIED)
        if expire_sessions(runtime.get_instance()._session_mgr):  # noqa: SLF001
            await run_in_threadpool(give_back)


def expire_sessions(manager: Any) -> int:
    """Close sessions that nobody came back to, and return how many.

    Streamlit drops them only when another browser goes: the last ones would stay for good, and
    their own tables with them.
    """
    closed = []
    with suppress(AttributeError):  # these names are those of one version of Streamlit
        with manager._storage_lock:  # noqa: SLF001
            left = manager._session_storage._cache.expire()  # noqa: SLF001
        closed = [info.session for _, info in left]
    for session in closed:
        session.shutdown()
    return len(closed)


def give_back() -> None:
    """Collect garbage, and return free memory to the system, where it is Linux with glibc."""
    gc.collect()
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)

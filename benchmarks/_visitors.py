"""Visitors without a browser: sessions at Streamlit's websocket that click and wait.

They draw nothing. As browsers do, they keep large messages for a few runs and say which, so that
the server need not send the same ones again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from time import monotonic, perf_counter
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect as connect_soon
from websockets.exceptions import WebSocketException
from websockets.sync.client import ClientConnection, connect

PATIENCE = 120.0  # seconds for one answer
_LARGEST = 2**28  # bytes of one message
_PAUSE = (1.0, 4.0)  # seconds between two clicks
_PROTOCOL = "streamlit"
_NO_TOKEN = "PLACEHOLDER_AUTH_TOKEN"  # nosec B105: what Streamlit's pages send without one


@dataclass(frozen=True)
class View:
    """A page with its choices.

    Attributes
    ----------
    page : str
        Its name in the address; empty for the first page.
    query : str
        What follows the question mark.
    """

    page: str
    query: str = ""


@dataclass
class Answer:
    """What one run of a page sent.

    Attributes
    ----------
    seconds : float
        From asking to the last message.
    charts : int
    fitting : bool
        Whether it showed progress of a fit.
    trouble : str
        Name of the exception that it showed, or why it did not end well; empty for neither.
    """

    seconds: float = 0.0
    charts: int = 0
    fitting: bool = False
    trouble: str = ""


@dataclass
class Heard:
    """What visitors noticed.

    Attributes
    ----------
    first, again : list of float
        Seconds until a first view, and until the answer to a click.
    failed : list of str
        What went wrong, one word each.
    fitting : bool
        Whether a last view showed progress of a fit.
    """

    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    fitting: bool = False


class Talk:
    """What a session asks, and what it makes of what it hears; it knows no connection."""

    def __init__(self) -> None:
        self.session = ""  # Streamlit's name of it; empty before the first run
        self._pages: dict[str, str] = {}
        self._page = ""
        self._answer = Answer()
        self._kept: dict[str, tuple[ForwardMsg, int]] = {}  # large messages, the run of each
        self._longest = 2  # runs for which one is kept
        self._run = 0

    def ask(self, view: View) -> bytes:
        """Return the message that asks for a view."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string = view.query
        if view.page in self._pages:
            state.page_script_hash = self._pages[view.page]
            state.is_history_navigation = view.page == self._page  # choices come from the address
        else:
            state.page_name = view.page
        state.cached_message_hashes.extend(self._kept)
        self._page = view.page
        self._answer = Answer()
        return message.SerializeToString()

    def hear(self, data: bytes) -> Answer | None:
        """Take a message in; return the answer where it was the last of a run."""
        said = ForwardMsg.FromString(data)
        if said.WhichOneof("type") == "ref_hash":
            said = self._kept[said.ref_hash][0]
            self._kept[said.hash] = said, self._run
        elif said.metadata.cacheable:
            self._kept[said.hash] = said, self._run
        kind = said.WhichOneof("type")
        if kind == "new_session":
            self.session = said.new_session.initialize.session_id or self.session
            self._longest = said.new_session.config.max_cached_message_age
        elif kind == "navigation":
            known = said.navigation.app_pages
            self._pages = {page.url_pathname: page.page_script_hash for page in known}
            first = next(page for page in known if page.is_default)
            self._pages[""] = first.page_script_hash
        elif kind == "delta" and said.delta.WhichOneof("type") == "new_element":
            element = said.delta.new_element
            self._answer.charts += element.WhichOneof("type") == "plotly_chart"
            self._answer.fitting |= element.WhichOneof("type") == "progress"
            if element.WhichOneof("type") == "exception":
                self._answer.trouble = element.exception.type
        elif kind == "script_finished":
            return self._end(said.script_finished)
        return None

    def _end(self, how: int) -> Answer | None:
        if how == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
            self._answer.trouble = "compile error"
        elif how != ForwardMsg.FINISHED_SUCCESSFULLY:
            return None  # another run follows
        self._run += 1
        oldest = self._run - self._longest
        self._kept = {name: each for name, each in self._kept.items() if each[1] >= oldest}
        return self._answer


@dataclass
class Visitor:
    """One browser's cookies and its session, which may be gone on with over a new connection.

    Attributes
    ----------
    address : str
        As ``http://127.0.0.1:8080``.
    cookies : dict of str to str
    """

    address: str
    cookies: dict[str, str] = field(default_factory=dict)
    _talk: Talk = field(default_factory=Talk)
    _socket: ClientConnection | None = None

    @property
    def session(self) -> str:
        """Streamlit's name of the session; empty before the first run."""
        return self._talk.session

    @property
    def replica(self) -> str:
        """Which replica the proxy's cookie names."""
        return self.cookies.get("replica", "")

    def fetch(self, path: str = "/_stcore/host-config", timeout: float = 10) -> int:
        """Ask for something, keep the cookies, and return the status."""
        request = Request(self.address + path, headers=self._cookie_header())
        with urlopen(request, timeout=timeout) as answer:  # nosec B310
            for line in answer.headers.get_all("Set-Cookie") or []:
                self.cookies |= {name: each.value for name, each in SimpleCookie(line).items()}
            answer.read()
            return int(answer.status)

    def connect(self, timeout: float = 10) -> None:
        """Open the websocket, in the session of before where there was one."""
        self.close()
        names = [_PROTOCOL, self.cookies.get("_streamlit_xsrf", _NO_TOKEN)]
        names += [self.session] if self.session else []
        self._socket = connect(
            self.address.replace("http", "ws", 1) + "/_stcore/stream",
            origin=self.address,  # type: ignore[arg-type]
            subprotocols=names,  # type: ignore[arg-type]
            additional_headers=self._cookie_header(),
            open_timeout=timeout,
            max_size=_LARGEST,
        )

    def look(self, view: View, timeout: float = 60) -> Answer:
        """Ask for a view, and wait until it is complete."""
        assert self._socket is not None
        began, answer = monotonic(), None
        self._socket.send(self._talk.ask(view))
        while answer is None:
            left = began + timeout - monotonic()
            said: Any = self._socket.recv(timeout=max(left, 0.1))
            answer = self._talk.hear(bytes(said))
        answer.seconds = monotonic() - began
        return answer

    def close(self) -> None:
        """Close the websocket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _cookie_header(self) -> Mapping[str, str]:
        pairs = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Cookie": pairs} if pairs else {}


async def visit(
    address: str, views: Sequence[View], heard: Heard, *, seconds: float, seed: int
) -> None:
    """Open a view, then click through others for a while, with pauses as people make them.

    Parameters
    ----------
    address : str
        Of the server, ``http://…``.
    views : sequence of View
    heard : Heard
        Is added to.
    seconds : float
        After which no further click is made; 0: the first view alone.
    seed : int
        Decides which views, and the pauses.
    """
    rng = np.random.default_rng(seed)
    await asyncio.sleep(rng.uniform(0, min(seconds, _PAUSE[1])))
    end = perf_counter() + seconds
    try:
        async with connect_soon(
            f"{address.replace('http', 'ws', 1)}/_stcore/stream",
            subprotocols=[_PROTOCOL],  # type: ignore[list-item]
            max_size=_LARGEST,
            open_timeout=PATIENCE,
            proxy=None,
        ) as socket:
            talk = Talk()
            answer = await _look(socket, talk, views[rng.integers(len(views))])
            heard.first.append(answer.seconds)
            while not answer.trouble and perf_counter() < end:
                await asyncio.sleep(rng.uniform(*_PAUSE))
                answer = await _look(socket, talk, views[rng.integers(len(views))])
                heard.again.append(answer.seconds)
            heard.fitting |= answer.fitting
            if answer.trouble:
                heard.failed.append(answer.trouble)
    except (OSError, TimeoutError, WebSocketException) as error:
        heard.failed.append(type(error).__name__)


async def _look(socket: Any, talk: Talk, view: View) -> Answer:
    async def finish() -> Answer:
        answer = None
        while answer is None:
            answer = talk.hear(bytes(await socket.recv(decode=False)))
        return answer

    began = perf_counter()
    await socket.send(talk.ask(view))
    answer = await asyncio.wait_for(finish(), PATIENCE)
    answer.seconds = perf_counter() - began
    return answer

"""Visitors without a browser: sessions at Streamlit's websocket that click and wait.

They draw nothing. As browsers do, they keep large messages for a few runs and say which, so that
the server need not send the same ones again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect as connect_soon
from websockets.exceptions import WebSocketException

PATIENCE = 120.0  # seconds for one answer
_LARGEST = 2**28  # bytes of one message
_PAUSE = (1.0, 4.0)  # seconds between two clicks
_PROTOCOL = "streamlit"


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
    fitting : bool
        Whether it showed progress of a fit.
    trouble : str
        Name of the exception that it showed, or why it did not end well; empty for neither.
    """

    seconds: float = 0.0
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
            self._longest = said.new_session.config.max_cached_message_age
        elif kind == "navigation":
            known = said.navigation.app_pages
            self._pages = {page.url_pathname: page.page_script_hash for page in known}
            first = next(page for page in known if page.is_default)
            self._pages[""] = first.page_script_hash
        elif kind == "delta" and said.delta.WhichOneof("type") == "new_element":
            element = said.delta.new_element
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
            answer = await _process(socket, talk, views[rng.integers(len(views))])
            heard.first.append(answer.seconds)
            while not answer.trouble and perf_counter() < end:
                await asyncio.sleep(rng.uniform(*_PAUSE))
                answer = await _process(socket, talk, views[rng.integers(len(views))])
                heard.again.append(answer.seconds)
            heard.fitting |= answer.fitting
            if answer.trouble:
                heard.failed.append(answer.trouble)
    except (OSError, TimeoutError, WebSocketException) as error:
        heard.failed.append(type(error).__name__)


async def _process(socket: Any, talk: Talk, view: View) -> Answer:
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

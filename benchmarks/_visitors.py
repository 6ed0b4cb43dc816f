"""Visitors without a browser: sessions at Streamlit's websocket that click and wait."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

PATIENCE = 120.0  # seconds for one answer
_LARGEST = 2**28  # bytes of one message
_FINISHED = ForwardMsg.ScriptFinishedStatus.Value("FINISHED_SUCCESSFULLY")
_PAUSE = (1.0, 4.0)  # seconds between two clicks


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
    """What a visitor got.

    Attributes
    ----------
    seconds : float
    trouble : str
        Name of the exception that the page showed; empty for none.
    working : bool
        Whether it showed progress of a fit.
    """

    seconds: float = 0.0
    trouble: str = ""
    working: bool = False


@dataclass
class Heard:
    """What visitors noticed.

    Attributes
    ----------
    first, again : list of float
        Seconds until a first view, and until the answer to a click.
    failed : list of str
        What went wrong, one word each.
    working : bool
        Whether a last view showed progress of a fit.
    """

    first: list[float] = field(default_factory=list)
    again: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    working: bool = False


class Visitor:
    """One session.

    Parameters
    ----------
    socket : ClientConnection
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._pages: dict[str, str] = {}
        self._page = ""

    async def look(self, view: View) -> Answer:
        """Ask for a view, and wait until it is complete."""
        message = BackMsg()
        state = message.rerun_script
        state.query_string = view.query
        if view.page in self._pages:
            state.page_script_hash = self._pages[view.page]
            state.is_history_navigation = view.page == self._page  # choices come from the address
        else:
            state.page_name = view.page
        self._page = view.page
        began = perf_counter()
        await self._socket.send(message.SerializeToString())
        answer = await asyncio.wait_for(self._finish(), PATIENCE)
        answer.seconds = perf_counter() - began
        return answer

    async def _finish(self) -> Answer:
        answer = Answer()
        while True:
            heard = ForwardMsg.FromString(bytes(await self._socket.recv(decode=False)))
            kind = heard.WhichOneof("type")
            if kind == "navigation":
                self._pages = {
                    page.url_pathname: page.page_script_hash for page in heard.navigation.app_pages
                }
                for page in heard.navigation.app_pages:
                    if page.is_default:
                        self._pages[""] = page.page_script_hash
            elif kind == "delta":
                element = heard.delta.new_element
                answer.working |= element.WhichOneof("type") == "progress"
                if element.WhichOneof("type") == "exception":
                    answer.trouble = element.exception.type
            elif kind == "script_finished" and heard.script_finished == _FINISHED:
                return answer


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
        async with connect(
            f"{address.replace('http', 'ws', 1)}/_stcore/stream",
            subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=_LARGEST,
            open_timeout=PATIENCE,
            proxy=None,
        ) as socket:
            visitor = Visitor(socket)
            answer = await visitor.look(views[rng.integers(len(views))])
            heard.first.append(answer.seconds)
            while not answer.trouble and perf_counter() < end:
                await asyncio.sleep(rng.uniform(*_PAUSE))
                answer = await visitor.look(views[rng.integers(len(views))])
                heard.again.append(answer.seconds)
            heard.working |= answer.working
            if answer.trouble:
                heard.failed.append(answer.trouble)
    except (OSError, TimeoutError, WebSocketException) as error:
        heard.failed.append(type(error).__name__)

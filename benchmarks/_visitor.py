"""A visitor of the dashboard without a browser: the websocket that Streamlit's pages speak."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from time import monotonic
from typing import Any
from urllib.request import Request, urlopen

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

_LARGEST = 200_000_000  # bytes of one message
_PROTOCOL = "streamlit"
_NO_TOKEN = "PLACEHOLDER_AUTH_TOKEN"  # nosec B105: what Streamlit's pages send without one


@dataclass
class Run:
    """What one run of a page sent.

    Attributes
    ----------
    seconds : float
    charts : int
    fitting : bool
        Whether it drew progress.
    failed : bool
        Whether it drew an exception, or did not end well.
    """

    seconds: float = 0.0
    charts: int = 0
    fitting: bool = False
    failed: bool = False


@dataclass
class Visitor:
    """One browser's cookies and its session.

    Attributes
    ----------
    address : str
        As ``http://127.0.0.1:8080``.
    cookies : dict of str to str
    session : str
        Streamlit's name of the session; empty before the first run.
    """

    address: str
    cookies: dict[str, str] = field(default_factory=dict)
    session: str = ""
    _socket: ClientConnection | None = None

    def fetch(self, path: str = "/_stcore/host-config", timeout: float = 10) -> int:
        """Ask for something, keep the cookies, and return the status."""
        request = Request(self.address + path, headers=self._cookie_header())
        with urlopen(request, timeout=timeout) as answer:  # nosec B310
            for line in answer.headers.get_all("Set-Cookie") or []:
                self.cookies |= {name: each.value for name, each in SimpleCookie(line).items()}
            answer.read()
            return int(answer.status)

    @property
    def replica(self) -> str:
        """Which replica the proxy's cookie names."""
        return self.cookies.get("replica", "")

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

    def open(self, page: str, parameters: str = "", timeout: float = 60) -> Run:
        """Run a page, and return what it sent."""
        assert self._socket is not None
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = parameters
        began, run = monotonic(), Run()
        self._socket.send(message.SerializeToString())
        while True:
            said = ForwardMsg()
            said.ParseFromString(self._receive(began + timeout - monotonic()))
            kind = said.WhichOneof("type")
            if kind == "new_session":
                self.session = said.new_session.initialize.session_id or self.session
            elif kind == "delta" and said.delta.WhichOneof("type") == "new_element":
                element = said.delta.new_element.WhichOneof("type")
                run.charts += element == "plotly_chart"
                run.fitting |= element == "progress"
                run.failed |= element == "exception"
            elif kind == "script_finished":
                ended = said.script_finished
                if ended == ForwardMsg.FINISHED_EARLY_FOR_RERUN:
                    continue
                run.failed |= ended != ForwardMsg.FINISHED_SUCCESSFULLY
                run.seconds = monotonic() - began
                return run

    def _receive(self, timeout: float) -> bytes:
        assert self._socket is not None
        said: Any = self._socket.recv(timeout=max(timeout, 0.1))
        return bytes(said)

    def close(self) -> None:
        """Close the websocket; the session may be gone on with."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _cookie_header(self) -> Mapping[str, str]:
        pairs = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        return {"Cookie": pairs} if pairs else {}

"""Memory after visitors have left."""

from types import SimpleNamespace

from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from dashboard.server import expire_sessions, give_back


def test_a_session_that_nobody_came_back_to_is_closed():
    nothing = None
    storage = MemorySessionStorage(ttl_seconds=0)
    manager = WebsocketSessionManager(storage, nothing, nothing, nothing)
    closed = []
    session = SimpleNamespace(id="ann", shutdown=lambda: closed.append("ann"))
    storage._cache["ann"] = SessionInfo(client=None, session=session, script_run_count=1)
    assert expire_sessions(manager) == 1
    assert closed == ["ann"]
    assert expire_sessions(manager) == 0
    assert expire_sessions(SimpleNamespace()) == 0  # another version of Streamlit
    give_back()

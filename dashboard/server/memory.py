"""Give memory back after visitors have left: their sessions, garbage, and what malloc holds."""

from __future__ import annotations

import asyncio
import ctypes
import gc
from contextlib import suppress
from typing import Any

from starlette.concurrency import run_in_threadpool
from streamlit import runtime

_LOOKED_AFTER = 15.0  # seconds between two checks


async def look_after() -> None:
    """Drop what visitors have left, now and then; runs in the loop of Streamlit's sessions."""
    while True:
        await asyncio.sleep(_LOOKED_AFTER)
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

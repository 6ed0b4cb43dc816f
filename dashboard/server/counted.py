"""What the server weighs besides what its service of fits counts."""

from __future__ import annotations

import os
from pathlib import Path

from streamlit import runtime

_MEMORY = Path("/proc/self/statm")  # where Linux tells of a process
_SESSIONS = "active_sessions"


def sessions() -> int | None:
    """How many browsers are connected; None where that is not known."""
    if not runtime.exists():
        return None
    stats = runtime.get_instance().stats_mgr.get_stats([_SESSIONS]).get(_SESSIONS, [])
    values = [stat.value for stat in stats if hasattr(stat, "value")]
    return int(sum(values)) if values else None


def memory() -> int | None:
    """Bytes of memory that the server holds, without its workers; None where not known."""
    try:
        pages = _MEMORY.read_text(encoding="ascii").split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")

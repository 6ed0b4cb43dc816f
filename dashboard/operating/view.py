"""Tables of what the server does. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.server import meanings

_SIZES = ("B", "kB", "MB", "GB", "TB")
_BYTES, _SECONDS, _WAITING = "bytes", "seconds", "waiting_"


def size(held: float) -> str:
    """Bytes in words, as "1.2 GB"."""
    for unit in _SIZES[:-1]:
        if held < 1000:
            return f"{held:.0f} {unit}" if unit in _SIZES[:2] else f"{held:.1f} {unit}"
        held /= 1000
    return f"{held:.1f} {_SIZES[-1]}"


def duration(seconds: float) -> str:
    """Seconds in words, as "2 h 5 min"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def work_table(numbers: Mapping[str, float]) -> pd.DataFrame:
    """Return what the service of fits has counted.

    Parameters
    ----------
    numbers : mapping of str to float
        By name, see :data:`dashboard.server.meanings.MEANINGS`.

    Returns
    -------
    DataFrame
        Columns "what" and "now", one row per number; bytes and seconds in fitting units.
    """
    rows = [
        (meanings.meaning(name).words, _words(name, value))
        for name, value in meanings.in_order(dict(numbers)).items()
    ]
    return pd.DataFrame(rows, columns=["what", "now"])


def waiting(numbers: Mapping[str, float]) -> str:
    """How many orders wait for a process."""
    return f"{sum(value for name, value in numbers.items() if name.startswith(_WAITING)):,.0f}"


def _words(name: str, value: float) -> str:
    if name.endswith(_BYTES):
        return size(value)
    return duration(value) if name.endswith(_SECONDS) else f"{value:,.0f}"


def errors_table(entries: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return recent warnings and errors, the newest first.

    Parameters
    ----------
    entries : sequence of mapping
        See :func:`dashboard.logs.entry`.

    Returns
    -------
    DataFrame
        Columns "time" (UTC), "level", "from", "what" and "error", each text; empty without any.
    """
    rows = [
        (
            each["time"][:19].replace("T", " "),
            each["level"],
            f"{each['logger']} {each['where']}",
            each.get("message", ""),
            each.get("error", ""),
        )
        for each in entries
    ]
    return pd.DataFrame(rows, columns=["time", "level", "from", "what", "error"], dtype=str)

"""How days are shown: on every page, in every chart, on the map and under the pointer. Pure.

Saved tables and the library keep to ISO 8601, whatever stands here; an address holds a day as it
is shown.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Any

_FULL = "%Y-%m-%d"  # codes of strftime, which Plotly understands too
_SHORT = "%-d %b"  # on an axis, whose year is clear
DAY_AXIS: dict[str, Any] = {"type": "date", "tickformat": _SHORT, "hoverformat": _FULL}
_ISO = re.compile(r"\d{4}-\d\d-\d\d")


def is_day(label: str) -> bool:
    """Whether the label of a mode's step is a day."""
    return _ISO.fullmatch(label) is not None


def day_text(label: str) -> str:
    """A day as readers see it; any other label, such as that of a visit, as it is."""
    return date.fromisoformat(label).strftime(_FULL) if is_day(label) else label


def days_text(first: date, last: date) -> str:
    """The days from the first to the last, without a year."""
    return f"{_short(first)} to {_short(last)}"


def _short(day: date) -> str:
    return day.strftime(_SHORT.replace("%-d", str(day.day)))  # which Windows does not know

"""What a report before the fit is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["mend", "look", "note"]
_ORDER: tuple[Severity, ...] = ("mend", "look", "note")


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to know of counts before they are fitted.

    Attributes
    ----------
    kind : str
        What it is about: "shape", "share", "running totals", "totals", "days", "weekdays of
        places", "leaking", "constant", "collinear", "outliers", "empty levels", "zero levels",
        "few counts", "dispersion", "time" or "clean".
    severity : {"mend", "look", "note"}
        "mend": a fit would be wrong; "look": it may be; "note": worth knowing.
    sentence : str
        What was found, in one sentence for readers.
    advice : str
        What to do, in one sentence; empty where there is nothing to do.
    details : mapping of str to Any
        Plain values behind the sentence. Of "days": ``missing``, pairs of a mode and a level for
        :attr:`uncletc.tables.Columns.missing` and :func:`uncletc.tables.as_missing`. Of "running
        totals": ``running``, the mode for :attr:`uncletc.tables.Columns.running`. Of "totals":
        ``without``, pairs for :attr:`uncletc.tables.Columns.without`.
    """

    kind: str
    severity: Severity
    sentence: str
    advice: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


def by_importance(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in the order of their severity; those of one severity stay in order."""
    return tuple(sorted(findings, key=lambda each: _ORDER.index(each.severity)))


def listed(names: Iterable[str], most: int = 5) -> str:
    """Names in a sentence: "a, b and c", "a, b and 7 others"."""
    each = list(names)
    shown = each if len(each) <= most + 1 else [*each[:most], f"{len(each) - most} others"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def counted(n: int, one: str) -> str:
    """A number of things: "1 day", "2,000 days"."""
    return f"{n:,} {one if n == 1 else f'{one}s'}"

"""Weeks, months and quarters as people write them, in one form that sorts."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAMES = (
    ("jan", "janv", "ene"), ("feb", "févr", "fev"), ("mar", "mars", "mär", "mrz"),
    ("apr", "avr", "abr"), ("may", "mai"), ("jun", "juin"), ("jul", "juil"),
    ("aug", "août", "ago"), ("sep", "sept", "set"), ("oct", "okt", "out"), ("nov",),
    ("dec", "déc", "dic", "dez"),
)  # fmt: skip
_MONTHS = {name: k + 1 for k, names in enumerate(_NAMES) for name in names}
_LETTERS = {"w": "W", "s": "W", "kw": "W", "sem": "W", "week": "W", "m": "-", "q": "Q", "t": "Q"}
_FORMS = (
    re.compile(r"(?P<year>(?:19|20)\d\d)[-_/. ]?(?P<kind>w|s|kw|sem|week|m|q|t) ?(?P<part>\d\d?)"),
    re.compile(r"(?P<kind>w|kw|sem|week|q|t)[-_ ]?(?P<part>\d\d?)[-_/, ]+(?P<year>(?:19|20)\d\d)"),
    re.compile(r"(?P<part>\d\d?)[/.](?P<year>(?:19|20)\d\d)"),
    re.compile(r"(?P<year>(?:19|20)\d\d)[-/.](?P<part>\d\d?)"),
    re.compile(r"(?P<name>[^\W\d_]{3,9})\.?[-_/ ,']*(?P<year>(?:19|20)\d\d|\d\d)"),
    re.compile(r"(?P<year>(?:19|20)\d\d)[-_/ ](?P<name>[^\W\d_]{3,9})\.?"),
)


def periods(names: Iterable[str]) -> dict[str, str] | None:
    """Return "2020-W05", "2020-03" or "2020-Q1" for each name; None where one is none of these.

    Examples
    --------
    >>> periods(["Jan-20", "Feb-20"])
    {'Jan-20': '2020-01', 'Feb-20': '2020-02'}
    >>> periods(["2020M01", "x"]) is None
    True
    """
    found = {}
    for name in names:
        period = _period(name.strip().lower())
        if period is None:
            return None
        found[name] = period
    kinds = {len(each) if each[5] not in "WQ" else each[5] for each in found.values()}
    return found if len(kinds) == 1 and len(set(found.values())) == len(found) else None


def _period(name: str) -> str | None:
    for form in _FORMS:
        match = form.fullmatch(name)
        if match is None:
            continue
        parts = match.groupdict()
        year = parts["year"] if len(parts["year"]) == 4 else f"20{parts['year']}"
        if parts.get("name"):
            month = _MONTHS.get(parts["name"][:4]) or _MONTHS.get(parts["name"][:3])
            return None if month is None else f"{year}-{month:02d}"
        kind, part = _LETTERS[parts.get("kind") or "m"], int(parts["part"])
        most = {"W": 53, "-": 12, "Q": 4}[kind]
        if not 1 <= part <= most:
            return None
        if kind == "Q":
            return f"{year}-Q{part}"
        return f"{year}-W{part:02d}" if kind == "W" else f"{year}-{part:02d}"
    return None

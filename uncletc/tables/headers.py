"""Two rows of names above each other: groups of columns, such as species over visits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import polars as pl

BETWEEN = " | "
"""Stands between the names of a group and of a column in it."""

_LEAST = 2  # groups, and columns in each
_MOST_ROWS = 3_000_000


def joined_names(above: Sequence[str], header: Sequence[str]) -> list[str] | None:
    """Names of columns with that of their group before them; None where there are no groups.

    A group's name stands above its first column alone, as merged cells leave it.
    """
    names = [name.strip() for name in header]
    repeated = {name for name, n in Counter(names).items() if n > 1 and name}
    groups = [each.strip() for each in above] + [""] * (len(names) - len(above))
    starts = [k for k, each in enumerate(groups) if each]
    if not repeated or len(starts) < _LEAST:
        return None
    joined, group = [], ""
    for name, own in zip(names, groups, strict=False):
        group = own or group
        joined.append(f"{group}{BETWEEN}{name}" if name in repeated and group else name)
    told = [each for each in joined if BETWEEN in each]
    return joined if len(set(told)) == len(told) == sum(n in repeated for n in names) else None


def unfolded(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Put groups of columns below each other: each row has one count of one column of a group."""
    pairs = {name: tuple(name.split(BETWEEN)) for name in frame.columns if BETWEEN in name}
    if any(len(pair) != 2 for pair in pairs.values()):
        return frame, []
    first, second = (list(dict.fromkeys(pair[k] for pair in pairs.values())) for k in (0, 1))
    if min(len(first), len(second)) < _LEAST or len(pairs) != len(first) * len(second):
        return frame, []
    if not all(frame.schema[name] == pl.Int32 for name in pairs):
        return frame, []
    if len(frame) * len(pairs) > _MOST_ROWS:
        return frame, []
    rest = [name for name in frame.columns if name not in pairs]
    group, column, count = (_free(name, rest) for name in ("group", _called(second), "count"))
    parts = [
        frame.select(
            *rest,
            pl.lit(one).alias(group),
            pl.lit(other).alias(column),
            pl.col(name).alias(count),
        )
        for name, (one, other) in pairs.items()
    ]
    return pl.concat(parts), [
        f"Two rows of names stand above each other, {first[0]} … over {second[0]} …: the "
        f"{len(pairs)} columns are put below each other, as {group} and {column}."
    ]


def _called(names: Sequence[str]) -> str:
    stems = {re.sub(r"[\s._-]*\d+$", "", name).strip().lower() for name in names}
    stem = stems.pop() if len(stems) == 1 else ""
    if all(re.fullmatch(r"(19|20)\d\d", name) for name in names):
        return "year"
    return stem or "part"


def _free(name: str, taken: Sequence[str]) -> str:
    return name if name not in taken else f"{name} (column)"

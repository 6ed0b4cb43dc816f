"""What is said of each column of a reader's own table, and the columns that follow. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from uncletc.tables import AttributeColumn, Columns, ModeColumn

Role = Literal[
    "mode", "count", "across", "attribute", "exposure", "known_detection", "known_error",
    "latitude", "longitude", "out",
]  # fmt: skip

ROLES: dict[Role, str] = {
    "mode": "Mode",
    "count": "Count",
    "across": "One of several counts",
    "attribute": "Attribute",
    "exposure": "Exposure",
    "known_detection": "Known detection",
    "known_error": "Error of known detection",
    "latitude": "Latitude",
    "longitude": "Longitude",
    "out": "Leave out",
}
ONE_ONLY: tuple[Role, ...] = (
    "count", "exposure", "known_detection", "known_error", "latitude", "longitude",
)  # fmt: skip
ACTS_ON = {"detection": "detection", "rate": "true counts (λ)", "both": "both"}
SIGNS = {0: "either way", 1: "only up", -1: "only down"}
STEPS = {"": "as they stand", "day": "by day", "week": "by week", "month": "by month"}

_BLOCK = 6  # columns of counts beyond which they have one control together


@dataclass(frozen=True, kw_only=True)
class Said:
    """What is said of one column.

    Attributes
    ----------
    role : str
        A key of `ROLES`.
    mode : ModeColumn
        What is done with its levels, if it is a mode.
    attribute : AttributeColumn
        What it acts on, if it is an attribute.
    """

    role: Role
    mode: ModeColumn
    attribute: AttributeColumn


def said_of(columns: Columns, name: str, *, is_text: bool) -> Said:
    """What columns say of one of them; text is a category unless they say otherwise."""
    modes = {each.column: each for each in columns.modes}
    attributes = {each.column: each for each in columns.attributes}
    role: Role = "out"
    if name in modes:
        role = "mode"
    elif name in columns.across:
        role = "across"
    elif name == columns.count and not columns.across:
        role = "count"
    elif name in attributes:
        role = "attribute"
    else:
        for each in ONE_ONLY[1:]:
            if getattr(columns, each) == name:
                role = each
    return Said(
        role=role,
        mode=modes.get(name, ModeColumn(column=name)),
        attribute=attributes.get(name, AttributeColumn(column=name, category=is_text)),
    )


def columns_of(said: Mapping[str, Said], before: Columns, across_mode: ModeColumn) -> Columns:
    """Return the columns that are said; what is done with rows stays as before.

    Parameters
    ----------
    said : mapping of str to Said
        In the order of the table. Modes that were modes before stay in their order, others follow.
    before : Columns
    across_mode : ModeColumn
        Of a table with several columns of counts.
    """

    def of(role: Role) -> list[str]:
        return [name for name, each in said.items() if each.role == role]

    first = [each.column for each in before.modes if each.column in of("mode")]
    modes = [*first, *(name for name in of("mode") if name not in first)]
    across, count = of("across"), of("count")
    attributes = tuple(said[name].attribute for name in of("attribute"))
    single = {role: (of(role) or [None])[0] for role in ONE_ONLY[1:]}
    return replace(
        before,
        modes=tuple(said[name].mode for name in modes),
        count="count" if across else (count or [""])[0],
        across=tuple(across),
        across_mode=across_mode if across else None,
        attributes=tuple(
            replace(each, sign=0) if each.acts_on == "rate" else each for each in attributes
        ),
        **single,
    )


def is_coarse(columns: Columns) -> bool:
    """Whether levels stand for several dates or numbers each, so that rows are summed anyway."""
    modes = (*columns.modes, *([columns.across_mode] if columns.across_mode else []))
    return any(each.step is not None or each.bins is not None for each in modes)


def as_it_stands(columns: Columns) -> Columns:
    """Return what decides which rows repeat: levels as they stand in the file."""
    across = columns.across_mode
    return replace(
        columns,
        modes=tuple(ModeColumn(column=each.column) for each in columns.modes),
        across_mode=None if across is None else ModeColumn(column=across.column),
        duplicates="refuse",
        absent="missing",
        attributes=(),
        missing=(),
        without=(),
        running=None,
        exposure=None,
        known_detection=None,
        known_error=None,
    )


def block_of(columns: Columns) -> tuple[str, ...]:
    """Columns of counts that are so many that they have one control together."""
    return columns.across if len(columns.across) > _BLOCK else ()


def lacking(columns: Columns) -> str:
    """What is still to be said, as a sentence; empty where nothing is."""
    modes = len(columns.modes) + bool(columns.across)
    lacks = []
    if modes < 2:
        lacks.append("two or more **modes**: columns that name an entry, such as place and week")
    if not columns.count:
        lacks.append("the **count**")
    return f"Choose {' and '.join(lacks)}." if lacks else ""


def others_with(role: Role, name: str, roles: Mapping[str, Role]) -> Sequence[str]:
    """Columns that lose a role which only one can have, now that another has it."""
    if role not in ONE_ONLY:
        return []
    return [other for other, each in roles.items() if each == role and other != name]

"""The role of each column of a reader's own table, and the columns that follow. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import polars as pl

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
_PREVIEW = 14, 5  # columns and rows


@dataclass(frozen=True, kw_only=True)
class ColumnRole:
    """The role of one column, with the options of a mode and of an attribute.

    Attributes
    ----------
    role : str
        A key of `ROLES`.
    mode : ModeColumn
    attribute : AttributeColumn
    """

    role: Role
    mode: ModeColumn
    attribute: AttributeColumn


def role_of(columns: Columns, name: str, *, is_text: bool = False) -> ColumnRole:
    """Return the role of a column; text is a category unless `columns` say otherwise."""
    modes = {each.column: each for each in columns.modes}
    attributes = {each.column: each for each in columns.attributes}
    single = [role for role in ONE_ONLY[1:] if getattr(columns, role) == name]
    role: Role = single[0] if single else "out"
    if name in modes:
        role = "mode"
    elif name in columns.across:
        role = "across"
    elif name == columns.count and not columns.across:
        role = "count"
    elif name in attributes:
        role = "attribute"
    return ColumnRole(
        role=role,
        mode=modes.get(name, ModeColumn(column=name)),
        attribute=attributes.get(name, AttributeColumn(column=name, category=is_text)),
    )


def columns_of(
    roles: Mapping[str, ColumnRole], before: Columns, across_mode: ModeColumn
) -> Columns:
    """Return the columns with these roles; what is done with rows and levels stays.

    Parameters
    ----------
    roles : mapping of str to ColumnRole
        In the order of the table. Modes that were modes before stay in their order, others follow.
    before : Columns
    across_mode : ModeColumn
        Of a table with several columns of counts.
    """
    of: dict[Role, list[str]] = {role: [] for role in ROLES}
    for name, each in roles.items():
        of[each.role].append(name)
    order = [each.column for each in before.modes]
    modes = sorted(of["mode"], key=lambda name: order.index(name) if name in order else len(order))
    attributes = [roles[name].attribute for name in of["attribute"]]
    return replace(
        before,
        modes=tuple(roles[name].mode for name in modes),
        count="count" if of["across"] else next(iter(of["count"]), ""),
        across=tuple(of["across"]),
        across_mode=across_mode if of["across"] else None,
        attributes=tuple(
            replace(each, sign=0) if each.acts_on == "rate" else each for each in attributes
        ),
        **{role: next(iter(of[role]), None) for role in ONE_ONLY[1:]},
    )


def with_levels_of(columns: Columns, before: Columns) -> Columns:
    """Return columns with the levels that `before` leaves out, where modes and count are the same.

    Their levels are the same then; after another choice they may not exist.
    """
    decisive = ("modes", "count", "across", "across_mode")
    if any(getattr(columns, name) != getattr(before, name) for name in decisive):
        return replace(columns, missing=(), without=(), running=None)
    return replace(columns, missing=before.missing, without=before.without, running=before.running)


def block_of(columns: Columns) -> tuple[str, ...]:
    """Columns of counts that are so many that they have one control together."""
    return columns.across if len(columns.across) > _BLOCK else ()


def preview(frame: pl.DataFrame, columns: Columns) -> tuple[pl.DataFrame, int]:
    """Return the first rows under the role and name of each column, and how many are not shown.

    In a table of many columns those that have a role come first.
    """
    most, rows = _PREVIEW
    roles = {name: role_of(columns, name).role for name in frame.columns}
    shown = frame.columns
    if len(shown) > most:
        rank = {"across": 1, "out": 2}
        shown = sorted(shown, key=lambda name: rank.get(roles[name], 0))[:most]
    named = {
        name: f"{ROLES['count' if roles[name] == 'across' else roles[name]]} · {name}"
        for name in shown
    }
    return frame.select(shown).head(rows).rename(named), len(frame.columns) - len(shown)


def lacking(columns: Columns) -> str:
    """Return what has no column yet, as a sentence; empty where nothing lacks."""
    lacks = []
    if len(columns.modes) + bool(columns.across) < 2:
        lacks.append("two or more **modes**: columns that name an entry, such as place and week")
    if not columns.count:
        lacks.append("the **count**")
    return f"Choose {' and '.join(lacks)}." if lacks else ""

"""Shapes of a reader's own joined to the levels of a mode by name. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.work.shapes import Ring, Shapes

_NAMED = 5  # levels that a sentence names


@dataclass(frozen=True, eq=False, kw_only=True)
class Joined:
    """Shapes by the levels that they are of.

    Attributes
    ----------
    rings : dict of int to list of ring
        Outer rings by the index of a level.
    sentence : str
        How many levels have one, and which have none.
    """

    rings: dict[int, list[Ring]]
    sentence: str


def key_columns(shapes: Shapes, levels: Sequence[str]) -> list[str]:
    """Columns of the file, the one first that names most levels."""
    wanted = {_plain(level) for level in levels}
    hits = {
        column: len(wanted & {_plain(value) for value in values})
        for column, values in shapes.columns.items()
    }
    return sorted(hits, key=lambda column: -hits[column])


def join(shapes: Shapes, column: str, levels: Sequence[str]) -> Joined:
    """Join the shapes whose value in a column is the name of a level, whatever its case."""
    by_name: dict[str, list[Ring]] = {}
    for value, rings in zip(shapes.columns[column], shapes.rings, strict=True):
        by_name.setdefault(_plain(value), []).extend(rings)
    rings = {
        i: by_name[_plain(level)] for i, level in enumerate(levels) if _plain(level) in by_name
    }
    without = [level for i, level in enumerate(levels) if i not in rings]
    named = ", ".join(without[:_NAMED]) + (", …" if len(without) > _NAMED else "")
    said = f"{len(rings):,} of {len(levels):,} levels have a shape"
    return Joined(rings=rings, sentence=f"{said}; without one: {named}." if without else f"{said}.")


def _plain(value: str) -> str:
    """A name without case and spaces at its ends; a whole number without its decimals."""
    text = value.strip().casefold()
    return text.removesuffix(".0")

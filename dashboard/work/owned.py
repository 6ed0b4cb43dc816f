"""What belongs to someone: counts that were brought, and what a server has made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dashboard.work.order import Order
from uncletc import CountTensor

Names = tuple[Any, ...]


@dataclass(eq=False)
class Own:
    """What a server has of counts that belong to someone.

    Attributes
    ----------
    owners : set of str
    digests : set of str
        Of the counts that orders were of.
    results : set of Path
    folder : Path
        Where they lie.
    """

    owners: set[str] = field(default_factory=set)
    digests: set[str] = field(default_factory=set)
    results: set[Path] = field(default_factory=set)
    folder: Path = Path()


class Owned:
    """Counts by what their entries are called.

    Counts with other roles, or without what is held out, have the same names: they belong to the
    same owner.
    """

    def __init__(self) -> None:
        self._own: dict[Names, Own] = {}

    def add(self, counts: CountTensor, owner: str) -> None:
        """Note that counts belong to someone."""
        self._own.setdefault(names_of(counts), Own()).owners.add(owner)

    def of(self, order: Order[Any]) -> Own | None:
        """What there is of the counts of an order, None where they are nobody's."""
        return self._own.get(names_of_order(order)) if self._own else None

    def leave(self, counts: CountTensor, owner: str) -> Own:
        """Note that counts are not someone's any more; forget them where they are nobody's."""
        names = names_of(counts)
        own = self._own.get(names, Own())
        own.owners.discard(owner)
        if not own.owners:
            self._own.pop(names, None)
        return own


def names_of(counts: CountTensor) -> Names:
    """What the entries of counts are called."""
    return counts.shape, counts.modes, counts.labels


def names_of_order(order: Order[Any]) -> Names:
    """The same of the counts of an order; empty for an order that simulates them."""
    counts = getattr(order, "counts", None)
    return () if counts is None else names_of(counts)

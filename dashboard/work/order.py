"""What all orders have in common. Pure.

An order is known by its key: the digest of what its message says, its counts, the program's
version and :data:`uncletc.RESULTS`. Equal keys mean equal results.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from uncletc import RESULTS

Lane = Literal["quick", "long"]
Result = TypeVar("Result")
Numbers = dict[str, Any]  # what JSON can hold

LANES: tuple[Lane, ...] = ("quick", "long")
_AS_JSON = {"settings", "design"}  # fields that messages have as text


@cache
def program() -> str:
    """The program's version and :data:`uncletc.RESULTS`."""
    return f"{version('uncletc')} {RESULTS}"  # reads files


class Order(Generic[Result]):
    """What all orders have in common.

    Attributes
    ----------
    lane : {"quick", "long"}
        Orders of one lane are worked on one after the other; lanes do not wait for each other.
    suffix : str
        Of the file of its result.
    keeps_counts : bool
        Whether its counts may stay on disk after it, since the next order is likely of them too.
    trials, max_iter : int
        How many fits it makes, and how many iterations of each at most.
    settings : object
        Of the fits, where the order does not leave them to the program.
    """

    lane: ClassVar[Lane] = "quick"
    suffix: ClassVar[str] = ".json"
    keeps_counts: ClassVar[bool] = False
    trials: int = 1
    settings: Any

    @property
    def counts_digest(self) -> str:
        """Digest of its counts; empty for an order that simulates them."""
        counts = getattr(self, "counts", None)
        return "" if counts is None else counts.digest

    @cached_property
    def key(self) -> str:
        """Digest of everything that decides the result."""
        message = json.dumps(self.message(), sort_keys=True)
        return hashlib.sha256(f"{message}\n{self.counts_digest}\n{program()}".encode()).hexdigest()

    @property
    def begins_with(self) -> Order[Any] | None:
        """An order whose result this one begins with, where there is such a result already."""
        return None

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of results that contain this one, that of the order first."""
        return (self.key,)

    @property
    def max_iter(self) -> int:
        """See the class."""
        return int(self.settings.max_iter)

    def message(self) -> dict[str, Any]:
        """What the worker is sent besides the counts; see :func:`order_from`."""
        values = {each.name: getattr(self, each.name) for each in sent_fields(type(self))}
        for name in _AS_JSON & values.keys():
            values[name] = values[name].to_json()
        return {"order": type(self).__name__} | values

    def part_of(self, result: Result) -> Result:
        """What this order asked for of a result under one of its keys."""
        return result

    def owns(self, result: Any) -> bool:
        """Whether something read from its file can be its result."""
        return isinstance(result, dict)

    @staticmethod
    def save(result: Any, path: Path) -> None:
        """Write a result."""
        path.write_text(json.dumps(result), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Any:
        """Read a result back; a ValueError says that the file is damaged."""
        return json.loads(path.read_text(encoding="utf-8"))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Order) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


def sent_fields(kind: Any) -> list[Any]:
    """Fields of a kind of order that its message has."""
    return [each for each in fields(kind) if each.name != "counts"]

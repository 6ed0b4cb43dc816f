"""Groups of entries: what effects of modes are about, beside the modes themselves."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from uncletc.common.validation import FloatArray, IntArray, check_among, check_finite


@dataclass(frozen=True, init=False, eq=False)
class Group:
    """Levels that entries share by their indices of some modes: a state, a weekday, a place.

    Parameters
    ----------
    name : str
        What a level is, for readers: "state". The name of a mode gives that mode positions.
    modes : sequence of str
        The modes whose indices decide the level.
    codes : array_like of int
        The level of each combination of indices, from 0; -1 where there is none. Its shape is the
        sizes of `modes`.
    labels : sequence of str
        Names of the levels, in the order of their codes.
    positions : array_like of float, shape (levels, d), optional
        Where each level lies, in any unit: days, or degrees. Effects that are smooth over the
        group are alike at levels that are near. None: no level is nearer than another.

    Raises
    ------
    ValueError, TypeError
        Naming the argument, the value and the rule.

    Examples
    --------
    >>> Group("weekday", ["day"], [0, 1, 0], ["weekend", "week"]).n_levels
    2
    """

    name: str
    modes: tuple[str, ...]
    codes: IntArray
    labels: tuple[str, ...]
    positions: FloatArray | None

    def __init__(
        self,
        name: str,
        modes: Sequence[str],
        codes: ArrayLike,
        labels: Sequence[str],
        positions: ArrayLike | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise TypeError(f"name must be a text, got {name!r}")
        if isinstance(modes, str) or not modes:
            raise TypeError(f"modes of group {name!r} must be names of modes, got {modes!r}")
        levels = np.asarray(codes)
        if levels.dtype.kind not in "iu":
            raise TypeError(f"codes of group {name!r} must be whole numbers, got {levels.dtype}")
        if levels.ndim != len(modes):
            raise ValueError(
                f"codes of group {name!r} must have one axis for each of {len(modes)} modes, "
                f"got {levels.ndim}"
            )
        if levels.size and not (levels.min() >= -1 and levels.max() < len(labels)):
            raise ValueError(
                f"codes of group {name!r} must lie between -1 and {len(labels) - 1}, the last "
                f"label; they go from {levels.min()} to {levels.max()}"
            )
        where = None if positions is None else check_finite(positions, "positions", 2)
        if where is not None and len(where) != len(labels):
            raise ValueError(
                f"positions of group {name!r} must have one row for each of {len(labels)} labels, "
                f"got {len(where)}"
            )
        vars(self).update(  # as it is frozen
            name=name,
            modes=tuple(modes),
            codes=levels.astype(np.int64),
            labels=tuple(str(label) for label in labels),
            positions=where,
        )

    @property
    def n_levels(self) -> int:
        """How many levels there are."""
        return len(self.labels)

    def within(self, modes: Sequence[str], shape: Sequence[int]) -> Self:
        """Return the same, checked against a tensor's modes."""
        own = f"modes of group {self.name!r} must be modes of the tensor"
        check_among(self.modes, modes, f"{own}, {', '.join(modes)};")
        sizes = tuple(shape[list(modes).index(mode)] for mode in self.modes)
        if self.codes.shape != sizes:
            raise ValueError(
                f"codes of group {self.name!r} must have the shape of its modes, {sizes}, "
                f"got {self.codes.shape}"
            )
        if self.name in modes and self.modes != (self.name,):
            raise ValueError(f"group {self.name!r} has the name of a mode, so it must be that mode")
        return self

    def at(self, indices: IntArray, modes: Sequence[str]) -> IntArray:
        """Level of valid entries (n, K) of a tensor with these modes, -1 for none; (n,)."""
        columns = tuple(indices[:, list(modes).index(mode)] for mode in self.modes)
        return np.asarray(self.codes[columns])


def every_group(
    groups: Sequence[Group], modes: Sequence[str], labels: Sequence[Sequence[Any]]
) -> dict[str, Group]:
    """Groups by name, with each mode a group of its own; numbers and dates lie where they say."""
    pairs = zip(modes, labels, strict=True)
    own = (Group(mode, [mode], np.arange(len(ls)), ls, _positions(ls)) for mode, ls in pairs)
    return {group.name: group for group in (*own, *groups)}


def _positions(labels: Sequence[Any]) -> FloatArray | None:
    """Labels that are numbers, or dates as days from 1970, (levels, 1); None for others."""
    if getattr(labels, "kind", "") == "number":
        at = np.array(labels, dtype=np.float64)[:, None]
        return at if np.isfinite(at).all() else None
    if not len(labels) or not all(re.match(r"\d{4}-\d\d\b", str(each)) for each in labels):
        return None
    try:
        times = np.array([str(each) for each in labels], dtype="datetime64[s]")
    except ValueError:  # such as 2024-99
        return None
    return times.astype(np.float64)[:, None] / 86_400

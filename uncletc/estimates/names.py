"""Columns that name an entry: labels of its modes, its groups and its places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from uncletc.common.validation import IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.observations import Look
from uncletc.datasets.base import Dataset
from uncletc.estimates.counties import CELL, has_counties, state_names

_OURS = ("reported", "reporting", "scale", "simulated", "entry")
_ESTIMATES = ("rate", "detection", "expected")


@dataclass(frozen=True, eq=False)
class Name:
    """A column that names an entry.

    Attributes
    ----------
    column : str
        Unlike any other.
    along : tuple of int
        Numbers of the modes whose indices decide the name.
    codes : ndarray of int
        Number of the label of each combination of these indices; -1: none.
    labels : ndarray of str
    """

    column: str
    along: tuple[int, ...]
    codes: IntArray
    labels: NDArray[Any]

    def at(self, indices: IntArray) -> NDArray[Any]:
        """Names of valid entries (n, K), empty where there is none; (n,)."""
        codes = self.codes[tuple(indices[:, k] for k in self.along)]
        return np.append(self.labels, "")[codes]

    def grid(self) -> NDArray[Any]:
        """Names over the modes in `along`."""
        return np.asarray(np.append(self.labels, "")[self.codes])


@dataclass(frozen=True, eq=False)
class Named:
    """All columns that name an entry.

    Attributes
    ----------
    modes : tuple of Name
        One for each mode, in their order.
    others : tuple of Name
        Names of places, and groups.
    """

    modes: tuple[Name, ...]
    others: tuple[Name, ...]

    def columns(self, indices: IntArray) -> dict[str, Any]:
        """Columns of valid entries (n, K), by their names."""
        return {each.column: each.at(indices) for each in (*self.modes, *self.others)}

    def looks(self, looks: Iterable[Look]) -> Iterator[tuple[str, Look]]:
        """Further looks with the name of the column of their counts."""
        taken = {each.column for each in (*self.modes, *self.others)}
        for look in looks:
            name = _distinct(f"reported_{look.name}", taken)
            taken.add(name)
            yield name, look


def named_columns(data: Dataset | CountTensor) -> Named:
    """Return the columns that name the entries of counts.

    A mode that has the name of a column of estimates gets ``_label`` behind it.
    """
    counts = data.counts if isinstance(data, Dataset) else data
    taken: set[str] = set(_OURS)
    for name in _ESTIMATES:
        for each in (name, f"relative_{name}"):
            taken |= {each, f"{each}_low", f"{each}_high"}
    modes = []
    for k, (mode, labels) in enumerate(zip(counts.modes, counts.labels, strict=True)):
        column = _distinct(mode, taken)
        taken.add(column)
        modes.append(Name(column, (k,), np.arange(len(labels)), np.asarray(labels, dtype=object)))
    others = []
    for name, along, codes, names in (*_counties(data), *_groups(data)):
        column = _distinct(name, taken)
        taken.add(column)
        others.append(Name(column, along, codes, names))
    return Named(tuple(modes), tuple(others))


def _distinct(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_label"
    return name


def _groups(
    data: Dataset | CountTensor,
) -> Iterator[tuple[str, tuple[int, ...], IntArray, NDArray[Any]]]:
    """Groups; of a cell whose counties lie in several states all of these are named."""
    counts = data.counts if isinstance(data, Dataset) else data
    for group in counts.groups:
        if group.name == "state" and isinstance(data, Dataset) and has_counties(data):
            yield "state", (0, 1), *_by_cell(state_names(data.table), counts)
        elif group.name not in counts.modes:
            along = tuple(counts.modes.index(mode) for mode in group.modes)
            yield group.name, along, group.codes, np.asarray(group.labels, dtype=object)


def _counties(
    data: Dataset | CountTensor,
) -> Iterator[tuple[str, tuple[int, ...], IntArray, NDArray[Any]]]:
    """The counties of each cell, the most populous first, where the data have any."""
    if not isinstance(data, Dataset) or not {"county", "state", *CELL} <= {*data.table.columns}:
        return
    table = data.table.dropna(subset=CELL)
    if "population" in table:
        table = table.sort_values("population", ascending=False, kind="stable")
    names = (table["county"] + ", " + table["state"]).groupby(
        [table[name].astype(int) for name in CELL]
    )
    yield "counties", (0, 1), *_by_cell(names.agg("; ".join), data.counts)


def _by_cell(names: pd.Series, counts: CountTensor) -> tuple[IntArray, NDArray[Any]]:
    """Codes of cells over the first two modes, and the different names that they stand for."""
    number, labels = pd.factorize(names)
    codes = np.full(counts.shape[:2], -1, dtype=np.int64)
    codes[tuple(names.index.get_level_values(i).to_numpy() for i in (0, 1))] = number
    return codes, np.asarray(labels, dtype=object)

"""Combinations of levels without a row that mean: looked, and nothing seen."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.entries import flat_index
from uncletc.tables.limits import MOST_COUNTS


def absent_entries(indices: IntArray, shape: Sequence[int], modes: Sequence[str]) -> IntArray:
    """Entries that no row names; (n, K).

    Raises
    ------
    ValueError
        If there are too many.
    """
    size = math.prod(shape)
    if size > MOST_COUNTS:
        k = int(np.argmax(shape))
        raise ValueError(
            f"absent rows as zeros must make at most {MOST_COUNTS:,} counts, they make {size:,}: "
            f"keep the most active levels of {modes[k]} ({shape[k]:,} now), or make it coarser"
        )
    there = np.zeros(size, dtype=bool)
    there[flat_index(indices, tuple(shape))] = True
    return np.column_stack(np.unravel_index(np.flatnonzero(~there), tuple(shape)))


def carried(
    values: Mapping[str, FloatArray], indices: IntArray, others: IntArray, shape: Sequence[int]
) -> tuple[dict[str, FloatArray], dict[str, tuple[int, ...]]]:
    """Values at other entries, where they depend on some modes only.

    Parameters
    ----------
    values : mapping of str to ndarray, shape (R,)
        Of the entries with a row; NaN where missing.
    indices, others : ndarray of int, shape (R, K) and (n, K)
    shape : sequence of int

    Returns
    -------
    values : dict of str to ndarray, shape (n,)
        NaN where nothing tells it.
    along : dict of str to tuple of int
        The modes that each depends on; without those that change within every mode.
    """
    found, along = {}, {}
    for name, column in values.items():
        known = ~np.isnan(column)
        made = None
        for size in range(len(shape)):
            for modes in itertools.combinations(range(len(shape)), size):
                made = _constant(column[known], indices[known], others, modes, shape)
                if made is not None:
                    along[name] = modes
                    break
            if made is not None:
                break
        found[name] = np.full(len(others), np.nan) if made is None else made
    return found, along


def _constant(
    column: FloatArray,
    indices: IntArray,
    others: IntArray,
    modes: tuple[int, ...],
    shape: Sequence[int],
) -> FloatArray | None:
    sizes = [shape[k] for k in modes]
    here, there = np.zeros(len(column), dtype=np.int64), np.zeros(len(others), dtype=np.int64)
    for k, size in zip(modes, sizes, strict=True):
        here, there = here * size + indices[:, k], there * size + others[:, k]
    table = np.full(math.prod(sizes), np.nan)
    table[here] = column
    return table[there] if np.array_equal(table[here], column) else None

"""Capture histories of marked animals: at which visits to its site each was caught."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from uncletc.common.validation import FloatArray, IntArray, check_indices
from uncletc.data.entries import Labels, label_texts
from uncletc.data.frames import sort_keys

LEAST_VISITS, MOST_VISITS = 2, 60


def read_histories(
    sites: Sequence[Any], histories: Sequence[str], levels: Sequence[Any] | None
) -> tuple[FloatArray, Labels, IntArray]:
    """Return animals caught by site and visit, labels of sites, and captures of each animal.

    Raises
    ------
    ValueError
        Naming the argument, the value and the rule it breaks.
    """
    texts = [str(each).strip().lower() for each in histories]
    if not texts or len(sites) != len(texts):
        raise ValueError(
            f"histories must have one value per animal, and sites as many; got {len(texts)} and "
            f"{len(sites)}"
        )
    size = len(texts[0])
    for each in texts:
        if (
            not re.fullmatch("[01x]+", each)
            or len(each) != size
            or not LEAST_VISITS <= size <= MOST_VISITS
        ):
            raise ValueError(
                f"histories must have {LEAST_VISITS} to {MOST_VISITS} characters 0, 1 or x, as "
                f"many each as {texts[0]!r}, got {each!r}"
            )
    column = pd.Series(list(sites))
    own = label_texts(column).tolist()
    first = np.unique(sort_keys(column), return_index=True)[1]
    labels = Labels(column.iloc[first] if levels is None else levels)
    if unknown := set(own) - set(labels):
        raise ValueError(f"sites must be among levels, got {min(unknown)!r}")
    codes = np.array([{label: k for k, label in enumerate(labels)}[each] for each in own])
    marks = np.array([list(each) for each in texts])
    caught, unvisited = marks == "1", np.zeros((len(labels), size), dtype=bool)
    table = np.zeros((len(labels), size))
    np.add.at(table, codes, caught)
    np.logical_or.at(unvisited, codes, marks == "x")
    if (clash := unvisited & (table > 0)).any():
        site, visit = np.argwhere(clash)[0]
        raise ValueError(
            f"histories must have x only where nobody visited, at visit {visit + 1} site "
            f"{labels[site]!r} has an animal caught and one with x"
        )
    table[unvisited] = np.nan
    captures = np.column_stack([codes, caught.sum(axis=1)])
    return table, labels, captures[captures[:, 1] > 0]


def check_captures(captures: ArrayLike, indices: IntArray, counts: IntArray) -> IntArray:
    """Return captures (A, 2), which must add up to the counts (N,) of each first level."""
    found = np.array(captures, dtype=np.int64)
    if found.ndim != 2 or found.shape[1] != 2 or indices.shape[1] != 2:
        raise ValueError(
            f"captures must have shape (A, 2) beside counts of 2 modes, got {found.shape} beside "
            f"{indices.shape[1]}"
        )
    size = int(indices[:, 0].max(initial=-1)) + 1
    check_indices(found[:, :1], (max(size, 1),), "captures")
    sums = np.bincount(found[:, 0], found[:, 1], size)
    totals = np.bincount(indices[:, 0], counts, size)
    if (found[:, 1] < 1).any() or (sums != totals).any():
        level = int(np.argmax(sums != totals))
        raise ValueError(
            f"captures must be 1 or more each, and add up to the counts of each level of the first "
            f"mode; level {level} has {sums[level]:.0f} for {totals[level]:.0f}"
        )
    found.flags.writeable = False
    return found

"""Which entries of a tensor exist, and which counts are taken as missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.observations import Look
from uncletc.datasets.base import Dataset
from uncletc.tables.findings import listed

Pairs = tuple[tuple[str, str], ...]


def existing(counts: CountTensor) -> NDArray[np.bool_]:
    """Mark the entries that could be counted at all: no county lies in the sea.

    An entry exists if each of its levels has a row, in Ω or Ξ, if its exposure is not 0, and if
    it belongs to a level of each group.

    Parameters
    ----------
    counts : CountTensor

    Returns
    -------
    ndarray of bool, shape (I_1 or 1, …, I_K or 1)
        1 along a mode with which it does not change; broadcasts to the shape of the counts.

    Examples
    --------
    >>> y = CountTensor((2, 3), [[0, 0], [0, 2]], [4, 0])
    >>> existing(y).astype(int).tolist()
    [[1, 0, 1], [0, 0, 0]]
    """
    n_modes = len(counts.shape)
    exists = np.ones((1,) * n_modes, dtype=bool)
    for k, size in enumerate(counts.shape):
        has_row = np.zeros(size, dtype=bool)
        has_row[counts.indices[:, k]] = True
        has_row[counts.attribute_indices[:, k]] = True
        if not has_row.all():
            exists = exists & has_row.reshape(_along(n_modes, [k], [size]))
    if counts.exposure is not None and (counts.exposure == 0).any():
        exists = exists & (counts.exposure > 0)
    for group in counts.groups:
        if (group.codes < 0).any():
            at = [counts.modes.index(mode) for mode in group.modes]
            order = np.argsort(at)
            codes = np.transpose(group.codes, order)
            sizes = [codes.shape[i] for i in range(codes.ndim)]
            exists = exists & (codes >= 0).reshape(_along(n_modes, sorted(at), sizes))
    return exists


def n_existing(counts: CountTensor) -> int:
    """How many entries exist, as :func:`existing` marks them; at least those with a count."""
    exists = existing(counts)
    same = [size for size, own in zip(counts.shape, exists.shape, strict=True) if own == 1]
    return max(int(exists.sum()) * int(np.prod(same, dtype=np.int64)), counts.n_observed)


def with_entries(counts: CountTensor) -> CountTensor:
    """Return counts whose entries have attributes, where there are none an empty row each.

    Detection is then known there, the same everywhere. The fit is the same.

    Parameters
    ----------
    counts : CountTensor

    Returns
    -------
    CountTensor
    """
    if counts.n_attributed:
        return counts
    return CountTensor(
        counts.shape,
        counts.indices,
        counts.counts,
        attributes=np.empty((counts.n_observed, 0)),
        modes=counts.modes,
        labels=counts.labels,
        exposure=counts.exposure,
        looks=counts.looks,
        groups=counts.groups,
        simulated=counts.simulated,
    )


_Data = TypeVar("_Data", CountTensor, Dataset)


def as_missing(data: _Data, levels: Iterable[tuple[str, str]]) -> _Data:
    """Take the counts of some levels as missing, such as those of days on which nobody reported.

    Parameters
    ----------
    data : CountTensor or Dataset
    levels : iterable of (str, str)
        Mode and label, as :attr:`uncletc.tables.Columns.missing` holds them.

    Returns
    -------
    CountTensor or Dataset
        Without these counts; attributes of all entries stay, so that λ and p are estimated there,
        and so do further looks whose p is known, such as surveys.
        Of a data set the tables lack them too, and its provenance says so.

    Raises
    ------
    ValueError
        If a mode or a level is unknown; names it.

    Examples
    --------
    >>> y = CountTensor((2, 2), [[0, 0], [0, 1], [1, 1]], [4, 0, 0], modes=["site", "day"])
    >>> as_missing(y, [("day", "1")]).counts.tolist()
    [4]
    """
    pairs = tuple(levels)
    if isinstance(data, CountTensor):
        kept = data.subset(~_at(data, pairs, data.indices))
        return kept.with_looks(*(_fewer(data, pairs, look) for look in data.looks))
    return _without(data, pairs)


def _fewer(counts: CountTensor, levels: Pairs, look: Look) -> Look:
    """A look without its counts at some levels; those whose p is known stay."""
    kept = ~(_at(counts, levels, look.indices) & np.isnan(look.known_detection))
    return look.rows(kept)


def _at(counts: CountTensor, levels: Pairs, indices: IntArray) -> NDArray[np.bool_]:
    """Which entries (n, K) are at one of some levels; (n,)."""
    at = np.zeros(len(indices), dtype=bool)
    for mode, level in levels:
        if mode not in counts.modes:
            raise ValueError(
                f"levels must be of modes among {', '.join(counts.modes)}; got {mode!r}"
            )
        k = counts.modes.index(mode)
        if level not in counts.labels[k]:
            raise ValueError(f"levels must be labels of their mode; {mode} has no {level!r}")
        at |= indices[:, k] == counts.labels[k].index(level)
    return at


def _without(dataset: Dataset, levels: Pairs) -> Dataset:
    counts = as_missing(dataset.counts, levels)
    table, where = dataset.table, [f"{mode}_index" for mode in counts.modes]
    named = dict(dataset.mode_tables)
    if "count" in table and set(where) <= set(table.columns):
        gone = _at(counts, levels, table[where].to_numpy(dtype=np.int64))
        table = table.assign(count=table["count"].mask(gone))
        kept = table[table["count"].notna()]
        for mode, size in zip(counts.modes, counts.shape, strict=True):
            if mode in named and {"rows", "total"} <= set(named[mode].columns):
                at = kept[f"{mode}_index"].to_numpy(dtype=np.int64)
                named[mode] = named[mode].assign(
                    rows=np.bincount(at, minlength=size),
                    total=np.bincount(at, kept["count"].to_numpy(dtype=np.float64), size),
                )
    rule = f"Counts of {listed(f'{mode} {level}' for mode, level in levels)} are taken as missing."
    provenance = replace(dataset.provenance, rules=(*dataset.provenance.rules, rule))
    return replace(dataset, counts=counts, table=table, mode_tables=named, provenance=provenance)


def _along(n_modes: int, at: list[int], sizes: list[int]) -> tuple[int, ...]:
    """A shape of 1s with these sizes at these modes."""
    shape = [1] * n_modes
    for k, size in zip(at, sizes, strict=True):
        shape[k] = size
    return tuple(shape)

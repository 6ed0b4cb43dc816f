"""More levels of modes: a count tensor with levels that are like some of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial import cKDTree

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor
from uncletc.data.groups import Group

_ASIDE = (0.25, 0.5)  # of the way to the nearest level: where one more lies


@dataclass(frozen=True, eq=False)
class Grown:
    """A tensor with more levels.

    Attributes
    ----------
    counts : CountTensor
        The present entries first, in their order. A new entry has the count of the one it is like.
    rows, look_rows : ndarray of int, shape (N',), and one of each look
        The row of the present counts, and of each look, that each entry is like.
    """

    counts: CountTensor
    rows: IntArray
    look_rows: tuple[IntArray, ...]


def grow(counts: CountTensor, added: Mapping[str, int], seed: tuple[int, ...]) -> Grown:
    """Add levels that are like some of those with a count, drawn at random.

    Each of them is drawn once before any is drawn twice, and fewer levels are the first ones of
    more.

    Parameters
    ----------
    counts : CountTensor
    added : mapping of str to int
        New levels by mode.
    seed : tuple of int
    """
    drawn = {
        mode: _drawn(counts.indices[:, mode], added.get(name, 0), (*seed, mode))
        for mode, name in enumerate(counts.modes)
    }
    where, rows = _grown(counts.indices, counts.shape, drawn)
    attributed, of = _grown(counts.attribute_indices, counts.shape, drawn)
    looks, look_rows = [], []
    for look in counts.looks:
        seen, like = _grown(look.indices, counts.shape, drawn)
        looks.append(replace(look.rows(like), indices=seen))
        look_rows.append(like)
    sources = [np.append(np.arange(n), drawn[k]) for k, n in enumerate(counts.shape)]
    exposure = counts.exposure
    if exposure is not None:
        for mode, source in enumerate(sources):
            exposure = exposure if exposure.shape[mode] == 1 else exposure.take(source, axis=mode)
    rng = np.random.default_rng((*seed, len(sources)))
    grown = CountTensor(
        [len(source) for source in sources],
        where,
        counts.counts[rows],
        attributes=counts.attributes[of],
        attribute_indices=attributed,
        modes=counts.modes,
        labels=[
            [*labels, *(f"added {i + 1}" for i in range(len(drawn[k])))]
            for k, labels in enumerate(counts.labels)
        ],
        attribute_names=counts.attribute_names,
        rate_attributes=counts.rate_attributes[of],
        rate_attribute_names=counts.rate_attribute_names,
        exposure=exposure,
        looks=looks,
        groups=[_grown_group(group, counts, sources, rng) for group in counts.groups],
        simulated=True,
    )
    return Grown(grown, rows, tuple(look_rows))


def _drawn(levels: IntArray, n: int, seed: tuple[int, ...]) -> IntArray:
    """Levels that n new ones are like."""
    seen, rng = np.unique(levels), np.random.default_rng(seed)
    rounds = [rng.permutation(seen) for _ in range(-(-n // len(seen)))]
    return np.concatenate([np.empty(0, dtype=np.int64), *rounds])[:n]


def _grown(
    indices: IntArray, shape: tuple[int, ...], drawn: Mapping[int, IntArray]
) -> tuple[IntArray, IntArray]:
    """Entries (n, K) followed by those of new levels, and the row that each is like."""
    where, rows = indices, np.arange(len(indices))
    for mode, levels in drawn.items():
        order = np.argsort(where[:, mode], kind="stable")
        ends = np.searchsorted(where[order, mode], np.arange(shape[mode] + 1))
        parts, numbers = [where], [rows]
        for i, level in enumerate(levels):
            chosen = order[ends[level] : ends[level + 1]]
            copy = where[chosen].copy()
            copy[:, mode] = shape[mode] + i
            parts.append(copy)
            numbers.append(rows[chosen])
        where, rows = np.concatenate(parts), np.concatenate(numbers)
    return where, rows


def _grown_group(
    group: Group, counts: CountTensor, sources: list[IntArray], rng: np.random.Generator
) -> Group:
    """Give new combinations the level of those they are like, or levels of their own.

    A group whose levels are single combinations, such as days or places, gains levels; of others,
    such as weekdays or states, a new combination has the level of the one it is like.
    """
    modes = [counts.modes.index(name) for name in group.modes]
    of_modes = [sources[mode] for mode in modes]
    codes = group.codes[np.ix_(*of_modes)].copy()
    there = group.codes[group.codes >= 0]
    if len(np.unique(there)) < len(there):
        return Group(group.name, group.modes, codes, group.labels, group.positions)
    new = np.ones(codes.shape, dtype=bool)
    new[tuple(slice(counts.shape[mode]) for mode in modes)] = False
    new &= codes >= 0
    like = codes[new]
    codes[new] = group.n_levels + np.arange(len(like))
    labels = [*group.labels, *(f"added {i + 1}" for i in range(len(like)))]
    positions = group.positions
    if positions is not None:
        positions = np.concatenate([positions, _aside(positions, like, rng)])
    return Group(group.name, group.modes, codes, labels, positions)


def _aside(positions: FloatArray, like: IntArray, rng: np.random.Generator) -> FloatArray:
    """Positions near those of some levels; (n, d)."""
    distinct = np.unique(positions, axis=0)
    away = np.ones(len(like))
    if len(distinct) > 1:
        away = np.asarray(cKDTree(distinct).query(positions[like], k=2)[0])[:, 1]
    direction = rng.standard_normal((len(like), positions.shape[1]))
    direction /= np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-12)
    return np.asarray(
        positions[like] + direction * (away * rng.uniform(*_ASIDE, len(like)))[:, None]
    )

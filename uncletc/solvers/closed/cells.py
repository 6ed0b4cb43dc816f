"""Counts by cell: the entries that differ in their closed modes alone count the same events."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd

from uncletc.common.validation import FloatArray, IntArray, check_among
from uncletc.data.counts import CountTensor
from uncletc.data.entries import flat_index
from uncletc.data.protocols import interval_lengths
from uncletc.fitting.settings import FitSettings
from uncletc.solvers.closed.finite import Visits

_MOST_WITHOUT = 0.2  # share of counts without attributes, whose detection is that of mean ones


@dataclass(frozen=True, eq=False)
class Cells:
    """Observed entries in the order of their cells.

    Attributes
    ----------
    open_modes : tuple of int
        Modes along which true counts differ.
    indices : ndarray of int, shape (C, open modes)
        The cells with at least one count.
    starts : ndarray of int, shape (C + 1,)
        Where the counts of each cell begin, and where the last end.
    of : ndarray of int, shape (N,)
        The cell of each count.
    order : ndarray of int, shape (N,)
        Rows of ``counts.indices``.
    counts : ndarray of int, shape (N,)
    attributes : ndarray, shape (N, D)
        z of each count.
    exposure : ndarray, shape (C,)
    effort : ndarray, shape (N,)
        Of each pass of a removal, over the mean: p of a pass is 1 - (1 - p)^effort.
    rate_indices : ndarray of int, shape (S, K)
        All entries of the cells that have attributes which act on λ.
    rate_attributes : ndarray, shape (S, P)
        x of these.
    """

    open_modes: tuple[int, ...]
    indices: IntArray
    starts: IntArray
    of: IntArray
    order: IntArray
    counts: IntArray
    attributes: FloatArray
    exposure: FloatArray
    effort: FloatArray
    rate_indices: IntArray
    rate_attributes: FloatArray

    @classmethod
    def of_counts(cls, counts: CountTensor, closed: Sequence[str]) -> Self:
        """Group the entries of counts that :func:`check_closed` accepts."""
        modes = open_modes(counts, closed)
        sizes = tuple(counts.shape[mode] for mode in modes)
        flat = flat_index(counts.indices[:, modes], sizes)
        order = np.lexsort((flat_index(counts.indices, counts.shape), flat))
        cells, starts = np.unique(flat[order], return_index=True)
        rows = counts.attribute_rows[order]
        first = counts.indices[order[starts]]
        where, x = _rates_of(counts, modes, sizes)
        exposure, effort = _exposure_of(counts, modes, first)
        return cls(
            open_modes=modes,
            indices=np.column_stack(np.unravel_index(cells, sizes)),
            starts=np.append(starts, len(flat)),
            of=np.repeat(np.arange(len(cells)), np.diff(np.append(starts, len(flat)))),
            order=order,
            counts=np.ascontiguousarray(counts.counts[order]),
            attributes=_detection_attributes(counts, rows),
            exposure=exposure,
            effort=effort[order],
            rate_indices=where,
            rate_attributes=x,
        )

    @cached_property
    def visits(self) -> Visits:
        """Their counts, as sums over true counts need them."""
        return Visits.of(self.starts, self.counts)

    def whole(self, shape: tuple[int, ...]) -> IntArray:
        """Indices in all modes of one entry of each cell, 0 along the closed ones; (C, K)."""
        indices = np.zeros((len(self.indices), len(shape)), dtype=np.int64)
        indices[:, self.open_modes] = self.indices
        return indices


def open_modes(counts: CountTensor, closed: Sequence[str]) -> tuple[int, ...]:
    """Modes that are not among those of these names."""
    return tuple(mode for mode, name in enumerate(counts.modes) if name not in closed)


def check_closed(counts: CountTensor, settings: FitSettings) -> None:
    """Reject counts to which a model with closed modes cannot be fitted.

    Raises
    ------
    ValueError
        In one sentence: what does not go with closed modes.
    """
    closed = settings.closed
    check_among(closed, counts.modes, f"closed must name modes of {counts.modes},")
    modes = open_modes(counts, closed)
    if not modes:
        raise ValueError(f"closed must leave at least 1 mode open, got all of {counts.modes}")
    if counts.closed_mode is not None and closed != (counts.closed_mode,):
        protocol = counts.protocol or "marked animals"
        raise ValueError(
            f"closed must be {counts.closed_mode!r} alone, by {protocol}, got {closed}"
        )
    if "transect" in counts.protocol:
        bands = counts.with_protocol(counts.protocol).attribute_names
        if counts.attribute_names != bands:
            raise ValueError(
                f"p of a {counts.protocol} must depend on its bands {bands} alone, got "
                f"{counts.attribute_names}: let other attributes act on the true rate"
            )
    if counts.observations:
        raise ValueError(
            "closed does not go with further observation processes, which count other events of "
            "the same λ (CountTensor.with_observations() leaves them out)"
        )
    missing = int((counts.attribute_rows < 0).sum()) if counts.n_attributes else 0
    if missing > _MOST_WITHOUT * counts.n_observed:
        raise ValueError(
            f"closed needs attributes of at least {1 - _MOST_WITHOUT:.0%} of the observed entries, "
            f"or of none; {missing:,} of {counts.n_observed:,} have none"
        )
    if counts.protocol != "removal" and exposure_varies(counts, modes):
        raise ValueError(
            f"exposure must be the same along closed modes {closed}, where true counts stay the "
            "same; make what varies between visits an attribute of detection"
        )
    sizes = tuple(counts.shape[mode] for mode in modes)
    seen = np.unique(flat_index(counts.indices[:, modes], sizes), return_counts=True)[1]
    if seen.max() < 2:
        raise ValueError(
            f"closed needs repeat visits; no entry of {tuple(counts.modes[m] for m in modes)} was "
            f"counted more than once along {closed}"
        )
    if counts.protocol == "removal":
        visits = pd.Series(counts.indices[:, 1 - modes[0]]).groupby(counts.indices[:, modes[0]])
        if (visits.max() - visits.min() >= visits.size()).any():
            site = counts.modes[modes[0]]
            raise ValueError(
                f"removal needs counts of all visits up to the last of each {site}; hold out whole "
                f"levels of {site}"
            )
    _rates_of(counts, modes, sizes)


def exposure_varies(counts: CountTensor, modes: tuple[int, ...]) -> bool:
    """Whether exposure differs along other modes than these."""
    table, others = counts.exposure, set(range(len(counts.shape))) - set(modes)
    return table is not None and not all(
        np.array_equal(table, np.broadcast_to(table.take([0], mode), table.shape))
        for mode in others
    )


def _exposure_of(
    counts: CountTensor, modes: tuple[int, ...], first: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Exposure of each cell (C,), and effort of each count (N,).

    Passes of a removal differ in effort where their exposure does, or how long they are by their
    labels, such as "0-3 min".
    """
    effort, exposure = np.ones(counts.n_observed), counts.exposure_at(first)
    if counts.protocol == "removal":
        (mode,) = set(range(2)) - set(modes)
        if (lengths := interval_lengths(counts.labels[mode])) is not None:
            effort *= lengths[counts.indices[:, mode]]
        if exposure_varies(counts, modes):
            effort, exposure = effort * counts.exposure_at(counts.indices), np.ones(len(first))
    return exposure, effort / effort.mean()


def _detection_attributes(counts: CountTensor, rows: IntArray) -> FloatArray:
    """z of each count; their mean where a count has none."""
    if not counts.n_attributes:
        return np.empty((len(rows), 0))
    z: FloatArray = counts.attributes[rows]
    z[rows < 0] = counts.attributes[rows[rows >= 0]].mean(axis=0)
    return z


def _rates_of(
    counts: CountTensor, modes: tuple[int, ...], sizes: tuple[int, ...]
) -> tuple[IntArray, FloatArray]:
    """All entries of cells with attributes that act on λ, and these attributes.

    Raises
    ------
    ValueError
        If these differ along a closed mode.
    """
    x = counts.rate_attributes
    if not x.size:
        return np.empty((0, len(counts.shape)), dtype=np.int64), x
    flat = flat_index(counts.attribute_indices[:, modes], sizes)
    cells, first, own = np.unique(flat, return_index=True, return_inverse=True)
    differs = (x != x[first][own]).any(axis=0)
    if differs.any():
        name = counts.rate_attribute_names[int(np.argmax(differs))]
        raise ValueError(
            f"rate_attributes must be the same along closed modes, where λ is; {name!r} is not"
        )
    others = [size for mode, size in enumerate(counts.shape) if mode not in modes]
    visits = np.indices(others).reshape(len(others), -1).T
    indices = np.empty((len(cells), len(visits), len(counts.shape)), dtype=np.int64)
    indices[:, :, modes] = np.column_stack(np.unravel_index(cells, sizes))[:, None]
    indices[:, :, [m for m in range(len(counts.shape)) if m not in modes]] = visits
    return indices.reshape(-1, len(counts.shape)), np.repeat(x[first], len(visits), axis=0)

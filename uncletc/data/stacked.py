"""The counts of all observation processes of a tensor in one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor


@dataclass(frozen=True, eq=False)
class StackedObservations:
    """The counts of a tensor and of its further observation processes, row below row.

    Attributes
    ----------
    indices : ndarray of int, shape (N, K)
    counts : ndarray of int, shape (N,)
    process : ndarray of int, shape (N,)
        0: the tensor's own counts; l: its l-th further observation process.
    known : ndarray, shape (N,)
        p where it is known, else NaN.
    attributes : ndarray, shape (S, D)
        z over Ξ, then those of observation processes that have their own.
    rows : ndarray of int, shape (N,)
        Row of `attributes` of each, -1 where it has none or p is known.
    rate_rows : ndarray of int, shape (N,)
        Row of the tensor's `rate_attributes`, -1 where its entry has none.
    errors : ndarray, shape (L,)
        `known_error` of each further observation process.
    local_errors : ndarray, shape (L,)
        `local_error` of the same.
    exposure : ndarray, shape (N,)
        That of the observation processes, beside the tensor's: 1 for its own counts.
    """

    indices: IntArray
    counts: IntArray
    process: IntArray
    known: FloatArray
    attributes: FloatArray
    rows: IntArray
    rate_rows: IntArray
    errors: FloatArray
    local_errors: FloatArray
    exposure: FloatArray

    @classmethod
    def of(cls, counts: CountTensor) -> Self:
        """Put all observation processes of a tensor below one another."""
        own, observations = counts.attribute_rows, counts.observations

        def below(first: NDArray[Any], name: str) -> NDArray[Any]:
            return _joined([first, *(getattr(process, name) for process in observations)])

        known = below(np.broadcast_to(np.nan, own.shape), "known_detection")
        tables, rows, rate_rows, n = [counts.attributes], [own], [own], len(counts.attributes)
        for process in observations:
            found = of_entry = counts.rows_of(process.indices)
            if process.attributes is not None:
                found = n + np.arange(len(process.counts))
                tables.append(process.attributes)
                n += len(process.counts)
            rows.append(np.where(np.isnan(process.known_detection), found, -1))
            rate_rows.append(of_entry)
        if observations and not counts.n_attributes:  # one p of all counts whose p is not known
            tables = [np.empty((len(known), 0))]
            rows = [np.where(np.isnan(known), np.arange(len(known)), -1)]
        return cls(
            indices=below(counts.indices, "indices"),
            counts=below(counts.counts, "counts"),
            process=_joined([np.broadcast_to(k, each.shape) for k, each in enumerate(rate_rows)]),
            known=known,
            attributes=_joined(tables),
            rows=_joined(rows),
            rate_rows=_joined(rate_rows),
            errors=np.array([process.known_error for process in observations]),
            local_errors=np.array([process.local_error for process in observations]),
            exposure=below(np.broadcast_to(1.0, own.shape), "exposure"),
        )

    @cached_property
    def order(self) -> IntArray:
        """Those whose p is g of their attributes first, then known p; each by entry; (N,)."""
        kind = np.where(self.rows >= 0, 0, np.where(np.isnan(self.known), 2, 1))
        return np.lexsort((*self.indices.T[::-1], self.process, kind))

    @property
    def shared_error(self) -> float:
        """Relative standard error of the surest known p; several are pooled after the fit."""
        seen = np.unique(self.process[~np.isnan(self.known) & (self.counts > 0)]) - 1
        return float(min(self.errors[seen], default=0.0))

    @property
    def local_error(self) -> float:
        """Standard deviation of the local errors of log p, weighted by counts with a known p."""
        known, size = ~np.isnan(self.known), 1 + len(self.local_errors)
        weights = np.bincount(self.process[known], self.counts[known], minlength=size)[1:]
        return float(weights @ self.local_errors / max(weights.sum(), 1.0))

    @property
    def anchored(self) -> bool:
        """Whether some count > 0 has a known p."""
        return bool((self.counts[~np.isnan(self.known)] > 0).any())


def _joined(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Arrays below one another; one alone is not copied, as it may have millions of rows."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def anchors_of(counts: CountTensor) -> str:
    """What states the scale of p, in words: the processes with a known p; empty for none."""
    known = [(it.name, it.counts[~np.isnan(it.known_detection)]) for it in counts.observations]
    return ", ".join(name for name, seen in known if seen.any())

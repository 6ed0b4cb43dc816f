"""The features of all entries, binned: a pass is one lookup per attribute and entry.

An attribute with few values has a bin for each, and is exact. Others are cut into equal bins over
their range, of which a curve takes the value at the middle. Many entries share what attributes say
(those of a place are the same on all days): curves are summed once for each distinct row, first of
the attributes that repeat most. The features themselves, some seven columns per attribute, are made
for a sample of rows only, for second derivatives.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from uncletc.common.validation import FloatArray, IntArray
from uncletc.model.features import AttributeFeatures
from uncletc.solvers.joint.kernels import (
    CodeArray,
    IndexArray,
    add_at,
    bin_sums,
    curve_sums,
    sum_at,
)
from uncletc.solvers.joint.parallel import total

# Bins per attribute. A bin is 1/4096 of the range, so a curve is off by about its slope over the
# range / 14,000: below 1e-3 in the logit. More take memory in the cache, and gain nothing seen.
_BINS = 4096
# Rows whose second derivatives stand for all. A Newton step with a noisy matrix still climbs; the
# gradient is exact. Fewer rows slow the last rounds, more cost time in each.
_ROWS_FOR_CURVATURE = 16_384
_ROWS = 65_536
_MOST_COMPARED = 1_000_000  # entries whose rows are compared, which takes 10 ms an attribute at 1e5
_SELDOM = 8  # rows that repeat less often than so are not worth sums of their own
_OFTEN = 0.7  # share of distinct rows up to which the others are worth them


class _Rows(NamedTuple):
    """Distinct rows of some attributes: their bins, and which of them each entry has.

    Attributes
    ----------
    first : ndarray, shape (J,)
        Where the bins of each attribute begin.
    codes : ndarray, shape (U, J)
    of_entry : ndarray, shape (A,), optional
        None: each entry has its own.
    """

    first: IndexArray
    codes: CodeArray
    of_entry: IndexArray | None


class BinnedCurves:
    """Sums over features of the first A entries, on the processor.

    Parameters
    ----------
    features : AttributeFeatures
    attributes : ndarray, shape (S, D)
        z over Ξ, by which bins are made, so that every process has the same.
    rows : ndarray of int, shape (A,)
        Rows of `attributes` of the entries.
    """

    def __init__(self, features: AttributeFeatures, attributes: FloatArray, rows: IntArray) -> None:
        kept = np.flatnonzero(features.columns)
        codes = np.empty((len(rows), len(kept)), dtype=np.uint16)
        middles = []
        for j, attribute in enumerate(kept):
            column = attributes[:, attribute]
            values, codes[:, j] = _bins(column, column[rows])
            middles.append(values)
        self._n, self.n_features = len(rows), features.n_features
        self._groups = _distinct(codes, np.cumsum([0, *map(len, middles)])[:-1])
        self._tables = _tables(features, kept, middles)
        step = max(len(rows) // _ROWS_FOR_CURVATURE, 1)
        self._sample = slice(None, None, step)
        self._features, self._attributes, self._rows = features, attributes, rows
        self._design = features(torch.from_numpy(attributes[rows[::step]])).float()

    def along(self, theta: Tensor, like: Tensor) -> Tensor:
        """Features · θ of each entry (A, M), with θ (M, Q), in the precision of `like`."""
        n_members = len(theta)
        out = np.empty((self._n, n_members), dtype=_numpy(like))
        out[:] = theta[:, 0].numpy()
        if self._tables:
            table = np.concatenate(
                [t @ theta[:, columns].numpy().T for columns, t in self._tables], axis=0
            )
            for first, codes, of_entry in self._groups:
                if of_entry is None:
                    curve_sums(codes, first, table, out)
                    continue
                distinct = np.zeros((len(codes), n_members))
                curve_sums(codes, first, table, distinct)
                add_at(of_entry, distinct, out)
        return torch.from_numpy(out)

    def against(self, values: Tensor) -> Tensor:
        """Sums of features weighted by each column of `values` (A, C), all processes; (C, Q)."""
        sums = np.zeros((values.shape[1], self.n_features))
        sums[:, 0] = values.sum(dim=0, dtype=torch.float64).numpy()
        if self._tables:
            binned = np.zeros((sum(len(t) for _, t in self._tables), values.shape[1]))
            for first, codes, of_entry in self._groups:
                weights = values.contiguous().numpy()
                if of_entry is not None:
                    sums_of_rows = np.zeros((len(codes), values.shape[1]))
                    sum_at(of_entry, weights, sums_of_rows)
                    weights = sums_of_rows
                bin_sums(codes, first, weights, binned)
            begin = 0
            for columns, table in self._tables:
                sums[:, columns] = (table.T @ binned[begin : begin + len(table)]).T
                begin += len(table)
        return total(torch.from_numpy(sums))

    def gram(self, weights: Tensor) -> Tensor:
        """Σ weight · features featuresᵀ of each column of weights (A, M); (M, Q, Q).

        Of a sample of the entries, scaled to all of them.
        """
        return self.cross(self, weights)

    def at(self, rows: IntArray) -> Tensor:
        """Features of some entries (R, Q), single precision."""
        return self._features(torch.from_numpy(self._attributes[self._rows[rows]])).float()

    def sampled(self, sample: slice, n: int) -> Tensor:
        """Features of a sample of the first n entries."""
        if sample == self._sample:
            return self._design[: len(range(n)[sample])]
        return self._features(torch.from_numpy(self._attributes[self._rows[:n][sample]])).float()

    def cross(self, others: BinnedCurves, weights: Tensor) -> Tensor:
        """Σ weight · features of these · features of others, as in :meth:`gram`; (M, Q, P)."""
        some = weights[self._sample].float()
        scale = weights.sum(dim=0, dtype=torch.float64) / some.sum(dim=0).double().clamp_min(1e-30)
        design = others.sampled(self._sample, len(weights))
        sums = torch.stack(
            [self._design.T @ (design * some[:, m, None]) for m in range(some.shape[1])]
        )
        return total(sums.double() * scale[:, None, None])


class PlainCurves:
    """The same sums on a GPU, from features computed in every pass."""

    def __init__(self, features: AttributeFeatures, attributes: Tensor) -> None:
        self._features, self._attributes = features, attributes
        self.n_features = features.n_features

    def along(self, theta: Tensor, like: Tensor) -> Tensor:
        """See :meth:`BinnedCurves.along`."""
        out = like.new_empty(len(self._attributes), len(theta))
        for part in self._parts():
            out[part] = self._design(part) @ theta.T.to(like.dtype)
        return out

    def against(self, values: Tensor) -> Tensor:
        """See :meth:`BinnedCurves.against`."""
        shape = (values.shape[1], self.n_features)
        sums = torch.zeros(shape, dtype=torch.float64, device=values.device)
        for part in self._parts():
            sums += values[part].T @ self._design(part)
        return total(sums)

    def gram(self, weights: Tensor) -> Tensor:
        """See :meth:`BinnedCurves.gram`; of all entries."""
        return self.cross(self, weights)

    def cross(self, others: PlainCurves, weights: Tensor) -> Tensor:
        """See :meth:`BinnedCurves.cross`; of all entries."""
        shape = (weights.shape[1], self.n_features, others.n_features)
        sums = torch.zeros(shape, dtype=torch.float64, device=weights.device)
        for part in self._parts():
            own, other = self._design(part), others._design(part)
            for member in range(weights.shape[1]):
                sums[member] += own.T @ (other * weights[part, member, None])
        return total(sums)

    def _parts(self) -> list[slice]:
        n = len(self._attributes)  # others may have more rows
        return [slice(i, min(i + _ROWS, n)) for i in range(0, n, _ROWS)]

    def _design(self, part: slice) -> Tensor:
        return self._features(self._attributes[part])


def _distinct(codes: CodeArray, first: IndexArray) -> list[_Rows]:
    """Attributes whose rows repeat often, then the others, each by its distinct rows."""
    n, n_attributes = codes.shape
    if not codes.size or n > _MOST_COMPARED:
        return [_Rows(first, codes, None)]
    sizes = [len(np.unique(column)) for column in codes.T]
    often: list[int] = []
    rows = np.zeros(n, dtype=np.int64)
    for j in np.argsort(sizes, kind="stable"):
        more = _refined(rows, codes[:, j])
        if _SELDOM * (more.max() + 1) <= n:
            often.append(int(j))
            rows = more
    groups = []
    seldom = [j for j in range(n_attributes) if j not in often]
    for chosen in (often, seldom):
        if not chosen:
            continue
        rows = np.zeros(n, dtype=np.int64)
        for j in chosen:
            rows = _refined(rows, codes[:, j])
        own = np.ascontiguousarray(codes[:, chosen])
        if rows.max() + 1 > _OFTEN * n:
            groups.append(_Rows(first[chosen], own, None))
            continue
        at = np.unique(rows, return_index=True)[1]
        groups.append(_Rows(first[chosen], own[at], rows.astype(np.int32)))
    return groups


def _refined(rows: IndexArray, codes: CodeArray) -> IndexArray:
    """Numbers of the distinct pairs of a row so far and a bin; (A,)."""
    key = rows * (int(codes.max(initial=0)) + 1) + codes
    return np.asarray(np.unique(key, return_inverse=True)[1]).ravel()


def _bins(column: FloatArray, of_entries: FloatArray) -> tuple[FloatArray, IndexArray]:
    """Values of the bins of an attribute over Ξ (S,), and the bin of each entry."""
    if len(np.unique(column[: 4 * _BINS])) <= _BINS:
        values = np.unique(column)
        if len(values) <= _BINS:
            return values, np.searchsorted(values, of_entries)
    low, high = float(column.min()), float(column.max())
    width = (high - low) / _BINS
    code = ((of_entries - low) / width).astype(np.int64)
    return np.asarray(low + width * (np.arange(_BINS) + 0.5)), code.clip(0, _BINS - 1)


def _tables(
    features: AttributeFeatures, kept: IntArray, middles: list[FloatArray]
) -> list[tuple[slice, FloatArray]]:
    """Columns of each attribute's curve, and their values in its bins (bins, columns)."""
    z = np.tile(features.middle, (max(map(len, middles), default=0), 1))
    for attribute, values in zip(kept, middles, strict=True):
        z[: len(values), attribute] = values
    all_columns = features(torch.from_numpy(z)).numpy()
    ends = 1 + np.cumsum(features.columns[kept])
    return [
        (slice(end - n, end), np.ascontiguousarray(all_columns[: len(values), end - n : end]))
        for end, n, values in zip(ends, features.columns[kept], middles, strict=True)
    ]


def _numpy(like: Tensor) -> Any:
    return np.float32 if like.dtype == torch.float32 else np.float64

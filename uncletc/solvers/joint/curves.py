"""The features of all entries, binned: a pass is a few lookups per entry.

An attribute with few values has a bin for each, and is exact. Others are cut into equal bins over
their range, of which a curve takes the value at the middle. Attributes that vary together, as all
those of a place do, share bins: one for each of their joint values, at which their curves are
summed once. The features themselves, some seven columns per attribute, are made for a sample of
rows only, for second derivatives.
"""

from typing import Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from uncletc.common.validation import FloatArray, IntArray
from uncletc.model.features import AttributeFeatures
from uncletc.solvers.joint.lookups import Lookups

# Bins per attribute. A bin is 1/4096 of the range, so a curve is off by about its slope over the
# range / 14,000: below 1e-3 in the logit. More take memory in the cache, and gain nothing seen.
_BINS = 4096
# Rows whose second derivatives stand for all of twice as many or more. A Newton step with a noisy
# matrix still climbs; the gradient is exact. Fewer rows slow all rounds, more cost time in each.
_ROWS_FOR_CURVATURE = 16_384
_COMPARED = 2 * _BINS  # entries that suffice to see that attributes vary independently
_SELDOM = 8  # joint values that repeat less often than so are not worth bins of their own

# Attributes that share bins, their values in each bin, and the bin of each entry.
_Binned = tuple[IntArray, FloatArray, NDArray[np.uint16]]


class BinnedCurves:
    """Sums over features of the first A entries.

    Parameters
    ----------
    features : AttributeFeatures
    attributes : ndarray, shape (S, D)
        z over Ξ, by which bins are made.
    rows : ndarray of int, shape (A,)
        Rows of `attributes` of the entries.

    Attributes
    ----------
    codes : ndarray of int, shape (A, J)
        Bins of each entry among all.
    """

    def __init__(self, features: AttributeFeatures, attributes: FloatArray, rows: IntArray) -> None:
        self.n_features = features.n_features
        binned = _binned(features, attributes, rows)
        self._tables = _tables(features, binned)
        if not binned:  # the level alone
            self._tables = [(np.empty(0, dtype=np.int64), np.empty((1, 0)))]
        self._first = np.cumsum([0, *(len(table) for _, table in self._tables)])
        self.codes = np.zeros((len(rows), len(self._tables)), dtype=np.uint32)
        for j, (_, _, codes) in enumerate(binned):
            np.add(codes, self._first[j], out=self.codes[:, j], casting="unsafe")
        self._lookups = Lookups.plain(self.codes, self.n_bins)
        self._sample = _sample(len(rows))
        self._design = self.at(self._sample)

    @property
    def n_bins(self) -> int:
        """Of all curves together."""
        return int(self._first[-1])

    def bins(self, theta: FloatArray) -> FloatArray:
        """Features · θ (M, Q) in each bin, the level in those of the first curves; (M, bins)."""
        values = np.empty((len(theta), self.n_bins))
        for first, (columns, table) in zip(self._first, self._tables, strict=False):
            values[:, first : first + len(table)] = theta[:, columns] @ table.T
        values[:, : self._first[1]] += theta[:, :1]
        return values

    def of_bins(self, sums: FloatArray) -> FloatArray:
        """The transpose of :meth:`bins`, of sums over the entries of each bin (C, bins); (C, Q)."""
        found = np.zeros((len(sums), self.n_features))
        for first, (columns, table) in zip(self._first, self._tables, strict=False):
            found[:, columns] = sums[:, first : first + len(table)] @ table
        found[:, 0] = sums[:, : self._first[1]].sum(axis=1)
        return found

    def along(self, theta: Tensor) -> Tensor:
        """Features · θ of each entry (A, M), with θ (M, Q)."""
        return torch.from_numpy(self._lookups.sums(self.bins(theta.numpy()))).T.contiguous()

    def against(self, values: Tensor) -> Tensor:
        """Sums of features weighted by each column of `values` (A, C); (C, Q)."""
        return torch.from_numpy(self.of_bins(self._lookups.spread(values.numpy().T, self.n_bins)))

    def at(self, rows: IntArray) -> Tensor:
        """Features of some entries (R, Q), single precision."""
        out = np.ones((self.n_features, len(rows)), dtype=np.float32)
        for j, (columns, table) in enumerate(self._tables):
            codes = self.codes[rows, j] - self._first[j]
            for q, values in zip(columns, table.T.astype(np.float32), strict=True):
                out[q] = values[codes]
        return torch.from_numpy(out).T

    def cross(self, others: Self, weights: Tensor) -> Tensor:
        """Σ weight · features · those of others, of each column of weights (A, M); (M, Q, P).

        Of a sample of the entries, scaled to all of them.
        """
        some = weights[torch.from_numpy(self._sample)].float()
        scale = weights.sum(dim=0) / some.sum(dim=0).double().clamp_min(1e-30)
        if others is self:  # NumPy takes half of the products of a matrix with itself
            roots = [(self._design * w[:, None].sqrt()).numpy() for w in some.T]
            sums = torch.from_numpy(np.stack([root.T @ root for root in roots]))
        else:
            design = others.at(self._sample)
            sums = torch.stack([self._design.T @ (design * w[:, None]) for w in some.T])
        return sums.double() * scale[:, None, None]


def _sample(n: int) -> IntArray:
    """Some of n entries, at random: they are in order, and a step would meet the same days."""
    if n <= 2 * _ROWS_FOR_CURVATURE:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, _ROWS_FOR_CURVATURE, replace=False))


def _binned(features: AttributeFeatures, attributes: FloatArray, rows: IntArray) -> list[_Binned]:
    """Attributes that share bins, their values in each bin (bins, own), and that of each entry."""
    found: list[_Binned] = []
    x = features.within(torch.tensor(attributes)).numpy()
    for attribute in np.flatnonzero(features.columns):
        values, codes = _bins(x[:, attribute], x[rows, attribute])
        found.append((np.array([attribute]), values[:, None], codes))
    found.sort(key=lambda one: len(one[1]))
    shared: list[_Binned] = []
    for one in found:
        for i, other in enumerate(shared):
            if both := _joined(other, one):
                shared[i] = both
                break
        else:
            shared.append(one)
    return shared


def _joined(one: _Binned, other: _Binned) -> _Binned | None:
    """Attributes of both, with bins for their joint values; None where these are too many."""
    n, size = len(one[2]), len(other[1])
    for step in (max(n // _COMPARED, 1), 1):
        codes, pairs = pd.factorize(one[2][::step].astype(np.int64) * size + other[2][::step])
        if len(pairs) > min(_BINS, n // _SELDOM):
            return None
    first, second = np.divmod(pairs, size)
    values = np.concatenate([one[1][first], other[1][second]], axis=1)
    return np.concatenate([one[0], other[0]]), values, codes.astype(np.uint16)


def _bins(column: FloatArray, of_entries: FloatArray) -> tuple[FloatArray, NDArray[np.uint16]]:
    """Values of the bins of an attribute over Ξ (S,) on [-1, 1], and the bin of each entry."""
    if len(pd.unique(column[: 4 * _BINS])) <= _BINS:
        values = np.sort(pd.unique(column))
        if len(values) <= _BINS:
            return values, np.searchsorted(values, of_entries).astype(np.uint16)
    code = ((of_entries + 1) * (_BINS / 2)).clip(0, _BINS - 1).astype(np.uint16)
    return np.asarray((np.arange(_BINS) + 0.5) * (2 / _BINS) - 1), code


def _tables(
    features: AttributeFeatures, binned: list[_Binned]
) -> list[tuple[IntArray, FloatArray]]:
    """Columns of the curves that share bins, and their values in these (bins, columns)."""
    ends = 1 + np.cumsum(features.columns)
    size = max((len(values) for _, values, _ in binned), default=0)
    x = np.zeros((size, features.n_attributes))
    for attributes, values, _ in binned:
        x[: len(values), attributes] = values
    every, found = features.at(torch.from_numpy(x)).numpy(), []
    for attributes, values, _ in binned:
        own = [np.arange(ends[a] - features.columns[a], ends[a]) for a in attributes]
        columns = np.concatenate(own)
        found.append((columns, np.ascontiguousarray(every[: len(values), columns])))
    return found

"""What attributes do to λ: their columns, and their effects."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.special import ndtri

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.entries import flat_index
from uncletc.model.features import AttributeFeatures

_SAME = 0.1  # share of the variance of an attribute within levels of a mode
_FEWEST_VALUES = 6  # of an attribute that is replaced by normal scores


def normal_scores(attributes: FloatArray) -> FloatArray:
    """Replace x (S, P) by the normal quantiles of its ranks, over Ξ, ties alike; (S, P).

    exp(xᵀβ) of a skewed attribute would say most about the few entries where it is extreme, and
    err most there. Attributes of five values or fewer stay as they are.
    """
    x = pd.DataFrame(attributes, dtype=np.float64)
    ranked = (x.nunique() >= _FEWEST_VALUES).to_numpy()
    return np.ascontiguousarray(np.where(ranked, ndtri((x.rank() - 0.5) / len(x)), x))


def same_within(x: pd.DataFrame, level: IntArray) -> NDArray[np.bool_]:
    """Which attributes (S, P) hardly vary within levels (S,); (P,)."""
    left = x - x.groupby(level).transform("mean")
    return (left.var() < _SAME * x.var()).to_numpy()


@dataclass(frozen=True, eq=False)
class RateTable:
    """x of the entries of Ξ, by entry.

    Attributes
    ----------
    shape : tuple of int
        I_k of the tensor.
    entries : ndarray of int, shape (S,)
        Numbers of the entries in row-major order, ascending.
    attributes : ndarray, shape (S, P)
        Normal scores of x of each, see :func:`normal_scores`, or x itself.
    features : AttributeFeatures
        Straight lines: x less its mean over Ξ, over its standard deviation. An attribute that is
        constant over Ξ has none.
    """

    shape: tuple[int, ...]
    entries: IntArray
    attributes: FloatArray
    features: AttributeFeatures

    @classmethod
    def of(
        cls,
        shape: tuple[int, ...],
        indices: IntArray,
        attributes: FloatArray,
        rng: np.random.Generator,
        *,
        ranks: bool,
    ) -> Self:
        """Sort x (S, P) of entries (S, K) by entry, by its ranks or as it is."""
        flat = flat_index(indices, shape)
        order = np.argsort(flat, kind="stable")
        scores = normal_scores(attributes) if ranks else attributes
        features = AttributeFeatures.of(scores, rng, curved=False)
        return cls(shape, flat[order], scores[order], features)

    @property
    def n_columns(self) -> int:
        """P', attributes that vary over Ξ."""
        return self.features.n_features - 1

    def columns(self, indices: IntArray) -> FloatArray:
        """Standardised x of valid entries (n, K), 0 outside Ξ; (n, P')."""
        x = self.at(indices)
        known = ~np.isnan(x).any(axis=1)
        found = np.zeros((len(x), self.n_columns))
        found[known] = self.lines(x[known])
        return found

    def at(self, indices: IntArray) -> FloatArray:
        """Return `attributes` of valid entries (n, K), NaN outside Ξ; (n, P)."""
        flat = flat_index(indices, self.shape)
        place = np.minimum(np.searchsorted(self.entries, flat), len(self.entries) - 1)
        known = self.entries[place] == flat
        return np.where(known[:, None], self.attributes[place], np.nan)

    def lines(self, scores: FloatArray) -> FloatArray:
        """Standardise `attributes` of some entries (n, P); (n, P')."""
        return np.asarray(self.features(torch.from_numpy(scores))[:, 1:].numpy())


@dataclass(frozen=True, eq=False)
class RateEffects:
    """exp(xᵀβ) of any entry; 1 for entries outside Ξ.

    Attributes
    ----------
    table : RateTable
    coefficients : ndarray, shape (P',)
        β: log λ per standard deviation of each attribute that varies.
    """

    table: RateTable
    coefficients: FloatArray

    @property
    def slopes(self) -> FloatArray:
        """β of every attribute, 0 for those that do not vary; (P,)."""
        slopes = np.zeros(self.table.features.n_attributes)
        slopes[self.varies] = self.coefficients
        return slopes

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which attributes vary over Ξ; (P,)."""
        return self.table.features.columns > 0

    @cached_property
    def mode_of(self) -> IntArray:
        """The mode within whose levels each attribute is nearly the same over Ξ; -1: none; (P,)."""
        x, found = pd.DataFrame(self.table.attributes), np.full(len(self.varies), -1)
        for mode, at in enumerate(np.unravel_index(self.table.entries, self.table.shape)):
            found[same_within(x, at)] = mode
        return found

    def factor(self, indices: IntArray) -> FloatArray:
        """exp(xᵀβ) of valid entries (n, K); (n,)."""
        return np.asarray(np.exp(self.table.columns(indices) @ self.coefficients))

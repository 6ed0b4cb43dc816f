"""Features of counts, which columns of 0 and 1, such as one of each species, leave nearly empty."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import torch
from scipy.sparse import csr_array, vstack
from scipy.special import expit

from uncletc.common.validation import FloatArray, IntArray
from uncletc.model.features import AttributeFeatures

_ROWS = 16_384  # made at once
_SPARSE = 0.2  # share of features unlike the usual ones, up to which these alone are stored


@dataclass(frozen=True, eq=False)
class Design:
    """Features of counts; (N, Q).

    Attributes
    ----------
    usual : ndarray, shape (Q,)
        Median features; 0 where those of most counts differ from them.
    rest : ndarray or csr_array, shape (N, Q)
        Features less these.
    """

    usual: FloatArray
    rest: FloatArray | csr_array

    @classmethod
    def of(cls, features: AttributeFeatures, attributes: FloatArray) -> Self:
        """Evaluate features of attributes (N, D)."""
        some = features(torch.from_numpy(attributes[:: len(attributes) // _ROWS + 1])).numpy()
        usual = np.median(some, axis=0)
        if (some != usual).mean() > _SPARSE:
            return cls(np.zeros(len(usual)), features(torch.from_numpy(attributes)).numpy())
        parts = np.array_split(attributes, len(attributes) // _ROWS + 1)
        rest = [csr_array(features(torch.from_numpy(z)).numpy() - usual) for z in parts]
        return cls(usual, vstack(rest, format="csr"))

    @property
    def n_features(self) -> int:
        """Q."""
        return len(self.usual)

    def __matmul__(self, theta: FloatArray) -> FloatArray:
        """Logits for θ (Q,) or (Q, R)."""
        return np.asarray(self.rest @ theta + self.usual @ theta)

    def back(self, values: FloatArray) -> FloatArray:
        """The transpose times values (N,); (Q,)."""
        return np.asarray(self.rest.T @ values + self.usual * values.sum())

    def sums(self, of: IntArray, values: FloatArray, size: int) -> FloatArray:
        """Sums over the counts of each cell of features times values (N,); (size, Q)."""
        every = csr_array((values, (of, np.arange(len(of)))), (size, len(of)))
        of_rest = every @ self.rest
        of_rest = of_rest if isinstance(of_rest, np.ndarray) else of_rest.toarray()
        return np.asarray(of_rest + every.sum(axis=1)[:, None] * self.usual)

    def mean_detection(self, drawn: FloatArray) -> FloatArray:
        """The mean p of all counts for each of some θ (R, Q); (R,)."""
        return np.array([expit(self @ theta).mean() for theta in drawn])

    def dense(self) -> FloatArray:
        """All of it; (N, Q)."""
        rest = self.rest if isinstance(self.rest, np.ndarray) else self.rest.toarray()
        return np.asarray(rest + self.usual)

    def __getitem__(self, rows: IntArray) -> Self:
        return replace(self, rest=self.rest[rows])

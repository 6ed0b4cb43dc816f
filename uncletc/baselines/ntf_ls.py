"""NTF-CPD-LS: non-negative CP decomposition by least squares.

Source: A. Shashua and T. Hazan, "Non-Negative Tensor Factorization with Applications to Statistics
and Computer Vision", ICML 2005; the coordinate updates of several passes each after N. Gillis and
F. Glineur, "Accelerated Multiplicative Updates and Hierarchical ALS Algorithms for Nonnegative
Matrix Factorization", Neural Computation 24(4), 2012.

Minimises ½ Σ_Ω (y_i - e_i Σ_f ∏_k U_k(i_k, f))² over U_k ≥ 0, with e the exposure. Given the other
factors, every row of U_k solves a small non-negative least-squares problem over that slice's
observed entries, so missing entries never enter. We add a small penalty on the squares of U_k:
without it predictions of missing entries grow without bound where few entries of a slice are
observed (on the paper's simulations the mean error of λ is then three times as large). ``ridge=0``
turns it off.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uncletc.baselines.base import RankSettings
from uncletc.baselines.factors import CP, Observed
from uncletc.common.validation import FloatArray
from uncletc.data.counts import CountTensor
from uncletc.model.cp import products


@dataclass(frozen=True, kw_only=True)
class LSSettings(RankSettings):
    """Settings of NTF-CPD-LS.

    Parameters
    ----------
    passes : int
        Passes over the columns of each factor per iteration, ≥ 1.
    ridge : float
        ≥ 0, relative to the size of the counts; 0: least squares alone.
    rank, max_iter, tol, seed
        See :class:`~uncletc.baselines.base.RankSettings`.
    """

    passes: int = 5
    ridge: float = 1e-2

    def __post_init__(self) -> None:
        super().__post_init__()
        self._whole("passes", 1)
        self._real("ridge", 0.0)


class LS(CP):
    """Decompose by alternating non-negative least squares."""

    settings: LSSettings

    def __init__(self, data: CountTensor, settings: LSSettings) -> None:
        super().__init__(data, settings)
        size = float(np.linalg.norm(data.counts))
        self.ridge = settings.ridge * size ** (2 - 2 / len(self.factors))
        self.least = 1e-10 * size**2 / data.n_observed

    def objective(self) -> float:
        """1/|Ω| [½ Σ_Ω (y_i - λ_i)² + ½ ϱ Σ_k ‖U_k‖²]."""
        return objective(self.factors, self.observed, self.ridge)

    def updated(self, mode: int) -> FloatArray:
        """See :func:`update_factor`."""
        return update_factor(self.factors, mode, self.observed, self.settings.passes, self.ridge)


def objective(factors: list[FloatArray], data: Observed, ridge: float = 0.0) -> float:
    """1/|Ω| [½ Σ_Ω (y_i - λ_i)² + ½ ϱ Σ_k ‖U_k‖²]."""
    rate = data.exposure * products(factors, data.indices).sum(axis=1)
    penalty = ridge * sum(float(np.sum(factor**2)) for factor in factors) / len(rate)
    return float(0.5 * (np.mean((data.counts - rate) ** 2) + penalty))


def update_factor(
    factors: list[FloatArray], mode: int, data: Observed, passes: int, ridge: float = 0.0
) -> FloatArray:
    """Lower the objective over U_k ≥ 0; if ridge is 0, rows without observed entries stay."""
    others = products(factors, data.indices, skip=mode) * data.exposure[:, None]
    right = data.sums(mode, data.counts, others)  # (I, F)
    gram = np.stack([data.sums(mode, column, others) for column in others.T.copy()], axis=1)
    gram += ridge * np.eye(len(gram[0]))
    return nonnegative_rows(factors[mode], gram, right, passes)


def nonnegative_rows(
    start: FloatArray, gram: FloatArray, right: FloatArray, passes: int
) -> FloatArray:
    """Lower ½ uᵀ H_i u - b_iᵀ u over u ≥ 0 for each row, one coordinate of all rows at a time.

    Parameters
    ----------
    start : ndarray, shape (I, F)
        Starting values, ≥ 0.
    gram : ndarray, shape (I, F, F)
        H_i, positive semi-definite.
    right : ndarray, shape (I, F)
        b_i.
    passes : int
        Passes over the F coordinates.

    Returns
    -------
    ndarray, shape (I, F)
        Coordinates whose diagonal element of H_i is 0 stay.
    """
    rows = start.copy()
    diagonal = np.einsum("iff->if", gram)
    for _ in range(passes):
        for f in range(rows.shape[1]):
            slope = right[:, f] - np.einsum("ig,ig->i", gram[:, f], rows)
            step = np.zeros(len(rows))
            np.divide(slope, diagonal[:, f], out=step, where=diagonal[:, f] > 0)
            rows[:, f] = np.maximum(rows[:, f] + step, 0.0)
    return rows

"""Poisson factors: counts as tensors, λ of entries, and a factor's multiplicative update."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.counts import CountTensor

TINY = 1e-300  # keeps y/λ and log λ finite; far below any rate that a count can support


class SliceSums:
    """Weighted sums over the observed entries of each slice of one mode.

    Parameters
    ----------
    where : ndarray of int, shape (N,)
        The slice of each entry.
    size : int
        I_k.
    """

    def __init__(self, where: IntArray, size: int) -> None:
        n = len(where)
        self._matrix = csr_array((np.arange(n, dtype=np.float64), (where, np.arange(n))), (size, n))
        self._order = self._matrix.data.astype(np.int64)

    def __call__(self, weights: Tensor, values: Tensor) -> Tensor:
        """Σ weight_i · values_i per slice; (N,) and (N, F) to (I_k, F)."""
        self._matrix.data[:] = weights.numpy()[self._order]
        return torch.from_numpy(self._matrix @ values.numpy())


class Problem:
    """The data of a count tensor as tensors; N = |Ω|, S = |Ξ|.

    Attributes
    ----------
    indices : Tensor of int, shape (N, K)
    counts : Tensor, shape (N,)
    exposure : Tensor, shape (N,)
    attributes : Tensor, shape (S, D)
    attributed : Tensor of bool, shape (N,)
        Which observed entries are in Ω ∩ Ξ.
    rows : Tensor of int, shape (|Ω ∩ Ξ|,)
        Their rows of `attributes`.
    slices : tuple of SliceSums
        One per mode.
    """

    def __init__(self, counts: CountTensor) -> None:
        rows = torch.from_numpy(counts.attribute_rows.copy())
        self.indices = torch.from_numpy(counts.indices.copy())
        self.counts = torch.from_numpy(counts.counts.astype(np.float64))
        self.exposure = torch.from_numpy(counts.exposure_at(counts.indices))
        self.attributes = torch.from_numpy(counts.attributes.copy())
        self.attributed = rows >= 0
        self.rows = rows[self.attributed]
        pairs = zip(counts.indices.T, counts.shape, strict=True)
        self.slices = tuple(SliceSums(where, size) for where, size in pairs)


def observed_rate(factors: Sequence[Tensor], problem: Problem) -> Tensor:
    """λ over Ω (N,)."""
    return problem.exposure * rate_at(factors, problem.indices)


def rate_at(factors: Sequence[Tensor], indices: Tensor) -> Tensor:
    """λ per unit of exposure of the given entries (N,)."""
    last = len(factors) - 1
    others = product_of(factors, indices.unbind(1), range(last))
    return torch.einsum("nf,nf->n", others, factors[last].index_select(0, indices[:, last]))


def product_of(factors: Sequence[Tensor], where: Sequence[Tensor], modes: Sequence[int]) -> Tensor:
    """∏ U_k(i_k, f) over some modes, i_k in `where`, one tensor (N,) per mode; (N, F)."""
    product = factors[modes[0]].index_select(0, where[modes[0]])
    for mode in modes[1:]:
        product.mul_(factors[mode].index_select(0, where[mode]))
    return product


def update_factor(
    factors: Sequence[Tensor], mode: int, problem: Problem, p: Tensor, sweeps: int, tol: float
) -> Tensor:
    """Multiplicative updates of one U_k under p (N,) (eq. 13); returns the new U_k (I_k, F).

    Stops when the objective changes by less than `tol`, relative to its size; 0: after `sweeps`.
    """
    where = problem.indices[:, mode]
    other_modes = [j for j in range(len(factors)) if j != mode]
    others = product_of(factors, problem.indices.unbind(1), other_modes)
    factor, sums, p = factors[mode], problem.slices[mode], p * problem.exposure
    denominator = sums(p, others)
    last = math.inf
    for _ in range(sweeps):
        rate = torch.einsum("nf,nf->n", factor.index_select(0, where), others).clamp_min(TINY)
        if tol:
            value = float((rate * p - torch.xlogy(problem.counts, rate)).sum())
            if abs(last - value) < tol * abs(value):
                break
            last = value
        factor = multiply(factor, sums(problem.counts / rate, others), denominator)
    return factor


def multiply(factor: Tensor, numerator: Tensor, denominator: Tensor) -> Tensor:
    """Take the multiplicative step of a Poisson factor; all (I_k, F).

    A majorisation-minimisation step, which never raises the objective: U_k times
    Σ (y/λ)·w over Σ p·w, with w the product of the other factors, summed over the observed entries
    of each slice. Rows without observed entries stay unchanged.
    """
    return torch.where(denominator == 0, factor, factor * numerator / denominator)


def adapt_components(earlier: Sequence[FloatArray], fresh: Sequence[Tensor]) -> list[Tensor]:
    """Keep the largest components of a start; add faint random ones if it has too few."""
    size = np.prod([factor.mean(axis=0) for factor in earlier], axis=0)
    rank = fresh[0].shape[1]
    order = np.argsort(-size, kind="stable")[:rank]
    largest = [torch.from_numpy(factor[:, order]) for factor in earlier]
    missing = rank - len(order)
    faint = float(size.mean() * 0.01) ** (1 / len(earlier))
    return [
        torch.cat([_leave_zero(old, new[:, :1]), 2 * faint * new[:, :missing]], dim=1)
        for old, new in zip(largest, fresh, strict=True)
    ]


def _leave_zero(factor: Tensor, fresh: Tensor) -> Tensor:
    """Lift exact zeros, which multiplicative updates could never leave."""
    size = float(factor.mean())
    return torch.where(factor > 0, factor, 1e-3 * fresh * (size if size > 0 else 1.0))

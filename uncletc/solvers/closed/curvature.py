"""Second derivatives of the exact likelihood and the priors about an optimum.

With E and V the mean and the variance of n given all counts of a cell, and r = μ/(μ + λ), or 1,
the derivatives of log P(y) by log λ and by the logit of p_v are r(E - λ) and y_v - p_v E. Those of
these are, but for terms of mean 0,

    -∂² log P / ∂(log λ)²              =  rλ - r²V
    -∂² log P / ∂(log λ) ∂(logit p_v)  =  r p_v V
    -∂² log P / ∂(logit p_v)²          =  p_v(1 - p_v) E - p_v² V,     -p_v p_w V for two visits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.sparse import csr_matrix, hstack
from scipy.special import expit

from uncletc.common.validation import FloatArray
from uncletc.model.cp import products
from uncletc.result.posterior import Draws
from uncletc.solvers.closed.cells import Cells
from uncletc.solvers.closed.sums import true_counts
from uncletc.solvers.uncertainty.draws import prior_curvature

MOST_PARAMETERS = 3_000  # of the dense matrix: 72 MB, and .5 s of one core
# Relative size of the next term after the curvature, over counts per element. Without it intervals
# at .9 held .82 of λ on three kinds of problems with 9 to 29 counts per element, .90 with 115.
_NEXT_TERM = 4.0
_FIXED = 1e9  # precision of coefficients that stay where they are
_LEAST = 1e-6  # added to the diagonal, so that what nothing determines has a variance


@dataclass(frozen=True, eq=False)
class Curvature:
    """H, the matrix of second derivatives of minus the log posterior.

    Attributes
    ----------
    matrix : ndarray, shape (P, P)
        By log U of the open modes, mode by mode and row by row, then θ, then β.
    shapes : tuple of tuple of int
        Of the factors.
    n_curves, n_rates : int
        Sizes of θ and β.
    information : float
        True counts that the counts tell of, per element of a factor.
    """

    matrix: FloatArray
    shapes: tuple[tuple[int, int], ...]
    n_curves: int
    n_rates: int
    information: float

    @classmethod
    def of(
        cls,
        cells: Cells,
        *,
        factors: list[FloatArray],
        rates: FloatArray,
        logits: FloatArray,
        design: FloatArray,
        lines: FloatArray,
        mu: float,
        shape: float,
        precisions: FloatArray,
        fixed: FloatArray,
    ) -> Curvature | None:
        """Sum over cells; None if there are more than `MOST_PARAMETERS` parameters.

        Parameters
        ----------
        cells : Cells
        factors : list of ndarray, shape (I_k, F)
        rates : ndarray, shape (C,)
            λ.
        logits : ndarray, shape (N,)
            Of p of each count.
        design : ndarray, shape (N, Q)
        lines : ndarray, shape (C, P)
        mu : float
        shape : float
            Of the factors' prior.
        precisions : ndarray, shape (Q + P,)
        fixed : ndarray of bool, shape (Q + P,)
            Coefficients that are at their bound.
        """
        n_factors = sum(factor.size for factor in factors)
        if n_factors + len(precisions) > MOST_PARAMETERS:
            return None
        p = expit(logits)
        log_missed = np.bincount(cells.of, -np.logaddexp(0, logits), len(rates))
        room = np.log(mu + rates) if math.isfinite(mu) else 0.0
        r = mu / (mu + rates) if math.isfinite(mu) else np.ones(len(rates))
        log_theta = np.asarray(np.log(np.maximum(rates, 1e-300)) + log_missed - room)
        found = true_counts(log_theta, cells.starts, cells.counts, mu)
        mean, variance = found.mean, found.variance
        to_cell = csr_matrix((p, (cells.of, np.arange(len(p)))), (len(rates), len(p)))
        seen = to_cell @ design  # Σ p_v x_v of each cell (C, Q)
        shares = _shares(cells, factors)
        by_rate = hstack([shares, csr_matrix(lines)], format="csr")
        weight = r * rates - r**2 * variance
        rated = (by_rate.T @ by_rate.multiply(weight[:, None])).toarray()
        crossed = np.asarray(by_rate.T @ (seen * (r * variance)[:, None]))
        curved = design.T @ (design * (p * (1 - p) * mean[cells.of])[:, None])
        curved -= np.asarray(seen.T @ (seen * variance[:, None]))
        order = [*range(n_factors), *range(n_factors + lines.shape[1], len(rated) + len(curved))]
        order += range(n_factors, n_factors + lines.shape[1])  # θ before β
        matrix = np.block([[rated, crossed], [crossed.T, curved]])[np.ix_(order, order)]
        matrix[range(n_factors, len(matrix)), range(n_factors, len(matrix))] += np.where(
            fixed, _FIXED, precisions
        )
        _add_priors(matrix, factors, shape)
        matrix[range(len(matrix)), range(len(matrix))] += _LEAST
        shapes = tuple((len(factor), factor.shape[1]) for factor in factors)
        information = float(weight.sum()) / n_factors
        return cls(matrix, shapes, design.shape[1], lines.shape[1], information)

    def half_log_determinant(self) -> float:
        """Half the logarithm of the determinant, without the row and the column of the level."""
        level = len(self.matrix) - self.n_curves - self.n_rates
        kept = np.delete(np.delete(self.matrix, level, axis=0), level, axis=1)
        try:
            return float(np.log(np.diagonal(cholesky(kept, check_finite=False))).sum())
        except np.linalg.LinAlgError:
            values = np.linalg.eigvalsh(kept)
            return float(0.5 * np.log(np.maximum(values, _LEAST)).sum())

    def variance_of_coefficients(self) -> FloatArray:
        """Variance of each element of θ and β; (Q + P,).

        Raises
        ------
        LinAlgError
            If H is not positive definite.
        """
        n_factors = len(self.matrix) - self.n_curves - self.n_rates
        unit = np.eye(len(self.matrix))[:, n_factors:]
        solved = cho_solve((self._root, True), unit, check_finite=False)
        return np.diagonal(solved[n_factors:]).copy()

    def draws(self, size: int, seed: int) -> Draws:
        """Draws from N(0, H⁻¹), those of λ and λp of single entries widened where counts are few.

        Raises
        ------
        LinAlgError
            If H is not positive definite.
        """
        root = self._root
        noise = np.random.default_rng(seed).standard_normal((len(root), size))
        drawn = solve_triangular(root, noise, lower=True, trans="T", check_finite=False)
        wider = 1 + _NEXT_TERM / max(self.information, 1.0)
        ends = np.cumsum([rows * rank for rows, rank in self.shapes])
        *factors, rest = np.split(drawn.astype(np.float32), ends)
        return Draws(
            factors=tuple(
                part.reshape(rows, rank, size)
                for part, (rows, rank) in zip(factors, self.shapes, strict=True)
            ),
            coefficients=rest[: self.n_curves],
            level=np.zeros(size, dtype=np.float32),
            slopes=rest[self.n_curves :],
            widening=(wider, 1.0, wider),
        )

    @cached_property
    def _root(self) -> FloatArray:
        return np.asarray(cholesky(self.matrix, lower=True, check_finite=False))


def _shares(cells: Cells, factors: list[FloatArray]) -> csr_matrix:
    """Derivatives of log λ of each cell by log U: the shares of components; (C, ΣI_k·F)."""
    product = products(factors, cells.indices)
    share = product / np.maximum(product.sum(axis=1, keepdims=True), 1e-300)
    n_cells, rank = share.shape
    columns, first = [], 0
    for factor, at in zip(factors, cells.indices.T, strict=True):
        columns.append(first + at[:, None] * rank + np.arange(rank))
        first += factor.size
    rows = np.repeat(np.arange(n_cells), rank)
    return csr_matrix(
        (
            np.tile(share.ravel(), len(factors)),
            (np.tile(rows, len(factors)), np.concatenate([c.ravel() for c in columns])),
        ),
        (n_cells, first),
    )


def _add_priors(matrix: FloatArray, factors: list[FloatArray], shape: float) -> None:
    """Add the curvature of the factors' prior, in place."""
    begin = 0
    for factor in factors:
        rank = factor.shape[1]
        for block in prior_curvature(factor, shape):
            matrix[begin : begin + rank, begin : begin + rank] += block
            begin += rank

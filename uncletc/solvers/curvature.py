"""Draws of what the parameters of a fit may be, from the curvature of its likelihood.

About the optimum the joint posterior of (log U_1, …, log U_K, θ) is nearly normal, with the
information matrix

    H = Σ_i w_i s_i s_iᵀ / φ + that of the priors,    w_i = m_i / (1 + m_i / μ_i),

where s_i is the derivative of log m_i, m = λp: by log U_k(i_k, f) it is component f's share of
λ_i, for every mode alike; by θ it is (1 - p) times the features. With a network, its weights are
part of θ, those of its output alone if it is large. R draws of N(0, H⁻¹) are kept: intervals of
single entries, of sets of entries and of products follow from them.

An entry has one row in each mode, so the part of H that belongs to one mode is block-diagonal.
The largest mode is eliminated by its blocks, and the rest is factorised as a dense matrix. If that
is too large, further modes are drawn as if each were independent of the others given the rest,
which makes intervals rough: parameters vary too little, but do not make up for each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numba
import numpy as np
import torch
from scipy.linalg import blas, cholesky, solve_triangular
from scipy.special import expit
from torch import Tensor

from uncletc.cp import products
from uncletc.detection import DetectionNetwork, JointDetection
from uncletc.draws import Draws
from uncletc.slopes import logit_slopes, varying_layers
from uncletc.solvers.batch import SHARE
from uncletc.solvers.descent import layer_precisions
from uncletc.solvers.optimum import Optimum
from uncletc.validation import FloatArray, IntArray

_MOST_DENSE = 5_000  # parameters of the dense matrix: 200 MB, and 2 s of one core
_MOST_COUPLED = 25_000_000  # numbers that tie an eliminated mode to the rest: 200 MB
_MOST_DRAWN = 25_000_000  # numbers in all draws: 100 MB
DRAWS, _FEWEST_DRAWS = 200, 20  # 200 give standard deviations within 5 %
# Least and largest factors by which draws of a network are widened: λ, p and λp of 10 problems that
# need one were off by 1.0-1.3, 1.5-3.8 and 1.2-2.8 times what the curvature says.
_LEAST_WIDENING, _WIDEST = (1.15, 1.45, 1.15), 5.0
# Factor of the deviations of the mean p, about which smooth curves are biased: it was off by 1.65
# times what the curvature says on 21 problems of three kinds, by .85 times on 7 of a fourth. With
# 1.6 intervals of mean p over sets held too much, with 1 those of p too little.
LEVEL_WIDENED = 1.3
_ROWS_FOR_LEVEL = 4_096  # of Ξ, whose mean p the draws share
_ROWS = 2_048  # entries whose derivatives are held at once
_LEAST = 1e-6  # added to the diagonal, so that what nothing determines has a variance


def draws_of(optimum: Optimum, elsewhere: FloatArray, seed: int, size: int = DRAWS) -> Draws | None:
    """Draw deviations of the parameters of a fit.

    Parameters
    ----------
    optimum : Optimum
    elsewhere : ndarray, shape (S, D)
        z of Ξ, over which all draws have the same mean p.
    seed : int
    size : int
        R; fewer are drawn of very many parameters.

    Returns
    -------
    Draws or None
        None if there are too many parameters for even a few draws, or the information matrix is
        not positive definite.
    """
    size = min(size, _MOST_DRAWN // sum(f.numel() for f in optimum.factors))
    if size < _FEWEST_DRAWS:
        return None
    g = optimum.member().network
    assert not isinstance(g, DetectionNetwork)
    level = np.empty(0)
    if g is not None:
        z = elsewhere[:: max(len(elsewhere) // _ROWS_FOR_LEVEL, 1)]
        logit, slopes = g.logit(torch.tensor(z)).numpy(), logit_slopes(g, z)
        p = expit(logit)
        level = (p * (1 - p)) @ slopes / p.sum()
    try:
        information = _Information.of(optimum, g, level)
        factors, theta = information.draw(size, np.random.default_rng(seed))
    except np.linalg.LinAlgError:
        return None
    shift = np.zeros(size)
    if g is not None:
        drawn = expit(logit[:, None] + slopes @ theta)
        shift = LEVEL_WIDENED * np.log(drawn.sum(axis=0) / p.sum())
    factors[0] += shift
    draws = Draws(
        factors=tuple(np.ascontiguousarray(f, dtype=np.float32) for f in factors),
        coefficients=theta.astype(np.float32),
        level=shift.astype(np.float32),
    )
    if g is None or optimum.unseen is None:
        return draws
    return replace(draws, widening=_widening(optimum, optimum.unseen, draws))


def _widening(optimum: Optimum, unseen: Tensor, draws: Draws) -> tuple[float, float, float]:
    """How much wider than its draws a network is, from counts that it had not seen.

    The curvature of a network's likelihood knows one of its optima, not what it cannot express. If
    ŷ of an unseen entry is off by a factor of relative variance f²·s², s² being that of the draws,
    (y - ŷ)² less the variance of a count is f²·s²ŷ² in the mean: weighted least squares give f².
    Its root serves, since the network that was judged had fewer entries and half of the steps. What
    then exceeds s² is put down to p.
    """
    judged = ~torch.isnan(unseen)
    y, mean, mu = (values[judged].numpy() for values in (optimum.counts, unseen, optimum.mu))
    where = torch.stack(optimum.where, dim=1)[judged].numpy()
    z = optimum.z(judged[: len(optimum.rows)]).numpy()
    member = optimum.member()
    of_mean = draws.deviation("expected", member, where, z) ** 2
    of_p = draws.deviation("detection", member, where, z) ** 2
    noise = optimum.dispersion * (mean + mean**2 / mu)
    signal = of_mean * mean**2
    weight = 1 / (noise + signal) ** 2
    excess = (y - mean) ** 2 - noise
    ratio = float((weight * signal * excess).sum() / (weight * signal**2).sum())
    ratio = math.sqrt(max(ratio, 1.0))
    in_p = float(np.median(of_mean / np.maximum(of_p, 1e-30)))
    found = (1.0, math.sqrt(1 + (ratio - 1) * in_p), math.sqrt(ratio))
    rate, p, expected = (
        min(max(pair), _WIDEST) for pair in zip(found, _LEAST_WIDENING, strict=True)
    )
    return rate, p, expected


@dataclass(eq=False)
class _Information:
    """H, by parts.

    Attributes
    ----------
    shape : tuple of int
        I_k.
    rank : int
    eliminated : list of int
        Modes, the largest first.
    blocks : dict of ndarray, shape (I_k, F, F)
        Of the eliminated modes.
    coupling : dict of ndarray, shape (I_k·F, P)
        Between an eliminated mode and the rest; missing if it would be too large.
    start : dict of int
        Where each other mode begins among the P parameters of the rest; θ is last.
    rest : ndarray, shape (P, P)
        The upper triangle.
    """

    shape: tuple[int, ...]
    rank: int
    eliminated: list[int]
    blocks: dict[int, FloatArray]
    coupling: dict[int, FloatArray]
    start: dict[int, int]
    rest: FloatArray

    @classmethod
    def of(cls, optimum: Optimum, g: JointDetection | None, level: FloatArray) -> _Information:
        """Sum over entries and add the priors."""
        factors = [np.ascontiguousarray(f.numpy()) for f in optimum.factors]
        shape, rank = tuple(len(f) for f in factors), factors[0].shape[1]
        eliminated, others = _split(shape, rank, len(level))
        start, size = {}, 0
        for mode in others:
            start[mode], size = size, size + factors[mode].size
        rest = np.zeros((size + len(level), size + len(level)))
        blocks = {k: np.zeros((shape[k], rank, rank)) for k in eliminated}
        coupling = {
            k: np.zeros((shape[k] * rank, len(rest)))
            for k in eliminated
            if shape[k] * rank * len(rest) <= _MOST_COUPLED
        }
        self = cls(shape, rank, eliminated, blocks, coupling, start, rest)
        self._add_entries(optimum, factors, g, level)
        self._add_priors(optimum, factors, g)
        return self

    def _add_entries(
        self,
        optimum: Optimum,
        factors: list[FloatArray],
        g: JointDetection | None,
        level: FloatArray,
    ) -> None:
        theta = len(self.rest) - len(level)
        for i in range(0, len(optimum.counts), _ROWS):
            part = slice(i, i + _ROWS)
            at = optimum.indices(part)
            product = products(factors, at)
            rate = np.maximum(product.sum(axis=1), 1e-300)
            p = np.full(len(at), optimum.unattributed)
            columns = np.tile(level, (len(at), 1))  # of entries whose p is the mean
            known = optimum.z(part)
            if g is not None and len(known):
                p[: len(known)] = g.probability(known).numpy()
                columns[: len(known)] = logit_slopes(g, known.numpy()) * (1 - p[: len(known), None])
            mean = rate * optimum.exposure[part].numpy() * p
            weight = mean / (1 + mean / optimum.mu[part].numpy()) / optimum.dispersion
            share = product / rate[:, None]
            for k, block in self.blocks.items():
                _add_blocks(at[:, k], share, weight, block)
                if k in self.coupling:
                    self._add_cross(at, k, share, weight, columns, self.coupling[k])
            for k, first in self.start.items():
                rows = self.rest[first : first + factors[k].size]
                self._add_cross(at, k, share, weight, columns, rows)
            self.rest[theta:, theta:] += columns.T @ (columns * weight[:, None])

    def _add_cross(
        self,
        at: IntArray,
        mode: int,
        share: FloatArray,
        weight: FloatArray,
        columns: FloatArray,
        rows: FloatArray,
    ) -> None:
        """Add one mode's rows against the columns of the rest."""
        for other, first in self.start.items():
            _add_pairs(at[:, mode], at[:, other], share, weight, first, rows)
        if columns.shape[1]:
            _add_columns(at[:, mode], share, columns * weight[:, None], rows)

    def _add_priors(
        self, optimum: Optimum, factors: list[FloatArray], g: JointDetection | None
    ) -> None:
        """Add the curvature of the priors.

        Each element u of a factor has a gamma prior about M, the product of its row's mean and its
        column's. A row that moves as a whole moves M too, which the prior does not hold; a small
        share of it holds u about its column's mean.
        """
        c, rank = optimum.prior_shape, self.rank
        for mode, u in enumerate(factors):
            column = np.maximum(u.mean(axis=0), 1e-30)
            mean = np.maximum(u.mean(axis=1, keepdims=True) * column / column.mean(), 1e-30)
            ratio = u / mean
            total = np.maximum(ratio.sum(axis=1), 1e-30)[:, None, None]
            prior = -ratio[:, :, None] * ratio[:, None, :] / total
            prior[:, range(rank), range(rank)] += ratio + SHARE * u / column
            prior *= c
            prior[:, range(rank), range(rank)] += _LEAST
            if mode in self.blocks:
                self.blocks[mode] += prior
                continue
            for i, block in enumerate(prior):
                own = slice(self.start[mode] + i * rank, self.start[mode] + (i + 1) * rank)
                self.rest[own, own] += block
        if g is not None:
            own = varying_layers(g)
            pairs = zip(g.layers[own], layer_precisions(g.layers)[own], strict=True)
            weights = [np.full(layer.size, precision) for layer, precision in pairs]
            precisions = np.concatenate([optimum.precisions.numpy(), *weights])
            theta = range(len(self.rest) - len(precisions), len(self.rest))
            self.rest[theta, theta] += precisions + _LEAST

    def draw(self, size: int, rng: np.random.Generator) -> tuple[list[FloatArray], FloatArray]:
        """Draws of log U_k (I_k, F, size) and θ (Q, size) from N(0, H⁻¹)."""
        roots = {k: np.linalg.cholesky(block) for k, block in self.blocks.items()}
        for k, coupling in self.coupling.items():  # L⁻¹ times it, row by row: no copy of it all
            for root, row in zip(
                roots[k], coupling.reshape(self.shape[k], self.rank, -1), strict=True
            ):
                row[:] = solve_triangular(root, row, lower=True, check_finite=False)
        first = self.eliminated[0]
        rest = self.rest.T  # lower triangle, in the order that LAPACK overwrites
        if first in self.coupling:
            blas.dsyrk(-1.0, self.coupling[first].T, beta=1.0, c=rest, lower=1, overwrite_c=1)
        rest = cholesky(rest, lower=True, overwrite_a=True, check_finite=False)
        noise = rng.standard_normal((len(rest), size))
        drawn = solve_triangular(rest, noise, lower=True, trans="T", check_finite=False)
        factors = []
        for k, n in enumerate(self.shape):
            if k in self.start:
                own = drawn[self.start[k] : self.start[k] + n * self.rank]
            else:
                own = rng.standard_normal((n * self.rank, size))
                if k in self.coupling:
                    own -= self.coupling[k] @ drawn
                own = np.linalg.solve(roots[k].transpose(0, 2, 1), own.reshape(n, self.rank, size))
            factors.append(own.reshape(n, self.rank, size))
        return factors, drawn[sum(self.shape[k] * self.rank for k in self.start) :]


def _split(shape: tuple[int, ...], rank: int, n_theta: int) -> tuple[list[int], list[int]]:
    """Modes to eliminate, the largest first, and the others."""
    order = sorted(range(len(shape)), key=lambda k: -shape[k])
    n = 1
    while sum(shape[k] for k in order[n:]) * rank + n_theta > _MOST_DENSE and n < len(shape):
        n += 1
    return order[:n], sorted(order[n:])


_jit = numba.njit(cache=True, fastmath=True, error_model="numpy")


@_jit
def _add_blocks(rows, share, weight, blocks):  # type: ignore[no-untyped-def] # pragma: no cover
    for n in range(len(rows)):
        block = blocks[rows[n]]
        for f in range(share.shape[1]):
            scaled = weight[n] * share[n, f]
            for g in range(share.shape[1]):
                block[f, g] += scaled * share[n, g]


@_jit
def _add_pairs(rows, columns, share, weight, first, matrix):  # type: ignore[no-untyped-def] # pragma: no cover
    rank = share.shape[1]
    for n in range(len(rows)):
        begin = first + columns[n] * rank
        for f in range(rank):
            scaled = weight[n] * share[n, f]
            into = matrix[rows[n] * rank + f]
            for g in range(rank):
                into[begin + g] += scaled * share[n, g]


@_jit
def _add_columns(rows, share, columns, matrix):  # type: ignore[no-untyped-def] # pragma: no cover
    rank, begin = share.shape[1], matrix.shape[1] - columns.shape[1]
    for n in range(len(rows)):
        for f in range(rank):
            into = matrix[rows[n] * rank + f]
            for q in range(columns.shape[1]):
                into[begin + q] += share[n, f] * columns[n, q]

"""The information matrix of a fit's parameters, by parts, and draws from its inverse.

:mod:`~uncletc.solvers.uncertainty.draws` says what it is. An entry has one row in each mode,
so the part of H that belongs to one mode is block-diagonal. The largest mode is eliminated by its
blocks, some slices at a time, and the rest is factorised as a dense matrix. If that is too large,
further modes are drawn as if each were independent of the others given the rest, which makes
intervals rough: parameters vary too little, but do not make up for each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from scipy.linalg import blas, cholesky, solve_triangular

from uncletc.common.validation import FloatArray, IntArray
from uncletc.model.cp import products
from uncletc.model.detection import JointDetection
from uncletc.model.slopes import logit_slopes, varying_layers
from uncletc.result.posterior import Float32Array
from uncletc.solvers.joint.kernels import IndexArray
from uncletc.solvers.joint.members import SHARE
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.network.weights import layer_precisions

_MOST_DENSE = 5_000  # parameters of the dense matrix: 200 MB, and 2 s of one core
_MOST_COUPLED = 25_000_000  # numbers that tie an eliminated mode to the rest: 100 MB
_COUPLED_AT_ONCE = 1_000_000  # of them in double precision, while entries are added: 8 MB
_ROWS = 2_048  # entries whose derivatives are held at once
_FIXED = 1e9  # precision of coefficients that stay where they are
_LEAST = 1e-6  # added to the diagonal, so that what nothing determines has a variance


@dataclass(eq=False)
class Information:
    """H, by parts, with the eliminated modes taken out of the rest.

    Attributes
    ----------
    shape : tuple of int
        I_k.
    rank : int
    eliminated : list of int
        Modes, the largest first.
    blocks : dict of ndarray, shape (I_k, F, F)
        Of the eliminated modes; their Cholesky factors L once all entries are added.
    coupling : dict of ndarray, shape (I_k·F, P)
        L⁻¹ times the part of H between an eliminated mode and the rest; missing if it would be too
        large. Single precision: only means of draws rest on it.
    start : dict of int
        Where each other mode begins among the P parameters of the rest; θ is last.
    rest : ndarray, shape (P, P)
        The upper triangle.
    """

    shape: tuple[int, ...]
    rank: int
    eliminated: list[int]
    blocks: dict[int, FloatArray]
    coupling: dict[int, Float32Array]
    start: dict[int, int]
    rest: FloatArray

    @classmethod
    def of(cls, optimum: Optimum, g: JointDetection | None, level: FloatArray) -> Information:
        """Sum over entries and priors.

        Parameters
        ----------
        optimum : Optimum
        g : JointDetection, optional
            Its own.
        level : ndarray, shape (Q + P,)
            Derivatives by θ and β of the logarithm of the mean p, which entries without attributes
            have.

        Raises
        ------
        LinAlgError
            If a block is not positive definite.
        """
        factors = [np.ascontiguousarray(f.numpy()) for f in optimum.factors]
        shape, rank = tuple(len(f) for f in factors), factors[0].shape[1]
        eliminated, others = _split(shape, rank, len(level))
        start, size = {}, 0
        for mode in others:
            start[mode], size = size, size + factors[mode].size
        rest = np.zeros((size + len(level), size + len(level)))
        blocks = {k: np.zeros((shape[k], rank, rank)) for k in eliminated}
        coupling = {
            k: np.zeros((shape[k] * rank, len(rest)), dtype=np.float32)
            for k in eliminated
            if shape[k] * rank * len(rest) <= _MOST_COUPLED
        }
        self = cls(shape, rank, eliminated, blocks, coupling, start, rest)
        self._add_priors(optimum, factors, g)
        self._add_entries(optimum, factors, g, level)
        return self

    def _add_entries(
        self,
        optimum: Optimum,
        factors: list[FloatArray],
        g: JointDetection | None,
        level: FloatArray,
    ) -> None:
        """Add all entries, some slices of the largest mode at a time, and eliminate these."""
        first, *others = self.eliminated
        n, size, width = self.shape[first], self.shape[first], 0
        if first in self.coupling:
            width = len(self.rest)
            size = max(_COUPLED_AT_ONCE // (self.rank * width), 1)
        along = optimum.where[first].numpy()
        order = np.argsort(along, kind="stable").astype(np.int32)
        starts = np.cumsum([0, *np.bincount(along, minlength=n)])
        for begin in range(0, n, size):
            end = min(begin + size, n)
            rows = np.zeros(((end - begin) * self.rank, width))
            for i in range(starts[begin], starts[end], _ROWS):
                chosen = order[i : min(i + _ROWS, starts[end])]
                at, share, columns = _derivatives(optimum, factors, g, level, chosen)
                self._add(at, share, columns)
                if width:
                    self._add_cross(at[:, first] - begin, at, share, columns, rows)
            block = self.blocks[first][begin:end]
            block[:] = np.linalg.cholesky(block)
            if width:
                _solve(block, rows)
                self.coupling[first][begin * self.rank : end * self.rank] = rows
                rest = self.rest.T  # lower triangle, in the order that BLAS overwrites
                blas.dsyrk(-1.0, rows.T, beta=1.0, c=rest, lower=1, overwrite_c=1)
        for k in others:
            self.blocks[k][:] = np.linalg.cholesky(self.blocks[k])
            if k in self.coupling:
                _solve(self.blocks[k], self.coupling[k])

    def _add(self, at: IntArray, share: FloatArray, columns: FloatArray) -> None:
        """Add some entries to all parts but the coupling of the largest mode."""
        for k in self.eliminated:
            _add_blocks(at[:, k], share, self.blocks[k])
        for k in self.eliminated[1:]:
            if k in self.coupling:
                self._add_cross(at[:, k], at, share, columns, self.coupling[k])
        for k, first in self.start.items():
            into = self.rest[first : first + self.shape[k] * self.rank]
            self._add_cross(at[:, k], at, share, columns, into)
        theta = len(self.rest) - columns.shape[1]
        self.rest[theta:, theta:] += columns.T @ columns

    def _add_cross(
        self,
        own: IntArray,
        at: IntArray,
        share: FloatArray,
        columns: FloatArray,
        rows: FloatArray | Float32Array,
    ) -> None:
        """Add the rows `own` of one mode against the columns of the rest."""
        for other, first in self.start.items():
            _add_pairs(own, at[:, other], share, first, rows)
        if columns.shape[1]:
            _add_columns(own, share, columns, rows)

    def _add_priors(
        self, optimum: Optimum, factors: list[FloatArray], g: JointDetection | None
    ) -> None:
        """Add the curvature of the priors."""
        rank = self.rank
        for mode, u in enumerate(factors):
            prior = prior_curvature(u, optimum.prior_shape)
            prior[:, range(rank), range(rank)] += _LEAST
            if mode in self.blocks:
                self.blocks[mode] += prior
                continue
            for i, block in enumerate(prior):
                own = slice(self.start[mode] + i * rank, self.start[mode] + (i + 1) * rank)
                self.rest[own, own] += block
        precisions = np.concatenate(_precisions(optimum, g))
        theta = range(len(self.rest) - len(precisions), len(self.rest))
        self.rest[theta, theta] += precisions + _LEAST

    def draw(self, size: int, rng: np.random.Generator) -> tuple[list[FloatArray], FloatArray]:
        """Draws of log U_k (I_k, F, size) and θ (Q, size) from N(0, H⁻¹).

        Takes the place of `rest`, so that it can be called once.

        Raises
        ------
        LinAlgError
            If H is not positive definite.
        """
        root = cholesky(self.rest.T, lower=True, overwrite_a=True, check_finite=False)
        noise = rng.standard_normal((len(root), size))
        drawn = solve_triangular(root, noise, lower=True, trans="T", check_finite=False)
        single = drawn.astype(np.float32)
        factors = []
        for k, n in enumerate(self.shape):
            if k in self.start:
                own = drawn[self.start[k] : self.start[k] + n * self.rank]
            else:
                own = rng.standard_normal((n * self.rank, size))
                if k in self.coupling:
                    own -= self.coupling[k] @ single
                back = self.blocks[k].transpose(0, 2, 1)
                own[:] = np.linalg.solve(back, own.reshape(n, self.rank, size)).reshape(own.shape)
            factors.append(own.reshape(n, self.rank, size))
        return factors, drawn[sum(self.shape[k] * self.rank for k in self.start) :]


def prior_curvature(factor: FloatArray, shape: float) -> FloatArray:
    """Second derivatives of the prior of a factor (I, F) by the logarithms of each row; (I, F, F).

    Each element u has a gamma prior of this shape about M, the product of its row's mean and its
    column's. A row that moves as a whole moves M too, which the prior does not hold; a small share
    of it holds u about its column's mean.
    """
    u, along = factor, range(factor.shape[1])
    column = np.maximum(u.mean(axis=0), 1e-30)
    mean = np.maximum(u.mean(axis=1, keepdims=True) * column / column.mean(), 1e-30)
    ratio = u / mean
    total = np.maximum(ratio.sum(axis=1), 1e-30)[:, None, None]
    prior = -ratio[:, :, None] * ratio[:, None, :] / total
    prior[:, along, along] += ratio + SHARE * u / column
    return np.asarray(prior * shape)


def _derivatives(
    optimum: Optimum,
    factors: list[FloatArray],
    g: JointDetection | None,
    level: FloatArray,
    chosen: IndexArray,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Indices of entries (n, K), and √w times s by log U of any mode (n, F) and by θ, β (n, Q + P).

    The last are those of `level` where an entry has no attributes.
    """
    at = optimum.indices(chosen)
    product = products(factors, at)
    rate = np.maximum(product.sum(axis=1), 1e-300)
    known, n_attributed = chosen < len(optimum.rows), len(optimum.rows)
    p = np.ones(len(at))
    p[~known] = optimum.given.numpy()[chosen[~known] - n_attributed]
    columns = np.tile(level, (len(at), 1))  # of entries whose p is the mean
    if optimum.known is not None:
        stated = ~known
        stated[~known] = ~np.isnan(optimum.known.numpy()[chosen[~known] - n_attributed])
        columns[stated] = 0.0
    if g is not None and known.any():
        z = optimum.z(chosen[known])
        p[known] = g.probability(z).numpy()
        varying = varying_layers(g, n_attributed)
        slopes = logit_slopes(g, z.numpy(), varying) * (1 - p[known, None])
        columns[known, : slopes.shape[1]] = slopes
    lines = optimum.lines(chosen).numpy()
    columns[:, columns.shape[1] - lines.shape[1] :] = lines
    effect = np.exp(lines @ optimum.slopes.numpy())
    mean = rate * effect * optimum.exposure.numpy()[chosen] * p
    root = np.sqrt(mean / (1 + mean / optimum.mu.numpy()[chosen]) / optimum.dispersion)[:, None]
    return at, product * (root / rate[:, None]), columns * root


def _precisions(optimum: Optimum, g: JointDetection | None) -> list[FloatArray]:
    """Of the priors of θ, of the weights that vary, and of β."""
    theta, beta = np.split(optimum.precisions.numpy(), [len(optimum.curves)])
    if g is None:
        return [beta]
    theta = np.where(g.features.monotone & (optimum.curves.numpy() <= 0), _FIXED, theta)
    own = varying_layers(g, len(optimum.rows))
    pairs = zip(g.layers[own], layer_precisions(g.layers)[own], strict=True)
    return [theta, *(np.full(layer.size, precision) for layer, precision in pairs), beta]


def _solve(roots: FloatArray, rows: FloatArray | Float32Array) -> None:
    """L⁻¹ times the rows (I·F, P) of each slice, in place; L of shape (I, F, F)."""
    rank = roots.shape[1]
    for i, root in enumerate(roots):
        own = rows[i * rank : (i + 1) * rank]
        own[:] = solve_triangular(root, own, lower=True, check_finite=False)


def _split(shape: tuple[int, ...], rank: int, n_theta: int) -> tuple[list[int], list[int]]:
    """Modes to eliminate, the largest first, and the others."""
    order = sorted(range(len(shape)), key=lambda k: -shape[k])
    n = 1
    while sum(shape[k] for k in order[n:]) * rank + n_theta > _MOST_DENSE and n < len(shape):
        n += 1
    return order[:n], sorted(order[n:])


_jit = numba.njit(cache=True, fastmath=True, error_model="numpy")


@_jit
def _add_blocks(rows, share, blocks):  # type: ignore[no-untyped-def] # pragma: no cover
    for n in range(len(rows)):
        block = blocks[rows[n]]
        for f in range(share.shape[1]):
            for g in range(share.shape[1]):
                block[f, g] += share[n, f] * share[n, g]


@_jit
def _add_pairs(rows, columns, share, first, matrix):  # type: ignore[no-untyped-def] # pragma: no cover
    rank = share.shape[1]
    for n in range(len(rows)):
        begin = first + columns[n] * rank
        for f in range(rank):
            into = matrix[rows[n] * rank + f]
            for g in range(rank):
                into[begin + g] += share[n, f] * share[n, g]


@_jit
def _add_columns(rows, share, columns, matrix):  # type: ignore[no-untyped-def] # pragma: no cover
    rank, begin = share.shape[1], matrix.shape[1] - columns.shape[1]
    for n in range(len(rows)):
        for f in range(rank):
            into = matrix[rows[n] * rank + f]
            for q in range(columns.shape[1]):
                into[begin + q] += share[n, f] * columns[n, q]

"""Draws of what the parameters of a fit may be, from the curvature of its likelihood.

About the optimum the joint posterior of (log U_1, …, log U_K, θ) is nearly normal, with the
information matrix

    H = Σ_i w_i s_i s_iᵀ / φ + that of the priors,    w_i = m_i / (1 + m_i / μ_i),

where s_i is the derivative of log m_i, m = λp: by log U_k(i_k, f) it is component f's share of
λ_i, for every mode alike; by θ it is (1 - p) times the features, by β x. With a network, its
weights are part of θ, those of its output alone if it is large. Coefficients of monotone curves
that are 0, at their bound, stay there. R draws of N(0, H⁻¹) follow: intervals of single entries, of
sets of entries and of products are made from them.

Of slices with many entries a random sample stands for all, weighted by its share.

An entry has one row in each mode, so the part of H that belongs to one mode is block-diagonal. The
largest mode is eliminated by its blocks, some slices at a time, and the rest is factorised as a
dense matrix. If that is too large, further modes are drawn as if each were independent of the
others given the rest, which makes intervals rough: parameters vary too little, but do not make up
for each other.
"""

import math
from dataclasses import replace

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from scipy.linalg import blas, cholesky, solve_triangular
from scipy.special import expit
from torch import Tensor

from uncletc.common.validation import FloatArray, IntArray
from uncletc.model.cp import products
from uncletc.model.detection import DetectionNetwork, JointDetection, logit_slopes, varying_layers
from uncletc.result.posterior import LEVEL_WIDENED, Draws
from uncletc.solvers.joint.kernels import IndexArray
from uncletc.solvers.joint.members import SHARE
from uncletc.solvers.joint.optimum import Optimum
from uncletc.solvers.network.weights import layer_precisions

_MOST_DRAWN = 25_000_000  # numbers in all draws: 100 MB
DRAWS, _FEWEST_DRAWS = 200, 20  # 200 give standard deviations within 5 %
# Least and largest factors by which draws of a network are widened: λ, p and λp of 10 problems that
# need one were off by 1.0-1.3, 1.5-3.8 and 1.2-2.8 times what the curvature says.
_LEAST_WIDENING, _WIDEST = (1.15, 1.45, 1.15), 5.0
_ROWS_FOR_LEVEL = 4_096  # of Ξ, whose mean p the draws share
_MOST_DENSE = 5_000  # parameters of the dense matrix: 200 MB, and 2 s of one core
_MOST_COUPLED = 25_000_000  # numbers that tie an eliminated mode to the rest: 100 MB
_COUPLED_AT_ONCE = 1_000_000  # of them in double precision, while entries are added: 8 MB
_ROWS = 2_048  # entries whose derivatives are held at once
# Entries of a slice per component, about as many of which are sampled: these give its block of H
# within 7 %.
_SAMPLED = 150
_FIXED = 1e9  # precision of coefficients that stay where they are
_LEAST = 1e-6  # added to the diagonal, so that what nothing determines has a variance

_Derivatives = tuple[IntArray, FloatArray, FloatArray]
"""As :meth:`Information._derivatives` returns them."""


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
        z = z if g.n_attributes else np.empty((1, 0))  # then p is one number
        varying = varying_layers(g, len(optimum.rows))
        logit, slopes = g.logit(torch.tensor(z)).numpy(), logit_slopes(g, z, varying)
        p = expit(logit)
        level = (p * (1 - p)) @ slopes / p.sum()
    n_curves, n_slopes = len(optimum.curves), len(optimum.slopes)
    known = optimum.drawn is not None and not optimum.layers  # θ and β are drawn with the effects
    try:
        information = Information(
            optimum, g, np.empty(0) if known else np.pad(level, (0, n_slopes))
        )
        factors, theta = information.draw(size, np.random.default_rng(seed))
    except np.linalg.LinAlgError:
        return None
    for k in range(len(factors) if optimum.leaves_margins else 0):
        means = [u.numpy().mean(axis=0) for i, u in enumerate(optimum.factors) if i != k]
        weighted = optimum.factors[k].numpy() * np.prod(means, axis=0)
        share = weighted / np.maximum(weighted.sum(axis=1, keepdims=True), _LEAST)
        factors[k] -= (share[:, :, None] * factors[k]).sum(axis=1, keepdims=True)
    if optimum.drawn is not None:
        column = np.arange(size) % len(optimum.drawn[2])
        drawn = optimum.drawn[1][:, column]
        factors[0] += optimum.drawn[2][column]
        others = theta[n_curves : len(theta) - n_slopes]
        theta = drawn if known else np.insert(drawn, [n_curves], others, axis=0)
    theta, beta = np.split(theta, [len(theta) - n_slopes])
    theta = theta[: len(level)]  # without attributes of p nothing determines its level
    shift, observations = np.zeros(size), optimum.observations
    if optimum.known is not None:
        error = observations.shared_error if observations is not None else 0.0
        shift = error * np.random.default_rng((seed, 1)).standard_normal(size)
    elif g is not None:
        shift = np.log(expit(logit[:, None] + slopes @ theta).sum(axis=0) / p.sum())
        if optimum.unseen is None:
            shift *= LEVEL_WIDENED
    factors[0] += shift
    tables = optimum.drawn[0] if optimum.drawn else ()
    draws = Draws(
        factors=tuple(np.ascontiguousarray(f, dtype=np.float32) for f in factors),
        coefficients=theta.astype(np.float32),
        level=shift.astype(np.float32),
        slopes=beta.astype(np.float32, order="C"),
        # Numbers of half precision, as files have them.
        tables=tuple(table.astype(np.float16).astype(np.float32) for table in tables),
        interact=optimum.leaves_margins,
    )
    if g is None or optimum.unseen is None:
        return draws
    return replace(draws, widening=_widening(optimum, optimum.unseen, draws))


def free_parameters(optimum: Optimum, draws: Draws, mean: Tensor) -> float:
    """How many parameters the counts determine, and not the priors: the trace of H⁻¹ Σ w s sᵀ / φ.

    Draws and ŷ (N,) are those of the optimum.
    """
    chosen = np.arange(0, len(optimum.counts), max(len(optimum.counts) // _ROWS_FOR_LEVEL, 1))
    n_attributed = len(optimum.rows)
    z = np.full((len(chosen), optimum.attributes.shape[1]), np.nan)
    known = chosen < n_attributed
    z[known] = optimum.z(chosen[known]).numpy()
    spread = draws.deviation("expected", optimum.member(), optimum.indices(chosen), z)
    m, mu = mean[chosen].numpy(), optimum.mu[chosen].numpy()
    free = spread**2 * m / (1 + m / mu) / optimum.dispersion
    return float(free.mean()) * len(optimum.counts)


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


class Information:
    """H, by parts, with the eliminated modes taken out of the rest.

    Parameters
    ----------
    optimum : Optimum
    g : JointDetection, optional
        Its own.
    level : ndarray, shape (Q + P,)
        Derivatives by θ and β of the logarithm of the mean p, which entries without attributes
        have. Of none where the factors alone are drawn, which beside effects hardly depend on them.

    Attributes
    ----------
    shape : tuple of int
        I_k.
    rank : int
    blocks : dict of ndarray, shape (I_k, F, F)
        Of the eliminated modes, the largest first: the Cholesky factors L.
    coupling : dict of ndarray, shape (I_k·F, P)
        L⁻¹ times the part of H between an eliminated mode and the rest; missing if it would be too
        large. Single precision: only means of draws rest on it.
    start : dict of int
        Where each other mode begins among the P parameters of the rest; coefficients are last.
    rest : ndarray, shape (P, P)
        The upper triangle.

    Raises
    ------
    LinAlgError
        If a block is not positive definite.
    """

    def __init__(self, optimum: Optimum, g: JointDetection | None, level: FloatArray) -> None:
        self._optimum, self._g, self._level = optimum, g, level
        self._factors = [np.ascontiguousarray(f.numpy()) for f in optimum.factors]
        self.shape, self.rank = tuple(map(len, self._factors)), self._factors[0].shape[1]
        eliminated, others = _split(self.shape, self.rank, len(level))
        self.start, size = dict[int, int](), 0
        for mode in others:
            self.start[mode], size = size, size + self._factors[mode].size
        size += len(level)
        self.rest = np.zeros((size, size))
        self.blocks = {k: np.zeros((self.shape[k], self.rank, self.rank)) for k in eliminated}
        self.coupling = {
            k: np.zeros((self.shape[k] * self.rank, size), dtype=np.float32)
            for k in eliminated
            if self.shape[k] * self.rank * size <= _MOST_COUPLED
        }
        self._add_priors()
        self._add_entries()

    def _add_entries(self) -> None:
        """Add all entries, some slices of the largest mode at a time, and eliminate these."""
        first, *others = self.blocks
        n, size, width = self.shape[first], self.shape[first], 0
        if first in self.coupling and len(self.rest):
            width = len(self.rest)
            size = max(_COUPLED_AT_ONCE // (self.rank * width), 1)
        every = self._optimum.where[first].numpy()
        shares = self._shares()
        order = np.flatnonzero(np.random.default_rng(0).random(len(every)) < shares)
        order = order[np.argsort(every[order], kind="stable")].astype(np.int32)
        root = 1 / np.sqrt(shares)
        starts = np.cumsum([0, *np.bincount(every[order], minlength=n)])
        for begin in range(0, n, size):
            end = min(begin + size, n)
            rows = np.zeros(((end - begin) * self.rank, width))
            for i in range(starts[begin], starts[end], _ROWS):
                chosen = order[i : min(i + _ROWS, starts[end])]
                found = self._add(chosen, root[chosen, None])
                if width:
                    self._add_cross(found[0][:, first] - begin, found, rows)
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

    def _shares(self) -> FloatArray:
        """Probability that an entry is sampled, the largest its slices ask for; (N,)."""
        shares = np.zeros(len(self._optimum.counts))
        for where, n in zip(self._optimum.where, self.shape, strict=True):
            sizes = np.bincount(where.numpy(), minlength=n)
            shares = np.maximum(
                shares, (_SAMPLED * self.rank / np.maximum(sizes, 1))[where.numpy()]
            )
        return np.minimum(shares, 1.0)

    def _add(self, chosen: IndexArray, root: FloatArray) -> _Derivatives:
        """Add entries, with weights of these roots, to all parts but the largest mode's coupling.

        Returns what :meth:`_derivatives` does.
        """
        at, share, columns = self._derivatives(chosen)
        share, columns = share * root, columns * root
        found = at, share, columns
        for i, k in enumerate(self.blocks):
            block = self.blocks[k].reshape(-1, self.rank)
            _add_outer(at[:, k], np.zeros_like(chosen), share, share, block)
            if i and k in self.coupling:
                self._add_cross(at[:, k], found, self.coupling[k])
        for k, first in self.start.items():
            own = slice(first, first + self.shape[k] * self.rank)
            self._add_cross(at[:, k], found, self.rest[own])
        theta = len(self.rest) - columns.shape[1]
        self.rest[theta:, theta:] += columns.T @ columns
        return found

    def _derivatives(self, chosen: IndexArray) -> _Derivatives:
        """Indices of entries (n, K), and √w times s by log U (n, F) and by θ, β (n, Q + P).

        The last are those of `level` where an entry has no attributes.
        """
        optimum, g, level = self._optimum, self._g, self._level
        at = optimum.indices(chosen)
        product = products(self._factors, at)
        rate = np.maximum(product.sum(axis=1), 1e-300)
        known, n_attributed = chosen < len(optimum.rows), len(optimum.rows)
        p = np.ones(len(at))
        p[~known] = optimum.given.numpy()[chosen[~known] - n_attributed]
        columns = np.tile(level, (len(at), 1))  # of entries whose p is the mean
        drawn = bool(len(level))
        if optimum.known is not None and drawn:
            stated = ~known
            stated[~known] = ~np.isnan(optimum.known.numpy()[chosen[~known] - n_attributed])
            columns[stated] = 0.0
        if g is not None and known.any():
            z = optimum.z(chosen[known])
            p[known] = g.probability(z).numpy()
            if drawn:
                varying = varying_layers(g, n_attributed)
                slopes = logit_slopes(g, z.numpy(), varying) * (1 - p[known, None])
                columns[known, : slopes.shape[1]] = slopes
        lines = optimum.lines(chosen).numpy()
        if drawn:
            columns[:, columns.shape[1] - lines.shape[1] :] = lines
        effect = np.exp(lines @ optimum.slopes.numpy())
        mean = rate * effect * optimum.exposure.numpy()[chosen] * p
        root = np.sqrt(mean / (1 + mean / optimum.mu.numpy()[chosen]) / optimum.dispersion)[:, None]
        return at, product * (root / rate[:, None]), columns * root

    def _add_cross(self, own: IntArray, found: _Derivatives, rows: NDArray[np.floating]) -> None:
        """Add entries to the rows `own` of one mode, against the columns of the rest."""
        at, share, columns = found
        for other, first in self.start.items():
            _add_outer(own, first + at[:, other] * self.rank, share, share, rows)
        last = np.full(len(own), rows.shape[1] - columns.shape[1])
        _add_outer(own, last, share, columns, rows)

    def _add_priors(self) -> None:
        """Add the curvature of the priors."""
        rank = self.rank
        for mode, u in enumerate(self._factors):
            prior = prior_curvature(u, self._optimum.prior_shape)
            prior[:, range(rank), range(rank)] += _LEAST
            if mode in self.blocks:
                self.blocks[mode] += prior
                continue
            for i, block in enumerate(prior):
                own = slice(self.start[mode] + i * rank, self.start[mode] + (i + 1) * rank)
                self.rest[own, own] += block
        if len(self._level):
            precisions = np.concatenate(_precisions(self._optimum, self._g))
            theta = range(len(self.rest) - len(precisions), len(self.rest))
            self.rest[theta, theta] += precisions + _LEAST

    def draw(self, size: int, rng: np.random.Generator) -> tuple[list[FloatArray], FloatArray]:
        """Draws of log U_k (I_k, F, size) and of θ and β (Q + P, size) from N(0, H⁻¹).

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


def _precisions(optimum: Optimum, g: JointDetection | None) -> list[FloatArray]:
    """Of the priors of θ, of the weights that vary, and of β."""
    theta, beta = np.split(optimum.precisions.numpy(), [len(optimum.curves)])
    if g is None:
        return [beta]
    theta = np.where(g.features.monotone & (optimum.curves.numpy() <= 0), _FIXED, theta)
    own = varying_layers(g, len(optimum.rows))
    pairs = zip(g.layers[own], layer_precisions(g.layers)[own], strict=True)
    return [theta, *(np.full(layer.size, precision) for layer, precision in pairs), beta]


def _solve(roots: FloatArray, rows: NDArray[np.floating]) -> None:
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


@numba.njit(cache=True, fastmath=True, error_model="numpy")
def _add_outer(rows, begin, share, values, matrix):  # type: ignore[no-untyped-def] # pragma: no cover
    """Add share ⊗ values of each entry, (n, F) and (n, Q), to F rows from a column each (n,) on."""
    rank = share.shape[1]
    for n in range(len(rows)):
        for f in range(rank):
            own, into = share[n, f], matrix[rows[n] * rank + f, begin[n] :]
            for q in range(values.shape[1]):
                into[q] += own * values[n, q]

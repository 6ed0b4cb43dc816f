"""Effects of modes within a fit: their posterior modes and variances, given all else.

Each effect is σ·L·t, with t standard normal and L a root of its correlations (a Kronecker product
over its groups), so that all t together have one prior. Given λ's other parts and p, the
expected counts are known up to exp(Σ effects), and t is found by Newton steps, each by conjugate
gradients that never form a matrix. σ² follows by the fixed-point iteration of MacKay (1992): the
sum of squares of an effect over the number of its values that the counts determine, which is
found by two random probes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.groups import Group
from uncletc.model.random_effects import Effect, ModeEffects, level_of
from uncletc.solvers.effects.quadratic import Linear, System

MOST_LEVELS = 3_000  # of a group over which an effect is smooth: its correlations are a matrix
_SHARE = 6.0  # of the largest distance: the default length is one part in so many
_START, _LEAST = 0.3, 1e-3  # of σ
# Without a limit the reporting of states that publish nothing on Sundays tends to 0, and the one
# place of such a state that does publish then weighs more than all others.
MOST_OF_REPORTING = 1.0
_MOST = 3.0  # of σ of effects on λ
_FARTHEST = 1.0  # change of a log factor in one step
_PROBES = 2
_VARIES = 0.05  # standard deviation of attributes over levels below which they tell nothing
_LEFT_OUT = 0.05  # of the variance of a smooth effect: its roughest parts, which others are for


@dataclass(eq=False)
class _Term:
    """One effect: σ·L·t at the levels of each row."""

    effect: Effect
    groups: list[Group]
    roots: list[FloatArray | None]  # of the correlations over each axis; None: independent
    shape: tuple[int, ...]  # of levels, observation processes first where it acts on reporting
    where: IntArray  # level of each row; the last, beyond all, for none
    covariate_basis: FloatArray | None = (
        None  # means of attributes by level: (size, q), orthonormal
    )

    @property
    def inner(self) -> tuple[int, ...]:
        """Shape of t."""
        sizes = zip(self.shape, self.roots, strict=True)
        return tuple(size if root is None else root.shape[1] for size, root in sizes)

    @property
    def size(self) -> int:
        """How many levels there are."""
        return math.prod(self.shape)

    def spread(self, t: FloatArray, *, transposed: bool = False) -> FloatArray:
        """L·t or Lᵀ·t, flat."""
        if transposed:
            t = self._project_out(t)
        values = t.reshape(self.shape if transposed else self.inner)
        for axis, root in enumerate(self.roots):
            if root is not None:
                matrix = root.T if transposed else root
                values = np.moveaxis(np.tensordot(matrix, values, axes=(1, axis)), 0, axis)
        flat = np.ascontiguousarray(values).ravel()
        return flat if transposed else self._project_out(flat)

    def _project_out(self, field: FloatArray) -> FloatArray:
        """Leave to attributes what they tell, and levels of reporting to λ and p."""
        if self.effect.reporting:
            values = field.reshape(self.shape)
            return np.asarray(values - values.mean(axis=-1, keepdims=True)).ravel()
        return (
            field
            if self.covariate_basis is None
            else field - self.covariate_basis @ (self.covariate_basis.T @ field)
        )

    def squared(self, weights: FloatArray) -> FloatArray:
        """Diagonal of Lᵀ·diag(weights)·L, flat."""
        values = weights.reshape(self.shape)
        for axis, root in enumerate(self.roots):
            if root is not None:
                values = np.moveaxis(np.tensordot(root.T**2, values, axes=(1, axis)), 0, axis)
        return np.ascontiguousarray(values).ravel()

    def at_rows(self, field: FloatArray) -> FloatArray:
        """Values (size,) at the rows; (N,)."""
        return np.asarray(np.append(field, 0.0)[self.where])

    def over_rows(self, values: FloatArray) -> FloatArray:
        """Sums of values (N,) at the rows over each level; (size,)."""
        sums = np.bincount(self.where, values, minlength=self.size + 1)
        return np.asarray(sums[: self.size], dtype=np.float64)


class RandomEffectsSolver:
    """Effects of the members of a fit.

    Parameters
    ----------
    effects : sequence of Effect
    groups : mapping of str to Group
        Of the counts, modes included.
    modes : tuple of str
    indices : ndarray of int, shape (N, K)
        Entry of each row.
    process : ndarray of int, shape (N,)
    n_processes, n_members : int
    seed : int
    attributes : ndarray, shape (N, q), optional
        Of the rows, which effects apart from attributes leave alone.
    """

    def __init__(
        self,
        effects: Sequence[Effect],
        groups: dict[str, Group],
        modes: tuple[str, ...],
        indices: IntArray,
        process: IntArray,
        n_processes: int,
        n_members: int,
        seed: int,
        attributes: FloatArray | None = None,
    ) -> None:
        self._modes = modes
        self._terms = []
        for effect in effects:
            own = effect.groups(groups)
            roots: list[FloatArray | None] = [
                _root(group, length, apart=len(own) > 1)
                for group, length in zip(own, effect.lengths, strict=True)
            ]
            shape = tuple(group.n_levels for group in own)
            where = level_of(own, indices, modes)
            if effect.reporting:
                where = np.where(where < 0, -1, where + process * int(np.prod(shape)))
                shape, roots = (n_processes, *shape), [None, *roots]
            where = np.where(where < 0, int(np.prod(shape)), where)
            term = _Term(effect, own, roots, shape, where)
            if attributes is not None and effect.apart:
                term.covariate_basis = _covariate_basis(term, attributes)
            self._terms.append(term)
        self._n = len(indices)
        bounds = np.cumsum([0, *(math.prod(term.inner) for term in self._terms)])
        self._parts = [slice(a, b) for a, b in pairwise(bounds)]
        self._t = np.zeros((n_members, bounds[-1]))
        self._deviation = np.full((n_members, len(self._terms)), _START)
        self._shift = [[np.zeros(term.shape) for term in self._terms] for _ in range(n_members)]
        self._free = np.full(n_members, 0.0)
        self._rng = np.random.default_rng([seed, 11])
        self.logs = np.zeros((self._n, n_members))

    def pick(self, chosen: Sequence[int]) -> None:
        """Keep only these members, in this order."""
        chosen = list(chosen)
        self._t, self._deviation = self._t[chosen], self._deviation[chosen]
        self._free, self.logs = self._free[chosen], self.logs[:, chosen]
        self._shift = [self._shift[m] for m in chosen]

    def drop_orthogonality(self) -> bool:
        """Drop the orthogonality constraint; return True if it was active."""
        found = any(term.covariate_basis is not None for term in self._terms)
        for term in self._terms:
            term.covariate_basis = None
        return found

    def n_free(self, m: int) -> float:
        """How many values the counts determine."""
        return float(self._free[m])

    def step(
        self,
        m: int,
        mean: FloatArray,
        counts: FloatArray,
        mu: FloatArray,
        dispersion: float,
        *,
        linear: Linear | None = None,
        seen: NDArray[np.bool_] | None = None,
        deviations: bool = False,
    ) -> FloatArray:
        """Move the effects of member m towards their posterior mode, their common level left free.

        Parameters
        ----------
        m : int
        mean : ndarray, shape (N,)
            Expected counts without these effects.
        counts, mu : ndarray, shape (N,)
        dispersion : float
            φ, by which the log-likelihood is divided.
        linear : Linear, optional
            Coefficients to find beside them. They are not moved here.
        seen : ndarray of bool, shape (N,), optional
            Rows to learn from. None: all.
        deviations : bool
            Also renew σ of each effect.

        Returns
        -------
        ndarray, shape (Q,)
            The step of the coefficients.
        """
        expected = mean * np.exp(self.logs[:, m])
        less = 1 / (1 + expected / mu) / dispersion
        if seen is not None:
            less = less * seen
        weights = expected * less
        level = float((counts * less).sum()) / max(float(weights.sum()), 1e-30)
        system = System(self, m, weights * level, linear)
        uphill = system.back((counts - level * expected) * less) - system.pull()
        change = system.within_bounds(uphill)
        farthest = float(np.abs(system.forward(change)).max(initial=0.0))
        change *= min(1.0, _FARTHEST / max(farthest, 1e-30))
        own = self._t.shape[1]
        self._t[m] += change[:own]
        if deviations:
            self._renew(m, system)
        self._settle(m)
        return change[own:]

    def draw(
        self,
        m: int,
        mean: FloatArray,
        mu: FloatArray,
        dispersion: float,
        linear: Linear | None,
        size: int,
    ) -> tuple[list[FloatArray], FloatArray]:
        """Draw how far effects of member m, and coefficients beside them, may be off.

        Each draw solves the system of a step for noise in counts and priors, and so has the
        covariance of their joint posterior.

        Parameters
        ----------
        m, mean, mu, dispersion, linear
            As in :meth:`step`.
        size : int
            R.

        Returns
        -------
        list of ndarray, shape (levels, R)
            Of each effect; on reporting, of the first observation process.
        ndarray, shape (Q, R)
            Of the coefficients.
        """
        expected = mean * np.exp(self.logs[:, m])
        weights = expected / (1 + expected / mu) / dispersion
        system = System(self, m, weights, linear)
        own = self._t.shape[1]
        tables = [np.empty((math.prod(_first_process(term)), size)) for term in self._terms]
        others = np.empty((system.size - own, size))
        for r in range(size):
            drawn = system.draw(self._rng)
            others[:, r] = drawn[own:]
            for i, (term, part) in enumerate(zip(self._terms, self._parts, strict=True)):
                field = self._deviation[m, i] * term.spread(drawn[part])
                tables[i][:, r] = field[: len(tables[i])]
        return tables, others

    def member(self, m: int) -> ModeEffects:
        """Effects of member m as a fit keeps them."""
        return ModeEffects(
            modes=self._modes,
            effects=tuple(term.effect for term in self._terms),
            groups=tuple(tuple(term.groups) for term in self._terms),
            tables=tuple(self._fields(m)),
            deviations=tuple(self._deviation[m].tolist()),
        )

    def _fields(self, m: int) -> list[FloatArray]:
        found = []
        for i, (term, part) in enumerate(zip(self._terms, self._parts, strict=True)):
            values = self._deviation[m, i] * term.spread(self._t[m, part])
            found.append(values.reshape(term.shape) - self._shift[m][i])
        return found

    def _settle(self, m: int) -> None:
        """Give reporting a mean of 1 over its last group, and sum up what rows have."""
        logs = np.zeros(self._n)
        self._shift[m] = [np.zeros(1) for _ in self._terms]
        for i, (term, field) in enumerate(zip(self._terms, self._fields(m), strict=True)):
            if term.effect.reporting:
                level = np.log(np.exp(field).mean(axis=-1, keepdims=True))
                self._shift[m][i] = level
                field = field - level
            logs += term.at_rows(field.ravel())
        self.logs[:, m] = logs

    def forward(self, m: int, t: FloatArray) -> FloatArray:
        """Sum of the effects of member m that t stands for, at the rows; (N,)."""
        total = np.zeros(self._n)
        for i, (term, part) in enumerate(zip(self._terms, self._parts, strict=True)):
            total += self._deviation[m, i] * term.at_rows(term.spread(t[part]))
        return total

    def back(self, m: int, values: FloatArray) -> FloatArray:
        """The transpose of :meth:`forward`, of values (N,)."""
        out = np.empty(self._t.shape[1])
        for i, (term, part) in enumerate(zip(self._terms, self._parts, strict=True)):
            summed = term.spread(term.over_rows(values), transposed=True)
            out[part] = self._deviation[m, i] * summed
        return out

    def diagonal(self, m: int, weights: FloatArray) -> FloatArray:
        """Diagonal of 1 + Aᵀ·diag(weights)·A, A being :meth:`forward`."""
        out = np.empty(self._t.shape[1])
        for i, (term, part) in enumerate(zip(self._terms, self._parts, strict=True)):
            out[part] = 1 + self._deviation[m, i] ** 2 * term.squared(term.over_rows(weights))
        return out

    def values(self, m: int) -> FloatArray:
        """t of member m."""
        return np.asarray(self._t[m])

    def _renew(self, m: int, system: System) -> None:
        """σ of each effect from its sum of squares and the values that counts determine."""
        products = np.zeros(system.size)
        for _ in range(_PROBES):
            probe = self._rng.choice([-1.0, 1.0], system.size)
            products += probe * system.solve(probe) / _PROBES
        free = 0.0
        for i, part in enumerate(self._parts):
            undetermined = float(products[part].sum())
            size = part.stop - part.start
            determined = min(max(size - undetermined, 1.0), float(size))
            ratio = float(self._t[m, part] @ self._t[m, part]) / determined
            old = self._deviation[m, i]
            most = MOST_OF_REPORTING if self._terms[i].effect.reporting else _MOST
            new = min(max(old * np.sqrt(max(ratio, 0.1)), _LEAST), most)
            self._deviation[m, i] = new
            self._t[m, part] *= old / new
            free += determined
        self._free[m] = free


def _first_process(term: _Term) -> tuple[int, ...]:
    """Shape of an effect's levels for one observation process."""
    return term.shape[1:] if term.effect.reporting else term.shape


def _covariate_basis(term: _Term, attributes: FloatArray) -> FloatArray | None:
    """Orthonormal columns that span the means of attributes over the levels of an effect."""
    rows = term.over_rows(np.ones(len(attributes)))
    seen = rows > 0
    means = np.column_stack([term.over_rows(column) for column in attributes.T])
    means[seen] /= rows[seen, None]
    means = np.where(seen[:, None], means - means[seen].mean(axis=0), 0.0)
    means /= np.maximum(attributes.std(axis=0), 1e-12)
    left, sizes, _ = np.linalg.svd(means, full_matrices=False)
    kept = sizes > _VARIES * math.sqrt(len(means))
    if 2 * kept.sum() > len(means):
        return None  # so few levels would have nothing of their own
    return np.ascontiguousarray(left[:, kept])


def _root(group: Group, length: float, *, apart: bool) -> FloatArray | None:
    """Root (levels, parts) of the correlations exp(-(distance/length)²/2); None: independent.

    Its columns are the smoothest parts, as many as most of the variance needs. Where the effect is
    about several groups together (`apart`), they have a mean of 0: the course of a place over days
    says nothing of its level, which is for the effect of the place alone.
    """
    if length == 0 or group.positions is None:
        return None
    if group.n_levels > MOST_LEVELS:
        raise ValueError(
            f"effects can be smooth over at most {MOST_LEVELS:,} levels; "
            f"{group.name!r} has {group.n_levels:,}"
        )
    distance = cdist(group.positions, group.positions)
    near = distance.max() / _SHARE if np.isnan(length) else length
    values, vectors = np.linalg.eigh(np.exp(-0.5 * (distance / max(near, 1e-12)) ** 2))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    share = np.cumsum(values) / values.sum()
    parts = int(np.searchsorted(share, 1 - _LEFT_OUT)) + 1
    root = vectors[:, :parts] * np.sqrt(values[:parts] / share[parts - 1])
    return np.ascontiguousarray(root - root.mean(axis=0) if apart else root)

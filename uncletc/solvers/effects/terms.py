"""One random effect of a fit, σ·L·t: how its values t act on the levels of its groups."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from uncletc.common.validation import FloatArray, IntArray
from uncletc.data.groups import Group
from uncletc.model.random_effects import Effect, level_of
from uncletc.result.posterior import Float32Array

MOST_LEVELS = 3_000  # of a group over which an effect is smooth: its correlations are a matrix
_SHARE = 6.0  # of the largest distance: the default length is one part in so many
_VARIES = 0.05  # standard deviation over levels below which an attribute says nothing of them
_LEFT_OUT = 0.05  # of the variance of a smooth effect: its roughest parts, which others are for


class Term:
    """One effect: σ·L·t at the levels of each row.

    Parameters
    ----------
    effect : Effect
    named : dict of str to Group
        Of the counts, modes included.
    modes : tuple of str
    indices : ndarray of int, shape (N, K)
        Entry of each row.
    process : ndarray of int, shape (N,)
        Its observation process, of which there are `n_processes`.
    n_processes : int
    attributes : ndarray, shape (N, q), optional
        Of the rows, which orthogonal effects are uncorrelated with.
    known : ndarray of bool, shape (N,)
        Rows whose p is known, which effects on detection are estimated from.

    Attributes
    ----------
    effect : Effect
    groups : list of Group
    roots : list of ndarray or None
        Of the correlations over each axis, (levels, parts); None: independent.
    shape : tuple of int
        Levels of each axis; observation processes first where it acts on reporting.
    where : ndarray of int, shape (N,)
        Level of each row; the last, beyond all, for none.
    covariate_basis : ndarray, shape (size, q), optional
        Orthonormal means of attributes by level, which the effect leaves alone.
    """

    def __init__(
        self,
        effect: Effect,
        named: dict[str, Group],
        modes: tuple[str, ...],
        indices: IntArray,
        process: IntArray,
        n_processes: int,
        attributes: FloatArray | None,
        known: NDArray[np.bool_],
    ) -> None:
        self.effect, self.groups = effect, effect.groups(named)
        self.roots: list[FloatArray | None] = [
            _root(group, length, joint=len(self.groups) > 1)
            for group, length in zip(self.groups, effect.lengths, strict=True)
        ]
        self.shape = tuple(group.n_levels for group in self.groups)
        where = level_of(self.groups, indices, modes)
        if effect.reporting:
            where = np.where(where < 0, -1, where + process * self.size)
            self.shape, self.roots = (n_processes, *self.shape), [None, *self.roots]
        if effect.detection:
            where = np.where(known, where, -1)
        self.where = np.where(where < 0, self.size, where)
        self.covariate_basis: FloatArray | None = None
        if attributes is not None and effect.orthogonal:
            self.covariate_basis = _covariate_basis(self, attributes)

    @property
    def inner(self) -> tuple[int, ...]:
        """Shape of t."""
        sizes = zip(self.shape, self.roots, strict=True)
        return tuple(size if root is None else root.shape[1] for size, root in sizes)

    @property
    def size(self) -> int:
        """How many levels there are."""
        return math.prod(self.shape)

    @property
    def n_in_row(self) -> int:
        """How many values a row depends on."""
        return math.prod(1 if root is None else root.shape[1] for root in self.roots)

    @property
    def separate(self) -> list[str]:
        """Names of the groups over which it is not smooth."""
        own = self.roots[len(self.roots) - len(self.groups) :]
        return [g.name for g, root in zip(self.groups, own, strict=True) if root is None]

    def axis_of(self, name: str) -> int:
        """Axis of a group."""
        names = [group.name for group in self.groups]
        return names.index(name) + len(self.roots) - len(names)

    def design(
        self, level: tuple[IntArray, ...], without: int | None = None
    ) -> tuple[IntArray, Float32Array]:
        """Values t that rows depend on, by the levels of each axis, and how much; (n, S) each.

        Without one axis, positions are those among the others. Of constraints, those of smooth
        effects of one group count.
        """
        columns = np.zeros((1, 1), dtype=np.int64)
        weights = np.ones((len(level[0]), 1), dtype=np.float32)
        for axis, (at, root) in enumerate(zip(level, self.roots, strict=True)):
            if axis == without:
                continue
            own, value = at[:, None], np.ones((len(at), 1), dtype=np.float32)
            if root is not None:
                table = root if len(self.roots) > 1 else self._project_out(root.T).T
                value = table.astype(np.float32)[at]
                own = np.arange(root.shape[1])[None]  # the same for all rows
            both = columns[:, :, None] * self.inner[axis] + own[:, None]
            columns = both.reshape(len(both), -1)
            weights = (weights[:, :, None] * value[:, None]).reshape(len(at), -1)
        return np.broadcast_to(columns, weights.shape), weights

    def spread(self, t: FloatArray) -> FloatArray:
        """L·t for each of some t (C, n); (C, size)."""
        return self._project_out(_along(t, self.inner, self.roots))

    def gather(self, fields: FloatArray) -> FloatArray:
        """Lᵀ·field for each of some fields (C, size); (C, n)."""
        matrices = [None if root is None else root.T for root in self.roots]
        return _along(self._project_out(fields), self.shape, matrices, last_first=True)

    def values_of(self, table: FloatArray) -> FloatArray:
        """L·t is this table of an earlier fit, of as many or fewer levels: t; (n,).

        Where an axis has grown, smooth effects stay as they were last, others begin at 0.
        """
        for axis, (size, root) in enumerate(zip(self.shape, self.roots, strict=True)):
            grown = [(0, size - table.shape[axis] if k == axis else 0) for k in range(table.ndim)]
            table = np.pad(table, grown, mode="constant" if root is None else "edge")
        inverses: list[FloatArray | None] = [
            None if root is None else np.asarray(np.linalg.pinv(root), dtype=np.float64)
            for root in self.roots
        ]
        field = self._project_out(table.reshape(1, -1))
        return np.asarray(_along(field, self.shape, inverses)[0])

    def _project_out(self, fields: FloatArray) -> FloatArray:
        """Leave to attributes what they say, and levels of reporting to λ and p; (C, size)."""
        if self.effect.reporting:
            values = fields.reshape(len(fields), -1, self.shape[-1])
            return np.asarray(values - values.mean(axis=2, keepdims=True)).reshape(fields.shape)
        if self.covariate_basis is None:
            return fields
        return fields - (fields @ self.covariate_basis) @ self.covariate_basis.T

    def squared(self, weights: FloatArray) -> FloatArray:
        """Diagonal of Lᵀ·diag(weights)·L; (n,)."""
        squares = [None if root is None else root.T**2 for root in self.roots]
        return np.asarray(_along(weights[None], self.shape, squares)[0])

    def over_rows(self, values: FloatArray) -> FloatArray:
        """Sums of values (N,) at the rows over each level; (size,)."""
        sums = np.bincount(self.where, values, minlength=self.size + 1)
        return np.asarray(sums[: self.size], dtype=np.float64)

    def first_process(self) -> int:
        """How many levels there are for one observation process."""
        return math.prod(self.shape[1:]) if self.effect.reporting else self.size


def _along(
    values: FloatArray,
    shape: tuple[int, ...],
    matrices: Sequence[FloatArray | None],
    *,
    last_first: bool = False,
) -> FloatArray:
    """Arrays (C, shape), flat, multiplied by a matrix along each axis; None: by no matrix."""
    sizes = [len(values), *shape]
    axes = range(1, len(sizes))
    for axis in reversed(axes) if last_first else axes:
        matrix = matrices[axis - 1]
        if matrix is None:
            continue
        before, after = math.prod(sizes[:axis]), math.prod(sizes[axis + 1 :])
        if after == 1:
            values = values.reshape(before, -1) @ matrix.T
        else:
            values = matrix @ values.reshape(before, -1, after)
        sizes[axis] = len(matrix)
    return values.reshape(sizes[0], -1)


def _covariate_basis(term: Term, attributes: FloatArray) -> FloatArray | None:
    """Orthonormal columns that span the means of attributes over the levels of an effect."""
    rows = term.over_rows(np.ones(len(attributes)))
    seen = rows > 0
    means = np.column_stack([term.over_rows(column) for column in attributes.T])
    means[seen] /= rows[seen, None]
    means = np.where(seen[:, None], means - means[seen].mean(axis=0), 0.0)
    means /= np.maximum(attributes.std(axis=0), 1e-12)
    left, sizes, _ = np.linalg.svd(means, full_matrices=False)
    varies = sizes > _VARIES * math.sqrt(len(means))
    if 2 * varies.sum() > len(means):
        return None  # so few levels would have nothing of their own
    return np.ascontiguousarray(left[:, varies])


def _root(group: Group, length: float, *, joint: bool) -> FloatArray | None:
    """Root (levels, parts) of the correlations exp(-(distance/length)²/2); None: independent.

    Its columns are the smoothest parts, as many as most of the variance needs. Where the effect is
    about several groups (`joint`), they have a mean of 0: the course of a place over days says
    nothing of its level, which is for the effect of the place alone.
    """
    if length == 0 or group.positions is None:
        return None
    if group.n_levels > MOST_LEVELS:
        raise ValueError(
            f"effects can be smooth over at most {MOST_LEVELS:,} levels; "
            f"{group.name!r} has {group.n_levels:,}"
        )
    root = _smoothest(group.positions.tobytes(), group.n_levels, length)
    return np.ascontiguousarray(root - root.mean(axis=0) if joint else root)


@lru_cache(maxsize=8)  # several effects of one fit, and the next fit, have the same
def _smoothest(positions: bytes, n_levels: int, length: float) -> FloatArray:
    at = np.frombuffer(positions).reshape(n_levels, -1)
    distance = cdist(at, at)
    near = distance.max() / _SHARE if np.isnan(length) else length
    values, vectors = np.linalg.eigh(np.exp(-0.5 * (distance / max(near, 1e-12)) ** 2))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    share = np.cumsum(values) / values.sum()
    parts = int(np.searchsorted(share, 1 - _LEFT_OUT)) + 1
    root: FloatArray = vectors[:, :parts] * np.sqrt(values[:parts] / share[parts - 1])
    return root

"""How many entries have attributes within ζ of each other: the theorem's set Θ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from uncletc.common.validation import FloatArray, IntArray, check_finite

_N_ZETAS = 40
_PAIRS = 2**21  # distances held at once
_MOVES = 5  # of a ball towards the mean of the entries around it


class Choice(NamedTuple):
    """A ζ, its |Θ|, and the trade-off ζ²(L_g + L_θ)² + √(log(1/δ)/|Θ|)."""

    zeta: float
    size: int
    value: float


@dataclass(frozen=True, eq=False, kw_only=True)
class SimilarEntries:
    """The curve ζ → |Θ| of some attributes.

    Attributes
    ----------
    zetas : ndarray, shape (Z,)
        ζ ≥ 0, ascending: the largest distance between any two of Θ, in the units of the attributes.
    sizes : ndarray of int, shape (Z,)
        A lower bound on the largest |Θ|: the number of entries in the fullest ball of radius ζ/2
        found. Any two entries in such a ball are within ζ.
    at_most : ndarray of int, shape (Z,)
        The largest number of entries within ζ of any entry tried, or `sizes` where that is larger.
        An upper bound on |Θ| for every Θ that contains an entry tried; on any |Θ| if all were
        tried.
    centres : ndarray, shape (Z, D)
        Centre of each of these balls.
    n_tried : int
        Number of entries tried as centres.
    n_entries : int
        Number of entries with attributes, |Ξ|.
    """

    zetas: FloatArray
    sizes: IntArray
    at_most: IntArray
    centres: FloatArray
    n_tried: int
    n_entries: int

    def best(self, slope: float, delta: float = 0.05) -> Choice:
        """Return the ζ of the curve that minimises the theorem's trade-off.

        Parameters
        ----------
        slope : float
            L_g + L_θ ≥ 0.
        delta : float
            δ in (0, 1).

        Returns
        -------
        Choice
            The smallest ζ if several do equally well.
        """
        if not (math.isfinite(slope) and slope >= 0):
            raise ValueError(f"slope must be at least 0 and finite, got {slope}")
        if not 0 < delta < 1:
            raise ValueError(f"delta must be in (0, 1), got {delta}")
        values = (self.zetas * slope) ** 2 + np.sqrt(math.log(1 / delta) / self.sizes)
        i = int(values.argmin())
        return Choice(float(self.zetas[i]), int(self.sizes[i]), float(values[i]))


def similar_entries(
    attributes: ArrayLike,
    zetas: ArrayLike | None = None,
    *,
    n_tried: int = 500,
    seed: int = 0,
) -> SimilarEntries:
    """Estimate how many entries have attributes within ζ of each other, for several ζ.

    Parameters
    ----------
    attributes : array_like of float, shape (S, D)
        z over Ξ, S ≥ 1, unscaled: the theorem measures distances between attributes as they enter
        g. One attribute in large units dominates such distances; to avoid that, standardise the
        attributes of the :class:`uncletc.CountTensor` itself.
    zetas : array_like of float, shape (Z,), optional
        ζ ≥ 0, in any order. None: 0 and 40 values, evenly spaced in their logarithm, from the
        smallest distance found to the ζ that holds all entries.
    n_tried : int
        Number of entries to try as centres of balls, drawn at random; balls then move to where
        entries are dense. Every ball counts all entries. A Θ that holds a share s of the entries
        has none of them drawn with probability at most (1 - s)^`n_tried`: .007 for s = 1 %.
    seed : int
        Seed of the draw.

    Examples
    --------
    >>> curve = similar_entries([[0.0], [0.1], [0.2], [5.0]], [0.1, 0.2, 10.0])
    >>> curve.sizes.tolist()
    [2, 3, 4]
    """
    z = check_finite(attributes, "attributes", 2)
    if len(z) == 0:
        raise ValueError("attributes must hold at least 1 entry, got none")
    if n_tried < 1:
        raise ValueError(f"n_tried must be at least 1, got {n_tried}")
    tried = z
    if len(z) > n_tried:
        tried = z[np.random.default_rng(seed).choice(len(z), n_tried, replace=False)]
    grid = _grid(z, tried) if zetas is None else np.unique(check_finite(zetas, "zetas", 1))
    if not len(grid) or grid[0] < 0:
        raise ValueError(f"zetas must hold values that are at least 0, got {zetas!r}")

    fullest = _most_within(tried, z, np.concatenate([grid / 2, grid]))
    sizes, centres = np.zeros(len(grid), dtype=np.int64), np.zeros((len(grid), z.shape[1]))
    best: FloatArray = tried[fullest.rows[0]]
    for i, zeta in enumerate(grid):
        balls = [(_count(z, c, zeta / 2), c) for c in (best, tried[fullest.rows[i]])]
        balls.append(_moved(z, max(balls, key=lambda ball: ball[0])[1], zeta))
        sizes[i], best = max(balls, key=lambda ball: ball[0])
        centres[i] = best
    return SimilarEntries(
        zetas=grid,
        sizes=sizes,
        at_most=np.maximum(fullest.counts[len(grid) :], sizes),
        centres=centres,
        n_tried=len(tried),
        n_entries=len(z),
    )


class _Fullest(NamedTuple):
    counts: IntArray  # of the fullest ball of each radius
    rows: IntArray  # entries tried that are its centre


def _most_within(tried: FloatArray, z: FloatArray, radii: FloatArray) -> _Fullest:
    """Find the fullest ball around any of the entries tried, for each radius."""
    counts = np.zeros(len(radii), dtype=np.int64)
    rows = np.zeros(len(radii), dtype=np.int64)
    step = max(_PAIRS // len(z), 1)
    for start in range(0, len(tried), step):
        distances = cdist(tried[start : start + step], z)
        for i, radius in enumerate(radii):
            within = np.count_nonzero(distances <= radius, axis=1)
            fullest = int(within.argmax())
            if within[fullest] > counts[i]:
                counts[i], rows[i] = within[fullest], start + fullest
    return _Fullest(counts, rows)


def _moved(z: FloatArray, centre: FloatArray, zeta: float) -> tuple[int, FloatArray]:
    """Move a ball to the mean of the entries within ζ, as long as it gains entries."""
    size = _count(z, centre, zeta / 2)
    for _ in range(_MOVES):
        around = cdist(centre[None], z)[0] <= zeta
        moved = z[around].mean(axis=0) if around.any() else centre
        moved_size = _count(z, moved, zeta / 2)
        if moved_size <= size:
            break
        size, centre = moved_size, moved
    return size, centre


def _count(z: FloatArray, centre: FloatArray, radius: float) -> int:
    return int(np.count_nonzero(cdist(centre[None], z)[0] <= radius))


def _grid(z: FloatArray, tried: FloatArray) -> FloatArray:
    high = 2 * float(cdist(z.mean(axis=0, keepdims=True), z).max()) * (1 + 1e-9)
    if high == 0:
        return np.zeros(1)
    distances = cdist(tried, tried)
    positive = distances[distances > high * 1e-6]
    low = float(positive.min()) if positive.size else high
    return np.unique(np.append(0.0, np.geomspace(min(low, high), high, _N_ZETAS)))

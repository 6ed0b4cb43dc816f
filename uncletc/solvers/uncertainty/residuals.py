"""Whether residuals follow a pattern over two modes, which a rank too low leaves in them."""

from itertools import combinations
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.linalg import svds

from uncletc.common.validation import FloatArray, IntArray

# A pattern is a share of the residuals' sum of squares, this many standard deviations beyond that
# of residuals with random signs. Of 50 random tables (not those it was chosen on) 1 of 91 fits with
# enough components had one, and 38 of 49 with too few whose intervals of λ held less than .8.
_SHARE, _DEVIATIONS = 0.025, 5.0
_FLIPS = 20
_FEWEST_LEVELS = 10  # of either mode: shrunk rows of fewer columns leave patterns of their own
_ENTRIES_EACH = 3.0  # per element of a factor at least, for the same reason
_MOST_ENTRIES = 20_000


def residual_pattern(
    residuals: FloatArray, indices: IntArray, shape: tuple[int, ...], rank: int, seed: int
) -> tuple[int, int] | None:
    """Return the two modes over which residuals most clearly follow a pattern of rank 1.

    Residuals are summed over all other modes, each sum over the root of how many they are. The
    square of the largest singular value is compared with that of residuals with random signs.

    Parameters
    ----------
    residuals : ndarray, shape (n,)
        Pearson's: over the standard deviations that the fit states.
    indices : ndarray of int, shape (n, K)
    shape : tuple of int
    rank, seed : int

    Returns
    -------
    tuple of int, or None
        None where none is clear, and where modes or entries are too few to say.

    Examples
    --------
    >>> import numpy as np
    >>> at, rng = np.argwhere(np.ones((20, 30))), np.random.default_rng(0)
    >>> noise, row, column = rng.normal(size=600), rng.normal(size=20), rng.normal(size=30)
    >>> residual_pattern(noise, at, (20, 30), 1, 0)
    >>> residual_pattern(noise + row[at[:, 0]] * column[at[:, 1]], at, (20, 30), 1, 0)
    (0, 1)
    """
    if len(residuals) < _ENTRIES_EACH * rank * sum(shape) or not residuals.any():
        return None
    rng = np.random.default_rng(seed)
    if len(residuals) > _MOST_ENTRIES:
        chosen = rng.choice(len(residuals), _MOST_ENTRIES, replace=False)
        residuals, indices = residuals[chosen], indices[chosen]
    signs = np.vstack([np.ones(len(residuals)), rng.choice([-1.0, 1.0], (_FLIPS, len(residuals)))])
    clearest, found = _DEVIATIONS, None
    # Counts that scatter less than chance need no further component.
    scatter = max(float(residuals @ residuals), len(residuals))
    for modes in combinations(np.flatnonzero(np.array(shape) >= _FEWEST_LEVELS).tolist(), 2):
        pairs, cell = np.unique(indices[:, modes], axis=0, return_inverse=True)
        size = shape[modes[0]], shape[modes[1]]
        own, *others = [_largest(residuals * row, cell, pairs, size) for row in signs]
        more, chance = own - np.mean(others), float(np.std(others))
        if more > _SHARE * scatter and more > clearest * chance:
            clearest, found = float(more / chance), modes
    return found


def _largest(values: FloatArray, cell: IntArray, pairs: IntArray, size: tuple[int, int]) -> float:
    """Square of the largest singular value of sums by cell, each over the root of how many."""
    scaled = np.bincount(cell, values) / np.sqrt(np.bincount(cell))
    sums: Any = csr_array((scaled, tuple(pairs.T)), size)
    start = np.ones(min(size))  # not a random one, so that results can be repeated
    return float(svds(sums, 1, tol=0.01, v0=start, return_singular_vectors=False)[0]) ** 2

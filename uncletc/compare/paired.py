"""Whether one prediction of held-out counts is better than another, beyond chance.

Scores are compared entry by entry, or fold by fold, so that counts which are hard for all do not
hide a difference. Entries of one place are not independent: :func:`difference` takes groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uncletc.common.validation import FloatArray


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A mean difference of scores.

    Attributes
    ----------
    mean : float
        Below 0: the first has the smaller score, which for most scores is the better one.
    error : float
        Its standard error; inf where there is one group alone.
    n : int
        Independent parts it is taken over: groups of entries, or folds of one seed.
    """

    mean: float
    error: float
    n: int

    def __str__(self) -> str:
        """Mean ± standard error."""
        return f"{self.mean:+.3g} ± {self.error:.2g}"

    @property
    def clear(self) -> bool:
        """Whether the difference is beyond two standard errors."""
        return abs(self.mean) > 2 * self.error

    @classmethod
    def of(cls, gaps: ArrayLike) -> Difference:
        """Average differences of scores by seed and fold (seeds, folds), two folds or more.

        The standard error is that of the folds of one seed, its square averaged over seeds. Other
        seeds divide the same counts in another way: they steady the estimate, but are no further
        data, so their number does not make the error smaller.
        """
        values = np.asarray(gaps, dtype=np.float64)
        n_folds = values.shape[1]
        error = math.sqrt(float(values.var(axis=1, ddof=1).mean()) / n_folds)
        return cls(mean=float(values.mean()), error=error, n=n_folds)


def difference(first: ArrayLike, second: ArrayLike, groups: ArrayLike | None = None) -> Difference:
    """Mean of the first scores less the second over the same entries, with its standard error.

    Entries of a place are wrong together, so its days are no independent evidence. With dᵢ the
    differences and d̄ their mean, those of each of G groups are summed first: the standard error is
    √(G/(G - 1) · Σ_g (Σ_{i∈g} (dᵢ - d̄))²) / n. Without groups it is that of n independent entries.

    Parameters
    ----------
    first, second : array_like of float, shape (n,)
        A score of each held-out entry, such as its deviance; lower is better.
    groups : array_like of int, shape (n,), optional
        The group of each entry, as :func:`uncletc.checking.fibres` numbers places. None: every
        entry is its own group.

    Returns
    -------
    Difference

    Raises
    ------
    ValueError
        If the arrays do not have one shape (n,) with n ≥ 1, or a score is not finite.

    Examples
    --------
    >>> scores = [1.0, 3.0, 2.0, 4.0], [2.0, 4.0, 5.0, 7.0]
    >>> str(difference(*scores)), str(difference(*scores, groups=[0, 0, 1, 1]))
    ('-2 ± 0.58', '-2 ± 1')
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise ValueError(
            f"first and second must have one shape (n,) with n >= 1, got {a.shape} and {b.shape}"
        )
    gaps = a - b
    if not np.isfinite(gaps).all():
        raise ValueError("first and second must be finite throughout")
    error, n = error_of_sum(gaps - gaps.mean(), groups)
    return Difference(mean=float(gaps.mean()), error=error / len(gaps), n=n)


def error_of_sum(values: FloatArray, groups: ArrayLike | None) -> tuple[float, int]:
    """Standard error of a sum of values independent between groups, inf for one; their number.

    Parameters
    ----------
    values : ndarray, shape (n,)
    groups : array_like of int, shape (n,), optional
        None: every value is its own group.
    """
    sums: FloatArray = values
    if groups is not None:
        group = np.asarray(groups, dtype=np.int64)
        if group.shape != values.shape:
            raise ValueError(f"groups must have shape {values.shape}, got {group.shape}")
        numbered = np.unique(group, return_inverse=True)[1].ravel()
        sums = np.bincount(numbered, values).astype(np.float64)
    n = len(sums)
    return (math.sqrt(n) * float(sums.std(ddof=1)) if n > 1 else math.inf), n

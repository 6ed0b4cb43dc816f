"""Whether a method is better than another: differences fold by fold, with their standard error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from uncletc.compare.trials import Evaluation


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A mean difference of scores.

    Attributes
    ----------
    mean : float
        Below 0: the first method has the smaller score, which for most scores is the better one.
    error : float
        Its standard error.
    n_folds, n_seeds : int
        Of each seed, and how many.
    """

    mean: float
    error: float
    n_folds: int
    n_seeds: int

    def __str__(self) -> str:
        """Mean ± standard error."""
        return f"{self.mean:+.3g} ± {self.error:.2g}"

    @classmethod
    def of(cls, gaps: ArrayLike) -> Difference:
        """Average differences of scores by seed and fold (seeds, folds), two folds or more.

        The standard error is that of the folds of one seed, its square averaged over seeds. Other
        seeds divide the same counts anew: they steady the estimate, but are no further data, so
        their number does not make the error smaller.
        """
        values = np.asarray(gaps, dtype=np.float64)
        n_seeds, n_folds = values.shape
        error = math.sqrt(float(values.var(axis=1, ddof=1).mean()) / n_folds)
        return cls(mean=float(values.mean()), error=error, n_folds=n_folds, n_seeds=n_seeds)

    @property
    def clear(self) -> bool:
        """Whether the difference is beyond two standard errors."""
        return abs(self.mean) > 2 * self.error


def paired_difference(
    first: Sequence[Evaluation], second: Sequence[Evaluation], name: str = "log_score"
) -> Difference:
    """Mean of the first method's score less the second's over folds and seeds of folds.

    See :meth:`Difference.of` for the standard error.

    Parameters
    ----------
    first, second : sequence of Evaluation
        One per seed, of the same counts, kinds of folds and seeds in the same order.
    name : str
        One of the :class:`Scores`.

    Raises
    ------
    ValueError
        If the folds do not pair, or are fewer than two.
    """
    if not first or len(first) != len(second):
        raise ValueError(
            f"both methods need evaluations with the same seeds, got {len(first)} and {len(second)}"
        )
    gaps = []
    for ours, theirs in zip(first, second, strict=True):
        if not _same_folds(ours, theirs):
            raise ValueError("both methods must be judged on the same folds")
        gaps.append(ours.values(name) - theirs.values(name))
    sizes = {len(gap) for gap in gaps}
    if len(sizes) > 1 or min(sizes) < 2:
        raise ValueError(f"every seed needs the same number of folds, 2 or more, got {sizes}")
    return Difference.of(gaps)


def _same_folds(first: Evaluation, second: Evaluation) -> bool:
    return len(first.trials) == len(second.trials) and all(
        np.array_equal(ours.rows, theirs.rows)
        for ours, theirs in zip(first.trials, second.trials, strict=True)
    )
